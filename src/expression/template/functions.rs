//! The functions of templates: Go's own as far as configuration needs them, and `resource_format`.

use std::cmp::Ordering;

use smol_str::SmolStr;

use super::Scope;
use super::print::{print, printf, scalar_text};
use crate::percent::escape_component;
use crate::template_words::FUNCTIONS;
use crate::text::Span;
use crate::value::{Node, Number, Value};

/// The longest text that a function makes.
pub(super) const LONGEST_TEXT: usize = 256 << 10;

pub(super) fn is_known(name: &str) -> bool {
    FUNCTIONS.contains(&name)
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.into_iter()
}

/// The value of a function, or why it does not take its arguments.
pub(super) fn call(name: &str, arguments: &[Node], scope: &Scope, place: Span) -> Result<Node, String> {
    let boolean = |value: bool| Ok(Node::new(Value::Bool(value), place));
    let text = |text: String| {
        if text.len() > LONGEST_TEXT {
            return Err("the text grows too long".to_owned());
        }
        Ok(Node::text(text, place))
    };
    match (name, arguments) {
        ("not", [value]) => boolean(!is_true(value)),
        ("eq", [first, others @ ..]) if !others.is_empty() => {
            let mut is_equal = false;
            for other in others {
                is_equal |= equal(first, other)?;
            }
            boolean(is_equal)
        }
        ("ne", [a, b]) => boolean(!equal(a, b)?),
        ("lt", [a, b]) => boolean(order(a, b)?.is_lt()),
        ("le", [a, b]) => boolean(order(a, b)?.is_le()),
        ("gt", [a, b]) => boolean(order(a, b)?.is_gt()),
        ("ge", [a, b]) => boolean(order(a, b)?.is_ge()),
        ("index", [value, keys @ ..]) => keys.iter().try_fold(value.clone(), |value, key| indexed(&value, key, place)),
        ("len", [value]) => {
            let length = match &value.value {
                Value::String(text) => text.len(),
                Value::List(list) => list.items().len(),
                Value::Map(map) => map.len(),
                _ => return Err(format!("a {} has no length", value.type_of())),
            };
            let number = Number::from_json(&length.to_string()).expect("a length is a number");
            Ok(Node::new(Value::Number(number), place))
        }
        ("print", values) => text(print(values)?),
        ("println", values) => {
            let shown: Result<Vec<String>, String> = values.iter().map(scalar_text).collect();
            text(shown?.join(" ") + "\n")
        }
        ("printf", [pattern, values @ ..]) => match pattern.as_str() {
            Some(pattern) => text(printf(pattern, values)?),
            None => Err("the first argument of `printf` is a text".to_owned()),
        },
        ("urlquery", values) => text(escape_component(&print(values)?).replace("%20", "+")),
        ("resource_format", [value]) => resource_format(value, &scope.format).map(|format| Node::text(format, place)),
        ("payload_type", [value]) => payload(name, value, &scope.payload.name, place),
        ("payload_media_type", [value]) => payload(name, value, &scope.payload.media, place),
        ("payload_extension", [value]) => payload(name, value, &scope.payload.extension, place),
        (name, arguments) => Err(format!("`{name}` does not take {} arguments", arguments.len())),
    }
}

/// Whether a value counts as true: not false, zero, null or empty.
pub(super) fn is_true(value: &Node) -> bool {
    match &value.value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => !number.is_zero(),
        Value::String(text) => !text.is_empty(),
        Value::List(list) => !list.items().is_empty(),
        Value::Map(map) => !map.is_empty(),
        Value::Secret(_) => true,
    }
}

/// Whether two values are equal, numbers by value. Values of two types cannot be compared, except with null, which equals only null.
fn equal(a: &Node, b: &Node) -> Result<bool, String> {
    match (&a.value, &b.value) {
        (Value::Null, _) | (_, Value::Null) => Ok(a.type_of() == b.type_of()),
        (Value::List(_) | Value::Map(_), _) | (_, Value::List(_) | Value::Map(_)) => {
            Err("lists and maps cannot be compared".to_owned())
        }
        (Value::Secret(_), _) | (_, Value::Secret(_)) => Ok(a.is_equal(b)),
        _ if a.type_of() == b.type_of() => Ok(a.is_equal(b)),
        _ => Err(format!("a {} cannot be compared with a {}", a.type_of(), b.type_of())),
    }
}

fn order(a: &Node, b: &Node) -> Result<Ordering, String> {
    match (&a.value, &b.value) {
        (Value::Number(a), Value::Number(b)) => Ok(a.order(b)),
        (Value::String(a), Value::String(b)) => Ok(a.cmp(b)),
        _ => Err(format!("a {} and a {} have no order", a.type_of(), b.type_of())),
    }
}

/// A member or an item. An absent member is null, as in Go; an absent item is an error.
fn indexed(value: &Node, key: &Node, place: Span) -> Result<Node, String> {
    match (&value.value, &key.value) {
        (Value::Map(map), Value::String(name)) => {
            Ok(map.get(name).cloned().unwrap_or_else(|| Node::new(Value::Null, place)))
        }
        (Value::List(list), Value::Number(number)) => {
            let position = number.to_json().and_then(|text| text.parse::<usize>().ok());
            let item = position.and_then(|position| list.items().get(position));
            item.cloned()
                .ok_or_else(|| format!("there is no item {} in a list of {}", number.as_str(), list.items().len()))
        }
        _ => Err(format!("a {} cannot be indexed with a {}", value.type_of(), key.type_of())),
    }
}

/// What is known about the type of the payload; the argument is the whole scope, by convention.
fn payload(name: &str, argument: &Node, text: &SmolStr, place: Span) -> Result<Node, String> {
    match argument.value {
        Value::Null | Value::Map(_) => Ok(Node::text(text.clone(), place)),
        _ => Err(format!("`{name}` takes the dot, not a {}", argument.type_of())),
    }
}

/// The repository's format; the argument is the whole scope, by convention.
fn resource_format(argument: &Node, format: &str) -> Result<SmolStr, String> {
    if !matches!(argument.value, Value::Null | Value::Map(_)) {
        return Err(format!("`resource_format` takes the dot, not a {}", argument.type_of()));
    }
    match format.trim().to_lowercase().as_str() {
        "" | "json" => Ok(SmolStr::new_static("json")),
        "yaml" => Ok(SmolStr::new_static("yaml")),
        _ => Err("`resource_format` knows `json` and `yaml`, and the repository is configured as neither".to_owned()),
    }
}
