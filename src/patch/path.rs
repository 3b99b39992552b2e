//! The paths of patch operations: JSON Pointer with filters, wildcards, indexes and an append marker.

use std::ops::Range;

use smol_str::{SmolStr, format_smolstr};

use crate::finding::{self, Refusal};
use crate::limits::Limits;
use crate::path::{Pointer, unescape_token};
use crate::sanitize;

/// A parsed path, which can be expanded in any number of documents.
#[derive(Debug, Clone)]
pub struct PatchPath {
    text: SmolStr,
    parts: Vec<PathPart>,
    /// Whether it is a plain JSON Pointer, as RFC 6902 has it: every value but the last must exist, and null is a value.
    is_exact: bool,
}

/// One step of a path, and its range in the path's text.
#[derive(Debug, Clone)]
pub(super) struct PathPart {
    pub(super) step: PathStep,
    pub(super) range: Range<usize>,
}

#[derive(Debug, Clone)]
pub(super) enum PathStep {
    /// A key of a map; digits may also be the number of an item.
    Token(SmolStr),
    /// `[3]`: the number of an item and nothing else.
    Index(i64),
    /// `-`: behind the last item.
    Append,
    /// `[?(@.a.b=='v')]`: the items that have this value there.
    Filter(PathFilter),
    /// `[*]`: every item.
    Every,
}

#[derive(Debug, Clone)]
pub(super) struct PathFilter {
    pub(super) field: Vec<SmolStr>,
    pub(super) value: SmolStr,
}

impl PatchPath {
    /// Parses a path completely, before any document is looked at.
    pub fn compile(text: &str, limits: &Limits) -> Result<Self, Refusal> {
        let mut path = Self { text: text.into(), parts: Vec::new(), is_exact: false };
        let start = usize::from(text.starts_with('/'));
        let body = &text[start..];
        // One slash at the end is forgiven; `//` is not.
        let body = body.strip_suffix('/').filter(|body| !body.is_empty()).unwrap_or(body);
        if body.is_empty() {
            return Ok(path);
        }
        let mut at = start;
        for segment in body.split('/') {
            let range = at..at + segment.len();
            at = range.end + 1;
            if segment.is_empty() {
                return Err(path.bad("a segment is empty", range));
            }
            path.segment(&unescape_token(segment), range)?;
            if path.parts.len() > limits.depth as usize {
                let message = format!("the path `{}…` has more than {} segments", path.start(), limits.depth);
                return Err(Refusal::new(&finding::LIMIT_DEPTH, message));
            }
        }
        Ok(path)
    }

    /// The path that means exactly one place, as RFC 6902 has it.
    pub fn exact(pointer: &Pointer) -> Self {
        let text: SmolStr = pointer.to_string().into();
        let part = |token: &SmolStr| PathPart { step: PathStep::Token(token.clone()), range: 0..text.len() };
        Self { parts: pointer.tokens().iter().map(part).collect(), is_exact: true, text }
    }

    pub(super) fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The path as it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn parts(&self) -> &[PathPart] {
        &self.parts
    }

    /// The path as a pointer, if it holds a position and is made of keys and positions alone.
    pub(super) fn by_index(&self) -> Option<Pointer> {
        let token = |part: &PathPart| match &part.step {
            PathStep::Token(token) => Some(token.clone()),
            PathStep::Index(index) => Some(format_smolstr!("{index}")),
            PathStep::Append => None,
            PathStep::Filter(_) | PathStep::Every => None,
        };
        let tokens: Vec<SmolStr> = self.parts.iter().map(token).collect::<Option<_>>()?;
        let has_index = tokens.iter().any(|token| token.bytes().all(|byte| byte.is_ascii_digit()));
        has_index.then(|| tokens.into_iter().collect())
    }

    /// Whether it may select nothing in a sound document.
    pub(super) fn is_selective(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.step, PathStep::Filter(_) | PathStep::Every))
    }

    /// A `-` that is not at the end.
    pub(super) fn misplaced_append(&self) -> Option<&PathPart> {
        let before_last = self.parts.len().saturating_sub(1);
        self.parts[..before_last].iter().find(|part| matches!(part.step, PathStep::Append))
    }

    pub(super) fn last(&self) -> Option<&PathStep> {
        self.parts.last().map(|part| &part.step)
    }

    fn segment(&mut self, segment: &str, range: Range<usize>) -> Result<(), Refusal> {
        let mut rest = segment;
        while !rest.is_empty() {
            let (step, after) = match rest.strip_prefix('[') {
                Some(inside) => self.bracket(inside, &range)?,
                None => {
                    let (token, after) = rest.split_at(rest.find('[').unwrap_or(rest.len()));
                    (if token == "-" { PathStep::Append } else { PathStep::Token(token.into()) }, after)
                }
            };
            self.parts.push(PathPart { step, range: range.clone() });
            rest = after;
        }
        Ok(())
    }

    fn bracket<'s>(&self, inside: &'s str, range: &Range<usize>) -> Result<(PathStep, &'s str), Refusal> {
        if let Some(filter) = inside.strip_prefix("?(") {
            let (filter, after) = read_filter(filter).map_err(|reason| self.bad(reason, range.clone()))?;
            return Ok((PathStep::Filter(filter), after));
        }
        let (content, after) =
            inside.split_once(']').ok_or_else(|| self.bad("a bracket is not closed", range.clone()))?;
        let step = match content {
            "*" => PathStep::Every,
            "-" => PathStep::Append,
            _ => match plain_integer(content) {
                Some(index) => PathStep::Index(index),
                None => {
                    return Err(self.bad("brackets hold a number, a filter `?(…)`, `*` or `-`", range.clone()));
                }
            },
        };
        Ok((step, after))
    }

    fn bad(&self, reason: &str, range: Range<usize>) -> Refusal {
        let message = format!("the path `{}` cannot be read: {reason}", self.shown());
        Refusal::new(&finding::PATCH_BAD_PATH, message).within(range)
    }

    /// The path as messages quote it.
    pub(super) fn shown(&self) -> String {
        sanitize::inline(&self.text).into_owned()
    }

    fn start(&self) -> String {
        sanitize::inline(&self.text.chars().take(40).collect::<String>()).into_owned()
    }
}

/// Parses after `[?(` up to and including `)]`; gives the filter and the rest.
fn read_filter(text: &str) -> Result<(PathFilter, &str), &'static str> {
    const GRAMMAR: &str = "a filter reads `[?(@.field=='value')]`, and this is none";
    let field_and_rest = text.trim_start().strip_prefix("@.").ok_or(GRAMMAR)?;
    let is_field = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let (field, rest) = field_and_rest.split_at(field_and_rest.find(|c| !is_field(c)).unwrap_or(field_and_rest.len()));
    let field: Vec<SmolStr> = field.split('.').map(SmolStr::new).collect();
    if field.iter().any(SmolStr::is_empty) {
        return Err("a filter names a field, and every name between its dots has at least one letter");
    }
    let rest = rest.trim_start().strip_prefix("==").ok_or("a filter compares with `==` and nothing else")?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let quote = quote.ok_or("a filter compares with a value in quotes")?;
    let quoted = &rest[1..];
    // The value may hold quotes and brackets: it ends at the first quote that `)]` follows.
    let ends = quoted.match_indices(quote).filter_map(|(at, _)| {
        let after = quoted[at + 1..].trim_start().strip_prefix(")]")?;
        Some((&quoted[..at], after))
    });
    let (value, after) = ends.into_iter().next().ok_or("a filter is not closed by its quote and `)]`")?;
    if value.contains('\n') {
        return Err("the value of a filter must be on one line");
    }
    Ok((PathFilter { field, value: value.into() }, after))
}

/// How a token reads as the number of an item.
pub(super) enum Numeral {
    /// A number as RFC 6901 writes it.
    Plain(usize),
    /// A number below zero, or one beyond the length of any list.
    Outside,
    /// A number in a spelling that is not accepted: `+1`, `01`, or more digits than any number here has.
    Odd,
}

/// Reads a token as a number, if it is one at all.
pub(super) fn numeral(token: &str) -> Option<Numeral> {
    let digits = token.strip_prefix(['-', '+']).unwrap_or(token);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(match plain_integer(token) {
        Some(number) => usize::try_from(number).map_or(Numeral::Outside, Numeral::Plain),
        None => Numeral::Odd,
    })
}

/// Digits without leading zeros, perhaps below zero.
fn plain_integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits.len() == 1 || !digits.starts_with('0'));
    is_plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(text: &str) -> Result<PatchPath, Refusal> {
        PatchPath::compile(text, &Limits::default())
    }

    fn steps(text: &str) -> Vec<String> {
        let name = |part: &PathPart| match &part.step {
            PathStep::Token(token) => token.to_string(),
            PathStep::Index(index) => format!("[{index}]"),
            PathStep::Append => "[-]".to_owned(),
            PathStep::Every => "[*]".to_owned(),
            PathStep::Filter(filter) => format!("[{}={}]", filter.field.join("."), filter.value),
        };
        compile(text).unwrap().parts().iter().map(name).collect()
    }

    #[test]
    fn every_form_of_segment() {
        assert_eq!(steps("/a/b"), ["a", "b"]);
        assert_eq!(steps("a/b/"), ["a", "b"]);
        assert_eq!((steps(""), steps("/")), (vec![], vec![]));
        assert_eq!(steps("/m[0][1]/x"), ["m", "[0]", "[1]", "x"]);
        assert_eq!(steps("/a[0]b"), ["a", "[0]", "b"]);
        assert_eq!(steps("/l/-"), ["l", "[-]"]);
        assert_eq!(steps("/l[-]"), ["l", "[-]"]);
        assert_eq!(steps("/*/[*]"), ["*", "[*]"]);
        assert_eq!(steps("/a~1b/~0c/~01/~2"), ["a/b", "~c", "~1", "~2"]);
    }

    #[test]
    fn filters_hold_quotes_and_brackets_in_their_value() {
        assert_eq!(steps("/c[?( @.a.b == 'x' )]"), ["c", "[a.b=x]"]);
        assert_eq!(steps(r#"/c[?(@.a=="x]y")]/z"#), ["c", "[a=x]y]", "z"]);
        assert_eq!(steps("/c[?(@.a=='it's')][?(@.b=='')]"), ["c", "[a=it's]", "[b=]"]);
        assert_eq!(steps("/c[?(@.a=='http:~1~1x')]"), ["c", "[a=http://x]"]);
    }

    #[test]
    fn wrong_paths_are_refused_before_any_document_is_looked_at() {
        for (wrong, part) in [
            ("/a//b", ""),
            ("//", ""),
            ("/a[0", "a[0"),
            ("/a[x]", "a[x]"),
            ("/a[+1]", "a[+1]"),
            ("/a[01]", "a[01]"),
            ("/a[99999999999999999999]", "a[99999999999999999999]"),
            ("/x/a[?(@.b!='c')]", "a[?(@.b!='c')]"),
            ("/a[?(@.b==1)]", "a[?(@.b==1)]"),
            ("/a[?(@.b=='c\")]", "a[?(@.b=='c\")]"),
            ("/a[?(@.b..d=='c')]", "a[?(@.b..d=='c')]"),
            ("/a[?(@['b']=='c')]", "a[?(@['b']=='c')]"),
        ] {
            let refusal = compile(wrong).unwrap_err();
            assert_eq!(refusal.rule.id, "patch/bad-path", "{wrong}");
            assert_eq!(&wrong[refusal.range.unwrap()], part, "{wrong}");
            assert!(refusal.message.contains(wrong), "{wrong}");
        }
        assert_eq!(compile(&"/a".repeat(100_000)).unwrap_err().rule.id, "limit/depth");
    }
}
