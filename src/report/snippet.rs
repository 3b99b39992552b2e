//! The lines around the places a finding points at, made safe and short enough to draw.
//!
//! Renderers get a small text of our own instead of the file: hostile characters, endless lines, huge spans and far-apart
//! places are dealt with here once.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::locate::Locator;
use super::paint::{columns, end_of_columns, split_at_columns};
use crate::finding::{Finding, Location};
use crate::sanitize;
use crate::secrets::{redact_request_values, redact_values};
use crate::text::{Redaction, SourceId, SourceText, Sources, Span};

/// Lines shown before and after a place.
const CONTEXT: usize = 1;
/// Places in lines no further apart than this share a snippet.
const NEAR: usize = 4;
/// The most places drawn for one finding.
const MOST_LABELS: usize = 8;
/// The longest label, in columns; they are meant to be a word or two.
const LONGEST_LABEL: usize = 200;

/// Everything to draw for one finding.
#[derive(Debug, Default)]
pub(super) struct Snippets {
    /// The text of all pieces, one after the other; each line ends with a line feed.
    pub text: String,
    /// Consecutive lines of one file.
    pub pieces: Vec<Piece>,
    /// What points into the text.
    pub marks: Vec<Mark>,
    /// Places that are not drawn because there are too many.
    pub left_out: usize,
}

/// Some lines of one file.
#[derive(Debug)]
pub(super) struct Piece {
    /// `HEAD:customers/_/metadata.yaml`.
    pub name: String,
    /// Its part of the text.
    pub range: Range<usize>,
    /// The number of its first line, from 0.
    pub first_line: usize,
}

/// A labelled range of the text.
#[derive(Debug)]
pub(super) struct Mark {
    /// The range; never over more than one line.
    pub range: Range<usize>,
    /// The label.
    pub label: String,
    /// Whether this is where the finding is.
    pub is_primary: bool,
    /// Line and column in the file, from 0.
    pub line_column: (usize, usize),
}

/// Cuts the snippets of findings, hiding each sensitive text only once.
pub(super) struct Cutter<'a> {
    sources: &'a Sources,
    locator: Locator<'a>,
    /// Texts with secrets in them, veiled.
    veiled: BTreeMap<SourceId, Arc<str>>,
    /// Texts in which secrets were found, although they did parse.
    sensitive: &'a dyn Fn(SourceId) -> bool,
    /// The columns a source line may take.
    width: usize,
    ellipsis: &'static str,
}

/// A place to be drawn.
struct Spot {
    span: Span,
    label: String,
    is_primary: bool,
    line: usize,
}

impl<'a> Cutter<'a> {
    /// Over the texts of a report.
    pub(super) fn new(
        sources: &'a Sources,
        sensitive: &'a dyn Fn(SourceId) -> bool,
        width: usize,
        ellipsis: &'static str,
    ) -> Self {
        Self { sources, locator: Locator::new(sources), veiled: BTreeMap::new(), sensitive, width, ellipsis }
    }

    /// What to draw for a finding: its place first, then the others.
    pub(super) fn snippets(&mut self, finding: &Finding) -> Snippets {
        let mut spots: Vec<Spot> = Vec::new();
        if let Location::Span(span) = finding.location {
            spots.push(self.spot(span, &finding.label, true));
        }
        let related = finding.related.iter().map(|label| self.spot(label.span, &label.text, false));
        spots.extend(related.take(MOST_LABELS));
        let mut snippets =
            Snippets { left_out: finding.related.len().saturating_sub(MOST_LABELS), ..Snippets::default() };
        while let Some(first) = spots.first() {
            let (source, lines) = (first.span.source, near(&spots));
            let (mut piece, rest): (Vec<Spot>, Vec<Spot>) =
                spots.into_iter().partition(|spot| spot.span.source == source && lines.contains(&spot.line));
            piece.sort_by_key(|spot| (spot.line, spot.span.start));
            self.piece(&piece, &mut snippets);
            spots = rest;
        }
        snippets
    }

    fn spot(&self, span: Span, label: &str, is_primary: bool) -> Spot {
        let text = self.sources.get(span.source);
        let line = text.lines().line_of((span.start as usize).min(text.text.len()));
        let label = sanitize::inline(label);
        let label = if columns(&label) > LONGEST_LABEL {
            [split_at_columns(&label, LONGEST_LABEL).0, self.ellipsis].concat()
        } else {
            label.into_owned()
        };
        Spot { span, label, is_primary, line }
    }

    /// Adds the lines around some spots of one file, and the marks in them.
    fn piece(&mut self, spots: &[Spot], snippets: &mut Snippets) {
        let (Some(first), Some(last)) = (spots.first(), spots.last()) else { return };
        let source = self.sources.get(first.span.source);
        let shown = self.shown(first.span.source, &source);
        let start = snippets.text.len();
        let first_line = first.line.saturating_sub(CONTEXT);
        for line in first_line..(last.line + CONTEXT + 1).min(source.lines().count()) {
            let range = line_range(&source, line);
            let here: Vec<&Spot> = spots.iter().filter(|spot| spot.line == line).collect();
            let is_behind_the_end = range.is_empty() && line + 1 == source.lines().count();
            if is_behind_the_end && here.is_empty() {
                continue;
            }
            self.line(&shown[range.clone()], range.start, &here, snippets);
        }
        snippets.pieces.push(Piece { name: name(&source), range: start..snippets.text.len(), first_line });
    }

    /// Adds one line, cut around what is marked in it.
    fn line(&mut self, text: &str, offset: usize, spots: &[&Spot], snippets: &mut Snippets) {
        let focus = spots.iter().map(|spot| within(text, spot.span, offset)).next().unwrap_or(0..0);
        let window = window(text, &focus, self.width);
        let at = snippets.text.len();
        let lead = if window.start > 0 { self.ellipsis } else { "" };
        let tail = if window.end < text.len() { self.ellipsis } else { "" };
        let visible = sanitize::same_length(&text[window.clone()]);
        snippets.text.extend([lead, &visible, tail, "\n"]);
        for spot in spots {
            let range = within(text, spot.span, offset);
            let place = |byte: usize| at + lead.len() + byte.clamp(window.start, window.end) - window.start;
            let start = self.locator.start(spot.span);
            snippets.marks.push(Mark {
                range: place(range.start)..place(range.end),
                label: spot.label.clone(),
                is_primary: spot.is_primary,
                line_column: (start.line - 1, start.column - 1),
            });
        }
    }

    /// The text as it may be shown, with the same offsets.
    fn shown(&mut self, id: SourceId, source: &SourceText) -> Arc<str> {
        let redact = match source.redaction {
            Redaction::Nothing if (self.sensitive)(id) => redact_values,
            Redaction::Nothing => return Arc::clone(&source.text),
            Redaction::RequestValues => redact_request_values,
            Redaction::Values => redact_values,
        };
        Arc::clone(self.veiled.entry(id).or_insert_with(|| redact(&source.text).into()))
    }
}

/// How people find the text: revision and path, where the revision is known.
pub(super) fn name(source: &SourceText) -> String {
    at_revision(&source.revision, &source.path.to_string())
}

/// `HEAD:deploy/web.yaml`.
pub(super) fn at_revision(revision: &str, path: &str) -> String {
    if revision.is_empty() { path.to_owned() } else { format!("{}:{path}", sanitize::inline(revision)) }
}

/// The lines around the first spot that are close enough, one after the other, to be shown together.
fn near(spots: &[Spot]) -> Range<usize> {
    let Some(first) = spots.first() else { return 0..0 };
    let mut lines: Vec<usize> =
        spots.iter().filter(|spot| spot.span.source == first.span.source).map(|spot| spot.line).collect();
    lines.sort_unstable();
    let at = lines.partition_point(|&line| line < first.line);
    let start =
        lines[..at].iter().rev().fold(first.line, |start, &line| if start - line <= NEAR { line } else { start });
    let end = lines[at..].iter().fold(first.line, |end, &line| if line - end <= NEAR { line } else { end });
    start..end + 1
}

/// Characters of more bytes than this, with what belongs to them, are rare: a longer line is cut without measuring it.
const LONGEST_CHARACTER: usize = 16;

/// A line without its line break.
fn line_range(source: &SourceText, line: usize) -> Range<usize> {
    let (start, next) = (source.lines().start_of(line), source.lines().start_of(line + 1));
    let text = &source.text[start..next];
    start..start + text.trim_end_matches('\n').trim_end_matches('\r').len()
}

/// The part of a span that lies in a line, as offsets in the line, on character boundaries.
fn within(line: &str, span: Span, offset: usize) -> Range<usize> {
    let floor = |at: usize| (0..=at.min(line.len())).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0);
    let start = floor((span.start as usize).saturating_sub(offset));
    start..floor((span.end as usize).saturating_sub(offset)).max(start)
}

/// The part of a line to show: all of it, or what fits around the focus.
fn window(line: &str, focus: &Range<usize>, width: usize) -> Range<usize> {
    // A tab may take four columns.
    let room = |text: &str| columns(text) + 4 * text.matches('\t').count();
    let is_long = line.len() / LONGEST_CHARACTER > width;
    if line.len() <= width || !is_long && room(line) <= width {
        return 0..line.len();
    }
    let around = width / 3;
    let before = end_of_columns(&line[..focus.start], around);
    let start = focus.start - before.len();
    let (shown, _) = split_at_columns(&line[start..], width.saturating_sub(2));
    start..start + shown.len()
}
