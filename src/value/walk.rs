//! Walks over trees: the children of a node, searches, visits with their paths, and rebuilding where something changed.

use std::convert::Infallible;

use smol_str::{SmolStr, ToSmolStr};

use super::{Entry, Key, List, Map, Node, Value};
use crate::path::Pointer;

/// A child of a list or a map, and how it is reached.
#[derive(Clone, Copy, Debug)]
pub struct Child<'a> {
    /// Its position in written order, from 0.
    pub at: usize,
    /// Its key; none for an item of a list.
    pub key: Option<&'a Key>,
    /// The child itself.
    pub node: &'a Node,
}

impl Child<'_> {
    /// The name of its key or its index, as JSON pointers write it.
    pub fn token(&self) -> SmolStr {
        self.key.map_or_else(|| self.at.to_smolstr(), |key| key.name.clone())
    }
}

/// The children of a list or a map in written order.
#[derive(Debug)]
pub struct Children<'a> {
    value: &'a Value,
    next: usize,
}

impl<'a> Iterator for Children<'a> {
    type Item = Child<'a>;

    fn next(&mut self) -> Option<Child<'a>> {
        let child = self.value.child(self.next)?;
        self.next += 1;
        Some(child)
    }
}

impl Node {
    /// The items of a list or the values of a map; none for a scalar or a secret.
    pub fn children(&self) -> Children<'_> {
        self.value.children()
    }

    /// Whether the node or one of its descendants fulfils a condition. What a secret hides is not looked at.
    pub fn any(&self, mut condition: impl FnMut(&Node) -> bool) -> bool {
        any(self, &mut condition)
    }

    /// Calls a function with the node and each of its descendants, parents before children, and with the path of each.
    pub fn for_each<'n>(&'n self, path: &mut Pointer, mut visit: impl FnMut(&Pointer, &'n Node)) {
        for_each(self, path, &mut visit);
    }

    /// The node with some children replaced: by what the function returns, `None` for a child that stays. Returns `None` if all
    /// stay. Keys, span, tag, anchor and provenance of the node are kept.
    pub fn map_children(&self, mut replace: impl FnMut(Child<'_>) -> Option<Node>) -> Option<Node> {
        let replaced: Result<_, Infallible> = self.try_map_children(|child| Ok(replace(child)));
        replaced.unwrap_or_else(|never| match never {})
    }

    /// Like [`Node::map_children`] with a function that can fail; the first failure is returned.
    pub fn try_map_children<F>(
        &self,
        mut replace: impl FnMut(Child<'_>) -> Result<Option<Node>, F>,
    ) -> Result<Option<Node>, F> {
        let mut replaced = Replaced::None;
        for child in self.children() {
            if let Some(node) = replace(child)? {
                replaced.set(&self.value, child.at, node);
            }
        }
        let value = match replaced {
            Replaced::None => return Ok(None),
            Replaced::Items(items) => Value::List(List::new(items).into()),
            Replaced::Entries(entries) => Value::Map(Map::new(entries).into()),
        };
        Ok(Some(Node { value, span: self.span, extra: self.extra.clone() }))
    }

    /// The node with another one at a place that exists; otherwise the node as it is.
    #[must_use]
    pub fn with_at(&self, place: &Pointer, node: Node) -> Node {
        with_at(self, place.tokens(), &node).unwrap_or_else(|| self.clone())
    }

    /// Whether both are absent, or both are present and identical.
    pub fn same_option(one: Option<&Node>, other: Option<&Node>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) => one.is_identical(other),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Value {
    /// The items of a list or the values of a map; none for a scalar or a secret.
    pub fn children(&self) -> Children<'_> {
        Children { value: self, next: 0 }
    }

    /// The child at a position in written order.
    pub fn child(&self, at: usize) -> Option<Child<'_>> {
        match self {
            Self::List(list) => list.items().get(at).map(|node| Child { at, key: None, node }),
            Self::Map(map) => {
                map.entries().get(at).map(|entry| Child { at, key: Some(&entry.key), node: &entry.value })
            }
            _ => None,
        }
    }
}

fn with_at(root: &Node, tokens: &[SmolStr], node: &Node) -> Option<Node> {
    let Some((first, rest)) = tokens.split_first() else { return Some(node.clone()) };
    root.map_children(|child| if child.token() == *first { with_at(child.node, rest, node) } else { None })
}

fn any<F: FnMut(&Node) -> bool>(node: &Node, condition: &mut F) -> bool {
    condition(node) || node.children().any(|child| any(child.node, condition))
}

fn for_each<'n, F: FnMut(&Pointer, &'n Node)>(node: &'n Node, path: &mut Pointer, visit: &mut F) {
    visit(path, node);
    for child in node.children() {
        path.push(child.token());
        for_each(child.node, path, visit);
        path.pop();
    }
}

/// A copy of the children, made when the first one is replaced.
enum Replaced {
    None,
    Items(Vec<Node>),
    Entries(Vec<Entry>),
}

impl Replaced {
    fn set(&mut self, original: &Value, at: usize, node: Node) {
        if let Self::None = self {
            *self = match original {
                Value::List(list) => Self::Items(list.items().to_vec()),
                Value::Map(map) => Self::Entries(map.entries().to_vec()),
                _ => Self::None,
            };
        }
        match self {
            Self::None => {}
            Self::Items(items) => items[at] = node,
            Self::Entries(entries) => entries[at].value = node,
        }
    }
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
    fn what_is_in_a_tree_is_known_at_its_root() {
        let (tree, span) = tree();
        assert!(tree.holds_extra() && !tree.holds_secret() && !tree.may_hold_eval() && !tree.holds_plus_key());
        let directive = Node::map(vec![Entry::named("+a", span, tree.clone())], span);
        assert!(Node::list(vec![directive], span).holds_plus_key());
        let plain = Node::list(vec![Node::text("eval", span)], span);
        assert!(!plain.holds_extra() && !plain.may_hold_eval(), "a value is no key");
        let computed = Node::list(vec![Node::map(vec![Entry::named("eval", span, plain.clone())], span)], span);
        assert!(computed.may_hold_eval() && !computed.holds_secret());
        let hidden = Node::new(Value::Secret(crate::value::Secret::hide(plain)), span);
        let around = Node::map(vec![Entry::named("a", span, Node::list(vec![hidden], span))], span);
        assert!(around.holds_secret() && around.may_hold_eval(), "a secret may hide an expression");
        let replaced = around.map_children(|_| Some(Node::text("x", span))).unwrap();
        assert!(!replaced.holds_secret());
    }

    #[test]
    fn replacing_keeps_keys_and_provenance_and_shares_the_rest() {
        let (tree, span) = tree();
        assert!(tree.map_children(|_| None).is_none());
        let changed = tree.map_children(|child| (child.token() == "b").then(|| Node::text("y", span))).unwrap();
        assert_eq!(changed.get("b").and_then(Node::as_str), Some("y"));
        assert_eq!(changed.step().map(|step| step.kind), Some(StepKind::Include));
        assert!(changed.get("a").unwrap().is_shared_with(tree.get("a").unwrap()));
        assert_eq!(changed.get("a").unwrap().step().map(|step| step.kind), Some(StepKind::Alias));
        assert!(Node::same_option(tree.get("a"), changed.get("a")) && Node::same_option(None, None));
        assert!(!Node::same_option(tree.get("b"), changed.get("b")) && !Node::same_option(None, changed.get("b")));
    }
}
