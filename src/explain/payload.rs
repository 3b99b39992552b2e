//! Histories of the values of a payload: what brought each value, and what it overrides.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::{ExplainQuestion, HistoryEffect, HistoryEntry, Route, ValueHistory};
use crate::diff::{self, DiffSide, PathStep, path_text};
use crate::path::Pointer;
use crate::suggest;
use crate::value::{Node, Step, Value, list_index};

/// The histories of a payload, and how many of its values have none because they are written where they apply.
///
/// Parts that came as a whole have one history, unless every value is wanted.
pub(super) fn histories(payload: &Node, question: &ExplainQuestion) -> (Vec<ValueHistory>, usize) {
    let mut walk =
        Walk { routed: Routed::default(), steps: Vec::new(), path: Vec::new(), histories: Vec::new(), omitted: 0 };
    let Some(start) = walk.down(payload, &question.within) else { return (Vec::new(), 0) };
    match question.everything || !question.within.tokens().is_empty() {
        true => walk.everything(start),
        false => walk.routed_only(start),
    }
    (walk.histories, walk.omitted)
}

/// A place with the items of lists by their indexes. They may be given by name, or as `key=value`, as reports print them.
pub(super) fn resolved(payload: &Node, asked: &Pointer) -> Pointer {
    let mut node = Some(payload);
    let step = |token: &SmolStr| {
        let items = node.and_then(Node::as_list).unwrap_or_default();
        let is_named = list_index(token).is_none() && !items.is_empty();
        let found = items.iter().position(|item| is_named && has_label(item, token));
        let step: SmolStr = found.map_or_else(|| token.clone(), |at| at.to_string().into());
        node = node.and_then(|node| node.at(&[step.clone()].into_iter().collect()));
        step
    };
    asked.tokens().iter().map(step).collect()
}

/// Whether an item has this name, or all members of a label such as `containerPort=80,protocol=TCP`.
fn has_label(item: &Node, label: &str) -> bool {
    let has = |key: &str, value: &str| match item.get(key).map(|node| &node.value) {
        Some(Value::String(text)) => text == value,
        Some(Value::Number(number)) => number.as_str() == value,
        _ => false,
    };
    let is_member = |part: &str| part.split_once('=').is_some_and(|(key, value)| has(key, value));
    has("name", label) || is_member(label) || label.split(',').all(is_member)
}

/// The place that was probably meant, if there is nothing at the one that was asked for.
pub(super) fn nearest(payload: &Node, asked: &Pointer) -> Option<Pointer> {
    let mut node = payload;
    let mut place = Pointer::root();
    for token in asked.tokens() {
        let step = match &node.value {
            Value::Map(map) if map.get(token).is_none() => {
                suggest::nearest(token, map.entries().iter().map(|entry| entry.key.name.as_str()))?.into()
            }
            // Items are called by their names more easily than by their numbers.
            Value::List(list) if list_index(token).is_none() => {
                let is_meant = |item: &Node| item.get("name").and_then(Node::as_str) == Some(token);
                list.items().iter().position(is_meant)?.to_string().into()
            }
            Value::Map(_) | Value::List(_) => token.clone(),
            _ => break,
        };
        node = node.at(&[step.clone()].into_iter().collect())?;
        place.push(step);
    }
    (place != *asked && !place.tokens().is_empty()).then_some(place)
}

struct Walk<'a> {
    routed: Routed,
    /// The last steps of the parts around the value, from the outside in.
    steps: Vec<&'a Step>,
    path: Vec<PathStep>,
    histories: Vec<ValueHistory>,
    omitted: usize,
}

impl<'a> Walk<'a> {
    /// Goes to a place. What was overridden as a whole on the way there is part of the history.
    fn down(&mut self, root: &'a Node, within: &Pointer) -> Option<&'a Node> {
        let mut node = root;
        for token in within.tokens() {
            if node.overridden().is_some() {
                self.history(node);
            }
            self.steps.extend(node.step());
            let (step, child) = children(node).find(|(step, _)| is_named(step, token))?;
            self.path.push(step);
            node = child;
        }
        Some(node)
    }

    /// A history for each value that is no map or list, and for each map or list that overrides something.
    fn everything(&mut self, node: &'a Node) {
        let is_leaf = children(node).next().is_none();
        if is_leaf || node.overridden().is_some() {
            self.history(node);
        }
        self.below(node, Self::everything);
    }

    /// A history for each part that came from elsewhere or overrides something, as large as possible.
    fn routed_only(&mut self, node: &'a Node) {
        let is_uniform = !self.routed.below(&node.value);
        let is_brought = node.step().is_some() || !self.steps.is_empty();
        if node.overridden().is_some() || is_uniform && is_brought {
            self.history(node);
        } else if is_uniform {
            self.omitted += leaves(node);
        }
        if !is_uniform {
            self.below(node, Self::routed_only);
        }
    }

    fn below(&mut self, node: &'a Node, visit: fn(&mut Self, &'a Node)) {
        let known = self.steps.len();
        self.steps.extend(node.step());
        for (step, child) in children(node) {
            self.path.push(step);
            visit(self, child);
            self.path.pop();
        }
        self.steps.truncate(known);
    }

    fn history(&mut self, node: &Node) {
        let around = &self.steps;
        let entry = |node: &Node| HistoryEntry {
            selector: None,
            at: Some(node.span),
            route: Route::along(node.step().into_iter().chain(around.iter().rev().copied())),
            effect: HistoryEffect::Value(node.clone()),
        };
        let mut entries: Vec<HistoryEntry> =
            std::iter::successors(Some(node), |node| node.overridden()).map(entry).collect();
        entries.reverse();
        let pointer = diff::pointer(&self.path, DiffSide::After);
        let name = path_text::display(&self.path, path_text::EMBEDDED).into();
        self.histories.push(ValueHistory { name, written: None, pointer, entries });
    }
}

/// The values directly below.
fn children(node: &Node) -> Box<dyn Iterator<Item = (PathStep, &Node)> + '_> {
    match &node.value {
        Value::Map(map) => Box::new(map.entries().iter().map(|entry| (PathStep::Key(entry.key.clone()), &entry.value))),
        Value::List(list) => Box::new(
            list.items()
                .iter()
                .enumerate()
                .map(|(at, item)| (PathStep::Item { before: None, after: Some(at), label: None }, item)),
        ),
        _ => Box::new(std::iter::empty()),
    }
}

fn is_named(step: &PathStep, token: &str) -> bool {
    match step {
        PathStep::Key(key) => key.name == token,
        PathStep::Item { after: Some(at), .. } => list_index(token) == Some(*at),
        _ => false,
    }
}

/// How many values there are that are no maps or lists with something in them.
fn leaves(node: &Node) -> usize {
    children(node).map(|(_, child)| leaves(child)).sum::<usize>().max(1)
}

/// Whether something below a list or a map came from elsewhere or overrides something. Cached, because subtrees are shared.
#[derive(Default)]
struct Routed(BTreeMap<usize, bool>);

impl Routed {
    fn below(&mut self, value: &Value) -> bool {
        let address = match value {
            Value::List(list) => Arc::as_ptr(list).addr(),
            Value::Map(map) => Arc::as_ptr(map).addr(),
            _ => return false,
        };
        if let Some(&known) = self.0.get(&address) {
            return known;
        }
        let mut is_routed =
            |node: &Node| node.step().is_some() || node.overridden().is_some() || self.below(&node.value);
        let found = match value {
            Value::List(list) => list.items().iter().any(&mut is_routed),
            Value::Map(map) => map.entries().iter().any(|entry| is_routed(&entry.value)),
            _ => false,
        };
        self.0.insert(address, found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read;

    fn question(within: &str, everything: bool) -> ExplainQuestion {
        ExplainQuestion { within: Pointer::parse(within).unwrap(), everything }
    }

    #[test]
    fn values_that_came_from_elsewhere_have_a_history() {
        let payload = read("{base: &b {k: 1, l: 2}, merged: {<<: *b, l: 3}, own: 1}");
        let names = |question: &ExplainQuestion| {
            let (histories, omitted) = histories(&payload, question);
            (histories.iter().map(|history| history.name.to_string()).collect::<Vec<_>>(), omitted)
        };
        assert_eq!(names(&question("", false)), (vec![".merged.k".into(), ".merged.l".into()], 3));
        assert_eq!(names(&question("/own", false)), (vec![".own".into()], 0));
        assert_eq!(names(&question("", true)).0.len(), 5);
    }

    #[test]
    fn a_mistyped_place_leads_to_the_nearest_one() {
        let payload = read("{spec: {containers: [{name: web, image: a}]}}");
        let near = |place: &str| nearest(&payload, &Pointer::parse(place).unwrap()).map(|place| place.to_string());
        assert_eq!(near("/spec/containers/web/image").as_deref(), Some("/spec/containers/0/image"));
        assert_eq!(near("/spce/containers").as_deref(), Some("/spec/containers"));
        assert_eq!(near("/spec"), None);
    }
}
