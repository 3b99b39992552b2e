//! An order of nodes that decides which side to start from, independent of which is older.

use std::cmp::Ordering;

use crate::value::{Entry, Map, Node, Value};

/// Whether to compare `after` with `before` instead, and mirror the result.
///
/// Several alignments can be equally good. Choosing by content, not by age, makes the result symmetric.
pub(super) fn is_turned(before: &[Node], after: &[Node]) -> bool {
    lists(before, after) == Ordering::Greater
}

/// A total preorder of nodes. Secrets of different content compare equal, because their hash changes from run to run and
/// nothing else about them may be used.
fn nodes(a: &Node, b: &Node) -> Ordering {
    let rank = |node: &Node| match &node.value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::List(_) => 4,
        Value::Map(_) => 5,
        Value::Secret(_) => 6,
    };
    a.tag().cmp(&b.tag()).then_with(|| match (&a.value, &b.value) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => a.as_str().cmp(b.as_str()),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::List(_), Value::List(_)) | (Value::Map(_), Value::Map(_)) if a.hash() == b.hash() => Ordering::Equal,
        (Value::List(_), Value::List(_)) => lists(a.as_list().unwrap_or_default(), b.as_list().unwrap_or_default()),
        (Value::Map(a), Value::Map(b)) => maps(a, b),
        _ => rank(a).cmp(&rank(b)),
    })
}

fn lists(a: &[Node], b: &[Node]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| {
        let different = a.iter().zip(b).map(|(a, b)| nodes(a, b)).find(|order| order.is_ne());
        different.unwrap_or(Ordering::Equal)
    })
}

fn maps(a: &Map, b: &Map) -> Ordering {
    fn sorted(map: &Map) -> Vec<&Entry> {
        let mut entries: Vec<&Entry> = map.entries().iter().collect();
        entries.sort_by(|a, b| (&a.key.name, a.key.kind).cmp(&(&b.key.name, b.key.kind)));
        entries
    }
    let by_key = |a: &Entry, b: &Entry| (&a.key.name, a.key.kind).cmp(&(&b.key.name, b.key.kind));
    let entries = |(a, b): (&Entry, &Entry)| by_key(a, b).then_with(|| nodes(&a.value, &b.value));
    let (a, b) = (sorted(a), sorted(b));
    a.len().cmp(&b.len()).then_with(|| {
        let different = a.into_iter().zip(b).map(entries).find(|order| order.is_ne());
        different.unwrap_or(Ordering::Equal)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::testing::{any_node, read};
    use proptest::prelude::*;

    #[test]
    fn secrets_do_not_decide() {
        let secret = |text: &str| crate::diff::testing::secret(read(text));
        assert_eq!(nodes(&secret("1"), &secret("2")), Ordering::Equal);
    }

    proptest! {
        #[test]
        fn turning_the_sides_turns_the_order(a in any_node(), b in any_node()) {
            prop_assert_eq!(nodes(&a, &b), nodes(&b, &a).reverse());
        }
    }
}
