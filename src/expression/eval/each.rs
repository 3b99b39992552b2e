//! Loops: `foreach` and `select` apply something to every item of a result.

use std::collections::HashMap;

use smol_str::SmolStr;

use super::datum::{Datum, Signal, text_key};
use super::form::{Matches, is_form};
use super::scope::{Scope, Variable};
use super::secrecy::shows_a_secret;
use super::session::EvalSession;
use super::trace::{TraceKind, Verdict};
use super::trouble::{Result, bad_arguments};
use crate::text::Span;
use crate::value::{Key, Map, Node, Number, Value};

/// A loop over items.
struct Each<'a> {
    /// The expression for the key of an item's entry, if the result is a map.
    key: Option<&'a Node>,
    /// The expression for the value of an item; without one the item itself.
    value: Option<&'a Node>,
    scope: &'a Scope,
    at: Span,
}

/// The result of one item.
enum ItemResult {
    Entry(Option<SmolStr>, Datum),
    Skipped,
    Stop,
}

impl EvalSession<'_> {
    /// The results of all items.
    pub(super) fn foreach(&mut self, matches: Matches, each: &Node, scope: &Scope) -> Result<Matches> {
        let at = matches.at;
        let items = self.loop_items(matches)?;
        let each = match &each.value {
            Value::String(text) if text == "$true" => {
                return Ok(Matches::list(items, at));
            }
            Value::Map(map) if is_key_and_value(map) => {
                Each { key: map.get("key"), value: map.get("value"), scope, at }
            }
            Value::String(_) | Value::Map(_) | Value::List(_) => Each { key: None, value: Some(each), scope, at },
            _ => {
                let message = format!("a loop cannot apply a {}", each.type_of());
                return bad_arguments(each.span, message, "write a path, or `{key: path, value: path}`");
            }
        };
        let is_empty = items.is_empty();
        let (mut values, mut members) = (Vec::new(), Members::default());
        for (index, item) in items.into_iter().enumerate() {
            self.spend(1, at)?;
            match self.one_item(item, index, &each)? {
                ItemResult::Entry(Some(name), value) => members.put(name, value, at),
                ItemResult::Entry(None, value) => values.push(value),
                ItemResult::Skipped => {}
                ItemResult::Stop => break,
            }
        }
        if each.key.is_some() && !is_empty {
            values = vec![self.map(members.entries, at)?];
        }
        Ok(Matches::list(values, at))
    }

    /// The items of a single list; a map is one item.
    fn loop_items(&mut self, mut matches: Matches) -> Result<Vec<Datum>> {
        if let [only] = &matches.values[..]
            && let Some(items) = only.items()
        {
            self.spend(items.len() as u64, matches.at)?;
            let items = (0..items.len()).map(|position| self.settled(items.at(position)));
            return items.collect();
        }
        Ok(std::mem::take(&mut matches.values))
    }

    fn one_item(&mut self, item: Datum, index: usize, each: &Each<'_>) -> Result<ItemResult> {
        if self.trace.is_on() {
            let on = Some(self.shown(&item));
            self.trace.open(TraceKind::Item, &index.to_string(), on);
        }
        let result = self.item_result(item, index, each)?;
        let verdict = match &result {
            ItemResult::Entry(_, value) => Verdict::Gives(self.shown(value)),
            ItemResult::Skipped => Verdict::Dropped("gives nothing"),
            ItemResult::Stop => Verdict::Dropped("ends the loop"),
        };
        self.trace.close(verdict);
        Ok(result)
    }

    fn item_result(&mut self, item: Datum, index: usize, each: &Each<'_>) -> Result<ItemResult> {
        let number = Number::from_json(&index.to_string());
        let index = number.map_or_else(|| Datum::null(each.at), |number| Datum::number(number, each.at));
        let known = |name: &'static str, datum: Datum| (SmolStr::new_static(name), Variable::Known(datum));
        let scope = each.scope.starting(item.clone(), false).with([
            known("item", item.clone()),
            known("index", index.clone()),
            known("key", index),
            known("break", Datum::Signal(Signal::Break)),
            known("continue", Datum::Signal(Signal::Continue)),
        ]);
        let mut name = None;
        if let Some(key) = each.key {
            let Some(datum) = self.for_item(key, &scope)? else { return Ok(ItemResult::Skipped) };
            match datum {
                Datum::Signal(Signal::Break) => return Ok(ItemResult::Stop),
                Datum::Signal(Signal::Continue) => return Ok(ItemResult::Skipped),
                datum if datum.is_null() => return Ok(ItemResult::Skipped),
                datum => name = Some(self.key_text(&datum, key.span)?),
            }
        }
        let value = match each.value {
            Some(value) => self.for_item(value, &scope)?,
            None => Some(item),
        };
        Ok(match value {
            None | Some(Datum::Signal(Signal::Continue)) => ItemResult::Skipped,
            Some(Datum::Signal(Signal::Break)) => ItemResult::Stop,
            Some(value) => ItemResult::Entry(name, value),
        })
    }

    /// The value of an expression, or of a value with expressions in it, for the current item; none without a match.
    fn for_item(&mut self, node: &Node, scope: &Scope) -> Result<Option<Datum>> {
        match &node.value {
            Value::String(_) => {}
            Value::Map(map) if is_form(map) => {}
            _ => return self.mapped(node, scope).map(Some),
        }
        let matches = self.expression(node, scope)?;
        if matches.values.is_empty() && !matches.is_list {
            // A strict expression reports that it has no match.
            return self.single(matches).map(|_| None);
        }
        self.single(matches).map(Some)
    }

    fn key_text(&self, datum: &Datum, at: Span) -> Result<SmolStr> {
        if let Datum::Resource(id) = datum {
            return Ok(self.tree.path(*id));
        }
        match datum.scalar_text() {
            Some(text) => Ok(text),
            None if datum.is_secret() => shows_a_secret(at, "the key of an item"),
            None => bad_arguments(at, "the key of an item is a list or a map", "write a path to a text or a number"),
        }
    }
}

/// `{key, value}`, or one of them.
fn is_key_and_value(map: &Map) -> bool {
    !map.is_empty() && map.entries().iter().all(|entry| entry.key.name == "key" || entry.key.name == "value")
}

/// The entries of a map in the making.
#[derive(Default)]
struct Members {
    entries: Vec<(Key, Datum)>,
    positions: HashMap<SmolStr, usize>,
}

impl Members {
    /// The last of several entries with one key counts, in the place of the first.
    fn put(&mut self, name: SmolStr, value: Datum, at: Span) {
        let next = self.entries.len();
        match *self.positions.entry(name.clone()).or_insert(next) {
            known if known < next => self.entries[known].1 = value,
            _ => self.entries.push((text_key(name, at), value)),
        }
    }
}
