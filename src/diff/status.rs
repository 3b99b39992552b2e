//! What happened to a resource as a whole.

use super::ResourceChange;

/// What happened to a resource as a whole; every resource has exactly one status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The resource is new.
    Added,
    /// The resource is gone.
    Removed,
    /// Its content, metadata or requests differ; it may have moved as well.
    Changed,
    /// Nothing inside differs, but its file or its name does.
    Moved,
    /// Nothing differs but the spelling of numbers.
    Respelled,
    /// Nothing differs.
    Same,
}

impl Status {
    /// The name in machine output and in summaries.
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Moved => "moved",
            Self::Respelled => "respelled",
            Self::Same => "same",
        }
    }
}

impl ResourceChange {
    /// What happened to the resource.
    pub fn status(&self) -> Status {
        match (&self.before, &self.after) {
            (None, Some(_)) => Status::Added,
            (Some(_), None) => Status::Removed,
            _ if self.changes().next().is_some() => Status::Changed,
            _ if self.is_moved() => Status::Moved,
            _ if self.spellings().next().is_some() => Status::Respelled,
            _ => Status::Same,
        }
    }

    /// Whether the resource is on both sides, but in another file or unit, or with another name.
    pub fn is_moved(&self) -> bool {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                before.home() != after.home() || !before.identity.is_namesake(&after.identity)
            }
            _ => false,
        }
    }

    /// Whether the resource differs. Another spelling of the same numbers is not a difference.
    pub fn is_difference(&self) -> bool {
        !matches!(self.status(), Status::Respelled | Status::Same)
    }
}
