//! Which of two numbers is the larger, exactly, however long they are.

use std::cmp::Ordering;

use super::Number;

impl Number {
    /// The order of the values at full precision. `.nan` comes before everything, so that sorting has one answer.
    pub fn order(&self, other: &Self) -> Ordering {
        if let (Ok(a), Ok(b)) = (self.as_str().parse::<i64>(), other.as_str().parse::<i64>()) {
            return a.cmp(&b);
        }
        Magnitude::of(self).order(&Magnitude::of(other))
    }

    /// Whether the value is zero.
    pub fn is_zero(&self) -> bool {
        matches!(Magnitude::of(self), Magnitude::Zero)
    }
}

/// A number taken apart: `0.digits × 10^exponent`, without leading zeros in the digits.
enum Magnitude {
    NotANumber,
    Infinite { negative: bool },
    Zero,
    Finite { negative: bool, digits: String, exponent: i64 },
}

impl Magnitude {
    fn of(number: &Number) -> Self {
        let Some(text) = number.to_json() else {
            let text = number.as_str();
            let is_nan = text.to_ascii_lowercase().ends_with("nan");
            return if is_nan { Self::NotANumber } else { Self::Infinite { negative: text.starts_with('-') } };
        };
        let (negative, unsigned) = text.strip_prefix('-').map_or((false, &*text), |rest| (true, rest));
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = [whole, fraction].concat();
        let significant = digits.trim_start_matches('0');
        let leading = length(digits.len() - significant.len());
        let significant = significant.trim_end_matches('0');
        if significant.is_empty() {
            return Self::Zero;
        }
        let exponent = read_exponent(exponent).saturating_add(length(whole.len())).saturating_sub(leading);
        Self::Finite { negative, digits: significant.to_owned(), exponent }
    }

    fn order(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank()).then_with(|| match (self, other) {
            (
                Self::Finite { negative, digits, exponent },
                Self::Finite { digits: other_digits, exponent: other_exponent, .. },
            ) => {
                // Without trailing zeros, the order of digits is the order of texts.
                let order = exponent.cmp(other_exponent).then_with(|| digits.cmp(other_digits));
                if *negative { order.reverse() } else { order }
            }
            _ => Ordering::Equal,
        })
    }

    fn rank(&self) -> u8 {
        match self {
            Self::NotANumber => 0,
            Self::Infinite { negative: true } => 1,
            Self::Finite { negative: true, .. } => 2,
            Self::Zero => 3,
            Self::Finite { negative: false, .. } => 4,
            Self::Infinite { negative: false } => 5,
        }
    }
}

/// An exponent beyond all reason counts as the largest there is.
fn read_exponent(text: &str) -> i64 {
    let absurd = if text.starts_with('-') { i64::MIN / 4 } else { i64::MAX / 4 };
    text.parse::<i64>().ok().filter(|exponent| exponent.abs() < i64::MAX / 4).unwrap_or(absurd)
}

fn length(digits: usize) -> i64 {
    i64::try_from(digits).unwrap_or(i64::MAX / 4)
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
