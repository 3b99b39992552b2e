//! Fast search in bytes, for prefilters that decide whether a file must be parsed.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memmem};

/// Whether a text has a word.
pub fn contains(text: &[u8], word: &[u8]) -> bool {
    memmem::find(text, word).is_some()
}

/// Whether a text has a byte.
pub fn has_byte(text: &[u8], byte: u8) -> bool {
    memchr(byte, text).is_some()
}

/// The offsets of a byte in a text.
pub fn positions(text: &[u8], byte: u8) -> impl Iterator<Item = usize> {
    memchr_iter(byte, text)
}

/// The offsets of a word in a text.
pub fn occurrences<'t>(text: &'t [u8], word: &'t [u8]) -> impl Iterator<Item = usize> + 't {
    memmem::find_iter(text, word)
}

/// Whether a text has a name, also one that is written with escapes.
pub fn mentions(text: &str, name: &str) -> bool {
    text.contains(name) || text.contains('\\') && unescaped(text).contains(name)
}

/// The text with `\u0053` and `\x53` replaced by what they mean, as far as that is a letter.
pub fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains("\\u") && !text.contains("\\x") && !text.contains("\\U") {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let length = match rest.as_bytes().get(at + 1) {
            Some(b'x') => 2,
            Some(b'u') => 4,
            Some(b'U') => 8,
            _ => 0,
        };
        let digits = rest.get(at + 2..at + 2 + length).filter(|_| length > 0);
        let meant = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32);
        match meant {
            Some(letter) => {
                plain.push(letter);
                rest = &rest[at + 2 + length..];
            }
            None => {
                plain.push('\\');
                rest = &rest[at + 1..];
            }
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Whether an escape such as `\x2b`, `\u002b` or `\U0000002b`, given without its backslash, encodes one of these letters.
pub fn is_escape_of(letters: &[u8], escape: &[u8]) -> bool {
    let Some((kind, digits)) = escape.split_first() else { return false };
    let length = match kind {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        _ => return false,
    };
    let Some(Ok(digits)) = digits.get(..length).map(std::str::from_utf8) else { return false };
    let letter = u32::from_str_radix(digits, 16).ok().and_then(|code| u8::try_from(code).ok());
    letter.is_some_and(|letter| letters.contains(&letter))
}

/// Whether a word of a YAML or JSON text may be a whole key of a map, judged by what is around it. A no is certain.
pub fn may_be_key(text: &[u8], word: Range<usize>) -> bool {
    let (mut before, mut after) = (&text[..word.start], &text[word.end..]);
    let quote = before.last().copied().filter(|byte| matches!(byte, b'"' | b'\''));
    match quote {
        Some(quote) if after.first() != Some(&quote) => return false,
        Some(_) => (before, after) = (&before[..before.len() - 1], &after[1..]),
        // More of the same plain scalar.
        None if before.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(byte)) => {
            return false;
        }
        None => {}
    }
    let before = before.trim_ascii_end();
    match after.trim_ascii_start().first() {
        Some(b':' | b'#') => true,
        // A comment, where JSON has some.
        Some(b'/') if quote.is_some() => true,
        // A key without a value.
        Some(b',' | b'}') if matches!(before.last(), Some(b'{' | b',')) => true,
        _ => before.last() == Some(&b'?') || follows_property(before),
    }
}

/// Whether a text ends with a tag or an anchor, which an alias may use as a key elsewhere.
fn follows_property(text: &[u8]) -> bool {
    const LONG: usize = 256;
    let length = text.iter().rev().take(LONG).take_while(|byte| !byte.is_ascii_whitespace()).count();
    let last = &text[text.len() - length..];
    length == LONG || last.iter().any(|byte| matches!(byte, b'&' | b'!'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_behind_escapes() {
        assert!(mentions(r#""pass\u0077ord": 1"#, "password") && mentions("password: 1", "password"));
        assert!(mentions(r#""p\x61ss""#, "pass") && !mentions(r"\u00", "pass"));
    }
}
