//! Values that are compared but never shown.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, LazyLock};

use super::{Node, Number, Value};

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

/// Shorter values occur in many texts by chance.
const SHORTEST: usize = 4;

impl Secret {
    /// Whether a text contains the hidden value. Values of less than four characters are never found.
    pub fn is_in(&self, text: &str) -> bool {
        self.text().is_some_and(|hidden| text.contains(hidden))
    }

    /// The text with the hidden value replaced; `None` if it does not contain it.
    pub fn taken_out_of(&self, text: &str, instead: &str) -> Option<String> {
        self.text().filter(|hidden| text.contains(hidden)).map(|hidden| text.replace(hidden, instead))
    }

    fn text(&self) -> Option<&str> {
        let text = match &self.value.value {
            Value::String(text) => text.trim(),
            Value::Number(number) => number.as_str(),
            _ => return None,
        };
        (text.chars().count() >= SHORTEST).then_some(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(•)")
    }
}
