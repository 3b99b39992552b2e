//! What the evaluator asks of its values: reading by key and range, and changing them in place.
//!
//! Where jq and the evaluator's own values differ (assigning below null, padding lists), this follows jq.

use jaq_core::box_iter::BoxIter;
use jaq_core::path::Opt;
use jaq_core::val::Range;
use jaq_core::{Exn, ValR, ValX};
use smol_str::SmolStr;

use super::arithmetic::{integer, of_float, of_integer, to_float};
use super::budget::{Abort, abort, spend, spend_bytes};
use super::operators::Error;
use super::value::{Kind, Members, Val};
use super::write;
use crate::value::{Number, Value};

impl jaq_core::ValT for Val {
    fn from_num(text: &str) -> ValR<Self> {
        let number = Number::from_json(text).or_else(|| Number::from_yaml(text));
        number.map(Val::number).ok_or_else(|| Error::str("not a number"))
    }

    fn from_map<I: IntoIterator<Item = (Self, Self)>>(pairs: I) -> ValR<Self> {
        Members::collect(pairs).map(Val::map)
    }

    fn key_values(self) -> BoxIter<'static, ValR<(Self, Self), Self>> {
        spend(1);
        let items = match self.into_items() {
            Ok(items) => {
                let pairs = items.into_iter().enumerate();
                return Box::new(pairs.map(|(at, item)| {
                    spend(1);
                    Ok((Val::from(at), item))
                }));
            }
            Err(other) => other,
        };
        match items.into_members() {
            Ok(members) => Box::new(members.into_entries().into_iter().map(|(key, value)| {
                spend(1);
                Ok((Val::text(key.name), value))
            })),
            Err(other) => Box::new(std::iter::once(Err(not_iterable(other)))),
        }
    }

    fn values(self) -> Box<dyn Iterator<Item = ValR<Self>>> {
        Box::new(self.key_values().map(|pair| pair.map(|(_, value)| value)))
    }

    fn index(self, index: &Self) -> ValR<Self> {
        self.at(index).map(|found| found.unwrap_or_else(Val::null))
    }

    fn range(self, range: Range<&Self>) -> ValR<Self> {
        spend(1);
        match self.kind() {
            Kind::Null => Ok(self),
            Kind::Text => {
                let text = self.as_text().unwrap_or_default();
                spend_bytes(text.len());
                let (start, end) = bounds(&range, text.chars().count())?;
                Ok(Val::text(SmolStr::from_iter(text.chars().skip(start).take(end - start))))
            }
            Kind::List => {
                let (start, end) = bounds(&range, self.len())?;
                let items = self.into_items().unwrap_or_default();
                Ok(Val::list(items.into_iter().skip(start).take(end - start).collect()))
            }
            _ => Err(Error::typ(self, "string or list")),
        }
    }

    fn map_values<'a, I: Iterator<Item = ValX<'a, Self>>>(self, opt: Opt, f: impl Fn(Self) -> I) -> ValX<'a, Self> {
        spend(1);
        let other = match self.into_items() {
            Ok(items) => {
                let mut changed = Vec::with_capacity(items.len());
                for item in items {
                    spend(1);
                    // Only the first result counts, as in jq.
                    changed.extend(f(item).next().transpose()?);
                }
                return Ok(Val::list(changed));
            }
            Err(other) => other,
        };
        match other.into_members() {
            Ok(members) => {
                let mut changed = Members::default();
                for (key, value) in members.into_entries() {
                    spend(1);
                    if let Some(value) = f(value).next().transpose()? {
                        changed.insert_key(key, value);
                    }
                }
                Ok(Val::map(changed))
            }
            Err(other) => opt.fail(other, |value| Exn::from(not_iterable(value))),
        }
    }

    fn map_index<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        index: &Self,
        opt: Opt,
        f: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        spend(1);
        match (self.kind(), index.kind()) {
            (Kind::List | Kind::Text | Kind::Null, Kind::Map) => {
                let (start, end) = (index.member("start"), index.member("end"));
                self.map_range(start.as_ref()..end.as_ref(), opt, f)
            }
            (Kind::Null | Kind::Map, Kind::Text) => {
                let name = index.as_text().unwrap_or_default();
                let was_null = self.kind() == Kind::Null;
                let mut members = self.into_members().unwrap_or_default();
                let before = members.take(name);
                let was_there = before.is_some();
                match f(before.unwrap_or_else(Val::null)).next().transpose()? {
                    Some(value) => members.insert(name.into(), value),
                    None if was_there => drop(members.remove(name)),
                    None if was_null => return Ok(Val::null()),
                    None => {}
                }
                Ok(Val::map(members))
            }
            (Kind::Null | Kind::List, Kind::Number) => match self.changed_item(index, f)? {
                Ok(changed) => Ok(changed),
                Err((unchanged, error)) => opt.fail(unchanged, |_| Exn::from(error)),
            },
            _ => opt.fail(self, |value| Exn::from(Error::index(value, index.clone()))),
        }
    }

    fn map_range<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        range: Range<&Self>,
        opt: Opt,
        f: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        spend(1);
        if !matches!(self.kind(), Kind::List | Kind::Null) {
            return opt.fail(self, |value| Exn::from(Error::typ(value, "list")));
        }
        let (start, end) = match bounds(&range, self.len()) {
            Ok(bounds) => bounds,
            Err(error) => return opt.fail(self, |_| Exn::from(error)),
        };
        let mut items = self.into_items().unwrap_or_default();
        let part: Vec<Val> = items[start..end].to_vec();
        let replacement = match f(Val::list(part)).next().transpose()? {
            Some(value) => value.into_items().map_err(|value| Exn::from(Error::typ(value, "list")))?,
            None => Vec::new(),
        };
        items.splice(start..end, replacement);
        Ok(Val::list(items))
    }

    fn as_bool(&self) -> bool {
        !matches!(self.kind(), Kind::Null) && self.as_bool_value() != Some(false)
    }

    fn into_string(self) -> Self {
        spend(1);
        if self.kind() == Kind::Text { self } else { write::to_json(&self) }
    }
}

/// A changed value, or the unchanged one and why.
type Changed = Result<Val, (Val, Error)>;

impl Val {
    /// The child at a key, a position or a range; nothing where there is none.
    pub(super) fn at(&self, index: &Val) -> Result<Option<Val>, Error> {
        spend(1);
        match (self.kind(), index.kind()) {
            (Kind::Null, Kind::Text | Kind::Number | Kind::Null | Kind::Map) => Ok(None),
            (Kind::Map, Kind::Text) => Ok(self.member(index.as_text().unwrap_or_default())),
            (Kind::List, Kind::Number) => Ok(position(index, self.len()).and_then(|at| self.item(at))),
            (Kind::List | Kind::Text, Kind::Map) => {
                let (start, end) = (index.member("start"), index.member("end"));
                jaq_core::ValT::range(self.clone(), start.as_ref()..end.as_ref()).map(Some)
            }
            (Kind::List, Kind::List) => Ok(Some(self.indices(index)?)),
            _ => Err(Error::index(self.clone(), index.clone())),
        }
    }

    /// Changes one item; a position beyond the end pads the list with nulls.
    fn changed_item<'a, I: Iterator<Item = ValX<'a, Val>>>(
        self,
        index: &Val,
        f: impl Fn(Val) -> I,
    ) -> ValX<'a, Changed, Val> {
        let length = self.len();
        let at = match position(index, length) {
            Some(at) => at,
            None => match index.as_number().and_then(integer).and_then(|at| usize::try_from(at).ok()) {
                Some(beyond) => beyond,
                None => {
                    let error = Error::str(format_args!("index {index} out of bounds"));
                    return Ok(Err((self, error)));
                }
            },
        };
        let before = self.item(at);
        let was_null = self.kind() == Kind::Null;
        let value = f(before.clone().unwrap_or_else(Val::null)).next().transpose()?;
        if value.is_none() && (was_null || before.is_none()) {
            return Ok(Ok(self));
        }
        if at >= length {
            spend((at - length) as u64);
        }
        let mut items = self.into_items().unwrap_or_default();
        match value {
            Some(value) if at < items.len() => items[at] = value,
            Some(value) => {
                items.resize_with(at, Val::null);
                items.push(value);
            }
            None => drop(items.remove(at)),
        }
        Ok(Ok(Val::list(items)))
    }

    /// Where a text or a list holds another, or a list an item.
    pub(super) fn indices(&self, wanted: &Val) -> Result<Val, Error> {
        spend(1);
        let found: Vec<usize> = match (self.kind(), wanted.kind()) {
            (Kind::Null, _) => return Ok(Val::null()),
            (Kind::Text, Kind::Text) => {
                let (text, wanted) = (self.as_text().unwrap_or_default(), wanted.as_text().unwrap_or_default());
                spend_bytes(text.len());
                let starts = text.char_indices().enumerate().filter(|_| !wanted.is_empty());
                // At every position only the first bytes are compared: equal beginnings are paid for.
                starts
                    .filter(|(_, (at, _))| {
                        let is_here = text[*at..].starts_with(wanted);
                        spend(if is_here { wanted.len() as u64 / 32 + 1 } else { 1 });
                        is_here
                    })
                    .map(|(position, _)| position)
                    .collect()
            }
            (Kind::List, Kind::List) => {
                let (length, wanted_length) = (self.len(), wanted.len());
                let starts = 0..(length + 1).saturating_sub(wanted_length);
                let is_here = |start: &usize| (0..wanted_length).all(|at| self.item(start + at) == wanted.item(at));
                starts.filter(|_| wanted_length > 0).filter(is_here).collect()
            }
            (Kind::List, _) => (0..self.len()).filter(|at| self.item(*at).as_ref() == Some(wanted)).collect(),
            _ => return Err(Error::index(self.clone(), wanted.clone())),
        };
        Ok(Val::list(found.into_iter().map(Val::from).collect()))
    }
}

fn not_iterable(value: Val) -> Error {
    Error::typ(value, "list or map")
}

/// The position that a number means in a list of that length; a fraction is dropped, a negative one counts from the end.
fn position(index: &Val, length: usize) -> Option<usize> {
    let number = index.as_number()?;
    let at = integer(number).unwrap_or_else(|| to_float(number).floor() as i128);
    let at = if at < 0 { at.checked_add(i128::try_from(length).ok()?)? } else { at };
    usize::try_from(at).ok().filter(|at| *at < length)
}

/// Start and end of a range in something of that length; both lie within it, in order.
fn bounds(range: &Range<&Val>, length: usize) -> Result<(usize, usize), Error> {
    let bound = |value: Option<&Val>, missing: usize, round: fn(f64) -> f64| match value {
        None => Ok(missing),
        Some(value) if value.kind() == Kind::Null => Ok(missing),
        Some(value) => {
            let number = value.as_number().ok_or_else(|| Error::typ(value.clone(), "number"))?;
            let at = integer(number).unwrap_or_else(|| round(to_float(number)) as i128);
            let end = i128::try_from(length).unwrap_or(i128::MAX);
            let at = if at < 0 { at.saturating_add(end).max(0) } else { at.min(end) };
            Ok(usize::try_from(at).unwrap_or(length))
        }
    };
    let (start, end) = (bound(range.start, 0, f64::floor)?, bound(range.end, length, f64::ceil)?);
    Ok((start, end.max(start)))
}

impl jaq_std::ValT for Val {
    fn into_seq<S: FromIterator<Self>>(self) -> Result<S, Self> {
        self.into_items().map(|items| items.into_iter().collect())
    }

    fn is_int(&self) -> bool {
        self.as_number().is_some_and(|number| integer(number).is_some())
    }

    fn as_isize(&self) -> Option<isize> {
        isize::try_from(integer(self.as_number()?)?).ok()
    }

    fn as_f64(&self) -> Option<f64> {
        self.as_number().map(to_float)
    }

    fn is_utf8_str(&self) -> bool {
        self.as_text().is_some()
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        let text = self.as_text()?;
        spend_bytes(text.len());
        Some(text.as_bytes())
    }

    fn as_sub_str(&self, part: &[u8]) -> Self {
        Self::from_utf8_bytes(part.to_vec())
    }

    fn from_utf8_bytes(bytes: impl AsRef<[u8]> + Send + 'static) -> Self {
        let bytes = bytes.as_ref();
        spend_bytes(bytes.len());
        Val::text(String::from_utf8_lossy(bytes))
    }
}

impl From<bool> for Val {
    fn from(value: bool) -> Self {
        Val::scalar(Value::Bool(value))
    }
}

impl From<isize> for Val {
    fn from(value: isize) -> Self {
        Val::number(of_integer(value as i128))
    }
}

impl From<usize> for Val {
    fn from(value: usize) -> Self {
        Val::number(of_integer(i128::try_from(value).unwrap_or_else(|_| abort(Abort::Size))))
    }
}

impl From<f64> for Val {
    fn from(value: f64) -> Self {
        Val::number(of_float(value))
    }
}

impl From<String> for Val {
    fn from(text: String) -> Self {
        spend_bytes(text.len());
        Val::text(text)
    }
}

impl From<Range<Val>> for Val {
    fn from(range: Range<Val>) -> Self {
        let mut members = Members::default();
        for (name, value) in [("start", range.start), ("end", range.end)] {
            if let Some(value) = value {
                members.insert(SmolStr::new_static(name), value);
            }
        }
        Val::map(members)
    }
}

impl FromIterator<Val> for Val {
    fn from_iter<I: IntoIterator<Item = Val>>(values: I) -> Self {
        let pay = |value| {
            spend(1);
            value
        };
        Val::list(values.into_iter().map(pay).collect())
    }
}
