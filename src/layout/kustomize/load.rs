//! Reads the files of a build and remembers each of them, also those that were looked for and are not there.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use smol_str::SmolStr;

use super::file::{self, Kustomization, Text};
use super::resource::{self, Resource};
use super::scalars::{Dialect, reread};
use super::{Fatal, fatal};
use crate::document::{self, Format};
use crate::finding::{self, Finding, Location};
use crate::memo::Memo;
use crate::path::RepoPath;
use crate::settings::Given;
use crate::snapshot::EntryKind;
use crate::text::{SourceId, SourceText, Sources, Span};
use crate::value::{Entry, Node, Value};

/// The names of a kustomization file.
pub const KUSTOMIZATION_FILES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Whether this is the name of a kustomization file.
pub fn is_kustomization(file_name: &[u8]) -> bool {
    KUSTOMIZATION_FILES.iter().any(|name| name.as_bytes() == file_name)
}

/// The documents of a text, or why it cannot be read.
type Documents = Result<Arc<[Node]>, Fatal>;

/// Files that builds of one snapshot share, each read and parsed once.
#[derive(Debug, Default)]
pub(super) struct FileCache {
    bytes: Memo<RepoPath, Result<Option<Content>, Fatal>>,
    texts: Memo<RepoPath, Result<Option<FileText>, Fatal>>,
    kustomizations: Memo<RepoPath, Result<Option<Arc<Kustomization>>, Fatal>>,
    resources: Memo<RepoPath, Result<Arc<[Resource]>, Fatal>>,
    documents: Memo<(RepoPath, Dialect), Documents>,
    inline: Memo<(SourceId, u32, Dialect), Documents>,
}

/// Reads files for one build.
pub(super) struct Loader<'a> {
    given: Given<'a>,
    cache: &'a FileCache,
    noted: RefCell<Noted>,
}

/// What a build, or a base of it, has read and noted.
#[derive(Debug, Default, Clone)]
pub(super) struct Noted {
    /// Files that were read or looked for.
    pub(super) inputs: BTreeSet<RepoPath>,
    /// Directories that were listed at any depth.
    pub(super) listings: BTreeSet<RepoPath>,
    /// What does not stop the build.
    pub(super) findings: Vec<Finding>,
    /// Directories of kustomizations that were entered.
    pub(super) entered: BTreeSet<RepoPath>,
}

impl Noted {
    /// Adds what a part of the build has noted.
    pub(super) fn extend(&mut self, other: &Self) {
        self.inputs.extend(other.inputs.iter().cloned());
        self.listings.extend(other.listings.iter().cloned());
        self.findings.extend(other.findings.iter().cloned());
        self.entered.extend(other.entered.iter().cloned());
    }
}

/// The content of a file, and the path where it is if a link leads there.
#[derive(Debug, Clone)]
struct Content {
    bytes: Arc<[u8]>,
    linked: Option<RepoPath>,
}

/// A file of the repository.
#[derive(Debug, Clone)]
pub(super) struct FileText {
    pub(super) path: RepoPath,
    pub(super) source: SourceId,
    pub(super) text: Arc<str>,
}

impl<'a> Loader<'a> {
    pub(super) fn new(given: Given<'a>, cache: &'a FileCache) -> Self {
        Self { given, cache, noted: RefCell::default() }
    }

    /// The notes and the inputs of the build.
    pub(super) fn finish(self) -> Noted {
        self.noted.into_inner()
    }

    /// Runs a part of the build, and returns what it has noted beside its result.
    pub(super) fn noting<T>(&self, part: impl FnOnce() -> T) -> (T, Noted) {
        let outer = self.noted.take();
        let result = part();
        let inner = self.noted.replace(outer);
        self.include(&inner);
        (result, inner)
    }

    /// Adds what a part of the build has noted.
    pub(super) fn include(&self, noted: &Noted) {
        self.noted.borrow_mut().extend(noted);
    }

    /// Notes that the kustomization of a directory is used.
    pub(super) fn note_entered(&self, directory: &RepoPath) {
        self.noted.borrow_mut().entered.insert(directory.clone());
    }

    pub(super) fn given(&self) -> Given<'a> {
        self.given
    }

    pub(super) fn sources(&self) -> &'a Arc<Sources> {
        self.given.sources
    }

    /// Notes that the content of a directory, at any depth, decides what is built.
    pub(super) fn note_listing(&self, directory: &RepoPath) {
        self.noted.borrow_mut().listings.insert(directory.clone());
    }

    /// Notes a file that is not below the directory of the kustomization that reads it.
    pub(super) fn note_outside(&self, directory: &RepoPath, path: &RepoPath, span: Span) {
        if !path.is_within(directory) {
            let message = format!("`{path}` is outside of the directory of this kustomization");
            let note = Finding::new(&finding::KUSTOMIZE_OUTSIDE_ROOT, Location::Span(span), message);
            self.report(note.help("`kustomize build` reads it with `--load-restrictor LoadRestrictionsNone`"));
        }
    }

    /// Notes something about contents that are not in the repository.
    pub(super) fn note(&self, span: Span, message: impl Into<String>) {
        self.report(Finding::new(&finding::KUSTOMIZE_UNRESOLVED, Location::Span(span), message));
    }

    /// Notes an entry that matches nothing.
    pub(super) fn note_no_match(&self, span: Span, message: impl Into<String>) {
        self.report(Finding::new(&finding::KUSTOMIZE_NO_MATCH, Location::Span(span), message));
    }

    /// Notes something that does not stop the build.
    pub(super) fn report(&self, finding: Finding) {
        self.noted.borrow_mut().findings.push(finding);
    }

    /// The bytes of a file; `None` if there is no such file.
    pub(super) fn bytes(&self, path: &RepoPath) -> Result<Option<Arc<[u8]>>, Fatal> {
        self.noted.borrow_mut().inputs.insert(path.clone());
        let content = self.cache.bytes.get(path, || {
            let unreadable = |error: crate::snapshot::Unreadable| Box::new(error.into_finding());
            let snapshot = self.given.snapshot;
            let mut entry = snapshot.entry(path).map_err(unreadable)?;
            let mut linked = None;
            if entry.as_ref().is_some_and(|entry| entry.kind == EntryKind::Symlink) {
                linked = self.locate(path, "");
                entry = linked.as_ref().map(|target| snapshot.entry(target)).transpose().map_err(unreadable)?.flatten();
            }
            match entry.filter(|entry| entry.kind == EntryKind::File) {
                Some(entry) => Ok(Some(Content { bytes: snapshot.read(&entry).map_err(unreadable)?, linked })),
                None => Ok(None),
            }
        })?;
        if let Some(linked) = content.as_ref().and_then(|content| content.linked.clone()) {
            self.noted.borrow_mut().inputs.insert(linked);
        }
        Ok(content.map(|content| content.bytes))
    }

    /// The text of a file; `None` if there is no such file.
    pub(super) fn text(&self, path: &RepoPath) -> Result<Option<FileText>, Fatal> {
        let bytes = self.bytes(path)?;
        self.cache.texts.get(path, || {
            let Some(bytes) = bytes else { return Ok(None) };
            let revision = self.given.snapshot.label();
            let text: Arc<str> = match document::decode(&bytes) {
                Ok(text) => text.into(),
                Err(error) => {
                    let location = Location::File { path: path.clone(), revision: revision.into() };
                    return Err(Box::new(Finding::new(&finding::KUSTOMIZE_BUILD, location, error.to_string())));
                }
            };
            let source = self.given.sources.add(SourceText::new(path.clone(), revision, Arc::clone(&text)));
            Ok(Some(FileText { path: path.clone(), source, text }))
        })
    }

    /// The documents of a file, in a dialect.
    pub(super) fn documents(&self, file: &FileText, dialect: Dialect) -> Result<Arc<[Node]>, Fatal> {
        self.cache.documents.get(&(file.path.clone(), dialect), || {
            let format = match Format::of_file_name(file.path.file_name()) {
                Some(Format::Json) if file.text.trim_start().starts_with(['{', '[']) => Format::Json,
                _ => Format::Yaml,
            };
            self.parse(&file.text, file.source, format, dialect).map(Arc::from)
        })
    }

    /// The documents of a text that is written inside another file.
    pub(super) fn inline(&self, text: &Text, dialect: Dialect) -> Result<Arc<[Node]>, Fatal> {
        self.cache.inline.get(&(text.span.source, text.span.start, dialect), || {
            let apart = self.inline_apart(text, dialect)?;
            let in_place = self.inline_in_place(text, dialect).filter(|nodes| {
                nodes.len() == apart.len() && nodes.iter().zip(&apart).all(|(one, other)| one.is_equal(other))
            });
            Ok(in_place.unwrap_or(apart).into())
        })
    }

    /// The documents of a block of text, read where they are, so that every value in them knows its line.
    fn inline_in_place(&self, text: &Text, dialect: Dialect) -> Option<Vec<Node>> {
        let source = self.given.sources.get(text.span.source);
        let block = source.text.get(text.span.range()).filter(|block| block.starts_with('|'))?;
        let start = text.span.range().start + block.find('\n')? + 1;
        let part = start..text.span.range().end;
        let parsed = document::parse_part(&source.text, part, text.span.source, Format::Yaml, self.given.limits);
        if parsed.findings.iter().any(Finding::is_error) {
            return None;
        }
        parsed.value.iter().map(|document| reread(&document.root, dialect, self.given.sources).ok()).collect()
    }

    /// The documents of a text, each value at the place of the whole text.
    fn inline_apart(&self, text: &Text, dialect: Dialect) -> Result<Vec<Node>, Fatal> {
        let source = SourceText::new(RepoPath::root(), "", text.value.as_str());
        let scratch = Sources::default();
        let source = scratch.add(source);
        let parsed = document::parse(&text.value, source, Format::Yaml, self.given.limits);
        if let Some(finding) = parsed.findings.iter().find(|finding| finding.is_error()) {
            // A message can quote a part of the text, which may be a secret here.
            let reason = if text.value.contains("Secret") { String::new() } else { format!(": {}", finding.message) };
            return Err(fatal(text.span, format!("this text cannot be read as YAML{reason}")));
        }
        let read = |node: &Node| match reread(node, dialect, &scratch) {
            Ok(node) => Ok(node.written_at(text.span)),
            Err(failure) => Err(fatal(text.span, failure.message)),
        };
        parsed.value.iter().map(|document| read(&document.root)).collect()
    }

    fn parse(&self, text: &str, source: SourceId, format: Format, dialect: Dialect) -> Result<Vec<Node>, Fatal> {
        let parsed = document::parse(text, source, format, self.given.limits);
        if let Some(finding) = parsed.findings.into_iter().find(Finding::is_error) {
            return Err(Box::new(finding));
        }
        parsed.value.iter().map(|document| reread(&document.root, dialect, self.given.sources)).collect()
    }

    /// The kustomization file of a directory; `None` if there is none.
    pub(super) fn kustomization(&self, directory: &RepoPath) -> Result<Option<Arc<Kustomization>>, Fatal> {
        let mut found: Option<FileText> = None;
        for name in KUSTOMIZATION_FILES {
            let Ok(path) = directory.join(name.as_bytes()) else { continue };
            if let Some(file) = self.text(&path)? {
                if let Some(first) = &found {
                    let message = format!("{} is a second kustomization file beside {}", file.path, first.path);
                    return Err(fatal(Span::new(file.source, 0, 0), message));
                }
                found = Some(file);
            }
        }
        let Some(file) = found else { return Ok(None) };
        self.cache.kustomizations.get(directory, || self.read_kustomization(&file).map(Arc::new).map(Some))
    }

    fn read_kustomization(&self, file: &FileText) -> Result<Kustomization, Fatal> {
        let text = self.without_repeated_keys(file);
        let documents = self.parse(&text, file.source, Format::Yaml, Dialect::Yaml11)?;
        let empty = || fatal(Span::new(file.source, 0, 0), "this kustomization is empty");
        let document = without_placeholders(documents.first().ok_or_else(empty)?);
        file::read(&document)
    }

    /// The text of a kustomization file in which repeated keys are renamed to placeholders of the same length: the last one counts.
    fn without_repeated_keys(&self, file: &FileText) -> String {
        let mut text = file.text.to_string();
        for number in 0..MOST_REPEATED_KEYS {
            let parsed = document::parse(&text, file.source, Format::Yaml, self.given.limits);
            let is_repeated = |finding: &&Finding| finding.rule.id == finding::DOCUMENT_DUPLICATE_KEY.id;
            let repeated = parsed.findings.iter().find(is_repeated);
            let first = repeated.and_then(|finding| finding.related.first()).map(|label| label.span.range());
            let Some(first) = first.filter(|first| text.get(first.clone()).is_some()) else { break };
            let digits = first.len().saturating_sub(PLACEHOLDER.len());
            let placeholder = format!("{PLACEHOLDER}{number:0digits$}");
            if placeholder.len() != first.len() {
                break;
            }
            text.replace_range(first, &placeholder);
        }
        text
    }

    /// The resources of a file.
    pub(super) fn resources(&self, file: &FileText) -> Result<Arc<[Resource]>, Fatal> {
        self.cache.resources.get(&file.path, || {
            let documents = self.documents(file, Dialect::Resource)?;
            expand_lists(&documents, &file.text).map(Arc::from)
        })
    }

    /// A file that must be there.
    pub(super) fn required(&self, directory: &RepoPath, name: &Text) -> Result<FileText, Fatal> {
        match self.path(directory, name).map(|path| self.text(&path)).transpose()?.flatten() {
            Some(file) => {
                self.note_outside(directory, &file.path, name.span);
                Ok(file)
            }
            None => Err(fatal(name.span, format!("there is no file `{}`", name.value))),
        }
    }

    /// A path that is written in a file of a directory; `None` if it leads out of the repository.
    pub(super) fn path(&self, directory: &RepoPath, name: &Text) -> Option<RepoPath> {
        self.locate(directory, &name.value)
    }

    /// Where a relative path leads, links included; `None` if that is not in the repository.
    pub(super) fn locate(&self, directory: &RepoPath, name: &str) -> Option<RepoPath> {
        let mut path = resolve(directory, name)?;
        for _ in 0..MOST_LINKS {
            match self.linked(&path) {
                Some(next) => path = next?,
                None => return Some(path),
            }
        }
        None
    }

    /// Where a path leads by the first link on its way; `None` if there is no link, an inner `None` if it leads out of the repository.
    fn linked(&self, path: &RepoPath) -> Option<Option<RepoPath>> {
        let snapshot = self.given.snapshot;
        let entry = |path: &RepoPath| snapshot.entry(path).ok().flatten();
        if path.is_root() || entry(path).is_some_and(|entry| entry.kind != EntryKind::Symlink) {
            return None;
        }
        let mut way: Vec<RepoPath> =
            std::iter::successors(Some(path.clone()), RepoPath::parent).filter(|path| !path.is_root()).collect();
        way.reverse();
        let link = way.iter().find_map(|path| entry(path).filter(|entry| entry.kind == EntryKind::Symlink))?;
        self.noted.borrow_mut().inputs.insert(link.path.clone());
        let target = snapshot.read(&link).ok().and_then(|target| String::from_utf8(target.to_vec()).ok());
        let rest = path.components().skip(link.path.components().count());
        let rest: Vec<String> = rest.map(|part| String::from_utf8_lossy(part).into_owned()).collect();
        let around = link.path.parent().unwrap_or_else(RepoPath::root);
        let target = target.and_then(|target| resolve(&around, target.trim_end_matches('/')));
        Some(target.and_then(|target| resolve(&target, &rest.join("/"))))
    }
}

/// How many links may lead from one to the next.
const MOST_LINKS: usize = 40;

/// How many repeated keys are looked for in one file.
const MOST_REPEATED_KEYS: usize = 100;

/// What the names of keys that do not count begin with.
const PLACEHOLDER: &str = "__";

/// The document without the entries of keys that are repeated later.
fn without_placeholders(node: &Node) -> Node {
    let inner = node.map_children(|child| Some(without_placeholders(child.node))).unwrap_or_else(|| node.clone());
    let Some(map) = inner.as_map().filter(|map| map.entries().iter().any(is_placeholder)) else { return inner };
    let entries = map.entries().iter().filter(|entry| !is_placeholder(entry)).cloned().collect();
    Node { extra: inner.extra.clone(), ..Node::map(entries, inner.span) }
}

fn is_placeholder(entry: &Entry) -> bool {
    let digits = entry.key.name.strip_prefix(PLACEHOLDER);
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The resources of documents: empty documents vanish, and lists become their items.
fn expand_lists(documents: &[Node], text: &str) -> Result<Vec<Resource>, Fatal> {
    let mut resources = Vec::new();
    for node in documents {
        if matches!(node.value, Value::Null) || node.as_map().is_some_and(|map| map.is_empty()) {
            continue;
        }
        let (node, read) = resource::with_written_annotations(node, text);
        let node = resource::check(node)?;
        let kind = node.get("kind").and_then(Node::as_str).unwrap_or_default();
        match node.get("items").filter(|_| kind.ends_with("List")) {
            Some(items) if items.as_list().is_some() => {
                resources.extend(expand_lists(items.as_list().unwrap_or_default(), text)?);
            }
            _ => {
                resource::check_name(&node)?;
                resources.push(Resource { annotations_read: read, ..Resource::new(node) });
            }
        }
    }
    Ok(resources)
}

/// A relative path from a directory.
pub(in crate::layout) fn resolve(directory: &RepoPath, name: &str) -> Option<RepoPath> {
    if name.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&[u8]> = directory.components().collect();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            other => parts.push(other.as_bytes()),
        }
    }
    if parts.is_empty() { Some(RepoPath::root()) } else { RepoPath::new(parts.join(&b'/')).ok() }
}

/// Whether a resource entry names something outside of the repository.
pub(super) fn is_remote(name: &str) -> bool {
    let name = name.strip_prefix("git::").unwrap_or(name);
    let lower = name.to_ascii_lowercase();
    let has_scheme = ["http://", "https://", "ssh://", "file://"].iter().any(|scheme| lower.starts_with(scheme));
    has_scheme || lower.starts_with("github.com/") || lower.starts_with("github.com:") || has_user(name)
}

/// Whether it has the form `user@host:path` or `user@host/path`.
fn has_user(name: &str) -> bool {
    let Some((user, rest)) = name.split_once('@') else { return false };
    let is_user = user.starts_with(|first: char| first.is_ascii_alphabetic())
        && user.chars().all(|character| character.is_ascii_alphanumeric() || character == '-');
    is_user && rest.find([':', '/']).is_some_and(|at| at > 0)
}

/// The part of a remote reference that says which revision is meant.
pub(super) fn revision_of(name: &str) -> Option<SmolStr> {
    let (_, query) = name.split_once('?')?;
    let value = |key: &str| query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
    value("ref").or_else(|| value("version")).map(SmolStr::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_inside_the_repository() {
        let directory = RepoPath::new("a/b").expect("a path");
        let path = |name: &str| resolve(&directory, name).map(|path| path.to_string());
        assert_eq!(path("../c/./d.yaml").as_deref(), Some("a/c/d.yaml"));
        assert_eq!(path("../../").as_deref(), Some(""));
        assert_eq!(path("../../../x"), None);
        assert_eq!(path("/etc/passwd"), None);
    }

    #[test]
    fn remote_references_are_recognised_without_looking_at_files() {
        for remote in [
            "https://example.com/a?ref=v1",
            "HTTP://x/y",
            "git::https://x/y",
            "github.com/org/repo//base?ref=v2",
            "github.com:org/repo",
            "git@github.com:org/repo",
            "user@host/path",
        ] {
            assert!(is_remote(remote), "{remote}");
        }
        for local in ["base", "../github.com/x", "host.tld/x", "a@b", "1user@host/path"] {
            assert!(!is_remote(local), "{local}");
        }
        assert_eq!(revision_of("github.com/o/r//b?timeout=1&ref=v2").as_deref(), Some("v2"));
        assert_eq!(revision_of("github.com/o/r?version=v3").as_deref(), Some("v3"));
    }
}
