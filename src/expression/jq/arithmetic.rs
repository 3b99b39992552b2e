//! Numbers in jq: integers exactly, everything else as jq calculates, and never a rounded input.

use std::borrow::Cow;

use super::budget::{Abort, abort};
use crate::value::Number;

/// Calculates with two numbers: exactly where both are integers, otherwise in floating point.
pub(super) fn calculate(
    left: &Number,
    right: &Number,
    exact: fn(i128, i128) -> Option<i128>,
    float: fn(f64, f64) -> f64,
) -> Number {
    match (integer(left), integer(right)) {
        (Some(a), Some(b)) => exact(a, b).map_or_else(|| abort(Abort::Inexact(left.as_str().into())), of_integer),
        _ => of_float(float(to_float(left), to_float(right))),
    }
}

/// The quotient; an exact one of integers stays an integer.
pub(super) fn divide(left: &Number, right: &Number) -> Number {
    match (integer(left), integer(right)) {
        (Some(a), Some(b)) if b != 0 && a.checked_rem(b) == Some(0) => {
            a.checked_div(b).map_or_else(|| abort(Abort::Inexact(left.as_str().into())), of_integer)
        }
        _ => of_float(to_float(left) / to_float(right)),
    }
}

/// The remainder of the whole parts, with the sign of the left; nothing if the right has no whole part.
pub(super) fn remainder(left: &Number, right: &Number) -> Option<Number> {
    let (a, b) = (whole(left)?, whole(right)?);
    if b == 0 {
        return None;
    }
    Some(of_integer(a.checked_rem(b).unwrap_or(0)))
}

/// The number with the other sign.
pub(super) fn negate(number: &Number) -> Number {
    let Some(text) = number.to_json() else { return of_float(-to_float(number)) };
    let negated = text.strip_prefix('-').map_or_else(|| format!("-{text}"), str::to_owned);
    Number::from_json(&negated).unwrap_or_else(|| number.clone())
}

/// The number in floating point; a run that would have to round it ends.
pub(super) fn to_float(number: &Number) -> f64 {
    let Some(text) = number.to_json() else { return special(number) };
    let float: f64 = text.parse().unwrap_or(f64::NAN);
    if !float.is_finite() || !of_float(float).is_equal(number) {
        abort(Abort::Inexact(number.as_str().into()));
    }
    float
}

/// The integer, if the value is one that fits.
pub(super) fn integer(number: &Number) -> Option<i128> {
    if let Ok(small) = number.as_str().parse::<i64>() {
        return Some(small.into());
    }
    let text = number.to_json()?;
    if let Ok(integer) = text.parse() {
        return Some(integer);
    }
    // `1.0` and `1e3` are integers as well; longer ones are not needed.
    let float: f64 = text.parse().ok().filter(|float: &f64| float.fract() == 0.0 && float.abs() < 1e15)?;
    let exact = of_float(float);
    exact.is_equal(number).then(|| exact.as_str().parse().ok()).flatten()
}

/// The whole part, as far as it fits.
fn whole(number: &Number) -> Option<i128> {
    integer(number).or_else(|| {
        let float = to_float(number).trunc();
        (float.abs() < 1e36).then_some(float as i128)
    })
}

/// An integer as a number.
pub(super) fn of_integer(integer: i128) -> Number {
    written(Cow::Owned(integer.to_string()))
}

/// A float in its shortest spelling; without a fraction it is spelt as an integer, as jq does.
pub(super) fn of_float(float: f64) -> Number {
    if float.is_nan() {
        return written(Cow::Borrowed(".nan"));
    }
    if float.is_infinite() {
        return written(Cow::Borrowed(if float > 0.0 { ".inf" } else { "-.inf" }));
    }
    let size = float.abs();
    let plain = size == 0.0 || (1e-5..1e17).contains(&size);
    written(Cow::Owned(match (plain, float == 0.0) {
        (true, true) => "0".to_owned(),
        (true, false) => format!("{float}"),
        (false, _) => format!("{float:e}"),
    }))
}

fn special(number: &Number) -> f64 {
    match number.as_str() {
        text if text.to_ascii_lowercase().ends_with("nan") => f64::NAN,
        text if text.starts_with('-') => f64::NEG_INFINITY,
        _ => f64::INFINITY,
    }
}

fn written(text: Cow<'_, str>) -> Number {
    Number::from_yaml(&text).expect("floats and integers are written as YAML numbers")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::jq::budget::within_budget;

    fn number(text: &str) -> Number {
        Number::from_yaml(text).unwrap()
    }

    fn sum(left: &str, right: &str) -> Result<String, Abort> {
        let add = || calculate(&number(left), &number(right), i128::checked_add, |a, b| a + b);
        within_budget(add).map(|sum| sum.as_str().to_owned())
    }

    #[test]
    fn integers_are_exact_and_floats_are_as_jq_has_them() {
        assert_eq!(sum("9007199254740993", "1").as_deref(), Ok("9007199254740994"));
        assert_eq!(sum("0.1", "0.2").as_deref(), Ok("0.30000000000000004"));
        assert_eq!(sum("1.5", "1.5").as_deref(), Ok("3"));
        assert_eq!(sum("1e3", "0x10").as_deref(), Ok("1016"));
    }

    #[test]
    fn what_would_be_rounded_ends_the_run() {
        let long = "1.00000000000000000000001";
        assert_eq!(sum(long, "1"), Err(Abort::Inexact(long.into())));
        assert_eq!(sum("9007199254740993", "0.5"), Err(Abort::Inexact("9007199254740993".into())));
        assert!(matches!(sum("170141183460469231731687303715884105727", "1"), Err(Abort::Inexact(_))));
        assert!(matches!(sum("1e400", "1"), Err(Abort::Inexact(_))));
    }

    #[test]
    fn quotients_and_remainders() {
        let text = |number: Number| number.as_str().to_owned();
        assert_eq!(text(divide(&number("10"), &number("2"))), "5");
        assert_eq!(text(divide(&number("1"), &number("4"))), "0.25");
        assert_eq!(remainder(&number("5.5"), &number("2")).map(text).as_deref(), Some("1"));
        assert_eq!(remainder(&number("-5"), &number("3")).map(text).as_deref(), Some("-2"));
        assert!(remainder(&number("5"), &number("0.5")).is_none());
    }

    #[test]
    fn floats_survive_their_spelling() {
        for float in [0.1, 1e21, 1e-7, 123_456_789.125, f64::MAX, f64::MIN_POSITIVE, -2.5] {
            assert_eq!(to_float(&of_float(float)), float);
        }
        assert_eq!(of_float(1e21).as_str(), "1e21");
        assert_eq!(of_float(-0.0).as_str(), "0");
    }
}
