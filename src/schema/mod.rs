//! Checks a value against a JSON Schema: the keywords that authors of configuration use, with exact numbers.
//!
//! Nothing is fetched: `$ref` leads to places in the same schema alone. `format` and annotations say nothing about validity;
//! keywords that would, but are not known here, are refused rather than passed over.

use std::collections::HashMap;

use regex::{Regex, RegexBuilder};
use smol_str::SmolStr;

use crate::path::Pointer;
use crate::sanitize;
use crate::text::Span;
use crate::value::{Map, Node, Number, Operation, Value, calculate, compare};

/// Whether a value is as a schema says, and what it took to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Whether it is.
    pub is_valid: bool,
    /// How often a value was held against a schema.
    pub steps: u64,
}

/// What is wrong with a schema.
#[derive(Debug, Clone)]
pub struct SchemaError {
    /// Where.
    pub at: Span,
    /// A phrase.
    pub message: String,
}

type Result<T> = std::result::Result<T, SchemaError>;

/// Checks a value; a check that takes more steps than this is given up.
pub fn is_valid(value: &Node, schema: &Node, most_steps: u64) -> Result<Answer> {
    let mut checker = Checker { root: schema, patterns: HashMap::new(), steps: 0, most_steps, depth: 0 };
    let is_valid = checker.check(value, schema)?;
    Ok(Answer { is_valid, steps: checker.steps })
}

struct Checker<'s> {
    root: &'s Node,
    patterns: HashMap<SmolStr, Regex>,
    steps: u64,
    most_steps: u64,
    depth: u32,
}

/// Schemas inside schemas and references, one after the other.
const DEEPEST: u32 = 500;
/// Bytes of a compiled pattern.
const LARGEST_PATTERN: usize = 1 << 20;

/// Keywords that decide about validity and are not known here.
const REFUSED: [&str; 8] = [
    "unevaluatedProperties",
    "unevaluatedItems",
    "dependencies",
    "dependentSchemas",
    "minContains",
    "maxContains",
    "$dynamicRef",
    "$recursiveRef",
];

impl<'s> Checker<'s> {
    fn check(&mut self, value: &Node, schema: &'s Node) -> Result<bool> {
        self.steps += 1;
        if self.steps > self.most_steps {
            return refuse(schema, "the schema takes too many steps to check");
        }
        if self.depth >= DEEPEST {
            return refuse(schema, "the schema is nested too deeply, or refers to itself without end");
        }
        self.depth += 1;
        let answer = stacker::maybe_grow(128 << 10, 2 << 20, || self.check_here(value, schema));
        self.depth -= 1;
        answer
    }

    fn check_here(&mut self, value: &Node, schema: &'s Node) -> Result<bool> {
        let map = match &schema.value {
            Value::Bool(answer) => return Ok(*answer),
            Value::Map(map) => map,
            _ => return refuse(schema, format!("a schema is a map or a boolean, not a {}", schema.type_of())),
        };
        let is_null = matches!(value.value, Value::Null);
        if is_null && matches!(map.get("nullable").map(|node| &node.value), Some(Value::Bool(true))) {
            return Ok(true);
        }
        for entry in map.entries() {
            let (name, given) = (entry.key.name.as_str(), &entry.value);
            if REFUSED.contains(&name) {
                return refuse(given, format!("the keyword `{name}` is not supported"));
            }
            if !self.keyword(value, name, given, map)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a value is as one keyword says; keywords about other types have nothing against it.
    fn keyword(&mut self, value: &Node, name: &str, given: &'s Node, map: &'s Map) -> Result<bool> {
        match name {
            "type" => is_of_type(value, given),
            "enum" => Ok(items(given, name)?.iter().any(|item| item.is_equal(value))),
            "const" => Ok(given.is_equal(value)),
            "$ref" => {
                let target = self.target(given)?;
                self.check(value, target)
            }
            "allOf" | "anyOf" | "oneOf" | "not" | "if" => self.combination(value, name, given, map),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => match &value.value {
                Value::Number(number) => number_keyword(number, name, given, map),
                _ => Ok(true),
            },
            "minLength" | "maxLength" | "pattern" => match &value.value {
                Value::String(text) => self.text_keyword(text, name, given),
                _ => Ok(true),
            },
            "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" | "contains" | "additionalItems" => {
                match value.as_list() {
                    Some(list) => self.list_keyword(list, name, given, map),
                    None => Ok(true),
                }
            }
            "properties"
            | "patternProperties"
            | "additionalProperties"
            | "propertyNames"
            | "required"
            | "minProperties"
            | "maxProperties"
            | "dependentRequired" => match value.as_map() {
                Some(members) => self.map_keyword(value, members, name, given, map),
                None => Ok(true),
            },
            _ => Ok(true),
        }
    }

    fn combination(&mut self, value: &Node, name: &str, given: &'s Node, map: &'s Map) -> Result<bool> {
        if name == "not" {
            return self.check(value, given).map(|is_valid| !is_valid);
        }
        if name == "if" {
            let branch = if self.check(value, given)? { "then" } else { "else" };
            return map.get(branch).map_or(Ok(true), |branch| self.check(value, branch));
        }
        let schemas = items(given, name)?;
        let mut valid = 0;
        for schema in schemas {
            let is_valid = self.check(value, schema)?;
            valid += usize::from(is_valid);
            match name {
                "allOf" if !is_valid => return Ok(false),
                "anyOf" if is_valid => return Ok(true),
                "oneOf" if valid > 1 => return Ok(false),
                _ => {}
            }
        }
        Ok(match name {
            "allOf" => true,
            "anyOf" => false,
            _ => valid == 1,
        })
    }

    fn text_keyword(&mut self, text: &SmolStr, name: &str, given: &Node) -> Result<bool> {
        match name {
            "pattern" => self.is_match(given, text),
            "minLength" => Ok(text.chars().count() as u64 >= count(given, name)?),
            _ => Ok(text.chars().count() as u64 <= count(given, name)?),
        }
    }

    fn list_keyword(&mut self, list: &[Node], name: &str, given: &'s Node, map: &'s Map) -> Result<bool> {
        let length = list.len() as u64;
        match name {
            "minItems" => Ok(length >= count(given, name)?),
            "maxItems" => Ok(length <= count(given, name)?),
            "uniqueItems" => Ok(!matches!(given.value, Value::Bool(true)) || self.are_unique(list)),
            "contains" => {
                for item in list {
                    if self.check(item, given)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            "prefixItems" => self.each(list, items(given, name)?),
            // Older drafts: a list of schemas for the first items, and `additionalItems` for the rest.
            "items" if given.as_list().is_some() => self.each(list, items(given, name)?),
            "items" => {
                let first = map.get("prefixItems").and_then(Node::as_list).map_or(0, <[Node]>::len);
                self.all(list.get(first..).unwrap_or_default(), given)
            }
            _ => match map.get("items").and_then(Node::as_list) {
                Some(first) => self.all(list.get(first.len()..).unwrap_or_default(), given),
                None => Ok(true),
            },
        }
    }

    fn each(&mut self, list: &[Node], schemas: &'s [Node]) -> Result<bool> {
        for (item, schema) in list.iter().zip(schemas) {
            if !self.check(item, schema)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn all(&mut self, list: &[Node], schema: &'s Node) -> Result<bool> {
        for item in list {
            if !self.check(item, schema)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn are_unique(&mut self, list: &[Node]) -> bool {
        let mut by_hash: Vec<(u64, &Node)> = list.iter().map(|item| (item.hash(), item)).collect();
        by_hash.sort_by_key(|(hash, _)| *hash);
        self.steps += list.len() as u64;
        by_hash.chunk_by(|a, b| a.0 == b.0).all(|alike| {
            let pairs = alike.iter().enumerate();
            pairs.clone().all(|(at, (_, a))| alike[at + 1..].iter().all(|(_, b)| !a.is_equal(b)))
        })
    }

    fn map_keyword(&mut self, value: &Node, members: &Map, name: &str, given: &'s Node, map: &'s Map) -> Result<bool> {
        match name {
            "minProperties" => Ok(members.len() as u64 >= count(given, name)?),
            "maxProperties" => Ok(members.len() as u64 <= count(given, name)?),
            // Older drafts mark a single property with a boolean.
            "required" if matches!(given.value, Value::Bool(_)) => Ok(true),
            "required" => has_all(members, given, name),
            "dependentRequired" => {
                for entry in entries(given, name)? {
                    if members.get(&entry.key.name).is_some() && !has_all(members, &entry.value, name)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            "properties" => {
                for entry in entries(given, name)? {
                    let Some(member) = value.get(&entry.key.name) else { continue };
                    if !self.check(member, &entry.value)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            "propertyNames" => {
                for member in members.entries() {
                    let key = Node::text(member.key.name.clone(), member.key.span);
                    if !self.check(&key, given)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => self.named_by_pattern(members, name, given, map),
        }
    }

    /// `patternProperties`, and `additionalProperties` for what neither it nor `properties` speaks of.
    fn named_by_pattern(&mut self, members: &Map, name: &str, given: &'s Node, map: &'s Map) -> Result<bool> {
        let patterns = match map.get("patternProperties") {
            Some(patterns) => entries(patterns, "patternProperties")?,
            None => &[],
        };
        for member in members.entries() {
            let mut is_spoken_of = map.get("properties").is_some_and(|known| known.get(&member.key.name).is_some());
            for pattern in patterns {
                let text = Node::text(pattern.key.name.clone(), pattern.key.span);
                if !self.is_match(&text, &member.key.name)? {
                    continue;
                }
                is_spoken_of = true;
                if name == "patternProperties" && !self.check(&member.value, &pattern.value)? {
                    return Ok(false);
                }
            }
            if name == "additionalProperties" && !is_spoken_of && !self.check(&member.value, given)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_match(&mut self, pattern: &Node, text: &str) -> Result<bool> {
        let Some(source) = pattern.as_str() else { return refuse(pattern, "a pattern is not a text") };
        self.steps += 1 + text.len() as u64 / 256;
        if let Some(known) = self.patterns.get(source) {
            return Ok(known.is_match(text));
        }
        let Ok(regex) = RegexBuilder::new(source).size_limit(LARGEST_PATTERN).build() else {
            let shown = sanitize::inline(source);
            return refuse(pattern, format!("the pattern `{shown}` is malformed or too large"));
        };
        let answer = regex.is_match(text);
        self.patterns.insert(source.into(), regex);
        Ok(answer)
    }

    /// The part of the schema that a reference names.
    fn target(&self, reference: &Node) -> Result<&'s Node> {
        let Some(fragment) = reference.as_str().and_then(|text| text.strip_prefix('#')) else {
            return refuse(reference, "a `$ref` leads out of the schema, and nothing is fetched");
        };
        let decoded = decoded(fragment);
        let pointer = decoded.as_deref().map(Pointer::parse);
        match pointer.and_then(std::result::Result::ok).and_then(|pointer| self.root.at(&pointer)) {
            Some(target) => Ok(target),
            None => refuse(reference, format!("`$ref` names {}, which is not there", sanitize::inline(fragment))),
        }
    }
}

fn refuse<T>(node: &Node, message: impl Into<String>) -> Result<T> {
    Err(SchemaError { at: node.span, message: message.into() })
}

fn items<'n>(node: &'n Node, name: &str) -> Result<&'n [Node]> {
    node.as_list().map_or_else(|| refuse(node, format!("`{name}` is not a list")), Ok)
}

fn entries<'n>(node: &'n Node, name: &str) -> Result<&'n [crate::value::Entry]> {
    node.as_map().map_or_else(|| refuse(node, format!("`{name}` is not a map")), |map| Ok(map.entries()))
}

fn count(node: &Node, name: &str) -> Result<u64> {
    let number = match &node.value {
        Value::Number(number) => number.to_json().and_then(|text| text.trim_end_matches(".0").parse().ok()),
        _ => None,
    };
    number.map_or_else(|| refuse(node, format!("`{name}` is not a whole number")), Ok)
}

fn has_all(members: &Map, names: &Node, keyword: &str) -> Result<bool> {
    for name in items(names, keyword)? {
        let Some(text) = name.as_str() else {
            return refuse(name, format!("`{keyword}` names something that is no text"));
        };
        if members.get(text).is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_of_type(value: &Node, given: &Node) -> Result<bool> {
    if let Some(types) = given.as_list() {
        for one in types {
            if is_of_type(value, one)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    Ok(match (given.as_str(), &value.value) {
        (Some("null"), value) => matches!(value, Value::Null),
        (Some("boolean"), value) => matches!(value, Value::Bool(_)),
        (Some("number"), value) => matches!(value, Value::Number(_)),
        (Some("integer"), Value::Number(number)) => number.is_integer() || is_multiple(number, &one()),
        (Some("integer"), _) => false,
        (Some("string"), value) => matches!(value, Value::String(_)),
        (Some("array"), value) => matches!(value, Value::List(_)),
        (Some("object"), value) => matches!(value, Value::Map(_)),
        _ => return refuse(given, "`type` names no type of JSON"),
    })
}

fn number_keyword(number: &Number, name: &str, given: &Node, map: &Map) -> Result<bool> {
    let bound = match &given.value {
        Value::Number(bound) => bound,
        // Older drafts: a boolean beside `minimum` and `maximum`.
        Value::Bool(_) if name.starts_with("exclusive") => return Ok(true),
        _ => return refuse(given, format!("`{name}` is not a number")),
    };
    if name == "multipleOf" {
        return Ok(is_multiple(number, bound));
    }
    let Some(order) = compare(number, bound) else { return Ok(false) };
    let is_exclusive = |name: &str| matches!(map.get(name).map(|node| &node.value), Some(Value::Bool(true)));
    Ok(match name {
        "minimum" if is_exclusive("exclusiveMinimum") => order.is_gt(),
        "minimum" => order.is_ge(),
        "maximum" if is_exclusive("exclusiveMaximum") => order.is_lt(),
        "maximum" => order.is_le(),
        "exclusiveMinimum" => order.is_gt(),
        _ => order.is_lt(),
    })
}

fn is_multiple(number: &Number, of: &Number) -> bool {
    let rest = calculate(Operation::Mod, number, of);
    rest.is_ok_and(|rest| Number::from_json("0").is_some_and(|zero| zero.is_equal(&rest)))
}

fn one() -> Number {
    Number::from_json("1").expect("1 is a number")
}

/// The percent escapes of a fragment undone; nothing if that is no text.
fn decoded(fragment: &str) -> Option<String> {
    if !fragment.contains('%') {
        return Some(fragment.to_owned());
    }
    let mut bytes = Vec::new();
    let mut rest = fragment.as_bytes();
    while let [first, after @ ..] = rest {
        (bytes, rest) = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digits = [*high, *low];
                let byte = u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?;
                bytes.push(byte);
                (bytes, after)
            }
            _ => {
                bytes.push(*first);
                (bytes, after)
            }
        };
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
