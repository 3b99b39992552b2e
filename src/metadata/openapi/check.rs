//! Holds a value against a schema of an OpenAPI document and says where it does not fit.

use super::api::Api;
use crate::sanitize;
use crate::text::Span;
use crate::value::{Map, Node, Number, Operation, Type, Value, calculate};

/// Something about a value that its schema does not allow.
#[derive(Debug, Clone)]
pub(super) struct Violation {
    /// `$`, `$.tags[1]`, `$ allOf[0]`.
    pub(super) place: String,
    pub(super) reason: String,
    /// The part of the schema that says so.
    pub(super) schema: Span,
    pub(super) value: Span,
}

/// The check was given up at this part of the schema: it has no end, or none in sight.
#[derive(Debug)]
pub(super) struct Endless(pub(super) Span);

type Checked = Result<Vec<Violation>, Endless>;

/// Everything that is wrong with a value.
pub(super) fn check<'a>(value: &'a Node, schema: &'a Node, api: &Api<'a>) -> Checked {
    let mut checker = Checker { api, steps: 0, depth: 0 };
    checker.check(value, schema, &Place { above: None, step: Step::Root })
}

struct Checker<'c, 'a> {
    api: &'c Api<'a>,
    steps: u64,
    depth: u32,
}

/// How often values are held against schemas before the check is given up.
const MOST_STEPS: u64 = 1_000_000;
/// Values and schemas inside each other; the stack is finite.
const DEEPEST: u32 = 400;

/// A place in the value, or in a schema that applies to it as a whole; written out only if something is wrong there.
struct Place<'p> {
    above: Option<&'p Place<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Key(&'p str),
    Item(usize),
    Branch(&'static str, usize),
}

impl<'a> Checker<'_, 'a> {
    fn check(&mut self, value: &'a Node, schema: &'a Node, place: &Place<'_>) -> Checked {
        self.steps += 1;
        self.depth += 1;
        if self.steps > MOST_STEPS || self.depth > DEEPEST {
            return Err(Endless(schema.span));
        }
        let checked = self.check_here(value, schema, place);
        self.depth -= 1;
        checked
    }

    fn check_here(&mut self, value: &'a Node, schema: &'a Node, place: &Place<'_>) -> Checked {
        let wrong = |reason: String| vec![violation(place, reason, schema, value)];
        match &schema.value {
            Value::Bool(false) => return Ok(wrong("nothing is allowed here".to_owned())),
            Value::Map(_) => {}
            _ => return Ok(Vec::new()),
        }
        let is_nullable = matches!(schema.get("nullable").map(|node| &node.value), Some(Value::Bool(true)));
        // What is hidden cannot be judged, and what may be null and is needs no judging.
        if matches!(value.value, Value::Secret(_)) || (is_nullable && matches!(value.value, Value::Null)) {
            return Ok(Vec::new());
        }
        let mut found = match self.api.reference(schema) {
            Some(Some(target)) => self.check(value, target, place)?,
            Some(None) => wrong("its schema refers to one that is not there".to_owned()),
            None => Vec::new(),
        };
        found.extend(of_type(value, schema, place));
        found.extend(of_enum(value, schema, place));
        found.extend(self.branches(value, schema, place)?);
        match &value.value {
            Value::Map(map) => found.extend(self.members(value, map, schema, place)?),
            Value::List(list) => found.extend(self.items(list.items(), schema, place)?),
            _ => {}
        }
        Ok(found)
    }

    fn branches(&mut self, value: &'a Node, schema: &'a Node, place: &Place<'_>) -> Checked {
        let mut found = Vec::new();
        for (at, branch) in branches_of(schema, "allOf").iter().enumerate() {
            let here = Place { above: Some(place), step: Step::Branch("allOf", at) };
            found.extend(self.check(value, branch, &here)?);
        }
        for name in ["anyOf", "oneOf"] {
            let branches = branches_of(schema, name);
            let mut fitting = 0;
            for (at, branch) in branches.iter().enumerate() {
                let here = Place { above: Some(place), step: Step::Branch(name, at) };
                fitting += usize::from(self.check(value, branch, &here)?.is_empty());
            }
            let reason = match (branches.len(), fitting) {
                (0, _) | (_, 1) => continue,
                (count, 0) => format!("it fits none of the {count} schemas of `{name}`"),
                (_, fitting) if name == "oneOf" => {
                    format!("it fits {fitting} schemas of `oneOf`, and only one may fit")
                }
                _ => continue,
            };
            found.push(violation(place, reason, schema, value));
        }
        Ok(found)
    }

    fn members(&mut self, value: &'a Node, map: &'a Map, schema: &'a Node, place: &Place<'_>) -> Checked {
        let mut found = Vec::new();
        let required = schema.get("required").and_then(Node::as_list).unwrap_or_default();
        let missing = required.iter().filter_map(Node::as_str).filter(|name| map.get(name).is_none());
        for name in missing {
            let here = Place { above: Some(place), step: Step::Key(name) };
            found.push(violation(&here, "it is required, and missing".to_owned(), schema, value));
        }
        let others = schema.get("additionalProperties").filter(|_| schema.get("patternProperties").is_none());
        for entry in map.entries() {
            let here = Place { above: Some(place), step: Step::Key(&entry.key.name) };
            let known = schema.get("properties").and_then(|properties| properties.get(&entry.key.name));
            match (known, others) {
                (Some(known), _) => found.extend(self.check(&entry.value, known, &here)?),
                (None, Some(others)) if matches!(others.value, Value::Bool(false)) => {
                    found.push(violation(&here, "no attribute of this name is known".to_owned(), others, &entry.value));
                }
                (None, Some(others)) => found.extend(self.check(&entry.value, others, &here)?),
                (None, None) => {}
            }
        }
        Ok(found)
    }

    fn items(&mut self, items: &'a [Node], schema: &'a Node, place: &Place<'_>) -> Checked {
        let mut found = Vec::new();
        let Some(wanted) = schema.get("items") else { return Ok(found) };
        for (at, item) in items.iter().enumerate() {
            let here = Place { above: Some(place), step: Step::Item(at) };
            let schema = match wanted.as_list() {
                Some(each) => each.get(at),
                None => Some(wanted),
            };
            if let Some(schema) = schema {
                found.extend(self.check(item, schema, &here)?);
            }
        }
        Ok(found)
    }
}

fn branches_of<'a>(schema: &'a Node, name: &str) -> &'a [Node] {
    schema.get(name).and_then(Node::as_list).unwrap_or_default()
}

fn of_type(value: &Node, schema: &Node, place: &Place<'_>) -> Option<Violation> {
    let wanted = schema.get("type")?;
    let names: Vec<&str> = match wanted.as_list() {
        Some(names) => names.iter().filter_map(Node::as_str).collect(),
        None => wanted.as_str().into_iter().collect(),
    };
    if names.is_empty() || names.iter().any(|name| is_of(value, name)) {
        return None;
    }
    let reason = format!("a {} is wanted, and this is a {}", sanitize::inline(&names.join(" or ")), name_of(value));
    Some(violation(place, reason, wanted, value))
}

fn is_of(value: &Node, name: &str) -> bool {
    match name {
        "null" => matches!(value.value, Value::Null),
        "boolean" => matches!(value.value, Value::Bool(_)),
        "string" => matches!(value.value, Value::String(_)),
        "number" => matches!(value.value, Value::Number(_)),
        "integer" => matches!(&value.value, Value::Number(number) if is_whole(number)),
        "array" => matches!(value.value, Value::List(_)),
        "object" => matches!(value.value, Value::Map(_)),
        // A type that nobody knows forbids nothing.
        _ => true,
    }
}

/// Whether it is an integer, however it is written: `2.0` is.
fn is_whole(number: &Number) -> bool {
    let one = Number::from_json("1").expect("1 is a number");
    let zero = Number::from_json("0").expect("0 is a number");
    number.is_integer() || calculate(Operation::Mod, number, &one).is_ok_and(|rest| rest.is_equal(&zero))
}

/// The type as schemas call it.
fn name_of(value: &Node) -> &'static str {
    match value.type_of() {
        Type::Null => "null",
        Type::Bool => "boolean",
        Type::Number => "number",
        Type::String => "string",
        Type::List => "array",
        Type::Map => "object",
        Type::Secret => "secret",
    }
}

fn of_enum(value: &Node, schema: &Node, place: &Place<'_>) -> Option<Violation> {
    let wanted = schema.get("enum")?;
    let allowed = wanted.as_list()?;
    let is_allowed = allowed.iter().any(|allowed| allowed.is_equal(value));
    (!is_allowed).then(|| violation(place, "it is none of the allowed values".to_owned(), wanted, value))
}

fn violation(place: &Place<'_>, reason: String, schema: &Node, value: &Node) -> Violation {
    Violation { place: place.written(), reason, schema: schema.span, value: value.span }
}

impl Place<'_> {
    fn written(&self) -> String {
        let mut steps: Vec<Step<'_>> =
            std::iter::successors(Some(self), |place| place.above).map(|place| place.step).collect();
        steps.reverse();
        let mut text = String::new();
        for step in steps {
            match step {
                Step::Root => text.push('$'),
                Step::Key(name) => text.push_str(&format!(".{}", sanitize::inline(name))),
                Step::Item(at) => text.push_str(&format!("[{at}]")),
                Step::Branch(name, at) => text.push_str(&format!(" {name}[{at}]")),
            }
        }
        text
    }
}
