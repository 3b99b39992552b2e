//! The functions that expressions can call, and the types they give.

use super::static_type::{StaticType, joined};

/// Whether a name is the first part of functions such as `math.greatest`.
pub(super) fn is_namespace(name: &str) -> bool {
    ["base64", "lists", "math", "optional", "sets", "strings"].contains(&name)
}

/// The type that a call gives; none if there is no such function.
pub(super) fn function_type(
    namespace: Option<&str>,
    receiver: Option<&StaticType>,
    name: &str,
    arguments: &[StaticType],
) -> Option<StaticType> {
    match (namespace, receiver) {
        (Some(namespace), _) => of_namespace(namespace, name, arguments),
        (None, Some(receiver)) => of_receiver(receiver, name, arguments),
        (None, None) => global(name, arguments),
    }
}

fn of_namespace(namespace: &str, name: &str, arguments: &[StaticType]) -> Option<StaticType> {
    let first = || arguments.first().cloned().unwrap_or(StaticType::Unknown);
    let found = match (namespace, name) {
        ("base64", "encode") => StaticType::Text,
        ("base64", "decode") => StaticType::Bytes,
        ("lists", "range") => StaticType::list(StaticType::Int),
        ("math", "isNaN" | "isInf" | "isFinite") => StaticType::Bool,
        (
            "math",
            "greatest" | "least" | "ceil" | "floor" | "round" | "trunc" | "abs" | "sign" | "sqrt" | "bitAnd" | "bitOr"
            | "bitXor" | "bitNot" | "bitShiftLeft" | "bitShiftRight",
        ) => StaticType::Unknown,
        ("optional", "of" | "ofNonZeroValue") => StaticType::Optional(Box::new(first())),
        ("optional", "none") => StaticType::Optional(Box::new(StaticType::Never)),
        ("sets", "contains" | "equivalent" | "intersects") => StaticType::Bool,
        ("strings", "quote") => StaticType::Text,
        _ => return None,
    };
    Some(found)
}

fn of_receiver(receiver: &StaticType, name: &str, arguments: &[StaticType]) -> Option<StaticType> {
    let inner = || match receiver {
        StaticType::Optional(inner) => (**inner).clone(),
        _ => StaticType::Unknown,
    };
    let items = || receiver.items().unwrap_or(StaticType::Unknown);
    let found = match (name, arguments) {
        ("size" | "indexOf" | "lastIndexOf", _) => StaticType::Int,
        ("contains" | "startsWith" | "endsWith" | "matches" | "hasValue", _) => StaticType::Bool,
        (
            "charAt" | "lowerAscii" | "upperAscii" | "replace" | "substring" | "trim" | "format" | "join"
            | "getFullYear",
            _,
        ) => match name {
            "getFullYear" => StaticType::Int,
            _ => StaticType::Text,
        },
        ("split", _) => StaticType::list(StaticType::Text),
        ("distinct" | "sort" | "slice" | "reverse" | "sortBy", _) => match receiver {
            StaticType::Text => StaticType::Text,
            _ => StaticType::list(items()),
        },
        ("flatten", []) => match items().items() {
            Some(inner) => StaticType::list(inner),
            None => StaticType::list(StaticType::Unknown),
        },
        ("flatten", _) => StaticType::list(StaticType::Unknown),
        ("first" | "last", []) => StaticType::Optional(Box::new(items())),
        ("orValue", [other]) => joined(&inner(), other),
        ("or", [other]) => joined(receiver, other),
        ("value", []) => inner(),
        ("optMap" | "optFlatMap", _) => StaticType::Optional(Box::new(StaticType::Unknown)),
        (
            "getDate" | "getDayOfMonth" | "getDayOfWeek" | "getDayOfYear" | "getHours" | "getMilliseconds"
            | "getMinutes" | "getMonth" | "getSeconds",
            _,
        ) => StaticType::Int,
        (internal, _) if internal.starts_with('@') => StaticType::Unknown,
        _ => return None,
    };
    Some(found)
}

fn global(name: &str, arguments: &[StaticType]) -> Option<StaticType> {
    let found = match (name, arguments.len()) {
        ("size" | "int" | "uint", 1) => StaticType::Int,
        ("double", 1) => StaticType::Double,
        ("bool", 1) | ("matches" | "has", _) => StaticType::Bool,
        ("string", 1) => StaticType::Text,
        ("bytes", 1) => StaticType::Bytes,
        ("type" | "dyn" | "duration" | "timestamp", 1) => StaticType::Unknown,
        ("oc_omit" | "omit", 0) => StaticType::Unknown,
        ("oc_merge" | "merge", 2..) => StaticType::map(StaticType::Unknown),
        ("oc_generate_name" | "oc_dns_label" | "sanitizeK8sResourceName", 1..) | ("oc_hash", 1) => StaticType::Text,
        _ => return None,
    };
    Some(found)
}
