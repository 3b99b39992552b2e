//! Strategic merge: a patch that has the shape of the document, with directives and lists merged by key.

use std::cell::RefCell;

use smol_str::SmolStr;

use super::fields::in_place_of;
use super::schema::{ListStrategy, Schema, Schemas};
use super::shared::{Shared, Writes};
use super::{Fatal, fatal};
use crate::path::Pointer;
use crate::text::Span;
use crate::value::{Entry, Node, StepKind, Value};

/// The key of directives.
const DIRECTIVE: &str = "$patch";

/// The document after a patch that an entry of a kustomization names; `None` if the patch deletes it.
pub(super) fn merge(
    target: &Node,
    patch: &Node,
    schemas: &Schemas,
    listed: (&'static str, Span),
    shared: &Shared,
) -> Result<Option<(Node, Writes)>, Fatal> {
    // Upstream makes another document of it and keeps the one that was there.
    if directive(patch)? == Some("replace") {
        return Ok(Some((target.clone(), Writes::default())));
    }
    let merge = Merge { schemas, listed, shared, at: RefCell::new(Pointer::root()), writes: Writes::default() };
    let merged = merge.maps(Some(target), patch, schemas.of_document(target))?;
    Ok(merged.map(|merged| (merged, merge.writes)))
}

struct Merge<'s> {
    schemas: &'s Schemas,
    /// The field of the kustomization that lists the patch, and where.
    listed: (&'static str, Span),
    /// What is in several fields of the target.
    shared: &'s Shared,
    /// The map that is merged.
    at: RefCell<Pointer>,
    /// What was written over values that are in several fields.
    writes: Writes,
}

impl<'s> Merge<'s> {
    fn maps(&self, target: Option<&Node>, patch: &Node, schema: Schema<'s>) -> Result<Option<Node>, Fatal> {
        let schema = self.schema_of(target.unwrap_or(patch), schema);
        match directive(patch)? {
            Some("delete") => return Ok(None),
            Some("replace") => return Ok(Some(self.placed(&without_directive(patch)))),
            _ => {}
        }
        // A key without a value is written back as nothing; `null` stays.
        let is_written =
            |entry: &&Entry| !matches!(entry.value.value, Value::Null) || entry.value.span.start < entry.value.span.end;
        let mut entries: Vec<Entry> = entries(target).iter().filter(is_written).cloned().collect();
        for entry in entries_of(patch).iter().filter(|entry| entry.key.name != DIRECTIVE) {
            let name = &entry.key.name;
            let at = entries.iter().position(|other| other.key.name == *name);
            let old = at.map(|at| &entries[at].value).filter(|old| !matches!(old.value, Value::Null));
            let merged = match entry.value.value {
                Value::Null => None,
                _ => {
                    self.at.borrow_mut().push(name.clone());
                    let merged = self.values(old, &entry.value, schema, name)?;
                    self.at.borrow_mut().pop();
                    merged
                }
            };
            match (at, merged) {
                (Some(at), Some(value)) => entries[at].value = value,
                (Some(at), None) => drop(entries.remove(at)),
                (None, Some(value)) => entries.push(Entry { key: entry.key.clone(), value }),
                (None, None) => {}
            }
        }
        let span = target.map_or(patch.span, |target| target.span);
        let extra = target.map_or_else(|| self.placed(patch).extra, |target| target.extra.clone());
        Ok(Some(Node { extra, ..Node::map(entries, span) }))
    }

    /// The value of a key; `None` if it is deleted.
    fn values(&self, old: Option<&Node>, new: &Node, schema: Schema<'s>, name: &str) -> Result<Option<Node>, Fatal> {
        let kind = |node: &Node| match node.value {
            Value::Map(_) => 2,
            Value::List(_) => 1,
            _ => 0,
        };
        if let Some(old) = old.filter(|old| kind(old) != kind(new)) {
            let failure = fatal(new.span, format!("`{name}` is not of the same kind here and in the resource"));
            return Err(Box::new(failure.related(old.span, "the resource has this")));
        }
        match &new.value {
            Value::Map(_) => self.maps(old, new, schema.child(name)),
            Value::List(_) => {
                let items = schema.child(name).items();
                match schema.strategy(name) {
                    ListStrategy::Replace => Ok(Some(in_place_of(old, self.placed(new)))),
                    ListStrategy::Set => Ok(Some(self.united(old, new))),
                    ListStrategy::Keyed(keys) => self.keyed(old, new, &keys, items),
                }
            }
            _ => {
                let placed = in_place_of(old, self.placed(new));
                if let Some(old) = old.filter(|old| self.shared.holds(old)) {
                    self.writes.note(&self.at.borrow(), old, &placed);
                }
                Ok(Some(placed))
            }
        }
    }

    fn keyed(
        &self,
        old: Option<&Node>,
        new: &Node,
        keys: &[SmolStr],
        schema: Schema<'s>,
    ) -> Result<Option<Node>, Fatal> {
        let empty: &[Node] = &[];
        let olds = old.and_then(Node::as_list).unwrap_or(empty);
        let news = new.as_list().unwrap_or(empty);
        if let Some(item) = news.iter().find(|item| item.as_map().is_none()) {
            return Err(fatal(item.span, "the items of this list are maps"));
        }
        let only = |word: &str| {
            let is_only =
                |item: &Node| entries_of(item).len() == 1 && item.get(DIRECTIVE).and_then(Node::as_str) == Some(word);
            news.iter().position(is_only)
        };
        if let Some(at) = only("replace").or_else(|| only("delete")).filter(|_| old.is_none()) {
            return Ok(Some(self.placed(&Node::list(vec![news[at].clone()], new.span))));
        }
        if let Some(at) = only("replace") {
            let rest = news.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, item)| item.clone());
            return Ok(Some(self.placed(&Node::list(rest.collect(), new.span))));
        }
        if only("delete").is_some() {
            return Ok(None);
        }
        let is_stated = |key: &SmolStr| olds.iter().chain(news).any(|item| item.get(key).is_some());
        let keys: Vec<&SmolStr> = match keys {
            [first, second] if !is_stated(second) => vec![first],
            keys => keys.iter().collect(),
        };
        let tuple = |item: &Node| -> Vec<SmolStr> { keys.iter().map(|key| key_text(item.get(key))).collect() };
        let mut kept: Vec<Option<Node>> = olds.iter().cloned().map(Some).collect();
        let old_tuples: Vec<Vec<SmolStr>> = olds.iter().map(&tuple).collect();
        let mut first: Vec<Node> = Vec::new();
        // Upstream loses an item without its only key, and with it every item of the resource that the patch does not name.
        let is_keyless = |item: &&Node| !olds.is_empty() && keys.len() == 1 && item.get(keys[0]).is_none();
        if news.iter().any(|item| is_keyless(&item)) {
            kept.iter_mut().zip(&old_tuples).for_each(|(kept, key)| {
                if !news.iter().any(|item| tuple(item) == *key) {
                    *kept = None;
                }
            });
        }
        for item in news.iter().filter(|item| !is_keyless(item)) {
            let key = tuple(item);
            let at = old_tuples.iter().position(|other| *other == key);
            let is_alike = |other: &Vec<SmolStr>| keys.len() > 1 && unify(other, &key);
            match (directive(item)?, at) {
                (Some("delete"), Some(at)) => kept[at] = None,
                (Some("delete"), None) => {}
                // Upstream leaves the resource's own item as it is.
                (Some("replace"), Some(_)) => {}
                (_, Some(at)) => {
                    let merged = self.maps(Some(&olds[at]), item, schema)?;
                    if keys.len() == 1 {
                        kept[at] = None;
                        first.extend(merged);
                    } else {
                        kept[at] = merged;
                    }
                }
                // Upstream looks for the item by a key that only one side states, and loses it.
                (_, None) if old_tuples.iter().any(is_alike) => {}
                (_, None) => first.extend(self.maps(None, item, schema)?),
            }
        }
        first.extend(kept.into_iter().flatten());
        let span = old.map_or(new.span, |old| old.span);
        let extra = old.map_or_else(|| self.placed(new).extra, |old| old.extra.clone());
        Ok(Some(Node { extra, ..Node::list(first, span) }))
    }

    /// A set of values: those of the patch first.
    fn united(&self, old: Option<&Node>, new: &Node) -> Node {
        let mut items: Vec<Node> = Vec::new();
        let news = new.as_list().unwrap_or_default().iter().map(|item| self.placed(item));
        for item in news.chain(old.and_then(Node::as_list).unwrap_or_default().iter().cloned()) {
            if !items.iter().any(|other| other.is_equal(&item)) {
                items.push(item);
            }
        }
        Node::list(items, old.map_or(new.span, |old| old.span))
    }

    /// A value of the patch in its new place.
    fn placed(&self, node: &Node) -> Node {
        let (field, span) = self.listed;
        node.clone().through(StepKind::Patch, node.span).through(StepKind::Kustomize(field), span)
    }

    /// A map that states its own type starts that type, where nothing else is known.
    fn schema_of(&self, node: &Node, schema: Schema<'s>) -> Schema<'s> {
        match schema {
            Schema::Unknown if node.get("apiVersion").is_some() && node.get("kind").is_some() => {
                self.schemas.of_document(node)
            }
            schema => schema,
        }
    }
}

/// Whether two keys share a value, and differ only where one of them states nothing.
fn unify(one: &[SmolStr], other: &[SmolStr]) -> bool {
    let is_shared = one.iter().zip(other).any(|(one, other)| one == other && !one.is_empty());
    is_shared && one.iter().zip(other).all(|(one, other)| one == other || one.is_empty() || other.is_empty())
}

fn key_text(node: Option<&Node>) -> SmolStr {
    match node.map(|node| &node.value) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.as_str().into(),
        Some(Value::Bool(value)) => SmolStr::from(value.to_string()),
        _ => SmolStr::default(),
    }
}

fn directive(patch: &Node) -> Result<Option<&str>, Fatal> {
    match patch.get(DIRECTIVE) {
        None => Ok(None),
        Some(node) => match node.as_str() {
            Some(word @ ("delete" | "replace" | "merge")) => Ok(Some(word)),
            _ => Err(fatal(node.span, "`$patch` is `delete`, `replace` or `merge`")),
        },
    }
}

fn without_directive(patch: &Node) -> Node {
    let entries = entries_of(patch).iter().filter(|entry| entry.key.name != DIRECTIVE).cloned().collect();
    Node { extra: patch.extra.clone(), ..Node::map(entries, patch.span) }
}

fn entries(node: Option<&Node>) -> &[Entry] {
    node.map_or(&[], entries_of)
}

fn entries_of(node: &Node) -> &[Entry] {
    node.as_map().map_or(&[], |map| map.entries())
}
