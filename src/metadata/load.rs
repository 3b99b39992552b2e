//! The bytes of a metadata file become a layer, and those of a patch file a document, whatever they are.

use super::decode::decode_including;
use super::directory::Directory;
use super::effective::{Layer, LayerOrigin};
use super::layers::Layers;
use super::selector::MetadataPath;
use crate::document::{self, Document, Format};
use crate::finding::{self, Finding, Location, Rule, has_errors};
use crate::path::RepoPath;
use crate::snapshot::{Entry, EntryKind, Unreadable};
use crate::text::{SourceText, Span};
use crate::value::Node;

/// A patch file as it was read, with its merge directives expanded.
#[derive(Debug)]
pub struct PatchDocument {
    /// The file.
    pub path: RepoPath,
    /// The paths that it applies to.
    pub selector: MetadataPath,
    /// What it says; nothing if it cannot be read.
    pub root: Option<Node>,
    /// All of its text.
    pub span: Span,
    /// What is wrong with it so far.
    pub findings: Vec<Finding>,
    /// Its number among the layers of a snapshot; equal numbers are equal files.
    pub number: u32,
}

/// A kind of file beside resources, and the rules that report it.
struct FileKind {
    name: &'static str,
    invalid: &'static Rule,
    not_a_file: &'static Rule,
    two_files: &'static Rule,
}

const METADATA: FileKind = FileKind {
    name: "metadata",
    invalid: &finding::METADATA_INVALID,
    not_a_file: &finding::METADATA_NOT_A_FILE,
    two_files: &finding::METADATA_TWO_FILES,
};

const PATCHES: FileKind = FileKind {
    name: "patch",
    invalid: &finding::PATCH_INVALID,
    not_a_file: &finding::PATCH_NOT_A_FILE,
    two_files: &finding::PATCH_TWO_FILES,
};

const DEFAULTS: FileKind = FileKind { name: "defaults", ..METADATA };

fn is_properties(path: &RepoPath) -> bool {
    path.stem_and_extension().is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("properties"))
}

/// What the one file that counts in a place holds.
struct LoadedFile {
    path: RepoPath,
    root: Option<Node>,
    span: Span,
    findings: Vec<Finding>,
}

/// Whether a document says which type of Kubernetes it is. It is no layer, whatever its file is called.
pub fn is_kubernetes_document(root: &Node) -> bool {
    let has_text = |key| root.get(key).and_then(Node::as_str).is_some_and(|text| !text.is_empty());
    has_text("apiVersion") && has_text("kind")
}

impl Layers<'_> {
    /// The preferred metadata file of a directory, with what is wrong about it and the others.
    pub(super) fn load(&self, directory: &Directory) -> Option<Layer> {
        let selector = self.selector_of(&directory.path)?;
        let LoadedFile { path, root, span, mut findings } = self.load_kind(&directory.metadata, &METADATA)?;
        if root.as_ref().is_some_and(is_kubernetes_document) {
            return None;
        }
        let include = |name: &str, at: Span| self.included(&directory.path, name, at);
        let mut statements = root.as_ref().map(|root| decode_including(root, Some(&include))).unwrap_or_default();
        if let (Some((_, at)), false) = (statements.descendants, selector.is_collection()) {
            let message = "`selector.descendants` is for a collection, and this file applies to one resource";
            let finding = Finding::new(&finding::METADATA_INVALID, Location::Span(at), message);
            statements.findings.push(finding.help("move it to the `_` directory of the collection"));
        }
        statements.may_miss_secrets |= root.is_none() || has_errors(&findings);
        findings.append(&mut statements.findings);
        statements.findings = findings;
        Some(Layer { origin: LayerOrigin::File { path, selector }, statements, span, number: self.number() })
    }

    /// The preferred patch file of a directory, in the same way.
    pub(super) fn load_patches(&self, directory: &Directory) -> Option<PatchDocument> {
        let selector = self.selector_of(&directory.path)?;
        let LoadedFile { path, root, span, findings } = self.load_kind(&directory.patches, &PATCHES)?;
        if root.as_ref().is_some_and(is_kubernetes_document) {
            return None;
        }
        Some(PatchDocument { path, selector, root, span, findings, number: self.number() })
    }

    fn load_kind(&self, entries: &[Entry], kind: &FileKind) -> Option<LoadedFile> {
        let (files, others): (Vec<&Entry>, Vec<&Entry>) =
            entries.iter().partition(|entry| matches!(entry.kind, EntryKind::File | EntryKind::Conflict));
        let mut findings: Vec<Finding> = others.iter().map(|entry| self.not_a_file(entry, kind)).collect();
        let first = files.first().or(others.first())?;
        findings.extend(files.iter().skip(1).map(|other| self.second_file(first, other, kind)));
        let read = files.first().and_then(|file| self.read(file, kind, &mut findings));
        let (root, span) = read.unwrap_or((None, self.nowhere));
        Some(LoadedFile { path: first.path.clone(), root, span, findings })
    }

    /// The value of the one document of a file, and the span of all its text; nothing if it is no text.
    fn read(&self, file: &Entry, kind: &FileKind, findings: &mut Vec<Finding>) -> Option<(Option<Node>, Span)> {
        if file.kind == EntryKind::Conflict {
            let message = "unresolved merge conflict in the index";
            let finding = Finding::new(&finding::SOURCE_CONFLICT, self.at_file(&file.path), message)
                .help(format!("resolve it, then run `git add -- {}`", file.path));
            findings.push(finding);
            return None;
        }
        let bytes = self.snapshot.read(file).map_err(Unreadable::into_finding);
        let bytes = bytes.map_err(|finding| findings.push(finding)).ok()?;
        let text = document::decode(&bytes).map_err(|error| {
            let finding = Finding::new(&finding::DOCUMENT_ENCODING, self.at_file(&file.path), error.to_string());
            findings.push(finding.help("save the file as UTF-8"));
        });
        let text = text.ok()?;
        let source = self.sources.add(SourceText::new(file.path.clone(), self.label(), &*text));
        let span = Span::new(source, 0, text.len());
        let format = Format::of_file_name(file.path.file_name()).unwrap_or(Format::Yaml);
        let parsed = document::parse(&text, source, format, self.limits);
        let is_broken = has_errors(&parsed.findings);
        findings.extend(parsed.findings);
        let whole = (!is_broken).then_some(span);
        let document = only_document(&parsed.value, whole, kind, findings);
        Some((document.map(|document| self.expanded(document, &file.path, findings)), span))
    }

    pub(super) fn expanded(&self, document: &Document, file: &RepoPath, findings: &mut Vec<Finding>) -> Node {
        let Some(expand) = &self.expand else { return document.root.clone() };
        let expanded = expand(document, file);
        findings.extend(expanded.findings);
        expanded.value
    }

    /// The content of a file of defaults beside a layer.
    fn included(&self, directory: &RepoPath, name: &str, at: Span) -> Result<Node, Vec<Finding>> {
        let refused = |message: String| {
            vec![Finding::new(&finding::METADATA_INVALID, Location::Span(at), message).labelled("included here")]
        };
        let path = directory.join(name.as_bytes()).map_err(|error| refused(error.to_string()))?;
        let entry = match self.snapshot.entry(&path) {
            Ok(Some(entry)) if entry.kind == EntryKind::File => entry,
            Ok(_) => return Err(refused(format!("there is no file {path}"))),
            Err(unreadable) => return Err(vec![unreadable.into_finding()]),
        };
        let mut findings = Vec::new();
        let content = if is_properties(&path) {
            self.read_properties(&entry, &mut findings)
        } else {
            self.read(&entry, &DEFAULTS, &mut findings).and_then(|(root, _)| root)
        };
        match content.filter(|_| !has_errors(&findings)) {
            Some(content) => Ok(content),
            None => Err(findings),
        }
    }

    fn read_properties(&self, entry: &Entry, findings: &mut Vec<Finding>) -> Option<Node> {
        let bytes = self.snapshot.read(entry).map_err(|error| findings.push(error.into_finding())).ok()?;
        let text = document::decode(&bytes).map_err(|error| {
            findings.push(Finding::new(&finding::DOCUMENT_ENCODING, self.at_file(&entry.path), error.to_string()));
        });
        let text = text.ok()?;
        let source = self.sources.add(SourceText::new(entry.path.clone(), self.label(), &*text));
        Some(document::properties(&text, source))
    }

    fn not_a_file(&self, entry: &Entry, kind: &FileKind) -> Finding {
        let what = if entry.kind == EntryKind::Symlink { "a symbolic link" } else { "a submodule" };
        let message = format!("this {} file is {what}, which is not followed", kind.name);
        Finding::new(kind.not_a_file, self.at_file(&entry.path), message).help("put the file itself here")
    }

    fn second_file(&self, read: &Entry, other: &Entry, kind: &FileKind) -> Finding {
        let message = format!("this file is not read, because {} is beside it", read.path);
        Finding::new(kind.two_files, self.at_file(&other.path), message).help("remove one of them")
    }

    fn at_file(&self, path: &RepoPath) -> Location {
        Location::File { path: path.clone(), revision: self.label() }
    }
}

/// The one document of a file that could be read to its end, or as far as it could.
fn only_document<'d>(
    documents: &'d [Document],
    whole: Option<Span>,
    kind: &FileKind,
    findings: &mut Vec<Finding>,
) -> Option<&'d Document> {
    let name = kind.name;
    match (documents, whole) {
        ([], Some(whole)) => {
            let message = format!("a {name} file says something, and this one is empty");
            let finding = Finding::new(kind.invalid, Location::Span(whole.start_only()), message);
            findings.push(finding.help("remove the file, or write `{}`"));
        }
        ([_, second, ..], _) => {
            let message = format!("a {name} file is one document, and this is a second one");
            findings.push(Finding::new(kind.invalid, Location::Span(second.root.span), message));
        }
        _ => {}
    }
    documents.first()
}
