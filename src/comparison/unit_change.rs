//! What a change does to a unit.

use std::collections::BTreeSet;

use crate::diff::Status;
use crate::resource::Unit;

/// A type or a trait of OpenChoreo that differs, and who uses it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DefinitionUse {
    /// The type or trait.
    pub name: String,
    /// The components that are rendered with it on either side.
    pub components: BTreeSet<String>,
    /// Whether all of them render on both sides, and render the same.
    pub is_without_effect: bool,
}

/// A unit whose inputs changed, and what that does to its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitChange {
    /// Which.
    pub unit: Unit,
    /// Whether the older and the newer side have it.
    pub sides: [bool; 2],
    /// Whether it could not be rendered on the older and on the newer side; then its resources are not compared.
    pub failed: [bool; 2],
    /// Whether it could not be rendered on the older and on the newer side because something is not in the repository.
    pub missing: [bool; 2],
    /// Whether it was not compared, because the run was about to use up its memory or time.
    pub is_left_out: bool,
    /// The resources that differ, by their names.
    pub resources: Vec<(String, Status)>,
}

impl UnitChange {
    /// Whether it could not be rendered on some side, or was left out.
    pub fn is_incomplete(&self) -> bool {
        self.failed.contains(&true) || self.is_left_out
    }

    /// Whether it could not be judged, and not because something is not in the repository.
    pub fn is_unjudged(&self) -> bool {
        self.is_left_out
            || self.failed.iter().zip(self.missing).any(|(is_failed, is_missing)| *is_failed && !is_missing)
    }

    /// What happened to the unit as a whole.
    pub fn status(&self) -> Status {
        match self.sides {
            [false, true] => Status::Added,
            [true, false] => Status::Removed,
            // What is not known on either side cannot be called a difference.
            _ if self.missing == [true, true] => Status::Same,
            _ if self.is_incomplete() || !self.resources.is_empty() => Status::Changed,
            _ => Status::Same,
        }
    }

    /// Whether its output differs or is not known.
    pub fn is_difference(&self) -> bool {
        self.status() != Status::Same
    }
}
