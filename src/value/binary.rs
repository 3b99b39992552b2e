//! Bytes as values: what is neither text nor data.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Extra, Node};
use crate::text::Span;

impl Node {
    /// A value of bytes: text in base64 with the tag that YAML has for it.
    pub fn bytes(bytes: &[u8], span: Span) -> Self {
        let extra = Extra { tag: Some("tag:yaml.org,2002:binary".into()), ..Extra::default() };
        Self { extra: Some(Arc::new(extra)), ..Self::text(base64(bytes), span) }
    }
}

/// RFC 4648, with padding.
pub fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0u32, |group, &byte| group << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let sextet = (group >> (18 - 6 * at)) as usize & 63;
            text.push(if at <= chunk.len() { char::from(ALPHABET[sextet]) } else { '=' });
        }
    }
    text
}

/// Longer texts are not decoded.
const LONGEST: usize = 1 << 20;

/// The text behind base64, also if it is wrapped; nothing for what is no base64, or no text.
pub fn text_of_base64(text: &str) -> Option<String> {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=');
    let trimmed = text.trim();
    if trimmed.len() < 8 || trimmed.len() > LONGEST || !trimmed.bytes().all(|byte| is_digit(byte) || byte == b'\n') {
        return None;
    }
    let digits: Cow<'_, str> =
        if trimmed.contains('\n') { trimmed.replace('\n', "").into() } else { Cow::Borrowed(trimmed) };
    let digits = digits.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    let (mut value, mut bits, mut expected) = (0_u32, 0, 0);
    for digit in digits.bytes() {
        value = (value << 6 | u32::from(worth(digit)?)) & 0xff_ffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            let byte = u8::try_from(value >> bits & 0xff).ok()?;
            expected = continuation(expected, byte)?;
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok().filter(|text| text.chars().all(|c| !c.is_control() || c.is_whitespace()))
}

/// How many bytes of a character are to come after a byte, where so many were to come before it; nothing if no text goes on so. Names
/// and digests look like base64, and most of them end here after a few bytes.
fn continuation(expected: u8, byte: u8) -> Option<u8> {
    match byte {
        0x80..=0xbf => expected.checked_sub(1),
        _ if expected > 0 => None,
        b'\t'..=b'\r' | b' '..=b'~' => Some(0),
        0xc2..=0xdf => Some(1),
        0xe0..=0xef => Some(2),
        0xf0..=0xf4 => Some(3),
        _ => None,
    }
}

fn worth(digit: u8) -> Option<u8> {
    Some(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded_where_it_is_text() {
        assert_eq!(text_of_base64("aHVudGVyMg==").as_deref(), Some("hunter2"));
        assert_eq!(text_of_base64("aHVu\ndGVyMg").as_deref(), Some("hunter2"));
        assert_eq!(text_of_base64(&base64("größer ✓ 𝄞\r\n".as_bytes())).as_deref(), Some("größer ✓ 𝄞\r\n"));
        for text in [
            "aGk=",
            "not base64 at all",
            "AAAAAAAAAAAA",
            "",
            &base64(b"half a char \xc3"),
            &base64(b"not one \xc3("),
            &base64("control \u{80}".as_bytes()),
        ] {
            assert_eq!(text_of_base64(text), None, "{text}");
        }
    }
}
