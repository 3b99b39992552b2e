//! What tests need beyond git and Rust: absence is reported, and is a failure where `OUTCROP_REQUIRE` names it.
//!
//! The variable is a list with commas: `vectors`, `corpora`, `schema-suite`, `root`, and the names of tools such as `pre-commit`.

use std::io::Write as _;

/// Reports that something is absent; fails if it is required.
#[track_caller]
pub(crate) fn absent(name: &str, explanation: &str) {
    let required = std::env::var("OUTCROP_REQUIRE").unwrap_or_default();
    assert!(!names(&required, name), "OUTCROP_REQUIRE names {name}, but {explanation}");
    report(&format!("skipped, {name}: {explanation}"));
}

/// Prints a line past the test harness, which would swallow it.
pub(crate) fn report(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
}

fn names(list: &str, name: &str) -> bool {
    list.split(',').any(|required| required.trim() == name)
}

#[test]
fn a_list_names_whole_words() {
    assert!(names("vectors, corpora", "corpora") && names("corpora", "corpora"));
    assert!(!names("", "corpora") && !names("corpora-of-others", "corpora"));
}
