//! The text of a path expression, read once into segments that know their place in it.
//!
//! `services::[labels::env=prod]::name?` is three segments: a key, a filter alone, a key that takes the first match.

use std::fmt;
use std::ops::Range;

use smol_str::SmolStr;

/// A path: what to look for, key by key.
#[derive(Debug, Clone)]
pub(super) struct Path {
    /// Never empty.
    pub(super) segments: Vec<Segment>,
}

/// One step of a path.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) key: Key,
    pub(super) filters: Vec<Filter>,
    pub(super) test: Option<Test>,
    /// Whether it ends in `?`: only the first candidate that leads to a result counts.
    pub(super) takes_first: bool,
    /// Its place in the text, without the blanks around it.
    pub(super) range: Range<usize>,
}

/// What a segment looks up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    /// Nothing: the value itself, or the items of a list.
    Empty,
    /// All values of a map.
    Star,
    /// An index of a list, or a key of a map.
    Integer(SmolStr),
    /// A key.
    Text(SmolStr),
    /// Whatever the variable holds.
    Variable(SmolStr),
}

/// `[…]`: values for which the path inside finds something are kept.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    /// `[!…]`: those for which it finds nothing.
    pub(super) is_negated: bool,
    pub(super) path: Path,
    pub(super) range: Range<usize>,
}

/// `=` or `!=` and what to compare with.
#[derive(Debug, Clone)]
pub(super) struct Test {
    pub(super) is_negated: bool,
    pub(super) against: Against,
}

/// The right side of a test.
#[derive(Debug, Clone)]
pub(super) enum Against {
    /// Text, converted to the type of the left side.
    Text(SmolStr),
    /// A variable's value, as it is.
    Variable(SmolStr),
}

/// Why a text is no path, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Malformed {
    pub(super) message: &'static str,
    pub(super) help: &'static str,
    pub(super) range: Range<usize>,
}

/// Filters inside each other, whatever the limits say: paths are walked and forgotten level by level.
const DEEPEST_FILTER: u32 = 1000;

/// Reads a path; filters inside filters may be `deepest` levels deep.
pub(super) fn parse(text: &str, deepest: u32) -> Result<Path, Malformed> {
    if text.trim().is_empty() {
        return Err(Malformed {
            message: "the expression is empty",
            help: "write a key, or `.` for the resource itself",
            range: 0..text.len(),
        });
    }
    let mut reader = PathReader { text, at: 0, left: deepest.min(DEEPEST_FILTER) };
    let path = reader.path()?;
    if reader.at < text.len() {
        let range = reader.at..reader.at + 1;
        return Err(Malformed { message: "`]` closes nothing", help: "every `]` needs a `[` before it", range });
    }
    Ok(path)
}

impl Segment {
    /// Whether nothing at all is written in it.
    pub(super) fn is_blank(&self) -> bool {
        self.key == Key::Empty && self.filters.is_empty() && self.test.is_none() && !self.takes_first
    }
}

impl fmt::Display for Test {
    /// As it is written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = if self.is_negated { "!=" } else { "=" };
        match &self.against {
            Against::Text(text) => write!(f, "{operator}{text}"),
            Against::Variable(name) => write!(f, "{operator}${name}"),
        }
    }
}

struct PathReader<'a> {
    text: &'a str,
    at: usize,
    /// Levels of filters that may still be opened.
    left: u32,
}

impl PathReader<'_> {
    /// Segments up to the end of the text or the `]` around them.
    fn path(&mut self) -> Result<Path, Malformed> {
        let mut segments = vec![self.segment()?];
        while self.rest().starts_with("::") {
            self.at += 2;
            segments.push(self.segment()?);
        }
        Ok(Path { segments })
    }

    fn segment(&mut self) -> Result<Segment, Malformed> {
        self.skip_blanks();
        let start = self.at;
        let head = self.piece();
        let mut filters = Vec::new();
        while self.rest().starts_with('[') {
            filters.push(self.filter()?);
            let after = self.at;
            self.skip_blanks();
            // Blanks at the end of a segment belong to nothing.
            if !self.rest().starts_with(['[', '=', '!', '?']) {
                self.at = after;
            }
        }
        let tail = if filters.is_empty() { self.at..self.at } else { self.piece() };
        let is_tail_blank = self.text[tail.clone()].trim().is_empty();
        let end = if filters.is_empty() || !is_tail_blank { self.at } else { tail.start };
        let range = start..start + self.text[start..end].trim_end().len();
        let head = self.words(trimmed_end(self.text, head))?;
        if head.key_text.starts_with('!') {
            return Err(Malformed {
                message: "`!` is in front of a key outside a filter",
                help: "write `[!key]` to keep what has no such key",
                range,
            });
        }
        let tail = self.words(trimmed_end(self.text, tail))?;
        if !tail.key_text.is_empty() {
            return Err(Malformed {
                message: "only a test or `?` may follow a filter",
                help: "write `::` before the next key",
                range: tail.range,
            });
        }
        if head.test.is_some() && tail.test.is_some() {
            return Err(Malformed {
                message: "a segment has two tests",
                help: "put the second one into a filter",
                range: tail.range,
            });
        }
        let key = read_key(head.key_text, &range)?;
        let takes_first = head.takes_first || tail.takes_first;
        Ok(Segment { key, filters, test: head.test.or(tail.test), takes_first, range })
    }

    /// Text up to the next bracket or `::`.
    fn piece(&mut self) -> Range<usize> {
        let rest = self.rest();
        let bracket = rest.find(['[', ']']).unwrap_or(rest.len());
        let length = rest[..bracket].find("::").unwrap_or(bracket);
        self.at += length;
        self.at - length..self.at
    }

    fn filter(&mut self) -> Result<Filter, Malformed> {
        let start = self.at;
        let refuse = |message, help, end| Err(Malformed { message, help, range: start..end });
        let Some(left) = self.left.checked_sub(1) else {
            return refuse("too many filters inside each other", "take some of them apart", start + 1);
        };
        self.left = left;
        self.at += 1;
        self.skip_blanks();
        let is_negated = self.rest().starts_with('!');
        self.at += usize::from(is_negated);
        let path = stacker::maybe_grow(64 << 10, 1 << 20, || self.path())?;
        if !self.rest().starts_with(']') {
            return refuse("`[` is never closed", "every `[` needs a `]` after it", start + 1);
        }
        self.at += 1;
        self.left += 1;
        match &path.segments[..] {
            [only] if only.key == Key::Empty && only.filters.is_empty() && only.test.is_none() => {
                refuse("a filter says nothing", "write a key or a test into it", self.at)
            }
            [first, ..] if first.key == Key::Star => {
                refuse("a filter starts with `*`", "write `[::*…]` to look at all values of a map", self.at)
            }
            _ => Ok(Filter { is_negated, path, range: start..self.at }),
        }
    }

    /// Splits `key=text?` into its parts.
    fn words(&self, range: Range<usize>) -> Result<Words<'_>, Malformed> {
        let piece = &self.text[range.clone()];
        let (piece, takes_first) = piece.strip_suffix('?').map_or((piece, false), |piece| (piece, true));
        let Some(equals) = piece.find('=') else {
            return Ok(Words { key_text: piece, test: None, takes_first, range });
        };
        let (left, right) = (&piece[..equals], &piece[equals + 1..]);
        let (key_text, is_negated) = left.strip_suffix('!').map_or((left, false), |key| (key, true));
        let against = match right.strip_prefix('$') {
            Some(name) => Against::Variable(variable_name(name, &range)?),
            None => Against::Text(right.into()),
        };
        Ok(Words { key_text, test: Some(Test { is_negated, against }), takes_first, range })
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }
}

/// The parts of a segment outside its filters.
struct Words<'a> {
    key_text: &'a str,
    test: Option<Test>,
    takes_first: bool,
    range: Range<usize>,
}

fn read_key(text: &str, range: &Range<usize>) -> Result<Key, Malformed> {
    Ok(match text {
        "" => Key::Empty,
        "*" => Key::Star,
        _ if is_integer(text) => Key::Integer(text.into()),
        _ => match text.strip_prefix('$') {
            Some(name) => Key::Variable(variable_name(name, range)?),
            None => Key::Text(text.into()),
        },
    })
}

fn variable_name(name: &str, range: &Range<usize>) -> Result<SmolStr, Malformed> {
    let name = name.trim();
    if name.is_empty() {
        let (message, help) = ("`$` is followed by no name", "write `$name` for the value of a variable");
        return Err(Malformed { message, help, range: range.clone() });
    }
    Ok(name.into())
}

/// `-?[0-9]+`
pub(super) fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn trimmed_end(text: &str, range: Range<usize>) -> Range<usize> {
    range.start..range.start + text[range.clone()].trim_end().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segments(text: &str) -> Vec<Segment> {
        parse(text, 100).unwrap_or_else(|error| panic!("{text}: {}", error.message)).segments
    }

    fn keys(text: &str) -> Vec<Key> {
        segments(text).into_iter().map(|segment| segment.key).collect()
    }

    fn text(text: &str) -> Key {
        Key::Text(text.into())
    }

    #[test]
    fn keys_stand_between_double_colons() {
        assert_eq!(keys("a::b.c/d:e::x y"), [text("a"), text("b.c/d:e"), text("x y")]);
        assert_eq!(keys("::a::"), [Key::Empty, text("a"), Key::Empty]);
        assert_eq!(keys(" a ::\tb "), [text("a"), text("b")]);
        assert_eq!(
            keys("*::-1::007::$v::--1"),
            [Key::Star, Key::Integer("-1".into()), Key::Integer("007".into()), Key::Variable("v".into()), text("--1")]
        );
    }

    #[test]
    fn a_test_splits_at_the_first_operator_and_keeps_the_blanks_after_it() {
        let test = |text: &str| {
            let segment = segments(text).remove(0);
            let test = segment.test.unwrap_or_else(|| panic!("{text} has a test"));
            let against = match test.against {
                Against::Text(text) => format!("{text:?}"),
                Against::Variable(name) => format!("${name}"),
            };
            (segment.key, test.is_negated, against, segment.takes_first)
        };
        assert_eq!(test("a=b"), (text("a"), false, "\"b\"".into(), false));
        assert_eq!(test("a!=b=c?"), (text("a"), true, "\"b=c\"".into(), true));
        assert_eq!(test("a= b "), (text("a"), false, "\" b\"".into(), false));
        assert_eq!(test("a[x]=$v ?"), (text("a"), false, "$v".into(), true));
        assert_eq!(test("!=b"), (Key::Empty, true, "\"b\"".into(), false));
        assert_eq!(test("a="), (text("a"), false, "\"\"".into(), false));
    }

    #[test]
    fn filters_hold_paths_and_may_be_negated() {
        let segment = segments("a [!b::c=d] [e[f]]? ").remove(0);
        assert_eq!((segment.takes_first, segment.filters.len(), segment.range), (true, 2, 0..19));
        assert!(segment.filters[0].is_negated && segment.filters[0].path.segments[1].test.is_some());
        let negated = &segments("[!=x]")[0].filters[0];
        assert!(negated.is_negated && !negated.path.segments[0].test.as_ref().unwrap().is_negated);
    }

    #[test]
    fn malformed_texts_are_refused_with_their_place() {
        for (text, range) in [
            ("", 0..0),
            ("  ", 0..2),
            ("a::[b", 3..4),
            ("a]", 1..2),
            ("a[b]c", 4..5),
            ("!a", 0..2),
            ("a::!b", 3..5),
            ("a[]", 1..3),
            ("a[!]", 1..4),
            ("m[*]", 1..4),
            ("$", 0..1),
            ("a=$", 0..3),
            ("a=b[c]=d", 6..8),
            ("[!!a]", 2..4),
        ] {
            assert_eq!(parse(text, 100).map_err(|error| error.range).err(), Some(range), "{text:?}");
        }
        assert!(parse("[a[a[a]]]", 2).is_err());
        assert!(parse(&"[a".repeat(100_000), 1000).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_and_places_are_within_it(text in "[a-c:\\[\\]!=?$* ß0-9-]{0,40}") {
            match parse(&text, 20) {
                Ok(path) => for segment in &path.segments {
                    prop_assert!(text.get(segment.range.clone()).is_some());
                    prop_assert!(segment.filters.iter().all(|filter| text.get(filter.range.clone()).is_some()));
                },
                Err(error) => prop_assert!(text.get(error.range).is_some()),
            }
        }
    }
}
