//! The items of a list response: transformed by jq, distinguished, named and sorted.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::RequestTarget;
use super::lookup::Siblings;
use super::scope::scope_for;
use super::transform::jq;
use crate::expression::jq::pay;
use crate::finding::{self, Finding, Location, Outcome};
use crate::metadata::{Field, Operation, RemoteIdentity, identify_list_item};
use crate::path::LogicalPath;
use crate::sanitize;
use crate::text::Span;
use crate::value::{Node, Value};

/// One resource of a list.
#[derive(Debug, Clone)]
pub struct ListItem {
    /// What it is called below the collection.
    pub path: LogicalPath,
    /// Its names.
    pub identity: RemoteIdentity,
    /// Its payload in the list.
    pub payload: Node,
}

/// What a list of a collection would answer, without a server: the payloads of its direct children, by path.
pub fn list_response(target: &RequestTarget<'_>) -> Node {
    let children = target.lookup.children(target.path);
    Node::list(children.into_iter().map(|(_, payload)| payload).collect(), target.payload.span)
}

/// The items of a response, by path. The target is the collection.
pub fn list(response: &Node, target: &RequestTarget<'_>) -> Outcome<Vec<ListItem>> {
    let mut findings = Vec::new();
    let shaped = shaped(response, target).and_then(|shaped| items(&shaped, target));
    let nodes = match shaped {
        Ok(nodes) => nodes,
        Err(finding) => return Outcome { value: Vec::new(), findings: vec![*finding] },
    };
    let mut items: Vec<ListItem> = Vec::with_capacity(nodes.len());
    for payload in nodes {
        match identify_list_item(target.metadata, &payload) {
            Ok(identity) => {
                let path = target.path.child(&identity.alias);
                items.push(ListItem { path, identity, payload });
            }
            Err(finding) => findings.push(*finding),
        }
    }
    items.sort_by(|a, b| a.path.cmp(&b.path));
    findings
        .extend(items.windows(2).filter(|pair| pair[0].path == pair[1].path).map(|pair| duplicate(&pair[0], &pair[1])));
    Outcome { value: items, findings }
}

/// The response after the operation's jq; its filters are for payloads, not for lists.
fn shaped(response: &Node, target: &RequestTarget<'_>) -> Result<Node, Box<Finding>> {
    let transforms = target.metadata.transforms(Operation::List);
    let scoped = scope_for(target, Operation::List);
    let lookup = Lookup { target, known: RefCell::default(), collections: RefCell::default() };
    let resolver = |path: &str| lookup.resource(path);
    let mut shaped = response.clone();
    for step in transforms.iter().filter(|step| step.kind == Field::Jq) {
        let mut results = jq(&shaped, step, target, Operation::List, &scoped, Some(&resolver))?;
        shaped = match results.len() {
            1 => results.remove(0),
            _ => Node::list(results, step.node.span),
        };
    }
    Ok(shaped)
}

/// Looks up each resource once, and notices when a lookup leads back to itself.
struct Lookup<'a> {
    target: &'a RequestTarget<'a>,
    /// What was found; nothing while it is being looked for.
    known: RefCell<BTreeMap<LogicalPath, Option<Result<Node, String>>>>,
    collections: RefCell<BTreeMap<LogicalPath, Rc<Siblings>>>,
}

/// Steps for a lookup: it takes much more than a term of jq.
const LOOKUP: usize = 200;

impl Lookup<'_> {
    fn resource(&self, path: &str) -> Result<Node, String> {
        let path = LogicalPath::parse(path.trim()).map_err(|error| error.to_string())?;
        if let Some(known) = self.known.borrow().get(&path) {
            return known.clone().unwrap_or_else(|| Err("it leads back to itself".to_owned()));
        }
        pay(LOOKUP);
        self.known.borrow_mut().insert(path.clone(), None);
        let found = self
            .find(&path)
            .map_err(|finding| finding.message)
            .and_then(|payload| payload.ok_or_else(|| "there is no such resource".to_owned()));
        self.known.borrow_mut().insert(path, Some(found.clone()));
        found
    }

    /// As [`find`](super::find) does it, with each collection gone through once, and every look at it paid for.
    fn find(&self, path: &LogicalPath) -> Result<Option<Node>, Box<Finding>> {
        let lookup = self.target.lookup;
        if let Some(payload) = lookup.payload(path) {
            return Ok(Some(payload));
        }
        let Some(collection) = path.parent() else { return Ok(None) };
        let known = self.collections.borrow().get(&collection).cloned();
        let siblings = known.unwrap_or_else(|| {
            let siblings = Rc::new(Siblings::of(&collection, lookup));
            self.collections.borrow_mut().insert(collection, Rc::clone(&siblings));
            siblings
        });
        pay(siblings.count() * 10);
        siblings.answering(path, lookup)
    }
}

fn items(response: &Node, target: &RequestTarget<'_>) -> Result<Vec<Node>, Box<Finding>> {
    let wrong = |at: Span, reason: &str| {
        let message = format!("the list of {} cannot be read: {reason}", target.path);
        Box::new(Finding::new(&finding::REQUEST_LIST, Location::Span(at), message))
    };
    let list = match &response.value {
        Value::List(_) => response,
        Value::Map(map) => match map.get("items") {
            Some(items) if items.as_list().is_some() => items,
            Some(items) => return Err(wrong(items.span, &format!("`items` is a {}, not a list", items.type_of()))),
            None => {
                let lists: Vec<_> = map.entries().iter().filter(|entry| entry.value.as_list().is_some()).collect();
                match lists[..] {
                    [only] => &only.value,
                    [] => return Err(wrong(response.span, "the response is an object without a list in it")),
                    _ => {
                        let names: Vec<&str> = lists.iter().map(|entry| entry.key.name.as_str()).collect();
                        let names = sanitize::inline(&names.join(", ")).into_owned();
                        return Err(wrong(
                            response.span,
                            &format!("several fields of the response are lists: {names}"),
                        ));
                    }
                }
            }
        },
        _ => return Err(wrong(response.span, &format!("the response is a {}", response.type_of()))),
    };
    let items = list.as_list().unwrap_or_default();
    match items.iter().find(|item| item.as_map().is_none()) {
        Some(item) => Err(wrong(item.span, &format!("an item is a {}, not an object", item.type_of()))),
        None => Ok(items.to_vec()),
    }
}

fn duplicate(first: &ListItem, second: &ListItem) -> Finding {
    let message = format!("two items of a list have the alias `{}`", sanitize::inline(&second.identity.alias));
    Finding::new(&finding::METADATA_AMBIGUOUS, Location::Span(second.payload.span.start_only()), message)
        .labelled("this one")
        .related(first.payload.span.start_only(), "and this one")
        .help("let `aliasFromAttribute` name an attribute that is different for each")
}
