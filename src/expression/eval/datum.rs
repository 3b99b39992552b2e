//! What an expression works with: data, and resources, which are not data.

use std::sync::Arc;

use smol_str::SmolStr;

use super::secrecy::beneath;
use super::tree::ResourceId;
use crate::text::Span;
use crate::value::{Entry, Extra, Key, KeyKind, List, Map, Node, Number, Step, Value};

/// A value while expressions are evaluated.
#[derive(Debug, Clone)]
pub(super) enum Datum {
    /// Data. Expressions in it that are not computed yet belong to the owner; without an owner there are none, or none that
    /// count.
    Node { node: Node, owner: Option<ResourceId> },
    /// A resource.
    Resource(ResourceId),
    /// Every resource of the tree, by path and by name.
    Everything,
    /// A list that an expression made, of what is not data alone.
    List { items: Arc<[Datum]>, at: Span, height: u32 },
    /// A map that an expression made, of what is not data alone.
    Map { members: Arc<[(Key, Datum)]>, at: Span, height: u32 },
    /// Says what a loop should do.
    Signal(Signal),
}

/// What the variables `$break` and `$continue` hold inside a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    /// No more items.
    Break,
    /// Not this item.
    Continue,
}

/// Values to go through one by one; those that are expressions are computed only when it is their turn.
#[derive(Debug, Clone)]
pub(super) enum Group {
    One(Datum),
    Many(Arc<[Datum]>),
    /// The items of a list in a document.
    Items {
        list: Arc<List>,
        way: Option<Step>,
        owner: Option<ResourceId>,
    },
    /// The values of a map in a document.
    Members {
        map: Arc<Map>,
        way: Option<Step>,
        owner: Option<ResourceId>,
    },
}

impl Datum {
    /// Data in which nothing is left to compute.
    pub(super) fn plain(node: Node) -> Self {
        Self::Node { node, owner: None }
    }

    pub(super) fn null(at: Span) -> Self {
        Self::plain(Node::new(Value::Null, at))
    }

    pub(super) fn bool(value: bool, at: Span) -> Self {
        Self::plain(Node::new(Value::Bool(value), at))
    }

    pub(super) fn text(text: impl Into<SmolStr>, at: Span) -> Self {
        Self::plain(Node::text(text, at))
    }

    pub(super) fn number(number: Number, at: Span) -> Self {
        Self::plain(Node::new(Value::Number(number), at))
    }

    /// A list of these: data if all of them are.
    pub(super) fn list(items: Vec<Datum>, at: Span) -> Self {
        let is_data = |datum: &Datum| matches!(datum, Self::Node { owner: None, .. });
        if !items.iter().all(is_data) {
            let height = 1 + items.iter().map(Self::height).max().unwrap_or(0);
            return Self::List { items: items.into(), at, height };
        }
        let nodes = items.into_iter().filter_map(Self::into_plain).collect();
        Self::plain(Node::list(nodes, at))
    }

    /// A map of these: data if all of them are.
    pub(super) fn map(members: Vec<(Key, Datum)>, at: Span) -> Self {
        let is_data = |(_, datum): &(Key, Datum)| matches!(datum, Self::Node { owner: None, .. });
        if !members.iter().all(is_data) {
            let height = 1 + members.iter().map(|(_, datum)| datum.height()).max().unwrap_or(0);
            return Self::Map { members: members.into(), at, height };
        }
        let entries = members.into_iter().filter_map(|(key, datum)| Some(Entry { key, value: datum.into_plain()? }));
        Self::plain(Node::map(entries.collect(), at))
    }

    /// How many levels it has: what is deep cannot even be forgotten without a deep stack.
    pub(super) fn height(&self) -> u32 {
        match self {
            Self::Node { node, .. } => node.height(),
            Self::List { height, .. } | Self::Map { height, .. } => *height,
            Self::Resource(_) | Self::Everything | Self::Signal(_) => 1,
        }
    }

    fn into_plain(self) -> Option<Node> {
        match self {
            Self::Node { node, .. } => Some(node),
            _ => None,
        }
    }

    /// The value, if it is data.
    pub(super) fn as_value(&self) -> Option<&Value> {
        match self {
            Self::Node { node, .. } => Some(&node.value),
            _ => None,
        }
    }

    /// Null, as data.
    pub(super) fn is_null(&self) -> bool {
        matches!(self.as_value(), Some(Value::Null))
    }

    /// What `if`, `and`, `or` and `not` take for true: everything but null, false, zero and what is empty.
    pub(super) fn is_truthy(&self) -> bool {
        match self {
            Self::Node { node, .. } => match beneath(&node.value) {
                Value::Null => false,
                Value::Bool(value) => *value,
                Value::Number(number) => !Number::from_json("0").is_some_and(|zero| zero.is_equal(number)),
                Value::String(text) => !text.is_empty(),
                Value::List(list) => !list.items().is_empty(),
                Value::Map(map) => !map.is_empty(),
                Value::Secret(_) => true,
            },
            Self::List { items, .. } => !items.is_empty(),
            Self::Map { members, .. } => !members.is_empty(),
            Self::Resource(_) | Self::Everything | Self::Signal(_) => true,
        }
    }

    /// Its items, if it is a list.
    pub(super) fn items(&self) -> Option<Group> {
        match self {
            Self::Node { node, owner } => match &node.value {
                Value::List(list) => {
                    Some(Group::Items { list: Arc::clone(list), way: node.step().cloned(), owner: *owner })
                }
                _ => None,
            },
            Self::List { items, .. } => Some(Group::Many(Arc::clone(items))),
            _ => None,
        }
    }

    /// Its values, if it is a map; those of the whole tree are known to the tree alone.
    pub(super) fn members(&self) -> Option<Group> {
        match self {
            Self::Node { node, owner } => match &node.value {
                Value::Map(map) => {
                    Some(Group::Members { map: Arc::clone(map), way: node.step().cloned(), owner: *owner })
                }
                _ => None,
            },
            Self::Map { members, .. } => Some(Group::Many(members.iter().map(|(_, datum)| datum.clone()).collect())),
            _ => None,
        }
    }

    /// Its member, if it is a map and has it. An expression there is not computed yet.
    pub(super) fn member(&self, key: &str) -> Option<Datum> {
        match self {
            Self::Node { node, owner } => {
                let child = node.get(key)?;
                Some(Self::Node { node: part(child, node.step()), owner: *owner })
            }
            Self::Map { members, .. } => {
                members.iter().find(|(name, _)| name.name == key).map(|(_, datum)| datum.clone())
            }
            _ => None,
        }
    }

    /// A scalar as text: what `concat` joins and maps have as keys.
    pub(super) fn scalar_text(&self) -> Option<SmolStr> {
        Some(match self.as_value()? {
            Value::Null => SmolStr::new_static("null"),
            Value::Bool(true) => SmolStr::new_static("true"),
            Value::Bool(false) => SmolStr::new_static("false"),
            Value::Number(number) => number.to_json().map_or_else(|| number.as_str().into(), SmolStr::from),
            Value::String(text) => text.clone(),
            Value::List(_) | Value::Map(_) | Value::Secret(_) => return None,
        })
    }
}

impl Group {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many(data) => data.len(),
            Self::Items { list, .. } => list.items().len(),
            Self::Members { map, .. } => map.len(),
        }
    }

    /// One of them; an expression there is not computed yet.
    pub(super) fn at(&self, position: usize) -> Datum {
        match self {
            Self::One(datum) => datum.clone(),
            Self::Many(data) => data[position].clone(),
            Self::Items { list, way, owner } => {
                Datum::Node { node: part(&list.items()[position], way.as_ref()), owner: *owner }
            }
            Self::Members { map, way, owner } => {
                Datum::Node { node: part(&map.entries()[position].value, way.as_ref()), owner: *owner }
            }
        }
    }
}

/// Provenance steps are kept where a part was grafted; a value that is taken out of such a part gets the steps of the whole.
const LONGEST_WAY: usize = 1000;

/// A part of a value, with its own steps and then the steps of the whole.
pub(super) fn part(node: &Node, whole: Option<&Step>) -> Node {
    let Some(whole) = whole else { return node.clone() };
    let own = node.step().map_or(0, |step| step.chain().len());
    if own > LONGEST_WAY {
        return node.clone();
    }
    let mut extra = node.extra.as_deref().cloned().unwrap_or_else(Extra::default);
    extra.step = match extra.step.take() {
        None => Some(whole.clone()),
        Some(own) => {
            Some(whole.chain().iter().fold(own, |own, step| Step::new(step.kind, step.at).after(Arc::new(own))))
        }
    };
    Node { extra: Some(Arc::new(extra)), ..node.clone() }
}

/// A key that is text.
pub(super) fn text_key(name: impl Into<SmolStr>, at: Span) -> Key {
    Key { name: name.into(), kind: KeyKind::Text, span: at }
}
