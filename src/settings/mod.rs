//! Every choice of the user as plain data, with defaults that need no configuration.

mod bundle;
mod expect;
mod given;
mod policy;
mod preset;
mod read;
mod roots;
mod waiver;

use smol_str::SmolStr;

use crate::finding::Severity;
use crate::limits::Limits;
use crate::names::Format;
use crate::path::RepoPath;

pub use expect::{Expectation, ExpectedDifference, ExpectedSide, expectations};
pub use given::Given;
pub use policy::{Configuration, Policy};
pub use preset::{PRESETS, Preset, PresetField};
pub use read::decode;
pub use roots::{Root, RootLayout, Roots};

/// What `outcrop.yaml` can say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where resources live.
    pub roots: Roots,
    /// Where metadata lives, if not beside the resources.
    pub metadata_root: Option<RepoPath>,
    /// Where the repository's own metadata lives, which is laid over that of `metadata_root`.
    pub metadata_overlay: Option<RepoPath>,
    /// Whether `bundle.yaml` describes the repository as a bundle of metadata.
    pub is_bundle: bool,
    /// Whether documents of Unfurl are recognised.
    pub unfurl: bool,
    /// Addresses under which the repository itself is known, beside its remotes.
    pub remotes: Vec<SmolStr>,
    /// The OpenAPI document of the server that resources are for.
    pub openapi: Option<RepoPath>,
    /// Values that are compared but never shown, beside those of Kubernetes Secrets.
    pub secrets: Vec<PlaceRule>,
    /// Places whose changes are counted but not shown.
    pub ignore: Vec<IgnoreRule>,
    /// What of some resources is compared at all.
    pub compare: Vec<CompareRule>,
    /// The keys that identify items of lists, beside what is known of Kubernetes.
    pub lists: Vec<ListRule>,
    /// Severities that differ from the rules' own; `None` switches a rule off.
    pub severities: Vec<(SmolStr, Option<Severity>)>,
    /// Problems that are accepted for a while.
    pub waivers: Vec<Waiver>,
    /// Whether keys such as `+/base` and `+include` are merge directives; otherwise they are data.
    pub directives: bool,
    /// Whether maps such as `{eval: …}` in resources are expressions; otherwise they are data.
    pub expressions: bool,
    /// Layouts that are switched off, by name.
    pub layouts_off: Vec<SmolStr>,
    /// Files and directories with objects of OpenChoreo that others refer to and that are not judged themselves.
    pub catalog: Vec<SmolStr>,
    /// How merge directives treat lists and null.
    pub merge: MergeProfile,
    /// What is too much.
    pub limits: Limits,
    /// Whether the file could not be read well enough to know which secrets it names, and where metadata is that names others.
    pub may_miss_secrets: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            roots: Roots::default(),
            metadata_root: None,
            metadata_overlay: None,
            is_bundle: false,
            unfurl: true,
            remotes: Vec::new(),
            openapi: None,
            secrets: Vec::new(),
            ignore: Vec::new(),
            compare: Vec::new(),
            lists: Vec::new(),
            severities: Vec::new(),
            waivers: Vec::new(),
            directives: true,
            expressions: true,
            layouts_off: Vec::new(),
            catalog: Vec::new(),
            merge: MergeProfile::default(),
            limits: Limits::default(),
            may_miss_secrets: false,
        }
    }
}

impl Settings {
    /// The directories in which layers are looked for: the configured one, or every root of resources.
    /// An overlay takes the place of what it is laid over.
    pub fn layer_roots(&self) -> Roots {
        let Some(path) = self.metadata_overlay.as_ref().or(self.metadata_root.as_ref()) else {
            return self.roots.clone();
        };
        let first = self.roots.all().first().cloned();
        Roots::new(first.into_iter().map(|root| Root { path: path.clone(), ..root }).collect())
    }
}

/// What a list or null means when it meets a value that a merge directive brings in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MergeProfile {
    /// Only maps are merged: a list or null written beside the directive stays as it is.
    #[default]
    Plain,
    /// As Unfurl does it: lists are joined, and null over a map overrides nothing.
    Unfurl,
}

/// What is compared of the resources that a pattern matches; what is not, is counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompareRule {
    /// Files or logical paths it applies to, with `*` and `**`; none means all.
    pub within: Option<SmolStr>,
    /// Only these places, and what is below them; empty means all.
    pub filter: Vec<SmolStr>,
    /// Not these places, nor what is below them.
    pub suppress: Vec<SmolStr>,
}

/// A problem that is accepted until a day, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiver {
    /// The id of the rule.
    pub rule: SmolStr,
    /// Files or logical paths it applies to, with `*` and `**`; none means all.
    pub within: Option<SmolStr>,
    /// Why the problem is accepted.
    pub reason: SmolStr,
    /// The last day on which it is, as `YYYY-MM-DD`.
    pub expires: SmolStr,
}

/// A pattern of places in documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceRule {
    /// Files or logical paths it applies to, with `*` and `**`; none means all.
    pub within: Option<SmolStr>,
    /// Places in the document: a JSON Pointer whose tokens may hold `*`, and `**` for any number of levels.
    pub pointer: SmolStr,
}

/// Changes that are counted but not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoreRule {
    /// Files or logical paths it applies to, with `*` and `**`; none means all.
    pub within: Option<SmolStr>,
    /// Which changes.
    pub places: IgnoredPlaces,
}

/// The places that a rule ignores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IgnoredPlaces {
    /// What is at or below a pattern of JSON Pointers.
    Pointer(SmolStr),
    /// The fields of a preset.
    Preset(&'static Preset),
}

/// How the items of some lists are identified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRule {
    /// Places in the document, as elsewhere.
    pub pointer: SmolStr,
    /// The members of an item that together name it; dotted paths reach deeper. Empty when the list is a set of values.
    pub keys: Vec<SmolStr>,
    /// Whether order carries no meaning.
    pub is_unordered: bool,
}
