//! The language of `${…}` in Flux: variables, defaults, and a few functions of the shell.

/// What is known about a variable.
#[derive(Debug, Clone, Copy)]
pub(super) enum Variable<'v> {
    /// Its value.
    Known(&'v str),
    /// It has no value, which counts as an empty one.
    Undefined,
    /// Its value is outside of the repository: the expression stays as it is written.
    Unknown,
}

/// Nested expressions.
const DEEPEST: usize = 64;

/// Characters of a result, and of a value that is matched against a pattern.
const LONGEST: usize = 4 << 20;
const LONGEST_MATCHED: usize = 4096;

/// The text with every expression replaced by its value.
pub(super) fn substitute<'v>(text: &str, value: &dyn Fn(&str) -> Variable<'v>) -> Result<String, &'static str> {
    let mut parser = Parser { text: text.chars().collect(), at: 0, depth: 0, value };
    let mut result = String::with_capacity(text.len());
    while let Some(character) = parser.next() {
        match (character, parser.peek()) {
            ('$', Some('{')) => result.push_str(&parser.expression()?),
            ('$', Some('$')) => result.extend(parser.next()),
            _ => result.push(character),
        }
        if result.len() > LONGEST {
            return Err("the result is too long");
        }
    }
    Ok(result)
}

struct Parser<'a, 'v> {
    text: Vec<char>,
    at: usize,
    depth: usize,
    value: &'a dyn Fn(&str) -> Variable<'v>,
}

const UNCLOSED: &str = "a `${` is not closed";
const BAD: &str = "this is no expression that Flux knows";

impl Parser<'_, '_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    /// An expression, from the brace on.
    fn expression(&mut self) -> Result<String, &'static str> {
        let start = self.at - 1;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("expressions are nested too deeply");
        }
        self.at += 1;
        let (name, call) = self.call()?;
        self.depth -= 1;
        Ok(match (self.value)(&name) {
            Variable::Known(value) => call.apply(value)?,
            Variable::Undefined => call.apply("")?,
            Variable::Unknown => self.text[start..self.at].iter().collect(),
        })
    }

    /// The variable and the function of an expression, up to and with the closing brace.
    fn call(&mut self) -> Result<(String, Call), &'static str> {
        if self.peek() == Some('#') {
            self.at += 1;
            let name = self.name().ok_or(BAD)?;
            return self.closed(BAD).map(|()| (name, Call::Length));
        }
        let name = self.name().ok_or("a `${` has no name of a variable")?;
        let call = match self.peek() {
            Some(':') if !matches!(self.text.get(self.at + 1), Some('=' | '-' | '?' | '+')) => return self.part(name),
            Some(':') => self.default(2)?,
            Some('=') => self.default(1)?,
            Some(',' | '^') => Call::Case(self.operator(&[',', '^'])),
            Some('/') => return self.replacement(name),
            Some('#') => self.removal('#')?,
            Some('%') => self.removal('%')?,
            _ => return self.closed(UNCLOSED).map(|()| (name, Call::Value)),
        };
        self.closed(BAD).map(|()| (name, call))
    }

    fn closed(&mut self, otherwise: &'static str) -> Result<(), &'static str> {
        if self.next() == Some('}') { Ok(()) } else { Err(otherwise) }
    }

    fn name(&mut self) -> Option<String> {
        let start = self.at;
        while self.peek().is_some_and(|next| next.is_alphabetic() || next.is_numeric() || next == '_') {
            self.at += 1;
        }
        (self.at > start).then(|| self.text[start..self.at].iter().collect())
    }

    /// One or two of these characters.
    fn operator(&mut self, characters: &[char]) -> String {
        let start = self.at;
        while self.at < start + 2 && self.peek().is_some_and(|next| characters.contains(&next)) {
            self.at += 1;
        }
        self.text[start..self.at].iter().collect()
    }

    fn default(&mut self, operator: usize) -> Result<Call, &'static str> {
        self.at += operator;
        let mut default = String::new();
        while self.peek() != Some('}') {
            default.push_str(&self.argument(&['}'], false)?);
        }
        Ok(Call::Default(default))
    }

    fn part(&mut self, name: String) -> Result<(String, Call), &'static str> {
        self.at += 1;
        let offset = self.argument(&[':', '}'], false)?;
        match self.next() {
            Some('}') => return Ok((name, Call::Part(offset, None))),
            Some(':') => {}
            _ => return Err(BAD),
        }
        while self.peek() == Some(':') {
            self.at += 1;
        }
        let length = self.argument(&['}'], false)?;
        self.closed(BAD).map(|()| (name, Call::Part(offset, Some(length))))
    }

    fn removal(&mut self, operator: char) -> Result<Call, &'static str> {
        let operator = self.operator(&[operator]);
        Ok(Call::Remove(operator, self.argument(&['}'], false)?))
    }

    fn replacement(&mut self, name: String) -> Result<(String, Call), &'static str> {
        self.at += 1;
        let mut operator = String::from("/");
        if let Some(second) = self.peek().filter(|second| matches!(second, '/' | '#' | '%')) {
            operator.push(second);
            self.at += 1;
        }
        let old = self.argument(&['/'], true)?;
        if self.peek() != Some('/') {
            return Err(BAD);
        }
        while self.peek() == Some('/') {
            self.at += 1;
        }
        let new = if self.peek() == Some('}') { None } else { Some(self.argument(&['}'], true)?) };
        self.closed(BAD).map(|()| (name, Call::Replace(operator, old, new)))
    }

    /// A nested expression, or text up to one of these characters or a nested expression.
    fn argument(&mut self, ends: &[char], has_escapes: bool) -> Result<String, &'static str> {
        if self.is_expression() {
            self.at += 1;
            return self.expression();
        }
        let mut text = String::new();
        let start = self.at;
        while let Some(character) = self.peek() {
            let following = self.text.get(self.at + 1);
            let is_escape = has_escapes
                && match character {
                    '$' => following == Some(&'$'),
                    '\\' => matches!(following, Some('/' | '\\')),
                    _ => false,
                };
            if is_escape {
                text.extend(following);
                self.at += 2;
                continue;
            }
            if ends.contains(&character) || self.is_expression() {
                break;
            }
            text.push(character);
            self.at += 1;
        }
        if self.at == start { Err("a function in `${…}` has no argument") } else { Ok(text) }
    }

    fn is_expression(&self) -> bool {
        self.peek() == Some('$') && self.text.get(self.at + 1) == Some(&'{')
    }
}

/// What is done to the value of a variable.
enum Call {
    Value,
    Length,
    Default(String),
    Case(String),
    Part(String, Option<String>),
    Remove(String, String),
    Replace(String, String, Option<String>),
}

impl Call {
    fn apply(&self, value: &str) -> Result<String, &'static str> {
        Ok(match self {
            Self::Value => value.to_owned(),
            Self::Length => value.len().to_string(),
            Self::Default(default) if value.is_empty() => default.clone(),
            Self::Default(_) => value.to_owned(),
            Self::Case(operator) => in_case(value, operator),
            Self::Part(offset, length) => part(value, offset, length.as_deref())?,
            Self::Remove(operator, pattern) => removed(value, operator, pattern)?,
            Self::Replace(operator, old, new) => replaced(value, operator, old, new.as_deref())?,
        })
    }
}

fn in_case(value: &str, operator: &str) -> String {
    let mut characters = value.chars();
    let mut first = |change: fn(char) -> String| match characters.next() {
        Some(first) => change(first) + characters.as_str(),
        None => String::new(),
    };
    match operator {
        "," => first(|first| first.to_lowercase().collect()),
        "^" => first(|first| first.to_uppercase().collect()),
        ",," => value.to_lowercase(),
        "^^" => value.to_uppercase(),
        _ => value.to_owned(),
    }
}

/// Bytes from an offset on; what is not a number changes nothing.
fn part(value: &str, offset: &str, length: Option<&str>) -> Result<String, &'static str> {
    let Ok(offset) = offset.parse::<i64>() else { return Ok(value.to_owned()) };
    let size = i64::try_from(value.len()).unwrap_or(i64::MAX);
    let start = if offset < 0 { (size + offset).max(0) } else { offset };
    let end = match length.map(str::parse::<i64>) {
        None => size,
        Some(Err(_)) => return Ok(value.to_owned()),
        Some(Ok(length)) => start.saturating_add(length).min(size),
    };
    if start >= size {
        return Ok(String::new());
    }
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let part = range.and_then(|(start, end)| value.get(start..end));
    part.map(ToOwned::to_owned).ok_or("this part of the value does not exist")
}

fn replaced(value: &str, operator: &str, old: &str, new: Option<&str>) -> Result<String, &'static str> {
    let matches = if old.is_empty() { value.len() + 1 } else { value.len() / old.len() };
    if matches.saturating_mul(new.map_or(0, str::len)) > LONGEST {
        return Err("the result is too long");
    }
    Ok(match (operator, new) {
        ("//", new) => value.replace(old, new.unwrap_or_default()),
        ("/#", Some(new)) if value.starts_with(old) => value.replacen(old, new, 1),
        ("/%", Some(new)) => match value.strip_suffix(old) {
            Some(rest) => format!("{rest}{new}"),
            None => value.to_owned(),
        },
        ("/", new) => value.replacen(old, new.unwrap_or_default(), 1),
        _ => value.to_owned(),
    })
}

/// The value without the shortest or longest prefix or suffix that matches a pattern.
fn removed(value: &str, operator: &str, pattern: &str) -> Result<String, &'static str> {
    let is_suffix = operator.starts_with('%');
    let ordered =
        |text: &str| -> Vec<char> { if is_suffix { text.chars().rev().collect() } else { text.chars().collect() } };
    let (characters, pattern) = (ordered(value), ordered(pattern));
    if characters.len() > LONGEST_MATCHED || pattern.len() > LONGEST_MATCHED {
        return Err("the value is too long for a pattern");
    }
    let mut lengths: Vec<usize> = (1..=characters.len()).collect();
    if operator.len() == 2 {
        lengths.reverse();
    }
    let found = lengths.into_iter().find(|&length| matches(&pattern, &characters[..length]));
    let rest = &characters[found.unwrap_or(0)..];
    Ok(if is_suffix { rest.iter().rev().collect() } else { rest.iter().collect() })
}

/// Whether a pattern with `*`, `?` and sets matches a text as a whole.
fn matches(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        let matched = match pattern.get(p) {
            Some('*') => {
                retry = Some((p + 1, t + 1));
                p += 1;
                continue;
            }
            Some('?') => Some(1),
            Some('[') => set(&pattern[p..], text[t]),
            Some('\\') if pattern.get(p + 1) == Some(&text[t]) => Some(2),
            Some(character) if *character == text[t] => Some(1),
            _ => None,
        };
        match (matched, retry) {
            (Some(length), _) => (p, t) = (p + length, t + 1),
            (None, Some((after, from))) => {
                (p, t) = (after, from);
                retry = Some((after, from + 1));
            }
            (None, None) => return false,
        }
    }
    pattern[p.min(pattern.len())..].iter().all(|character| *character == '*')
}

/// How long a set such as `[a-c]` is, if a character is in it.
fn set(pattern: &[char], character: char) -> Option<usize> {
    let end = pattern.iter().skip(2).position(|other| *other == ']')? + 2;
    let (is_negated, members) = match pattern[1..end].split_first() {
        Some(('^', rest)) => (true, rest),
        _ => (false, &pattern[1..end]),
    };
    let mut is_member = false;
    let mut at = 0;
    while let Some(low) = members.get(at) {
        let high = members.get(at + 2).filter(|_| members.get(at + 1) == Some(&'-'));
        is_member |= (*low..=*high.unwrap_or(low)).contains(&character);
        at += if high.is_some() { 3 } else { 1 };
    }
    (is_member != is_negated).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str) -> Result<String, &'static str> {
        substitute(text, &|name| match name {
            "A" => Variable::Known("a.b.c"),
            "1A" | "é" => Variable::Known("x"),
            "SECRET" => Variable::Unknown,
            _ => Variable::Undefined,
        })
    }

    #[test]
    fn names_have_letters_of_any_script() {
        assert_eq!(with("${é}${1A}").as_deref(), Ok("xx"));
    }

    #[test]
    fn what_is_not_known_stays_as_it_is_written() {
        assert_eq!(with("${SECRET:-x${A}}-${A}").as_deref(), Ok("${SECRET:-x${A}}-a.b.c"));
        assert_eq!(with("${NONE:-${SECRET}}").as_deref(), Ok("${SECRET}"));
    }

    #[test]
    fn parts_are_removed_replaced_and_cut() {
        for (text, expected) in [
            ("${A#*.}", "b.c"),
            ("${A##*.}", "c"),
            ("${A%.*}", "a.b"),
            ("${A%%.*}", "a"),
            ("${A#[a-b].}", "b.c"),
            ("${A#[^a].}", "a.b.c"),
            ("${A//./${NONE:=-}}", "a-b-c"),
            ("${A//./}", "abc"),
            ("${A/#a/z}", "z.b.c"),
            ("${A/%c/z}", "a.b.z"),
            ("${A:2:1}", "b"),
            ("${A:2:99}", "b.c"),
            ("${A:-2}", "a.b.c"),
            ("${A:9}", ""),
            ("${#A}", "5"),
            ("${A^}", "A.b.c"),
            ("${A/\\//-}", "a.b.c"),
        ] {
            assert_eq!(with(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn wrong_and_hostile_expressions_are_refused() {
        let deep = "${A:=".repeat(10_000);
        for text in ["${A-x}", "${", "${A:}", "${A:-x", "${A/x}", "${A#}", "${A^x}", "${A:4:-3}", deep.as_str()] {
            assert!(with(text).is_err(), "{text:.20}");
        }
        let long = "x".repeat(3000);
        let value = |_: &str| Variable::Known(long.as_str());
        assert!(substitute("${A//x/${A//x/${A}}}", &value).is_err());
    }
}
