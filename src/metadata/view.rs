//! Metadata as it is displayed: with the defaults, and with the repository's format rendered.

use std::fmt::Write as _;
use std::sync::Arc;

use super::decode::decode;
use super::effective::{EffectiveMetadata, Layer, LayerOrigin};
use super::field::{Operation, Section};
use super::statement::Statements;
use crate::document;
use crate::limits::Limits;
use crate::names::Format;
use crate::path::RepoPath;
use crate::text::{SourceText, Sources, Span};
use crate::value::{Node, Value};

/// The metadata of a path with its layers over the defaults and the repository's format rendered.
///
/// This is for display. Requests use the defaults only after `operationInfo.defaults`.
pub fn view(metadata: &EffectiveMetadata, format: Format, sources: &Sources) -> EffectiveMetadata {
    render_format(&over_defaults(metadata, sources), format)
}

/// The metadata with the defaults as its weakest layer.
pub fn over_defaults(metadata: &EffectiveMetadata, sources: &Sources) -> EffectiveMetadata {
    let is_attribute = metadata.default_identity() == Some(true);
    let defaults = Arc::new(engine_defaults(sources, is_attribute));
    let bottom = EffectiveMetadata::empty(defaults.span).under(&defaults);
    let merged = metadata.layers().iter().fold(bottom, |merged, layer| merged.under(layer));
    merged.with_default_identity(is_attribute)
}

/// The metadata with `{{resource_format .}}` rendered; every other template stays.
#[must_use]
pub fn render_format(metadata: &EffectiveMetadata, format: Format) -> EffectiveMetadata {
    let name = format.extension();
    metadata.map_values(|field_path, node| {
        let knows_format = field_path.field.row().is_some_and(|row| row.knows_format);
        if knows_format { rendered(node, name) } else { None }
    })
}

/// The weakest layer: the defaults of the field table, read like any other document.
fn engine_defaults(sources: &Sources, is_attribute: bool) -> Layer {
    let text = defaults_text(is_attribute);
    let path = RepoPath::new("engine defaults").expect("a plain name");
    let source = sources.add(SourceText::new(path, "outcrop", text.as_str()));
    let parsed = document::parse(&text, source, Format::Yaml, &Limits::default());
    let root = parsed.value.first().expect("the defaults are written by us").root.clone();
    let span = Span::new(source, 0, text.len());
    // The defaults belong to every form.
    let statements = Statements { form: None, ..decode(&root) };
    Layer { origin: LayerOrigin::Defaults, statements, span, number: 0 }
}

fn defaults_text(is_attribute: bool) -> String {
    let mut text = String::new();
    if is_attribute {
        text.push_str("resourceInfo:\n  idFromAttribute: id\n  aliasFromAttribute: id\n");
    }
    text.push_str("operationInfo:\n");
    for operation in Operation::ALL {
        let section = Section::Operation(operation);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {}:", operation.wire());
        for row in section.rows() {
            let Some(value) = (row.default)(operation).to_yaml() else { continue };
            let _ = match row.place(section).split_once('.') {
                None => writeln!(text, "    {}: {value}", row.place(section)),
                Some((container, name)) => writeln!(text, "    {container}:\n      {name}: {value}"),
            };
        }
    }
    text
}

/// The node with the format in place of its token, or nothing if it has none.
fn rendered(node: &Node, format: &str) -> Option<Node> {
    match &node.value {
        Value::String(text) => {
            let text = with_format(text, format)?;
            Some(Node { value: Value::String(text.into()), ..node.clone() })
        }
        _ => node.map_children(|child| rendered(child.node, format)),
    }
}

/// The text with the format in place of each `{{resource_format .}}`, or nothing if there is none.
fn with_format(text: &str, format: &str) -> Option<String> {
    let mut shown = String::new();
    let mut rest = text;
    let mut has_token = false;
    while let Some(at) = rest.find("{{") {
        let (before, from) = rest.split_at(at);
        shown.push_str(before);
        match token_length(from) {
            Some(length) => {
                shown.push_str(format);
                rest = &from[length..];
                has_token = true;
            }
            None => {
                shown.push('{');
                rest = &from[1..];
            }
        }
    }
    shown.push_str(rest);
    has_token.then_some(shown)
}

/// The length of the token at the start of a text; blanks inside the braces are free.
fn token_length(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("{{")?.trim_start().strip_prefix("resource_format")?;
    let dot = inside.trim_start();
    let end = dot.strip_prefix('.').filter(|_| dot.len() < inside.len())?.trim_start().strip_prefix("}}")?;
    Some(text.len() - end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_a_document_without_fault() {
        let defaults = engine_defaults(&Sources::default(), true);
        assert!(defaults.statements.findings.is_empty(), "{:?}", defaults.statements.findings);
        let node = defaults.to_node();
        let get = |operation: &str, field: &str| node.get("operationInfo")?.get(operation)?.get(field).cloned();
        assert_eq!(
            get("createResource", "path").and_then(|node| node.as_str().map(str::to_owned)).as_deref(),
            Some(".")
        );
        assert!(
            get("compareResources", "suppressAttributes")
                .is_some_and(|node| node.as_list().is_some_and(<[Node]>::is_empty))
        );
    }

    #[test]
    fn only_the_token_itself_is_replaced() {
        let shown = |text| with_format(text, "yaml");
        assert_eq!(shown("a/{{resource_format .}}").as_deref(), Some("a/yaml"));
        assert_eq!(shown("{{  resource_format\t. }}{{.id}}{{resource_format .}}").as_deref(), Some("yaml{{.id}}yaml"));
        assert_eq!(shown("{{{resource_format .}}}").as_deref(), Some("{yaml}"));
        for other in [
            "",
            "{{.id}}",
            "{{resource_format}}",
            "{{resource_format.}}",
            "{{resource_format \"x\"}}",
            "{{resource_formats .}}",
        ] {
            assert_eq!(shown(other), None, "{other}");
        }
    }
}
