//! The exact difference as an RFC 6902 patch: applied to `before` it gives `after` to the letter.
//!
//! Paths use positions, not identities: a patch is applied by pointers alone. A pointer writes keys as text, and
//! JSON knows no tags; so a map that has other keys than text, and a value whose tag changed, are replaced as a whole.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use smol_str::SmolStr;

use crate::path::Pointer;
use crate::value::align;
use crate::value::{Entry, Key, KeyKind, Map, Node, Value, list_index};

/// One step of a patch.
#[derive(Debug, Clone)]
pub enum Operation {
    /// Inserts a value: a new member, or an item before the one at that index.
    Add {
        /// Where; the last token may be `-` for the end of a list.
        path: Pointer,
        /// What.
        value: Node,
    },
    /// Takes a value away.
    Remove {
        /// Which.
        path: Pointer,
    },
    /// Puts a value in place of another.
    Replace {
        /// Where.
        path: Pointer,
        /// What.
        value: Node,
    },
}

/// Why a patch does not fit a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot change {path}: {reason}")]
pub struct Misfit {
    /// Where it does not fit.
    pub path: Pointer,
    /// Why not.
    pub reason: &'static str,
}

/// The steps that make `after` from `before`, each in terms of what the steps before it have made.
pub fn json_patch(before: &Node, after: &Node) -> Vec<Operation> {
    let mut patch = Patch { path: Pointer::root(), operations: Vec::new() };
    patch.nodes(before, after);
    patch.operations
}

/// Carries out a patch; the tree itself stays as it is.
pub fn apply(node: &Node, operations: &[Operation]) -> Result<Node, Misfit> {
    let mut draft = Draft::Whole(node.clone());
    for operation in operations {
        let (Operation::Add { path, .. } | Operation::Remove { path } | Operation::Replace { path, .. }) = operation;
        draft.change(path.tokens(), operation).map_err(|reason| Misfit { path: path.clone(), reason })?;
    }
    Ok(draft.finish())
}

struct Patch {
    path: Pointer,
    operations: Vec<Operation>,
}

impl Patch {
    fn nodes(&mut self, before: &Node, after: &Node) {
        if before.is_identical(after) {
            return;
        }
        match (&before.value, &after.value) {
            _ if before.tag() != after.tag() => self.replace(after),
            (Value::Map(before), Value::Map(these)) if has_text_keys(before) && has_text_keys(these) => {
                self.maps(before, these);
            }
            (Value::List(_), Value::List(_)) => {
                self.lists(before.as_list().unwrap_or_default(), after.as_list().unwrap_or_default());
            }
            _ => self.replace(after),
        }
    }

    fn maps(&mut self, before: &Map, after: &Map) {
        for (at, entry) in before.entries().iter().enumerate() {
            if after.position_near(at, &entry.key).is_none() {
                self.at(&entry.key.name, |patch| patch.remove());
            }
        }
        for (at, entry) in after.entries().iter().enumerate() {
            self.at(&entry.key.name, |patch| match before.entry_near(at, &entry.key) {
                Some(twin) => patch.nodes(&twin.value, &entry.value),
                None => patch.add(&entry.value),
            });
        }
    }

    /// From left to right: everything to the left is already as in `after`, so an index there is an index here.
    fn lists(&mut self, before: &[Node], after: &[Node]) {
        let same = |(a, b): &(&Node, &Node)| a.is_identical(b);
        let head = before.iter().zip(after).take_while(same).count();
        let (these, those): (Vec<&Node>, Vec<&Node>) =
            (before[head..].iter().collect(), after[head..].iter().collect());
        let (before_classes, after_classes) = align::classes(&these, &those, Node::is_identical);
        let pairs = align::align(&before_classes, &after_classes);
        let (mut from_before, mut from_after) = (0, 0);
        for (to_before, to_after) in pairs.into_iter().chain([(these.len(), those.len())]) {
            let (old, new) = (&these[from_before..to_before], &those[from_after..to_after]);
            let facing = old.len().min(new.len());
            for (offset, (old, new)) in old.iter().zip(new).enumerate() {
                self.at_index(head + from_after + offset, |patch| patch.nodes(old, new));
            }
            for _ in &old[facing..] {
                self.at_index(head + from_after + facing, Self::remove);
            }
            for (offset, new) in new[facing..].iter().enumerate() {
                self.at_index(head + from_after + facing + offset, |patch| patch.add(new));
            }
            (from_before, from_after) = (to_before + 1, to_after + 1);
        }
    }

    fn at(&mut self, token: &SmolStr, then: impl FnOnce(&mut Self)) {
        self.path.push(token.clone());
        then(self);
        self.path.pop();
    }

    fn at_index(&mut self, index: usize, then: impl FnOnce(&mut Self)) {
        self.at(&index.to_string().into(), then);
    }

    fn add(&mut self, value: &Node) {
        self.operations.push(Operation::Add { path: self.path.clone(), value: value.clone() });
    }

    fn remove(&mut self) {
        self.operations.push(Operation::Remove { path: self.path.clone() });
    }

    fn replace(&mut self, value: &Node) {
        self.operations.push(Operation::Replace { path: self.path.clone(), value: value.clone() });
    }
}

fn has_text_keys(map: &Map) -> bool {
    map.entries().iter().all(|entry| entry.key.kind == KeyKind::Text)
}

/// A tree that is taken apart only where it is changed.
enum Draft {
    Whole(Node),
    List { like: Node, items: Vec<Draft> },
    Map { like: Node, members: Members },
}

/// Members in order, found by name; what is removed leaves a hole, so that places stay.
struct Members {
    entries: Vec<Option<(Key, Draft)>>,
    by_name: HashMap<SmolStr, usize>,
}

impl Draft {
    fn change(&mut self, path: &[SmolStr], operation: &Operation) -> Result<(), &'static str> {
        let Some((token, rest)) = path.split_first() else {
            return match operation {
                Operation::Add { value, .. } | Operation::Replace { value, .. } => {
                    *self = Draft::Whole(value.clone());
                    Ok(())
                }
                Operation::Remove { .. } => Err("the whole document cannot be removed"),
            };
        };
        self.open();
        match self {
            Draft::Map { like, members } => members.change(token, rest, operation, like),
            Draft::List { items, .. } => change_item(items, token, rest, operation),
            Draft::Whole(_) => Err("neither a map nor a list"),
        }
    }

    /// Takes one level apart.
    fn open(&mut self) {
        let Draft::Whole(node) = self else { return };
        let node = node.clone();
        if let Some(items) = node.as_list() {
            let items = items.iter().cloned().map(Draft::Whole).collect();
            *self = Draft::List { like: node, items };
        } else if let Some(map) = node.as_map() {
            let entry = |entry: &Entry| Some((entry.key.clone(), Draft::Whole(entry.value.clone())));
            let entries = map.entries().iter().map(entry).collect();
            let mut by_name = HashMap::with_capacity(map.len());
            for (at, entry) in map.entries().iter().enumerate() {
                // If a map has both `1: x` and `"1": x`, a pointer means the text.
                if entry.key.kind == KeyKind::Text || !by_name.contains_key(&entry.key.name) {
                    by_name.insert(entry.key.name.clone(), at);
                }
            }
            *self = Draft::Map { members: Members { entries, by_name }, like: node };
        }
    }

    fn finish(self) -> Node {
        let (like, mut node) = match self {
            Draft::Whole(node) => return node,
            Draft::List { like, items } => {
                let list = Node::list(items.into_iter().map(Draft::finish).collect(), like.span);
                (like, list)
            }
            Draft::Map { like, members } => {
                let entries = members.entries.into_iter().flatten();
                let entries = entries.map(|(key, value)| Entry { key, value: value.finish() });
                let map = Node::map(entries.collect(), like.span);
                (like, map)
            }
        };
        node.extra = like.extra;
        node
    }
}

impl Members {
    fn change(
        &mut self,
        name: &SmolStr,
        rest: &[SmolStr],
        operation: &Operation,
        map: &Node,
    ) -> Result<(), &'static str> {
        let slot = self.by_name.entry(name.clone());
        match (slot, operation, rest) {
            (Slot::Vacant(slot), Operation::Add { value, .. }, []) => {
                slot.insert(self.entries.len());
                let key = Key { name: name.clone(), kind: KeyKind::Text, span: map.span };
                self.entries.push(Some((key, Draft::Whole(value.clone()))));
                Ok(())
            }
            (Slot::Vacant(_), ..) => Err("no such member"),
            (Slot::Occupied(slot), Operation::Remove { .. }, []) => {
                self.entries[slot.remove()] = None;
                Ok(())
            }
            (Slot::Occupied(slot), ..) => match &mut self.entries[*slot.get()] {
                Some((_, value)) => value.change(rest, operation),
                None => Err("no such member"),
            },
        }
    }
}

fn change_item(
    items: &mut Vec<Draft>,
    token: &str,
    rest: &[SmolStr],
    operation: &Operation,
) -> Result<(), &'static str> {
    let is_end = token == "-" && rest.is_empty();
    let index = if is_end { Some(items.len()) } else { list_index(token) };
    let index = index.ok_or("no index of a list")?;
    match (operation, rest) {
        (Operation::Add { value, .. }, []) if index <= items.len() => {
            items.insert(index, Draft::Whole(value.clone()));
            Ok(())
        }
        (Operation::Remove { .. }, []) if index < items.len() => {
            items.remove(index);
            Ok(())
        }
        _ => items.get_mut(index).ok_or("beyond the end of the list")?.change(rest, operation),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::testing::{any_node, edited_lists, edited_pair, key, number, read, span, tagged};
    use proptest::prelude::*;

    fn operations_text(before: &Node, after: &Node) -> Vec<String> {
        let tell = |operation: &Operation| match operation {
            Operation::Add { path, .. } => format!("add {path}"),
            Operation::Remove { path } => format!("remove {path}"),
            Operation::Replace { path, .. } => format!("replace {path}"),
        };
        json_patch(before, after).iter().map(tell).collect()
    }

    #[test]
    fn members_are_named_with_escapes() {
        let before = read(r#"{"a/b": 1, "gone": {"k": 1}, "same": [1]}"#);
        let after = read(r#"{"a/b": 2, "m~n": true, "same": [1]}"#);
        assert_eq!(operations_text(&before, &after), ["remove /gone", "replace /a~1b", "add /m~0n"]);
        assert_eq!(operations_text(&read(r#"{"a": 1}"#), &read("null")), ["replace "]);
    }

    #[test]
    fn lists_are_patched_with_few_steps() {
        assert_eq!(operations_text(&read("[1, 2, 3, 4]"), &read("[0, 1, 2, 4]")), ["add /0", "remove /3"]);
        assert_eq!(operations_text(&read("[1, 2, 3]"), &read("[1]")), ["remove /1", "remove /1"]);
        assert_eq!(operations_text(&read("[1]"), &read("[1, 2, 3]")), ["add /1", "add /2"]);
        assert_eq!(operations_text(&read(r#"[{"a": 1}, 2]"#), &read(r#"[{"a": 2}, 2]"#)), ["replace /0/a"]);
    }

    #[test]
    fn digits_count() {
        assert_eq!(operations_text(&read(r#"{"v": 1.10}"#), &read(r#"{"v": 1.1}"#)), ["replace /v"]);
        assert_eq!(operations_text(&number("0x10"), &number("16")), [""; 0]);
    }

    #[test]
    fn what_pointers_cannot_say_is_replaced_as_a_whole() {
        let with_number = |value| Node::map(vec![Entry { key: key("1", KeyKind::Scalar), value }], span());
        let before = crate::diff::testing::map(vec![("m", with_number(number("1")))]);
        let after = crate::diff::testing::map(vec![("m", with_number(number("2")))]);
        assert_eq!(operations_text(&before, &after), ["replace /m"]);
        assert_eq!(operations_text(&tagged("!A", read("[1]")), &read("[1]")), ["replace "]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let node = read(r#"{"l": [1], "s": "x"}"#);
        let at = |text: &str| Pointer::parse(text).unwrap();
        for path in ["", "/none", "/l/1", "/l/01", "/l/-", "/s/x", "/l/x"] {
            assert!(apply(&node, &[Operation::Remove { path: at(path) }]).is_err(), "{path}");
        }
        for path in ["/none", "/l/1", "/none/x", "/l/-"] {
            let replace = Operation::Replace { path: at(path), value: number("1") };
            assert!(apply(&node, &[replace]).is_err(), "{path}");
        }
        let add = |path: &str| apply(&node, &[Operation::Add { path: at(path), value: number("2") }]);
        assert!(add("/l/2").is_err());
        assert!(add("/l/-").unwrap().is_identical(&read(r#"{"l": [1, 2], "s": "x"}"#)));
        assert!(add("/s").unwrap().is_identical(&read(r#"{"l": [1], "s": 2}"#)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn the_patch_of_a_difference_makes_after_from_before_to_the_letter(
            (before, after) in prop_oneof![(any_node(), any_node()), edited_pair(), edited_lists()]
        ) {
            let patch = json_patch(&before, &after);
            prop_assert_eq!(patch.is_empty(), before.is_identical(&after));
            prop_assert!(apply(&before, &patch).unwrap().is_identical(&after), "{:?}", patch);
        }
    }
}
