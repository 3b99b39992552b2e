//! Finds secrets in what was printed: whole or in parts, encoded, in other letters, over several lines, with marks in between.

use std::collections::HashSet;

use super::placements::{NUMBERS, SECRETS, base64};

/// So many characters of a secret are too many.
const PART: usize = 8;

/// What is looked for.
pub(super) struct Search {
    parts: HashSet<[u8; PART]>,
}

impl Search {
    pub(super) fn new() -> Self {
        let mut parts = HashSet::new();
        for secret in SECRETS.iter().chain(&NUMBERS) {
            let hexadecimal: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
            let reversed: String = secret.chars().rev().collect();
            let mut forms = vec![(*secret).to_owned(), hexadecimal, reversed];
            // In front of it may be anything, so that it can begin at each of three places of a group.
            for lead in 0..3 {
                let encoded = base64(&[&vec![b'-'; lead][..], secret.as_bytes()].concat());
                let own = encoded.len().saturating_sub(4);
                forms.push(encoded[if lead == 0 { 0 } else { 4 }..own].to_owned());
            }
            for form in forms {
                parts.extend(windows(&plain(&form)));
            }
        }
        Self { parts }
    }

    /// A secret in a text, with what is around it.
    pub(super) fn find(&self, text: &str) -> Option<String> {
        let shown = plain(&without_marks(text));
        let mut found = shown.windows(PART).enumerate().filter(|(_, window)| self.parts.contains(*window));
        let (at, _) = found.next()?;
        let around = &shown[at.saturating_sub(30)..(at + 40).min(shown.len())];
        Some(String::from_utf8_lossy(around).into_owned())
    }
}

fn windows(text: &[u8]) -> impl Iterator<Item = [u8; PART]> + '_ {
    text.windows(PART).filter_map(|window| window.try_into().ok())
}

/// Letters and digits alone, in lower case.
fn plain(text: &str) -> Vec<u8> {
    text.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase()).collect()
}

/// Without colours and without HTML tags.
fn without_marks(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\u{1b}', '<']) {
        shown.push_str(&rest[..at]);
        let end = if rest[at..].starts_with('<') { '>' } else { 'm' };
        // What only looks like a mark is short, and stays.
        match rest[at + 1..].find(end).filter(|length| *length < 200 && !rest[at + 1..at + 1 + length].contains('\n')) {
            Some(length) => rest = &rest[at + length + 2..],
            None => rest = &rest[at + 1..],
        }
    }
    shown + rest
}

#[test]
fn every_disguise_of_a_secret_is_found() {
    let search = Search::new();
    let secret = SECRETS[0];
    for text in [
        format!("a {secret} b"),
        secret[3..11].to_owned(),
        base64(format!("x{secret}yz").as_bytes()),
        base64(format!("password={secret}").as_bytes()),
        secret.to_lowercase(),
        format!("{}\n+ {}", &secret[..5], &secret[5..]),
        format!("{}<b class=\"x\">{}</b>", &secret[..5], &secret[5..]),
        format!("{}\u{1b}[31m{}", &secret[..5], &secret[5..]),
        secret.chars().map(|c| format!("- {c}\n")).collect(),
    ] {
        assert!(search.find(&text).is_some(), "{text}");
    }
    for text in ["nothing", &secret[..7], "apiVersion: v1\nkind: Secret\n"] {
        assert_eq!(search.find(text), None);
    }
}
