//! Finds the files that may hold resources to which changed layers apply: everything below their selectors, edited or not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use super::Question;
use crate::document::Format;
use crate::finding::Finding;
use crate::layout::Role;
use crate::metadata::{MetadataPath, WILDCARD};
use crate::names;
use crate::parallel::{FEW, few_or_many};
use crate::path::RepoPath;
use crate::snapshot::{Entry, EntryKind, Reason, Unreadable};

/// The files of the newer side that a selector may apply to.
pub(super) fn selected(
    question: &Question<'_>,
    selectors: &BTreeSet<MetadataPath>,
) -> (BTreeMap<RepoPath, Entry>, Vec<Finding>) {
    let walk = Walk { question, is_refused: AtomicBool::new(false) };
    let mut found = Found::default();
    for root in question.after.settings.roots.paths() {
        for selector in selectors {
            found.add(walk.directory(root, selector, 0));
        }
    }
    let Found { files, findings } = found;
    let roles = question.after.roles();
    let is_selected = |entry: &Entry| match roles.role(&entry.path) {
        // Where the path alone names the resource, most files need not be opened.
        Role::Resource(path) => selectors.iter().any(|selector| selector.applies_to(&path)),
        Role::Layer | Role::Configuration | Role::Other => false,
        Role::LegacyResource(_) | Role::Documents => true,
    };
    let files = files.into_iter().filter(is_selected).map(|entry| (entry.path.clone(), entry));
    (files.collect(), findings)
}

struct Walk<'a> {
    question: &'a Question<'a>,
    /// Set once a limit is met: every further directory would say the same.
    is_refused: AtomicBool,
}

#[derive(Default)]
struct Found {
    files: Vec<Entry>,
    findings: Vec<Finding>,
}

impl Found {
    fn add(&mut self, mut other: Self) {
        self.files.append(&mut other.files);
        self.findings.append(&mut other.findings);
    }
}

impl Walk<'_> {
    fn directory(&self, directory: &RepoPath, selector: &MetadataPath, depth: usize) -> Found {
        let mut found = Found::default();
        if self.is_refused.load(Ordering::Relaxed) {
            return found;
        }
        let mut below: Vec<RepoPath> = Vec::new();
        let mut members = 0;
        let unreadable = self.question.after.snapshot.visit(directory, &mut |member| {
            members += 1;
            match member.kind {
                EntryKind::Directory if member.name == WILDCARD.as_bytes() || member.name.starts_with(b".") => {}
                EntryKind::Directory
                    if std::str::from_utf8(member.name).is_ok_and(|name| selector.fits_at(depth, name)) =>
                {
                    below.push(member.path());
                }
                // A file is named by its directory, or by its own name one level further down.
                EntryKind::File
                    if depth + 1 >= selector.segments().len()
                        && (Format::of_file_name(member.name).is_some() || names::is_resource_file(member.name)) =>
                {
                    found.files.push(member.entry());
                }
                _ => {}
            }
        });
        let budget = self.question.budget;
        let refusal = if depth > budget.limits.directory_depth as usize {
            Some((u64::from(budget.limits.directory_depth), "directory levels"))
        } else if !budget.spent.take_entries(members, &budget.limits) {
            Some((budget.limits.entries, "directory entries"))
        } else {
            None
        };
        if let Some((limit, what)) = refusal {
            return self.refuse(limit, what);
        }
        found.findings.extend(unreadable.into_iter().map(Unreadable::into_finding));
        let walk = |path: &RepoPath| self.directory(path, selector, depth + 1);
        few_or_many(&below, FEW, walk).into_iter().for_each(|more| found.add(more));
        found
    }

    /// Reports a limit on the root, because which directory meets it first depends on the scheduling of threads.
    fn refuse(&self, limit: u64, what: &'static str) -> Found {
        let is_said = self.is_refused.swap(true, Ordering::Relaxed);
        let revision = self.question.after.snapshot.label().into();
        let reason = Reason::TooManyEntries { limit, what };
        let finding = || Unreadable { path: RepoPath::root(), revision, reason }.into_finding();
        Found { files: Vec::new(), findings: (!is_said).then(finding).into_iter().collect() }
    }
}
