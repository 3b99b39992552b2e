//! The dialects in which kustomize reads YAML: kustomization files and JSON patches as YAML 1.1, resources as its Go library does.

use std::sync::Arc;

use super::{Fatal, fatal, folded};
use crate::text::{SourceId, Sources, Span};
use crate::value::{Child, Extra, KeyKind, Node, Number, Value};

/// How unquoted scalars are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Dialect {
    /// Resources and strategic merge patches.
    Resource,
    /// Kustomization files and JSON patches: `yes`, `on` and the like are booleans.
    Yaml11,
}

/// Reads the scalars of a document again in a dialect. Keys must be strings.
pub(super) fn reread(node: &Node, dialect: Dialect, sources: &Sources) -> Result<Node, Fatal> {
    let mut failure = None;
    let source = sources.get(node.span.source);
    let written = Written { text: &source.text, source: node.span.source, dialect };
    let read = walk(node, Place::Root, &written, &mut failure);
    match failure {
        Some(failure) => Err(failure),
        None => Ok(read.unwrap_or_else(|| node.clone())),
    }
}

/// The text of the file that a document is written in.
struct Written<'t> {
    text: &'t str,
    source: SourceId,
    dialect: Dialect,
}

impl Written<'_> {
    /// What is written at a place.
    fn at(&self, span: Span) -> Option<&str> {
        self.text.get(span.range()).filter(|_| span.source == self.source)
    }
}

/// Where a value is in its document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Metadata,
    Annotations,
    Elsewhere,
}

impl Place {
    fn of_child(self, child: &Child<'_>) -> Self {
        match self {
            Self::Root if child.token() == "metadata" => Self::Metadata,
            Self::Metadata if child.token() == "annotations" => Self::Annotations,
            Self::Annotations => self,
            _ => Self::Elsewhere,
        }
    }
}

fn walk(node: &Node, place: Place, written: &Written<'_>, failure: &mut Option<Fatal>) -> Option<Node> {
    // Tags of one's own mean nothing to kustomize.
    if node.tag().is_some() {
        let extra = node.extra.as_deref().cloned().map(|extra| Arc::new(Extra { tag: None, ..extra }));
        let untagged = Node { extra, ..node.clone() };
        return Some(walk(&untagged, place, written, failure).unwrap_or(untagged));
    }
    let dialect = written.dialect;
    if let Some(map) = node.as_map() {
        let odd = |kind: KeyKind| kind != KeyKind::Text && dialect == Dialect::Resource;
        if let Some(entry) = map.entries().iter().find(|entry| odd(entry.key.kind)) {
            failure
                .get_or_insert_with(|| fatal(entry.key.span, format!("the key `{}` is not a string", entry.key.name)));
        }
    }
    match &node.value {
        Value::List(_) | Value::Map(_) => {
            node.map_children(|child| walk(child.node, place.of_child(&child), written, failure))
        }
        Value::String(text) if written.at(node.span).is_some_and(|written| written.starts_with('>')) => {
            // Annotations are set one by one, and lose their style.
            let is_printed = dialect == Dialect::Resource && place != Place::Annotations;
            let printed = is_printed.then(|| folded::printed_and_read(text)).flatten()?;
            Some(Node { value: Value::String(printed.into()), ..node.clone() })
        }
        Value::Number(_) | Value::String(_) => {
            let text = plain_text(written.at(node.span)?)?;
            if is_infinite(text) {
                failure.get_or_insert_with(|| fatal(node.span, "JSON has no infinite numbers, and resources are JSON"));
            }
            let large = match &node.value {
                Value::Number(number) => super::numbers::beyond_integers(number).map(Value::Number),
                _ => None,
            };
            let value = scalar(text, dialect).or(large)?;
            Some(Node { value, ..node.clone() })
        }
        _ => None,
    }
}

/// The text of a scalar that is written without quotes on one line.
pub(super) fn plain_text(written: &str) -> Option<&str> {
    let text = written.trim();
    let is_plain = !text.is_empty() && !text.starts_with(['"', '\'', '|', '>', '!', '&', '*', '{', '[']);
    (is_plain && !text.contains('\n')).then_some(text)
}

fn is_infinite(text: &str) -> bool {
    let text = text.trim_start_matches(['-', '+']);
    [".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"].contains(&text)
}

/// What an unquoted scalar means, where that differs from YAML 1.2.
fn scalar(text: &str, dialect: Dialect) -> Option<Value> {
    if dialect == Dialect::Yaml11 {
        match text {
            "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Some(Value::Bool(true)),
            "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Some(Value::Bool(false)),
            _ => {}
        }
    }
    let (sign, digits) = match text.as_bytes().first() {
        Some(b'-') => ("-", &text[1..]),
        Some(b'+') => ("", &text[1..]),
        _ => ("", text),
    };
    if !digits.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let clean: String = digits.chars().filter(|&character| character != '_').collect();
    let radix = |prefix: &str, radix: u32| {
        let digits = clean.strip_prefix(prefix)?;
        let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
        is_number.then(|| i128::from_str_radix(digits, radix).ok()).flatten()
    };
    let based = radix("0x", 16).or_else(|| radix("0b", 2)).or_else(|| radix("0o", 8)).or_else(|| radix("0", 8));
    if let Some(number) = based {
        return Number::from_json(&format!("{sign}{number}")).map(Value::Number);
    }
    if digits.contains('_') {
        return Number::from_yaml(&format!("{sign}{clean}")).map(Value::Number);
    }
    if clean.contains(['e', 'E']) && !clean.starts_with("0x") && clean.parse::<f64>().is_ok_and(f64::is_infinite) {
        return Some(Value::String(text.into()));
    }
    if dialect == Dialect::Resource {
        return super::timestamp::completed(text).map(|text| Value::String(text.into()));
    }
    None
}

/// What a text means in a resource when it is written without quotes.
pub(super) fn plain(text: &str) -> Value {
    if let Some(value) = scalar(text, Dialect::Resource) {
        return value;
    }
    match text {
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        _ => Number::from_yaml(text).map_or_else(|| Value::String(text.into()), Value::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(text: &str, dialect: Dialect) -> Option<String> {
        match scalar(text, dialect)? {
            Value::Bool(value) => Some(value.to_string()),
            Value::Number(number) => Some(number.as_str().to_owned()),
            Value::String(text) => Some(format!("\"{text}\"")),
            _ => None,
        }
    }

    #[test]
    fn octal_and_grouped_numbers_are_numbers_in_both() {
        for dialect in [Dialect::Resource, Dialect::Yaml11] {
            assert_eq!(means("0644", dialect).as_deref(), Some("420"));
            assert_eq!(means("-0o10", dialect).as_deref(), Some("-8"));
            assert_eq!(means("0x1F", dialect).as_deref(), Some("31"));
            assert_eq!(means("1_000", dialect).as_deref(), Some("1000"));
            assert_eq!(means("089", dialect), None);
            assert_eq!(means("12", dialect), None);
        }
    }

    #[test]
    fn words_are_booleans_only_in_yaml_1_1_and_dates_are_completed_only_in_resources() {
        assert_eq!(means("yes", Dialect::Yaml11).as_deref(), Some("true"));
        assert_eq!(means("yes", Dialect::Resource), None);
        assert_eq!(means("2020-01-02", Dialect::Resource).as_deref(), Some("\"2020-01-02T00:00:00Z\""));
        assert_eq!(means("2020-01-02", Dialect::Yaml11), None);
    }
}
