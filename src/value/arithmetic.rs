//! Calculating with numbers as they are written: exactly wherever the result has an end.
//!
//! Integers have no limit but their length, and sums and products of decimals are exact (`0.1` and `0.2` are `0.3`). Only what
//! no decimal can say (a third, a root) is rounded, to the nearest binary floating-point number of 64 bits.

use std::cmp::Ordering;

use super::Number;
use super::decimal::Decimal;
use super::natural::Natural;

/// An operation on two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// The quotient, always real: 6 by 3 is `2.0`.
    Div,
    /// The quotient rounded down.
    FloorDiv,
    /// What is left after rounding down; it has the sign of the divisor.
    Mod,
    /// The power.
    Pow,
}

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CalculationError {
    /// A division by zero, or zero to a negative power.
    #[error("a division by zero")]
    DivisionByZero,
    /// Infinite, or not a number.
    #[error("not a finite number")]
    NotFinite,
    /// A root of a negative number.
    #[error("not a real number")]
    NotReal,
    /// More than 10,000 digits.
    #[error("too many digits")]
    TooLong,
}

/// Products cost the square of their length, and configuration does not need longer numbers.
const MOST_DIGITS: u64 = 10_000;
/// A quotient that has an end, but only after more digits than this, is rounded.
const MOST_PLACES: usize = 400;
/// A real number with more zeros than this is written with an exponent.
const MOST_ZEROS: i64 = 20;

/// The result of an operation.
pub fn calculate(operation: Operation, a: &Number, b: &Number) -> Result<Number, CalculationError> {
    let (x, y) = (Operand::read(a)?, Operand::read(b)?);
    let result = match operation {
        Operation::Add => x.plus(&y)?,
        Operation::Sub => x.plus(&Operand { is_negative: !y.is_negative, ..y })?,
        Operation::Mul => x.times(&y),
        Operation::Div => match x.divided(&y)? {
            Some(exact) => exact,
            None => return rounded(a, b, |a, b| a / b),
        },
        Operation::FloorDiv => x.floor_divided(&y)?.0,
        Operation::Mod => x.floor_divided(&y)?.1,
        Operation::Pow => match x.power(&y)? {
            Some(exact) => exact,
            None if x.is_negative && !y.is_whole() => return Err(CalculationError::NotReal),
            None => return rounded(a, b, f64::powf),
        },
    };
    result.write()
}

/// Which of two numbers is larger; `None` if one is `.nan` or has an exponent that is too large to compare.
pub fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    a.decimal().compare(&b.decimal())
}

/// The nearest number of 64 bits, for what decimals cannot say.
fn rounded(a: &Number, b: &Number, operation: fn(f64, f64) -> f64) -> Result<Number, CalculationError> {
    let read = |number: &Number| number.to_json().and_then(|text| text.parse::<f64>().ok());
    let (a, b) = read(a).zip(read(b)).ok_or(CalculationError::NotFinite)?;
    let result = operation(a, b);
    if !result.is_finite() {
        return Err(CalculationError::TooLong);
    }
    Number::from_json(&format!("{result:?}")).ok_or(CalculationError::TooLong)
}

/// A finite number to calculate with: a sign, digits and an exponent of ten.
#[derive(Debug, Clone)]
struct Operand {
    is_negative: bool,
    digits: Natural,
    exponent: i64,
    is_integer: bool,
}

impl Operand {
    fn read(number: &Number) -> Result<Self, CalculationError> {
        let (is_negative, digits, exponent) = match number.decimal() {
            Decimal::Finite { is_negative, digits, exponent } => (is_negative, digits, exponent),
            Decimal::Infinite { .. } | Decimal::NotANumber => return Err(CalculationError::NotFinite),
            Decimal::Absurd { .. } => return Err(CalculationError::TooLong),
        };
        let point = exponent + i64::try_from(digits.len()).unwrap_or(i64::MAX >> 1);
        if digits.len() as u64 > MOST_DIGITS || (point - 1).unsigned_abs() > MOST_DIGITS {
            return Err(CalculationError::TooLong);
        }
        let is_integer = number.is_integer();
        Ok(Self { is_negative, digits: Natural::from_digits(&digits), exponent, is_integer })
    }

    /// Both with the same exponent.
    fn aligned(&self, other: &Self) -> Result<(Natural, Natural, i64), CalculationError> {
        let exponent = self.exponent.min(other.exponent);
        let shifted = |decimal: &Self| {
            let zeros = decimal.exponent - exponent;
            let fits = zeros.unsigned_abs() <= 2 * MOST_DIGITS;
            let zeros = usize::try_from(zeros).ok().filter(|_| fits).ok_or(CalculationError::TooLong)?;
            Ok(decimal.digits.shifted(zeros))
        };
        Ok((shifted(self)?, shifted(other)?, exponent))
    }

    fn plus(&self, other: &Self) -> Result<Self, CalculationError> {
        let (a, b, exponent) = self.aligned(other)?;
        let is_integer = self.is_integer && other.is_integer;
        let (is_negative, digits) = match (self.is_negative == other.is_negative, a.cmp_value(&b)) {
            (true, _) => (self.is_negative, a.plus(&b)),
            (false, Ordering::Less) => (other.is_negative, b.minus(&a)),
            (false, _) => (self.is_negative, a.minus(&b)),
        };
        Ok(Self { is_negative, digits, exponent, is_integer })
    }

    fn times(&self, other: &Self) -> Self {
        Self {
            is_negative: self.is_negative != other.is_negative,
            digits: self.digits.times(&other.digits),
            exponent: self.exponent + other.exponent,
            is_integer: self.is_integer && other.is_integer,
        }
    }

    /// The exact quotient, if it has an end: what remains of the divisor without its twos and fives must go into the dividend.
    fn divided(&self, by: &Self) -> Result<Option<Self>, CalculationError> {
        if by.digits.is_zero() {
            return Err(CalculationError::DivisionByZero);
        }
        let (odd, twos) = without_factor(&by.digits, 2);
        let (rest, fives) = without_factor(&odd, 5);
        let places = twos.max(fives);
        if places > MOST_PLACES {
            return Ok(None);
        }
        let (digits, left) = self.digits.shifted(places).divided(&by.digits);
        let is_exact = left.is_zero();
        debug_assert!(is_exact || !rest.is_one(), "a divisor of twos and fives goes into enough zeros");
        let exponent = self.exponent - by.exponent - i64::try_from(places).unwrap_or(0);
        let is_negative = self.is_negative != by.is_negative;
        Ok(is_exact.then_some(Self { is_negative, digits, exponent, is_integer: false }))
    }

    /// The quotient rounded down, and what is left.
    fn floor_divided(&self, by: &Self) -> Result<(Self, Self), CalculationError> {
        if by.digits.is_zero() {
            return Err(CalculationError::DivisionByZero);
        }
        let (a, b, exponent) = self.aligned(by)?;
        let (mut quotient, mut rest) = a.divided(&b);
        let is_negative = self.is_negative != by.is_negative;
        if is_negative && !rest.is_zero() {
            quotient = quotient.plus(&Natural::one());
            rest = b.minus(&rest);
        }
        let is_integer = self.is_integer && by.is_integer;
        let quotient = Self { is_negative, digits: quotient, exponent: 0, is_integer };
        Ok((quotient, Self { is_negative: by.is_negative, digits: rest, exponent, is_integer }))
    }

    /// The exact power, if the exponent is whole and the result has an end.
    fn power(&self, exponent: &Self) -> Result<Option<Self>, CalculationError> {
        let Some(times) = exponent.whole_value() else {
            return if exponent.is_whole() { self.endless_power(exponent) } else { Ok(None) };
        };
        let length = self.digits.digits_at_most().max(self.exponent.unsigned_abs());
        if !(self.digits.is_zero() || self.digits.is_one() && self.exponent == 0)
            && length.saturating_mul(times) > 4 * MOST_DIGITS
        {
            return Err(CalculationError::TooLong);
        }
        let one = Self { is_negative: false, digits: Natural::one(), exponent: 0, is_integer: true };
        let is_integer = self.is_integer && exponent.is_integer && !exponent.is_negative;
        let (mut result, mut square, mut left) = (one.clone(), self.clone(), times);
        while left > 0 {
            if left % 2 == 1 {
                result = result.times(&square);
            }
            left /= 2;
            if left > 0 {
                square = square.times(&square);
            }
        }
        result.is_integer = is_integer;
        if exponent.is_negative && times > 0 {
            return one.divided(&result);
        }
        Ok(Some(result))
    }

    /// A power with an exponent beyond counting.
    fn endless_power(&self, exponent: &Self) -> Result<Option<Self>, CalculationError> {
        if self.digits.is_zero() && !exponent.is_negative {
            return Ok(Some(Self { is_integer: self.is_integer && exponent.is_integer, ..self.clone() }));
        }
        Err(CalculationError::TooLong)
    }

    fn is_whole(&self) -> bool {
        let behind = usize::try_from(-self.exponent).unwrap_or(0);
        self.digits.is_zero() || behind == 0 || self.digits.to_digits().bytes().rev().take(behind).all(|d| d == b'0')
    }

    /// The value without its sign, if it is whole and small enough to count to.
    fn whole_value(&self) -> Option<u64> {
        if !self.is_whole() {
            return None;
        }
        let digits = self.digits.to_digits();
        match usize::try_from(-self.exponent) {
            Ok(behind) => digits.get(..digits.len().saturating_sub(behind)).map_or(Some(0), |whole| match whole {
                "" => Some(0),
                whole => whole.parse().ok(),
            }),
            Err(_) => self.digits.shifted(usize::try_from(self.exponent).ok()?).to_digits().parse().ok(),
        }
    }

    fn write(&self) -> Result<Number, CalculationError> {
        let sign = if self.is_negative && !self.digits.is_zero() { "-" } else { "" };
        let text = if self.is_integer { self.integer_text() } else { self.real_text() };
        if text.len() as u64 > MOST_DIGITS {
            return Err(CalculationError::TooLong);
        }
        Number::from_json(&format!("{sign}{text}")).ok_or(CalculationError::TooLong)
    }

    fn integer_text(&self) -> String {
        self.digits.shifted(usize::try_from(self.exponent).unwrap_or(0)).to_digits()
    }

    /// Digits with a point, so that it is not taken for an integer; with an exponent where there would be too many zeros.
    fn real_text(&self) -> String {
        let all = self.digits.to_digits();
        let digits = all.trim_end_matches('0');
        if digits.is_empty() {
            return "0.0".to_owned();
        }
        let count = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
        let exponent = self.exponent + count(&all) - count(digits);
        // The position of the point, counted from the first digit.
        let point = count(digits) + exponent;
        if exponent > MOST_ZEROS || point < -MOST_ZEROS {
            let (first, rest) = digits.split_at(1);
            let rest = if rest.is_empty() { "0" } else { rest };
            return format!("{first}.{rest}e{}", point - 1);
        }
        let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
        match usize::try_from(point) {
            Ok(at) if at >= digits.len() => format!("{digits}{}.0", zeros(exponent)),
            Ok(at) if at > 0 => format!("{}.{}", &digits[..at], &digits[at..]),
            _ => format!("0.{}{digits}", zeros(-point)),
        }
    }
}

/// A number without a factor, and how often it was in it.
fn without_factor(number: &Natural, factor: u32) -> (Natural, usize) {
    let (mut number, mut times) = (number.clone(), 0);
    while times <= MOST_PLACES {
        match number.divided_small(factor) {
            (smaller, 0) => (number, times) = (smaller, times + 1),
            _ => break,
        }
    }
    (number, times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Number {
        Number::from_yaml(text).unwrap_or_else(|| panic!("{text} is a number"))
    }

    fn result(a: &str, operation: Operation, b: &str) -> Result<String, CalculationError> {
        calculate(operation, &number(a), &number(b)).map(|number| number.as_str().to_owned())
    }

    #[test]
    fn what_has_an_end_is_exact() {
        use Operation::{Add, Div, FloorDiv, Mod, Mul, Pow, Sub};
        for (a, operation, b, expected) in [
            ("8080", Add, "10", "8090"),
            ("0.1", Add, "0.2", "0.3"),
            ("1.5", Add, "1.5", "3.0"),
            ("-1", Add, "1", "0"),
            ("99999999999999999999", Add, "1", "100000000000000000000"),
            ("3", Sub, "5", "-2"),
            ("12345678901234567890", Mul, "98765432109876543210", "1219326311370217952237463801111263526900"),
            ("1.10", Mul, "2", "2.2"),
            ("6", Div, "4", "1.5"),
            ("6", Div, "3", "2.0"),
            ("0", Div, "3", "0.0"),
            ("1", Div, "1024", "0.0009765625"),
            ("21", Div, "7", "3.0"),
            ("7", Mod, "4", "3"),
            ("-7", Mod, "4", "1"),
            ("7", Mod, "-4", "-1"),
            ("7.5", Mod, "2", "1.5"),
            ("-7", FloorDiv, "2", "-4"),
            ("7.5", FloorDiv, "2", "3.0"),
            ("2", Pow, "100", "1267650600228229401496703205376"),
            ("1.1", Pow, "2", "1.21"),
            ("2", Pow, "-2", "0.25"),
            ("2", Pow, "3.0", "8.0"),
            ("0", Pow, "0", "1"),
            ("1", Pow, "99999999999", "1"),
            ("-2", Pow, "3", "-8"),
            ("0x10", Add, "1", "17"),
            ("1e30", Mul, "1", "1.0e30"),
            ("1e-30", Mul, "1.5", "1.5e-30"),
            ("100", Pow, "1e1", "100000000000000000000.0"),
        ] {
            assert_eq!(result(a, operation, b).as_deref(), Ok(expected), "{a} {operation:?} {b}");
        }
    }

    #[test]
    fn what_has_no_end_is_rounded_to_64_bits() {
        assert_eq!(result("1", Operation::Div, "3").as_deref(), Ok("0.3333333333333333"));
        assert_eq!(result("2", Operation::Pow, "0.5").as_deref(), Ok("1.4142135623730951"));
        assert_eq!(result("3", Operation::Pow, "-1").as_deref(), Ok("0.3333333333333333"));
    }

    #[test]
    fn what_has_no_result_says_why() {
        use CalculationError::{DivisionByZero, NotFinite, NotReal, TooLong};
        for (a, operation, b, error) in [
            ("1", Operation::Div, "0", DivisionByZero),
            ("1", Operation::Mod, "0.0", DivisionByZero),
            ("0", Operation::Pow, "-1", DivisionByZero),
            (".inf", Operation::Add, "1", NotFinite),
            ("1", Operation::Mul, ".nan", NotFinite),
            ("-1", Operation::Pow, "0.5", NotReal),
            ("9", Operation::Pow, "99999", TooLong),
            ("9", Operation::Pow, "99999999999999999999999", TooLong),
            ("1e999999999", Operation::Add, "1", TooLong),
        ] {
            assert_eq!(result(a, operation, b), Err(error), "{a} {operation:?} {b}");
        }
    }

    #[test]
    fn order_is_by_value() {
        let order = |a, b| compare(&number(a), &number(b));
        for (a, b) in [
            ("1", "2"),
            ("-2", "-1"),
            ("-1", "0"),
            ("9", "10"),
            ("0.5", "1"),
            ("1e-400", "1e-399"),
            ("9007199254740992", "9007199254740993"),
            ("0x0f", "16"),
            ("-.inf", "-1e999"),
            ("1e999", ".inf"),
            ("0", "0.001"),
        ] {
            assert_eq!(order(a, b), Some(Ordering::Less), "{a} < {b}");
            assert_eq!(order(b, a), Some(Ordering::Greater), "{b} > {a}");
        }
        assert_eq!(order("1.0", "1"), Some(Ordering::Equal));
        assert_eq!(order(".nan", "1"), None);
        assert_eq!(order(".nan", ".nan"), None);
    }

    proptest! {
        #[test]
        fn sums_and_order_agree_with_the_machine(a in any::<i64>(), b in any::<i64>()) {
            let (x, y) = (number(&a.to_string()), number(&b.to_string()));
            prop_assert_eq!(compare(&x, &y), Some(a.cmp(&b)));
            for (operation, expected) in [
                (Operation::Add, i128::from(a) + i128::from(b)),
                (Operation::Sub, i128::from(a) - i128::from(b)),
                (Operation::Mul, i128::from(a) * i128::from(b)),
            ] {
                let result = calculate(operation, &x, &y).unwrap();
                prop_assert_eq!(result.as_str(), expected.to_string());
            }
        }

        #[test]
        fn any_two_numbers_give_a_number_or_a_reason(
            a in "[-+]?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?(e[-+]?[0-9]{1,6})?",
            b in "[-+]?(0|[1-9][0-9]{0,6})(\\.[0-9]{1,20})?(e[-+]?[0-9]{1,3})?",
        ) {
            use Operation::{Add, Div, FloorDiv, Mod, Mul, Pow, Sub};
            let (a, b) = (number(&a), number(&b));
            for operation in [Div, Pow] {
                let _ = calculate(operation, &a, &b);
            }
            for operation in [Add, Mul] {
                let [one, other] = [(&a, &b), (&b, &a)].map(|(a, b)| calculate(operation, a, b).map(|it| it.as_str().to_owned()));
                prop_assert_eq!(one.ok(), other.ok());
            }
            let zero = calculate(Sub, &a, &b).and_then(|minus| calculate(Add, &minus, &b)).and_then(|sum| calculate(Sub, &sum, &a));
            if let Ok(zero) = zero {
                prop_assert_eq!(compare(&zero, &number("0")), Some(Ordering::Equal));
            }
            if let (Ok(quotient), Ok(rest)) = (calculate(FloorDiv, &a, &b), calculate(Mod, &a, &b))
                && let Ok(sum) = calculate(Mul, &quotient, &b).and_then(|product| calculate(Add, &product, &rest))
            {
                prop_assert_eq!(compare(&sum, &a), Some(Ordering::Equal));
            }
        }
    }
}
