//! Decides which texts need no quotes: those that every YAML reader reads as this text.

use crate::value::Value;

use super::super::scalar as core_schema;

/// Whether a text needs no quotes: it is the same string in YAML 1.2 and in YAML 1.1, which many readers still implement.
pub(super) fn is_plain(text: &str, is_in_flow: bool) -> bool {
    is_plain_shape(text, is_in_flow) && is_text_in_core_schema(text) && !is_special_in_yaml_1_1(text)
}

/// Whether the characters allow a plain scalar: no indicator at the start, and nothing inside that ends it.
fn is_plain_shape(text: &str, is_in_flow: bool) -> bool {
    let bytes = text.as_bytes();
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return false };
    let starts_well = match first {
        b'-' => bytes.len() > 1 && !matches!(bytes[1], b' ' | b',' | b'[' | b']' | b'{' | b'}'),
        b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' => false,
        b'|' | b'>' | b'\'' | b'"' | b'%' | b'@' | b'`' | b' ' => false,
        _ => true,
    };
    // YAML 1.1 ends a plain scalar inside brackets at `?` too.
    let is_flow_indicator = |byte: &u8| matches!(byte, b',' | b'[' | b']' | b'{' | b'}' | b'?');
    starts_well
        && !matches!(last, b' ' | b':')
        && !text.starts_with("---")
        && !text.starts_with("...")
        && !text.contains(": ")
        && !text.contains(" #")
        && !(is_in_flow && bytes.iter().any(is_flow_indicator))
        && !text.chars().any(|c| matches!(c, '\n' | '\t') || super::scalar::must_be_escaped(c))
}

fn is_text_in_core_schema(text: &str) -> bool {
    matches!(core_schema::resolve(text), Value::String(_)) && !core_schema::is_overlong_number(text)
}

fn is_special_in_yaml_1_1(text: &str) -> bool {
    const WORDS: [&str; 8] = ["y", "n", "yes", "no", "on", "off", "=", "<<"];
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word)) || is_number_in_yaml_1_1(text) || is_date(text)
}

/// Underscores between digits, base 2, base 60 (`12:30`), and exponents as YAML 1.1 has them.
fn is_number_in_yaml_1_1(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return false;
    }
    let digits_of = |digits: &str, radix| digits.chars().all(|c| c == '_' || c.is_digit(radix));
    if let Some(rest) = unsigned.strip_prefix('0')
        && let Some((radix, digits)) = match rest.split_at_checked(1) {
            Some(("b", digits)) => Some((2, digits)),
            Some(("o", digits)) => Some((8, digits)),
            Some(("x", digits)) => Some((16, digits)),
            _ => None,
        }
    {
        return digits_of(digits, radix);
    }
    if matches!(unsigned.to_ascii_lowercase().as_str(), ".inf" | ".nan") {
        return true;
    }
    let (mantissa, exponent) = unsigned.split_at(unsigned.find(['e', 'E']).unwrap_or(unsigned.len()));
    let exponent = exponent.get(1..).unwrap_or("0");
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    whole.split(':').all(|part| digits_of(part, 10))
        && digits_of(fraction, 10)
        && !exponent.is_empty()
        && digits_of(exponent, 10)
}

/// `2001-12-14`, alone or with a time after it.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let year = parts.next().is_some_and(|year| year.len() == 4 && digits(year));
    let month = parts.next().is_some_and(|month| month.len() <= 2 && digits(month));
    year && month && parts.next().is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_names_need_no_quotes() {
        for text in [
            "a",
            "web-1",
            "nginx:1.29",
            "1.2.3",
            "v1",
            "a b",
            "http://x/y?z=1#f",
            "/a/b",
            "$x",
            "-x",
            "500m",
            "128Mi",
            "a,b",
            "naïve",
            "•••",
            "1.2.3.4/24",
            "app.kubernetes.io/name",
            "_",
            "a#b",
            "(x)",
            "2024-q1",
            "1e",
            "0b2",
        ] {
            assert!(is_plain(text, false), "{text}");
        }
    }

    #[test]
    fn what_some_reader_takes_for_something_else_is_quoted() {
        for text in [
            "",
            " a",
            "a ",
            "a: b",
            "a:",
            "a #b",
            "- a",
            "-",
            "?",
            ": a",
            ":8080",
            "[a",
            "{a",
            "#a",
            "&a",
            "*a",
            "!a",
            "|",
            ">",
            "'a",
            "\"a",
            "%a",
            "@a",
            "`a",
            ",a",
            "---",
            "--- a",
            "...",
            "a\nb",
            "a\tb",
            "a\u{202e}",
            "\u{feff}",
            "~",
            "null",
            "Null",
            "true",
            "FALSE",
            "yes",
            "No",
            "on",
            "OFF",
            "y",
            "N",
            "1",
            "-1",
            "+1",
            "0x1f",
            "0o7",
            "017",
            "1_000",
            "0b11",
            "-0x1F",
            "12:30",
            "12:30:45",
            "190:20:30.15",
            "1.5",
            "1e3",
            "1.5e+3",
            ".5",
            ".inf",
            "-.INF",
            ".NaN",
            "2001-12-14",
            "2001-12-14t21:59:43.10-05:00",
            "2001-1-1 10:00:00",
            "=",
            "<<",
            ".",
            "6.8523015e+5",
        ] {
            assert!(!is_plain(text, false), "{text}");
        }
    }

    #[test]
    fn brackets_and_commas_are_quoted_inside_brackets() {
        for text in ["a,b", "a[0]", "a{b}", "x]", "a?b=1"] {
            assert!(is_plain(text, false) && !is_plain(text, true), "{text}");
        }
    }
}
