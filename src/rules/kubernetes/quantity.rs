//! Quantities as Kubernetes writes them: `500m`, `10Gi`, `1e3`.

use std::cmp::Ordering;

use super::transition::scalar;
use crate::value::{Node, Number, Operation, calculate};

/// The order of two quantities; nothing if one of them is none.
pub(super) fn compare(one: &Node, other: &Node) -> Option<Ordering> {
    let (one, other) = (quantity(&scalar(one)?)?, quantity(&scalar(other)?)?);
    crate::value::compare(&one, &other)
}

/// The units of sizes, with what a number is multiplied by.
const UNITS: [(&str, &str); 13] = [
    ("Ki", "1024"),
    ("Mi", "1048576"),
    ("Gi", "1073741824"),
    ("Ti", "1099511627776"),
    ("Pi", "1125899906842624"),
    ("Ei", "1152921504606846976"),
    ("m", "0.001"),
    ("k", "1000"),
    ("M", "1000000"),
    ("G", "1000000000"),
    ("T", "1000000000000"),
    ("P", "1000000000000000"),
    ("E", "1000000000000000000"),
];

fn quantity(text: &str) -> Option<Number> {
    let text = text.trim();
    let unit = UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let (digits, factor) = unit.unwrap_or((text, "1"));
    let digits = digits.strip_suffix('.').unwrap_or(digits);
    calculate(Operation::Mul, &Number::from_yaml(digits)?, &Number::from_yaml(factor)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read;

    #[test]
    fn quantities_are_compared_by_value() {
        let order = |one: &str, other: &str| compare(&read(one), &read(other));
        assert_eq!(order("1Gi", "1024Mi"), Some(Ordering::Equal));
        assert_eq!(order("10Gi", "5Gi"), Some(Ordering::Greater));
        assert_eq!(order("500m", "1"), Some(Ordering::Less));
        assert_eq!(order("1.5Gi", "1536Mi"), Some(Ordering::Equal));
        assert_eq!(order("${SIZE}", "1Gi"), None);
    }
}
