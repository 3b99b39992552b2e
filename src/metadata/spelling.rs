//! Equal spellings of attributes and placeholders, and the one in which they are shown.

use std::borrow::Cow;

use smol_str::SmolStr;

use super::field::Field;
use crate::path::Pointer;
use crate::template_words::is_reserved;
use crate::value::{Entry, Node, Value, list_index};

/// Whether a name can follow a dot in a template.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a token can be part of a dotted path.
fn is_plain(token: &str) -> bool {
    !token.is_empty()
        && list_index(token).is_none()
        && token.trim() == token
        && !token.contains(['.', '/', '~', '{', '}', '"', '\'', ' ', '*'])
}

/// The tokens of an action that is nothing but a pointer, a name or a dot path; without its braces.
pub(super) fn action_tokens(action: &str) -> Option<Vec<SmolStr>> {
    let action = action.trim();
    if action.starts_with('/') {
        let is_one_word = !action.contains(char::is_whitespace);
        return Pointer::parse(action).ok().filter(|_| is_one_word).map(|pointer| pointer.tokens().to_vec());
    }
    if let Some(path) = action.strip_prefix('.') {
        let tokens: Vec<SmolStr> = path.split('.').map(SmolStr::new).collect();
        return tokens.iter().all(|token| is_identifier(token)).then_some(tokens);
    }
    (is_identifier(action) && !is_reserved(action)).then(|| vec![action.into()])
}

/// A template with each action that is only a pointer, a name or a dot path spelled in one way: `{{.a.b}}`, or the pointer if a token
/// is no name.
pub(super) fn placeholders(text: &str) -> Cow<'_, str> {
    if !text.contains("{{") {
        return Cow::Borrowed(text);
    }
    let spelled = respelled(text, placeholder);
    if spelled == text { Cow::Borrowed(text) } else { Cow::Owned(spelled) }
}

fn placeholder(tokens: &[SmolStr]) -> String {
    if !tokens.is_empty() && tokens.iter().all(|token| is_identifier(token)) {
        return format!("{{{{.{}}}}}", tokens.join("."));
    }
    format!("{{{{{}}}}}", pointer(tokens))
}

/// A template as documents of the new form are written: `{{/a/b}}`.
pub(super) fn native_placeholders(text: &str) -> String {
    respelled(text, |tokens| format!("{{{{{}}}}}", pointer(tokens)))
}

/// A template whose actions that are only a pointer, a name or a dot path are written anew; everything else stays.
fn respelled(text: &str, written: impl Fn(&[SmolStr]) -> String) -> String {
    let mut spelled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find("{{") {
        let Some(length) = rest[open + 2..].find("}}") else { break };
        let (inner, end) = (&rest[open + 2..open + 2 + length], open + length + 4);
        spelled.push_str(&rest[..open]);
        match action_tokens(inner) {
            Some(tokens) => spelled.push_str(&written(&tokens)),
            None => spelled.push_str(&rest[open..end]),
        }
        rest = &rest[end..];
    }
    spelled.push_str(rest);
    spelled
}

fn pointer(tokens: &[SmolStr]) -> Pointer {
    tokens.iter().cloned().collect()
}

/// The attribute or template of an identity, spelled in one way: dotted, a pointer, or a template.
pub(super) fn identity(text: &str, is_template: bool) -> String {
    let trimmed = text.trim();
    if let Some(tokens) = lone_attribute(trimmed, is_template) {
        return attribute(&tokens);
    }
    if trimmed.contains("{{") {
        return native_placeholders(text);
    }
    // A text without braces is a constant in the new form, and an attribute in the old one.
    if is_template {
        format!("{{{{\"{}\"}}}}", text.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        text.to_owned()
    }
}

/// The tokens of an attribute: dotted if each is a plain name, otherwise a pointer.
pub(super) fn attribute(tokens: &[SmolStr]) -> String {
    match !tokens.is_empty() && tokens.iter().all(|token| is_plain(token)) {
        true => tokens.join("."),
        false => pointer(tokens).to_string(),
    }
}

/// The tokens of an identity that is one attribute and nothing else.
fn lone_attribute(text: &str, is_template: bool) -> Option<Vec<SmolStr>> {
    if let Some(inner) = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")) {
        return action_tokens(inner).filter(|_| !inner.contains("{{"));
    }
    if text.starts_with('/') && !text.contains("{{") {
        return Pointer::parse(text).ok().map(|pointer| pointer.tokens().to_vec());
    }
    if is_template || text.contains("{{") {
        return None;
    }
    let tokens: Vec<SmolStr> = text.split('.').map(|token| SmolStr::new(token.trim())).collect();
    tokens.iter().all(|token| !token.is_empty()).then_some(tokens)
}

/// A value in the spelling in which it is compared: attributes by one name, defaults of entries left out.
pub fn comparable(field: Field, node: &Node) -> Node {
    match field {
        Field::SecretInAttributes => each_text(node, &|text| {
            let pointer = Pointer::parse(text.trim()).ok().filter(|pointer| pointer.tokens().len() > 1);
            pointer.map_or_else(|| text.to_owned(), |pointer| attribute(pointer.tokens()))
        }),
        Field::Filter | Field::Suppress | Field::ResourceRequired | Field::RequiredAttributes => {
            each_text(node, &|text| match text.trim().strip_prefix('/') {
                Some(name) if !name.is_empty() && !name.contains(['/', '~']) => name.to_owned(),
                _ => text.to_owned(),
            })
        }
        Field::Transforms => each_step(node),
        Field::Externalized => each_sidecar(node),
        _ => node.clone(),
    }
}

fn each_text(node: &Node, spelled: &dyn Fn(&str) -> String) -> Node {
    let Some(items) = node.as_list() else { return node.clone() };
    let items = items.iter().map(|item| match item.as_str() {
        Some(text) => Node { value: Value::String(spelled(text).into()), ..item.clone() },
        None => item.clone(),
    });
    Node { extra: node.extra.clone(), ..Node::list(items.collect(), node.span) }
}

fn each_step(node: &Node) -> Node {
    let Some(items) = node.as_list() else { return node.clone() };
    let items = items.iter().map(|item| {
        let entries = item.as_map().map(|map| map.entries()).unwrap_or_default().iter();
        let entries = entries.map(|entry| {
            let value = comparable(step_field(&entry.key.name).unwrap_or(Field::Jq), &entry.value);
            Entry { key: entry.key.clone(), value }
        });
        Node { extra: item.extra.clone(), ..Node::map(entries.collect(), item.span) }
    });
    Node { extra: node.extra.clone(), ..Node::list(items.collect(), node.span) }
}

/// The kind of a step, by its name in canonical documents.
pub(super) fn step_field(name: &str) -> Option<Field> {
    match name {
        "filterAttributes" => Some(Field::Filter),
        "suppressAttributes" => Some(Field::Suppress),
        "jqExpression" => Some(Field::Jq),
        _ => None,
    }
}

/// What an entry of `externalizedAttributes` says where it says nothing.
pub(super) const SIDECAR_DEFAULTS: [(&str, &str); 4] =
    [("template", "{{include %s}}"), ("mode", "text"), ("saveBehavior", "externalize"), ("renderBehavior", "include")];

fn each_sidecar(node: &Node) -> Node {
    let Some(items) = node.as_list() else { return node.clone() };
    let is_default = |entry: &Entry| match &entry.value.value {
        Value::Bool(value) => entry.key.name == "enabled" && *value,
        Value::String(text) => SIDECAR_DEFAULTS.contains(&(entry.key.name.as_str(), text.trim())),
        value => matches!(value, Value::Null),
    };
    let items = items.iter().map(|item| {
        let entries = item.as_map().map(|map| map.entries()).unwrap_or_default().iter();
        let entries = entries.filter(|entry| !is_default(entry)).cloned().collect();
        Node { extra: item.extra.clone(), ..Node::map(entries, item.span) }
    });
    Node { extra: node.extra.clone(), ..Node::list(items.collect(), node.span) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_have_one_spelling() {
        for (written, spelled) in [
            ("/x/{{/id}}/{{ id }}-{{.id}}", "/x/{{.id}}/{{.id}}-{{.id}}"),
            ("{{/a/b}}{{ /a~1b/0 }}", "{{.a.b}}{{/a~1b/0}}"),
            ("{{/client-id}}", "{{/client-id}}"),
            ("{{end}}{{payload_type .}}{{../id}}", "{{end}}{{payload_type .}}{{../id}}"),
            ("{{if eq .a \"b\"}}{{/end}}", "{{if eq .a \"b\"}}{{.end}}"),
            ("{{.id", "{{.id"),
        ] {
            assert_eq!(placeholders(written), spelled, "{written}");
        }
        assert_eq!(native_placeholders("/x/{{.a.b}}/{{.id}}"), "/x/{{/a/b}}/{{/id}}");
    }

    #[test]
    fn identities_have_one_spelling() {
        for (written, spelled) in [
            ("{{/spec/id}}", "spec.id"),
            ("/spec/id", "spec.id"),
            ("{{id}}", "id"),
            ("{{.id}}", "id"),
            ("{{/a~1b/0}}", "/a~1b/0"),
            ("{{/name}} - {{.version}}", "{{/name}} - {{/version}}"),
            ("fixed", "{{\"fixed\"}}"),
        ] {
            assert_eq!(identity(written, true), spelled, "{written}");
        }
        assert_eq!(identity("spec.id", false), "spec.id");
        assert_eq!(identity("/ids/0", false), "/ids/0");
    }
}
