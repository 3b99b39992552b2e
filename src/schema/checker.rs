//! Applies schemas to values: one pass over the keywords of each schema, references, branches, and bounds on the work.

use super::patterns::Patterns;
use super::place::{Place, PlaceStep};
use super::{SchemaError, Violation, Violations};
use crate::path::Pointer;
use crate::percent;
use crate::sanitize;
use crate::value::{Map, Node, Value};

pub(super) type Result<T> = std::result::Result<T, SchemaError>;

/// Further violations are only counted.
const MOST_VIOLATIONS: usize = 1000;

/// The state of one check.
///
/// Without `found`, or inside of [`Checker::matches`], a check ends at its first violation; otherwise it collects all of them.
pub(super) struct Checker<'s, 'f> {
    document: &'s Node,
    found: Option<&'f mut Violations>,
    /// Number of [`Checker::matches`] that are under way.
    quiet: u32,
    /// Whether a redacted secret was passed over.
    met_secret: bool,
    patterns: &'s Patterns,
    steps: u64,
    most_steps: u64,
    depth: u32,
}

/// A keyword with its value, and the schema that it is written in.
#[derive(Clone, Copy)]
pub(super) struct Keyword<'s> {
    pub(super) name: &'s str,
    pub(super) node: &'s Node,
    pub(super) siblings: &'s Map,
}

/// Depth to which schemas and references may be nested.
const DEEPEST: u32 = 500;

impl<'s, 'f> Checker<'s, 'f> {
    pub(super) fn new(
        document: &'s Node,
        patterns: &'s Patterns,
        most_steps: u64,
        found: Option<&'f mut Violations>,
    ) -> Self {
        Self { document, found, quiet: 0, met_secret: false, patterns, steps: 0, most_steps, depth: 0 }
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// Adds to the number of steps; fails at the limit.
    pub(super) fn spend(&mut self, steps: usize, schema: &Node) -> Result<()> {
        self.steps += steps as u64;
        if self.steps > self.most_steps { limited(schema, "the schema takes too many steps to check") } else { Ok(()) }
    }

    /// Whether a value matches a schema; violations are collected.
    pub(super) fn check(&mut self, value: &Node, schema: &'s Node, place: &Place<'_>) -> Result<bool> {
        self.spend(1, schema)?;
        if self.depth >= DEEPEST {
            return limited(schema, "the schema is nested too deeply, or refers to itself without end");
        }
        self.depth += 1;
        let answer = stacker::maybe_grow(128 << 10, 2 << 20, || self.apply(value, schema, place));
        self.depth -= 1;
        answer
    }

    /// Whether a value matches a schema, without collecting violations; `None` if that depends on a redacted secret.
    pub(super) fn matches(&mut self, value: &Node, schema: &'s Node, place: &Place<'_>) -> Result<Option<bool>> {
        let met_before = std::mem::take(&mut self.met_secret);
        self.quiet += 1;
        let is_valid = self.check(value, schema, place)?;
        self.quiet -= 1;
        let is_unknown = is_valid && self.met_secret;
        self.met_secret |= met_before;
        Ok((!is_unknown).then_some(is_valid))
    }

    /// Notes that a value counts as valid only because it is redacted.
    pub(super) fn pass_over_secret(&mut self) {
        self.met_secret = true;
    }

    fn is_collecting(&self) -> bool {
        self.quiet == 0 && self.found.is_some()
    }

    fn apply(&mut self, value: &Node, schema: &'s Node, place: &Place<'_>) -> Result<bool> {
        let siblings = match &schema.value {
            Value::Bool(true) => return Ok(true),
            Value::Bool(false) => {
                return Ok(self.violated(schema, value, place, || "no value is allowed here".to_owned()));
            }
            Value::Map(map) => map,
            _ => return refuse(schema, format!("a schema is a map or a boolean, not a {}", schema.type_of())),
        };
        if matches!(value.value, Value::Secret(_)) {
            self.pass_over_secret();
            return Ok(true);
        }
        if matches!(value.value, Value::Null) && is_true(siblings.get("nullable")) {
            return Ok(true);
        }
        let mut is_valid = true;
        for entry in siblings.entries() {
            let keyword = Keyword { name: &entry.key.name, node: &entry.value, siblings };
            is_valid &= self.keyword(value, keyword, place)?;
            if !is_valid && !self.is_collecting() {
                return Ok(false);
            }
        }
        Ok(is_valid)
    }

    /// Records a violation of a keyword, and returns `false`.
    pub(super) fn violated(
        &mut self,
        keyword: &Node,
        value: &Node,
        place: &Place<'_>,
        reason: impl FnOnce() -> String,
    ) -> bool {
        if self.quiet == 0
            && let Some(found) = &mut self.found
        {
            if found.found.len() >= MOST_VIOLATIONS {
                found.more += 1;
                return false;
            }
            let violation =
                Violation { place: place.to_text(), reason: reason(), schema: keyword.span, value: value.span };
            found.found.push(violation);
        }
        false
    }

    /// Records a violation unless a condition holds, and returns the condition.
    pub(super) fn require(
        &mut self,
        is_met: bool,
        keyword: Keyword<'_>,
        value: &Node,
        place: &Place<'_>,
        reason: impl FnOnce() -> String,
    ) -> bool {
        is_met || self.violated(keyword.node, value, place, reason)
    }

    /// Checks each pair of a value and its schema: up to the first violation, or all if violations are collected.
    pub(super) fn check_all<'v>(
        &mut self,
        pairs: impl IntoIterator<Item = (&'v Node, &'s Node, PlaceStep<'v>)>,
        place: &Place<'_>,
    ) -> Result<bool> {
        let mut are_valid = true;
        for (value, schema, step) in pairs {
            are_valid &= self.check(value, schema, &place.child(step))?;
            if !are_valid && !self.is_collecting() {
                break;
            }
        }
        Ok(are_valid)
    }

    /// `$ref`
    pub(super) fn reference(&mut self, value: &Node, keyword: Keyword<'s>, place: &Place<'_>) -> Result<bool> {
        let target = self.target(keyword.node)?;
        self.check(value, target, place)
    }

    /// `allOf`
    pub(super) fn all_of(&mut self, value: &Node, keyword: Keyword<'s>, place: &Place<'_>) -> Result<bool> {
        let mut are_valid = true;
        for (position, schema) in keyword.list()?.iter().enumerate() {
            are_valid &= self.check(value, schema, &place.child(PlaceStep::Branch("allOf", position)))?;
            if !are_valid && !self.is_collecting() {
                break;
            }
        }
        Ok(are_valid)
    }

    /// `anyOf`
    pub(super) fn any_of(&mut self, value: &Node, keyword: Keyword<'s>, place: &Place<'_>) -> Result<bool> {
        let schemas = keyword.list()?;
        for schema in schemas {
            if self.matches(value, schema, place)? != Some(false) {
                return Ok(true);
            }
        }
        Ok(self.violated(keyword.node, value, place, || matches_none(schemas, keyword.name)))
    }

    /// `oneOf`
    pub(super) fn one_of(&mut self, value: &Node, keyword: Keyword<'s>, place: &Place<'_>) -> Result<bool> {
        let schemas = keyword.list()?;
        let (mut matching, mut unknown) = (0, 0);
        for schema in schemas {
            match self.matches(value, schema, place)? {
                Some(true) => matching += 1,
                Some(false) => {}
                None => unknown += 1,
            }
            if matching > 1 && !self.is_collecting() {
                return Ok(false);
            }
        }
        match matching {
            0 if unknown == 0 => Ok(self.violated(keyword.node, value, place, || matches_none(schemas, keyword.name))),
            0 | 1 => Ok(true),
            _ => Ok(self.violated(keyword.node, value, place, || {
                format!("it matches {matching} schemas of `oneOf`, and only one may match")
            })),
        }
    }

    /// `not`
    pub(super) fn not(&mut self, value: &Node, keyword: Keyword<'s>, place: &Place<'_>) -> Result<bool> {
        let is_met = self.matches(value, keyword.node, place)? != Some(true);
        Ok(self.require(is_met, keyword, value, place, || "it matches the schema of `not`".to_owned()))
    }

    /// `if`, with `then` and `else`
    pub(super) fn condition(&mut self, value: &Node, keyword: Keyword<'s>, place: &Place<'_>) -> Result<bool> {
        let branch = match self.matches(value, keyword.node, place)? {
            Some(true) => keyword.siblings.get("then"),
            Some(false) => keyword.siblings.get("else"),
            None => None,
        };
        branch.map_or(Ok(true), |branch| self.check(value, branch, place))
    }

    /// Whether a property is one that only a server gives, so that a request need not have it.
    pub(super) fn is_read_only(&self, properties: Option<&'s Node>, name: &str) -> bool {
        let Some(schema) = properties.and_then(|properties| properties.get(name)).filter(|_| self.found.is_some())
        else {
            return false;
        };
        let named = schema.get("$ref").and_then(|reference| self.target(reference).ok());
        [Some(schema), named].into_iter().flatten().any(|schema| is_true(schema.get("readOnly")))
    }

    /// Whether a text matches a pattern; patterns take linear time and are compiled once.
    pub(super) fn is_match(&mut self, source: &str, at: &Node, text: &str) -> Result<bool> {
        self.spend(1 + text.len() / 256, at)?;
        match self.patterns.get(source) {
            Some(pattern) => Ok(pattern.is_match(text)),
            None => {
                let shown = sanitize::inline(source);
                refuse(at, format!("the pattern `{shown}` is malformed, not supported or too large"))
            }
        }
    }

    /// The part of the document that a reference names.
    fn target(&self, reference: &Node) -> Result<&'s Node> {
        let Some(fragment) = reference.as_str().and_then(|text| text.strip_prefix('#')) else {
            return refuse(reference, "a `$ref` leads out of the document, and nothing is fetched");
        };
        let pointer = percent::unescape(fragment).and_then(|text| Pointer::parse(&text).ok());
        match pointer.and_then(|pointer| self.document.at(&pointer)) {
            Some(target) => Ok(target),
            None => refuse(reference, format!("`$ref` names `{}`, which does not exist", sanitize::inline(fragment))),
        }
    }
}

impl<'s> Keyword<'s> {
    /// The value of the keyword, which must be a list.
    pub(super) fn list(self) -> Result<&'s [Node]> {
        let (name, node) = (self.name, self.node);
        node.as_list().map_or_else(|| refuse(node, format!("`{name}` is not a list")), Ok)
    }

    /// The value of the keyword, which must be a map.
    pub(super) fn map(self) -> Result<&'s Map> {
        let (name, node) = (self.name, self.node);
        node.as_map().map_or_else(|| refuse(node, format!("`{name}` is not a map")), Ok)
    }

    /// A keyword of the same schema.
    pub(super) fn sibling(self, name: &'s str) -> Option<Keyword<'s>> {
        self.siblings.get(name).map(|node| Keyword { name, node, siblings: self.siblings })
    }
}

/// Whether a keyword is `true`.
pub(super) fn is_true(node: Option<&Node>) -> bool {
    matches!(node.map(|node| &node.value), Some(Value::Bool(true)))
}

fn matches_none(schemas: &[Node], name: &str) -> String {
    format!("it matches none of the {} schemas of `{name}`", schemas.len())
}

/// Fails because a part of the schema cannot be used.
pub(super) fn refuse<T>(node: &Node, message: impl Into<String>) -> Result<T> {
    Err(SchemaError { at: node.span, message: message.into(), is_limit: false })
}

fn limited<T>(node: &Node, message: &str) -> Result<T> {
    Err(SchemaError { at: node.span, message: message.to_owned(), is_limit: true })
}
