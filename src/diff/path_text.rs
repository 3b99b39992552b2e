//! Paths in a document in readable form: `.spec.containers[web].image`, `.data["app.json"] › .level`.

use std::fmt::Write as _;

use super::PathStep;
use crate::sanitize;
use crate::value::{Key, KeyKind, Number};

/// The steps of a path, each as text at which a line may be broken.
pub fn steps(path: &[PathStep], embedded: &str) -> Vec<String> {
    let mut steps = Vec::with_capacity(path.len());
    let mut lead = String::new();
    for step in path {
        match step {
            PathStep::Key(key) => steps.push(std::mem::take(&mut lead) + &of_key(key)),
            PathStep::Item { before, after, label } => {
                steps.push(std::mem::take(&mut lead) + &of_item(label.as_deref(), after.or(*before)));
            }
            PathStep::Embedded(_) => lead = format!(" {} ", embedded),
            PathStep::Metadata => lead = format!("metadata {} ", embedded),
            PathStep::Expression(value) => lead = format!("expression ({}) {embedded} ", value.words()),
            PathStep::Request(operation) => lead = format!("{operation} request {} ", embedded),
        }
    }
    // The root, or the whole document inside a string.
    if steps.is_empty() || !lead.is_empty() {
        steps.push(lead + ".");
    }
    steps
}

/// The sign between a string and the document it holds.
pub const EMBEDDED: &str = "›";

/// The whole path on one line.
pub fn display(path: &[PathStep], embedded: &str) -> String {
    steps(path, embedded).concat()
}

/// `.name` where the name is a plain word, `["a/b"]` where it is not. A key that is not text is written bare: `.8080`.
fn of_key(key: &Key) -> String {
    let is_plain = match key.kind {
        KeyKind::Text => is_word(&key.name) && !reads_as_other_type(&key.name),
        KeyKind::Scalar | KeyKind::Collection => true,
    };
    if is_plain { format!(".{}", sanitize::inline(&key.name)) } else { format!("[{}]", quoted(&key.name)) }
}

/// `[web]` for an item called so by its `name`, `[id=7]` for one named by something else, `[3]` for one without a name, `[*]` for
/// any such.
fn of_item(label: Option<&str>, index: Option<usize>) -> String {
    let Some(label) = label else {
        return index.map_or_else(|| "[*]".to_owned(), |index| format!("[{index}]"));
    };
    match label.split_once('=') {
        Some(("name", name)) if is_word(name) && Number::from_yaml(name).is_none() => format!("[{name}]"),
        Some((key, value)) if !is_label(value) => format!("[{}={}]", sanitize::inline(key), quoted(value)),
        _ => format!("[{}]", sanitize::inline(label)),
    }
}

/// Text between double quotes, with quotes and backslashes in it escaped.
pub fn quoted(text: &str) -> String {
    let mut shown = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => shown.extend(['\\', c]),
            c => {
                let _ = write!(shown, "{}", sanitize::inline(c.encode_utf8(&mut [0; 4])));
            }
        }
    }
    shown.push('"');
    shown
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'))
}

/// Labels may hold several members, `containerPort=80,protocol=TCP`, and most of what images and ports are made of.
fn is_label(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-$./:=,@+*".contains(c))
}

/// Whether a text key must be quoted so that it is not taken for a number, a boolean or null.
fn reads_as_other_type(name: &str) -> bool {
    matches!(name, "true" | "false" | "null") || Number::from_yaml(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Format;
    use crate::path::RepoPath;
    use crate::text::{SourceText, Sources, Span};

    fn key(name: &str) -> PathStep {
        let source = Sources::default().add(SourceText::new(RepoPath::root(), "test", ""));
        PathStep::Key(
            crate::value::Entry::named(
                name,
                Span::new(source, 0, 0),
                crate::value::Node::text("", Span::new(source, 0, 0)),
            )
            .key,
        )
    }

    fn item(label: Option<&str>, index: usize) -> PathStep {
        PathStep::Item { before: Some(index), after: Some(index), label: label.map(Into::into) }
    }

    fn inside(format: Format) -> PathStep {
        PathStep::Embedded(format)
    }

    fn shown(path: &[PathStep]) -> String {
        display(path, EMBEDDED)
    }

    #[test]
    fn paths_read_like_the_document() {
        let image = [key("spec"), key("containers"), item(Some("name=web"), 0), key("image")];
        assert_eq!(shown(&image), ".spec.containers[web].image");
        assert_eq!(
            shown(&[key("data"), key("app.json"), inside(Format::Json), key("level")]),
            ".data[\"app.json\"] › .level"
        );
        assert_eq!(shown(&[key("data"), key("app.json"), inside(Format::Json)]), ".data[\"app.json\"] › .");
        assert_eq!(shown(&[]), ".");
        assert_eq!(shown(&[key("args"), item(None, 3)]), ".args[3]");
        assert_eq!(
            shown(&[key("ports"), item(Some("containerPort=80,protocol=TCP"), 0)]),
            ".ports[containerPort=80,protocol=TCP]"
        );
    }

    #[test]
    fn odd_names_are_quoted() {
        assert_eq!(shown(&[key("a/b"), key("it's \"x\"\n")]), r#"["a/b"]["it's \"x\"\n"]"#);
        assert_eq!(shown(&[key("8080")]), "[\"8080\"]");
        assert_eq!(shown(&[key("")]), "[\"\"]");
        assert_eq!(shown(&[item(Some("name=3"), 0)]), "[name=3]");
        assert_eq!(shown(&[item(Some("name=a]b"), 0)]), "[name=\"a]b\"]");
    }
}
