//! What an expression gives: values of the foreign crate become ours, with keys in order.

use cel::common::types::{
    CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelOptional, CelString, CelUInt,
};
use cel::common::value::Val;

use super::failure::{Failure, FailureKind};
use super::functions::Omitted;
use super::to_cel::Foreign;
use crate::text::Span;
use crate::value::{Entry, Node, Number, Value};

/// The value, every part of it at one place; nothing if it is `oc_omit()`. What is omitted further down is left out.
pub(super) fn node(value: &dyn Val, at: Span) -> Result<Option<Node>, Failure> {
    if value.downcast_ref::<Omitted>().is_some() {
        return Ok(None);
    }
    if let Some(Foreign(node)) = value.downcast_ref::<Foreign>() {
        return Ok(Some(node.written_at(at)));
    }
    if let Some(list) = value.downcast_ref::<CelList>() {
        let items = list.inner().iter().map(|item| node(item.as_ref(), at));
        return Ok(Some(Node::list(items.filter_map(Result::transpose).collect::<Result<_, _>>()?, at)));
    }
    if let Some(map) = value.downcast_ref::<CelMap>() {
        return map_node(map, at).map(Some);
    }
    if let Some(optional) = value.downcast_ref::<CelOptional>() {
        let held =
            optional.option().ok_or_else(|| failed("an optional that is empty is no value; use `.orValue(…)`"))?;
        return node(held, at);
    }
    scalar(value, at).map(|value| Some(Node::new(value, at)))
}

fn map_node(map: &CelMap<'_>, at: Span) -> Result<Node, Failure> {
    let mut entries = Vec::with_capacity(map.inner().len());
    for (key, value) in map.inner() {
        if let Some(value) = node(value.as_ref(), at)? {
            entries.push(Entry::named(key_text(key), at, value));
        }
    }
    // The foreign map has no order of its own.
    entries.sort_by(|a, b| a.key.name.cmp(&b.key.name));
    if entries.windows(2).any(|pair| pair[0].key.name == pair[1].key.name) {
        return Err(failed("two keys of a map have the same text"));
    }
    Ok(Node::map(entries, at))
}

fn key_text(key: &CelMapKey<'_>) -> String {
    match key {
        CelMapKey::Bool(value) => value.inner().to_string(),
        CelMapKey::Int(value) => value.inner().to_string(),
        CelMapKey::UInt(value) => value.inner().to_string(),
        CelMapKey::String(text) => text.inner().to_owned(),
    }
}

fn scalar(value: &dyn Val, _at: Span) -> Result<Value, Failure> {
    if let Some(text) = value.downcast_ref::<CelString>() {
        return Ok(Value::String(text.inner().into()));
    }
    if let Some(value) = value.downcast_ref::<CelBool>() {
        return Ok(Value::Bool(*value.inner()));
    }
    if value.downcast_ref::<CelNull>().is_some() {
        return Ok(Value::Null);
    }
    let number = if let Some(value) = value.downcast_ref::<CelInt>() {
        Number::from_json(&value.inner().to_string())
    } else if let Some(value) = value.downcast_ref::<CelUInt>() {
        Number::from_json(&value.inner().to_string())
    } else if let Some(value) = value.downcast_ref::<CelDouble>() {
        let value = *value.inner();
        if !value.is_finite() {
            return Err(failed("the number is infinite or undefined"));
        }
        Number::from_json(&decimal(value))
    } else {
        let message = format!("a {} is no value of YAML or JSON; `string(…)` makes it one", value.get_type().name());
        return Err(failed(&message));
    };
    number.map(Value::Number).ok_or_else(|| failed("the number cannot be written"))
}

/// The shortest decimal text of a finite number; only very large and very small ones have an exponent.
pub(super) fn decimal(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-7..1e21).contains(&size) { value.to_string() } else { format!("{value:e}") }
}

fn failed(message: &str) -> Failure {
    Failure::new(FailureKind::Evaluation, message)
}
