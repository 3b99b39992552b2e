//! What is needed to read a snapshot: its files, its settings, where texts are kept, and what is too much.

use std::sync::Arc;

use super::Settings;
use crate::limits::Limits;
use crate::snapshot::Snapshot;
use crate::text::Sources;

/// A snapshot and how it is read.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// The files.
    pub snapshot: &'a dyn Snapshot,
    /// What its `outcrop.yaml` says.
    pub settings: &'a Settings,
    /// The texts that are read, kept for findings to show.
    pub sources: &'a Arc<Sources>,
    /// What is too much.
    pub limits: &'a Limits,
}
