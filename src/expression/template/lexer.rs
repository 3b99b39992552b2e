//! Cuts a template into texts and actions, and an action into words, each with its place.

use std::ops::Range;

use smol_str::SmolStr;

use super::refuse;
use crate::finding::Refusal;
use crate::path::Pointer;
use crate::value::Number;

/// A text, or the words between `{{` and `}}`.
#[derive(Debug)]
pub(super) enum Chunk {
    /// Literal text, trimmed where an action asks for it.
    Text(String),
    /// An action, with the place of its braces.
    Action(Vec<Token>, Range<usize>),
}

/// A word of an action.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) at: Range<usize>,
}

/// What a word is.
#[derive(Debug, Clone)]
pub(super) enum TokenKind {
    /// `.`, or `.a.b`, or fields right after a bracket or a variable.
    Field(Vec<SmolStr>),
    /// `$` or `$x`, and fields of it.
    Variable(SmolStr, Vec<SmolStr>),
    /// `../a.b` or `../../a/b`.
    Ancestor(usize, Vec<SmolStr>),
    /// `/a/b`.
    Pointer(Vec<SmolStr>),
    /// A name: of a function, a keyword, or a field.
    Name(SmolStr),
    Text(SmolStr),
    Number(Number),
    Open,
    Close,
    Pipe,
    Comma,
    Declare,
    Assign,
}

/// Cuts a template into chunks.
pub(super) fn chunks(text: &str) -> Result<Vec<Chunk>, Refusal> {
    let mut chunks = Vec::new();
    let mut at = 0;
    let mut trim_next = false;
    while let Some(found) = text[at..].find("{{") {
        let open = at + found;
        let action = action(text, open)?;
        let mut literal = &text[at..open];
        literal = if trim_next { literal.trim_start() } else { literal };
        literal = if action.trims_before { literal.trim_end() } else { literal };
        push_text(&mut chunks, literal);
        if let Some(words) = action.words {
            chunks.push(Chunk::Action(words, open..action.end));
        }
        (at, trim_next) = (action.end, action.trims_after);
    }
    let rest = &text[at..];
    push_text(&mut chunks, if trim_next { rest.trim_start() } else { rest });
    Ok(chunks)
}

fn push_text(chunks: &mut Vec<Chunk>, text: &str) {
    if !text.is_empty() {
        chunks.push(Chunk::Text(text.to_owned()));
    }
}

struct Action {
    /// Nothing for a comment.
    words: Option<Vec<Token>>,
    end: usize,
    trims_before: bool,
    trims_after: bool,
}

/// Reads the action whose braces open there.
fn action(text: &str, open: usize) -> Result<Action, Refusal> {
    let mut at = open + 2;
    let mut after_dash = text[at..].chars().skip(1);
    let trims_before = text[at..].starts_with('-') && after_dash.next().is_some_and(char::is_whitespace);
    at += usize::from(trims_before);
    let inner = text[at..].trim_start();
    if let Some(comment) = inner.strip_prefix("/*") {
        let start = text.len() - comment.len();
        let Some(length) = comment.find("*/") else {
            return Err(refuse(open..text.len(), "a comment is not closed").help("close it with `*/}}`"));
        };
        let rest = start + length + 2;
        let tail = text[rest..].trim_start();
        let (trims_after, tail) = tail.strip_prefix('-').map_or((false, tail), |tail| (true, tail));
        let Some(after) = tail.strip_prefix("}}") else {
            return Err(refuse(open..rest, "a comment shares its braces with something else"));
        };
        return Ok(Action { words: None, end: text.len() - after.len(), trims_before, trims_after });
    }
    let mut lexer = Lexer { text, at, open };
    let mut words = Vec::new();
    loop {
        lexer.skip_blanks();
        let rest = lexer.rest();
        if let Some((length, trims_after)) = end_of_action(text, lexer.at) {
            return Ok(Action { words: Some(words), end: lexer.at + length, trims_before, trims_after });
        }
        if rest.is_empty() {
            return Err(refuse(open..text.len(), "an action is not closed").help("close it with `}}`"));
        }
        words.push(lexer.token()?);
    }
}

/// The length of the closing braces there, and whether they trim; a trimming dash has a blank before it.
fn end_of_action(text: &str, at: usize) -> Option<(usize, bool)> {
    let rest = &text[at..];
    if rest.starts_with("}}") {
        return Some((2, false));
    }
    let after_blank = text[..at].ends_with(char::is_whitespace);
    (after_blank && rest.starts_with("-}}")).then_some((3, true))
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    open: usize,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn token(&mut self) -> Result<Token, Refusal> {
        let start = self.at;
        let rest = self.rest();
        let first = rest.chars().next().unwrap_or_default();
        let simple = [
            (":=", TokenKind::Declare),
            ("=", TokenKind::Assign),
            ("|", TokenKind::Pipe),
            (",", TokenKind::Comma),
            ("(", TokenKind::Open),
        ];
        let kind = if let Some((mark, kind)) = simple.into_iter().find(|(mark, _)| rest.starts_with(mark)) {
            self.at += mark.len();
            kind
        } else {
            match first {
                ')' => {
                    self.at += 1;
                    TokenKind::Close
                }
                '"' => TokenKind::Text(self.quoted()?.into()),
                '`' => TokenKind::Text(self.raw()?.into()),
                '$' => {
                    self.at += 1;
                    let name = self.name();
                    TokenKind::Variable(name, self.fields()?)
                }
                '/' => TokenKind::Pointer(self.pointer(start)?),
                '.' if rest.starts_with("../") => self.ancestor()?,
                '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => self.number()?,
                '.' => {
                    let fields = self.fields()?;
                    if fields.is_empty() {
                        self.at += 1;
                    }
                    TokenKind::Field(fields)
                }
                c if c.is_ascii_digit() || matches!(c, '+' | '-') => self.number()?,
                c if is_name_start(c) => TokenKind::Name(self.name()),
                c => return Err(self.unexpected(c)),
            }
        };
        Ok(Token { kind, at: start..self.at })
    }

    fn unexpected(&self, c: char) -> Refusal {
        let shown = crate::sanitize::inline(c.encode_utf8(&mut [0; 4])).into_owned();
        refuse(self.at..self.at + c.len_utf8(), format!("`{shown}` means nothing in an action"))
    }

    /// A name; a hyphen inside of it belongs to it, because keys have hyphens and templates do no sums.
    fn name(&mut self) -> SmolStr {
        let rest = self.rest();
        let mut end = 0;
        let mut chars = rest.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let continues = chars.peek().is_some_and(|(_, next)| is_name_part(*next));
            if !(is_name_part(c) || (c == '-' && at > 0 && continues)) {
                break;
            }
            end = at + c.len_utf8();
        }
        self.at += end;
        SmolStr::new(&rest[..end])
    }

    /// `.a.b`, as far as it goes.
    fn fields(&mut self) -> Result<Vec<SmolStr>, Refusal> {
        let mut fields = Vec::new();
        while self.rest().starts_with('.') && self.rest()[1..].starts_with(is_name_part) {
            self.at += 1;
            fields.push(self.name());
        }
        if !fields.is_empty() && self.rest().starts_with('.') {
            return Err(self.unexpected('.'));
        }
        Ok(fields)
    }

    fn ancestor(&mut self) -> Result<TokenKind, Refusal> {
        let start = self.at;
        let mut levels = 0;
        while self.rest().starts_with("../") {
            self.at += 3;
            levels += 1;
        }
        let name = self.until_blank();
        let path: Vec<SmolStr> = if name.contains('/') {
            let pointer = Pointer::parse(&format!("/{name}"));
            pointer.map_err(|reason| refuse(start..self.at, reason))?.tokens().to_vec()
        } else {
            name.split('.').map(SmolStr::new).collect()
        };
        if path.iter().any(|key| key.is_empty()) {
            let what = "a reference to a resource above names no field of it";
            return Err(refuse(start..self.at, what).help("write `{{../name}}`"));
        }
        Ok(TokenKind::Ancestor(levels, path))
    }

    fn pointer(&mut self, start: usize) -> Result<Vec<SmolStr>, Refusal> {
        let text = self.until_blank();
        let pointer = Pointer::parse(text).map_err(|reason| refuse(start..self.at, reason))?;
        if pointer.tokens().iter().any(|token| token.is_empty()) {
            Err(refuse(start..self.at, "a pointer has an empty name in it"))
        } else {
            Ok(pointer.tokens().to_vec())
        }
    }

    /// A reference goes on up to a blank, a bracket or the end.
    fn until_blank(&mut self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, ')' | '(' | '|' | '}' | '{' | ',' | '"' | '`'));
        let text = &rest[..end.unwrap_or(rest.len())];
        self.at += text.len();
        text
    }

    fn number(&mut self) -> Result<TokenKind, Refusal> {
        let start = self.at;
        let rest = self.rest();
        let is_part = |(at, c): (usize, char)| {
            c.is_ascii_alphanumeric()
                || matches!(c, '.' | '_')
                || (matches!(c, '+' | '-') && (at == 0 || rest[..at].ends_with(['e', 'E'])))
        };
        let end = rest.char_indices().find(|part| !is_part(*part)).map_or(rest.len(), |(at, _)| at);
        self.at += end;
        let text = rest[..end].replace('_', "");
        let number = Number::from_yaml(&text).filter(|number| number.to_json().is_some());
        number.map(TokenKind::Number).ok_or_else(|| refuse(start..self.at, "not a number"))
    }

    fn raw(&mut self) -> Result<String, Refusal> {
        let inner = &self.rest()[1..];
        let end = inner.find('`').ok_or_else(|| self.not_closed())?;
        self.at += end + 2;
        Ok(inner[..end].to_owned())
    }

    fn quoted(&mut self) -> Result<String, Refusal> {
        let inner = &self.rest()[1..];
        let mut text = String::new();
        let mut chars = inner.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += at + 2;
                    return Ok(text);
                }
                '\n' => break,
                '\\' => {
                    let place = self.at + 1 + at;
                    let escaped = escape(&mut chars)
                        .ok_or_else(|| refuse(place..place + 1, "an escape that is not known in a text"))?;
                    text.push(escaped);
                }
                c => text.push(c),
            }
        }
        Err(self.not_closed())
    }

    fn not_closed(&self) -> Refusal {
        refuse(self.open..self.text.len(), "a text in an action is not closed")
    }
}

/// The character of an escape.
fn escape(chars: &mut std::str::CharIndices<'_>) -> Option<char> {
    let (_, kind) = chars.next()?;
    let mut code = |count: usize, radix: u32, start: u32| {
        let digits = chars.by_ref().take(count).map(|(_, c)| c.to_digit(radix)).collect::<Option<Vec<u32>>>()?;
        let code = digits.iter().fold(u64::from(start), |code, digit| code * u64::from(radix) + u64::from(*digit));
        (digits.len() == count).then(|| u32::try_from(code).ok().and_then(char::from_u32)).flatten()
    };
    match kind {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'a' => Some('\u{7}'),
        'b' => Some('\u{8}'),
        'f' => Some('\u{c}'),
        'v' => Some('\u{b}'),
        c @ ('\\' | '"' | '\'') => Some(c),
        'x' => code(2, 16, 0),
        'u' => code(4, 16, 0),
        'U' => code(8, 16, 0),
        c @ '0'..='7' => code(2, 8, c.to_digit(8)?),
        _ => None,
    }
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
