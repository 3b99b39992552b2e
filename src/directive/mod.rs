//! Stage 3, merge directives: keys such as `+/base` and `+include` become the values they name, and can be put back.
//!
//! Directives see the document as it is after expansion, so the values depend on each other in ways that only following them
//! shows. [`engine`] follows them on demand, each value once; [`combine`] says what one value over another gives.

mod combine;
mod engine;
mod evaluate;
mod ground;
mod include;
mod inclusion;
mod inkling;
mod key;
mod lists;
mod lookup;
mod marked;
mod restore;
mod trouble;

use std::collections::BTreeMap;

pub use crate::settings::MergeProfile;
pub use include::Includes;
pub use inkling::{may_include, pairs};
pub use restore::{Original, restore};

use crate::document::Document;
use crate::finding::{self, Finding, Location, Outcome};
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::settings::Given;
use crate::snapshot::{ObjectId, Snapshot};
use crate::text::Sources;
use crate::value::{Node, Value};

/// What expanding needs beside the document.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Where included files are read: the tree that the document itself is from.
    pub snapshot: &'a dyn Snapshot,
    /// Included files of this snapshot that are parsed already.
    pub includes: &'a Includes,
    /// Where the texts of included files are kept for findings.
    pub sources: &'a Sources,
    /// What is too much.
    pub limits: &'a Limits,
    /// What lists and null mean.
    pub profile: MergeProfile,
}

impl<'a> Context<'a> {
    /// Expands documents of a snapshot that is read like this.
    pub fn new(given: Given<'a>, includes: &'a Includes) -> Self {
        let Given { snapshot, settings, sources, limits } = given;
        Self { snapshot, includes, sources, limits, profile: settings.merge }
    }
}

/// A document after its directives.
#[derive(Debug, Clone)]
pub struct Expanded {
    /// Its value. Parts that a directive brought know the way they came, and what they override.
    pub root: Node,
    /// Every other file that the value depends on.
    pub reads: Reads,
}

/// Files that were asked for: a change to any of them, or its appearance, may change the result.
pub type Reads = BTreeMap<RepoPath, Read>;

/// What was found where a file was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// A file, with its id if it has one.
    Present(Option<ObjectId>),
    /// Nothing.
    Absent,
}

/// Follows the directives of a document that stands in `file`.
///
/// A document without directives, or whose root is not a map, comes back as it is. With errors the value is incomplete: what a
/// faulty directive would have brought is left out.
pub fn expand(document: &Document, file: &RepoPath, context: &Context<'_>) -> Outcome<Expanded> {
    if !has_directives(document) {
        return Outcome::clean(Expanded { root: document.root.clone(), reads: Reads::new() });
    }
    engine::expand(document, file, context)
}

/// Whether expanding can change anything. Cheap, and asked of every document.
pub fn has_directives(document: &Document) -> bool {
    matches!(document.root.value, Value::Map(_)) && marked::has_plus_keys(&document.root)
}

/// The one document of a file whose expansion was asked for by name: it must be alone, and a map.
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
