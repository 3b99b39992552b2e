//! The functions that a guarded expression calls: the user's operators and functions, on the account.

use std::sync::LazyLock;

use cel::common::ast::IdedExpr;
use cel::common::types::{CelBool, CelBytes, CelInt, CelList, CelMap, CelMapKey, CelOptional, CelString};
use cel::common::value::{CowVal, Val};
use cel::{Context, ExecutionError};

use super::budget::{take_steps, take_values};
use super::environment::environment;

pub(super) type Arguments<'b, 'v> = Vec<CowVal<'b, 'v>>;
pub(super) type Result<'b, 'v> = std::result::Result<CowVal<'b, 'v>, ExecutionError>;

/// How much a value takes up: one for each part, and one more for every 16 bytes of text.
pub(super) fn weight(value: &dyn Val) -> u64 {
    if let Some(text) = value.downcast_ref::<CelString>() {
        return 1 + text.inner().len() as u64 / 16;
    }
    if let Some(list) = value.downcast_ref::<CelList>() {
        return list.inner().iter().fold(1, |sum: u64, item| sum.saturating_add(weight(item.as_ref())));
    }
    if let Some(map) = value.downcast_ref::<CelMap>() {
        let entries = map.inner().iter().map(|(key, value)| weight(key.inner()) + weight(value.as_ref()));
        return entries.fold(1, u64::saturating_add);
    }
    if let Some(bytes) = value.downcast_ref::<CelBytes>() {
        return 1 + bytes.inner().len() as u64 / 16;
    }
    value.downcast_ref::<CelOptional>().and_then(|held| held.option().map(weight)).unwrap_or(0) + 1
}

/// A range to loop over: a map is walked by its keys, in order.
pub(super) fn range<'b, 'v>(mut args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let cost = args.pop().and_then(|cost| cost.downcast_ref::<CelInt>().map(|cost| *cost.inner())).unwrap_or(1);
    let range = only(args)?;
    let rounds = match (range.downcast_ref::<CelList>(), range.downcast_ref::<CelMap>()) {
        (Some(list), _) => list.inner().len(),
        (_, Some(map)) => map.inner().len(),
        _ => 0,
    };
    take_steps((rounds as u64).saturating_mul(cost.unsigned_abs()))?;
    take_values(weight(range.as_ref()))?;
    Ok(match range.downcast_ref::<CelMap>() {
        Some(map) => {
            let keys = sorted(map).into_iter().map(|(key, _)| key.inner().clone_as_boxed());
            CowVal::owned(CelList::from(keys.collect::<Vec<_>>()))
        }
        None => range,
    })
}

/// The entries of a map by the text of their keys.
pub(super) fn sorted<'m, 'v>(map: &'m CelMap<'v>) -> Vec<(&'m CelMapKey<'v>, &'m (dyn Val + 'v))> {
    let mut entries: Vec<_> = map.inner().iter().map(|(key, value)| (key, value.as_ref())).collect();
    entries.sort_by(|a, b| a.0.cmp(b.0));
    entries
}

/// Pairs of index and item, or of key and value.
pub(super) fn entries<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let range = only(args)?;
    take_values(weight(range.as_ref()).saturating_mul(2))?;
    let pair = |key: Box<dyn Val + 'v>, value: Box<dyn Val + 'v>| -> Box<dyn Val + 'v> {
        Box::new(CelList::from(vec![key, value]))
    };
    let pairs: Vec<Box<dyn Val + 'v>> = if let Some(list) = range.downcast_ref::<CelList>() {
        let numbered = (0_i64..).zip(list.inner());
        numbered.map(|(at, item)| pair(Box::new(CelInt::from(at)), item.clone_as_boxed())).collect()
    } else if let Some(map) = range.downcast_ref::<CelMap>() {
        sorted(map).into_iter().map(|(key, value)| pair(key.inner().clone_as_boxed(), value.clone_as_boxed())).collect()
    } else {
        let got = range.get_type().name().to_owned();
        return Err(ExecutionError::UnexpectedType { got, want: "list or map".to_owned() });
    };
    Ok(CowVal::owned(CelList::from(pairs)))
}

/// A value that is about to be copied.
pub(super) fn keep<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let value = only(args)?;
    take_values(weight(value.as_ref()))?;
    Ok(value)
}

/// An operator with two sides. Sums grow; and the crate does not say which types it did not like.
macro_rules! arithmetic {
    ($name:ident, $capability:ident, $method:ident, $operator:literal) => {
        pub(super) fn $name<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
            let [left, right] = two(args)?;
            take_values(weight(left.as_ref()).saturating_add(weight(right.as_ref())))?;
            let able = left.$capability().ok_or_else(|| no_overload($operator, &left, &right))?;
            let result = able.$method(right.as_ref()).map_err(|error| match error {
                ExecutionError::UnsupportedBinaryOperator(..) => no_overload($operator, &left, &right),
                error => error,
            })?;
            Ok(CowVal::Owned(result.into_owned()))
        }
    };
}

arithmetic!(add, as_adder, add, "_+_");
arithmetic!(subtract, as_subtractor, sub, "_-_");
arithmetic!(multiply, as_multiplier, mul, "_*_");
arithmetic!(divide, as_divider, div, "_/_");
arithmetic!(remainder, as_modder, modulo, "_%_");

pub(super) fn equal<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    are_equal(args).map(|equal| CowVal::owned(CelBool::from(equal)))
}

pub(super) fn unequal<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    are_equal(args).map(|equal| CowVal::owned(CelBool::from(!equal)))
}

fn are_equal(args: Arguments<'_, '_>) -> std::result::Result<bool, ExecutionError> {
    let [left, right] = two(args)?;
    take_values(weight(left.as_ref()))?;
    Ok(left.equals(right.as_ref()))
}

/// `left in right`.
pub(super) fn within<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let [left, right] = two(args)?;
    if right.downcast_ref::<CelList>().is_some() {
        take_values(weight(right.as_ref()))?;
    }
    let container = right.as_container().ok_or_else(|| no_overload("in", &left, &right))?;
    let found = container.contains(left.as_ref()).map_err(|error| match error {
        ExecutionError::UnsupportedKeyType(_) | ExecutionError::UnexpectedType { .. } => {
            no_overload("in", &left, &right)
        }
        error => error,
    })?;
    Ok(CowVal::owned(CelBool::from(found)))
}

/// A list whose items are about to be compared with each other.
pub(super) fn square<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let list = only(args)?;
    if let Some(items) = list.downcast_ref::<CelList>() {
        let length = items.inner().len() as u64;
        take_values(weight(list.as_ref()).saturating_add(length.saturating_mul(length) / 64))?;
    }
    Ok(list)
}

/// A regular expression that is about to be compiled; repetitions make large machines of small texts.
pub(super) fn pattern<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let pattern = only(args)?;
    if let Some(text) = pattern.downcast_ref::<CelString>() {
        let repetitions = text.inner().matches('{').count() as u64;
        take_steps(100 + 10 * text.inner().len() as u64 + 20_000 * repetitions)?;
    }
    Ok(pattern)
}

pub(super) fn replace<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    if let [text, from, to, ..] = args.as_slice()
        && let (Some(text), Some(from), Some(to)) = (string(text), string(from), string(to))
    {
        let found = text.matches(from).count() as u64;
        take_values((text.len() as u64).saturating_add(found.saturating_mul(to.len() as u64)) / 16 + 1)?;
    }
    static TWO: LazyLock<IdedExpr> = LazyLock::new(|| original("a.replace(b, c)"));
    static THREE: LazyLock<IdedExpr> = LazyLock::new(|| original("a.replace(b, c, d)"));
    delegated(if args.len() == 3 { &TWO } else { &THREE }, args)
}

pub(super) fn split<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    if let [text, by, ..] = args.as_slice()
        && let (Some(text), Some(by)) = (string(text), string(by))
    {
        take_values(2 * (text.matches(by).count() as u64 + 1) + text.len() as u64 / 16)?;
    }
    static ONE: LazyLock<IdedExpr> = LazyLock::new(|| original("a.split(b)"));
    static TWO: LazyLock<IdedExpr> = LazyLock::new(|| original("a.split(b, c)"));
    delegated(if args.len() == 2 { &ONE } else { &TWO }, args)
}

pub(super) fn join<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    if let Some(list) = args.first().and_then(|list| list.downcast_ref::<CelList>()) {
        let between = args.get(1).and_then(string).map_or(0, str::len) as u64;
        take_values(weight(list).saturating_add((list.inner().len() as u64).saturating_mul(between) / 16))?;
    }
    static NONE: LazyLock<IdedExpr> = LazyLock::new(|| original("a.join()"));
    static ONE: LazyLock<IdedExpr> = LazyLock::new(|| original("a.join(b)"));
    delegated(if args.len() == 1 { &NONE } else { &ONE }, args)
}

pub(super) fn format<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    if let [text, values] = args.as_slice()
        && let Some(text) = string(text)
    {
        let clauses = text.matches('%').count() as u64;
        take_values((text.len() as u64 / 16).saturating_add(clauses.saturating_mul(weight(values.as_ref()) + 8)))?;
    }
    static FORMAT: LazyLock<IdedExpr> = LazyLock::new(|| original("a.format(b)"));
    delegated(&FORMAT, args)
}

/// The foreign crate's own function, which can only be reached through an expression.
fn original(text: &str) -> IdedExpr {
    environment().parser().parse(text).expect("our own expressions are well formed")
}

fn delegated<'b, 'v>(expression: &IdedExpr, args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let mut context = Context::with_env(environment().clone());
    for (name, value) in ["a", "b", "c", "d"].into_iter().zip(args) {
        context.add_variable_as_val(name, value.into_owned());
    }
    let value = cel::Value::resolve_val(expression, &context)?.into_owned();
    Ok(CowVal::Owned(value))
}

pub(super) fn string<'a>(value: &'a CowVal<'_, '_>) -> Option<&'a str> {
    value.downcast_ref::<CelString>().map(|text| text.inner())
}

pub(super) fn only<'b, 'v>(args: Arguments<'b, 'v>) -> Result<'b, 'v> {
    let count = args.len();
    args.into_iter().next().ok_or_else(|| ExecutionError::invalid_argument_count(1, count))
}

pub(super) fn two<'b, 'v>(args: Arguments<'b, 'v>) -> std::result::Result<[CowVal<'b, 'v>; 2], ExecutionError> {
    args.try_into().map_err(|args: Vec<_>| ExecutionError::invalid_argument_count(2, args.len()))
}

fn no_overload(function: &str, left: &CowVal<'_, '_>, right: &CowVal<'_, '_>) -> ExecutionError {
    let types = [left, right].map(|value| value.get_type().name().to_owned());
    ExecutionError::no_such_overload(function, types.into())
}
