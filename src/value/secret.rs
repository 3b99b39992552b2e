//! Values that are compared but never shown.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, LazyLock};

use super::{Node, Number, Value, base64, text_of_base64};
use crate::text::Span;

/// A hidden value: it can be compared with another secret, and nothing else. No writer, no report and no `Debug` output can print
/// it. Expressions may compute with it; their results are secrets again.
#[derive(Clone)]
pub struct Secret {
    value: Arc<Node>,
    is_withheld: bool,
}

/// A fresh key per run, so that hashes that leave the process cannot be matched against guesses.
static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);

impl Secret {
    /// Hides a value.
    pub fn hide(value: Node) -> Self {
        Self { value: Arc::new(value), is_withheld: false }
    }

    /// Hides a value that may be secret: what would say so could not be read.
    pub fn withhold(value: Node) -> Self {
        Self { value: Arc::new(value), is_withheld: true }
    }

    /// What writers print in place of the value.
    pub fn mask(&self) -> &'static str {
        if self.is_withheld { "(withheld)" } else { "•••" }
    }

    /// Why the value is hidden, in one word.
    pub fn word(&self) -> &'static str {
        if self.is_withheld { "withheld" } else { "sensitive" }
    }

    /// Whether it is hidden only because nothing says whether it is secret.
    pub fn is_withheld(&self) -> bool {
        self.is_withheld
    }

    /// Calls a function with the place of every part of a hidden map or list.
    pub fn for_each_place(&self, visit: &mut dyn FnMut(Span, &Secret)) {
        for child in self.value.children() {
            let part = Self { value: Arc::new(child.node.clone()), is_withheld: self.is_withheld };
            visit(child.node.span, &part);
            part.for_each_place(visit);
        }
    }

    /// Another value of the same shape: no character of a text is the same.
    pub fn disguised(&self) -> Node {
        disguised(&self.value)
    }

    /// Whether a value is the hidden one, as it is or in base64.
    pub fn is_made_of(&self, value: &Node) -> bool {
        let (Some(hidden), Some(text)) = (scalar(&self.value), scalar(value)) else {
            return self.value.is_equal(value);
        };
        hidden.trim() == text.trim()
            || text_of_base64(hidden).is_some_and(|decoded| decoded.trim() == text.trim())
            || text_of_base64(text).is_some_and(|decoded| decoded.trim() == hidden.trim())
    }

    /// A hash that is different in every run.
    pub(super) fn hash(&self) -> u64 {
        let mut hasher = KEY.build_hasher();
        hasher.write_u64(self.value.hash());
        hasher.finish()
    }

    /// The hidden value: for expressions alone, which hide their results again. A test keeps other modules from using it.
    pub(crate) fn beneath(&self) -> &Node {
        &self.value
    }

    pub(super) fn is_same(&self, other: &Self, same_number: fn(&Number, &Number) -> bool) -> bool {
        self.value.is_same(&other.value, same_number)
    }

    /// Whether both hide the same value.
    pub fn is_equal(&self, other: &Self) -> bool {
        self.value.is_equal(&other.value)
    }
}

/// Shorter values occur in many texts by chance, and so do shorter values that base64 is decoded to.
const SHORTEST: usize = 4;
const SHORTEST_DECODED: usize = 6;
/// Words that say nothing about where they come from, although Secrets hold them, too: `enableOCI: "true"`.
const COMMON: [&str; 23] = [
    "admin",
    "default",
    "development",
    "disabled",
    "enabled",
    "false",
    "helm",
    "http",
    "https",
    "kubernetes",
    "latest",
    "localhost",
    "main",
    "master",
    "none",
    "null",
    "opaque",
    "password",
    "postgres",
    "production",
    "root",
    "staging",
    "true",
];

impl Secret {
    /// The texts by which copies of the value are known: as it is, decoded, and in base64. Values of less than four characters and
    /// common words are never found.
    pub fn forms(&self) -> Vec<String> {
        let Some(text) = scalar(&self.value).map(str::trim).filter(|text| text.chars().count() >= SHORTEST) else {
            return Vec::new();
        };
        let mut forms = vec![text.to_owned()];
        // A literal of a generator is a name and a value.
        let literal = text
            .split_once('=')
            .filter(|(name, _)| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)));
        let value = literal.map(|(_, value)| value.trim_matches(['"', '\'', ' ']));
        forms.extend(value.filter(|value| value.len() >= SHORTEST_ENCODED).map(ToOwned::to_owned));
        if text.chars().count() >= SHORTEST_ENCODED {
            let decoded = text_of_base64(text).map(|text| text.trim().to_owned());
            forms.extend(decoded.filter(|text| text.len() >= SHORTEST_DECODED));
            // What follows may change the last digits.
            let encoded = base64(text.as_bytes());
            forms.push(encoded[..text.len() / 3 * 4].to_owned());
        }
        forms.retain(|form| !COMMON.iter().any(|word| form.eq_ignore_ascii_case(word)));
        forms
    }

    /// The text with the hidden value replaced; `None` if it does not contain it.
    pub fn taken_out_of(&self, text: &str, instead: &str) -> Option<String> {
        let mut cleaned: Option<String> = None;
        for form in self.forms() {
            let shown = cleaned.as_deref().unwrap_or(text);
            if shown.contains(&form) {
                cleaned = Some(shown.replace(&form, instead));
            }
        }
        cleaned
    }
}

/// Shorter values are not looked for in base64.
const SHORTEST_ENCODED: usize = 8;

fn disguised(node: &Node) -> Node {
    let value = match &node.value {
        Value::String(text) => Value::String(text.chars().map(next).collect()),
        Value::Number(number) => {
            let other: String = number.as_str().chars().map(next).collect();
            Number::from_json(other.trim_start_matches('0')).map_or_else(|| node.value.clone(), Value::Number)
        }
        Value::Bool(value) => Value::Bool(!value),
        Value::Map(_) | Value::List(_) => {
            return node.map_children(|child| Some(disguised(child.node))).unwrap_or_else(|| node.clone());
        }
        Value::Null | Value::Secret(_) => node.value.clone(),
    };
    Node { value, ..node.clone() }
}

/// Another character of the same kind.
fn next(character: char) -> char {
    match character {
        'z' => 'a',
        'Z' => 'A',
        '9' => '1',
        'a'..='y' | 'A'..='Y' | '0'..='8' => char::from_u32(u32::from(character) + 1).unwrap_or('x'),
        c if c.is_whitespace() || c.is_ascii_punctuation() => c,
        _ => 'x',
    }
}

/// The text of a value that is no map or list.
fn scalar(node: &Node) -> Option<&str> {
    match &node.value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.as_str()),
        _ => None,
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(•)")
    }
}
