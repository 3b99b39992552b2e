//! The bytes of a metadata file become a layer, whatever they are.

use super::decode::decode;
use super::directory::Directory;
use super::effective::{Layer, Origin};
use super::layers::Layers;
use super::statement::Statements;
use crate::document::{self, Document, Format};
use crate::finding::{self, Finding, Location, Severity};
use crate::path::RepoPath;
use crate::source::{Entry, EntryKind, Unreadable};
use crate::text::{SourceText, Span};
use crate::value::Node;

impl Layers<'_> {
    /// The preferred metadata file of a directory, with what is wrong about it and the others.
    pub(super) fn load(&self, directory: &Directory) -> Option<Layer> {
        let speaks_for = self.speaks_for(&directory.path)?;
        let (files, others): (Vec<&Entry>, Vec<&Entry>) =
            directory.metadata.iter().partition(|entry| matches!(entry.kind, EntryKind::File | EntryKind::Conflict));
        let mut findings: Vec<Finding> = others.iter().map(|entry| self.not_a_file(entry)).collect();
        let first = files.first().or(others.first())?;
        findings.extend(files.iter().skip(1).map(|other| self.second_file(first, other)));
        let mut statements = Statements::default();
        let mut span = self.nowhere;
        if let Some((root, read)) = files.first().and_then(|file| self.read(file, &mut findings)) {
            span = read;
            if let Some(root) = root {
                statements = decode(&root);
            }
        }
        findings.append(&mut statements.findings);
        statements.findings = findings;
        let origin = Origin::File { path: first.path.clone(), speaks_for };
        Some(Layer { origin, statements, span, number: self.number() })
    }

    /// The value of the one document of a file, and the span of all its text; nothing if it is no text.
    fn read(&self, file: &Entry, findings: &mut Vec<Finding>) -> Option<(Option<Node>, Span)> {
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
        let is_broken = parsed.findings.iter().any(|finding| finding.severity == Severity::Error);
        findings.extend(parsed.findings);
        let document = self.only_document(&parsed.value, span, is_broken, findings);
        Some((document.map(|document| self.expanded(document, &file.path, findings)), span))
    }

    fn only_document<'d>(
        &self,
        documents: &'d [Document],
        whole: Span,
        is_broken: bool,
        findings: &mut Vec<Finding>,
    ) -> Option<&'d Document> {
        match documents {
            [] if !is_broken => {
                let message = "a metadata file says something, and this one is empty";
                let finding = Finding::new(&finding::METADATA_INVALID, Location::Span(whole.start_only()), message);
                findings.push(finding.help("remove the file, or write `{}`"));
            }
            [_, second, ..] => {
                let message = "a metadata file is one document, and this is a second one";
                findings.push(Finding::new(&finding::METADATA_INVALID, Location::Span(second.root.span), message));
            }
            _ => {}
        }
        documents.first()
    }

    pub(super) fn expanded(&self, document: &Document, file: &RepoPath, findings: &mut Vec<Finding>) -> Node {
        let Some(expand) = &self.expand else { return document.root.clone() };
        let expanded = expand(document, file);
        findings.extend(expanded.findings);
        expanded.value
    }

    fn not_a_file(&self, entry: &Entry) -> Finding {
        let kind = if entry.kind == EntryKind::Symlink { "a symbolic link" } else { "a submodule" };
        let message = format!("this metadata is {kind}, which is not followed");
        Finding::new(&finding::METADATA_NOT_A_FILE, self.at_file(&entry.path), message).help("put the file itself here")
    }

    fn second_file(&self, read: &Entry, other: &Entry) -> Finding {
        let message = format!("this file is not read, because {} stands beside it", read.path);
        Finding::new(&finding::METADATA_TWO_FILES, self.at_file(&other.path), message).help("remove one of them")
    }

    fn at_file(&self, path: &RepoPath) -> Location {
        Location::File { path: path.clone(), revision: self.label() }
    }
}
