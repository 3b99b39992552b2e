//! Which files may hold what changed layers speak for: everything below their selectors, edited or not.

use std::collections::{BTreeMap, BTreeSet};

use super::Question;
use crate::document::Format;
use crate::finding::Finding;
use crate::layer::{MetadataPath, WILDCARD};
use crate::path::RepoPath;
use crate::resource::Role;
use crate::source::{Entry, EntryKind, Reason, Unreadable};

/// The files of the newer side that a selector may speak for.
pub(super) fn selected(
    question: &Question<'_>,
    selectors: &BTreeSet<MetadataPath>,
) -> (BTreeMap<RepoPath, Entry>, Vec<Finding>) {
    let mut walk = Walk { question, found: BTreeMap::new(), findings: Vec::new() };
    for root in question.after.roots() {
        for selector in selectors {
            walk.directory(&root, selector, 0);
        }
    }
    let mut found = walk.found;
    found.retain(|path, _| match question.after.roles().of(path) {
        // Where the path alone names the resource, most files need not be opened.
        Role::Resource(path) => selectors.iter().any(|selector| selector.applies_to(&path)),
        Role::Layer | Role::Configuration | Role::Other => false,
        Role::LegacyResource(_) | Role::Documents => true,
    });
    (found, walk.findings)
}

struct Walk<'a> {
    question: &'a Question<'a>,
    found: BTreeMap<RepoPath, Entry>,
    findings: Vec<Finding>,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &RepoPath, selector: &MetadataPath, depth: usize) {
        let budget = self.question.budget;
        let listing = self.question.after.snapshot.listing(directory);
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
        self.findings.extend(listing.unreadable.iter().cloned().map(Unreadable::into_finding));
        for entry in &listing.entries {
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
                EntryKind::File if depth + 1 >= selector.segments().len() && Format::of_file_name(name).is_some() => {
                    self.found.insert(entry.path.clone(), entry.clone());
                }
                _ => {}
            }
        }
    }

    /// Past a limit every further directory would say the same.
    fn refuse(&mut self, directory: &RepoPath, limit: u64, what: &'static str) {
        let revision = self.question.after.snapshot.label().into();
        let reason = Reason::TooManyEntries { limit, what };
        let finding = Unreadable { path: directory.clone(), revision, reason }.into_finding();
        if !self.findings.iter().any(|known| known.message == finding.message) {
            self.findings.push(finding);
        }
    }
}
