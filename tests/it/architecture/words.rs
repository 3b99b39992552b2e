//! Keeps words out of comments, messages and documents that readers stumble over; a plain word exists for each of them.

use std::fs;
use std::path::PathBuf;

use super::rust::{Prose, collect, project, prose};

/// Phrases that are not used, with what to write instead.
const WORST: &[(&str, &str)] = &[
    ("told", "reported, passed, given"),
    ("untold", "left out"),
    ("tells", "reports, says"),
    ("whoever", "the caller, any file that"),
    ("nobody", "nothing, no resource, no code"),
    ("everybody", "every resource"),
    ("whom", "which"),
    ("speak for", "apply to"),
    ("speaks for", "applies to"),
    ("spoke for", "applied to"),
    ("stands", "is, is defined at, is written"),
    ("stood", "was"),
    ("shield", "override"),
    ("shields", "overrides"),
    ("shielded", "overridden"),
    ("held to", "checked against"),
    ("looks on", "reads"),
    ("slip of the pen", "typo"),
    ("goes without saying", "is implied"),
    ("the way it came", "provenance"),
    ("way of a value", "provenance"),
    ("cut to fit", "truncated"),
];

#[test]
fn comments_messages_and_documents_use_plain_words() {
    let mut wrong = Vec::new();
    for (place, text, is_doc) in passages() {
        let here = worst(&text, is_doc);
        let lines = here.iter().map(|(word, plain)| format!("{place}: `{word}` (better: {plain}): {}", text.trim()));
        wrong.extend(lines);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Place, text and whether it is the first line of a doc comment.
fn passages() -> Vec<(String, String, bool)> {
    let mut found = Vec::new();
    for root in ["src", "tests", "benches"] {
        let mut files = Vec::new();
        collect(&project().join(root), &mut files);
        // This file must name the words.
        files.retain(|(path, _)| !path.ends_with("architecture/words.rs"));
        for (path, text) in files {
            let mut last_doc = 0;
            for passage in prose(&text) {
                let opens_doc = passage.kind == Prose::Doc && passage.line != last_doc + 1;
                last_doc = if passage.kind == Prose::Doc { passage.line } else { last_doc };
                let place = format!("{root}/{}:{}", path.display(), passage.line);
                found.push((place, passage.text, opens_doc));
            }
        }
    }
    for file in documents() {
        let path = file.strip_prefix(project()).unwrap().display().to_string();
        let text = fs::read_to_string(&file).unwrap();
        let lines = text.lines().enumerate();
        found.extend(lines.map(|(at, line)| (format!("{path}:{}", at + 1), line.to_owned(), false)));
    }
    found
}

fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["", "docs", "tests/cmd"] {
        let entries = fs::read_dir(project().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        found.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    found.sort();
    found
}

/// The phrases that a text uses, as whole words.
fn worst(text: &str, opens_doc: bool) -> Vec<(&'static str, &'static str)> {
    let lower = text.to_lowercase();
    let has = |phrase: &str| {
        lower.match_indices(phrase).any(|(at, _)| {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            !lower[..at].ends_with(is_part) && !lower[at + phrase.len()..].starts_with(is_part)
        })
    };
    let mut found: Vec<_> = WORST.iter().filter(|(phrase, _)| has(phrase)).copied().collect();
    let is_same = lower.trim_start_matches(['/', '!', ' ']).starts_with("the same");
    if opens_doc && is_same {
        found.push(("The same", "say again what the item is"));
    }
    found
}

#[test]
fn whole_words_are_found() {
    let found = |text| worst(text, true).into_iter().map(|(word, _)| word).collect::<Vec<_>>();
    assert_eq!(found("/// The same for whoever\u{2019}s told."), ["told", "whoever", "The same"]);
    assert!(found("/// untellable, understands, told_you").is_empty());
}
