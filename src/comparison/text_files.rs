//! Files that cannot be compared by their meaning, made ready to be compared line by line.

use std::collections::{BTreeMap, BTreeSet};

use super::Comparison;
use super::hidden::HiddenSecrets;
use crate::document;
use crate::path::RepoPath;
use crate::resource::{SkipReason, Skipped};
use crate::snapshot::{EntryKind, Snapshot, Unreadable};

/// A file that differs and is not compared by value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// Its path, on the newer side if it was renamed.
    pub path: RepoPath,
    /// Its path on the older side, if it was renamed.
    pub renamed_from: Option<RepoPath>,
    /// Why it is not compared by value.
    pub cause: TextCause,
    /// What it is, for many such files: `Helm templates`.
    pub kind: &'static str,
    /// Its content on both sides.
    pub content: TextContent,
}

/// Why a file is compared as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextCause {
    /// It is configuration by its name, but not by its content.
    NotByContent,
    /// It could not be read: the comparison is incomplete.
    Unread,
    /// It is no configuration, and all files were asked for.
    Other,
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
    /// Something that is not text, or too much of it; the number of bytes of each side that has the file.
    Bytes {
        /// The older size.
        before: Option<usize>,
        /// The newer size.
        after: Option<usize>,
    },
    /// Text that may contain secrets, so that no line of it is shown.
    Sensitive,
    /// Not a file on at least one side.
    NotAFile,
}

/// Larger files are named, with their sizes.
const LARGEST: usize = 1 << 20;

impl Comparison<'_> {
    /// The files of a report that are shown as text, the others that are not compared, and those that cannot be read again.
    pub(super) fn text_files(
        &self,
        skipped: Vec<Skipped>,
        unread: &BTreeSet<RepoPath>,
        renames: &[(RepoPath, RepoPath)],
        hidden: &HiddenSecrets,
    ) -> (Vec<TextFile>, Vec<Skipped>, Vec<Unreadable>) {
        let mut reasons: BTreeMap<RepoPath, (TextCause, Option<SkipReason>)> = BTreeMap::new();
        let mut others = Vec::new();
        for file in skipped {
            let is_ours = is_configuration_by_name(&file);
            if is_ours || self.options.all_files {
                let cause = if is_ours { TextCause::NotByContent } else { TextCause::Other };
                reasons.insert(file.path, (cause, Some(file.reason)));
            } else {
                others.push(file);
            }
        }
        reasons.extend(unread.iter().map(|path| (path.clone(), (TextCause::Unread, None))));
        let paths: BTreeSet<RepoPath> = others.iter().map(|file| file.path.clone()).collect();
        let mut old_names = BTreeMap::new();
        for (old, new) in renames {
            if reasons.contains_key(old) && reasons.contains_key(new) {
                reasons.remove(old);
                old_names.insert(new, old);
            } else if paths.contains(new) {
                others.retain(|file| file.path != *old);
            }
        }
        let mut unreadable = Vec::new();
        let make = |(path, (cause, reason)): (RepoPath, (TextCause, Option<SkipReason>))| {
            // They are named as files that were not compared.
            if !self.after.limits.may_go_on() {
                return None;
            }
            let renamed_from = old_names.get(&path).map(|old| (*old).clone());
            let content = match self.text_of_sides(Some(renamed_from.as_ref().unwrap_or(&path)), Some(&path), hidden) {
                Ok(content) => content,
                Err(error) => {
                    // A file that could not be read the first time is known to be missing from the comparison.
                    if cause != TextCause::Unread {
                        unreadable.push(error);
                    }
                    return None;
                }
            };
            if content.is_same() && renamed_from.is_none() && cause != TextCause::NotByContent {
                return None;
            }
            let kind = self.kind(&path, cause, reason, &content);
            Some(TextFile { path, renamed_from, cause, kind, content })
        };
        let files = reasons.into_iter().filter_map(make).collect();
        (files, others, unreadable)
    }

    /// A file as text, whatever it is by its content.
    pub fn as_text(&self, old_path: &RepoPath, path: &RepoPath) -> Result<TextFile, Unreadable> {
        let content = self.text_of_sides(Some(old_path), Some(path), &HiddenSecrets::default())?;
        let renamed_from = (old_path != path).then(|| old_path.clone());
        let is_ours = document::Format::of_file_name(path.file_name()).is_some();
        let cause = if is_ours { TextCause::NotByContent } else { TextCause::Other };
        Ok(TextFile { path: path.clone(), renamed_from, cause, kind: "as written", content })
    }

    /// Two files as text; a side without a name does not have the file.
    pub(super) fn text_of_sides(
        &self,
        old_path: Option<&RepoPath>,
        path: Option<&RepoPath>,
        hidden: &HiddenSecrets,
    ) -> Result<TextContent, Unreadable> {
        let read = |snapshot: &dyn Snapshot, path: Option<&RepoPath>| {
            path.map_or(Ok(Version::Absent), |path| Version::read(snapshot, path))
        };
        let (before, after) = (read(self.before.snapshot, old_path)?, read(self.after.snapshot, path)?);
        let is_withheld = |path: Option<&RepoPath>, version: &Version| match (path, version) {
            (Some(path), Version::Text(text)) => {
                self.after.secrets().may_be_in(path, text) || self.becomes_secret(path, hidden) || hidden.are_in(text)
            }
            _ => false,
        };
        Ok(match (&before, &after) {
            (Version::NotAFile, _) | (_, Version::NotAFile) => TextContent::NotAFile,
            (Version::Bytes(_), _) | (_, Version::Bytes(_)) => {
                TextContent::Bytes { before: before.size(), after: after.size() }
            }
            _ if is_withheld(old_path, &before) || is_withheld(path, &after) => TextContent::Sensitive,
            _ => TextContent::Text { before: before.into_text(), after: after.into_text() },
        })
    }

    /// What a file is, as a plural.
    fn kind(
        &self,
        path: &RepoPath,
        cause: TextCause,
        reason: Option<SkipReason>,
        content: &TextContent,
    ) -> &'static str {
        match reason {
            _ if cause == TextCause::Other => "other files",
            None => "files with errors",
            Some(SkipReason::ForeignTemplate | SkipReason::OtherFormat) => {
                let has = |marks: &[&str]| match content {
                    TextContent::Text { before, after } => {
                        [before, after].into_iter().flatten().any(|text| marks.iter().any(|mark| text.contains(mark)))
                    }
                    _ => false,
                };
                let name = path.file_name();
                match () {
                    () if self.is_helm_template(path) => "Helm templates",
                    () if has(&["<%"]) || name.ends_with(b".erb") => "ERB templates",
                    () if has(&["{%", "{#"]) || name.windows(2).any(|end| end == b"j2") => "Jinja templates",
                    () if has(&["{{"]) => "templates of other tools",
                    () => "templates",
                }
            }
            Some(reason) => reason.describe(),
        }
    }

    /// Whether a file is below the `templates` of a chart.
    fn is_helm_template(&self, path: &RepoPath) -> bool {
        let mut directory = path.parent();
        while let Some(inner) = directory {
            let outer = inner.parent();
            if let Some(chart) = outer.as_ref().filter(|_| inner.file_name() == b"templates") {
                let has_chart = |snapshot: &dyn Snapshot| {
                    let is_there = |name: &[u8]| {
                        chart.join(name).ok().is_some_and(|file| matches!(snapshot.entry(&file), Ok(Some(_))))
                    };
                    is_there(b"Chart.yaml")
                };
                if has_chart(self.before.snapshot) || has_chart(self.after.snapshot) {
                    return true;
                }
            }
            directory = outer;
        }
        false
    }
}

/// Whether a file that was not read is called YAML or JSON, or a template of either.
pub(super) fn is_configuration_by_name(file: &Skipped) -> bool {
    let name = file.path.file_name();
    match file.reason {
        SkipReason::Submodule => false,
        SkipReason::OtherFormat | SkipReason::Symlink => {
            let ends = |suffix: &str| name.strip_suffix(suffix.as_bytes());
            let inner = TEMPLATE_SUFFIXES.iter().find_map(|suffix| ends(suffix));
            document::Format::of_file_name(inner.unwrap_or(name)).is_some() || name.ends_with(b".tpl")
        }
        SkipReason::ForeignTemplate | SkipReason::JsonWithComments | SkipReason::Binary | SkipReason::LfsPointer => {
            true
        }
    }
}

const TEMPLATE_SUFFIXES: &[&str] =
    &[".j2", ".jinja", ".jinja2", ".erb", ".tpl", ".tmpl", ".gotmpl", ".mustache", ".template"];

impl TextContent {
    /// Whether the texts of both sides are equal.
    pub fn is_same(&self) -> bool {
        matches!(self, Self::Text { before, after } if before == after)
    }
}

/// A file on one side.
enum Version {
    Absent,
    Text(String),
    Bytes(usize),
    NotAFile,
}

impl Version {
    fn read(snapshot: &dyn Snapshot, path: &RepoPath) -> Result<Self, Unreadable> {
        let Some(entry) = snapshot.entry(path)? else { return Ok(Self::Absent) };
        if entry.kind != EntryKind::File {
            return Ok(Self::NotAFile);
        }
        let bytes = snapshot.read(&entry)?;
        let text = document::decode(&bytes).ok().filter(|text| !text.contains('\0') && bytes.len() <= LARGEST);
        Ok(text.map_or(Self::Bytes(bytes.len()), |text| Self::Text(text.into_owned())))
    }

    fn size(&self) -> Option<usize> {
        match self {
            Self::Text(text) => Some(text.len()),
            Self::Bytes(size) => Some(*size),
            _ => None,
        }
    }

    fn into_text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}
