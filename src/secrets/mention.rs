//! Whether a text that is no document, or none that could be read, may be that of a Secret. In doubt it may.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::scan::{has_byte, unescaped};

/// One of these is in every text that mentions a Secret.
static WORDS: LazyLock<[Finder<'static>; 3]> =
    LazyLock::new(|| ["kind", "stringData", "ecretGenerator"].map(Finder::new));

/// Whether a text may hold a Kubernetes Secret, or generate one.
pub(super) fn mentions_secret(text: &str) -> bool {
    // Most texts are too short to mention one, and most others have none of the words.
    let bytes = text.as_bytes();
    let has_word = || WORDS.iter().any(|word| word.find(bytes).is_some());
    if text.len() < "kindSecret".len() || !has_byte(bytes, b'\\') && !has_word() {
        return false;
    }
    let text = unescaped(text);
    // Nothing else has such a member.
    if text.contains("stringData") || text.contains("ecretGenerator") {
        return true;
    }
    text.match_indices("kind").any(|(at, word)| is_secret_kind(&text[at + word.len()..], &text))
}

/// Whether what follows the word `kind` says that it is a Secret, or does not say what it is.
fn is_secret_kind(rest: &str, text: &str) -> bool {
    let rest = rest.trim_start_matches(['"', '\'', '\\', ' ', '\t']);
    let Some(mut rest) = rest.strip_prefix(':') else { return false };
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\' | '>' | '|' | '-'));
        rest = match rest.chars().next() {
            Some('#') => rest.split_once('\n').map_or("", |(_, next)| next),
            Some('!' | '&') => rest.trim_start_matches(|c: char| !c.is_whitespace()),
            // What an alias, an expression or a template gives is not known.
            Some('*' | '{') => return text.contains("data"),
            _ => break,
        };
    }
    let word = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("");
    word.eq_ignore_ascii_case("Secret")
        || word == "SecretList"
        || word == "U2VjcmV0"
        || word.ends_with("Secret") && text.contains("template")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recognised_however_they_are_written() {
        for text in [
            "kind: Secret",
            "kind: !!str Secret",
            "kind: &k Secret",
            "kind: &k !!str\n  Secret",
            "kind: >-\n  Secret",
            "kind: # which\n  Secret",
            "'kind' : 'Secret'",
            r#"{"k\u0069nd": "S\u0065cret"}"#,
            r#"{\"kind\":\"Secret\"}"#,
            "k: &a Secret\nkind: *a\ndata: {}",
            "kind: SecretList",
            "kind: !!binary U2VjcmV0",
            "kind: SealedSecret\nspec: {template: {}}",
            "secretGenerator:\n- literals: [a=b]",
            "stringData: {a: b}",
            "kind: {{ .Values.kind }}\ndata: {}",
        ] {
            assert!(mentions_secret(text), "{text}");
        }
    }

    #[test]
    fn what_only_refers_to_a_secret_is_none() {
        for text in [
            "kind: Deployment\nspec: {secretName: a}",
            "kind: ConfigMap\ndata: {a: b}",
            "secretKeyRef: {name: a, key: b}",
            "kind: SealedSecret\nspec: {encryptedData: {a: AgB}}",
            "kinds: [Secret]",
            "",
        ] {
            assert!(!mentions_secret(text), "{text}");
        }
    }
}
