//! Files that could not be compared by their meaning, made ready to be compared line by line.

use std::collections::BTreeMap;

use super::{Comparison, Report};
use crate::document;
use crate::finding::Finding;
use crate::path::RepoPath;
use crate::resource::SkipReason;
use crate::snapshot::{EntryKind, Snapshot, Unreadable};

/// A file that differs and is not compared by value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// Its path.
    pub path: RepoPath,
    /// Why it is not compared by value.
    pub reason: &'static str,
    /// Its content on both sides.
    pub content: TextContent,
}

/// What is known of both sides of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextContent {
    /// Text on both sides; a side that does not have the file has none.
    Text {
        /// The older text.
        before: Option<String>,
        /// The newer text.
        after: Option<String>,
    },
    /// Something that is not text, on at least one side.
    Binary,
    /// Text that may contain secrets, so that no line of it is shown.
    Sensitive,
    /// Not a file on at least one side.
    NotAFile,
}

impl TextContent {
    /// Whether the texts of both sides are equal.
    pub fn is_same(&self) -> bool {
        matches!(self, Self::Text { before, after } if before == after)
    }
}

impl Comparison<'_> {
    /// Splits off the files of a report that differ and were not compared, to be shown as text. What cannot even be read stays.
    pub fn with_text_files(&self, mut report: Report) -> (Report, Vec<TextFile>) {
        let mut reasons: BTreeMap<RepoPath, &'static str> = BTreeMap::new();
        reasons.extend(report.skipped.iter().map(|skipped| (skipped.path.clone(), words(skipped.reason))));
        let errors = report.findings.iter().filter(|finding| Finding::is_error(finding));
        let broken: Vec<RepoPath> = errors.map(|finding| finding.path(&report.sources)).collect();
        let has_broken = !broken.is_empty();
        reasons.extend(broken.into_iter().map(|path| (path, "does not parse")));
        let mut files = Vec::new();
        let mut has_unread = false;
        for (path, reason) in reasons {
            match self.text_content(&path) {
                Ok(content) => {
                    report.skipped.retain(|skipped| skipped.path != path);
                    files.push(TextFile { path, reason, content });
                }
                Err(_) => has_unread = true,
            }
        }
        // Lines are shown of a broken file, but its meaning was not compared.
        report.incomplete &= has_broken || has_unread || !self.configuration.findings().is_empty();
        (report, files)
    }

    fn text_content(&self, path: &RepoPath) -> Result<TextContent, Unreadable> {
        let before = Version::read(self.before.snapshot, path)?;
        let after = Version::read(self.after.snapshot, path)?;
        Ok(match (before, after) {
            (Version::NotAFile, _) | (_, Version::NotAFile) => TextContent::NotAFile,
            (Version::Binary, _) | (_, Version::Binary) => TextContent::Binary,
            (before, after) => {
                let (before, after) = (before.into_text(), after.into_text());
                let secrets = self.after.secrets();
                let is_sensitive = [&before, &after].into_iter().flatten().any(|text| secrets.may_be_in(path, text));
                if is_sensitive { TextContent::Sensitive } else { TextContent::Text { before, after } }
            }
        })
    }
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

/// A file on one side.
enum Version {
    Absent,
    Text(String),
    Binary,
    NotAFile,
}

impl Version {
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
