//! Values as compact JSON: for `tojson`, for texts with `\(…)`, and cut short for messages.

use super::budget::{spend, spend_bytes};
use super::operators::hidden;
use super::value::{Kind, Val};
use crate::value::Value;

/// What messages show of a value.
const SHORT: usize = 80;

/// The value as JSON text; with a secret in it, the text is a secret itself.
pub(super) fn to_json(value: &Val) -> Val {
    let mut writer = Writer { out: String::new(), secrets: Vec::new(), most: usize::MAX };
    writer.value(value);
    match writer.secrets.is_empty() {
        true => Val::text(writer.out),
        false => {
            writer.secrets.insert(0, Val::text(writer.out));
            hidden(writer.secrets)
        }
    }
}

/// The beginning of the value as JSON.
pub(super) fn short(value: &Val) -> String {
    let mut writer = Writer { out: String::new(), secrets: Vec::new(), most: SHORT };
    writer.value(value);
    let mut text = writer.out;
    if text.len() > SHORT {
        let cut = (0..=SHORT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(cut);
        text.push('…');
    }
    text
}

struct Writer {
    out: String,
    secrets: Vec<Val>,
    most: usize,
}

impl Writer {
    fn value(&mut self, value: &Val) {
        if self.out.len() > self.most {
            return;
        }
        spend(1);
        match value.kind() {
            Kind::Null => self.out.push_str("null"),
            Kind::Bool => self.out.push_str(if value.as_bool_value() == Some(true) { "true" } else { "false" }),
            Kind::Number => self.number(value),
            Kind::Text => match value.as_secret() {
                Some(_) => {
                    self.secrets.push(value.clone());
                    self.out.push_str("•••");
                }
                None => self.text(value.as_text().unwrap_or_default()),
            },
            Kind::List => {
                self.out.push('[');
                for at in 0..value.len() {
                    self.comma(at);
                    if let Some(item) = value.item(at).filter(|_| self.out.len() <= self.most) {
                        self.value(&item);
                    }
                }
                self.out.push(']');
            }
            Kind::Map => {
                self.out.push('{');
                for (at, name) in value.names().into_iter().enumerate() {
                    if self.out.len() > self.most {
                        break;
                    }
                    self.comma(at);
                    self.text(&name);
                    self.out.push(':');
                    self.value(&value.member(&name).unwrap_or_else(Val::null));
                }
                self.out.push('}');
            }
        }
    }

    fn comma(&mut self, at: usize) {
        if at > 0 && self.out.len() <= self.most {
            self.out.push(',');
        }
    }

    /// What JSON cannot say is null, as in jq.
    fn number(&mut self, value: &Val) {
        let Val::Node(node) = value else { return };
        let Value::Number(number) = &node.value else { return };
        let json = number.to_json();
        let text = json.as_deref().unwrap_or("null");
        spend_bytes(text.len());
        self.out.push_str(text);
    }

    fn text(&mut self, text: &str) {
        spend_bytes(text.len().min(self.most) * 2);
        self.out.push('"');
        for c in text.chars() {
            if self.out.len() > self.most {
                break;
            }
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                c if c < ' ' || c == '\u{7f}' => self.out.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }
}
