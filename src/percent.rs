//! Percent escapes of URLs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Everything but the unreserved characters of RFC 3986.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// Everything but what the path of a URL may hold.
const PATH: &AsciiSet = &COMPONENT
    .remove(b'/')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');
/// Everything but what the query or the fragment of a URL may hold.
const QUERY: &AsciiSet = &PATH.remove(b'?');

/// Escapes a text that is a single part of a URL, such as the name or the value of a query parameter.
pub fn escape_component(text: &str) -> String {
    utf8_percent_encode(text, COMPONENT).to_string()
}

/// Escapes the path of a URL; slashes are kept.
pub fn escape_path(text: &str) -> String {
    utf8_percent_encode(text, PATH).to_string()
}

/// Escapes a whole query or fragment of a URL; its separators are kept.
pub fn escape_query(text: &str) -> String {
    utf8_percent_encode(text, QUERY).to_string()
}

/// The text without its percent escapes; none if an escape is malformed or the bytes are not UTF-8.
pub fn unescape(text: &str) -> Option<String> {
    let is_escape = |rest: &str| rest.len() >= 2 && rest.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    if !text.split('%').skip(1).all(is_escape) {
        return None;
    }
    Some(percent_decode_str(text).decode_utf8().ok()?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_part_of_a_url_keeps_what_it_may_hold() {
        let text = "a-_.~ b/!$&'()*+,;=:@?#é%";
        assert_eq!(escape_component(text), "a-_.~%20b%2F%21%24%26%27%28%29%2A%2B%2C%3B%3D%3A%40%3F%23%C3%A9%25");
        assert_eq!(escape_path(text), "a-_.~%20b/!$&'()*+,;=:@%3F%23%C3%A9%25");
        assert_eq!(escape_query(text), "a-_.~%20b/!$&'()*+,;=:@?%23%C3%A9%25");
    }

    #[test]
    fn malformed_escapes_are_refused() {
        assert_eq!(unescape("a%2Fb%c3%A9").as_deref(), Some("a/bé"));
        for wrong in ["%", "a%2", "%zz", "%+1", "%ff", "%%20"] {
            assert_eq!(unescape(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn escaped_text_reads_back(text in "\\PC{0,40}") {
            for escaped in [escape_component(&text), escape_path(&text), escape_query(&text)] {
                prop_assert_eq!(unescape(&escaped), Some(text.clone()));
            }
        }
    }
}
