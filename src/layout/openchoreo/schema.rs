//! Schema sections of types and traits: references resolved, defaults filled in, values judged.

use std::sync::Arc;

use smol_str::SmolStr;

use super::object::at;
use super::shorthand::{ShorthandOptions, expand_shorthand};
use crate::schema::{Patterns, Violation, violations};
use crate::text::Span;
use crate::value::{Entry, Map, Node, Value};

/// A schema with its references resolved and nothing in it but what the API server knows.
#[derive(Debug, Clone)]
pub struct Section {
    schema: Node,
    /// Whether keys that the schema does not name are dropped: the first generation.
    prunes: bool,
    patterns: Arc<Patterns>,
}

/// A schema that cannot be used.
#[derive(Debug, Clone)]
pub struct SectionError {
    /// A lower-case phrase.
    pub message: String,
    /// Where.
    pub at: Span,
    /// Whether it has a keyword that the API server does not know; then it can be used all the same.
    pub is_keyword: bool,
}

type Made<T> = Result<T, SectionError>;

impl Section {
    /// The schema section of a type or a trait: `parameters` or the values of an environment. None if there is none.
    pub fn read(spec: &Node, part: SectionPart) -> Made<Option<Self>> {
        let of_shorthand = |fields: &Node, types: Option<&Node>, prunes| {
            let schema = expand_shorthand(fields, types, ShorthandOptions::default());
            let schema = schema.map_err(|it| SectionError { message: it.message, at: it.at, is_keyword: false })?;
            Ok(Some(Self { schema, prunes, patterns: Arc::default() }))
        };
        if let Some(first) = spec.get("schema") {
            let fields = first.get(part.first_generation()).filter(|fields| fields.as_map().is_some());
            return fields.map_or(Ok(None), |fields| of_shorthand(fields, first.get("types"), true));
        }
        let Some(section) = spec.get(part.name()) else { return Ok(None) };
        if let Some(schema) = section.get("openAPIV3Schema").filter(|schema| schema.as_map().is_some()) {
            let schema = known_keywords(&resolved(schema)?);
            return Ok(Some(Self { schema, prunes: false, patterns: Arc::default() }));
        }
        let shorthand = section.get("ocSchema").filter(|fields| fields.as_map().is_some());
        shorthand.map_or(Ok(None), |fields| of_shorthand(&without_types(fields), fields.get("$types"), false))
    }

    /// The schema.
    pub fn schema(&self) -> &Node {
        &self.schema
    }

    /// The values with defaults filled in, and everything that is wrong with them.
    pub fn apply(&self, values: Option<&Node>, nowhere: Span, steps: u64) -> (Node, Vec<Violation>) {
        let nothing = Node::map(Vec::new(), nowhere);
        let values = values.filter(|values| !matches!(values.value, Value::Null)).unwrap_or(&nothing);
        let kept = if self.prunes { pruned(values, &self.schema) } else { values.clone() };
        let filled = defaulted(&kept, &self.schema);
        let found = self.judge(&filled, steps);
        (filled, found)
    }

    /// Everything that is wrong with values as they are.
    pub fn judge(&self, values: &Node, steps: u64) -> Vec<Violation> {
        violations(values, &self.schema, &self.schema, &self.patterns, steps).found
    }
}

/// A section of a specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionPart {
    /// What a component says.
    Parameters,
    /// What an environment says.
    Environment,
}

impl SectionPart {
    /// The name of the section, and of the variable in expressions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parameters => "parameters",
            Self::Environment => "environmentConfigs",
        }
    }

    /// What it was called in the first generation.
    pub fn first_generation(self) -> &'static str {
        match self {
            Self::Parameters => "parameters",
            Self::Environment => "envOverrides",
        }
    }
}

fn without_types(fields: &Node) -> Node {
    let entries = fields.as_map().map(Map::entries).unwrap_or_default();
    Node::map(entries.iter().filter(|entry| entry.key.name != "$types").cloned().collect(), fields.span)
}

/// The deepest chain of references and nested schemas.
const DEEPEST: usize = 64;

/// A schema whose references are replaced by what they name. Only `#/$defs/NAME` is a reference.
fn resolved(schema: &Node) -> Made<Node> {
    let definitions = schema.get("$defs").filter(|defs| defs.as_map().is_some_and(|map| !map.is_empty()));
    Resolver { definitions }.node(schema, &[], 0)
}

struct Resolver<'n> {
    definitions: Option<&'n Node>,
}

/// Keywords whose values are schemas, or lists of them.
const NESTED: [&str; 9] = ["items", "additionalProperties", "not", "if", "then", "else", "allOf", "oneOf", "anyOf"];

impl Resolver<'_> {
    fn node(&self, node: &Node, open: &[SmolStr], depth: usize) -> Made<Node> {
        if depth > DEEPEST {
            return Err(error(format!("references are nested more than {DEEPEST} levels deep"), node.span));
        }
        if let Some(items) = node.as_list() {
            let items = items.iter().map(|item| self.node(item, open, depth + 1)).collect::<Made<_>>()?;
            return Ok(Node::list(items, node.span));
        }
        let Some(map) = node.as_map() else { return Ok(node.clone()) };
        if let Some(reference) = map.get("$ref") {
            return self.reference(reference, map, node.span, open, depth);
        }
        let mut entries = Vec::with_capacity(map.len());
        for entry in map.entries() {
            let value = match entry.key.name.as_str() {
                "$defs" => continue,
                name if NESTED.contains(&name) => self.node(&entry.value, open, depth + 1)?,
                "properties" | "patternProperties" => self.each(&entry.value, open, depth)?,
                _ => entry.value.clone(),
            };
            entries.push(Entry { key: entry.key.clone(), value });
        }
        Ok(Node::map(entries, node.span))
    }

    fn each(&self, properties: &Node, open: &[SmolStr], depth: usize) -> Made<Node> {
        let Some(map) = properties.as_map() else { return Ok(properties.clone()) };
        let entry =
            |entry: &Entry| Ok(Entry { key: entry.key.clone(), value: self.node(&entry.value, open, depth + 1)? });
        Ok(Node::map(map.entries().iter().map(entry).collect::<Made<_>>()?, properties.span))
    }

    fn reference(&self, reference: &Node, map: &Map, at: Span, open: &[SmolStr], depth: usize) -> Made<Node> {
        let text = reference.as_str().unwrap_or_default();
        let name = text.strip_prefix("#/$defs/").filter(|name| !name.is_empty() && !name.contains('/'));
        let Some(name) = name else {
            return Err(error(format!("`{text}` is not a reference of the form `#/$defs/NAME`"), reference.span));
        };
        if open.iter().any(|known| known == name) {
            return Err(error(format!("the definition `{name}` refers to itself"), reference.span));
        }
        let definition = self.definitions.and_then(|all| all.get(name)).filter(|it| it.as_map().is_some());
        let Some(definition) = definition else {
            return Err(error(format!("there is no definition `{name}`"), reference.span));
        };
        let mut inner = open.to_vec();
        inner.push(name.into());
        let made = self.node(definition, &inner, depth + 1)?;
        let siblings: Vec<&Entry> = map.entries().iter().filter(|entry| entry.key.name != "$ref").collect();
        if siblings.is_empty() {
            return Ok(made);
        }
        let mut entries = made.as_map().map(|map| map.entries().to_vec()).unwrap_or_default();
        for sibling in siblings {
            entries.retain(|entry| entry.key.name != sibling.key.name);
            entries.push(sibling.clone());
        }
        self.node(&Node::map(entries, at), open, depth + 1)
    }
}

/// What the API server knows of JSON Schema.
const KEYWORDS: [&str; 36] = [
    "id",
    "$schema",
    "$ref",
    "description",
    "type",
    "format",
    "title",
    "default",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "multipleOf",
    "enum",
    "maxProperties",
    "minProperties",
    "required",
    "items",
    "allOf",
    "oneOf",
    "anyOf",
    "not",
    "properties",
    "additionalProperties",
    "patternProperties",
    "dependencies",
    "additionalItems",
    "externalDocs",
    "example",
    "nullable",
];

/// A schema without keywords that have no effect on the platform.
fn known_keywords(schema: &Node) -> Node {
    walked(schema, &mut |_| {})
}

/// Everything that keeps a schema section from being accepted: references first, then keywords.
pub(super) fn section_errors(spec: &Node, part: SectionPart) -> Vec<SectionError> {
    let mut errors: Vec<SectionError> = Section::read(spec, part).err().into_iter().collect();
    let schema = at(spec, &[part.name(), "openAPIV3Schema"]);
    if let Some(Ok(schema)) = schema.map(resolved) {
        let mut found = Vec::new();
        walked(&schema, &mut |error| found.push(error));
        errors.extend(found);
    }
    errors
}

/// A schema with known keywords alone; `report` is given those that are not, and what no structural schema has.
fn walked(schema: &Node, report: &mut dyn FnMut(SectionError)) -> Node {
    let Some(map) = schema.as_map() else { return schema.clone() };
    let is_int_or_string = matches!(map.get("x-kubernetes-int-or-string").map(|it| &it.value), Some(Value::Bool(true)));
    let mut entries = Vec::with_capacity(map.len());
    for entry in map.entries() {
        let name = entry.key.name.as_str();
        let is_vendor = name.starts_with("x-");
        if !KEYWORDS.contains(&name) && name != "definitions" && !is_vendor {
            let message = format!("`{name}` is no keyword of schemas");
            report(SectionError { message, at: entry.key.span, is_keyword: true });
            continue;
        }
        if ["$schema", "id", "patternProperties", "dependencies", "additionalItems", "definitions"].contains(&name) {
            let message = format!("`{name}` is not allowed in a structural schema");
            report(SectionError { message, at: entry.key.span, is_keyword: false });
        }
        if is_vendor && !name.starts_with("x-kubernetes-") || is_int_or_string && name == "type" {
            continue;
        }
        let value = match name {
            "properties" | "patternProperties" => match entry.value.as_map() {
                Some(properties) => {
                    let each = properties.entries().iter();
                    let each = each.map(|it| Entry { key: it.key.clone(), value: walked(&it.value, report) });
                    Node::map(each.collect(), entry.value.span)
                }
                None => entry.value.clone(),
            },
            _ if NESTED.contains(&name) => match entry.value.as_list() {
                Some(list) => Node::list(list.iter().map(|it| walked(it, report)).collect(), entry.value.span),
                None => walked(&entry.value, report),
            },
            _ => entry.value.clone(),
        };
        entries.push(Entry { key: entry.key.clone(), value });
    }
    if is_int_or_string && map.get("anyOf").is_none() {
        let names = ["integer", "string"].map(|name| Node::text(name, schema.span)).to_vec();
        entries.push(Entry::named("type", schema.span, Node::list(names, schema.span)));
    }
    Node::map(entries, schema.span)
}

fn error(message: String, at: Span) -> SectionError {
    SectionError { message, at, is_keyword: false }
}

/// Whether null is there and the schema does not allow it.
fn is_unwanted_null(value: &Node, schema: Option<&Node>) -> bool {
    let is_nullable =
        schema.and_then(|schema| schema.get("nullable")).is_some_and(|it| matches!(it.value, Value::Bool(true)));
    matches!(value.value, Value::Null) && !is_nullable
}

/// A value with defaults where keys are absent. A nested default does not create the map around it.
fn defaulted(value: &Node, schema: &Node) -> Node {
    match &value.value {
        Value::Map(map) => {
            let properties = schema.get("properties").and_then(Node::as_map);
            let additional = schema.get("additionalProperties").filter(|it| it.as_map().is_some());
            let mut entries = map.entries().to_vec();
            for property in properties.map(Map::entries).unwrap_or_default() {
                let Some(default) = property.value.get("default") else { continue };
                match entries.iter_mut().find(|entry| entry.key.name == property.key.name) {
                    None => entries.push(Entry { key: property.key.clone(), value: default.clone() }),
                    Some(entry) if is_unwanted_null(&entry.value, Some(&property.value)) => {
                        entry.value = default.clone();
                    }
                    Some(_) => {}
                }
            }
            for entry in &mut entries {
                let schema = properties.and_then(|all| all.get(&entry.key.name)).or(additional);
                if let Some(schema) = schema {
                    entry.value = defaulted_or_null(&entry.value, schema);
                }
            }
            Node { extra: value.extra.clone(), ..Node::map(entries, value.span) }
        }
        Value::List(list) => {
            let Some(schema) = schema.get("items").filter(|it| it.as_map().is_some()) else { return value.clone() };
            let items = list.items().iter().map(|item| defaulted_or_null(item, schema));
            Node { extra: value.extra.clone(), ..Node::list(items.collect(), value.span) }
        }
        _ => value.clone(),
    }
}

fn defaulted_or_null(value: &Node, schema: &Node) -> Node {
    match schema.get("default").filter(|_| is_unwanted_null(value, Some(schema))) {
        Some(default) => defaulted(default, schema),
        None => defaulted(value, schema),
    }
}

/// A value without the keys that its schema does not name.
fn pruned(value: &Node, schema: &Node) -> Node {
    match &value.value {
        Value::Map(map) => {
            let properties = schema.get("properties").and_then(Node::as_map);
            let additional = schema.get("additionalProperties");
            let kept = map.entries().iter().filter_map(|entry| {
                let schema = properties.and_then(|all| all.get(&entry.key.name)).or(additional)?;
                Some(Entry { key: entry.key.clone(), value: pruned(&entry.value, schema) })
            });
            Node { extra: value.extra.clone(), ..Node::map(kept.collect(), value.span) }
        }
        Value::List(list) => match schema.get("items") {
            Some(schema) => Node::list(list.items().iter().map(|item| pruned(item, schema)).collect(), value.span),
            None => value.clone(),
        },
        _ => value.clone(),
    }
}
