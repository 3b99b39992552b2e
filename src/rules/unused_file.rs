//! `kustomize/unused-file`: files with resources next to a kustomization that nothing refers to.

use std::collections::BTreeSet;

use crate::document::Format;
use crate::finding::{self, Finding, Location};
use crate::layout::PathSet;
use crate::layout::kustomize::{KUSTOMIZATION_FILES, is_kustomization};
use crate::path::RepoPath;
use crate::resource::{Identity, Resource};
use crate::side::Side;
use crate::snapshot::{Entry, EntryKind, Scope};

/// The files in the directories of edited files that no unit shows, although one shows the kustomization beside them. `unsure` has the
/// files of units that could not be rendered, which may read more.
pub fn unused_files(
    side: &Side<'_>,
    edited: &[&RepoPath],
    shown: &PathSet,
    unsure: &PathSet,
    scope: &Scope,
) -> Vec<Finding> {
    if shown.is_empty() {
        return Vec::new();
    }
    let directories: BTreeSet<RepoPath> = edited.iter().filter_map(|file| file.parent()).collect();
    let is_file = |entry: &Entry| entry.kind == EntryKind::File;
    let mut findings = Vec::new();
    for directory in directories.iter().filter(|directory| is_built(directory, shown, unsure)) {
        let entries = side.snapshot.list(directory).entries;
        let files = entries.into_iter().filter(is_file).map(|entry| entry.path);
        let is_unused = |file: &RepoPath| may_be_unused(file) && !shown.contains(file) && scope.wants(file);
        findings.extend(files.filter(is_unused).filter_map(|file| finding(side, &file)));
    }
    findings
}

/// Whether the kustomization of a directory is part of what is rendered, and of nothing that failed.
fn is_built(directory: &RepoPath, shown: &PathSet, unsure: &PathSet) -> bool {
    let files = KUSTOMIZATION_FILES.iter().filter_map(|name| directory.join(name.as_bytes()).ok());
    files.into_iter().any(|file| shown.contains(&file) && !unsure.contains(&file))
}

fn may_be_unused(file: &RepoPath) -> bool {
    Format::of_file_name(file.file_name()).is_some() && !is_kustomization(file.file_name())
}

fn finding(side: &Side<'_>, file: &RepoPath) -> Option<Finding> {
    let content = side.file(file);
    let first = content.resources.first().filter(|_| content.resources.iter().all(is_applied_by_others))?;
    let message = "no kustomization refers to this file, although it is next to one";
    let finding = Finding::new(&finding::KUSTOMIZE_UNUSED_FILE, Location::Span(first.payload.span), message);
    Some(finding.help("list it in the kustomization of this directory, or remove it"))
}

/// Whether it is a resource of Kubernetes that is applied only as a part of something. Objects of Flux are applied on their own.
fn is_applied_by_others(resource: &Resource) -> bool {
    match &resource.identity {
        Identity::Kubernetes(name) => !name.group.ends_with("toolkit.fluxcd.io"),
        _ => false,
    }
}
