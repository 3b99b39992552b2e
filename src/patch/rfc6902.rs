//! Plain JSON Patch as RFC 6902 has it: strict pointers, six operations, all or nothing.

use crate::decode::{StrictReader, StrictRules};
use crate::finding::{self, Finding, Location, Outcome, Rule, Severity};
use crate::limits::Limits;
use crate::path::Pointer;
use crate::sanitize;
use crate::text::Span;
use crate::value::{Entry, Map, Node, StepKind, Value, list_index};

const RULES: StrictRules = StrictRules { unknown_key: &finding::PATCH_UNKNOWN_KEY, invalid: &finding::PATCH_INVALID };

/// One operation of a JSON Patch document.
#[derive(Debug, Clone)]
pub struct JsonOperation {
    verb: Verb,
    path: Pointer,
    /// Where the operation is written.
    at: Span,
}

#[derive(Debug, Clone)]
enum Verb {
    Add(Node),
    Remove,
    Replace(Node),
    Move(Pointer),
    Copy(Pointer),
    Test(Node),
}

/// Reads a JSON Patch document. Members that RFC 6902 does not know are ignored, as it asks.
pub fn read_json_patch(root: &Node) -> Outcome<Vec<JsonOperation>> {
    let mut shape = StrictReader::new(RULES);
    let mut trouble = Vec::new();
    let items = shape.items(root, "patch");
    let value = items.iter().filter_map(|item| read_operation(item, &mut shape, &mut trouble)).collect();
    let mut findings = shape.into_findings();
    findings.append(&mut trouble);
    Outcome { value, findings }
}

/// The document after all operations, or as it was with the one that failed.
pub fn apply_json_patch(document: &Node, operations: &[JsonOperation], limits: &Limits) -> Outcome<Node> {
    let mut edited = document.clone();
    let mut work = 0_u64;
    for (number, operation) in operations.iter().enumerate() {
        work = work.saturating_add(operation.cost(&edited));
        let applied = match work > limits.patch_work {
            true => fail(&finding::LIMIT_PATCH, "all operations together are too much work"),
            false => operation.apply(&edited, limits),
        };
        match applied {
            Ok(after) => edited = after,
            Err(failure) => {
                let message = format!("operation {number} at `{}`: {}", operation.shown(), failure.message);
                let finding = Finding::new(failure.rule, Location::Span(operation.at), message);
                return Outcome { value: document.clone(), findings: vec![finding] };
            }
        }
    }
    Outcome::clean(edited)
}

fn read_operation(item: &Node, shape: &mut StrictReader, trouble: &mut Vec<Finding>) -> Option<JsonOperation> {
    if item.as_map().is_none() {
        shape.wrong(item, "operation", "a map");
        return None;
    }
    let mut pointer = |shape: &mut StrictReader, name: &str| {
        let Some(node) = item.get(name) else {
            shape.invalid(item, format!("an operation needs `{name}`"));
            return None;
        };
        let Some(text) = node.as_str() else {
            shape.wrong(node, name, "a text");
            return None;
        };
        let refused = |reason: &str| {
            let message = format!("`{}` is no JSON Pointer: {reason}", sanitize::inline(text));
            trouble.push(Finding::new(&finding::PATCH_BAD_PATH, Location::Span(node.span), message));
        };
        Pointer::parse(text).map_err(refused).ok()
    };
    let path = pointer(shape, "path");
    let name = item.get("op").and_then(Node::as_str);
    let from = matches!(name, Some("move" | "copy")).then(|| pointer(shape, "from"));
    let value = |shape: &mut StrictReader| {
        let value = item.get("value").cloned();
        if value.is_none() {
            shape.invalid(item, "the operation needs a `value`");
        }
        value
    };
    let verb = match name {
        Some("add") => Verb::Add(value(shape)?),
        Some("replace") => Verb::Replace(value(shape)?),
        Some("test") => Verb::Test(value(shape)?),
        Some("remove") => Verb::Remove,
        Some("move") => Verb::Move(from??),
        Some("copy") => Verb::Copy(from??),
        Some(other) => {
            let message = format!("the operation `{}` is not known", sanitize::inline(other));
            let at = item.get("op").map_or(item.span, |op| op.span);
            let finding = Finding::new(&finding::PATCH_UNSUPPORTED_OP, Location::Span(at), message);
            trouble.push(finding.help("known operations: add, remove, replace, move, copy, test"));
            return None;
        }
        None => {
            shape.invalid(item, "an operation needs `op`");
            return None;
        }
    };
    Some(JsonOperation { verb, path: path?, at: item.span })
}

struct Failure {
    rule: &'static Rule,
    message: String,
}

fn fail<T>(rule: &'static Rule, message: impl Into<String>) -> Result<T, Failure> {
    debug_assert!(rule.severity == Severity::Error, "what fails is an error");
    Err(Failure { rule, message: message.into() })
}

impl JsonOperation {
    fn shown(&self) -> String {
        sanitize::inline(&self.path.to_string()).into_owned()
    }

    /// How many values are copied on the way to the place and back, once for each pointer.
    fn cost(&self, document: &Node) -> u64 {
        let from = match &self.verb {
            Verb::Move(from) | Verb::Copy(from) => from.tokens(),
            _ => &[],
        };
        let way = |tokens: &[smol_str::SmolStr]| {
            let mut node = Some(document);
            let lengths = tokens.iter().map_while(|token| {
                let here = node?;
                node = match &here.value {
                    Value::List(list) => list_index(token).and_then(|index| list.items().get(index)),
                    _ => here.get(token),
                };
                Some(here.as_list().map_or_else(|| here.as_map().map_or(0, Map::len), <[Node]>::len) as u64)
            });
            lengths.sum::<u64>()
        };
        1 + way(self.path.tokens()) + way(from)
    }

    fn apply(&self, document: &Node, limits: &Limits) -> Result<Node, Failure> {
        let set = |node: &Node| node.clone().through(StepKind::Patch, self.at);
        let edited = match &self.verb {
            Verb::Add(value) => add(document, self.path.tokens(), set(value))?,
            Verb::Replace(value) => {
                find(document, &self.path)?;
                replace(document, self.path.tokens(), set(value))?
            }
            Verb::Remove => remove(document, self.path.tokens())?,
            Verb::Copy(from) => add(document, self.path.tokens(), set(find(document, from)?))?,
            Verb::Move(from) => {
                let value = set(find(document, from)?);
                if self.path.tokens().len() > from.tokens().len() && self.path.tokens().starts_with(from.tokens()) {
                    return fail(&finding::PATCH_WRONG_TYPE, "a value cannot be moved into itself");
                }
                if self.path == *from {
                    return Ok(document.clone());
                }
                // Moving everything leaves nothing to put it into; only onto itself is that possible.
                add(&remove(document, from.tokens())?, self.path.tokens(), value)?
            }
            Verb::Test(value) => {
                if !find(document, &self.path)?.is_equal(value) {
                    return fail(&finding::PATCH_TEST_FAILED, "the document has another value");
                }
                return Ok(document.clone());
            }
        };
        if edited.height() > limits.depth || edited.size() > limits.nodes {
            return fail(&finding::LIMIT_NODES, "the document grows beyond the limits");
        }
        Ok(edited)
    }
}

fn find<'n>(document: &'n Node, pointer: &Pointer) -> Result<&'n Node, Failure> {
    document.at(pointer).map_or_else(
        || fail(&finding::PATCH_MISSING, format!("nothing is at `{}`", sanitize::inline(&pointer.to_string()))),
        Ok,
    )
}

/// Leads to the parent of a place and makes the way back anew.
fn at_parent(
    node: &Node,
    tokens: &[smol_str::SmolStr],
    edit: &mut dyn FnMut(&Node, &str) -> Result<Node, Failure>,
) -> Result<Node, Failure> {
    let [token, rest @ ..] = tokens else {
        return fail(&finding::PATCH_ROOT_TARGET, "the whole document cannot be taken away");
    };
    if rest.is_empty() {
        return edit(node, token);
    }
    let inside = |child: Option<&Node>, edit: &mut dyn FnMut(&Node, &str) -> Result<Node, Failure>| match child {
        Some(child) => at_parent(child, rest, edit),
        None => fail(&finding::PATCH_MISSING, format!("nothing is at `{}`", sanitize::inline(token))),
    };
    let edited = match &node.value {
        Value::Map(map) => {
            let position = map.position(token);
            let child = inside(position.map(|at| &map.entries()[at].value), edit)?;
            let mut entries = map.entries().to_vec();
            position.into_iter().for_each(|at| entries[at].value = child.clone());
            Node::map(entries, node.span)
        }
        Value::List(list) => {
            let index = list_index(token);
            let child = inside(index.and_then(|index| list.items().get(index)), edit)?;
            let mut items = list.items().to_vec();
            index.into_iter().for_each(|index| items[index] = child.clone());
            Node::list(items, node.span)
        }
        _ => return inside(None, edit),
    };
    Ok(Node { extra: node.extra.clone(), ..edited })
}

fn add(document: &Node, tokens: &[smol_str::SmolStr], value: Node) -> Result<Node, Failure> {
    if tokens.is_empty() {
        return Ok(value);
    }
    at_parent(document, tokens, &mut |parent, token| {
        with_members(
            parent,
            |members| match members {
                Members::Map(entries, position) => {
                    match position {
                        Some(at) => entries[at].value = value.clone(),
                        None => entries.push(Entry::named(token, value.span, value.clone())),
                    }
                    Ok(())
                }
                Members::List(items) => {
                    let index = if token == "-" { Some(items.len()) } else { list_index(token) };
                    match index.filter(|index| *index <= items.len()) {
                        Some(index) => items.insert(index, value.clone()),
                        None => return out_of_bounds(token, items.len()),
                    }
                    Ok(())
                }
            },
            token,
        )
    })
}

fn replace(document: &Node, tokens: &[smol_str::SmolStr], value: Node) -> Result<Node, Failure> {
    if tokens.is_empty() {
        return Ok(value);
    }
    at_parent(document, tokens, &mut |parent, token| {
        with_members(
            parent,
            |members| {
                match members {
                    Members::Map(entries, Some(at)) => entries[at].value = value.clone(),
                    Members::Map(_, None) => return fail(&finding::PATCH_MISSING, "nothing is there"),
                    Members::List(items) => match list_index(token).filter(|index| *index < items.len()) {
                        Some(index) => items[index] = value.clone(),
                        None => return out_of_bounds(token, items.len()),
                    },
                }
                Ok(())
            },
            token,
        )
    })
}

fn remove(document: &Node, tokens: &[smol_str::SmolStr]) -> Result<Node, Failure> {
    at_parent(document, tokens, &mut |parent, token| {
        with_members(
            parent,
            |members| {
                match members {
                    Members::Map(entries, Some(at)) => drop(entries.remove(at)),
                    Members::Map(_, None) => return fail(&finding::PATCH_MISSING, "nothing is there"),
                    Members::List(items) => match list_index(token).filter(|index| *index < items.len()) {
                        Some(index) => drop(items.remove(index)),
                        None => return out_of_bounds(token, items.len()),
                    },
                }
                Ok(())
            },
            token,
        )
    })
}

enum Members<'m> {
    /// The entries of a map, and where the token stands among them.
    Map(&'m mut Vec<Entry>, Option<usize>),
    List(&'m mut Vec<Node>),
}

fn with_members(
    parent: &Node,
    change: impl FnOnce(Members<'_>) -> Result<(), Failure>,
    token: &str,
) -> Result<Node, Failure> {
    let changed = match &parent.value {
        Value::Map(map) => {
            let mut entries = map.entries().to_vec();
            change(Members::Map(&mut entries, map.position(token)))?;
            Node::map(entries, parent.span)
        }
        Value::List(list) => {
            let mut items = list.items().to_vec();
            change(Members::List(&mut items))?;
            Node::list(items, parent.span)
        }
        _ => {
            let message =
                format!("`{}` needs a map or a list, and a {} is there", sanitize::inline(token), parent.type_of());
            return fail(&finding::PATCH_WRONG_TYPE, message);
        }
    };
    Ok(Node { extra: parent.extra.clone(), ..changed })
}

fn out_of_bounds(token: &str, length: usize) -> Result<(), Failure> {
    let message = format!("`{}` is no place in a list of {length}", sanitize::inline(token));
    fail(&finding::PATCH_OUT_OF_BOUNDS, message)
}
