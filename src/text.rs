//! Source texts and places in them: byte spans inside, lines and columns only when something is reported.

mod lines;

use std::hash::BuildHasher as _;
use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock, RwLock};

use foldhash::fast::RandomState;
use memchr::{memchr, memrchr};
use smol_str::SmolStr;

pub use lines::LineIndex;

use crate::path::RepoPath;

/// Which text a span belongs to; a key into [`Sources`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SourceId(u32);

/// A byte range in one source text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Span {
    /// The text.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A range in a source; files are limited to far less than 4 GiB, so offsets fit.
    pub fn new(source: SourceId, start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { source, start: clamp(start), end: clamp(end.max(start)) }
    }

    /// The range as byte offsets.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The empty span at its start, for values that are generated from it.
    #[must_use]
    pub fn start_only(self) -> Self {
        Self { end: self.start, ..self }
    }

    /// Whether the other span is part of this one.
    pub fn covers(self, other: Self) -> bool {
        self.source == other.source && self.start <= other.start && other.end <= self.end
    }

    /// The smallest span that covers both; both must be of one source.
    #[must_use]
    pub fn to(self, end: Self) -> Self {
        Self { end: end.end.max(self.start), ..self }
    }
}

/// What is hidden of a text that may hold secrets. Keys and structure always stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Redaction {
    /// Nothing.
    #[default]
    Nothing,
    /// What a metadata file would send literally: headers, bodies, query values and `defaults`.
    RequestValues,
    /// Every value.
    Values,
}

/// The text of one file at one revision, kept so that findings can show it.
#[derive(Debug)]
pub struct SourceText {
    /// The file.
    pub path: RepoPath,
    /// The label of the side it was read from: `HEAD`, `3f9c2d1`, `index`, `working tree`.
    pub revision: SmolStr,
    /// The content; empty if only an excerpt is kept.
    pub text: Arc<str>,
    /// The lines that are kept of a text that is not kept as a whole.
    excerpt: Option<Excerpt>,
    /// What snippets hide of the text, because it may hold secrets that could not be located.
    pub redaction: Redaction,
    lines: OnceLock<LineIndex>,
    fingerprint: OnceLock<u64>,
}

/// Of longer lines it is not looked for what is in the rest of them: each of their values would look at all of it.
const LONGEST_LINE: usize = 16 << 10;

impl SourceText {
    /// A text that may be shown.
    pub fn new(path: RepoPath, revision: impl Into<SmolStr>, text: impl Into<Arc<str>>) -> Self {
        Self {
            path,
            revision: revision.into(),
            text: text.into(),
            excerpt: None,
            redaction: Redaction::Nothing,
            lines: OnceLock::new(),
            fingerprint: OnceLock::new(),
        }
    }

    /// A hash of the content as it was read, which also remains of a text that was dropped.
    pub fn fingerprint(&self) -> u64 {
        // Seeded anew in each run, so that no text can be made to be taken for another one.
        static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::default);
        *self.fingerprint.get_or_init(|| SEED.hash_one(&*self.text))
    }

    /// The text with nothing but the lines of these ranges. Lines and columns stay what they are.
    fn reduced_to(&self, ranges: &[Range<usize>]) -> Self {
        let lines = LineIndex::new(&self.text).packed();
        let excerpt = Excerpt::new(&self.text, &lines, ranges);
        let (path, revision) = (self.path.clone(), self.revision.clone());
        let (text, redaction) = (Arc::from(""), self.redaction);
        Self {
            path,
            revision,
            text,
            excerpt: Some(excerpt),
            redaction,
            lines: OnceLock::from(lines),
            fingerprint: OnceLock::from(self.fingerprint()),
        }
    }

    /// How long the whole text is.
    pub fn length(&self) -> usize {
        if self.excerpt.is_some() { self.lines().length() } else { self.text.len() }
    }

    /// A part of the text, if it is kept.
    pub fn part(&self, range: Range<usize>) -> Option<&str> {
        match &self.excerpt {
            None => self.text.get(range),
            Some(excerpt) => excerpt.part(range),
        }
    }

    /// The rest of the line after an offset, without its line break; nothing if it is very long.
    pub fn rest_of_line(&self, offset: usize) -> Option<&str> {
        let rest = match &self.excerpt {
            // The lines need not be counted.
            None => self.text.get(offset..)?,
            Some(_) => self.part(offset..self.lines().start_of(self.lines().line_of(offset) + 1))?,
        };
        let near = &rest.as_bytes()[..rest.len().min(LONGEST_LINE)];
        let end = memchr(b'\n', near).or((near.len() == rest.len()).then_some(rest.len()))?;
        let line = rest.get(..end)?;
        Some(line.strip_suffix('\r').filter(|_| end < rest.len()).unwrap_or(line))
    }

    /// The line above that of an offset.
    pub fn line_above(&self, offset: usize) -> Option<&str> {
        let (above, line) = match &self.excerpt {
            // The lines need not be counted.
            None => {
                let start_before = |end: usize| {
                    let first = end.saturating_sub(LONGEST_LINE);
                    memrchr(b'\n', self.text.as_bytes().get(first..end)?).map(|at| first + at)
                };
                let end = start_before(offset)?;
                (start_before(end).map_or(0, |end| end + 1), end + 1)
            }
            Some(_) => {
                let line = self.lines().line_of(offset);
                (self.lines().start_of(line.checked_sub(1)?), self.lines().start_of(line))
            }
        };
        self.part(above..line)
    }

    /// The number of characters between two offsets of one line. Where nothing is kept, every byte is one.
    pub fn characters(&self, range: Range<usize>) -> usize {
        self.part(range.clone()).map_or(range.len(), |text| text.chars().count())
    }

    /// The start of each line, computed once.
    pub fn lines(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::new(&self.text))
    }

    /// Line and column of a byte offset, both from 1; columns count characters.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let line = self.lines().line_of(offset);
        let start = self.lines().start_of(line);
        let end = self.floor_char_boundary(offset);
        (line + 1, self.characters(start.min(end)..end) + 1)
    }

    /// The last offset up to this one, within the text, at which a character starts.
    pub fn floor_char_boundary(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.length());
        // What only an excerpt is kept of has no other characters than ASCII.
        while self.excerpt.is_none() && !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}

/// Lines of a text, in order.
#[derive(Debug)]
struct Excerpt(Vec<(usize, Box<str>)>);

impl Excerpt {
    fn new(text: &str, lines: &LineIndex, ranges: &[Range<usize>]) -> Self {
        let whole_lines = |range: &Range<usize>| {
            let last = lines.line_of(range.end.max(range.start));
            // A comment above a value may be shown with it.
            lines.start_of(lines.line_of(range.start).saturating_sub(1))..lines.start_of(last + 1)
        };
        let mut wanted: Vec<Range<usize>> = ranges.iter().map(whole_lines).collect();
        wanted.sort_unstable_by_key(|range| range.start);
        let mut pieces: Vec<Range<usize>> = Vec::new();
        for range in wanted {
            match pieces.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => pieces.push(range),
            }
        }
        Self(pieces.into_iter().filter_map(|range| Some((range.start, text.get(range)?.into()))).collect())
    }

    fn part(&self, range: Range<usize>) -> Option<&str> {
        let at = self.0.partition_point(|(start, _)| *start <= range.start).checked_sub(1)?;
        let (start, piece) = &self.0[at];
        piece.get(range.start - start..range.end.checked_sub(*start)?)
    }
}

/// Every text read in a run, by id; shared between threads and sides.
#[derive(Debug, Default)]
pub struct Sources {
    texts: RwLock<Vec<Arc<SourceText>>>,
}

impl Sources {
    /// Keeps a text and gives the id that spans refer to.
    pub fn add(&self, text: SourceText) -> SourceId {
        let mut texts = self.texts.write().expect("no thread panics while it holds this lock");
        texts.push(Arc::new(text));
        SourceId(u32::try_from(texts.len() - 1).expect("fewer than 2^32 files are read in a run"))
    }

    /// The text behind an id.
    pub fn get(&self, id: SourceId) -> Arc<SourceText> {
        let texts = self.texts.read().expect("no thread panics while it holds this lock");
        Arc::clone(&texts[id.0 as usize])
    }

    /// Drops everything of a text but the lines of these ranges. A text with other characters than ASCII stays, because its columns
    /// cannot be counted without it. Returns the number of bytes that are not held any longer.
    pub fn reduce(&self, id: SourceId, ranges: &[Range<usize>]) -> usize {
        let text = self.get(id);
        if text.excerpt.is_some() || !text.text.is_ascii() {
            return 0;
        }
        let reduced = Arc::new(text.reduced_to(ranges));
        self.texts.write().expect("no thread panics while it holds this lock")[id.0 as usize] = reduced;
        text.text.len()
    }

    /// Drops a text that no span will point into any more; its id stays valid.
    pub fn forget(&self, id: SourceId) {
        let mut texts = self.texts.write().expect("no thread panics while it holds this lock");
        let text = &texts[id.0 as usize];
        let fingerprint = OnceLock::from(text.fingerprint());
        let dropped = SourceText { fingerprint, ..SourceText::new(text.path.clone(), text.revision.clone(), "") };
        texts[id.0 as usize] = Arc::new(dropped);
    }

    /// Hides this much of a text, or more if more is hidden already.
    pub fn redact(&self, id: SourceId, redaction: Redaction) {
        let mut texts = self.texts.write().expect("no thread panics while it holds this lock");
        let text = &texts[id.0 as usize];
        texts[id.0 as usize] = Arc::new(SourceText {
            path: text.path.clone(),
            revision: text.revision.clone(),
            text: Arc::clone(&text.text),
            excerpt: None,
            redaction: text.redaction.max(redaction),
            lines: OnceLock::new(),
            fingerprint: text.fingerprint.clone(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let text = SourceText::new(RepoPath::root(), "", "aß: 1\nb\n");
        assert_eq!(text.line_column(0), (1, 1));
        assert_eq!(text.line_column(3), (1, 3));
        assert_eq!(text.line_column(2), (1, 2), "inside a character counts as its start");
        assert_eq!(text.line_column(7), (2, 1));
        assert_eq!(text.line_column(99), (3, 1));
    }
    #[test]
    fn an_excerpt_knows_its_lines_and_where_they_are() {
        let text = "z: 0\n#one\nb: 2 # two\nc:\n  - 3\n  - 4\nd: 5";
        let (whole, reduced) = (Sources::default(), Sources::default());
        let id = whole.add(SourceText::new(RepoPath::root(), "", text));
        reduced.add(SourceText::new(RepoPath::root(), "", text));
        reduced.reduce(id, &[13..14, 21..35, 44..45]);
        let (whole, reduced) = (whole.get(id), reduced.get(id));
        assert!(reduced.text.is_empty());
        for offset in 0..=text.len() + 1 {
            assert_eq!(reduced.line_column(offset), whole.line_column(offset), "at {offset}");
        }
        assert_eq!([reduced.part(13..14), reduced.rest_of_line(14)], [Some("2"), Some(" # two")]);
        assert_eq!([reduced.line_above(13), whole.line_above(13)], [Some("#one\n"); 2]);
        assert_eq!([reduced.part(24..29), whole.rest_of_line(14)], [whole.part(24..29), Some(" # two")]);
        assert_eq!([reduced.part(3..4), reduced.part(3..14)], [None, None], "the first line is not kept");
    }

    #[test]
    fn of_very_long_lines_nothing_is_found_beside_a_value() {
        let text = format!("# above\na: 1 {}# beside\nb: 2\n", " ".repeat(2 * LONGEST_LINE));
        let text = SourceText::new(RepoPath::new("a.yaml").unwrap(), "HEAD", text.as_str());
        let end = text.length() - "\nb: 2\n".len();
        assert_eq!([text.rest_of_line(12), text.line_above(end), text.line_above(12)], [None, None, Some("# above\n")]);
        assert_eq!(text.rest_of_line(end + 2), Some(": 2"));
    }

    #[test]
    fn a_text_whose_columns_are_not_bytes_is_kept() {
        let sources = Sources::default();
        let id = sources.add(SourceText::new(RepoPath::root(), "", "aß: 1\n"));
        sources.reduce(id, &[]);
        assert_eq!(sources.get(id).line_column(5), (1, 5));
    }
}
