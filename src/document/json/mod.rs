//! Reads strict JSON (RFC 8259) without recursion, and explains errors.

mod refusal;

use std::ops::Range;

use smol_str::SmolStr;

use crate::finding::Finding;
use crate::limits::Limits;
use crate::text::Span;
use crate::value::{Entry, Key, KeyKind, Node, Number, Value};

use super::compose::BATCH;
use super::problems::Problems;
use super::{Document, entries};

/// Which JSON is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// RFC 8259.
    Strict,
    /// With comments, and with a comma after the last entry.
    WithComments,
}

/// Reads the value of a text; `None` if it has an error.
pub(super) fn parse(
    text: &str,
    part: Range<usize>,
    dialect: Dialect,
    limits: &Limits,
    problems: &mut Problems,
) -> Option<Document> {
    let faultless = problems.count();
    let mark = if text[part.clone()].starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut reader = JsonReader {
        text: &text[..part.end],
        at: part.start + mark,
        dialect,
        limits,
        problems,
        frames: Vec::new(),
        items: Vec::new(),
        entries: Vec::new(),
        nodes: 0,
        unescaped: String::new(),
    };
    let root = reader.document();
    limits.note_nodes(reader.nodes % BATCH);
    let root = match root {
        Ok(root) => root,
        Err(finding) => {
            problems.report(*finding);
            return None;
        }
    };
    let span = problems.span(part);
    (problems.count() == faultless).then(|| Document { position: 0, root, span, anchors: Vec::new() })
}

/// The state of reading. Children of all open collections are on common stacks and move out when their collection closes.
struct JsonReader<'a> {
    text: &'a str,
    at: usize,
    dialect: Dialect,
    limits: &'a Limits,
    problems: &'a mut Problems,
    frames: Vec<OpenBracket>,
    items: Vec<Node>,
    entries: Vec<Entry>,
    nodes: u64,
    unescaped: String,
}

/// An open collection.
struct OpenBracket {
    /// The offset of its bracket.
    start: usize,
    /// The start of its children on their stack.
    first: usize,
    /// The key whose value is expected; `None` in a list.
    key: Option<Key>,
}

/// What follows a complete value.
enum Next {
    Value,
    Close(Node),
    End(Node),
}

type Result<T> = std::result::Result<T, Box<Finding>>;

impl JsonReader<'_> {
    fn document(&mut self) -> Result<Node> {
        loop {
            let Some(mut node) = self.begin_value()? else { continue };
            loop {
                match self.end_value(node)? {
                    Next::Value => break,
                    Next::Close(closed) => node = closed,
                    Next::End(root) => return Ok(root),
                }
            }
        }
    }

    /// Reads a scalar or an empty collection; `None` after the bracket of one that is not empty.
    fn begin_value(&mut self) -> Result<Option<Node>> {
        self.skip_blanks();
        let start = self.at;
        self.nodes += 1;
        if self.nodes > self.limits.nodes {
            return Err(self.problems.too_many_nodes(self.character(start), self.limits).into());
        }
        if self.nodes.is_multiple_of(BATCH) && !self.limits.take_nodes(BATCH) {
            return Err(self.problems.too_many_in_run(self.character(start), self.limits).into());
        }
        if self.frames.len() as u64 >= u64::from(self.limits.depth) {
            return Err(self.problems.too_deep(self.character(start), self.limits).into());
        }
        let value = match self.peek() {
            Some(b'"') => Value::String(self.string()?),
            Some(b'{') => return self.begin_map(start),
            Some(b'[') => return self.begin_list(start),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') if self.takes("true") => Value::Bool(true),
            Some(b'f') if self.takes("false") => Value::Bool(false),
            Some(b'n') if self.takes("null") => Value::Null,
            _ => return Err(self.no_value()),
        };
        Ok(Some(Node::new(value, self.since(start))))
    }

    fn begin_map(&mut self, start: usize) -> Result<Option<Node>> {
        self.at += 1;
        self.skip_blanks();
        if self.takes("}") {
            return Ok(Some(Node::map(Vec::new(), self.since(start))));
        }
        self.frames.push(OpenBracket { start, first: self.entries.len(), key: None });
        self.key()?;
        Ok(None)
    }

    fn begin_list(&mut self, start: usize) -> Result<Option<Node>> {
        self.at += 1;
        self.skip_blanks();
        if self.takes("]") {
            return Ok(Some(Node::list(Vec::new(), self.since(start))));
        }
        self.frames.push(OpenBracket { start, first: self.items.len(), key: None });
        Ok(None)
    }

    fn end_value(&mut self, node: Node) -> Result<Next> {
        self.skip_blanks();
        let next = self.peek();
        let Some(frame) = self.frames.last_mut() else {
            return if next.is_none() { Ok(Next::End(node)) } else { Err(self.more_than_one_value()) };
        };
        let Some(key) = frame.key.take() else {
            self.items.push(node);
            return match next {
                Some(b',') => self.next_item(),
                Some(b']') => Ok(Next::Close(self.close_list())),
                _ => Err(self.no_separator('[', ']')),
            };
        };
        self.entries.push(Entry { key, value: node });
        match next {
            Some(b',') => {
                self.at += 1;
                self.skip_blanks();
                if self.dialect == Dialect::WithComments && self.peek() == Some(b'}') {
                    return Ok(Next::Close(self.close_map()));
                }
                self.key()?;
                Ok(Next::Value)
            }
            Some(b'}') => Ok(Next::Close(self.close_map())),
            _ => Err(self.no_separator('{', '}')),
        }
    }

    fn next_item(&mut self) -> Result<Next> {
        let comma = self.at;
        self.at += 1;
        self.skip_blanks();
        match (self.peek(), self.dialect) {
            (Some(b']'), Dialect::WithComments) => Ok(Next::Close(self.close_list())),
            (Some(b']'), Dialect::Strict) => Err(self.trailing_comma(comma)),
            _ => Ok(Next::Value),
        }
    }

    fn close_list(&mut self) -> Node {
        self.at += 1;
        let (start, first) = self.frames.pop().map_or((self.at, self.items.len()), |frame| (frame.start, frame.first));
        let items = self.items.drain(first..).collect();
        Node::list(items, self.since(start))
    }

    fn close_map(&mut self) -> Node {
        self.at += 1;
        let (start, first) =
            self.frames.pop().map_or((self.at, self.entries.len()), |frame| (frame.start, frame.first));
        let entries: Vec<Entry> = self.entries.drain(first..).collect();
        entries::report_duplicates(&entries, self.problems);
        Node::map(entries, self.since(start))
    }

    /// Reads a key and its colon.
    fn key(&mut self) -> Result<()> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.no_key());
        }
        let name = self.string()?;
        let key = Key { name, kind: KeyKind::Text, span: self.since(start) };
        self.skip_blanks();
        if !self.takes(":") {
            return Err(self.no_colon());
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.key = Some(key);
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value> {
        let start = self.at;
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        self.at += self.bytes()[start..].iter().take_while(|&byte| is_part(byte)).count();
        match Number::from_json(&self.text[start..self.at]) {
            Some(number) => Ok(Value::Number(number)),
            None => Err(self.not_a_number(start)),
        }
    }

    fn string(&mut self) -> Result<SmolStr> {
        let quote = self.at;
        let start = quote + 1;
        self.at = plain_end(self.bytes(), start);
        if self.peek() == Some(b'"') {
            let text = &self.text[start..self.at];
            self.at += 1;
            return Ok(text.into());
        }
        self.unescaped.clear();
        self.unescaped.push_str(&self.text[start..self.at]);
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(self.raw_control()),
                None => return Err(self.unclosed_string(quote)),
            }
            let start = self.at;
            self.at = plain_end(self.bytes(), start);
            self.unescaped.push_str(&self.text[start..self.at]);
        }
        self.at += 1;
        Ok(self.unescaped.as_str().into())
    }

    fn escape(&mut self) -> Result<()> {
        let start = self.at;
        let c = match self.bytes().get(start + 1) {
            Some(&c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            _ => return Err(self.unknown_escape(start)),
        };
        self.unescaped.push(c);
        self.at = start + 2;
        Ok(())
    }

    fn unicode_escape(&mut self, start: usize) -> Result<()> {
        let Some(first) = self.hex(start + 2) else { return Err(self.unknown_escape(start)) };
        self.at = start + 6;
        let second = match first {
            0xd800..0xdc00 if self.text[self.at..].starts_with("\\u") => self.hex(self.at + 2),
            _ => None,
        };
        let units = [first, second.unwrap_or(0)];
        let mut characters = char::decode_utf16(units.into_iter().take(1 + usize::from(second.is_some())));
        match characters.next() {
            Some(Ok(c)) => self.unescaped.push(c),
            _ => return Err(self.lone_surrogate(start)),
        }
        if second.is_some() {
            self.at += 6;
        }
        Ok(())
    }

    /// Reads four hexadecimal digits.
    fn hex(&self, at: usize) -> Option<u16> {
        let digits = self.bytes().get(at..at + 4)?;
        digits.iter().try_fold(0, |unit, &digit| {
            let digit = char::from(digit).to_digit(16)?;
            Some(unit << 4 | u16::try_from(digit).ok()?)
        })
    }

    fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    fn peek(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    fn takes(&mut self, word: &str) -> bool {
        let is_next = self.bytes()[self.at..].starts_with(word.as_bytes());
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                Some(b'/') if self.dialect == Dialect::WithComments => match self.comment_end() {
                    Some(end) => self.at = end,
                    None => return,
                },
                _ => return,
            }
        }
    }

    /// The end of the comment that starts here, if one does and is closed.
    fn comment_end(&self) -> Option<usize> {
        let rest = &self.text[self.at..];
        let length = match rest.get(..2)? {
            "//" => rest.find(['\n', '\r']).unwrap_or(rest.len()),
            "/*" => rest[2..].find("*/")? + 4,
            _ => return None,
        };
        Some(self.at + length)
    }

    fn since(&self, start: usize) -> Span {
        self.problems.span(start..self.at)
    }
}

/// The offset of the first quote, backslash or control character from `at` on, or the end; checks eight bytes at a time.
fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let word = u64::from_le_bytes(*chunk);
        // Subtracting borrows into a byte's top bit only if the byte was smaller; the lowest such bit is never a false one.
        let below = |word: u64, bound: u8| word.wrapping_sub(ONES * u64::from(bound)) & !word;
        let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
        let found = (below(word, b' ') | is(b'"') | is(b'\\')) & TOPS;
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let stops = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..b' ');
    at + bytes[at..].iter().position(stops).unwrap_or(bytes.len() - at)
}
