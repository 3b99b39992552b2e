//! Resources as they are in effect, as documents that other programs read.

use crate::document::write::{to_json, to_yaml};
use crate::sanitize;
use crate::side::{RenderedResource, RenderedStage};
use crate::text::Span;
use crate::value::{Entry, Node, Value};

/// As YAML documents, each with comments that name it, separated by `---`.
pub fn yaml(rendered: &RenderedResource) -> String {
    let documents = rendered.views.iter().map(|view| {
        let mut text = format!("# {}", sanitize::inline(&rendered.name));
        let file = rendered.file.to_string();
        if file != rendered.name {
            text.push_str(&format!("  {}", sanitize::inline(&file)));
        }
        let stage = view.stage.as_deref().map(|stage| format!("\n# {}", sanitize::inline(stage)));
        text.push_str(&stage.unwrap_or_default());
        let remark = rendered.remark.as_deref().map(|remark| format!("\n# {}", sanitize::inline(remark)));
        text.push_str(&remark.unwrap_or_default());
        text.push('\n');
        text.push_str(&view.payload.as_ref().map(to_yaml).unwrap_or_default());
        text
    });
    documents.collect::<Vec<_>>().join(SEPARATOR)
}

/// The separator of YAML documents.
pub const SEPARATOR: &str = "---\n";

/// As an object for each resource: its name, its file, and its payload or its steps.
pub fn json(rendered: &RenderedResource, nowhere: Span) -> String {
    let text = |text: &str| Node::text(text, nowhere);
    let map = |entries: Vec<(&str, Node)>| {
        Node::map(entries.into_iter().map(|(name, value)| Entry::named(name, nowhere, value)).collect(), nowhere)
    };
    let payload = |view: &RenderedStage| view.payload.clone().unwrap_or_else(|| Node::new(Value::Null, nowhere));
    let mut entries = vec![("name", text(&rendered.name)), ("file", text(&rendered.file.to_string()))];
    entries.extend(rendered.remark.as_deref().map(|remark| ("remark", text(remark))));
    match &rendered.views[..] {
        [only] if only.stage.is_none() => entries.push(("payload", payload(only))),
        views => {
            let step = |view: &RenderedStage| {
                map(vec![("stage", text(view.stage.as_deref().unwrap_or_default())), ("payload", payload(view))])
            };
            entries.push(("steps", Node::list(views.iter().map(step).collect(), nowhere)));
        }
    }
    // Strings hold no line breaks in JSON, so that every line can be moved to the right.
    to_json(&map(entries)).lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
