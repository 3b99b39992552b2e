//! Patterns over paths: `*`, `?` and `[…]` inside one component, `**` for any number of components.

use smol_str::SmolStr;

use crate::path::Pointer;

/// A pattern of components, for places in documents, files and logical paths alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    components: Vec<Component>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Component {
    /// Exactly this text.
    Literal(SmolStr),
    /// A glob within one component.
    Glob(SmolStr),
    /// Any number of components, none included.
    Any,
}

impl Pattern {
    /// A JSON Pointer whose tokens may be globs; `~0` and `~1` are read as in any pointer.
    pub fn of_pointer(text: &str) -> Result<Self, &'static str> {
        Ok(Self::new(Pointer::parse(text)?.tokens().iter().cloned()))
    }

    /// A path of files or a logical path whose components may be globs; a leading `/` makes no difference.
    pub fn of_path(text: &str) -> Self {
        Self::new(text.split('/').filter(|component| !component.is_empty()).map(SmolStr::new))
    }

    fn new(components: impl Iterator<Item = SmolStr>) -> Self {
        let component = |text: SmolStr| match text.as_str() {
            "**" => Component::Any,
            glob if glob.contains(['*', '?', '[', '\\']) => Component::Glob(text),
            _ => Component::Literal(text),
        };
        Self { components: components.map(component).collect() }
    }

    /// Whether these components match the pattern.
    pub fn matches<S: AsRef<str>>(&self, components: &[S]) -> bool {
        matches_from(&self.components, components)
    }

    /// Whether the pattern matches this path or one of its ancestors.
    pub fn covers<S: AsRef<str>>(&self, components: &[S]) -> bool {
        (0..=components.len()).any(|length| self.matches(&components[..length]))
    }

    /// The last component, if it is plain text.
    pub fn last_literal(&self) -> Option<&str> {
        match self.components.last() {
            Some(Component::Literal(text)) => Some(text),
            _ => None,
        }
    }
}

/// Greedy with one point of return per `**`, as globs are matched: never exponential.
fn matches_from<S: AsRef<str>>(pattern: &[Component], components: &[S]) -> bool {
    let (mut at, mut against) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let stepped = match (pattern.get(at), components.get(against)) {
            (None, None) => return true,
            (Some(Component::Any), _) => {
                retry = Some((at, against));
                at += 1;
                continue;
            }
            (Some(Component::Literal(text)), Some(component)) => text == component.as_ref(),
            (Some(Component::Glob(glob)), Some(component)) => glob_matches(glob, component.as_ref()),
            _ => false,
        };
        if stepped {
            at += 1;
            against += 1;
        } else if let Some((any, from)) = retry
            && from < components.len()
        {
            retry = Some((any, from + 1));
            at = any + 1;
            against = from + 1;
        } else {
            return false;
        }
    }
}

/// Whether a component matches a glob: `*` any text, `?` one character, `[a-z]` and `[^a]` classes, `\` takes away special meaning.
///
/// A class that is never closed is plain text. The cost is at most the product of both lengths.
pub fn glob_matches(glob: &str, text: &str) -> bool {
    let glob: Vec<char> = glob.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut against) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let next = match glob.get(at) {
            None if against == text.len() => return true,
            Some('*') => {
                retry = Some((at, against));
                at += 1;
                continue;
            }
            None => None,
            Some(_) => text.get(against).and_then(|&c| one_matches(&glob[at..], c)),
        };
        if let Some(taken) = next {
            at += taken;
            against += 1;
        } else if let Some((star, from)) = retry
            && from < text.len()
        {
            retry = Some((star, from + 1));
            at = star + 1;
            against = from + 1;
        } else {
            return false;
        }
    }
}

/// If the first element of the glob (not a star) matches the character: how many characters of the glob it takes up.
fn one_matches(glob: &[char], c: char) -> Option<usize> {
    match glob {
        ['?', ..] => Some(1),
        ['\\', literal, ..] => (*literal == c).then_some(2),
        ['[', rest @ ..] => match class_matches(rest, c) {
            Some((matched, taken)) => matched.then_some(taken + 1),
            None => (c == '[').then_some(1),
        },
        [literal, ..] => (*literal == c).then_some(1),
        [] => None,
    }
}

/// A class after its `[`: whether it holds the character, and its length with the `]`; `None` if it is never closed.
fn class_matches(class: &[char], c: char) -> Option<(bool, usize)> {
    let negated = class.first() == Some(&'^');
    let mut at = usize::from(negated);
    let first = at;
    let mut matched = false;
    loop {
        if class.get(at)? == &']' && at > first {
            return Some((matched != negated, at + 1));
        }
        let (low, after) = class_member(class, at)?;
        let range = (class.get(after) == Some(&'-') && class.get(after + 1) != Some(&']'))
            .then(|| class_member(class, after + 1))
            .flatten();
        let (high, after) = range.unwrap_or((low, after));
        matched |= (low..=high).contains(&c);
        at = after;
    }
}

/// One character of a class, and the place after it; a backslash takes away special meaning.
fn class_member(class: &[char], at: usize) -> Option<(char, usize)> {
    match class.get(at)? {
        '\\' => class.get(at + 1).map(|&escaped| (escaped, at + 2)),
        &plain => Some((plain, at + 1)),
    }
}

/// Whether a component is a glob rather than a name.
pub fn is_glob(component: &str) -> bool {
    component.contains(['*', '?', '['])
}

/// Refuses what is no glob in the grammar of Go's `path.Match`: a class that is empty or never closed, a range without an end, a
/// backslash with nothing after it.
pub fn check_glob(glob: &str) -> Result<(), &'static str> {
    let glob: Vec<char> = glob.chars().collect();
    let mut at = 0;
    while let Some(c) = glob.get(at) {
        at = match c {
            '\\' if glob.get(at + 1).is_none() => return Err("a backslash has nothing after it"),
            '\\' => at + 2,
            '[' => check_class(&glob, at + 1)?,
            _ => at + 1,
        };
    }
    Ok(())
}

/// The position after the class whose `[` is just before.
fn check_class(glob: &[char], mut at: usize) -> Result<usize, &'static str> {
    let unclosed = "a `[` is never closed";
    at += usize::from(glob.get(at) == Some(&'^'));
    let first = at;
    loop {
        match glob.get(at).ok_or(unclosed)? {
            ']' if at > first => return Ok(at + 1),
            ']' | '-' => return Err("a class in `[…]` is empty or has a range without a start"),
            _ => at = class_member(glob, at).ok_or(unclosed)?.1,
        }
        if glob.get(at) == Some(&'-') {
            at = match glob.get(at + 1).ok_or(unclosed)? {
                ']' | '-' => return Err("a range in `[…]` has no end"),
                _ => class_member(glob, at + 1).ok_or(unclosed)?.1,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pointer_matches(pattern: &str, pointer: &str) -> bool {
        let tokens = Pointer::parse(pointer).unwrap();
        Pattern::of_pointer(pattern).unwrap().matches(tokens.tokens())
    }

    #[test]
    fn pointer_patterns() {
        for (pattern, pointer) in [
            ("/a/b", "/a/b"),
            ("/a/*", "/a/b"),
            ("/**/b", "/b"),
            ("/**/b", "/x/y/b"),
            ("/a/**", "/a"),
            ("/a/**", "/a/b/c"),
            ("/a~1b", "/a~1b"),
            ("/check*/x", "/checksum/x"),
            ("/**/a/**/b", "/a/a/x/b"),
            ("/**", ""),
        ] {
            assert!(pointer_matches(pattern, pointer), "{pattern} {pointer}");
        }
        for (pattern, pointer) in [("/a", "/a/b"), ("/a/*", "/a"), ("/a/*", "/a/b/c"), ("/**/b", "/b/c"), ("", "/a")] {
            assert!(!pointer_matches(pattern, pointer), "{pattern} {pointer}");
        }
    }

    #[test]
    fn globs_within_a_component() {
        for (glob, text) in [
            ("a*", "a"),
            ("*b*", "abc"),
            ("[a-c]?", "bz"),
            ("[^a]", "b"),
            ("[!a]", "!"),
            ("[A-\\]]", "]"),
            ("[\\a-c]", "b"),
            ("[\\]]", "]"),
            ("\\*", "*"),
            ("[x", "[x"),
            ("[]]", "]"),
        ] {
            assert!(glob_matches(glob, text), "{glob} {text}");
        }
        for (glob, text) in [("a", "ab"), ("[^a]", "a"), ("?", ""), ("\\*", "a"), ("*a", "b")] {
            assert!(!glob_matches(glob, text), "{glob} {text}");
        }
    }

    #[test]
    fn malformed_globs_are_recognized() {
        for glob in ["*", "a?b", "[a-z]", "[^a]", "[\\]]", "[a\\-z]", "\\[", "]", "a-b", "[[]", "[a-\\]]"] {
            assert_eq!(check_glob(glob), Ok(()), "{glob}");
        }
        for glob in ["[", "[a", "[]", "[^]", "[]a]", "[a-]", "[-a]", "\\", "[a\\", "[b", "[a--]"] {
            assert!(check_glob(glob).is_err(), "{glob}");
        }
    }

    #[test]
    fn many_stars_do_not_explode() {
        assert!(!glob_matches(&"*a".repeat(500), &"a".repeat(400)));
        let pattern = Pattern::of_path(&"**/a/".repeat(200));
        assert!(!pattern.matches(&["b"; 300]));
    }

    proptest! {
        #[test]
        fn any_glob_ends(glob in ".{0,12}", text in ".{0,12}") {
            glob_matches(&glob, &text);
            let _ = check_glob(&glob);
        }

        #[test]
        fn an_escaped_text_matches_itself_only(text in "[^/]{0,12}", other in "[^/]{0,12}") {
            let escaped: String = text.chars().flat_map(|character| ['\\', character]).collect();
            prop_assert_eq!(check_glob(&escaped), Ok(()));
            prop_assert_eq!(glob_matches(&escaped, &other), text == other);
            let (around, longer) = (format!("*{escaped}?"), format!("{other}{text}x"));
            prop_assert!(glob_matches(&around, &longer));
        }

        #[test]
        fn a_text_without_special_characters_matches_itself_only(a in "[a-z]{0,4}", b in "[a-z]{0,4}") {
            prop_assert_eq!(glob_matches(&a, &b), a == b);
        }
    }
}
