//! Stage 8, the effective resource: every stage before composed for one snapshot, each piece made once.
//!
//! A [`World`] is one side of a comparison, or the one revision a command looks at. It reads files on demand, follows their
//! directives, and answers what a resource is in effect; whoever asks twice gets the same answer without new work.

mod expressions;
mod file;
mod layers;
mod neighbours;
mod names;
mod secrets;
mod stages;
mod tree;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock};

use crate::directive::Includes;
use crate::expression::eval::Payload;
use crate::layout::Roles;
use crate::limits::Limits;
use crate::memo::Memo;
use crate::metadata::Layers;
use crate::patch::PatchFiles;
use crate::path::{LogicalPath, RepoPath};
use crate::request;
use crate::resource::{Identity, Resource};
use crate::settings::Settings;
use crate::snapshot::Snapshot;
use crate::text::Sources;
use crate::value::Node;

pub use expressions::WorldTree;
pub use file::{FileContent, Opened};
pub use layers::layers_below;
use names::Names;
pub use secrets::Secrets;
pub use stages::{Effective, Stage};
use tree::{Folder, Written};

/// One snapshot with everything that is known about it.
pub struct World<'a> {
    /// The files.
    pub snapshot: &'a dyn Snapshot,
    /// What its `outcrop.yaml` says.
    pub settings: &'a Settings,
    /// The texts that are read.
    pub sources: &'a Arc<Sources>,
    /// What is too much.
    pub limits: &'a Limits,
    includes: &'a Includes,
    secrets: Option<&'a Secrets<'a>>,
    roles: Roles<'a>,
    trees: Arc<BTreeMap<RepoPath, Layers<'a>>>,
    files: Memo<RepoPath, Arc<FileContent>>,
    folders: Memo<RepoPath, Arc<Folder>>,
    written: Memo<RepoPath, Arc<Written>>,
    children: Memo<LogicalPath, Arc<[LogicalPath]>>,
    names_of_places: OnceLock<Names>,
    names_of_all: OnceLock<Names>,
    /// Directory entries that were looked at to find resources.
    entries: AtomicU64,
    is_unlisted: AtomicBool,
    seen: Memo<LogicalPath, Payload>,
    patch_files: Arc<BTreeMap<RepoPath, PatchFiles>>,
    effective: Memo<(RepoPath, usize, Identity), Arc<Effective>>,
    /// What resources show to others.
    shown: Memo<LogicalPath, Option<Node>>,
    requests: Arc<request::Memo>,
}

/// What twins have in common.
struct Shared<'a> {
    trees: Arc<BTreeMap<RepoPath, Layers<'a>>>,
    patch_files: Arc<BTreeMap<RepoPath, PatchFiles>>,
    requests: Arc<request::Memo>,
}

impl<'a> World<'a> {
    /// A snapshot of which nothing is known yet. Included files are kept by whoever owns `includes`, which outlives the world.
    pub fn new(
        snapshot: &'a dyn Snapshot,
        settings: &'a Settings,
        sources: &'a Arc<Sources>,
        limits: &'a Limits,
        includes: &'a Includes,
    ) -> Self {
        let patch_files = layers::bases(settings).into_iter().map(|base| (base, PatchFiles::default()));
        let trees = layers::bases(settings).into_iter().map(|base| {
            let layers = layers_below(&base, snapshot, settings, sources, limits, includes);
            (base, layers)
        });
        let shared = Shared {
            trees: Arc::new(trees.collect()),
            patch_files: Arc::new(patch_files.collect()),
            requests: Arc::new(request::Memo::within(limits)),
        };
        Self::over(snapshot, settings, sources, limits, includes, shared)
    }

    /// The same snapshot again, with the same layers.
    #[must_use]
    pub fn twin(&self) -> Self {
        let Self { snapshot, settings, sources, limits, includes, .. } = *self;
        let shared = Shared {
            trees: Arc::clone(&self.trees),
            patch_files: Arc::clone(&self.patch_files),
            requests: Arc::clone(&self.requests),
        };
        Self::over(snapshot, settings, sources, limits, includes, shared)
    }

    fn over(
        snapshot: &'a dyn Snapshot,
        settings: &'a Settings,
        sources: &'a Arc<Sources>,
        limits: &'a Limits,
        includes: &'a Includes,
        shared: Shared<'a>,
    ) -> Self {
        let Shared { trees, patch_files, requests } = shared;
        Self {
            snapshot,
            settings,
            sources,
            limits,
            includes,
            secrets: None,
            roles: Roles::new(snapshot, settings),
            trees,
            files: Memo::default(),
            folders: Memo::default(),
            written: Memo::default(),
            children: Memo::default(),
            names_of_places: OnceLock::new(),
            names_of_all: OnceLock::new(),
            entries: AtomicU64::new(0),
            is_unlisted: AtomicBool::new(false),
            seen: Memo::default(),
            patch_files,
            effective: Memo::default(),
            shown: Memo::default(),
            requests,
        }
    }

    /// The same world, in which resources see each other without their secrets.
    #[must_use]
    pub fn keeping(mut self, secrets: &'a Secrets<'a>) -> Self {
        self.secrets = Some(secrets);
        self
    }

    /// A resource as others may see it.
    pub fn hidden(&self, resource: Resource) -> Resource {
        match self.secrets {
            Some(secrets) => secrets.hide(resource),
            None => resource,
        }
    }

    /// What files are, by their place.
    pub fn roles(&self) -> &Roles<'a> {
        &self.roles
    }
}

#[cfg(test)]
mod tests;
