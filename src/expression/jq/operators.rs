//! The operators of jq on our values: `+ - * / %`, unary minus, and the order of everything.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use jaq_core::ops::Math;
use smol_str::SmolStr;

use super::arithmetic::{calculate, divide, integer, negate, remainder, to_float};
use super::budget::{spend, spend_bytes};
use super::value::{Kind, Members, Val, made_at};
use super::write;
use crate::value::{Node, Secret, Value};

pub(super) type Error = jaq_core::Error<Val>;
type ValR = Result<Val, Error>;

impl Add for Val {
    type Output = ValR;

    fn add(self, other: Self) -> ValR {
        spend(3);
        if let (Some(a), Some(b)) = (self.as_number(), other.as_number()) {
            return Ok(Val::number(calculate(a, b, i128::checked_add, |a, b| a + b)));
        }
        match (self.kind(), other.kind()) {
            (Kind::Null, _) => Ok(other),
            (_, Kind::Null) => Ok(self),
            (Kind::Text, Kind::Text) => Ok(joined(&self, &other)),
            (Kind::List, Kind::List) => {
                let (mut items, more) = (self.into_items().unwrap_or_default(), other.into_items().unwrap_or_default());
                spend((items.len() + more.len()) as u64 / 8);
                items.extend(more);
                Ok(Val::list(items))
            }
            (Kind::Map, Kind::Map) => {
                let (mut members, more) =
                    (self.into_members().unwrap_or_default(), other.into_members().unwrap_or_default());
                for (key, value) in more.into_entries() {
                    spend(1);
                    members.insert_key(key, value);
                }
                Ok(Val::map(members))
            }
            _ => Err(Error::math(self, Math::Add, other)),
        }
    }
}

/// Two texts in one; what holds a secret is one.
fn joined(left: &Val, right: &Val) -> Val {
    if left.as_secret().is_some() || right.as_secret().is_some() {
        return hidden(vec![left.clone(), right.clone()]);
    }
    let (left, right) = (left.as_text().unwrap_or_default(), right.as_text().unwrap_or_default());
    spend_bytes(left.len() + right.len());
    Val::text(SmolStr::from([left, right].concat()))
}

/// A secret made of several values; it equals another that is made of equal ones.
pub(super) fn hidden(parts: Vec<Val>) -> Val {
    let parts = Node::list(parts.into_iter().map(Val::into_node).collect(), made_at());
    Val::scalar(Value::Secret(Secret::hide(parts)))
}

impl Sub for Val {
    type Output = ValR;

    fn sub(self, other: Self) -> ValR {
        spend(3);
        if let (Some(a), Some(b)) = (self.as_number(), other.as_number()) {
            return Ok(Val::number(calculate(a, b, i128::checked_sub, |a, b| a - b)));
        }
        match (self.kind(), other.kind()) {
            (Kind::List, Kind::List) => {
                let (mut items, mut unwanted) =
                    (self.into_items().unwrap_or_default(), other.into_items().unwrap_or_default());
                unwanted.sort();
                items.retain(|item| unwanted.binary_search(item).is_err());
                Ok(Val::list(items))
            }
            _ => Err(Error::math(self, Math::Sub, other)),
        }
    }
}

impl Mul for Val {
    type Output = ValR;

    fn mul(self, other: Self) -> ValR {
        spend(3);
        if let (Some(a), Some(b)) = (self.as_number(), other.as_number()) {
            return Ok(Val::number(calculate(a, b, i128::checked_mul, |a, b| a * b)));
        }
        match (self.kind(), other.kind()) {
            (Kind::Text, Kind::Number) => Ok(repeated(&self, &other)),
            (Kind::Number, Kind::Text) => Ok(repeated(&other, &self)),
            (Kind::Map, Kind::Map) => Ok(merged(self, other)),
            _ => Err(Error::math(self, Math::Mul, other)),
        }
    }
}

/// A text several times over; not once is null, as in jq.
fn repeated(text: &Val, times: &Val) -> Val {
    let Some(number) = times.as_number() else { return Val::null() };
    let times = integer(number).unwrap_or_else(|| to_float(number).ceil() as i128);
    if times <= 0 {
        return Val::null();
    }
    let text = text.as_text().unwrap_or_default();
    let times = usize::try_from(times).unwrap_or(usize::MAX);
    spend_bytes(text.len().saturating_mul(times));
    Val::text(text.repeat(if text.is_empty() { 0 } else { times }))
}

/// Maps merged at every level; the right wins.
fn merged(left: Val, right: Val) -> Val {
    let (Ok(mut members), Ok(more)) = (left.into_members(), right.into_members()) else { return Val::null() };
    for (key, value) in more.into_entries() {
        spend(1);
        let value = match members.take(&key.name) {
            Some(old) if old.kind() == Kind::Map && value.kind() == Kind::Map => merged(old, value),
            _ => value,
        };
        members.insert_key(key, value);
    }
    Val::map(members)
}

impl Div for Val {
    type Output = ValR;

    fn div(self, other: Self) -> ValR {
        spend(3);
        if let (Some(a), Some(b)) = (self.as_number(), other.as_number()) {
            if b.is_zero() {
                return Err(Error::math(self, Math::Div, other));
            }
            return Ok(Val::number(divide(a, b)));
        }
        match (self.kind(), other.kind()) {
            (Kind::Text, Kind::Text) => {
                let (text, separator) = (self.as_text().unwrap_or_default(), other.as_text().unwrap_or_default());
                spend_bytes(text.len());
                let part = |part: &str| {
                    spend(1);
                    Val::text(part)
                };
                Ok(Val::list(match (text, separator) {
                    ("", _) => Vec::new(),
                    (_, "") => text.chars().map(|c| part(c.encode_utf8(&mut [0; 4]))).collect(),
                    _ => text.split(separator).map(part).collect(),
                }))
            }
            _ => Err(Error::math(self, Math::Div, other)),
        }
    }
}

impl Rem for Val {
    type Output = ValR;

    fn rem(self, other: Self) -> ValR {
        spend(3);
        let result = self.as_number().zip(other.as_number()).and_then(|(a, b)| remainder(a, b));
        result.map(Val::number).ok_or_else(|| Error::math(self, Math::Rem, other))
    }
}

impl Neg for Val {
    type Output = ValR;

    fn neg(self) -> ValR {
        spend(1);
        match self.as_number() {
            Some(number) => Ok(Val::number(negate(number))),
            None => Err(Error::typ(self, "number")),
        }
    }
}

impl PartialEq for Val {
    fn eq(&self, other: &Self) -> bool {
        match (self.as_secret(), other.as_secret()) {
            (Some(a), Some(b)) => a.is_equal(b),
            (None, None) => self.cmp(other) == Ordering::Equal,
            _ => false,
        }
    }
}

impl Eq for Val {}

impl PartialOrd for Val {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Val {
    /// jq's order. Secrets have none among themselves: an order would tell something about them.
    fn cmp(&self, other: &Self) -> Ordering {
        spend(1);
        self.kind().cmp(&other.kind()).then_with(|| match self.kind() {
            Kind::Null => Ordering::Equal,
            Kind::Bool => self.as_bool_value().cmp(&other.as_bool_value()),
            Kind::Number => match (self.as_number(), other.as_number()) {
                (Some(a), Some(b)) => {
                    spend((a.as_str().len() + b.as_str().len()) as u64 / 32);
                    a.order(b)
                }
                _ => Ordering::Equal,
            },
            Kind::Text => compare_texts(self, other),
            Kind::List => compare_lists(self, other),
            Kind::Map => compare_maps(self, other),
        })
    }
}

fn compare_texts(left: &Val, right: &Val) -> Ordering {
    match (left.as_secret().is_some(), right.as_secret().is_some()) {
        (false, false) => {
            let (left, right) = (left.as_text().unwrap_or_default(), right.as_text().unwrap_or_default());
            spend(left.len().min(right.len()) as u64 / 32);
            left.cmp(right)
        }
        (left, right) => left.cmp(&right),
    }
}

fn compare_lists(left: &Val, right: &Val) -> Ordering {
    let pairs = (0..).map_while(|at| Some((left.item(at)?, right.item(at)?)));
    let mut orders = pairs.map(|(a, b)| compared(&a, &b));
    orders.find(|order| order.is_ne()).unwrap_or_else(|| left.len().cmp(&right.len()))
}

/// First the names, then the values in the order of the names.
fn compare_maps(left: &Val, right: &Val) -> Ordering {
    let (mut a, mut b) = (left.names(), right.names());
    spend((a.len() + b.len()) as u64);
    a.sort();
    b.sort();
    a.cmp(&b).then_with(|| {
        let pairs = a.iter().filter_map(|name| Some((left.member(name)?, right.member(name)?)));
        pairs.map(|(a, b)| compared(&a, &b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    })
}

/// Inside of lists and maps two different secrets must not make them the same.
fn compared(a: &Val, b: &Val) -> Ordering {
    match (a.as_secret(), b.as_secret()) {
        (Some(x), Some(y)) if !x.is_equal(y) => Ordering::Less,
        _ => a.cmp(b),
    }
}

impl Members {
    /// A map with these members; names must be texts.
    pub(super) fn collect(pairs: impl IntoIterator<Item = (Val, Val)>) -> Result<Self, Error> {
        let mut members = Self::default();
        for (name, value) in pairs {
            spend(1);
            match (name.kind(), name.as_text()) {
                (Kind::Text, Some(text)) => members.insert(text.into(), value),
                _ => return Err(Error::typ(name, "name of a member, which is a string")),
            }
        }
        Ok(members)
    }
}

impl std::fmt::Display for Val {
    /// For messages: compact JSON, cut short.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&write::short(self))
    }
}
