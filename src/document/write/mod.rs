//! Writes values as YAML or JSON that people like to read and parsers read back as the same value.
//!
//! Nothing hidden gets through: characters that steer a terminal or reorder text are escaped, and a secret is written as `•••`.

mod inline;
mod json;
mod plain;
mod scalar;
mod yaml;

pub use inline::{inline_within, to_inline};
pub use json::{JsonWriter, KeyOrder, Layout, json, to_json};
pub use yaml::to_yaml;

/// What stands for a secret.
const MASK: &str = "•••";

/// Implicit keys end at 1024 characters; a longer key is announced by `? `. The margin is for what quoting adds.
const LONGEST_IMPLICIT_KEY: usize = 1000;

#[cfg(test)]
mod tests;
