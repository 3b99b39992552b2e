//! Resources as they are in effect, as documents that other programs read.

use smol_str::SmolStr;

use crate::document::write::{to_json, to_yaml};
use crate::path::RepoPath;
use crate::sanitize;
use crate::text::Span;
use crate::value::{Entry, Node, Value};

/// A resource, ready to be written.
#[derive(Debug)]
pub struct Rendered {
    /// What it is called.
    pub name: String,
    /// The file it is defined in.
    pub file: RepoPath,
    /// What it is, or what it was after each stage that changed it.
    pub views: Vec<View>,
    /// What a reader must know about it.
    pub remark: Option<SmolStr>,
}

/// A resource at one moment.
#[derive(Debug)]
pub struct View {
    /// What made it so; nothing if there is only one moment.
    pub stage: Option<String>,
    /// What it is; nothing once it was dropped.
    pub payload: Option<Node>,
}

/// As YAML documents, each with comments that name it, separated by `---`.
pub fn yaml(rendered: &Rendered) -> String {
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
pub fn json(rendered: &Rendered, nowhere: Span) -> String {
    let text = |text: &str| Node::text(text, nowhere);
    let map = |entries: Vec<(&str, Node)>| {
        Node::map(entries.into_iter().map(|(name, value)| Entry::named(name, nowhere, value)).collect(), nowhere)
    };
    let payload = |view: &View| view.payload.clone().unwrap_or_else(|| Node::new(Value::Null, nowhere));
    let mut entries = vec![("name", text(&rendered.name)), ("file", text(&rendered.file.to_string()))];
    entries.extend(rendered.remark.as_deref().map(|remark| ("remark", text(remark))));
    match &rendered.views[..] {
        [only] if only.stage.is_none() => entries.push(("payload", payload(only))),
        views => {
            let step = |view: &View| {
                map(vec![("stage", text(view.stage.as_deref().unwrap_or_default())), ("payload", payload(view))])
            };
            entries.push(("steps", Node::list(views.iter().map(step).collect(), nowhere)));
        }
    }
    // Strings hold no line breaks in JSON, so that every line can be moved to the right.
    to_json(&map(entries)).lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
