//! Patterns that kustomizations hold: anchored regular expressions, most of which are plain names.

use regex::Regex;

/// An anchored regular expression.
#[derive(Debug)]
pub(super) enum Pattern {
    /// Everything.
    Any,
    /// One text.
    Exactly(String),
    /// A regular expression.
    Expression(Regex),
}

impl Pattern {
    /// Reads a pattern; an empty one matches everything. `None` if it is not a regular expression.
    pub(super) fn new(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::Any);
        }
        if text.chars().all(|character| is_plain(character) || character == '/') {
            return Some(Self::Exactly(text.to_owned()));
        }
        expression(&format!("^(?:{text})$")).map(Self::Expression)
    }

    /// Whether it matches a text as a whole.
    pub(super) fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exactly(own) => own == text,
            Self::Expression(pattern) => pattern.is_match(text),
        }
    }
}

/// The name of an image as kustomize understands it: a regular expression before an optional tag and digest.
#[derive(Debug)]
pub(super) enum ImagePattern {
    /// A name in which a dot is any character.
    Name(String),
    /// A regular expression.
    Expression(Regex),
}

impl ImagePattern {
    /// Reads a name; `None` if it is not a regular expression.
    pub(super) fn new(name: &str) -> Option<Self> {
        if name.chars().all(|character| is_plain(character) || matches!(character, '.' | '/' | ':' | '@')) {
            return Some(Self::Name(name.to_owned()));
        }
        let tail = r"(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$";
        expression(&format!("^{name}{tail}")).map(Self::Expression)
    }

    /// Whether an image has this name.
    pub(super) fn is_match(&self, image: &str) -> bool {
        match self {
            Self::Name(name) => without_name(image, name).is_some_and(is_tail),
            Self::Expression(pattern) => pattern.is_match(image),
        }
    }
}

/// Reads a regular expression of Go; `None` if it is none.
pub(super) fn expression(text: &str) -> Option<Regex> {
    Regex::new(&respelled(text)).ok()
}

/// A regular expression of Go in the language of the crate `regex`, which asks for a backslash before some characters that mean
/// themselves in Go, and has no `\Q…\E`.
fn respelled(text: &str) -> String {
    let (mut written, mut rest, mut is_in_class) = (String::with_capacity(text.len()), text, false);
    while let Some(first) = rest.chars().next() {
        let (quoted, after) = match rest.strip_prefix("\\Q").filter(|_| !is_in_class) {
            Some(literal) => {
                let (literal, after) = literal.split_once("\\E").unwrap_or((literal, ""));
                (regex::escape(literal), after)
            }
            None => {
                let (token, after) = rest.split_at(token_length(rest, is_in_class));
                let means_itself = match first {
                    '[' | '&' | '~' => is_in_class && token.len() == 1,
                    '{' => !is_in_class && !is_repetition(rest),
                    _ => false,
                };
                is_in_class = if is_in_class { token != "]" } else { first == '[' };
                (if means_itself { format!("\\{token}") } else { token.to_owned() }, after)
            }
        };
        written.push_str(&quoted);
        rest = after;
    }
    written
}

/// How many bytes of a regular expression belong together: an escape, the start of a class, a named class, or one character.
fn token_length(text: &str, is_in_class: bool) -> usize {
    let length = |character: Option<char>| character.map_or(0, char::len_utf8);
    match text.chars().next() {
        Some('\\') => 1 + length(text[1..].chars().next()),
        Some('[') if is_in_class && text.starts_with("[:") => text.find(":]").map_or(1, |end| end + 2),
        Some('[') if !is_in_class => {
            ["[^]", "[]", "[^"].iter().find(|it| text.starts_with(*it)).map_or(1, |it| it.len())
        }
        first => length(first),
    }
}

/// Whether a text starts with `{2}`, `{2,}` or `{2,3}`.
fn is_repetition(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let body = text.strip_prefix('{').and_then(|body| body.split_once('}')).map(|(body, _)| body);
    body.is_some_and(|body| match body.split_once(',') {
        Some((least, most)) => is_number(least) && (most.is_empty() || is_number(most)),
        None => is_number(body),
    })
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_')
}

/// What follows the name in an image.
fn without_name<'t>(image: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = image.chars();
    let fits =
        name.chars().all(|wanted| rest.next().is_some_and(|found| found == wanted || wanted == '.' && found != '\n'));
    fits.then_some(rest.as_str())
}

/// Whether a text is an optional tag and an optional digest.
fn is_tail(text: &str) -> bool {
    let is_word =
        |text: &str| text.chars().all(|character| is_plain(character) || matches!(character, '.' | '{' | '}'));
    let (tag, digest) = match text.find("@sha256:") {
        Some(at) => (&text[..at], &text[at + "@sha256:".len()..]),
        None => (text, ""),
    };
    (tag.is_empty() || tag.strip_prefix(':').is_some_and(is_word)) && is_word(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_images_match_as_the_regular_expression_would() {
        let images = [
            "",
            "a",
            "a:1",
            "a@sha256:0f",
            "a:1@sha256:0f",
            "a:1@sha256:",
            "a:@sha256:0",
            "a@sha1:0",
            "ab",
            "a/b",
            "x.y/a:1",
            "xzy/a:1",
            "a:1:2",
            "a:{t}",
            "a: 1",
            "\n",
            "a@sha256:0@sha256:1",
            "xé/a",
        ];
        for name in ["a", "", "x.y/a", "a.", ".", "a:1"] {
            let quick = ImagePattern::new(name).unwrap();
            assert!(matches!(quick, ImagePattern::Name(_)));
            let tail = r"(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$";
            let slow = ImagePattern::Expression(Regex::new(&format!("^{name}{tail}")).unwrap());
            for image in images {
                assert_eq!(quick.is_match(image), slow.is_match(image), "{name:?} {image:?}");
            }
        }
    }

    #[test]
    fn plain_patterns_match_as_a_whole() {
        assert!(Pattern::new("").unwrap().is_match("x"));
        assert!(Pattern::new("web").unwrap().is_match("web") && !Pattern::new("web").unwrap().is_match("web-1"));
        assert!(Pattern::new("web|api").unwrap().is_match("api") && !Pattern::new("web.*").unwrap().is_match("a-web"));
        assert!(Pattern::new("(").is_none());
    }

    #[test]
    fn expressions_are_those_of_go() {
        let all = [
            (r"\${IMAGE}", "${IMAGE}"),
            ("a{b}", "a{b}"),
            ("a{,3}", "a{,3}"),
            ("a{2}{", "aa{"),
            ("a{ 2}", "a{ 2}"),
            ("a{1,}", "aaa"),
            (r"\{x", "{x"),
            (r"\Q{x.\E.", "{x.y"),
            ("[a[b]", "["),
            ("[a&&b]", "&"),
            ("[]a]+", "]a"),
            ("[^]a]", "b"),
            ("[[:alpha:][]+", "a["),
            ("[{]x", "{x"),
            ("é{é}", "é{é}"),
        ];
        for (pattern, text) in all {
            assert!(Pattern::new(pattern).is_some_and(|it| it.is_match(text)), "{pattern} {}", respelled(pattern));
        }
        assert!(!Pattern::new("${IMAGE}").unwrap().is_match("${IMAGE}"));
        assert!(!Pattern::new("[a&&b]").unwrap().is_match("c"));
        assert!(Pattern::new("a[b").is_none());
    }
}
