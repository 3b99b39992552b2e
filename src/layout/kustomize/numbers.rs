//! Numbers as Go has them: integers of 64 bits, and doubles with as few digits as they need.

use smol_str::SmolStr;

use crate::value::Number;

/// The number after its way through a double; `None` if that is the same number.
pub(super) fn as_double(number: &Number) -> Option<Number> {
    let double: f64 = number.as_str().parse().ok().filter(|double: &f64| double.is_finite())?;
    let rounded = shortest(double)?;
    (!rounded.is_equal(number)).then_some(rounded)
}

/// An integer of more than 64 bits, which is a double; `None` for any other number.
pub(super) fn beyond_integers(number: &Number) -> Option<Number> {
    let is_integer = |text: &str| text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok();
    if !number.is_integer() || is_integer(number.as_str()) {
        return None;
    }
    as_double(number)
}

/// A number as it is printed where a text is needed: whole numbers without a fraction, large ones with an exponent.
pub(super) fn printed(number: &Number) -> SmolStr {
    let text = number.as_str();
    let is_small = |text: &str| text.parse::<i64>().is_ok_and(|number| number.to_string() == text);
    let Some(double) = text.parse::<f64>().ok().filter(|_| !is_small(text)) else { return text.into() };
    let scientific = format!("{double:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return text.into() };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..21).contains(&exponent) || number.is_integer() && exponent >= 18 => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs()).into()
        }
        _ => double.to_string().into(),
    }
}

fn shortest(double: f64) -> Option<Number> {
    Number::from_json(&format!("{double:e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::from_yaml(text).unwrap()
    }

    #[test]
    fn doubles_have_as_few_digits_as_they_need() {
        let double = |text: &str| as_double(&number(text));
        assert!(double("12345678901234567890").unwrap().is_equal(&number("12345678901234567000")));
        assert!(double("7").is_none() && double("1.5").is_none());
        assert!(beyond_integers(&number("18446744073709551615")).is_none());
        assert!(beyond_integers(&number("18446744073709551616")).unwrap().is_equal(&number("18446744073709552000")));
    }

    #[test]
    fn numbers_are_printed_as_texts() {
        for (text, expected) in [
            ("1.0", "1"),
            ("1e3", "1000"),
            ("7", "7"),
            ("1.10", "1.1"),
            ("12345678901234567890", "1.2345678901234567e+19"),
        ] {
            assert_eq!(printed(&number(text)), expected);
        }
    }
}
