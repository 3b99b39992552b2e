//! Types of values that are known before an expression runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

/// The type of a value, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub enum StaticType {
    /// Nothing is known, and anything may be done with it.
    Unknown,
    /// No value: the items of an empty list.
    Never,
    /// `null`
    Null,
    /// A boolean.
    Bool,
    /// A whole number.
    Int,
    /// Any number.
    Double,
    /// A text.
    Text,
    /// Bytes.
    Bytes,
    /// A list of items of one type.
    List(Box<StaticType>),
    /// A list of exactly two items.
    Pair(Box<StaticType>, Box<StaticType>),
    /// A map of any keys, with values of one type.
    Map(Box<StaticType>),
    /// A map of known keys.
    Object(Arc<BTreeMap<SmolStr, StaticType>>),
    /// A value that may be missing.
    Optional(Box<StaticType>),
}

impl StaticType {
    /// A map of known keys.
    pub fn object<'n>(fields: impl IntoIterator<Item = (&'n str, StaticType)>) -> Self {
        Self::Object(Arc::new(fields.into_iter().map(|(name, it)| (name.into(), it)).collect()))
    }

    /// A list.
    pub fn list(items: StaticType) -> Self {
        Self::List(Box::new(items))
    }

    /// A map of any keys.
    pub fn map(values: StaticType) -> Self {
        Self::Map(Box::new(values))
    }

    /// The type of the items, if it is a list.
    pub fn items(&self) -> Option<StaticType> {
        match self {
            Self::List(items) => Some((**items).clone()),
            Self::Pair(first, second) => Some(joined(first, second)),
            _ => None,
        }
    }

    /// As messages name it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unknown | Self::Never => "value",
            Self::Null => "null",
            Self::Bool => "boolean",
            Self::Int => "integer",
            Self::Double => "number",
            Self::Text => "text",
            Self::Bytes => "bytes",
            Self::List(_) | Self::Pair(..) => "list",
            Self::Map(_) | Self::Object(_) => "map",
            Self::Optional(_) => "optional",
        }
    }

    /// Whether nothing is known.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown | Self::Never)
    }
}

/// A type that both have.
pub(super) fn joined(a: &StaticType, b: &StaticType) -> StaticType {
    match (a, b) {
        _ if a == b => a.clone(),
        (StaticType::Never, other) | (other, StaticType::Never) => other.clone(),
        _ => match (a.items(), b.items()) {
            (Some(a), Some(b)) => StaticType::list(joined(&a, &b)),
            _ => match (a, b) {
                (StaticType::Map(a), StaticType::Map(b)) => StaticType::map(joined(a, b)),
                (StaticType::Optional(a), StaticType::Optional(b)) => StaticType::Optional(Box::new(joined(a, b))),
                _ => StaticType::Unknown,
            },
        },
    }
}
