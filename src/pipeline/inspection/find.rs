//! What the words of a user mean in a snapshot: a path, a file, or the name of a Kubernetes document.

use rayon::prelude::*;

use super::{Inspection, MetadataTree};
use crate::directive::{self, Context};
use crate::document::Format;
use crate::finding::{Outcome, has_errors};
use crate::layout::{LAYOUTS, Role, Roles, resources_in};
use crate::limits::Spent;
use crate::metadata::MetadataPath;
use crate::names;
use crate::path::{LogicalPath, RepoPath};
use crate::resource::{Content, Identity, KubernetesQuery, Parsed, Resource, kubernetes_name, parse};
use crate::snapshot::{Entry, EntryKind, Scope, Unreadable, files_below};

/// What a user asks about.
#[derive(Debug, Clone)]
pub enum Sought {
    /// A path that layers may speak for, with or without a resource.
    Path(MetadataPath, MetadataTree),
    /// The documents of a file, or one of them, counted from 0.
    File(RepoPath, Option<usize>),
    /// Kubernetes documents by what they are called.
    Kubernetes(KubernetesQuery),
}

/// A resource, and the files that have to do with it.
pub(super) struct Found {
    pub(super) resource: Resource,
    pub(super) includes: Vec<RepoPath>,
    /// The files whose patches mean it, in the order they run.
    pub(super) patched_by: Vec<RepoPath>,
    /// The place of what drops it.
    pub(super) dropped_by: Option<String>,
}

impl Inspection<'_> {
    /// The resources that are meant, with their directives followed.
    pub(super) fn find(&self, sought: &Sought) -> Outcome<Vec<Found>> {
        let roles = Roles::new(self.snapshot, self.settings);
        match sought {
            Sought::Path(path, _) if path.is_collection() => Outcome::clean(Vec::new()),
            Sought::Path(path, tree) => match path.to_logical() {
                Some(logical) => self.by_path(&logical, tree, &roles),
                None => Outcome::clean(Vec::new()),
            },
            Sought::File(file, position) => {
                let mut read = self.read_file(file, &roles);
                let is_wanted = |found: &Found| position.is_none_or(|position| found.resource.position == position);
                read.value.retain(is_wanted);
                read
            }
            Sought::Kubernetes(query) => self.by_name(query, &roles),
        }
    }

    /// The files that can hold the resource of a path: one named by it, or any beside it that holds Kubernetes documents.
    fn by_path(&self, path: &LogicalPath, tree: &MetadataTree, roles: &Roles<'_>) -> Outcome<Vec<Found>> {
        let mut roots: Vec<RepoPath> = self.settings.roots.paths().cloned().collect();
        roots.retain(|root| self.settings.metadata_root.is_some() || *root == tree.base);
        let mut all = Outcome::clean(Vec::new());
        for root in roots {
            let Ok(directory) = path.directory_below(&root) else { continue };
            let beside = directory.parent().map(|parent| self.snapshot.list(&parent).entries).unwrap_or_default();
            let inside = self.snapshot.list(&directory).entries;
            let may_hold = |entry: &&Entry| {
                entry.kind == EntryKind::File
                    && match roles.of(&entry.path) {
                        Role::Resource(named) => named == *path,
                        Role::LegacyResource(_) | Role::Documents => true,
                        Role::Layer | Role::Configuration | Role::Other => false,
                    }
            };
            for entry in inside.iter().chain(&beside).filter(may_hold) {
                let read = self.read(entry, roles);
                let is_meant = |found: &Found| found.resource.logical_path(&root).as_ref() == Some(path);
                let is_named = matches!(roles.of(&entry.path), Role::Resource(_));
                let meant: Vec<Found> = read.value.into_iter().filter(is_meant).collect();
                // What is wrong with a file that only might have held it is not this question's business.
                if is_named || !meant.is_empty() {
                    all.findings.extend(read.findings);
                }
                all.value.extend(meant);
            }
        }
        all
    }

    /// Looks through the whole snapshot.
    fn by_name(&self, query: &KubernetesQuery, roles: &Roles<'_>) -> Outcome<Vec<Found>> {
        let spent = Spent::default();
        let (mut entries, unreadable) = files_below(self.snapshot, &Scope::everything(), &self.settings.limits, &spent);
        entries.retain(|entry| entry.kind == EntryKind::File && Format::of_file_name(entry.path.file_name()).is_some());
        self.snapshot.sort_for_reading(&mut entries);
        let read = |entry: &Entry| {
            let Ok(bytes) = self.snapshot.read(entry) else { return Vec::new() };
            if !query.may_be_in(&bytes) && !directive::may_include(&bytes) {
                return Vec::new();
            }
            let is_meant = |found: &Found| match &found.resource.identity {
                Identity::Kubernetes(name) => query.fits(name),
                _ => false,
            };
            self.parsed(&bytes, entry, roles).value.into_iter().filter(is_meant).collect()
        };
        let mut found: Vec<Found> = entries.par_iter().flat_map_iter(read).collect();
        found.sort_by(|a, b| {
            let key = |found: &Found| (found.resource.file.clone(), found.resource.position);
            key(a).cmp(&key(b))
        });
        Outcome { value: found, findings: unreadable.into_iter().map(Unreadable::into_finding).collect() }
    }

    fn read_file(&self, file: &RepoPath, roles: &Roles<'_>) -> Outcome<Vec<Found>> {
        match self.snapshot.entry(file) {
            Ok(Some(entry)) if entry.kind == EntryKind::File => self.read(&entry, roles),
            Ok(_) => Outcome::clean(Vec::new()),
            Err(error) => Outcome { value: Vec::new(), findings: vec![error.into_finding()] },
        }
    }

    fn read(&self, entry: &Entry, roles: &Roles<'_>) -> Outcome<Vec<Found>> {
        match self.snapshot.read(entry) {
            Ok(bytes) => self.parsed(&bytes, entry, roles),
            Err(error) => Outcome { value: Vec::new(), findings: vec![error.into_finding()] },
        }
    }

    /// The resources of a file.
    fn parsed(&self, bytes: &[u8], entry: &Entry, roles: &Roles<'_>) -> Outcome<Vec<Found>> {
        let content = Content { bytes, path: &entry.path, revision: self.snapshot.label() };
        let mut parsed = parse(content, self.sources, &self.settings.limits);
        let speaks_for_itself = !parsed.documents.is_empty()
            && parsed.documents.iter().all(|document| kubernetes_name(&document.root).is_some());
        let role = roles.of_content(&entry.path, speaks_for_itself);
        let includes =
            if self.is_expanded(&entry.path, &role) { self.expand(&mut parsed, &entry.path) } else { Vec::new() };
        if parsed.is_broken || parsed.skipped(role.is_ours()).is_some() {
            return Outcome { value: Vec::new(), findings: parsed.findings };
        }
        let found = resources_in(&parsed, &entry.path, &role, LAYOUTS).into_iter().map(|resource| {
            let own = includes.iter().filter(|(position, _)| *position == resource.position);
            let includes = own.map(|(_, file)| file.clone()).collect();
            Found { includes, resource, patched_by: Vec::new(), dropped_by: None }
        });
        Outcome { value: found.collect(), findings: parsed.findings }
    }

    fn is_expanded(&self, path: &RepoPath, role: &Role) -> bool {
        self.settings.directives && *role != Role::Configuration && path.as_bytes() != names::BUNDLE.as_bytes()
    }

    /// Follows the directives of each document; gives the files that each includes.
    fn expand(&self, parsed: &mut Parsed, path: &RepoPath) -> Vec<(usize, RepoPath)> {
        let context = Context {
            snapshot: self.snapshot,
            includes: self.includes,
            sources: self.sources,
            limits: &self.settings.limits,
            profile: self.settings.merge,
        };
        let mut included = Vec::new();
        for document in &mut parsed.documents {
            let Outcome { value, findings } = directive::expand(document, path, &context);
            parsed.is_broken |= has_errors(&findings);
            parsed.findings.extend(findings);
            document.root = value.root;
            included.extend(super::explain::included(&value.reads).into_iter().map(|file| (document.position, file)));
        }
        included
    }
}
