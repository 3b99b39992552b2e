//! Numbers as they are written, of any size, compared by value without ever being rounded.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use smol_str::SmolStr;

use super::decimal::Decimal;
use super::natural::Natural;

/// A number in its own spelling: decimal, `0x…`, `0o…`, or one of `.inf`, `-.inf`, `.nan`.
#[derive(Clone, Debug)]
pub struct Number {
    text: SmolStr,
}

/// Converting a radix costs the square of the length, for every number of a file, so longer hexadecimal and octal numbers are
/// not numbers to us.
const LONGEST_RADIX_NUMBER: usize = 256;

impl Number {
    /// Reads a plain YAML 1.2 core scalar; `None` if the core schema does not call it a number.
    pub fn from_yaml(text: &str) -> Option<Self> {
        is_yaml_number(text).then(|| Self { text: text.into() })
    }

    /// Reads a JSON number, with JSON's stricter grammar.
    pub fn from_json(text: &str) -> Option<Self> {
        is_json_number(text).then(|| Self { text: text.into() })
    }

    /// The number as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is written as an integer: no point, no exponent, not infinite.
    pub fn is_integer(&self) -> bool {
        radix_digits(&self.text).is_some() || !self.text.contains(['.', 'e', 'E'])
    }

    /// Same type and digits: what "identical" means. `0x10` and `16` are identical, `1.0` and `1.00` are not.
    pub fn is_identical(&self, other: &Self) -> bool {
        if self.text == other.text {
            return true;
        }
        match (self.to_json(), other.to_json()) {
            (Some(a), Some(b)) => a == b && self.is_integer() == other.is_integer(),
            (None, None) => self.decimal() == other.decimal(),
            _ => false,
        }
    }

    /// Same value at full precision: what "equal" means. `.nan` equals itself, so that a file equals itself.
    pub fn is_equal(&self, other: &Self) -> bool {
        self.text == other.text || self.decimal() == other.decimal()
    }

    /// The number in JSON's grammar without loss: radix numbers in decimal, `.5` as `0.5`. `None` for `.inf` and `.nan`, which
    /// JSON cannot say.
    pub fn to_json(&self) -> Option<Cow<'_, str>> {
        if is_json_number(&self.text) {
            return Some(Cow::Borrowed(&self.text));
        }
        if let Some((radix, digits)) = radix_digits(&self.text) {
            return Some(Cow::Owned(Natural::from_radix(radix, digits).to_digits()));
        }
        let (sign, rest) = split_sign(&self.text);
        if is_special(rest) {
            return None;
        }
        let (mantissa, exponent) = rest.split_at(rest.find(['e', 'E']).unwrap_or(rest.len()));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let whole = match whole.trim_start_matches('0') {
            "" => "0",
            trimmed => trimmed,
        };
        let fraction = match fraction {
            "" if mantissa.contains('.') => ".0".to_owned(),
            "" => String::new(),
            digits => format!(".{digits}"),
        };
        let sign = if sign == "-" { "-" } else { "" };
        Some(Cow::Owned(format!("{sign}{whole}{fraction}{exponent}")))
    }

    /// Feeds the value, not the spelling, to a hasher: equal numbers hash alike.
    pub fn hash_value(&self, hasher: &mut impl Hasher) {
        self.decimal().hash(hasher);
    }

    /// Whether the value is zero.
    pub fn is_zero(&self) -> bool {
        self.decimal().is_zero()
    }

    /// The order of the values at full precision. `.nan` comes before everything, so that sorting has one answer.
    pub fn order(&self, other: &Self) -> Ordering {
        if let (Ok(a), Ok(b)) = (self.text.parse::<i64>(), other.text.parse::<i64>()) {
            return a.cmp(&b);
        }
        self.decimal().cmp(&other.decimal())
    }

    /// The number taken apart, one form per value.
    pub(super) fn decimal(&self) -> Decimal<'_> {
        Decimal::read(self)
    }
}

pub(super) fn split_sign(text: &str) -> (&str, &str) {
    text.split_at(usize::from(text.starts_with(['-', '+'])))
}

pub(super) fn is_special(unsigned: &str) -> bool {
    matches!(unsigned, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN")
}

pub(super) fn radix_digits(text: &str) -> Option<(u32, &str)> {
    let (radix, digits) = match text.as_bytes() {
        [b'0', b'x', ..] => (16, &text[2..]),
        [b'0', b'o', ..] => (8, &text[2..]),
        _ => return None,
    };
    let valid = !digits.is_empty() && digits.len() <= LONGEST_RADIX_NUMBER && digits.chars().all(|c| c.is_digit(radix));
    valid.then_some((radix, digits))
}

/// YAML 1.2 core schema: `[-+]?[0-9]+`, `0o[0-7]+`, `0x[0-9a-fA-F]+`, decimals with optional exponent, infinities, `.nan`.
fn is_yaml_number(text: &str) -> bool {
    // Most scalars are words: decide on the first byte.
    if !matches!(text.as_bytes().first(), Some(b'0'..=b'9' | b'-' | b'+' | b'.')) {
        return false;
    }
    if radix_digits(text).is_some() {
        return true;
    }
    let (sign, rest) = split_sign(text);
    if is_special(rest) {
        return sign.is_empty() || !rest.eq_ignore_ascii_case(".nan");
    }
    let (mantissa, exponent) = rest.split_at(rest.find(['e', 'E']).unwrap_or(rest.len()));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole) && digits(fraction) && (!whole.is_empty() || !fraction.is_empty()) && is_exponent(exponent)
}

fn is_json_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_at(unsigned.find(['e', 'E']).unwrap_or(unsigned.len()));
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && is_exponent(exponent)
}

/// Nothing, or `e`, an optional sign and digits.
fn is_exponent(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(['e', 'E']) else { return text.is_empty() };
    let (_, digits) = split_sign(rest);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::from_yaml(text).unwrap_or_else(|| panic!("{text} is a number"))
    }

    #[test]
    fn equal_is_by_value_at_full_precision() {
        for (a, b) in [
            ("1.0", "1"),
            ("1e3", "1000.0"),
            ("0x10", "16"),
            ("0o14", "12"),
            ("-0", "0.0"),
            ("+1", "1"),
            (".5", "0.50"),
            ("1_0".trim_matches('_').trim_end_matches("_0"), "1"),
            (".nan", ".NaN"),
            (".inf", "+.Inf"),
            ("010", "10"),
            ("0xffffffffffffffffffffffff", "79228162514264337593543950335"),
            ("0e999999999999999999999", "0"),
            ("1e99999999999999999999", "1e99999999999999999999"),
        ] {
            assert!(number(a).is_equal(&number(b)), "{a} = {b}");
        }
        for (a, b) in [
            ("9007199254740993", "9007199254740992"),
            ("1.1", "1.10000000000000000000001"),
            (".inf", "-.inf"),
            ("1", "-1"),
            ("1e400", "1e401"),
            ("10", "1"),
            ("12345678901234567890", "12345678901234567891"),
        ] {
            assert!(!number(a).is_equal(&number(b)), "{a} ≠ {b}");
        }
    }

    #[test]
    fn identical_is_by_type_and_digits() {
        assert!(number("0x10").is_identical(&number("16")));
        assert!(!number("1.10").is_identical(&number("1.1")));
        assert!(!number("1").is_identical(&number("1.0")));
        assert!(!number(".inf").is_identical(&number("-.inf")));
        assert!(!number(".inf").is_identical(&number(".nan")));
        assert!(number(".inf").is_identical(&number("+.Inf")));
    }

    #[test]
    fn identical_numbers_are_equal() {
        let absurd = "1e99999999999999999999";
        for text in ["+1", "007", "1.", absurd] {
            let (a, b) = (number(text), number(&format!("+{}", text.trim_start_matches('+'))));
            assert!(a.is_identical(&b) && a.is_equal(&b), "{text}");
        }
    }

    #[test]
    fn what_the_core_schema_calls_a_number() {
        for text in
            ["0", "-12", "+3", "08", "0777", "1.", ".5", "1.5e-3", "1E5", "0x1F", "0o7", ".inf", "-.INF", ".nan"]
        {
            assert!(Number::from_yaml(text).is_some(), "{text}");
        }
        for text in
            ["", "-", "+", ".", "1_000", "0x", "0xg", "0o8", "1e", "e5", "1.2.3", "-.nan", "12:30", "0b1", "-0x1", "٣"]
        {
            assert!(Number::from_yaml(text).is_none(), "{text}");
        }
    }

    #[test]
    fn json_text_is_lossless() {
        for (text, json) in
            [("0x10", "16"), (".5", "0.5"), ("1.", "1.0"), ("+007", "7"), ("1.10", "1.10"), ("-.5e3", "-0.5e3")]
        {
            assert_eq!(number(text).to_json().as_deref(), Some(json));
        }
        assert_eq!(number(".inf").to_json(), None);
    }
}
