//! The functions that patch specifications know beside those of CEL.

use std::any::Any;
use std::collections::HashMap;

use cel::ExecutionError;
use cel::common::types::{CelBool, CelList, CelMap, CelMapKey, CelOptional, CelString, Type};
use cel::common::value::{CowVal, StaticVal, Val};

use super::budget::take_values;
use super::metered::{Arguments, Result, only, string, two, weight};
use super::names;

/// The value of `oc_omit()`: the entry or item that holds it is left out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Omitted;

static OMITTED: Type = Type::new_unspecified_type("omitted");

impl Val for Omitted {
    fn get_type(&self) -> &Type {
        &OMITTED
    }

    fn cel_type() -> &'static Type {
        &OMITTED
    }

    fn equals(&self, other: &dyn Val) -> bool {
        other.downcast_ref::<Self>().is_some()
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v> {
        Box::new(*self)
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl StaticVal for Omitted {}

pub(super) fn omit<'b, 'v>(_: Arguments<'b, 'v>) -> Result<'b, 'v> {
    Ok(CowVal::owned(Omitted))
}

/// Maps laid over each other, the later over the earlier, without looking into them.
pub(super) fn merge<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let maps = only(args)?;
    let mut merged: HashMap<CelMapKey<'v>, Box<dyn Val + 'v>> = HashMap::new();
    for map in items(&maps) {
        let Some(map) = map.downcast_ref::<CelMap>() else { return Err(needs("oc_merge", "maps", map.as_ref())) };
        merged.extend(map.inner().iter().map(|(key, value)| (key.clone(), value.clone_as_boxed())));
    }
    Ok(CowVal::owned(CelMap::from(merged)))
}

/// A map from pairs of key and value.
pub(super) fn map_of<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let pairs = only(args)?;
    let mut made: HashMap<CelMapKey<'v>, Box<dyn Val + 'v>> = HashMap::new();
    for pair in items(&pairs) {
        if let Some([key, value]) = pair.downcast_ref::<CelList>().map(|pair| pair.inner()) {
            made.insert(key.clone().try_into()?, value.clone());
        }
    }
    Ok(CowVal::owned(CelMap::from(made)))
}

/// A map of all entries of some maps; no key may come twice.
pub(super) fn union<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let maps = only(args)?;
    let mut made: HashMap<CelMapKey<'v>, Box<dyn Val + 'v>> = HashMap::new();
    for map in items(&maps) {
        let Some(map) = map.downcast_ref::<CelMap>() else {
            return Err(needs("transformMapEntry", "maps", map.as_ref()));
        };
        for (key, value) in map.inner() {
            if made.insert(key.clone(), value.clone_as_boxed()).is_some() {
                let message = "two entries have the same key";
                return Err(ExecutionError::function_error("transformMapEntry", message));
            }
        }
    }
    Ok(CowVal::owned(CelMap::from(made)))
}

pub(super) fn name<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    generated("oc_generate_name", names::NAME, args)
}

pub(super) fn label<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    generated("oc_dns_label", names::LABEL, args)
}

/// Texts, or one list of which the texts count.
fn generated<'b, 'v>(function: &str, most: usize, args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let given = only(args)?;
    let given = items(&given);
    let texts = match given {
        [one] if one.downcast_ref::<CelList>().is_some() => {
            let list = one.downcast_ref::<CelList>().map(|list| list.inner()).unwrap_or_default();
            list.iter().filter_map(|part| part.downcast_ref::<CelString>()).map(|part| part.inner()).collect()
        }
        _ => {
            let texts = given.iter().map(|part| {
                let text = part.downcast_ref::<CelString>().map(|part| part.inner());
                text.ok_or_else(|| needs(function, "texts", part.as_ref()))
            });
            texts.collect::<std::result::Result<Vec<&str>, _>>()?
        }
    };
    let name = names::generate(&texts, most);
    let name =
        name.ok_or_else(|| ExecutionError::function_error(function, "there are no parts, or too many for a name"))?;
    Ok(CowVal::owned(CelString::from(name)))
}

pub(super) fn hash<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let text = only(args)?;
    let hash = string(&text).map(names::short_hash);
    hash.map(|hash| CowVal::owned(CelString::from(hash))).ok_or_else(|| needs("oc_hash", "a text", text.as_ref()))
}

pub(super) fn first<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let list = only(args)?;
    Ok(optional(items(&list).first().map(AsRef::as_ref)))
}

pub(super) fn last<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let list = only(args)?;
    Ok(optional(items(&list).last().map(AsRef::as_ref)))
}

fn optional<'b, 'v>(item: Option<&(dyn Val + 'v)>) -> CowVal<'b, 'v> {
    CowVal::owned(item.map_or_else(CelOptional::none, |item| CelOptional::of(item.clone_as_boxed())))
}

/// Whether the first list has all items of the second.
pub(super) fn contains<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let [left, right] = compared(args)?;
    Ok(boolean(has_all(items(&left), items(&right))))
}

/// Whether two lists have the same items, in any order and number.
pub(super) fn equivalent<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let [left, right] = compared(args)?;
    Ok(boolean(has_all(items(&left), items(&right)) && has_all(items(&right), items(&left))))
}

/// Whether two lists have an item in common.
pub(super) fn intersects<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let [left, right] = compared(args)?;
    Ok(boolean(items(&right).iter().any(|item| has(items(&left), item.as_ref()))))
}

fn compared<'b, 'v>(args: Arguments<'b, 'v>) -> std::result::Result<[CowVal<'b, 'v>; 2], ExecutionError> {
    let [left, right] = two(args)?;
    let pairs = (items(&left).len() as u64).saturating_mul(items(&right).len() as u64);
    take_values(weight(left.as_ref()).saturating_add(weight(right.as_ref())).saturating_add(pairs / 64))?;
    Ok([left, right])
}

fn has_all(list: &[Box<dyn Val + '_>], wanted: &[Box<dyn Val + '_>]) -> bool {
    wanted.iter().all(|item| has(list, item.as_ref()))
}

fn has(list: &[Box<dyn Val + '_>], wanted: &dyn Val) -> bool {
    list.iter().any(|item| item.equals(wanted))
}

fn boolean<'b, 'v>(value: bool) -> CowVal<'b, 'v> {
    CowVal::owned(CelBool::from(value))
}

fn items<'a, 'v>(value: &'a CowVal<'_, 'v>) -> &'a [Box<dyn Val + 'v>] {
    value.downcast_ref::<CelList>().map(|list| list.inner()).unwrap_or_default()
}

fn needs(function: &str, wanted: &str, found: &dyn Val) -> ExecutionError {
    let message = format!("takes {wanted}, and this is a {}", found.get_type().name());
    ExecutionError::function_error(function, message)
}
