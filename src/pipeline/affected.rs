//! Which resources changed layers speak for: every one below their selectors is looked at, changed or not.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::Request;
use super::metadata::{Layered, SideLayers};
use crate::document::Format;
use crate::finding::Finding;
use crate::layer::{MetadataPath, WILDCARD};
use crate::path::RepoPath;
use crate::resource::{Content, Resource, Role, Roles, parse, resources_of};
use crate::source::{Entry, EntryKind, Reason, Snapshot, Unreadable};

/// Resources that are on both sides, as they are on the newer, and what could not be looked at.
#[derive(Default)]
pub(super) struct Affected {
    pub(super) resources: Vec<Resource>,
    pub(super) findings: Vec<Finding>,
}

/// The resources of the newer side that a selector speaks for and that the older side has too, in the same file. Those of
/// interest are those in the scope, or all where the changed layers themselves were asked about.
pub(super) fn affected(request: &Request<'_>, layered: &Layered<'_>, selectors: &BTreeSet<MetadataPath>) -> Affected {
    let mut walk = Walk { request, side: &layered.after, found: BTreeMap::new(), findings: Vec::new() };
    for root in layered.after.roots() {
        for selector in selectors {
            walk.directory(&root, selector, 0);
        }
    }
    let roles =
        (Roles::new(request.before, layered.before.settings), Roles::new(request.after, layered.after.settings));
    let reader = Reader { request, layered, selectors, roles };
    let is_asked_for = layered.is_any_changed_in(request.scope);
    let files = walk.found.into_values().filter(|entry| is_asked_for || request.scope.wants(&entry.path));
    let files: Vec<Entry> = files.collect();
    let read: Vec<Affected> = files.into_par_iter().map(|entry| reader.read(&entry)).collect();
    let mut affected = Affected { findings: walk.findings, ..Affected::default() };
    for part in read {
        affected.resources.extend(part.resources);
        affected.findings.extend(part.findings);
    }
    affected
}

/// Finds the files that may hold what a selector speaks for.
struct Walk<'a> {
    request: &'a Request<'a>,
    side: &'a SideLayers<'a>,
    found: BTreeMap<RepoPath, Entry>,
    findings: Vec<Finding>,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &RepoPath, selector: &MetadataPath, depth: usize) {
        let budget = self.request.budget;
        let listing = self.side.snapshot.list(directory);
        let refusal = if depth > budget.limits.directory_depth as usize {
            Some((u64::from(budget.limits.directory_depth), "directory levels"))
        } else if !budget.spent.take_entries(listing.entries.len() as u64, &budget.limits) {
            Some((budget.limits.entries, "directory entries"))
        } else {
            None
        };
        if let Some((limit, what)) = refusal {
            return self.refuse(directory, limit, what);
        }
        self.findings.extend(listing.unreadable.into_iter().map(Unreadable::into_finding));
        let segments = selector.segments();
        for entry in listing.entries {
            let name = entry.path.file_name();
            match entry.kind {
                EntryKind::Directory if name == WILDCARD.as_bytes() || name.starts_with(b".") => {}
                EntryKind::Directory => {
                    let fits = std::str::from_utf8(name).is_ok_and(|name| selector.fits_at(depth, name));
                    if fits {
                        self.directory(&entry.path, selector, depth + 1);
                    }
                }
                // A file is named by its directory, or by its own name one level further down.
                EntryKind::File if depth + 1 >= segments.len() && Format::of_file_name(name).is_some() => {
                    self.found.insert(entry.path.clone(), entry);
                }
                _ => {}
            }
        }
    }

    /// Past a limit every further directory would say the same.
    fn refuse(&mut self, directory: &RepoPath, limit: u64, what: &'static str) {
        let revision = self.side.snapshot.label().into();
        let reason = Reason::TooManyEntries { limit, what };
        let finding = Unreadable { path: directory.clone(), revision, reason }.into_finding();
        if !self.findings.iter().any(|known| known.message == finding.message) {
            self.findings.push(finding);
        }
    }
}

struct Reader<'a> {
    request: &'a Request<'a>,
    layered: &'a Layered<'a>,
    selectors: &'a BTreeSet<MetadataPath>,
    roles: (Roles<'a>, Roles<'a>),
}

impl Reader<'_> {
    fn read(&self, entry: &Entry) -> Affected {
        let role = self.roles.1.of(&entry.path);
        if matches!(role, Role::Layer | Role::Configuration | Role::Other) || role != self.roles.0.of(&entry.path) {
            return Affected::default();
        }
        // Where the path alone names the resource, most files need not be opened.
        if let Role::Resource(path) = &role
            && !self.selectors.iter().any(|selector| selector.applies_to(path))
        {
            return Affected::default();
        }
        let twin = match self.request.before.entry(&entry.path) {
            Ok(Some(twin)) if twin.kind == EntryKind::File => twin,
            // What is new has no metadata to compare with, and what could not be read is said elsewhere.
            _ => return Affected::default(),
        };
        let mut resources = match self.resources(self.request.after, entry, &role) {
            Ok(resources) => resources,
            Err(finding) => return Affected { findings: vec![*finding], ..Affected::default() },
        };
        if twin.id.is_none() || twin.id != entry.id {
            let before = self.resources(self.request.before, &twin, &role).unwrap_or_default();
            resources.retain(|resource| before.iter().any(|twin| twin.identity == resource.identity));
        }
        resources.retain(|resource| {
            let path = self.layered.after.path_of(resource);
            path.is_some_and(|path| self.selectors.iter().any(|selector| selector.applies_to(&path)))
        });
        Affected { resources, findings: Vec::new() }
    }

    fn resources(&self, snapshot: &dyn Snapshot, entry: &Entry, role: &Role) -> Result<Vec<Resource>, Box<Finding>> {
        let bytes = snapshot.read(entry).map_err(|error| Box::new(error.into_finding()))?;
        let content = Content { bytes: &bytes, path: &entry.path, revision: snapshot.label() };
        let parsed = parse(content, self.request.sources, self.request.configuration.limits());
        // A file that does not parse and does not differ is not this comparison's to judge.
        Ok(if parsed.is_broken { Vec::new() } else { resources_of(&parsed, &entry.path, role) })
    }
}
