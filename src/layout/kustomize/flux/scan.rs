//! The kustomization that Flux makes for a directory without one: every file below it that holds resources.

use super::ignored::Ignored;
use crate::layout::kustomize::file::Text;
use crate::layout::kustomize::load::{KUSTOMIZATION_FILES, Loader};
use crate::layout::kustomize::{Fatal, fatal};
use crate::path::RepoPath;
use crate::snapshot::EntryKind;
use crate::text::Span;

/// Files and directories that Flux leaves out of what it reads from a repository.
const LEFT_OUT: [&[u8]; 4] = [b".git", b".sops.yaml", b".goreleaser.yml", b".flux.yaml"];

/// Files and directories that it leaves out only at the top of a repository.
const LEFT_OUT_AT_TOP: [&[u8]; 8] = [
    b".github",
    b".circleci",
    b".travis.yml",
    b".gitlab-ci.yml",
    b"appveyor.yml",
    b".drone.yml",
    b"cloudbuild.yaml",
    b"codeship-services.yml",
];

/// The resources of a directory, relative to it.
pub(super) fn resources(directory: &RepoPath, span: Span, loader: &Loader<'_>) -> Result<Vec<Text>, Fatal> {
    loader.note_listing(directory);
    let mut found = Vec::new();
    let mut looked_at = 0_u64;
    let mut waiting = vec![(directory.clone(), Ignored::of(directory, loader)?)];
    while let Some((next, ignored)) = waiting.pop() {
        let listing = loader.given().snapshot.list(&next);
        looked_at += listing.entries.len() as u64;
        if looked_at > loader.given().limits.entries {
            return Err(fatal(span, format!("there are too many files below `{directory}`")));
        }
        for entry in listing.entries {
            let name = entry.path.file_name();
            if LEFT_OUT.contains(&name) || next.is_root() && LEFT_OUT_AT_TOP.contains(&name) {
                continue;
            }
            if ignored.leaves_out(&entry.path, entry.kind == EntryKind::Directory) {
                continue;
            }
            match entry.kind {
                EntryKind::Directory if has_kustomization(&entry.path, loader)? => found.push(entry.path),
                EntryKind::Directory => {
                    let ignored = ignored.clone().with(&entry.path, loader)?;
                    waiting.push((entry.path, ignored));
                }
                EntryKind::File if name.ends_with(b".yaml") || name.ends_with(b".yml") => found.push(entry.path),
                _ => {}
            }
        }
    }
    found.sort_unstable();
    let depth = directory.components().count();
    let relative = |path: RepoPath| {
        let parts: Vec<String> =
            path.components().skip(depth).map(|part| String::from_utf8_lossy(part).into_owned()).collect();
        Text { value: parts.join("/").into(), span }
    };
    Ok(found.into_iter().map(relative).collect())
}

fn has_kustomization(directory: &RepoPath, loader: &Loader<'_>) -> Result<bool, Fatal> {
    for name in KUSTOMIZATION_FILES {
        if let Ok(path) = directory.join(name.as_bytes())
            && loader.bytes(&path)?.is_some()
        {
            return Ok(true);
        }
    }
    Ok(false)
}
