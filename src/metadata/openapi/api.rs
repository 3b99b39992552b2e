//! An OpenAPI document as a tree: its paths, the operations on them, and references followed within it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::template::{PathSegment, PathTemplate};
use crate::finding::{self, Finding, Location};
use crate::path::Pointer;
use crate::percent;
use crate::sanitize;
use crate::text::Span;
use crate::value::{Entry, Node, Value};

/// A document, and what is wrong with the parts of it that were used.
pub(super) struct Api<'a> {
    root: &'a Node,
    troubles: RefCell<BTreeMap<Span, Finding>>,
}

/// A path with the operations on it.
#[derive(Debug)]
pub(super) struct PathItem<'a> {
    pub(super) text: &'a str,
    pub(super) at: Span,
    pub(super) template: PathTemplate<'a>,
    /// The operations, references followed.
    pub(super) node: &'a Node,
}

/// What the last segment of a path has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    Anything,
    /// It matches each item of a collection, so it is not a literal.
    Item,
}

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// Length of a chain of references that can only be a mistake.
const LONGEST_CHAIN: usize = 100;

impl<'a> Api<'a> {
    pub(super) fn new(root: &'a Node) -> Self {
        let api = Self { root, troubles: RefCell::default() };
        if root.get("paths").and_then(Node::as_map).is_none() {
            let message = "this is not an OpenAPI document: it has no map of `paths`";
            api.report(Finding::new(&finding::OPENAPI_INVALID, Location::Span(root.span.start_only()), message));
        }
        api
    }

    /// What was found wrong, by place.
    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.troubles.into_inner().into_values().collect()
    }

    pub(super) fn report(&self, finding: Finding) {
        if let Location::Span(span) = finding.location {
            self.troubles.borrow_mut().entry(span).or_insert(finding);
        }
    }

    /// Every path that has an operation, in written order.
    pub(super) fn paths(&self) -> impl Iterator<Item = PathItem<'a>> {
        let entries = self.root.get("paths").and_then(Node::as_map).map(|map| map.entries()).unwrap_or_default();
        entries.iter().filter_map(|entry| self.path_item(entry))
    }

    /// The path of an entry, if it has an operation.
    pub(super) fn path_item(&self, entry: &'a Entry) -> Option<PathItem<'a>> {
        let template = PathTemplate::parse(&entry.key.name)?;
        let node = self.resolve(&entry.value)?;
        let item = PathItem { text: &entry.key.name, at: entry.key.span, template, node };
        METHODS.iter().any(|method| item.operation(method).is_some()).then_some(item)
    }

    /// The path of this many segments that fits a selector best; of equals the first in byte order.
    pub(super) fn best(&self, selector: &[String], length: usize, last: Last) -> Option<PathItem<'a>> {
        let fits = |item: &PathItem<'a>| {
            let is_one_word = matches!(item.template.last(), Some(PathSegment::Literal(_)));
            item.template.len() == length && !(last == Last::Item && is_one_word)
        };
        let scored = self.paths().filter(fits).filter_map(|item| Some((item.template.score(selector)?, item)));
        let better = |a: &(usize, PathItem<'_>), b: &(usize, PathItem<'_>)| {
            // A variable of its own is a plainer item than a part of a word.
            let is_plain = |item: &PathItem<'_>| matches!(item.template.last(), Some(PathSegment::Variable(_)));
            let kind = |item: &PathItem<'_>| last == Last::Item && is_plain(item);
            (a.0, kind(&a.1)).cmp(&(b.0, kind(&b.1))).then_with(|| b.1.text.cmp(a.1.text))
        };
        scored.max_by(better).map(|(_, item)| item)
    }

    /// Follows references until there is none.
    pub(super) fn resolve(&self, node: &'a Node) -> Option<&'a Node> {
        let mut found = node;
        for _ in 0..LONGEST_CHAIN {
            match self.reference(found) {
                None => return Some(found),
                Some(target) => found = target?,
            }
        }
        self.dangling(node, "leads in a circle, or through too many others");
        None
    }

    /// Where the reference of a node leads, if it has one; nothing if that is nowhere.
    pub(super) fn reference(&self, node: &'a Node) -> Option<Option<&'a Node>> {
        let reference = node.get("$ref")?;
        let text = reference.as_str()?;
        let target = text.strip_prefix('#').map(|fragment| self.at_fragment(fragment));
        let shown = sanitize::inline(text);
        match target {
            Some(Some(target)) => return Some(Some(target)),
            Some(None) => self.dangling(reference, &format!("`{shown}` leads to nothing")),
            None => self.dangling(reference, &format!("`{shown}` leads out of the document and is not followed")),
        }
        Some(None)
    }

    /// The node at a pointer that is written as the fragment of a URL.
    pub(super) fn at_fragment(&self, fragment: &str) -> Option<&'a Node> {
        let pointer = Pointer::parse(&percent::unescape(fragment)?).ok()?;
        self.root.at(&pointer)
    }

    fn dangling(&self, node: &Node, what: &str) {
        let message = format!("a reference {what}");
        let finding = Finding::new(&finding::OPENAPI_REFERENCE, Location::Span(node.span), message);
        self.report(
            finding.help("references lead into the same document, such as `#/components/schemas/Name`, or to a file of the repository"),
        );
    }

    /// All schemas that are reached from one by references and under the given keys, each once. `seen` keeps a second walk from
    /// going where the first has been.
    pub(super) fn reach(&self, start: &'a Node, keys: &[&str], seen: &mut Seen) -> Vec<&'a Node> {
        let mut reached = Vec::new();
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            if !seen.insert(std::ptr::from_ref(node) as usize) {
                continue;
            }
            reached.push(node);
            open.extend(self.reference(node).flatten());
            for below in keys.iter().filter_map(|key| node.get(key)) {
                match &below.value {
                    Value::List(list) => open.extend(list.items()),
                    _ => open.push(below),
                }
            }
        }
        reached
    }
}

/// Nodes that were looked at, by where they are in memory: the document outlives the walk and does not move.
pub(super) type Seen = BTreeSet<usize>;

impl<'a> PathItem<'a> {
    /// The methods that it has, in lower case.
    pub(super) fn methods(&self) -> impl Iterator<Item = &'static str> {
        METHODS.into_iter().filter(|method| self.operation(method).is_some())
    }

    /// The operation of a method, in lower case.
    pub(super) fn operation(&self, method: &str) -> Option<&'a Node> {
        self.node.get(method).filter(|node| matches!(node.value, Value::Map(_) | Value::Null))
    }
}
