//! What depends on secrets: a computation is repeated with other secrets, and whatever comes out different was made of them.

use smol_str::SmolStr;

use super::Secrets;
use super::derived::free_name;
use super::mask::{Hiding, secret};
use crate::resource::Resource;
use crate::value::{Entry, Key, Map, Node, StepKind, Value};

impl Secrets<'_> {
    /// The payload of a resource with other values in place of its secrets; nothing if it has none.
    pub fn disguised(&self, resource: &Resource) -> Option<Node> {
        if self.is_off {
            return None;
        }
        let hidden = self.hide_places(resource.clone()).payload;
        disguised(&resource.payload, &hidden)
    }

    /// The payload of a resource that a computation made, with everything hidden that the computation with other secrets made
    /// different. If that failed, everything that was made may depend on them.
    pub fn hide_dependent(&self, made: &Resource, other: Option<&Node>) -> Node {
        let hidden = self.hide_places(made.clone()).payload;
        match other {
            Some(other) => differing(&made.payload, other, &hidden).unwrap_or_else(|| made.payload.clone()),
            None => everything_made(&made.payload, false).unwrap_or_else(|| made.payload.clone()),
        }
    }
}

/// The node with other values where they are hidden; nothing if none is.
pub fn disguised(shown: &Node, hidden: &Node) -> Option<Node> {
    match (&shown.value, &hidden.value) {
        (Value::Secret(_), _) => None,
        (_, Value::Secret(secret)) => Some(secret.disguised()),
        _ => shown.map_children(|child| disguised(child.node, hidden.value.child(child.at)?.node)),
    }
}

/// The node with everything hidden that is different in the other one; what is hidden by its place stays as it is.
pub fn differing(made: &Node, other: &Node, hidden: &Node) -> Option<Node> {
    if matches!(hidden.value, Value::Secret(_)) || made.is_shared_with(other) {
        return None;
    }
    let below = |child: usize| hidden.value.child(child).map_or(hidden, |child| child.node);
    match (&made.value, &other.value) {
        (Value::Map(map), Value::Map(others)) => members(made, map, others, below),
        (Value::List(list), Value::List(others)) if list.items().len() == others.items().len() => {
            made.map_children(|child| differing(child.node, others.items().get(child.at)?, below(child.at)))
        }
        _ if made.is_identical(other) => None,
        (Value::Map(_) | Value::List(_), _) => Some(Hiding::everything().scalars(made)),
        (Value::Null | Value::Secret(_), _) => None,
        _ => Some(secret(made)),
    }
}

/// A member that the other map does not have is called by a secret.
fn members<'n>(made: &Node, map: &Map, others: &Map, below: impl Fn(usize) -> &'n Node) -> Option<Node> {
    let mut changed: Option<Vec<Entry>> = None;
    for (at, entry) in map.entries().iter().enumerate() {
        let (name, value): (Option<SmolStr>, Option<Node>) = match others.get(&entry.key.name) {
            Some(other) => (None, differing(&entry.value, other, below(at))),
            None => {
                let entries = changed.as_deref().unwrap_or(map.entries());
                // The one in its place has another name.
                let twin = others.entries().get(at).filter(|twin| map.get(&twin.key.name).is_none());
                let value = match twin {
                    Some(twin) => differing(&entry.value, &twin.value, below(at)),
                    None => Some(Hiding::everything().scalars(&entry.value)),
                };
                (Some(free_name(entries)), value)
            }
        };
        if name.is_none() && value.is_none() {
            continue;
        }
        let entries = changed.get_or_insert_with(|| map.entries().to_vec());
        if let Some(name) = name {
            entries[at].key = Key { name, ..entry.key.clone() };
        }
        entries[at].value = value.unwrap_or_else(|| entry.value.clone());
    }
    Some(Node { extra: made.extra.clone(), ..Node::map(changed?, made.span) })
}

fn everything_made(node: &Node, is_made: bool) -> Option<Node> {
    let steps = node.steps();
    let is_made = is_made || steps.into_iter().any(|step| step.kind == StepKind::Patch);
    match &node.value {
        Value::Map(_) | Value::List(_) => node.map_children(|child| everything_made(child.node, is_made)),
        Value::Null | Value::Secret(_) => None,
        _ => is_made.then(|| secret(node)),
    }
}
