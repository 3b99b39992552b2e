//! The YAML 1.2 core schema: the value of a scalar's text, and what the core tags require.

use smol_str::SmolStr;

use crate::value::{Number, Value};

/// The style of a scalar, as far as it affects its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Style {
    /// Without quotes: the text decides the type.
    Plain,
    /// Between quotes: a string.
    Quoted,
    /// After `|` or `>`: a string.
    Block,
}

/// A tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// One of the seven tags of the core schema.
    Core(Core),
    /// `!`: the type is not resolved from the text, so it is a string, list or map.
    Untyped,
    /// `!!merge`, which `<<` has by default.
    Merge,
    /// Anything else, kept with the value.
    Other(SmolStr),
}

/// The tags of the core schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Core {
    Str,
    Int,
    Float,
    Bool,
    Null,
    Map,
    Seq,
}

impl Core {
    /// The name after `!!`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Str => "str",
            Self::Int => "int",
            Self::Float => "float",
            Self::Bool => "bool",
            Self::Null => "null",
            Self::Map => "map",
            Self::Seq => "seq",
        }
    }

    /// The tag with this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Str, Self::Int, Self::Float, Self::Bool, Self::Null, Self::Map, Self::Seq];
        all.into_iter().find(|core| core.name() == name)
    }

    /// The scalar as the type of the tag; `None` if its text does not fit.
    pub(super) fn apply(self, text: &str) -> Option<Value> {
        match self {
            Self::Str => Some(Value::String(text.into())),
            Self::Null => (text.is_empty() || is_null(text)).then_some(Value::Null),
            Self::Bool => as_bool(text).map(Value::Bool),
            Self::Int => Number::from_yaml(text).filter(Number::is_integer).map(Value::Number),
            Self::Float => as_float(text).map(Value::Number),
            Self::Map | Self::Seq => None,
        }
    }
}

/// The value of a plain scalar: null, a boolean or a number as the core schema spells them, text otherwise.
pub(super) fn resolve(text: &str) -> Value {
    match text.as_bytes().first() {
        None => Value::Null,
        Some(b'~' | b'n' | b'N') if is_null(text) => Value::Null,
        Some(b't' | b'T' | b'f' | b'F') => match as_bool(text) {
            Some(value) => Value::Bool(value),
            None => Value::String(text.into()),
        },
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => match Number::from_yaml(text) {
            Some(number) => Value::Number(number),
            None => Value::String(text.into()),
        },
        Some(_) => Value::String(text.into()),
    }
}

/// Whether a plain scalar is a number that is longer than the limit.
pub(super) fn is_overlong_number(text: &str) -> bool {
    let digits = match text.as_bytes() {
        [b'0', b'x', digits @ ..] if digits.iter().all(u8::is_ascii_hexdigit) => digits,
        [b'0', b'o', digits @ ..] if digits.iter().all(|digit| matches!(digit, b'0'..=b'7')) => digits,
        _ => return false,
    };
    !digits.is_empty() && Number::from_yaml(text).is_none()
}

fn is_null(text: &str) -> bool {
    matches!(text, "~" | "null" | "Null" | "NULL")
}

fn as_bool(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// `!!float 1` is `1.0`: without a point it would be read as an integer again.
fn as_float(text: &str) -> Option<Number> {
    let number = Number::from_yaml(text)?;
    if !number.is_integer() {
        return Some(number);
    }
    let is_decimal = !text.starts_with("0x") && !text.starts_with("0o");
    is_decimal.then(|| Number::from_yaml(&format!("{text}.0"))).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Type;

    fn kind(value: &Value) -> Type {
        match value {
            Value::Null => Type::Null,
            Value::Bool(_) => Type::Bool,
            Value::Number(_) => Type::Number,
            _ => Type::String,
        }
    }

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        for text in ["", "~", "null", "Null", "NULL"] {
            assert_eq!(kind(&resolve(text)), Type::Null, "{text}");
        }
        for text in ["true", "True", "TRUE", "false", "False", "FALSE"] {
            assert_eq!(kind(&resolve(text)), Type::Bool, "{text}");
        }
        for text in ["0", "0777", "0x1F", "0o7", "-1.5e3", ".inf", "-.INF", ".nan", "+1", "12345678901234567890"] {
            assert_eq!(kind(&resolve(text)), Type::Number, "{text}");
        }
        for text in
            ["yes", "no", "on", "off", "y", "n", "tRUE", "nULL", "1_000", "12:30", "2001-12-14", "0b1", "=", "<<"]
        {
            assert_eq!(kind(&resolve(text)), Type::String, "{text}");
        }
    }

    #[test]
    fn core_tags_demand_a_fitting_text() {
        let number = |value| match value {
            Some(Value::Number(number)) => Some(number.as_str().to_owned()),
            _ => None,
        };
        assert_eq!(number(Core::Int.apply("0x1f")).as_deref(), Some("0x1f"));
        assert_eq!(number(Core::Int.apply("1.0")), None);
        assert_eq!(number(Core::Float.apply("1")).as_deref(), Some("1.0"));
        assert_eq!(number(Core::Float.apply("0x1")), None);
        assert!(Core::Bool.apply("yes").is_none());
        assert!(matches!(Core::Null.apply(""), Some(Value::Null)));
        assert!(matches!(Core::Str.apply("1"), Some(Value::String(_))));
        assert!(Core::Map.apply("x").is_none());
    }

    #[test]
    fn a_number_too_long_to_read_is_noticed() {
        assert!(is_overlong_number(&format!("0x{}", "f".repeat(5000))));
        assert!(!is_overlong_number("0xff"));
        assert!(!is_overlong_number(&format!("0x{}g", "f".repeat(5000))));
    }
}
