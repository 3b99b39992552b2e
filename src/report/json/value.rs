//! Values as JSON, number by number as they were written.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;

use serde::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;

use crate::path::Pointer;
use crate::report::secret_numbers::SecretNumbers;
use crate::value::{Map, Node, Number, Value};

/// A value to be written. Secrets are replaced as in every other format.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    pub node: &'a Node,
    /// Serialising takes no mutable state, and numbering secrets needs some.
    pub secret_numbers: &'a RefCell<SecretNumbers>,
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(tag) = self.node.tag() else { return self.untagged(serializer) };
        // JSON has no tags, and a value without its tag would be another value.
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(tag, &Untagged(*self))?;
        map.end()
    }
}

struct Untagged<'a>(Written<'a>);

impl Serialize for Untagged<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.untagged(serializer)
    }
}

impl Written<'_> {
    fn untagged<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let child = |node| Written { node, secret_numbers: self.secret_numbers };
        match &self.node.value {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Number(number) => serialize_number(number, serializer),
            Value::String(text) => serializer.serialize_str(text),
            Value::List(_) => {
                let items = self.node.as_list().unwrap_or_default();
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(&child(item)))?;
                list.end()
            }
            Value::Map(map) => {
                let mut object = serializer.serialize_map(Some(map.len()))?;
                for (entry, name) in map.entries().iter().zip(unique_names(map)) {
                    object.serialize_entry(&name, &child(&entry.value))?;
                }
                object.end()
            }
            Value::Secret(secret) => {
                let number = self.secret_numbers.borrow_mut().number(secret, self.node.hash());
                serializer.serialize_str(&format!("({})#{number}", secret.word()))
            }
        }
    }
}

/// Keeps every digit; a number that JSON cannot represent becomes a string.
fn serialize_number<S: Serializer>(number: &Number, serializer: S) -> Result<S::Ok, S::Error> {
    match number.to_json() {
        Some(json) => RawValue::from_string(json.into_owned()).map_err(S::Error::custom)?.serialize(serializer),
        None => serializer.serialize_str(number.as_str()),
    }
}

/// The keys of a map as JSON names. YAML distinguishes `1` and `"1"`; here the second of two equal names is marked.
fn unique_names(map: &Map) -> Vec<Cow<'_, str>> {
    let mut taken: BTreeSet<Cow<'_, str>> = BTreeSet::new();
    let mut names = Vec::with_capacity(map.len());
    for entry in map.entries() {
        let mut name = Cow::Borrowed(entry.key.name.as_str());
        while !taken.insert(name.clone()) {
            name.to_mut().push_str(" (another key)");
        }
        names.push(name);
    }
    names
}

/// The places of secrets inside a value, as JSON Pointers relative to it.
pub(super) fn secret_places(node: &Node) -> Vec<String> {
    let mut places = Vec::new();
    node.for_each(&mut Pointer::root(), |place, node| {
        if let Value::Secret(_) = node.value {
            places.push(place.to_string());
        }
    });
    places
}
