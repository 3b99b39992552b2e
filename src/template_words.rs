//! The words of templates that never mean a field: keywords, constants and functions.

/// The words that begin an action.
pub const KEYWORDS: [&str; 10] =
    ["if", "else", "end", "with", "range", "define", "template", "block", "break", "continue"];

const CONSTANTS: [&str; 4] = ["false", "nil", "null", "true"];

/// Every function of templates; `and` and `or` evaluate no more arguments than they need.
pub const FUNCTIONS: [&str; 19] = [
    "and",
    "eq",
    "ge",
    "gt",
    "index",
    "le",
    "len",
    "lt",
    "ne",
    "not",
    "or",
    "payload_extension",
    "payload_media_type",
    "payload_type",
    "print",
    "printf",
    "println",
    "resource_format",
    "urlquery",
];

/// Functions that templates of other programs may call.
const FOREIGN: [&str; 7] = ["call", "html", "include", "js", "json_pointer", "secret", "slice"];

/// Whether a word alone in an action is no field of that name.
pub fn is_reserved(word: &str) -> bool {
    [&KEYWORDS[..], &CONSTANTS, &FUNCTIONS, &FOREIGN].iter().any(|words| words.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_listed_once() {
        let all: Vec<&str> = [&KEYWORDS[..], &CONSTANTS, &FUNCTIONS, &FOREIGN].concat();
        let once: std::collections::BTreeSet<&str> = all.iter().copied().collect();
        assert_eq!(all.len(), once.len());
        assert!(is_reserved("end") && is_reserved("payload_type") && is_reserved("include") && !is_reserved("id"));
    }
}
