//! Files whose names do not say what they are: the content decides whether they are YAML or JSON.

use std::path::Path;
use std::sync::Arc;

use super::error::Failure;
use crate::document;
use crate::limits::Limits;
use crate::names::Format;
use crate::path::RepoPath;
use crate::resource::{Content, Parsed, kubernetes_name, parse};
use crate::snapshot::{Entry, EntryKind, Listing, Snapshot, Unreadable};
use crate::text::Sources;
use crate::value::Value;

/// How sure a guess must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    /// A file that the user named: any map or list.
    AnyDocument,
    /// A file in a directory: JSON, or Kubernetes documents. Many other files happen to be YAML.
    Kubernetes,
}

/// How a file is written, if its name says so.
pub(super) fn format_of_name(path: &Path) -> Option<Format> {
    Format::of_file_name(path.file_name()?.as_encoded_bytes())
}

/// How a text without a telling name is written, if it is YAML or JSON.
pub(super) fn format(bytes: &[u8], strictness: Strictness) -> Option<Format> {
    let text = document::decode(bytes).ok()?;
    let looks_like_json = text.trim_start().starts_with(['{', '[']);
    let candidates = if looks_like_json { &[Format::Json, Format::Yaml][..] } else { &[Format::Yaml] };
    candidates.iter().copied().find(|format| {
        let Ok(path) = RepoPath::new(format!("a.{}", format.extension())) else { return false };
        let content = Content { bytes, path: &path, revision: "" };
        is_meant(&parse(content, &Sources::default(), &Limits::default()), *format, strictness)
    })
}

fn is_meant(parsed: &Parsed, format: Format, strictness: Strictness) -> bool {
    let is_structure = |value: &Value| matches!(value, Value::Map(_) | Value::List(_));
    let mut documents = parsed.documents.iter().map(|document| &document.root).peekable();
    !parsed.is_broken
        && documents.peek().is_some()
        && documents.all(|root| {
            is_structure(&root.value)
                && (format == Format::Json || strictness == Strictness::AnyDocument || kubernetes_name(root).is_some())
        })
}

/// A name with the extension of a format.
pub(super) fn with_extension(name: &RepoPath, format: Format) -> Result<RepoPath, Failure> {
    let named = [name.as_bytes(), b".", format.extension().as_bytes()].concat();
    RepoPath::new(named).map_err(|error| Failure::new(error.to_string()))
}

/// A directory in which files without a known extension get the one that their content has. kubectl and other tools write such files.
pub(super) struct ByContent<S>(pub(super) S);

impl<S: Snapshot> ByContent<S> {
    fn named(&self, entry: Entry) -> Entry {
        if entry.kind != EntryKind::File || Format::of_file_name(entry.path.file_name()).is_some() {
            return entry;
        }
        let format = self.0.read(&entry).ok().and_then(|bytes| format(&bytes, Strictness::Kubernetes));
        match format.and_then(|format| with_extension(&entry.path, format).ok()) {
            Some(path) if !matches!(self.0.entry(&path), Ok(Some(_))) => Entry { path, ..entry },
            _ => entry,
        }
    }

    /// The path of a file as it is on disk.
    fn on_disk(&self, path: &RepoPath) -> Result<(RepoPath, Option<Entry>), Unreadable> {
        if let Some(entry) = self.0.entry(path)? {
            return Ok((path.clone(), Some(self.named(entry))));
        }
        let stem = [Format::Yaml, Format::Json].iter().find_map(|format| {
            let suffix = format!(".{}", format.extension());
            RepoPath::new(path.as_bytes().strip_suffix(suffix.as_bytes())?).ok().filter(|stem| !stem.is_root())
        });
        let Some(stem) = stem else { return Ok((path.clone(), None)) };
        let entry = self.0.entry(&stem)?.map(|entry| self.named(entry)).filter(|entry| entry.path == *path);
        Ok((stem, entry))
    }
}

impl<S: Snapshot> Snapshot for ByContent<S> {
    fn label(&self) -> &str {
        self.0.label()
    }

    fn list(&self, directory: &RepoPath) -> Listing {
        let Listing { entries, unreadable } = self.0.list(directory);
        let mut entries: Vec<Entry> = entries.into_iter().map(|entry| self.named(entry)).collect();
        entries.sort_unstable_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        Listing { entries, unreadable }
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        self.on_disk(path).map(|(_, entry)| entry.filter(|entry| entry.path == *path))
    }

    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        let (path, _) = self.on_disk(&file.path)?;
        self.0.read(&Entry { path, ..file.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::MemorySnapshot;

    const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n";

    #[test]
    fn content_decides_where_the_name_does_not() {
        let named = |text: &str| format(text.as_bytes(), Strictness::AnyDocument);
        let found = |text: &str| format(text.as_bytes(), Strictness::Kubernetes);
        assert_eq!((named("a: 1\n"), found("a: 1\n")), (Some(Format::Yaml), None));
        assert_eq!((named(DEPLOYMENT), found(DEPLOYMENT)), (Some(Format::Yaml), Some(Format::Yaml)));
        assert_eq!((named("{\"a\": 1}"), found("{\"a\": 1}")), (Some(Format::Json), Some(Format::Json)));
        assert_eq!(named("{a: 1}"), Some(Format::Yaml));
        for text in ["", "just words\n", "all:\n\tcc\n", "\0\u{1}", "a: [1\n"] {
            assert_eq!(named(text), None, "{text:?}");
        }
    }

    #[test]
    fn files_in_a_directory_get_the_extension_of_their_content() {
        let path = |text: &str| RepoPath::new(text).expect("a fine path");
        let directory = MemorySnapshot::new("x")
            .with(path("apps.v1.Deployment.default.web"), DEPLOYMENT.as_bytes())
            .with(path("Makefile"), "all: build\n".as_bytes())
            .with(path("b.yaml"), "b: 1\n".as_bytes());
        let directory = ByContent(directory);
        let listed = directory.list(&RepoPath::root()).entries;
        let names: Vec<String> = listed.iter().map(|entry| entry.path.to_string()).collect();
        assert_eq!(names, ["Makefile", "apps.v1.Deployment.default.web.yaml", "b.yaml"]);
        for entry in &listed {
            assert_eq!(directory.entry(&entry.path).expect("readable").as_ref(), Some(entry));
            assert!(!directory.read(entry).expect("readable").is_empty());
        }
        assert_eq!(directory.entry(&path("apps.v1.Deployment.default.web")).expect("readable"), None);
        assert_eq!(directory.entry(&path("Makefile.yaml")).expect("readable"), None);
    }
}
