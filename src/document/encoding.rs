//! Decodes bytes as UTF-8, or as UTF-16 if there is a byte order mark.

use std::borrow::Cow;

/// Bytes that are not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset} is not {encoding} text")]
pub struct EncodingError {
    /// The first byte that is not text, from 0.
    pub offset: usize,
    /// The assumed encoding: `UTF-8` or `UTF-16`.
    pub encoding: &'static str,
}

/// Decodes bytes. The byte order mark is not part of the text, so that spans count from after it.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, EncodingError> {
    match bytes {
        // The mark of UTF-32 starts like that of UTF-16; UTF-32 is not supported.
        [0xff, 0xfe, 0, 0, ..] => Err(EncodingError { offset: 0, encoding: "UTF-8 or UTF-16" }),
        [0xff, 0xfe, units @ ..] => utf16(units, u16::from_le_bytes).map(Cow::Owned),
        [0xfe, 0xff, units @ ..] => utf16(units, u16::from_be_bytes).map(Cow::Owned),
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8(rest, 3).map(Cow::Borrowed),
        rest => utf8(rest, 0).map(Cow::Borrowed),
    }
}

fn utf8(bytes: &[u8], mark: usize) -> Result<&str, EncodingError> {
    std::str::from_utf8(bytes).map_err(|error| EncodingError { offset: mark + error.valid_up_to(), encoding: "UTF-8" })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, EncodingError> {
    const MARK: usize = 2;
    let refuse = |offset| EncodingError { offset: MARK + offset, encoding: "UTF-16" };
    let (pairs, odd) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len() / 2);
    let mut offset = 0;
    for unit in char::decode_utf16(pairs.iter().map(|&pair| unit(pair))) {
        let c = unit.map_err(|_| refuse(offset))?;
        offset += 2 * c.len_utf16();
        text.push(c);
    }
    if odd.is_empty() { Ok(text) } else { Err(refuse(offset)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_byte_order_mark_is_not_text() {
        assert_eq!(decode(b"\xef\xbb\xbfa: 1").unwrap(), "a: 1");
        assert_eq!(decode(b"\xff\xfea\0:\0").unwrap(), "a:");
        assert_eq!(decode(b"\xfe\xff\0a\xd8\x3d\xde\0").unwrap(), "a😀");
        assert_eq!(decode(b"").unwrap(), "");
    }

    #[test]
    fn the_first_byte_that_is_not_text_is_named() {
        let offset = |bytes| decode(bytes).unwrap_err().offset;
        assert_eq!(offset(b"ab\xffc"), 2);
        assert_eq!(offset(b"\xef\xbb\xbfab\xc3"), 5);
        assert_eq!(offset(b"\xff\xfea\0\x00\xd8a\0"), 4);
        assert_eq!(offset(b"\xff\xfea\0b"), 4);
        assert_eq!(offset(b"\xff\xfe\0\0a\0\0\0"), 0);
        assert_eq!(decode(b"\xff").unwrap_err().to_string(), "byte 0 is not UTF-8 text");
    }

    proptest! {
        #[test]
        fn any_bytes_are_text_or_an_error_within_them(bytes in any::<Vec<u8>>()) {
            if let Err(error) = decode(&bytes) {
                prop_assert!(error.offset < bytes.len());
            }
        }

        #[test]
        fn text_survives_every_encoding(text in any::<String>()) {
            prop_assume!(!text.starts_with(['\0', '\u{feff}']));
            let mut little = vec![0xff, 0xfe];
            let mut big = vec![0xfe, 0xff];
            for unit in text.encode_utf16() {
                little.extend(unit.to_le_bytes());
                big.extend(unit.to_be_bytes());
            }
            prop_assert_eq!(decode(&little).unwrap(), text.as_str());
            prop_assert_eq!(decode(&big).unwrap(), text.as_str());
            prop_assert_eq!(decode(text.as_bytes()).unwrap(), text.as_str());
        }
    }
}
