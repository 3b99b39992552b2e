//! What findings say about texts that may hold secrets: they quote nothing that the redacted text does not show.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use super::redact::{redact_request_values, redact_values};
use crate::finding::{Finding, KUSTOMIZE_UNRESOLVED, RULES};
use crate::text::{Redaction, SourceId, Sources};

/// Replaces what must not be quoted.
const MASK: &str = "•••";
/// Shorter words say too little.
const SHORTEST: usize = 4;

/// Texts with what of them may be quoted.
#[derive(Default)]
pub(super) struct Quotes(BTreeMap<SourceId, Option<(Arc<str>, String)>>);

impl Quotes {
    /// The finding without words that are hidden in the texts it points into.
    pub(super) fn clean(&mut self, mut finding: Finding, sources: &Sources) -> Finding {
        let texts: Vec<SourceId> = finding.spans().map(|span| span.source).collect();
        let name = finding.resource.clone().unwrap_or_default();
        let rule = finding.rule.id;
        // What is not there is called by its kind and name, and names are in the open.
        let is_named = rule == KUSTOMIZE_UNRESOLVED.id;
        let is_known =
            |word: &str| is_named || is_of_a_message(word) || name.split_whitespace().any(|part| part == word);
        let may_be_path = rule.starts_with(OF_FILES);
        for text in texts {
            let Some((text, shown)) = self.text(text, sources) else { continue };
            let clean = |words: &mut String| {
                if let Some(cleaned) = without_hidden(words, text, shown, &is_known, may_be_path) {
                    *words = cleaned;
                }
            };
            clean(&mut finding.message);
            clean(&mut finding.label);
            finding.help.iter_mut().for_each(clean);
            finding.related.iter_mut().for_each(|label| clean(&mut label.text));
        }
        finding
    }

    /// A text that is redacted, and what is left of it.
    fn text(&mut self, id: SourceId, sources: &Sources) -> Option<&(Arc<str>, String)> {
        let known = self.0.entry(id).or_insert_with(|| {
            let text = sources.get(id);
            let shown = match text.redaction {
                Redaction::Nothing => return None,
                Redaction::RequestValues => redact_request_values(&text.text),
                Redaction::Values => redact_values(&text.text),
            };
            Some((Arc::clone(&text.text), shown))
        });
        known.as_ref()
    }
}

/// The words of the texts about rules. A message is written with them, whatever else a file holds.
static VOCABULARY: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    let texts = RULES.iter().flat_map(|rule| [rule.summary, rule.explanation]);
    texts.flat_map(|text| text.split(|c: char| !c.is_ascii_alphabetic())).collect()
});

fn is_of_a_message(word: &str) -> bool {
    VOCABULARY.contains(word)
}

/// The words without those that a text has and its redacted copy has not; nothing if all may stay. Known words may stay outside of
/// quotes: there they are not from the text.
fn without_hidden(
    words: &str,
    text: &str,
    shown: &str,
    is_known: &dyn Fn(&str) -> bool,
    may_be_path: bool,
) -> Option<String> {
    let is_hidden = |word: &str| word.len() >= SHORTEST && text.contains(word) && !shown.contains(word);
    let is_edge = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | ',' | ';' | '(' | ')' | '[' | ']');
    let mut cleaned = String::with_capacity(words.len());
    let (mut is_changed, mut is_quoted) = (false, false);
    for piece in words.split_inclusive(is_edge) {
        let word = piece.trim_end_matches(is_edge);
        let core = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_free = may_be_path && is_path(word) || !is_quoted && (is_known(word) || is_known(core));
        if !is_free && (is_hidden(word) || is_hidden(core)) {
            is_changed = true;
            cleaned.extend([MASK, &piece[word.len()..]]);
        } else {
            cleaned.push_str(piece);
        }
        is_quoted ^= piece.ends_with('`');
    }
    is_changed.then_some(cleaned)
}

/// Messages of these rules quote names of files where a kustomization lists files. What a directive includes may be written in a
/// Secret, and be anything.
const OF_FILES: &str = "kustomize/";

/// Whether a word is the name of a file: without it, few messages help.
fn is_path(word: &str) -> bool {
    let is_document = [".yaml", ".yml", ".json"].iter().any(|end| word.ends_with(end));
    is_document || word.starts_with("./") || word.starts_with("../")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_shown_is_quoted() {
        let text = "password: *hunter2\nname: x\n";
        let shown = redact_values(text);
        let clean = |words: &str| without_hidden(words, text, &shown, &is_of_a_message, true);
        assert_eq!(clean("the alias `*hunter2` of `password`").as_deref(), Some("the alias `•••` of `password`"));
        assert_eq!(clean("found hunter2, not a list").as_deref(), Some("found •••, not a list"));
        assert_eq!(clean("the key `password` is wrong"), None);
        let text = "resources: [../gone]\n";
        let clean = |may_be_path| {
            without_hidden("there is no file `../gone`", text, &redact_values(text), &|_| false, may_be_path)
        };
        assert_eq!(clean(true), None);
        assert_eq!(clean(false).as_deref(), Some("there is no file `•••`"));
    }

    #[test]
    fn words_of_messages_and_names_of_resources_stay_outside_of_quotes() {
        let text = "a: every resource grants more than before\nname: reader\n";
        let shown = redact_values(text);
        let is_known = |word: &str| is_of_a_message(word) || word == "reader";
        let clean = |words: &str| without_hidden(words, text, &shown, &is_known, true);
        assert_eq!(clean("Role reader reaches every resource"), None);
        assert_eq!(clean("Role reader has `every`").as_deref(), Some("Role reader has `•••`"));
    }
}
