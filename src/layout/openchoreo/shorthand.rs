//! Schemas of the first generation: texts such as `integer | default=1 minimum=0`, and maps of them.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use crate::document::{self, Format};
use crate::limits::Limits;
use crate::schema::{Patterns, violations};
use crate::text::Span;
use crate::value::{Entry, Node, Number, Value};

/// How schemas are made of shorthand.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShorthandOptions {
    /// Whether maps allow no other keys.
    pub closes_maps: bool,
    /// Whether defaults are taken as they are.
    pub trusts_defaults: bool,
}

/// What is wrong with a shorthand.
#[derive(Debug, Clone)]
pub struct ShorthandError {
    /// A lower-case phrase.
    pub message: String,
    /// Where.
    pub at: Span,
}

type Made<T> = Result<T, ShorthandError>;

/// The JSON Schema of a map of fields; `types` has the types that fields may name.
pub fn expand_shorthand(fields: &Node, types: Option<&Node>, options: ShorthandOptions) -> Made<Node> {
    let mut reader = Reader { types, options, known: BTreeMap::new(), open: Vec::new() };
    reader.object(fields)
}

struct Reader<'n> {
    types: Option<&'n Node>,
    options: ShorthandOptions,
    known: BTreeMap<SmolStr, Node>,
    /// Types that are being read.
    open: Vec<SmolStr>,
}

/// The key of a map that holds its default.
const DEFAULT: &str = "$default";
/// The deepest nesting of fields.
const DEEPEST: usize = 64;

impl Reader<'_> {
    fn object(&mut self, fields: &Node) -> Made<Node> {
        let at = fields.span;
        let Some(map) = fields.as_map() else { return Err(wrong("fields are a map", at)) };
        if self.open.len() > DEEPEST {
            return Err(wrong("types are nested too deeply", at));
        }
        let mut entries: Vec<&Entry> = map.entries().iter().filter(|entry| entry.key.name != DEFAULT).collect();
        entries.sort_by(|a, b| a.key.name.cmp(&b.key.name));
        let (mut properties, mut required) = (Vec::new(), Vec::new());
        for entry in entries {
            let schema = self.field(&entry.value)?;
            if schema.get("default").is_none() {
                required.push(Node::text(entry.key.name.clone(), entry.key.span));
            }
            properties.push(Entry { key: entry.key.clone(), value: schema });
        }
        let mut schema = vec![typed("object", at)];
        if !properties.is_empty() {
            schema.push(Entry::named("properties", at, Node::map(properties, at)));
        }
        if !required.is_empty() {
            schema.push(Entry::named("required", at, Node::list(required, at)));
        }
        if self.options.closes_maps {
            schema.push(Entry::named("additionalProperties", at, Node::new(Value::Bool(false), at)));
        }
        let made = Node::map(schema, at);
        match map.get(DEFAULT) {
            Some(default) => self.with_default(made, object_default(default)?),
            None => Ok(made),
        }
    }

    fn field(&mut self, raw: &Node) -> Made<Node> {
        match &raw.value {
            Value::String(text) => self.text(text, raw.span),
            Value::Map(_) => stacker::maybe_grow(64 << 10, 1 << 20, || self.object(raw)),
            _ => Err(wrong("a field is a text or a map", raw.span)),
        }
    }

    fn text(&mut self, text: &str, at: Span) -> Made<Node> {
        let text = text.trim();
        if text.is_empty() {
            return Err(wrong("a field needs a type", at));
        }
        let (kind, constraints) = text.split_once('|').unwrap_or((text, ""));
        let schema = self.of_type(kind.trim(), at)?;
        self.constrained(schema, constraints, at)
    }

    fn of_type(&mut self, name: &str, at: Span) -> Made<Node> {
        let map_of =
            |value: Node| Node::map(vec![typed("object", at), Entry::named("additionalProperties", at, value)], at);
        let list_of = |items: Node| Node::map(vec![typed("array", at), Entry::named("items", at, items)], at);
        let inside = |open: &str, close: &str| name.strip_prefix(open)?.strip_suffix(close).map(str::trim);
        match name {
            "string" | "integer" | "number" | "boolean" => Ok(Node::map(vec![typed(name, at)], at)),
            "object" => Err(wrong("`object` says nothing; use a map type such as `map<string>`", at)),
            _ if name.starts_with("[]") => Ok(list_of(self.of_type(name[2..].trim(), at)?)),
            _ => {
                if let Some(item) = inside("array<", ">") {
                    return Ok(list_of(self.of_type(item, at)?));
                }
                if let Some(value) = inside("map<", ">") {
                    return Ok(map_of(self.of_type(value, at)?));
                }
                match name.strip_prefix("map[").map(|rest| rest.split_once(']')) {
                    Some(Some((key, value))) if key.trim() == "string" => Ok(map_of(self.of_type(value.trim(), at)?)),
                    Some(_) => Err(wrong(format!("`{name}` is no map type; keys are `string`"), at)),
                    None => self.named(name, at),
                }
            }
        }
    }

    fn named(&mut self, name: &str, at: Span) -> Made<Node> {
        if let Some(known) = self.known.get(name) {
            return Ok(known.clone());
        }
        if self.open.iter().any(|open| open == name) {
            return Err(wrong(format!("the type `{name}` is made of itself"), at));
        }
        let Some(raw) = self.types.and_then(|types| types.get(name)) else {
            return Err(wrong(format!("there is no type `{name}`"), at));
        };
        self.open.push(name.into());
        let made = self.field(&raw.clone());
        self.open.pop();
        let made = made?;
        self.known.insert(name.into(), made.clone());
        Ok(made)
    }

    fn constrained(&self, schema: Node, constraints: &str, at: Span) -> Made<Node> {
        let kind = schema.get("type").and_then(Node::as_str).unwrap_or_default().to_owned();
        let mut entries = schema.as_map().map(|map| map.entries().to_vec()).unwrap_or_default();
        for token in tokens(constraints) {
            let Some((key, value)) = token.split_once('=') else {
                match token.trim() {
                    "|" => continue,
                    marker if marker.starts_with(IGNORED) => continue,
                    marker => return Err(wrong(format!("`{marker}` has no value"), at)),
                }
            };
            let (key, value) = (key.trim(), value.trim());
            if let Some(node) = constraint(key, value, &kind, at)? {
                entries.retain(|entry| entry.key.name != key);
                entries.push(Entry::named(key, at, node));
            }
        }
        let made = Node::map(entries, at);
        match made.get("default").cloned() {
            Some(default) => self.with_default(made, default),
            None => Ok(made),
        }
    }

    /// The schema with a default that it allows.
    fn with_default(&self, schema: Node, default: Node) -> Made<Node> {
        if !self.options.trusts_defaults {
            let found = violations(&default, &schema, &schema, &Patterns::default(), Limits::default().request_steps);
            if let Some(violation) = found.found.first() {
                return Err(wrong(format!("the default is not allowed: {}", violation.reason), default.span));
            }
        }
        let mut entries = schema.as_map().map(|map| map.entries().to_vec()).unwrap_or_default();
        entries.retain(|entry| entry.key.name != "default");
        entries.push(Entry::named("default", default.span, default));
        Ok(Node::map(entries, schema.span))
    }
}

/// Markers of tools, which say nothing about values.
const IGNORED: &str = "oc:";

/// The value of a constraint; nothing if it is ignored.
fn constraint(key: &str, value: &str, kind: &str, at: Span) -> Made<Option<Node>> {
    let invalid = || wrong(format!("`{value}` is no value of `{key}`"), at);
    let node = match key {
        "required" => return Err(wrong("`required` is not a constraint: fields with a default are optional", at)),
        "default" => of_kind(value, kind, at)?,
        "enum" => {
            let values = split_list(value);
            Node::list(values.iter().map(|value| of_kind(value, kind, at)).collect::<Made<_>>()?, at)
        }
        "minimum" | "maximum" | "multipleOf" => float(value, at).ok_or_else(invalid)?,
        "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" | "maxProperties" => {
            integer(value, at).ok_or_else(invalid)?
        }
        "exclusiveMinimum" | "exclusiveMaximum" | "uniqueItems" => boolean(value, at).ok_or_else(invalid)?,
        "pattern" | "title" | "description" | "format" => Node::text(unquoted(value, at), at),
        "example" => return Ok(None),
        _ if key.starts_with(IGNORED) => return Ok(None),
        _ => return Err(wrong(format!("there is no constraint `{key}`"), at)),
    };
    Ok(Some(node))
}

/// The default of a map: a map, or a text with JSON in it.
fn object_default(default: &Node) -> Made<Node> {
    let made = match &default.value {
        Value::Map(_) => Some(default.clone()),
        Value::String(text) => json(text, default.span).filter(|node| node.as_map().is_some()),
        _ => None,
    };
    made.ok_or_else(|| wrong("the default of a map is a map", default.span))
}

/// A value of a type, as it is written in a constraint.
fn of_kind(value: &str, kind: &str, at: Span) -> Made<Node> {
    let made = match kind {
        "string" => Some(Node::text(unquoted(value, at), at)),
        "integer" => integer(value, at),
        "number" => float(value, at),
        "boolean" => boolean(value, at),
        _ => json(value, at),
    };
    made.ok_or_else(|| wrong(format!("`{value}` is no {kind}"), at))
}

fn integer(value: &str, at: Span) -> Option<Node> {
    let value: i64 = value.parse().ok()?;
    Number::from_json(&value.to_string()).map(|number| Node::new(Value::Number(number), at))
}

fn float(value: &str, at: Span) -> Option<Node> {
    let parsed: f64 = value.parse().ok().filter(|value: &f64| value.is_finite())?;
    let text = if value.parse::<i64>().is_ok() { value.to_owned() } else { parsed.to_string() };
    Number::from_json(text.trim_start_matches('+')).map(|number| Node::new(Value::Number(number), at))
}

fn boolean(value: &str, at: Span) -> Option<Node> {
    let value = match value {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => true,
        "0" | "f" | "F" | "FALSE" | "false" | "False" => false,
        _ => return None,
    };
    Some(Node::new(Value::Bool(value), at))
}

fn json(text: &str, at: Span) -> Option<Node> {
    let parsed = document::parse(text, at.source, Format::Json, &Limits::default());
    match parsed.value.as_slice() {
        [only] if parsed.findings.is_empty() && !text.trim().is_empty() => Some(only.root.written_at(at)),
        _ => None,
    }
}

/// The constraints of a text: separated by blanks that are not in quotes or brackets.
fn tokens(text: &str) -> Vec<String> {
    let (mut tokens, mut current) = (Vec::new(), String::new());
    let (mut quote, mut is_escaped, mut depth) = (None, false, 0_usize);
    for c in text.chars() {
        match (quote, c) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '[') => depth += 1,
            (None, '}' | ']') => depth = depth.saturating_sub(1),
            (None, c) if c.is_whitespace() && depth == 0 => {
                if !current.is_empty() {
                    tokens.push(std::mem::take(&mut current));
                }
                continue;
            }
            _ => {}
        }
        current.push(c);
    }
    if !current.is_empty() {
        tokens.push(current);
    }
    tokens
}

/// The values of an enumeration: separated by commas that are not in double quotes.
fn split_list(text: &str) -> Vec<String> {
    let (mut values, mut current) = (Vec::new(), String::new());
    let (mut is_quoted, mut is_escaped) = (false, false);
    for c in text.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => {
                values.push(std::mem::take(&mut current));
                continue;
            }
            _ => {}
        }
        current.push(c);
    }
    values.push(current);
    values.into_iter().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()).collect()
}

fn unquoted(text: &str, at: Span) -> String {
    if text.len() >= 2 && text.starts_with('"') && text.ends_with('"') {
        let parsed = json(text, at).and_then(|node| node.as_str().map(str::to_owned));
        return parsed.unwrap_or_else(|| text.to_owned());
    }
    match text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        Some(inner) => inner.replace("''", "'"),
        None => text.to_owned(),
    }
}

fn typed(name: &str, at: Span) -> Entry {
    Entry::named("type", at, Node::text(name, at))
}

fn wrong(message: impl Into<String>, at: Span) -> ShorthandError {
    ShorthandError { message: message.into(), at }
}
