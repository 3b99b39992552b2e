//! Values that are hidden on one side of a comparison and not on the other: if they are equal, both are hidden, so that they are no
//! change.

use std::collections::BTreeMap;

use super::mask::{Hiding, hidden};
use crate::value::{Node, Secret, Value};

/// Two versions of a payload in which equal values are hidden alike.
#[must_use]
pub fn hide_alike(before: Node, after: Node) -> [Node; 2] {
    if before.is_shared_with(&after) || !before.holds_secret() && !after.holds_secret() {
        return [before, after];
    }
    let [old, new] = [like(&before, &after), like(&after, &before)];
    [old.unwrap_or(before), new.unwrap_or(after)]
}

/// Two payloads in which every place is hidden that either of them hides.
#[must_use]
pub fn hide_same_places(before: Node, after: Node) -> [Node; 2] {
    if before.is_shared_with(&after) || !before.holds_secret() && !after.holds_secret() {
        return [before, after];
    }
    let [old, new] = [at_places_of(&before, &after), at_places_of(&after, &before)];
    [old.unwrap_or(before), new.unwrap_or(after)]
}

/// The node with everything hidden at places that the other one hides; nothing if there is none.
fn at_places_of(node: &Node, other: &Node) -> Option<Node> {
    match (&node.value, &other.value) {
        (Value::Secret(_), _) => None,
        (_, Value::Secret(_)) => Some(Hiding::everything().scalars(node)),
        (Value::Map(_), Value::Map(others)) => {
            node.map_children(|child| at_places_of(child.node, others.get(&child.key?.name)?))
        }
        (Value::List(items), Value::List(others)) if items.items().len() == others.items().len() => {
            node.map_children(|child| at_places_of(child.node, others.items().get(child.at)?))
        }
        // Which item is which is not known.
        (Value::List(_), Value::List(_)) if other.holds_secret() => Some(Hiding::everything().scalars(node)),
        _ => None,
    }
}

/// The node with values hidden that the other one hides; nothing if there is none.
fn like(node: &Node, other: &Node) -> Option<Node> {
    match (&node.value, &other.value) {
        (Value::Secret(_), _) => None,
        (_, Value::Secret(secret)) => equal(node, secret),
        (Value::Map(_), Value::Map(others)) => {
            node.map_children(|child| like(child.node, others.get(&child.key?.name)?))
        }
        (Value::List(items), Value::List(others)) => {
            let is_aligned = items.items().len() == others.items().len();
            let secrets: BTreeMap<u64, &Secret> = others.items().iter().filter_map(secret_of).collect();
            node.map_children(|child| {
                let aligned = others.items().get(child.at).filter(|_| is_aligned);
                aligned.and_then(|other| like(child.node, other)).or_else(|| moved(child.node, &secrets))
            })
        }
        _ => None,
    }
}

/// An item may be anywhere in the other list.
fn moved(item: &Node, secrets: &BTreeMap<u64, &Secret>) -> Option<Node> {
    if secrets.is_empty() {
        return None;
    }
    equal(item, secrets.get(&hidden(item, Secret::hide(item.clone())).hash())?)
}

fn secret_of(node: &Node) -> Option<(u64, &Secret)> {
    match &node.value {
        Value::Secret(secret) => Some((node.hash(), secret)),
        _ => None,
    }
}

fn equal(node: &Node, secret: &Secret) -> Option<Node> {
    let is_equal = secret.is_equal(&Secret::hide(node.clone()));
    (is_equal && !matches!(node.value, Value::Null | Value::Secret(_))).then(|| hidden(node, secret.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::write::to_inline;
    use crate::secrets::mask::secret;
    use crate::testing::read;
    use crate::value::Entry;

    /// The values of members called `secret` hidden.
    fn prepared(text: &str) -> Node {
        fn hide(node: &Node) -> Option<Node> {
            node.map_children(|child| match child.key.is_some_and(|key| key.name.starts_with("secret")) {
                true => Some(secret(child.node)),
                false => hide(child.node),
            })
        }
        let root = read(text);
        hide(&root).unwrap_or(root)
    }

    #[test]
    fn equal_values_are_hidden_on_both_sides() {
        let before = prepared("{secret: 1, b: {secret: x}, c: [{secret: 2}, w]}");
        let plain = read("{secret: 1, b: {secret: z}, c: [{secret: 2}, w]}");
        let [old, new] = hide_alike(before.clone(), plain.clone());
        assert_eq!(to_inline(&new), "{secret: •••, b: {secret: z}, c: [{secret: •••}, w]}");
        assert!(old.is_identical(&before) && old.get("secret").unwrap().is_equal(new.get("secret").unwrap()));
        let [new, old] = hide_alike(plain, before.clone());
        assert_eq!(to_inline(&new), "{secret: •••, b: {secret: z}, c: [{secret: •••}, w]}");
        assert!(old.is_identical(&before));
    }

    #[test]
    fn what_one_part_hides_is_hidden_in_the_other() {
        let [_, new] = hide_same_places(
            prepared("{secret: 1, b: [{secret: x}, 2], c: [{secret: x}]}"),
            read("{secret: {x: 2}, b: [{secret: v}, 3], c: [1, {secret: z}]}"),
        );
        assert_eq!(to_inline(&new), "{secret: {x: •••}, b: [{secret: •••}, 3], c: [•••, {secret: •••}]}");
    }

    #[test]
    fn items_are_found_wherever_they_are() {
        let list = |items: Vec<Node>| Node::list(items, read("0").span);
        let hidden = list(vec![secret(&read("one")), read("two")]);
        let [_, new] = hide_alike(hidden, list(vec![read("zero"), read("two"), read("one")]));
        assert_eq!(to_inline(&new), "[zero, two, •••]");
        let whole = Node::map(vec![Entry::named("a", read("0").span, secret(&read("{x: 1}")))], read("0").span);
        let [_, new] = hide_alike(whole, read("{a: {x: 1}}"));
        assert_eq!(to_inline(&new), "{a: •••}");
    }
}
