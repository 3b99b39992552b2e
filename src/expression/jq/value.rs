//! The values of a running program. What it does not touch stays a [`Node`], with its span, tag and digits; what it makes knows
//! its weight, so that no value outgrows the budget unseen.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::budget::{Abort, abort, check_weight, spend};
use crate::text::Span;
use crate::value::{Entry, Key, KeyKind, Node, Number, Secret, Value};

/// A value: a scalar or an untouched part of a document, or a list or map that the program made.
#[derive(Clone, Debug)]
pub(crate) enum Val {
    /// As a document has it; every scalar is here.
    Node(Node),
    /// Made of items.
    List(Arc<Items>),
    /// Made of members.
    Map(Arc<Members>),
}

/// Items of a list that a program made.
#[derive(Clone, Debug)]
pub(crate) struct Items {
    items: Vec<Val>,
    size: u64,
    height: u32,
}

/// Members of a map that a program made, in the order they were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    entries: Vec<(Key, Val)>,
    /// Positions by name, for maps too large to scan.
    by_name: Option<HashMap<SmolStr, usize>>,
    size: u64,
    height: u32,
}

/// Kinds of values, in the order in which jq sorts them; a secret passes for a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Null,
    Bool,
    Number,
    Text,
    List,
    Map,
}

thread_local! {
    /// Where the running expression is written: the place of everything it makes.
    static MADE_AT: Cell<Option<Span>> = const { Cell::new(None) };
}

/// Runs something whose values are made at that place.
pub(super) fn making_at<T>(place: Span, run: impl FnOnce() -> T) -> T {
    struct Restore(Option<Span>);
    impl Drop for Restore {
        fn drop(&mut self) {
            MADE_AT.set(self.0);
        }
    }
    let _restore = Restore(MADE_AT.replace(Some(place)));
    run()
}

pub(super) fn made_at() -> Span {
    MADE_AT.get().unwrap_or_else(|| abort(Abort::Broken))
}

impl Val {
    pub(super) fn null() -> Self {
        Self::scalar(Value::Null)
    }

    pub(super) fn text(text: impl Into<SmolStr>) -> Self {
        Self::scalar(Value::String(text.into()))
    }

    pub(super) fn number(number: Number) -> Self {
        Self::scalar(Value::Number(number))
    }

    pub(super) fn scalar(value: Value) -> Self {
        Self::Node(Node::new(value, made_at()))
    }

    pub(super) fn list(items: Vec<Val>) -> Self {
        let (size, height) = items.iter().fold((1, 1), |(size, height), item| add_weight(size, height, item));
        check_weight(size, height);
        Self::List(Arc::new(Items { items, size, height }))
    }

    pub(super) fn map(members: Members) -> Self {
        Self::Map(Arc::new(members))
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::List(_) => Kind::List,
            Self::Map(_) => Kind::Map,
            Self::Node(node) => match node.value {
                Value::Null => Kind::Null,
                Value::Bool(_) => Kind::Bool,
                Value::Number(_) => Kind::Number,
                Value::String(_) | Value::Secret(_) => Kind::Text,
                Value::List(_) => Kind::List,
                Value::Map(_) => Kind::Map,
            },
        }
    }

    pub(super) fn as_bool_value(&self) -> Option<bool> {
        match self {
            Self::Node(Node { value: Value::Bool(value), .. }) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Node(Node { value: Value::Number(number), .. }) => Some(number),
            _ => None,
        }
    }

    /// The text; a run that asks a secret for its text ends.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Node(Node { value: Value::String(text), .. }) => Some(text),
            Self::Node(Node { value: Value::Secret(_), .. }) => abort(Abort::Secret),
            _ => None,
        }
    }

    pub(super) fn as_secret(&self) -> Option<&Secret> {
        match self {
            Self::Node(Node { value: Value::Secret(secret), .. }) => Some(secret),
            _ => None,
        }
    }

    /// How many items or members it has.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::List(list) => list.items.len(),
            Self::Map(map) => map.entries.len(),
            Self::Node(node) => match &node.value {
                Value::List(list) => list.items().len(),
                Value::Map(map) => map.len(),
                _ => 0,
            },
        }
    }

    /// An item of a list.
    pub(super) fn item(&self, at: usize) -> Option<Val> {
        match self {
            Self::List(list) => list.items.get(at).cloned(),
            Self::Node(node) => node.as_list()?.get(at).cloned().map(Self::Node),
            Self::Map(_) => None,
        }
    }

    /// A member of a map.
    pub(super) fn member(&self, name: &str) -> Option<Val> {
        match self {
            Self::Map(map) => map.position(name).map(|at| map.entries[at].1.clone()),
            Self::Node(node) => node.get(name).cloned().map(Self::Node),
            Self::List(_) => None,
        }
    }

    /// The items, if it is a list; otherwise it comes back.
    pub(super) fn into_items(self) -> Result<Vec<Val>, Val> {
        match self {
            Self::List(list) => {
                spend(list.items.len() as u64 / 8);
                Ok(Arc::try_unwrap(list).map_or_else(|shared| shared.items.clone(), |own| own.items))
            }
            Self::Node(Node { value: Value::List(list), .. }) => {
                spend(list.items().len() as u64 / 8);
                Ok(list.items().iter().cloned().map(Self::Node).collect())
            }
            other => Err(other),
        }
    }

    /// The members, if it is a map; otherwise it comes back.
    pub(super) fn into_members(self) -> Result<Members, Val> {
        match self {
            Self::Map(map) => {
                spend(map.entries.len() as u64 / 8);
                Ok(Arc::try_unwrap(map).unwrap_or_else(|shared| (*shared).clone()))
            }
            Self::Node(Node { value: Value::Map(map), .. }) => {
                spend(map.len() as u64 / 8);
                let mut members = Members::default();
                for entry in map.entries() {
                    members.insert_key(entry.key.clone(), Self::Node(entry.value.clone()));
                }
                Ok(members)
            }
            other => Err(other),
        }
    }

    /// The names of the members in their order.
    pub(super) fn names(&self) -> Vec<SmolStr> {
        match self {
            Self::Map(map) => map.entries.iter().map(|(key, _)| key.name.clone()).collect(),
            Self::Node(node) => node
                .as_map()
                .map(|map| map.entries().iter().map(|entry| entry.key.name.clone()).collect())
                .unwrap_or_default(),
            Self::List(_) => Vec::new(),
        }
    }

    fn weight(&self) -> (u64, u32) {
        match self {
            Self::Node(node) => (node.size(), node.height()),
            Self::List(list) => (list.size, list.height),
            Self::Map(map) => (map.size.max(1), map.height.max(1)),
        }
    }

    /// The value as a node; values that the program made get the span of the expression.
    pub(super) fn into_node(self) -> Node {
        let place = made_at();
        match self {
            Self::Node(node) => {
                // What came in stays; what a calculation made must be a number that JSON knows.
                if let Value::Number(number) = &node.value
                    && node.span == place
                    && number.to_json().is_none()
                {
                    abort(Abort::Inexact(number.as_str().into()));
                }
                node
            }
            Self::List(list) => {
                let items = Arc::try_unwrap(list).map_or_else(|shared| shared.items.clone(), |own| own.items);
                Node::list(items.into_iter().map(Self::into_node).collect(), place)
            }
            Self::Map(map) => {
                let members = Arc::try_unwrap(map).unwrap_or_else(|shared| (*shared).clone());
                let entries = members.entries.into_iter().map(|(key, value)| Entry { key, value: value.into_node() });
                Node::map(entries.collect(), place)
            }
        }
    }

    /// Levels of nesting.
    pub(super) fn height(&self) -> u32 {
        self.weight().1
    }
}

fn add_weight(size: u64, height: u32, child: &Val) -> (u64, u32) {
    let (child_size, child_height) = child.weight();
    (size.saturating_add(child_size), height.max(child_height.saturating_add(1)))
}

/// Up to this many members a scan is faster than a search.
const SMALL_MAP: usize = 16;

impl Members {
    /// Sets a member, at the end if it is new.
    pub(super) fn insert(&mut self, name: SmolStr, value: Val) {
        self.insert_key(Key { name, kind: KeyKind::Text, span: made_at() }, value);
    }

    pub(super) fn insert_key(&mut self, key: Key, value: Val) {
        let (size, height) = add_weight(self.size.max(1), self.height.max(1), &value);
        (self.size, self.height) = (size, height);
        match self.position(&key.name) {
            Some(at) => {
                let old = std::mem::replace(&mut self.entries[at].1, value);
                self.size = self.size.saturating_sub(old.weight().0);
            }
            None => {
                if let Some(by_name) = &mut self.by_name {
                    by_name.insert(key.name.clone(), self.entries.len());
                }
                self.entries.push((key, value));
                if self.by_name.is_none() && self.entries.len() > SMALL_MAP {
                    self.index();
                }
            }
        }
        check_weight(self.size, self.height);
    }

    /// Takes a member away; the others keep their order.
    pub(super) fn remove(&mut self, name: &str) -> Option<Val> {
        let at = self.position(name)?;
        spend(self.entries.len() as u64 / 8);
        let (_, value) = self.entries.remove(at);
        self.size = self.size.saturating_sub(value.weight().0);
        if self.by_name.is_some() {
            self.index();
        }
        Some(value)
    }

    /// Takes the value of a member out for a moment.
    pub(super) fn take(&mut self, name: &str) -> Option<Val> {
        let at = self.position(name)?;
        let value = std::mem::replace(&mut self.entries[at].1, Val::null());
        self.size = self.size.saturating_sub(value.weight().0).saturating_add(1);
        Some(value)
    }

    pub(super) fn into_entries(self) -> Vec<(Key, Val)> {
        self.entries
    }

    fn position(&self, name: &str) -> Option<usize> {
        match &self.by_name {
            Some(by_name) => by_name.get(name).copied(),
            None => self.entries.iter().position(|(key, _)| key.name == name),
        }
    }

    fn index(&mut self) {
        let positions = self.entries.iter().enumerate().map(|(at, (key, _))| (key.name.clone(), at));
        self.by_name = Some(positions.collect());
    }
}
