//! What could not be compared by its meaning, made ready to be compared line by line.

use std::collections::BTreeMap;

use super::Request;
use crate::document;
use crate::path::RepoPath;
use crate::report::lines::{PlainContent, PlainFile};
use crate::report::{Report, SkipReason};
use crate::secrets::Masks;
use crate::snapshot::{EntryKind, Snapshot, Unreadable};

/// Takes out of a report the files that differ and were not compared, to be shown as text. What cannot even be read stays.
pub fn take_plain_files(request: &Request<'_>, report: &mut Report) -> Vec<PlainFile> {
    let masks = super::masks(request);
    let mut reasons: BTreeMap<RepoPath, &'static str> = BTreeMap::new();
    reasons.extend(report.skipped.iter().map(|skipped| (skipped.path.clone(), words(skipped.reason))));
    let broken: Vec<RepoPath> = broken(report).collect();
    let has_broken = !broken.is_empty();
    reasons.extend(broken.into_iter().map(|path| (path, "does not parse")));
    let mut files = Vec::new();
    let mut has_unread = false;
    for (path, reason) in reasons {
        match content(request, &path, &masks) {
            Ok(content) => {
                report.skipped.retain(|skipped| skipped.path != path);
                files.push(PlainFile { path, reason, content });
            }
            Err(_) => has_unread = true,
        }
    }
    // Lines stand in for what a broken file means, but nobody has compared that.
    report.incomplete &= has_broken || has_unread || !request.configuration.findings().is_empty();
    files
}

/// Why a file is not compared by its meaning.
fn words(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::OtherFormat => "not YAML or JSON",
        SkipReason::ForeignTemplate => "a template of another tool",
        SkipReason::JsonWithComments => "JSON with comments",
        SkipReason::Binary => "not text",
        SkipReason::LfsPointer => "a Git LFS pointer",
        SkipReason::Symlink => "a symbolic link",
        SkipReason::Submodule => "a submodule",
    }
}

/// Files with errors: nothing of them was compared.
fn broken(report: &Report) -> impl Iterator<Item = RepoPath> {
    let errors = report.findings.iter().filter(|finding| finding.is_error());
    errors.map(|finding| finding.path(&report.sources))
}

fn content(request: &Request<'_>, path: &RepoPath, masks: &Masks) -> Result<PlainContent, Unreadable> {
    let (before, after) = (Side::read(request.before, path)?, Side::read(request.after, path)?);
    Ok(match (before, after) {
        (Side::NotAFile, _) | (_, Side::NotAFile) => PlainContent::NotAFile,
        (Side::Binary, _) | (_, Side::Binary) => PlainContent::Binary,
        (before, after) => {
            let (before, after) = (before.into_text(), after.into_text());
            let is_sensitive = [&before, &after].into_iter().flatten().any(|text| masks.may_be_in(text));
            if is_sensitive { PlainContent::Sensitive } else { PlainContent::Text { before, after } }
        }
    })
}

/// One side of a file.
enum Side {
    Absent,
    Text(String),
    Binary,
    NotAFile,
}

impl Side {
    fn read(snapshot: &dyn Snapshot, path: &RepoPath) -> Result<Self, Unreadable> {
        let Some(entry) = snapshot.entry(path)? else { return Ok(Self::Absent) };
        if entry.kind != EntryKind::File {
            return Ok(Self::NotAFile);
        }
        let bytes = snapshot.read(&entry)?;
        let text = document::decode(&bytes).ok().filter(|text| !text.contains('\0'));
        Ok(text.map_or(Self::Binary, |text| Self::Text(text.into_owned())))
    }

    fn into_text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}
