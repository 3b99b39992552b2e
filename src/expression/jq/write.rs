//! Values as compact JSON: for `tojson`, for texts with `\(…)`, and truncated for messages.

use super::budget::{spend, spend_bytes};
use super::operators::hidden;
use super::value::{Kind, Val};
use crate::document::write::{JsonWriter, Layout};

/// The number of bytes that messages show of a value.
const SHORT: usize = 80;

/// The value as JSON text; with a secret in it, the text is a secret itself.
pub(super) fn to_json(value: &Val) -> Val {
    let mut secrets = Vec::new();
    let text = Val::text(write(value, usize::MAX, &mut secrets));
    if secrets.is_empty() {
        return text;
    }
    secrets.insert(0, text);
    hidden(secrets)
}

/// The beginning of the value as JSON.
pub(super) fn short(value: &Val) -> String {
    let mut text = write(value, SHORT, &mut Vec::new());
    if text.len() > SHORT {
        text.truncate((0..=SHORT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0));
        text.push('…');
    }
    text
}

/// Writes about `most_bytes` of a value and collects the secrets in it.
fn write(value: &Val, most_bytes: usize, secrets: &mut Vec<Val>) -> String {
    // The characters that jq escapes.
    let mut writer = JsonWriter::new(Layout::Compact).escaping(|c| c.is_ascii_control()).within(most_bytes);
    write_value(&mut writer, value, most_bytes, secrets);
    writer.into_text()
}

fn write_value(writer: &mut JsonWriter, value: &Val, most_bytes: usize, secrets: &mut Vec<Val>) {
    let spend_text = |text: &str| spend_bytes(text.len().min(most_bytes) * 2);
    spend(1);
    match value.kind() {
        Kind::Null => writer.literal("null"),
        Kind::Bool => writer.literal(if value.as_bool_value() == Some(true) { "true" } else { "false" }),
        Kind::Number => {
            // What JSON cannot express is null, as in jq.
            let json = value.as_number().and_then(|number| number.to_json());
            let text = json.as_deref().unwrap_or("null");
            spend_bytes(text.len());
            writer.literal(text);
        }
        Kind::Text if value.as_secret().is_some() => {
            secrets.push(value.clone());
            writer.literal("•••");
        }
        Kind::Text => {
            let text = value.as_text().unwrap_or_default();
            spend_text(text);
            writer.text(text);
        }
        Kind::List => {
            let items = (0..value.len()).filter_map(|at| value.item(at));
            writer.list(items, |writer, item| write_value(writer, &item, most_bytes, secrets));
        }
        Kind::Map => {
            let members = value.names().into_iter().map(|name| {
                spend_text(&name);
                let member = value.member(&name).unwrap_or_else(Val::null);
                (name, member)
            });
            writer.map(members, |writer, member| write_value(writer, &member, most_bytes, secrets));
        }
    }
}
