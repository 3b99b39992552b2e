//! Writes values as readable YAML or JSON that reads back as the same value.
//!
//! Characters that control a terminal or reorder text are escaped, and a secret is written as `•••`.

mod inline;
mod json;
mod plain;
mod scalar;
mod yaml;

pub use inline::{inline_within, to_inline};
pub use json::{JsonWriter, KeyOrder, Layout, json, to_json};
pub use yaml::to_yaml;

/// The longest implicit key. YAML allows 1024 characters, and needs `? ` before a longer key; the margin is for what quoting adds.
const LONGEST_IMPLICIT_KEY: usize = 1000;

#[cfg(test)]
mod tests;
