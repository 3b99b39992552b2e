//! Merge directives: keys such as `+/base` and `+include` are expanded to the values they refer to, and restored.
//!
//! Directives refer to the expanded document, so values depend on each other in ways that only expansion shows. [`engine`] expands
//! on demand, each value once; [`combine`] merges one value over another.

mod arena;
mod combine;
mod engine;
mod evaluate;
mod include;
mod index;
mod key;
mod lists;
mod lookup;
mod prefilter;
mod problem;
mod restore;
mod target;
mod unfurl;

use std::collections::BTreeMap;

use smol_str::SmolStr;

pub use crate::settings::MergeProfile;
pub use include::Includes;
pub use prefilter::may_include;
pub use restore::{Original, Restored, restore};
pub use unfurl::{UnfurlRole, unfurl_role};

use crate::document::Document;
use crate::finding::{self, Finding, Location, Outcome};
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::settings::Given;
use crate::snapshot::{ObjectId, Snapshot};
use crate::text::Sources;
use crate::value::{Node, Value};

/// What expansion needs beside the document.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The tree that the document is from; included files are read from it.
    pub snapshot: &'a dyn Snapshot,
    /// Cache of the parsed included files of this snapshot.
    pub includes: &'a Includes,
    /// Receives the texts of included files, for findings.
    pub sources: &'a Sources,
    /// The limits on depth, size and includes.
    pub limits: &'a Limits,
    /// How lists and null are merged.
    pub profile: MergeProfile,
    /// Whether documents of Unfurl are recognised.
    pub unfurl: bool,
    /// Whether the document is known to be one of Unfurl, whatever its own keys are.
    pub is_unfurl: bool,
    /// Addresses under which the repository itself is known.
    pub remotes: &'a [SmolStr],
}

impl<'a> Context<'a> {
    /// The context for documents of a snapshot.
    pub fn new(given: Given<'a>, includes: &'a Includes) -> Self {
        let Given { snapshot, settings, sources, limits } = given;
        let (profile, unfurl, remotes) = (settings.merge, settings.unfurl, &settings.remotes);
        Self { snapshot, includes, sources, limits, profile, unfurl, is_unfurl: false, remotes }
    }
}

/// An expanded document.
#[derive(Debug, Clone)]
pub struct Expanded {
    /// Its value. Parts that a directive brought in carry their provenance and what they override.
    pub root: Node,
    /// Every other file that the value depends on.
    pub reads: Reads,
}

/// Files that were looked up: if one of them is changed, created or removed, the result may change.
pub type Reads = BTreeMap<RepoPath, Read>;

/// The result of looking up a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// A file, with its id if it has one.
    Present(Option<ObjectId>),
    /// There is no such file.
    Absent,
}

/// Expands the directives of a document of `file`.
///
/// A document without directives, or whose root is not a map, is returned unchanged. With errors the value is incomplete: a directive
/// that fails stays as it is written. So does an include whose content is not in the repository, which is no error.
pub fn expand(document: &Document, file: &RepoPath, context: &Context<'_>) -> Outcome<Expanded> {
    if !has_directives(document) {
        return Outcome::clean(Expanded { root: document.root.clone(), reads: Reads::new() });
    }
    let expanded = engine::expand(document, file, context);
    // What makes it a document of Unfurl may be included; then the other includes follow the rules of Unfurl too.
    let is_included = context.unfurl
        && !context.is_unfurl
        && unfurl_role(&document.root, file).is_none()
        && unfurl_role(&expanded.value.root, file).is_some();
    if is_included {
        return engine::expand(document, file, &Context { is_unfurl: true, ..*context });
    }
    expanded
}

/// Whether expansion can change anything. Cheap, because it is asked of every document.
pub fn has_directives(document: &Document) -> bool {
    matches!(document.root.value, Value::Map(_)) && index::has_plus_keys(&document.root)
}

/// The only document of a file that the user asked to expand; an error if there is not exactly one, or if it is not a map.
pub fn only_document<'a>(
    documents: &'a [Document],
    file: &RepoPath,
    revision: &str,
) -> Result<&'a Document, Box<Finding>> {
    match documents {
        [only] if only.root.as_map().is_some() => Ok(only),
        [only] => {
            let message = format!("only a map can be expanded, and this is a {}", only.root.type_of());
            let finding = Finding::new(&finding::MERGE_NOT_A_MAP, Location::Span(only.root.span), message);
            Err(finding
                .labelled("not a map")
                .help("directives are keys of maps, and paths start at the map at the top")
                .into())
        }
        [] => {
            let location = Location::File { path: file.clone(), revision: revision.into() };
            let message = "only a map can be expanded, and this file is empty";
            Err(Finding::new(&finding::MERGE_NOT_A_MAP, location, message).into())
        }
        [first, second, ..] => {
            let message = format!("only a single document can be expanded, and this file has {}", documents.len());
            let finding = Finding::new(&finding::MERGE_MULTIPLE_DOCUMENTS, Location::Span(second.span), message);
            Err(finding
                .labelled("the second document")
                .related(first.span, "the first document")
                .help("put each document into a file of its own")
                .into())
        }
    }
}

#[cfg(test)]
mod tests;
