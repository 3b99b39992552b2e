//! Source texts and places in them: byte spans inside, lines and columns only when something is reported.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock, RwLock};

use smol_str::SmolStr;

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
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The empty span at its start, for values that are generated from it.
    #[must_use]
    pub fn start_only(self) -> Self {
        Self { end: self.start, ..self }
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
    /// The content.
    pub text: Arc<str>,
    /// What snippets hide of the text, because it may hold secrets that could not be located.
    pub redaction: Redaction,
    lines: OnceLock<LineIndex>,
    fingerprint: OnceLock<u64>,
}

impl SourceText {
    /// A text that may be shown.
    pub fn new(path: RepoPath, revision: impl Into<SmolStr>, text: impl Into<Arc<str>>) -> Self {
        Self {
            path,
            revision: revision.into(),
            text: text.into(),
            redaction: Redaction::Nothing,
            lines: OnceLock::new(),
            fingerprint: OnceLock::new(),
        }
    }

    /// A hash of the content as it was read, which also remains of a text that was dropped.
    pub fn fingerprint(&self) -> u64 {
        *self.fingerprint.get_or_init(|| {
            let mut hasher = DefaultHasher::new();
            self.text.hash(&mut hasher);
            hasher.finish()
        })
    }

    /// The start of each line, computed once.
    pub fn lines(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::new(&self.text))
    }

    /// Line and column of a byte offset, both from 1; columns count characters.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let line = self.lines().line_of(offset);
        let start = self.lines().start_of(line);
        let end = floor_char_boundary(&self.text, offset.min(self.text.len()));
        (line + 1, self.text[start.min(end)..end].chars().count() + 1)
    }
}

fn floor_char_boundary(text: &str, mut offset: usize) -> usize {
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// Byte offset to line, by binary search. Lines are counted from 0 here.
#[derive(Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
    length: usize,
}

impl LineIndex {
    fn new(text: &str) -> Self {
        let mut starts = vec![0];
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        starts.extend(ends.filter_map(|(at, _)| u32::try_from(at + 1).ok()));
        Self { starts, length: text.len() }
    }

    /// The line that holds the byte.
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start as usize <= offset).saturating_sub(1)
    }

    /// The first byte of a line; past the last line, the end of the text.
    pub fn start_of(&self, line: usize) -> usize {
        self.starts.get(line).map_or(self.length, |&start| start as usize)
    }

    /// How many lines there are; a text without a line feed has one.
    pub fn count(&self) -> usize {
        self.starts.len()
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
}
