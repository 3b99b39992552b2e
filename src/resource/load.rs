//! The bytes of one file become documents.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use smol_str::SmolStr;

use super::{KubernetesName, SkipReason};
use crate::document::{self, Document, Format, Selection};
use crate::expression::eval::may_have_expressions;
use crate::finding::{self, Finding, Location, Outcome, has_errors};
use crate::limits::Limits;
use crate::names;
use crate::path::RepoPath;
use crate::text::{SourceId, SourceText, Sources};
use crate::value::Node;

/// What the content of one file gave, whatever the file's role.
#[derive(Debug, Default, Clone)]
pub struct Parsed {
    /// Its documents; those with errors are left out, and those that are the same to the letter on the other side.
    pub documents: Vec<Document>,
    /// How many documents there are, read or not.
    pub count: usize,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
    /// Whether something in it could not be read.
    pub is_broken: bool,
    /// Why it need not be readable, unless it is written for us.
    pub excuse: Option<SkipReason>,
    /// Its text, if it is text.
    pub source: Option<SourceId>,
}

/// A file's content and where it comes from.
#[derive(Clone, Copy)]
pub struct Content<'a> {
    /// What it says.
    pub bytes: &'a [u8],
    /// Its path; the extension decides how it is read.
    pub path: &'a RepoPath,
    /// The side's label, for findings.
    pub revision: &'a str,
}

/// Reads the content of a file.
pub fn parse(content: Content<'_>, sources: &Sources, limits: &Limits) -> Parsed {
    match open(content, sources) {
        Ok(text) => text.read_all(limits),
        Err(parsed) => parsed,
    }
}

/// Reads the documents of a file whose text is wanted. Errors in the others are not found.
pub fn parse_some(
    content: Content<'_>,
    sources: &Sources,
    limits: &Limits,
    wanted: &mut dyn FnMut(&str) -> bool,
) -> Parsed {
    match open(content, sources) {
        Ok(text) => text.read(&text.pieces(), limits, wanted),
        Err(parsed) => parsed,
    }
}

/// Reads two versions of a file, but not the documents that are the same to the letter in both.
pub fn parse_both(before: Content<'_>, after: Content<'_>, sources: &Sources, limits: &Limits) -> [Parsed; 2] {
    let (before, after) = match (open(before, sources), open(after, sources)) {
        (Ok(before), Ok(after)) => (before, after),
        (before, after) => {
            let read = |text: Result<Text, Parsed>| text.map_or_else(|parsed| parsed, |text| text.read_all(limits));
            return [read(before), read(after)];
        }
    };
    let mut twins = Twins::default();
    let pieces = [before.pieces(), after.pieces()];
    pieces[0].iter().for_each(|piece| twins.count(&before.text[piece.clone()], 0));
    pieces[1].iter().for_each(|piece| twins.count(&after.text[piece.clone()], 1));
    [
        before.read(&pieces[0], limits, &mut |piece| !twins.is_known(piece, 0)),
        after.read(&pieces[1], limits, &mut |piece| !twins.is_known(piece, 1)),
    ]
}

/// Documents by their text.
#[derive(Default)]
struct Twins<'a>(BTreeMap<&'a str, Twin>);

#[derive(Default)]
struct Twin {
    /// How often each side has it.
    count: [usize; 2],
    /// How often it was left out on each side; both sides leave out the same number.
    left_out: [usize; 2],
}

impl<'a> Twins<'a> {
    fn count(&mut self, piece: &'a str, side: usize) {
        self.0.entry(piece).or_default().count[side] += 1;
    }

    /// Whether this document is one that the other side has too.
    fn is_known(&mut self, piece: &str, side: usize) -> bool {
        let Some(twin) = self.0.get_mut(piece) else { return false };
        // What it includes or reads may have changed. Most documents that are asked about have no twin.
        let is_known =
            twin.left_out[side] < twin.count[0].min(twin.count[1]) && !may_have_expressions(piece.as_bytes());
        twin.left_out[side] += usize::from(is_known);
        is_known
    }
}

/// A content that is text, registered as a source.
struct Text {
    text: Arc<str>,
    source: SourceId,
    format: Format,
    /// Whether it is JSON that may hold comments.
    allows_comments: bool,
}

/// The text of a content, or what there is to say if it has none.
fn open(content: Content<'_>, sources: &Sources) -> Result<Text, Parsed> {
    let Content { bytes, path, revision } = content;
    let excused = |excuse| Parsed { excuse: Some(excuse), is_broken: true, ..Parsed::default() };
    let Some(format) = Format::of_file_name(path.file_name()) else { return Err(excused(SkipReason::OtherFormat)) };
    if bytes.starts_with(LFS_POINTER) {
        return Err(excused(SkipReason::LfsPointer));
    }
    let text: Arc<str> = document::decode(bytes).map(Into::into).map_err(|error| {
        let location = Location::File { path: path.clone(), revision: revision.into() };
        let finding = Finding::new(&finding::DOCUMENT_ENCODING, location, error.to_string())
            .help("save the file as UTF-8; if it is not configuration, give it another extension");
        let excuse = is_binary(bytes).then_some(SkipReason::Binary);
        Parsed { findings: vec![finding], is_broken: true, excuse, ..Parsed::default() }
    })?;
    let source = sources.add(SourceText::new(path.clone(), revision, Arc::clone(&text)));
    let allows_comments = format == Format::Json && names::allows_comments(path);
    Ok(Text { text, source, format, allows_comments })
}

impl Text {
    fn read_all(&self, limits: &Limits) -> Parsed {
        self.read(&self.pieces(), limits, &mut |_| true)
    }

    /// The parts that may be read one by one; none of JSON.
    fn pieces(&self) -> Vec<Range<usize>> {
        if self.format == Format::Json { Vec::new() } else { document::split(&self.text) }
    }

    /// The documents of a text that was split into these pieces, those that are wanted.
    fn read(&self, pieces: &[Range<usize>], limits: &Limits, wanted: &mut dyn FnMut(&str) -> bool) -> Parsed {
        let parsed = if self.allows_comments {
            let parsed = document::parse_json_with_comments(&self.text, self.source, limits);
            let count = parsed.value.len();
            Outcome { value: Selection { documents: parsed.value, count }, findings: parsed.findings }
        } else {
            document::parse_wanted(&self.text, pieces, self.source, self.format, limits, wanted)
        };
        let is_broken = has_errors(&parsed.findings);
        Parsed {
            documents: parsed.value.documents,
            count: parsed.value.count,
            findings: parsed.findings,
            is_broken,
            excuse: if is_broken { not_meant_for_us(&self.text, self.format) } else { None },
            source: Some(self.source),
        }
    }
}

impl Parsed {
    /// Why the file is not read, if there is a good reason. A file that is written for outcrop must be readable.
    pub fn skipped(&self, is_ours: bool) -> Option<SkipReason> {
        // The content of a file in Git LFS is not in the repository, whatever the file is for.
        self.excuse.filter(|&reason| !is_ours || reason == SkipReason::LfsPointer)
    }
}

const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Whether git would call the content binary: it has a NUL byte near the start.
fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(8000)].contains(&0)
}

/// A file that does not parse may still be right: as input of another tool.
fn not_meant_for_us(text: &str, format: Format) -> Option<SkipReason> {
    let starts_with = |line: &str, marks: &[&str]| marks.iter().any(|mark| line.starts_with(mark));
    let is_template = match format {
        Format::Json => has_marks_outside_strings(text),
        Format::Yaml => text.lines().map(str::trim_start).any(|line| {
            let item = line.trim_start_matches("- ");
            let value = item.split_once(": ").map_or(item, |(_, value)| value).trim_start();
            starts_with(item, TEMPLATE_MARKS) || starts_with(value, TEMPLATE_MARKS)
        }),
    };
    if is_template {
        return Some(SkipReason::ForeignTemplate);
    }
    let mut lines = text.lines().map(str::trim_start);
    let is_commented = format == Format::Json && lines.any(|line| starts_with(line, &["//", "/*"]));
    is_commented.then_some(SkipReason::JsonWithComments)
}

/// Whether a JSON text has marks of a template where they are not part of a string.
fn has_marks_outside_strings(text: &str) -> bool {
    let mut is_inside = false;
    let mut at = 0;
    while let Some(found) = text[at..].find(['"', '\\', '{', '<', '\n']) {
        at += found;
        let rest = &text[at..];
        match rest.as_bytes()[0] {
            b'"' => is_inside = !is_inside,
            b'\\' => at += rest[1..].chars().next().map_or(0, char::len_utf8),
            // A string ends with its line, so that one missing quote does not turn everything after it around.
            b'\n' => is_inside = false,
            _ if !is_inside && TEMPLATE_MARKS.iter().any(|mark| rest.starts_with(mark)) => return true,
            _ => {}
        }
        at += 1;
    }
    false
}

/// What starts an action in Helm, Go, Mustache, Jinja, ERB and their kin. As a plain YAML value each of these is an error or nonsense.
const TEMPLATE_MARKS: &[&str] = &["{{", "{%", "{#", "<%"];

/// The name of a Kubernetes document. Without `metadata.name` (Kustomization, generateName) it has none of its own.
pub fn kubernetes_name(root: &Node) -> Option<KubernetesName> {
    let text =
        |node: &Node, key| node.get(key).and_then(Node::as_str).filter(|text| !text.is_empty()).map(SmolStr::new);
    let version = text(root, "apiVersion")?;
    let kind = text(root, "kind")?;
    let metadata = root.get("metadata")?;
    let name = text(metadata, "name")?;
    let namespace = text(metadata, "namespace").unwrap_or_default();
    let group = version.rsplit_once('/').map(|(group, _)| SmolStr::new(group)).unwrap_or_default();
    Some(KubernetesName { group, kind, namespace, name })
}
