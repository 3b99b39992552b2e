//! Walks over trees: the children of a node, searches, visits with their paths, and rebuilding where something changed.

use std::slice;

use smol_str::{SmolStr, ToSmolStr};

use super::{Entry, Key, List, Map, Node, Value};
use crate::path::Pointer;

/// How a child is reached from its parent.
#[derive(Clone, Copy, Debug)]
pub enum Child<'a> {
    /// The value of a key of a map.
    Key(&'a Key),
    /// An item of a list, counted from 0.
    Item(usize),
}

/// The children of a node in written order.
pub struct Children<'a>(Kind<'a>);

enum Kind<'a> {
    Items(std::iter::Enumerate<slice::Iter<'a, Node>>),
    Entries(slice::Iter<'a, Entry>),
}

impl<'a> Iterator for Children<'a> {
    type Item = (Child<'a>, &'a Node);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Kind::Items(items) => items.next().map(|(at, item)| (Child::Item(at), item)),
            Kind::Entries(entries) => entries.next().map(|entry| (Child::Key(&entry.key), &entry.value)),
        }
    }
}

impl Child<'_> {
    /// The step as a token of a JSON pointer.
    pub fn token(self) -> SmolStr {
        match self {
            Self::Key(key) => key.name.clone(),
            Self::Item(at) => at.to_smolstr(),
        }
    }
}

impl Node {
    /// The items of a list or the values of a map, each with how it is reached; none for a scalar or a secret.
    pub fn children(&self) -> Children<'_> {
        self.value.children()
    }

    /// Whether the node or one of its descendants fulfils a condition. What a secret hides is not looked at.
    pub fn any(&self, mut condition: impl FnMut(&Node) -> bool) -> bool {
        any(self, &mut condition)
    }

    /// Calls a function with the node and each of its descendants, parents before children, and the path of each.
    pub fn for_each<'n>(&'n self, path: &mut Pointer, mut visit: impl FnMut(&Pointer, &'n Node)) {
        for_each(self, path, &mut visit);
    }

    /// The node with some children replaced: by what the function returns, `None` for a child that stays. Returns `None` if all
    /// stay. Keys, span, tag, anchor and provenance of the node are kept.
    pub fn map_children(&self, replace: impl FnMut(Child<'_>, &Node) -> Option<Node>) -> Option<Node> {
        let value = self.value.map_children(replace)?;
        Some(Node { value, span: self.span, extra: self.extra.clone() })
    }

    /// Whether both are absent, or both are present and equal.
    pub fn same_option(one: Option<&Node>, other: Option<&Node>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) => one.is_equal(other),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Value {
    /// The items of a list or the values of a map, each with how it is reached; none for a scalar or a secret.
    pub fn children(&self) -> Children<'_> {
        Children(match self {
            Self::List(list) => Kind::Items(list.items().iter().enumerate()),
            Self::Map(map) => Kind::Entries(map.entries().iter()),
            _ => Kind::Entries(slice::Iter::default()),
        })
    }

    /// The value with some children replaced; `None` if all stay.
    pub fn map_children(&self, mut replace: impl FnMut(Child<'_>, &Node) -> Option<Node>) -> Option<Value> {
        match self {
            Self::List(list) => {
                let items = replaced(list.items(), |at, item| replace(Child::Item(at), item))?;
                Some(Self::List(List::new(items).into()))
            }
            Self::Map(map) => {
                let entries = replaced(map.entries(), |_, entry| {
                    let value = replace(Child::Key(&entry.key), &entry.value)?;
                    Some(Entry { key: entry.key.clone(), value })
                })?;
                Some(Self::Map(Map::new(entries).into()))
            }
            _ => None,
        }
    }
}

fn any(node: &Node, condition: &mut dyn FnMut(&Node) -> bool) -> bool {
    condition(node) || node.children().any(|(_, child)| any(child, condition))
}

fn for_each<'n>(node: &'n Node, path: &mut Pointer, visit: &mut dyn FnMut(&Pointer, &'n Node)) {
    visit(path, node);
    for (step, child) in node.children() {
        path.push(step.token());
        for_each(child, path, visit);
        path.pop();
    }
}

/// A copy with the replacements in it, made when the first one comes.
fn replaced<T: Clone>(all: &[T], mut replace: impl FnMut(usize, &T) -> Option<T>) -> Option<Vec<T>> {
    let (first, replacement) = all.iter().enumerate().find_map(|(at, one)| Some((at, replace(at, one)?)))?;
    let mut copy = Vec::with_capacity(all.len());
    copy.extend_from_slice(&all[..first]);
    copy.push(replacement);
    let rest = all.iter().enumerate().skip(first + 1);
    copy.extend(rest.map(|(at, one)| replace(at, one).unwrap_or_else(|| one.clone())));
    Some(copy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::RepoPath;
    use crate::text::{SourceText, Sources, Span};
    use crate::value::{Number, StepKind};

    fn tree() -> (Node, Span) {
        let source = Sources::default().add(SourceText::new(RepoPath::root(), "", ""));
        let span = Span::new(source, 0, 0);
        let number = |text| Node::new(Value::Number(Number::from_json(text).unwrap()), span);
        let list = Node::list(vec![number("1"), number("2")], span).through(StepKind::Alias, span);
        let entries = vec![Entry::named("a", span, list), Entry::named("b", span, Node::text("x", span))];
        (Node::map(entries, span).through(StepKind::Include, span), span)
    }

    #[test]
    fn every_descendant_is_visited_with_its_path() {
        let (tree, _) = tree();
        let mut paths = Vec::new();
        tree.for_each(&mut Pointer::root(), |path, _| paths.push(path.to_string()));
        assert_eq!(paths, ["", "/a", "/a/0", "/a/1", "/b"]);
        assert!(tree.any(|node| node.as_str() == Some("x")));
        assert!(!tree.any(|node| node.as_str() == Some("y")));
    }

    #[test]
    fn replacing_keeps_keys_and_provenance_and_shares_the_rest() {
        let (tree, span) = tree();
        assert!(tree.map_children(|_, _| None).is_none());
        let changed = tree.map_children(|step, _| (step.token() == "b").then(|| Node::text("y", span))).unwrap();
        assert_eq!(changed.get("b").and_then(Node::as_str), Some("y"));
        assert_eq!(changed.step().map(|step| step.kind), Some(StepKind::Include));
        assert!(changed.get("a").unwrap().is_shared_with(tree.get("a").unwrap()));
        assert_eq!(changed.get("a").unwrap().step().map(|step| step.kind), Some(StepKind::Alias));
        assert!(Node::same_option(tree.get("a"), changed.get("a")) && Node::same_option(None, None));
        assert!(!Node::same_option(tree.get("b"), changed.get("b")) && !Node::same_option(None, changed.get("b")));
    }
}
