//! Converts values to CEL, as far as the expression reads them.

use std::any::Any;
use std::collections::HashMap;

use cel::common::types::{CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelUInt, Type};
use cel::common::value::{StaticVal, Val};

use super::free_variables::Reach;
use crate::value::{Node, Number, Value};

/// A value that CEL cannot hold exactly. It passes through unchanged, and computing with it fails.
#[derive(Debug, Clone)]
pub(super) struct Foreign(pub(super) Node);

static FOREIGN: Type = Type::new_unspecified_type("number or tagged value that CEL cannot hold exactly");

impl Val for Foreign {
    fn get_type(&self) -> &Type {
        &FOREIGN
    }

    fn cel_type() -> &'static Type {
        &FOREIGN
    }

    fn equals(&self, other: &dyn Val) -> bool {
        other.downcast_ref::<Self>().is_some_and(|other| self.0.is_equal(&other.0))
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl StaticVal for Foreign {}

/// The part of a value that lies within reach; where only some keys are, the others might as well not exist.
pub(super) fn within<'v>(node: &'v Node, reach: &Reach) -> Box<dyn Val + 'v> {
    match (reach, &node.value) {
        (Reach::Fields(fields), Value::Map(map)) if node.tag().is_none() => {
            let reached = fields.iter().filter_map(|(name, reach)| {
                let child = map.get(name)?;
                Some((CelMapKey::from(map.entry(name)?.key.name.as_str()), within(child, reach)))
            });
            Box::new(CelMap::from(reached.collect::<HashMap<_, _>>()))
        }
        _ => whole(node),
    }
}

pub(super) fn whole<'v>(node: &'v Node) -> Box<dyn Val + 'v> {
    if node.tag().is_some() {
        return Box::new(Foreign(node.clone()));
    }
    match &node.value {
        Value::Null => Box::new(CelNull),
        Value::Bool(value) => Box::new(CelBool::from(*value)),
        Value::Number(number) => number_val(number).unwrap_or_else(|| Box::new(Foreign(node.clone()))),
        Value::String(text) => Box::new(CelString::from(text.as_str())),
        Value::List(list) => Box::new(CelList::from(list.items().iter().map(whole).collect::<Vec<_>>())),
        Value::Map(map) => {
            // If a map has both `1` and `"1"`, the text key counts: it comes last here.
            let mut entries: Vec<_> = map.entries().iter().collect();
            entries.sort_by_key(|entry| std::cmp::Reverse(entry.key.kind));
            let entries =
                entries.into_iter().map(|entry| (CelMapKey::from(entry.key.name.as_str()), whole(&entry.value)));
            Box::new(CelMap::from(entries.collect::<HashMap<_, _>>()))
        }
        Value::Secret(_) => Box::new(Foreign(node.clone())),
    }
}

/// Integers stay integers; a decimal number is taken if its shortest spelling says the same.
fn number_val<'v>(number: &Number) -> Option<Box<dyn Val + 'v>> {
    let text = number.to_json()?;
    if number.is_integer() {
        let signed = text.parse::<i64>().ok().map(|value| Box::new(CelInt::from(value)) as Box<dyn Val + 'v>);
        return signed.or_else(|| text.parse::<u64>().ok().map(|value| Box::new(CelUInt::from(value)) as _));
    }
    let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
    let is_exact =
        Number::from_json(&super::from_cel::decimal(value)).is_some_and(|shortest| shortest.is_equal(number));
    is_exact.then(|| Box::new(CelDouble::from(value)) as _)
}
