//! The value of a number, whatever its spelling: equality, hashes, order and arithmetic are defined on it.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::Number;
use super::natural::Natural;
use super::number::{is_special, radix_digits, split_sign};

/// A number taken apart, in one form per value, so that equality, hashing and order agree.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(super) enum Decimal<'a> {
    /// `.nan`.
    NotANumber,
    /// `.inf` or `-.inf`.
    Infinite { is_negative: bool },
    /// `digits × 10^exponent`, the digits without zeros at either end; zero is the digit `0` with exponent 0 and no sign.
    Finite { is_negative: bool, digits: Cow<'a, str>, exponent: i64 },
    /// An exponent far beyond any real number: the JSON spelling is taken as the value.
    Absurd { is_negative: bool, is_large: bool, text: Cow<'a, str> },
}

impl<'a> Decimal<'a> {
    /// Takes a number apart. Integers without zeros at their ends are not copied.
    pub(super) fn read(number: &'a Number) -> Self {
        let text = number.as_str();
        if let Some((radix, digits)) = radix_digits(text) {
            return Self::finite(false, Cow::Owned(Natural::from_radix(radix, digits).to_digits()), 0);
        }
        let (sign, rest) = split_sign(text);
        let is_negative = sign == "-";
        if is_special(rest) {
            let is_nan = rest.eq_ignore_ascii_case(".nan");
            return if is_nan { Self::NotANumber } else { Self::Infinite { is_negative } };
        }
        let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = if fraction.is_empty() { Cow::Borrowed(whole) } else { Cow::Owned([whole, fraction].concat()) };
        match exponent.parse::<i64>() {
            // Far from overflow: a mantissa is never longer than a file.
            Ok(exponent) if exponent.abs() < 1 << 40 => Self::finite(is_negative, digits, exponent - length(fraction)),
            _ if digits.bytes().all(|digit| digit == b'0') => Self::finite(false, digits, 0),
            _ => {
                let text = number.to_json().unwrap_or(Cow::Borrowed(text));
                Self::Absurd { is_negative, is_large: !exponent.starts_with('-'), text }
            }
        }
    }

    fn finite(is_negative: bool, digits: Cow<'a, str>, exponent: i64) -> Self {
        let leading = digits.len() - digits.trim_start_matches('0').len();
        let kept = digits.trim_end_matches('0').len();
        if kept <= leading {
            return Self::Finite { is_negative: false, digits: Cow::Borrowed("0"), exponent: 0 };
        }
        let dropped = length(&digits[kept..]);
        let digits = match digits {
            Cow::Borrowed(text) => Cow::Borrowed(&text[leading..kept]),
            Cow::Owned(text) => Cow::Owned(text[leading..kept].to_owned()),
        };
        Self::Finite { is_negative, digits, exponent: exponent + dropped }
    }

    pub(super) fn is_zero(&self) -> bool {
        matches!(self, Self::Finite { digits, .. } if digits == "0")
    }

    /// Which of two numbers is larger; none where one of them is not a number, or too absurd to be compared.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        let has_order = |decimal: &Self| matches!(decimal, Self::Finite { .. } | Self::Infinite { .. });
        let is_same = self == other && *self != Self::NotANumber;
        (is_same || has_order(self) && has_order(other)).then(|| self.cmp(other))
    }

    /// Groups of numbers in ascending order.
    fn rank(&self) -> i8 {
        let (is_negative, size) = match self {
            Self::NotANumber => return i8::MIN,
            Self::Finite { .. } if self.is_zero() => return 0,
            Self::Absurd { is_negative, is_large: false, .. } => (is_negative, 1),
            Self::Finite { is_negative, .. } => (is_negative, 2),
            Self::Absurd { is_negative, is_large: true, .. } => (is_negative, 3),
            Self::Infinite { is_negative } => (is_negative, 4),
        };
        if *is_negative { -size } else { size }
    }
}

impl Ord for Decimal<'_> {
    /// By value; `.nan` comes first, and absurd numbers of one sign and direction are ordered by their texts.
    fn cmp(&self, other: &Self) -> Ordering {
        let size = |digits: &str, exponent: i64| exponent.saturating_add(length(digits));
        self.rank().cmp(&other.rank()).then_with(|| match (self, other) {
            (Self::Finite { is_negative, digits: a, exponent }, Self::Finite { digits: b, exponent: other, .. }) => {
                // Without zeros at the end, the order of digits is the order of texts.
                let order = size(a, *exponent).cmp(&size(b, *other)).then_with(|| a.cmp(b));
                if *is_negative { order.reverse() } else { order }
            }
            (Self::Absurd { text: a, .. }, Self::Absurd { text: b, .. }) => a.cmp(b),
            _ => Ordering::Equal,
        })
    }
}

impl PartialOrd for Decimal<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn length(digits: &str) -> i64 {
    i64::try_from(digits.len()).unwrap_or(i64::MAX >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ordered_by_value_without_rounding() {
        let ascending = [
            ".nan",
            "-.inf",
            "-1e400",
            "-10",
            "-9.5",
            "-9",
            "-0.001",
            "0",
            "1e-999999999999999999999",
            "0.001",
            "0.01",
            "0x1",
            "1.0000000000000000000001",
            "2",
            "9007199254740992",
            "9007199254740993",
            "9007199254740993.5",
            "1e400",
            "1e999999999999999999999",
            ".inf",
        ];
        let numbers: Vec<Number> = ascending.iter().map(|text| Number::from_yaml(text).unwrap()).collect();
        for (a, first) in numbers.iter().enumerate() {
            for (b, second) in numbers.iter().enumerate() {
                assert_eq!(first.order(second), a.cmp(&b), "{} and {}", ascending[a], ascending[b]);
            }
        }
    }

    #[test]
    fn spellings_of_one_value_are_level() {
        for (a, b) in [("1", "1.00"), ("1e3", "1000"), ("0x10", "16"), ("-0", "0.0"), ("120e-1", "12")] {
            let (a, b) = (Number::from_yaml(a).unwrap(), Number::from_yaml(b).unwrap());
            assert_eq!(a.order(&b), Ordering::Equal);
        }
        assert!(Number::from_yaml("-0.00").unwrap().is_zero());
    }
}
