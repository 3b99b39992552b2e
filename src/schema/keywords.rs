//! The keywords of JSON Schema, from the drafts 4 to 2020-12; a keyword about another type of value allows it.

use std::cmp::Ordering;

use super::checker::{Checker, Keyword, Result, is_true, refuse};
use super::place::{Place, PlaceStep};
use crate::sanitize;
use crate::value::{Map, Node, Number, Operation, Type, Value, calculate, compare};

impl<'s> Checker<'s, '_> {
    /// Whether a value is as one keyword says.
    pub(super) fn keyword(&mut self, value: &Node, keyword: Keyword<'s>, place: &Place<'_>) -> Result<bool> {
        match keyword.name {
            "$ref" => self.reference(value, keyword, place),
            "allOf" => self.all_of(value, keyword, place),
            "anyOf" => self.any_of(value, keyword, place),
            "oneOf" => self.one_of(value, keyword, place),
            "not" => self.not(value, keyword, place),
            "if" => self.condition(value, keyword, place),
            "type" => self.type_is(value, keyword, place),
            "enum" => {
                let allowed = keyword.list()?;
                self.equals_one(value, allowed, keyword, place)
            }
            "const" => self.equals_one(value, std::slice::from_ref(keyword.node), keyword, place),
            "unevaluatedProperties" | "unevaluatedItems" | "$dynamicRef" | "$recursiveRef" => {
                refuse(keyword.node, format!("the keyword `{}` is not supported", keyword.name))
            }
            _ => match &value.value {
                Value::Number(number) => self.number_keyword(number, value, keyword, place),
                Value::String(text) => self.text_keyword(text, value, keyword, place),
                Value::List(list) => self.list_keyword(list.items(), value, keyword, place),
                Value::Map(map) => self.map_keyword(map, value, keyword, place),
                _ => Ok(true),
            },
        }
    }

    fn type_is(&mut self, value: &Node, keyword: Keyword<'_>, place: &Place<'_>) -> Result<bool> {
        let names = keyword.node.as_list().unwrap_or(std::slice::from_ref(keyword.node));
        for name in names {
            if is_of_type(value, name)? {
                return Ok(true);
            }
        }
        Ok(self.violated(keyword.node, value, place, || {
            let names: Vec<&str> = names.iter().filter_map(Node::as_str).collect();
            format!("expected {}, found {}", names.join(" or "), type_name(value))
        }))
    }

    /// `enum`, `const`
    fn equals_one(&mut self, value: &Node, allowed: &[Node], keyword: Keyword<'_>, place: &Place<'_>) -> Result<bool> {
        self.spend(allowed.len(), keyword.node)?;
        let mut is_allowed = allowed.iter().any(|allowed| allowed.is_equal(value));
        if !is_allowed && value.holds_secret() {
            self.pass_over_secret();
            is_allowed = true;
        }
        Ok(self.require(is_allowed, keyword, value, place, || "it is not one of the allowed values".to_owned()))
    }

    fn number_keyword(
        &mut self,
        number: &Number,
        value: &Node,
        keyword: Keyword<'_>,
        place: &Place<'_>,
    ) -> Result<bool> {
        // Draft 4: a boolean beside `minimum` or `maximum`.
        let is_exclusive = |name: &str| is_true(keyword.siblings.get(name));
        let (is_met, phrase): (fn(Ordering) -> bool, &str) = match keyword.name {
            "exclusiveMinimum" | "exclusiveMaximum" if matches!(keyword.node.value, Value::Bool(_)) => return Ok(true),
            "minimum" if is_exclusive("exclusiveMinimum") => (Ordering::is_gt, "more than"),
            "maximum" if is_exclusive("exclusiveMaximum") => (Ordering::is_lt, "less than"),
            "minimum" => (Ordering::is_ge, "at least"),
            "maximum" => (Ordering::is_le, "at most"),
            "exclusiveMinimum" => (Ordering::is_gt, "more than"),
            "exclusiveMaximum" => (Ordering::is_lt, "less than"),
            "multipleOf" => {
                let divisor = keyword.number()?;
                return Ok(self.require(is_multiple(number, divisor), keyword, value, place, || {
                    format!("expected a multiple of {}", divisor.as_str())
                }));
            }
            _ => return Ok(true),
        };
        let bound = keyword.number()?;
        let is_met = compare(number, bound).is_some_and(is_met);
        Ok(self.require(is_met, keyword, value, place, || format!("expected {phrase} {}", bound.as_str())))
    }

    fn text_keyword(&mut self, text: &str, value: &Node, keyword: Keyword<'_>, place: &Place<'_>) -> Result<bool> {
        match keyword.name {
            "minLength" | "maxLength" => self.size(text.chars().count(), "characters", value, keyword, place),
            "pattern" => {
                let Some(pattern) = keyword.node.as_str() else {
                    return refuse(keyword.node, "`pattern` is not a string");
                };
                let is_met = self.is_match(pattern, keyword.node, text)?;
                Ok(self.require(is_met, keyword, value, place, || {
                    format!("it does not match the pattern `{}`", sanitize::inline(pattern))
                }))
            }
            _ => Ok(true),
        }
    }

    /// Checks a `min…` or `max…` keyword.
    fn size(&mut self, size: usize, unit: &str, value: &Node, keyword: Keyword<'_>, place: &Place<'_>) -> Result<bool> {
        let order = keyword.order_of(size)?;
        let (is_met, phrase) =
            if keyword.name.starts_with("min") { (order.is_ge(), "at least") } else { (order.is_le(), "at most") };
        Ok(self.require(is_met, keyword, value, place, || {
            let bound = keyword.number().map(Number::as_str).unwrap_or_default();
            format!("expected {phrase} {bound} {unit}, found {size}")
        }))
    }

    fn list_keyword(&mut self, items: &[Node], value: &Node, keyword: Keyword<'s>, place: &Place<'_>) -> Result<bool> {
        match keyword.name {
            "minItems" | "maxItems" => self.size(items.len(), "items", value, keyword, place),
            "uniqueItems" if is_true(Some(keyword.node)) => self.unique(items, keyword, place),
            "contains" => self.contains(items, value, keyword, place),
            "prefixItems" => self.first_items(items, keyword.list()?, place),
            // Before 2020-12: a list of schemas for the first items, and `additionalItems` for the others.
            "items" if keyword.node.as_list().is_some() => self.first_items(items, keyword.list()?, place),
            "items" => {
                let first = keyword.sibling("prefixItems").map_or(Ok(0), |prefix| prefix.list().map(<[Node]>::len))?;
                self.other_items(items, first, keyword.node, place)
            }
            "additionalItems" => match keyword.siblings.get("items").and_then(Node::as_list) {
                Some(first) => self.other_items(items, first.len(), keyword.node, place),
                None => Ok(true),
            },
            _ => Ok(true),
        }
    }

    fn first_items(&mut self, items: &[Node], schemas: &'s [Node], place: &Place<'_>) -> Result<bool> {
        let pairs = items.iter().zip(schemas).enumerate();
        self.check_all(pairs.map(|(at, (item, schema))| (item, schema, PlaceStep::Item(at))), place)
    }

    fn other_items(&mut self, items: &[Node], first: usize, schema: &'s Node, place: &Place<'_>) -> Result<bool> {
        let others = items.iter().enumerate().skip(first);
        self.check_all(others.map(|(at, item)| (item, schema, PlaceStep::Item(at))), place)
    }

    /// `contains`, with `minContains` and `maxContains`
    fn contains(&mut self, items: &[Node], value: &Node, keyword: Keyword<'s>, place: &Place<'_>) -> Result<bool> {
        let (mut matching, mut unknown) = (0, 0);
        for (position, item) in items.iter().enumerate() {
            match self.matches(item, keyword.node, &place.child(PlaceStep::Item(position)))? {
                Some(true) => matching += 1,
                Some(false) => {}
                None => unknown += 1,
            }
        }
        let is_enough = match keyword.sibling("minContains") {
            Some(least) => least.order_of(matching + unknown)?.is_ge(),
            None => matching + unknown > 0,
        };
        let is_too_much = match keyword.sibling("maxContains") {
            Some(most) => most.order_of(matching)?.is_gt(),
            None => false,
        };
        let phrase = if is_enough { "too many items match" } else { "too few items match" };
        Ok(self.require(is_enough && !is_too_much, keyword, value, place, || {
            format!("{phrase} the schema of `contains`: {matching}")
        }))
    }

    /// `uniqueItems`
    fn unique(&mut self, items: &[Node], keyword: Keyword<'_>, place: &Place<'_>) -> Result<bool> {
        self.spend(items.len(), keyword.node)?;
        let mut by_hash: Vec<(u64, usize)> = items.iter().map(Node::hash).zip(0..).collect();
        by_hash.sort_unstable();
        let mut are_unique = true;
        for alike in by_hash.chunk_by(|a, b| a.0 == b.0) {
            for (nth, (_, position)) in alike.iter().enumerate() {
                let first = alike[..nth].iter().find(|(_, earlier)| items[*earlier].is_equal(&items[*position]));
                let Some((_, first)) = first else { continue };
                let place = place.child(PlaceStep::Item(*position));
                are_unique = self
                    .violated(keyword.node, &items[*position], &place, || format!("it is equal to the item [{first}]"));
            }
        }
        Ok(are_unique)
    }

    fn map_keyword(&mut self, members: &Map, value: &Node, keyword: Keyword<'s>, place: &Place<'_>) -> Result<bool> {
        match keyword.name {
            "minProperties" | "maxProperties" => self.size(members.len(), "properties", value, keyword, place),
            // Draft 3: a boolean that belongs to a single property.
            "required" if matches!(keyword.node.value, Value::Bool(_)) => Ok(true),
            "required" => self.required(members, value, keyword, place),
            "properties" => self.properties(members, keyword, place),
            "patternProperties" => self.pattern_properties(members, keyword, place),
            "additionalProperties" => self.additional_properties(members, keyword, place),
            "propertyNames" => self.property_names(members, keyword, place),
            "dependentRequired" | "dependentSchemas" | "dependencies" => self.dependent(members, value, keyword, place),
            _ => Ok(true),
        }
    }

    fn required(&mut self, members: &Map, value: &Node, keyword: Keyword<'s>, place: &Place<'_>) -> Result<bool> {
        let mut are_present = true;
        for item in keyword.list()? {
            let Some(name) = item.as_str() else {
                return refuse(item, format!("`{}` names something that is not a string", keyword.name));
            };
            if members.get(name).is_none() && !self.is_read_only(keyword.siblings.get("properties"), name) {
                let place = place.child(PlaceStep::Key(name));
                are_present = self.violated(item, value, &place, || "it is required, and missing".to_owned());
            }
        }
        Ok(are_present)
    }

    fn properties(&mut self, members: &Map, keyword: Keyword<'s>, place: &Place<'_>) -> Result<bool> {
        let known = keyword.map()?.entries().iter();
        let given = known.filter_map(|entry| Some((members.entry(&entry.key.name)?, &entry.value)));
        self.check_all(given.map(|(entry, schema)| (&entry.value, schema, PlaceStep::Key(&entry.key.name))), place)
    }

    fn pattern_properties(&mut self, members: &Map, keyword: Keyword<'s>, place: &Place<'_>) -> Result<bool> {
        let mut matching = Vec::new();
        for pattern in keyword.map()?.entries() {
            for member in members.entries() {
                if self.is_match(&pattern.key.name, &pattern.value, &member.key.name)? {
                    matching.push((&member.value, &pattern.value, PlaceStep::Key(&member.key.name)));
                }
            }
        }
        self.check_all(matching, place)
    }

    /// Checks what neither `properties` nor `patternProperties` names.
    fn additional_properties(&mut self, members: &Map, keyword: Keyword<'s>, place: &Place<'_>) -> Result<bool> {
        let known = keyword.sibling("properties").map(Keyword::map).transpose()?;
        let patterns = keyword.sibling("patternProperties").map(Keyword::map).transpose()?;
        let patterns = patterns.map(Map::entries).unwrap_or_default();
        let mut are_valid = true;
        let mut others = Vec::new();
        for member in members.entries() {
            let mut is_named = known.is_some_and(|known| known.get(&member.key.name).is_some());
            for pattern in patterns {
                is_named = is_named || self.is_match(&pattern.key.name, &pattern.value, &member.key.name)?;
            }
            if is_named {
                continue;
            }
            let step = PlaceStep::Key(&member.key.name);
            if matches!(keyword.node.value, Value::Bool(false)) {
                are_valid = self.violated(keyword.node, &member.value, &place.child(step), || {
                    "a property of this name is not allowed".to_owned()
                });
            } else {
                others.push((&member.value, keyword.node, step));
            }
        }
        Ok(are_valid & self.check_all(others, place)?)
    }

    fn property_names(&mut self, members: &Map, keyword: Keyword<'s>, place: &Place<'_>) -> Result<bool> {
        let mut are_valid = true;
        for member in members.entries() {
            let name = Node::text(member.key.name.clone(), member.key.span);
            are_valid &= self.check(&name, keyword.node, &place.child(PlaceStep::Key(&member.key.name)))?;
        }
        Ok(are_valid)
    }

    /// `dependentRequired`, `dependentSchemas`, and `dependencies`, which was both.
    fn dependent(&mut self, members: &Map, value: &Node, keyword: Keyword<'s>, place: &Place<'_>) -> Result<bool> {
        let mut are_valid = true;
        for entry in keyword.map()?.entries() {
            if members.get(&entry.key.name).is_none() {
                continue;
            }
            let rule = Keyword { node: &entry.value, ..keyword };
            let is_list = keyword.name == "dependentRequired" || entry.value.as_list().is_some();
            are_valid &= if is_list && keyword.name != "dependentSchemas" {
                self.required(members, value, rule, place)?
            } else {
                self.check(value, rule.node, place)?
            };
        }
        Ok(are_valid)
    }
}

impl<'s> Keyword<'s> {
    /// The value of the keyword, which must be a number.
    fn number(self) -> Result<&'s Number> {
        match &self.node.value {
            Value::Number(number) => Ok(number),
            _ => refuse(self.node, format!("`{}` is not a number", self.name)),
        }
    }

    /// How a size compares to the value of the keyword, which must be a whole number.
    fn order_of(self, size: usize) -> Result<Ordering> {
        let bound = self.number()?;
        let size = Number::from_json(&size.to_string()).expect("digits are a number");
        match compare(&size, bound).filter(|_| is_whole(bound)) {
            Some(order) => Ok(order),
            None => refuse(self.node, format!("`{}` is not a whole number", self.name)),
        }
    }
}

fn is_of_type(value: &Node, name: &Node) -> Result<bool> {
    Ok(match (name.as_str(), &value.value) {
        (Some("null"), value) => matches!(value, Value::Null),
        (Some("boolean"), value) => matches!(value, Value::Bool(_)),
        (Some("number"), value) => matches!(value, Value::Number(_)),
        (Some("integer"), value) => matches!(value, Value::Number(number) if is_whole(number)),
        (Some("string"), value) => matches!(value, Value::String(_)),
        (Some("array"), value) => matches!(value, Value::List(_)),
        (Some("object"), value) => matches!(value, Value::Map(_)),
        _ => return refuse(name, "`type` does not name a type of JSON"),
    })
}

/// The name that schemas have for the type of a value.
fn type_name(value: &Node) -> &'static str {
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

/// Whether a number is an integer, also if it is written as `2.0`.
fn is_whole(number: &Number) -> bool {
    number.is_integer() || is_multiple(number, &Number::from_json("1").expect("1 is a number"))
}

fn is_multiple(number: &Number, divisor: &Number) -> bool {
    calculate(Operation::Mod, number, divisor).is_ok_and(|rest| rest.is_zero())
}
