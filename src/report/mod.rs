//! Writes the result of a comparison, as text for people and as data for programs.

mod cause;
mod name_list;
pub mod diagnostics;
pub mod explain;
mod edit_pattern;
mod fragment;
pub mod github;
pub mod json;
mod layer_edit;
#[cfg(test)]
mod laws;
pub mod lines;
mod locate;
pub mod markdown;
mod paint;
mod text_diff;
mod path_text;
pub mod render;
pub mod request;
#[cfg(test)]
mod sample;
pub mod side_by_side;
mod snippet;
mod style;
mod summary_counts;
pub mod terminal;
mod secret_numbers;
pub mod trace;
pub mod unified;
mod redact;

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

pub use layer_edit::{LayerEdit, Shielded};
pub use style::Style;
pub use summary_counts::{SummaryCounts, plural};

use crate::diff::{Edits, Group, ResourceChange, Suppressed};
use crate::finding::Finding;
pub use crate::resource::{ReadAs, SkipReason, Skipped};
use crate::text::Sources;

/// The result of a run, as all formats show it.
#[derive(Debug, Default)]
pub struct Report {
    /// The older side, as people call it.
    pub before: SmolStr,
    /// The newer side.
    pub after: SmolStr,
    /// Every resource that differs, in order of its identity.
    pub resources: Vec<ResourceChange>,
    /// Changes that several resources share; they refer to `resources` by position.
    pub groups: Vec<Group>,
    /// Which edited files the changes come from.
    pub edits: Edits,
    /// Edits of layers that do not affect every resource they apply to.
    pub layer_edits: Vec<LayerEdit>,
    /// Problems in the files, in order of file and location.
    pub findings: Vec<Finding>,
    /// Changed files that were not compared, and why.
    pub skipped: Vec<Skipped>,
    /// How much was compared.
    pub compared: Compared,
    /// Changes hidden by rules of the user, each with its rule.
    pub suppressed: Vec<Suppressed>,
    /// The views that were compared, if not all of them were.
    pub only: Vec<&'static str>,
    /// Changes that are shown, but that the compare rules of the newer side would hide from now on.
    pub would_hide: Vec<Suppressed>,
    /// The number of changed files by interpretation.
    pub read_as: BTreeMap<ReadAs, usize>,
    /// The number of findings disabled by the configuration.
    pub switched_off: usize,
    /// Whether some files could not be compared, so that the list of changes may be incomplete.
    pub incomplete: bool,
    /// The texts that findings and values point into.
    pub sources: Arc<Sources>,
}

/// How much was compared; shown with every report.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Compared {
    /// Files that differ between the sides.
    pub files: usize,
    /// Resources in those files, on either side.
    pub resources: usize,
}

impl Report {
    /// Whether some files could not be compared, so that the list of changes may be incomplete.
    pub fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Removes the groups, so that every resource is listed separately.
    pub fn ungroup(&mut self) {
        self.groups.clear();
        self.edits = Edits::default();
    }

    /// Whether the sides differ in something that was compared.
    pub fn has_differences(&self) -> bool {
        self.resources.iter().any(ResourceChange::is_difference)
    }
}
