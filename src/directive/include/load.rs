//! Reads the value of an include, resolves the file name in it, and loads each file once per snapshot.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::directive::Context;
use crate::directive::index::IndexedDocument;
use crate::directive::problem::IncludeError;
use crate::document::{self, Document, Format};
use crate::finding::{self, Finding, Location, has_errors};
use crate::memo::Memo;
use crate::path::{Pointer, RepoPath};
use crate::percent;
use crate::snapshot::{Entry, EntryKind, ObjectId, Snapshot};
use crate::text::{SourceText, Span};
use crate::value::{Node, Value};

/// Cache of the files that documents of one snapshot include, shared by all documents and threads.
///
/// It must be used for one snapshot only, because a file without an object id is identified by its path alone.
#[derive(Debug, Default)]
pub struct Includes {
    files: Memo<(RepoPath, Option<ObjectId>), Loaded>,
}

/// The result of loading a file.
#[derive(Debug, Clone)]
pub(in crate::directive) enum Loaded {
    /// There is no such file.
    Absent,
    /// The entry is not a regular file; the text says what it is.
    Refused(&'static str),
    /// A file with errors in it.
    Broken(Arc<[Finding]>),
    /// A file with several documents; `second` is the span of the second one.
    Several { second: Span },
    /// An empty file: no value at all.
    Empty,
    /// A document.
    Ready(Arc<IndexedDocument>),
}

/// What the value of an include requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IncludeRequest {
    /// The file as it is written.
    pub(super) name: String,
    /// The part of the file that is included; all of it if there is none.
    pub(super) fragment: Option<Pointer>,
    /// Whether the content is inserted unexpanded.
    pub(super) is_raw: bool,
    /// The repository that the file is in, if it is named.
    pub(super) repository: Option<SmolStr>,
    /// Whether it depends on the environment of a run, in ways that only some documents may.
    pub(super) condition: Option<IncludeError>,
}

/// Reads the value of an include.
pub(super) fn request(value: &Node) -> Result<IncludeRequest, IncludeError> {
    match &value.value {
        Value::String(text) => named(text, false),
        Value::Map(map) => {
            let file = map.get("file").and_then(Node::as_str);
            let merge = map.get("merge").and_then(Node::as_str);
            let request = named(
                file.ok_or(IncludeError::LayerShape("a map without a `file` that is text"))?,
                merge == Some("raw"),
            )?;
            let repository = map.get("repository").and_then(Node::as_str).map(SmolStr::new);
            let depends = map.get("when").is_some() || merge == Some("maplist");
            Ok(IncludeRequest { repository, condition: depends.then_some(IncludeError::Condition), ..request })
        }
        Value::Null => Err(IncludeError::LayerShape("nothing")),
        Value::List(_) => Err(IncludeError::LayerShape("a list")),
        Value::Bool(_) => Err(IncludeError::LayerShape("a boolean")),
        Value::Number(_) => Err(IncludeError::LayerShape("a number")),
        Value::Secret(_) => Err(IncludeError::LayerShape("a secret")),
    }
}

/// Splits `file#/pointer`, whose first slash may be missing. Alone, `#` and `#/` mean the whole file.
fn named(text: &str, is_raw: bool) -> Result<IncludeRequest, IncludeError> {
    let (name, fragment) = text.split_once('#').unwrap_or((text, ""));
    let fragment = percent::unescape(fragment).ok_or(IncludeError::Fragment)?;
    let fragment = match fragment.as_str() {
        "" | "/" => None,
        pointer if pointer.starts_with('/') => Some(pointer.to_owned()),
        name => Some(format!("/{name}")),
    };
    if name.is_empty() {
        return Err(IncludeError::LayerShape("no file name"));
    }
    let fragment = fragment.as_deref().map(Pointer::parse).transpose().map_err(|_| IncludeError::Fragment)?;
    Ok(IncludeRequest { name: name.to_owned(), fragment, is_raw, repository: None, condition: None })
}

/// Resolves a file name that is written in `file`; the error says why the name is rejected.
pub(in crate::directive) fn resolve(file: &RepoPath, name: &str) -> Result<RepoPath, &'static str> {
    if is_url(name) {
        return Err("it is a URL, and only files of the same commit are read");
    }
    if name.starts_with('/') {
        return Err("it is an absolute name, and only files of the same commit are read");
    }
    resolve_in(&file.parent().unwrap_or_default(), name)
}

/// Resolves a file name in a directory.
pub(super) fn resolve_in(directory: &RepoPath, name: &str) -> Result<RepoPath, &'static str> {
    if is_url(name) || name.starts_with('/') {
        return Err("it is an absolute name, and only files of the same commit are read");
    }
    let mut path = directory.clone();
    for component in name.split('/') {
        path = match component {
            "" | "." => path,
            ".." => path.parent().ok_or("it is outside the repository")?,
            _ => path.join(component.as_bytes()).map_err(|_| "it is not a valid file name")?,
        };
    }
    Ok(path)
}

/// Whether a name starts with a scheme; `./a:b.yaml` does not.
pub(super) fn is_url(name: &str) -> bool {
    let Some((scheme, _)) = name.split_once(':') else { return false };
    let is_scheme_character = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_scheme_character)
}

impl Includes {
    /// Loads the file at a path, and returns its object id if it has one.
    pub(in crate::directive) fn load(&self, path: &RepoPath, context: &Context<'_>) -> (Loaded, Option<ObjectId>) {
        let entry = match context.snapshot.entry(path) {
            Ok(Some(entry)) => entry,
            Ok(None) => return (absent(path, context.snapshot), None),
            Err(unreadable) => return (Loaded::Broken([unreadable.into_finding()].into()), None),
        };
        if let Some(reason) = refusal(entry.kind) {
            return (Loaded::Refused(reason), entry.id);
        }
        (self.files.get(&(path.clone(), entry.id), || read(&entry, context)), entry.id)
    }
}

/// Why an entry of this kind is not read; `None` for a file.
fn refusal(kind: EntryKind) -> Option<&'static str> {
    match kind {
        EntryKind::File => None,
        EntryKind::Directory => Some("it is a directory"),
        EntryKind::Symlink => Some("it is a symbolic link, and links are never followed"),
        EntryKind::Submodule => Some("it is a submodule, whose content is not here"),
        EntryKind::Conflict => Some("it has an unresolved merge conflict"),
    }
}

/// Explains an absent file: below a symbolic link or in a submodule it is not in the tree, but the user can see it in the working
/// directory.
fn absent(path: &RepoPath, snapshot: &dyn Snapshot) -> Loaded {
    let ancestors = std::iter::successors(path.parent(), RepoPath::parent);
    for directory in ancestors.filter(|directory| !directory.is_root()) {
        if let Ok(Some(entry)) = snapshot.entry(&directory) {
            return match entry.kind {
                EntryKind::Symlink => {
                    Loaded::Refused("one of its directories is a symbolic link, and links are never followed")
                }
                EntryKind::Submodule => Loaded::Refused("it is in a submodule, whose content is not here"),
                _ => Loaded::Absent,
            };
        }
    }
    Loaded::Absent
}

fn read(entry: &Entry, context: &Context<'_>) -> Loaded {
    let bytes = match context.snapshot.read(entry) {
        Ok(bytes) => bytes,
        Err(unreadable) => return Loaded::Broken([unreadable.into_finding()].into()),
    };
    let revision = context.snapshot.label();
    let text: Arc<str> = match document::decode(&bytes) {
        Ok(text) => text.into(),
        Err(error) => {
            let location = Location::File { path: entry.path.clone(), revision: revision.into() };
            return Loaded::Broken([Finding::new(&finding::DOCUMENT_ENCODING, location, error.to_string())].into());
        }
    };
    let source = context.sources.add(SourceText::new(entry.path.clone(), revision, Arc::clone(&text)));
    let format = Format::of_file_name(entry.path.file_name()).unwrap_or(Format::Yaml);
    let parsed = document::parse(&text, source, format, context.limits);
    if has_errors(&parsed.findings) {
        return Loaded::Broken(parsed.findings.into());
    }
    let mut documents = parsed.value;
    match documents.as_slice() {
        [_, second, ..] => Loaded::Several { second: second.span },
        [only] if matches!(only.root.value, Value::Null) => Loaded::Empty,
        _ => {
            documents.pop().map_or(Loaded::Empty, |only: Document| Loaded::Ready(Arc::new(IndexedDocument::new(only))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("a plain path")
    }

    #[test]
    fn names_are_relative_to_the_file_that_holds_them() {
        let main = path("apps/web/main.yaml");
        for (name, expected) in [
            ("a.yaml", "apps/web/a.yaml"),
            ("./a.yaml", "apps/web/a.yaml"),
            ("../a.yaml", "apps/a.yaml"),
            ("../../a.yaml", "a.yaml"),
            ("x//y/../a.yaml", "apps/web/x/a.yaml"),
            ("./a:b.yaml", "apps/web/a:b.yaml"),
        ] {
            assert_eq!(resolve(&main, name), Ok(path(expected)), "{name}");
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let main = path("apps/main.yaml");
        for name in ["/etc/passwd", "../../x", "https://example.org/x", "file:x.yaml", "C:\\x", "a\0b", "x/../../../y"]
        {
            assert!(resolve(&main, name).is_err(), "{name}");
        }
    }

    #[test]
    fn the_part_after_a_hash_is_a_pointer() {
        let read =
            |text: &str| named(text, false).map(|request| (request.name, request.fragment.map(|it| it.to_string())));
        assert_eq!(read("a.yaml#/b/c"), Ok(("a.yaml".to_owned(), Some("/b/c".to_owned()))));
        assert_eq!(read("a.yaml#b"), Ok(("a.yaml".to_owned(), Some("/b".to_owned()))));
        assert_eq!(read("a.yaml#/n%7E1m"), Ok(("a.yaml".to_owned(), Some("/n~1m".to_owned()))));
        assert_eq!(read("a.yaml#"), Ok(("a.yaml".to_owned(), None)));
        assert_eq!(read("a.yaml#/"), Ok(("a.yaml".to_owned(), None)));
        assert_eq!(read("a.yaml#/~2"), Err(IncludeError::Fragment));
        assert!(read("#/a").is_err());
    }

    proptest! {
        #[test]
        fn no_name_leaves_the_tree(name in "[a./\\\\:~ ]{0,24}") {
            if let Ok(found) = resolve(&path("d/e/main.yaml"), &name) {
                prop_assert!(!found.components().any(|component| component == b".."));
            }
        }
    }
}
