//! Units: what a layout renders as a whole.

use std::fmt;

use smol_str::SmolStr;

use crate::sanitize;

/// Something that a layout renders as a whole. Units of two snapshots are the same if their keys are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unit {
    /// The name of the layout.
    pub layout: SmolStr,
    /// What the unit is called within its layout.
    pub key: SmolStr,
}

impl fmt::Display for Unit {
    /// One line, safe to print: `kustomize apps/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", sanitize::inline(&self.layout), sanitize::inline(&self.key))
    }
}
