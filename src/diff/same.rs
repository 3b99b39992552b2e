//! Compares two trees in one pass: different, equal, or identical.

use std::sync::Arc;

use crate::value::{Node, Value};

/// The result of comparing two trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sameness {
    /// They differ.
    Different,
    /// Equal, but a number is spelled differently.
    Equal,
    /// Identical, including the spelling of numbers.
    Identical,
}

/// Compares two trees. Different hashes mean that they differ; otherwise all values are compared.
pub(super) fn sameness(before: &Node, after: &Node) -> Sameness {
    if before.tag() != after.tag() {
        return Sameness::Different;
    }
    match (&before.value, &after.value) {
        (Value::Number(a), Value::Number(b)) => match (a.is_identical(b), a.is_equal(b)) {
            (true, _) => Sameness::Identical,
            (false, true) => Sameness::Equal,
            (false, false) => Sameness::Different,
        },
        (Value::List(a), Value::List(b)) if Arc::ptr_eq(a, b) => Sameness::Identical,
        (Value::Map(a), Value::Map(b)) if Arc::ptr_eq(a, b) => Sameness::Identical,
        (Value::List(_), Value::List(_)) | (Value::Map(_), Value::Map(_)) if before.hash() != after.hash() => {
            Sameness::Different
        }
        (Value::List(_), Value::List(_)) => {
            let (a, b) = (before.as_list().unwrap_or_default(), after.as_list().unwrap_or_default());
            if a.len() != b.len() {
                return Sameness::Different;
            }
            least(a.iter().zip(b).map(|(a, b)| sameness(a, b)))
        }
        (Value::Map(a), Value::Map(b)) => {
            if a.len() != b.len() {
                return Sameness::Different;
            }
            least(a.entries().iter().enumerate().map(|(at, entry)| {
                let twin = b.entry_near(at, &entry.key);
                twin.map_or(Sameness::Different, |twin| sameness(&entry.value, &twin.value))
            }))
        }
        // How a hidden number is spelled stays hidden.
        _ if before.is_equal(after) => Sameness::Identical,
        _ => Sameness::Different,
    }
}

/// The least of all, without looking further once something differs.
fn least(all: impl Iterator<Item = Sameness>) -> Sameness {
    let mut least = Sameness::Identical;
    for one in all {
        least = least.min(one);
        if least == Sameness::Different {
            break;
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::testing::{any_node, read};
    use proptest::prelude::*;

    #[test]
    fn spelling_is_told_from_difference() {
        let same = |a: &str, b: &str| sameness(&read(a), &read(b));
        assert_eq!(same(r#"{"a": [1.0], "b": 2}"#, r#"{"b": 2, "a": [1]}"#), Sameness::Equal);
        assert_eq!(same(r#"{"a": [1], "b": 2}"#, r#"{"b": 2, "a": [1]}"#), Sameness::Identical);
        assert_eq!(same(r#"{"a": 1}"#, r#"{"a": "1"}"#), Sameness::Different);
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_two_meanings_of_the_same(a in any_node(), b in any_node()) {
            let same = sameness(&a, &b);
            prop_assert_eq!(same != Sameness::Different, a.is_equal(&b));
            prop_assert_eq!(same == Sameness::Identical, a.is_identical(&b));
            prop_assert_eq!(sameness(&a, &a.clone()), Sameness::Identical);
        }
    }
}
