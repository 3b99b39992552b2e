//! Kustomize roots, rendered from a snapshot without network, checkout or execution.
//!
//! [`build`] gives what `kustomize build` prints, as a set of documents. What is not in the repository (remote bases, charts,
//! plugins) becomes an opaque [`Leaf`] with everything that the repository says about it.

mod accumulate;
mod configuration;
mod external;
mod fields;
mod file;
mod flux;
mod folded;
mod generate;
mod id;
mod json_patch;
mod load;
mod numbers;
mod patch;
mod pattern;
mod reference;
mod reference_table;
mod replace;
mod resource;
mod scalars;
mod schema;
mod selector;
mod shared;
mod strategic;
mod timestamp;
mod transform;
mod uses;

use std::collections::BTreeSet;

use crate::finding::{self, Finding, Location};
use crate::limits::{Counted, Limits};
use crate::path::RepoPath;
use crate::settings::Given;
use crate::text::Span;
use crate::value::Node;

pub use accumulate::Cache;
pub use external::Leaf;
pub use flux::build_flux;
pub(super) use load::resolve;
pub use load::{KUSTOMIZATION_FILES, is_kustomization};
pub use uses::{KustomizeUse, KustomizeUses, uses_by_directory};
pub(super) use uses::{index_of_uses, may_use_files};

/// Why a build stopped.
type Fatal = Box<Finding>;

/// A rendered root.
#[derive(Debug, Default)]
pub struct Built {
    /// Its resources; none if the build failed.
    pub resources: Vec<BuiltResource>,
    /// What the repository refers to and does not hold.
    pub leaves: Vec<Leaf>,
    /// Why it failed, and notes.
    pub findings: Vec<Finding>,
    /// Every file that was read or looked for.
    pub inputs: BTreeSet<RepoPath>,
    /// Every directory whose content, at any depth, decided what is built.
    pub listings: BTreeSet<RepoPath>,
    /// Whether it failed.
    pub is_failed: bool,
}

/// A rendered resource.
#[derive(Debug)]
pub struct BuiltResource {
    /// The document.
    pub node: Node,
    /// The name without the suffix that is made of the content.
    pub name: smol_str::SmolStr,
    /// The suffix that is made of the content, if there is one.
    pub hash: Option<smol_str::SmolStr>,
}

/// Renders the kustomization in a directory. Builds of one snapshot share a cache.
pub fn build(root: &RepoPath, given: Given<'_>, cache: &Cache) -> Built {
    let loader = load::Loader::new(given, &cache.files);
    let outcome = accumulate::root(root, &loader, cache);
    finished(loader, outcome)
}

/// What a build gives in the end.
fn finished(loader: load::Loader<'_>, outcome: Result<accumulate::Accumulated, Fatal>) -> Built {
    let load::Noted { inputs, listings, findings, .. } = loader.finish();
    match outcome {
        Ok(accumulated) => {
            let resources = accumulated.resources.into_iter().map(BuiltResource::new).collect();
            Built { resources, leaves: accumulated.leaves, findings, inputs, listings, is_failed: false }
        }
        Err(failure) => {
            let findings = findings.into_iter().chain([*failure]).collect();
            Built { findings, inputs, listings, is_failed: true, ..Built::default() }
        }
    }
}

impl BuiltResource {
    fn new(resource: resource::Resource) -> Self {
        let id = resource.id();
        let name = match &resource.hash {
            Some(hash) => id.name.strip_suffix(&format!("-{hash}")).unwrap_or(&id.name).into(),
            None => id.name,
        };
        Self { node: resource.node, name, hash: resource.hash }
    }
}

/// Fails if a document has become too large.
fn check_size(node: &Node, span: Span, limits: &Limits) -> Result<(), Fatal> {
    if node.size() > limits.nodes || node.height() > limits.depth {
        let message = "this makes a document that is larger than the limits allow";
        return Err(Box::new(Finding::new(&finding::LIMIT_NODES, Location::Span(span), message)));
    }
    Ok(())
}

/// A limit of the whole run that was reached.
fn run_limit(span: Span, limits: &Limits, counted: Counted) -> Fatal {
    let (message, help) = limits.excess(counted);
    Box::new(Finding::new(&finding::LIMIT_RUN_WORK, Location::Span(span), message).help(help))
}

/// A failure that ends the build.
fn fatal(span: Span, message: impl Into<String>) -> Fatal {
    Box::new(Finding::new(&finding::KUSTOMIZE_BUILD, Location::Span(span), message))
}
