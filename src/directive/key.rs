//! The grammar of directive keys: `+[?][include][*anchor][dots][/pointer]`, and the two special keys `+%` and `+&`.

use smol_str::SmolStr;

use crate::path::{Pointer, has_only_known_escapes};
use crate::value::{Key, KeyKind};

/// The key that sets how its map is merged.
pub(super) const STRATEGY: &str = "+%";
/// The key that gives its map a name.
pub(super) const NAME: &str = "+&";

/// The parsed key of a directive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    /// `?`: the target may be missing.
    pub(super) is_optional: bool,
    /// `include`: the value names a file.
    pub(super) is_include: bool,
    /// `*name`: start at the anchored value.
    pub(super) anchor: Option<SmolStr>,
    /// The number of dots: one is the starting map itself, each further one a level up.
    pub(super) dots: usize,
    /// The path from there.
    pub(super) pointer: Pointer,
}

/// The meaning of a key that begins with `+`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PlusKey {
    /// A plain key.
    Data,
    /// `+%`
    Strategy,
    /// `+&`
    Name,
    /// A directive.
    Directive(Reference),
    /// A directive with an invalid escape.
    BadEscape,
}

/// Whether a key may have a meaning. Cheap, because it is asked of every key.
pub(super) fn starts_with_plus(key: &Key) -> bool {
    key.name.as_bytes().first() == Some(&b'+') && key.kind == KeyKind::Text
}

/// Reads a key. A key that does not match the whole grammar is data.
pub(super) fn read(key: &Key) -> PlusKey {
    if !starts_with_plus(key) {
        return PlusKey::Data;
    }
    match key.name.as_str() {
        STRATEGY => PlusKey::Strategy,
        NAME => PlusKey::Name,
        name => read_directive(&name[1..]),
    }
}

fn read_directive(text: &str) -> PlusKey {
    let (head, path) = text.split_at(text.find('/').unwrap_or(text.len()));
    let Some(mut reference) = read_head(head) else { return PlusKey::Data };
    let has_component = reference.is_include || reference.anchor.is_some() || reference.dots > 0;
    if !has_component && path.is_empty() {
        return PlusKey::Data;
    }
    match (Pointer::parse(path), has_only_known_escapes(head)) {
        (Ok(pointer), true) => {
            reference.pointer = pointer;
            PlusKey::Directive(reference)
        }
        _ => PlusKey::BadEscape,
    }
}

/// Reads `[?][include…][*name][dots]`; `None` if anything is left over.
fn read_head(head: &str) -> Option<Reference> {
    let (is_optional, rest) = strip(head, "?");
    let (is_include, rest) = strip(rest, "include");
    // A suffix of `include` only makes the key unique.
    let is_tail = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let rest = if is_include { rest.trim_start_matches(is_tail) } else { rest };
    let before_dots = rest.trim_end_matches('.');
    let dots = rest.len() - before_dots.len();
    let anchor = match before_dots.strip_prefix('*') {
        Some("") => return None,
        Some(name) => Some(name.into()),
        None if before_dots.is_empty() => None,
        None => return None,
    };
    Some(Reference { is_optional, is_include, anchor, dots, pointer: Pointer::root() })
}

fn strip<'a>(text: &'a str, prefix: &str) -> (bool, &'a str) {
    match text.strip_prefix(prefix) {
        Some(rest) => (true, rest),
        None => (false, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::RepoPath;
    use crate::text::{SourceText, Sources, Span};
    use proptest::prelude::*;

    fn key(name: &str) -> Key {
        let source = Sources::default().add(SourceText::new(RepoPath::root(), "", ""));
        Key { name: name.into(), kind: KeyKind::Text, span: Span::new(source, 0, 0) }
    }

    fn directive(name: &str) -> (bool, bool, Option<String>, usize, String) {
        match read(&key(name)) {
            PlusKey::Directive(it) => {
                let anchor = it.anchor.map(|name| name.to_string());
                (it.is_optional, it.is_include, anchor, it.dots, it.pointer.to_string())
            }
            other => panic!("{name} is {other:?}"),
        }
    }

    #[test]
    fn keys_that_do_not_fit_are_data() {
        for name in [
            "",
            "a",
            "+",
            "+foo",
            "+foo/bar",
            "++/x",
            "+?",
            "+?foo",
            "+?foo/b",
            "?+include",
            "+*",
            "+*/x",
            "+*.",
            "+include.x",
            "+include foo",
            "+.a",
            "+%x",
            "+&x",
            "+ /x",
            "+??/x",
            "+*..",
            "+includeé",
        ] {
            assert_eq!(read(&key(name)), PlusKey::Data, "{name}");
        }
        let number = Key { kind: KeyKind::Scalar, ..key("+1") };
        assert_eq!(read(&number), PlusKey::Data);
    }

    #[test]
    fn components_are_distinguished() {
        let anchor = |name: &str| Some(name.to_owned());
        for (name, expected) in [
            ("+/a/b", (false, false, None, 0, "/a/b".to_owned())),
            ("+/", (false, false, None, 0, "/".to_owned())),
            ("+?/a~1b", (true, false, None, 0, "/a~1b".to_owned())),
            ("+.", (false, false, None, 1, String::new())),
            ("+.../x", (false, false, None, 3, "/x".to_owned())),
            ("+*a", (false, false, anchor("a"), 0, String::new())),
            ("+*a.b../x", (false, false, anchor("a.b"), 2, "/x".to_owned())),
            ("+include", (false, true, None, 0, String::new())),
            ("+?include-local_2", (true, true, None, 0, String::new())),
            ("+include2*a/x", (false, true, anchor("a"), 0, "/x".to_owned())),
            ("+*include", (false, false, anchor("include"), 0, String::new())),
        ] {
            assert_eq!(directive(name), expected, "{name}");
        }
        assert_eq!(read(&key("+%")), PlusKey::Strategy);
        assert_eq!(read(&key("+&")), PlusKey::Name);
    }

    #[test]
    fn a_tilde_needs_a_digit() {
        for name in ["+/a~2b", "+/~", "+*a~/x", "+?/a~"] {
            assert_eq!(read(&key(name)), PlusKey::BadEscape, "{name}");
        }
        assert_eq!(read(&key("+foo~2")), PlusKey::Data);
    }

    proptest! {
        #[test]
        fn what_is_read_spells_the_key(name in "\\+[?*./~a&%0-2include]{0,12}") {
            if let PlusKey::Directive(it) = read(&key(&name)) {
                let mark = if it.is_optional { "+?" } else { "+" };
                let anchor = it.anchor.map(|name| format!("*{name}")).unwrap_or_default();
                let end = format!("{anchor}{}{}", ".".repeat(it.dots), it.pointer);
                let middle = name.strip_prefix(mark).and_then(|rest| rest.strip_suffix(&end));
                let is_expected = |middle: &str| middle.starts_with("include") == it.is_include && middle.is_empty() != it.is_include;
                prop_assert!(middle.is_some_and(is_expected), "{name}");
            }
        }
    }
}
