//! Patterns over paths: `*`, `?` and `[…]` inside one component, `**` for any number of components.

use smol_str::SmolStr;

use crate::path::{Pointer, WrittenStep, written_steps};

/// A pattern of components, for places in documents, files and logical paths alike. It is matched against a whole path, or step by
/// step while a walk goes down, so that no path is matched from its start again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    components: Vec<Component>,
}

/// How much of a pattern the components so far match: bit `n` is set if they match its first `n` components. Patterns of more than
/// 127 components match nothing; documents and directories are not that deep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress(u128);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Component {
    /// Exactly this text.
    Literal(SmolStr),
    /// A glob within one component.
    Glob(SmolStr),
    /// Any number of components, none included.
    Any,
}

/// A name in which nothing is a glob, unless it is one as a whole.
fn literal(name: SmolStr) -> SmolStr {
    if matches!(name.as_str(), "*" | "**") || !name.contains(['*', '?', '[', '\\']) {
        return name;
    }
    let escape = |c: char| if ['*', '?', '[', '\\'].contains(&c) { vec!['\\', c] } else { vec![c] };
    name.chars().flat_map(escape).collect()
}

impl Pattern {
    /// A JSON Pointer whose tokens may be globs; `~0` and `~1` are read as in any pointer. Or a path as reports print it, in which
    /// only whole steps may be `*` or `**`, and items are called by their names.
    pub fn of_pointer(text: &str) -> Result<Self, &'static str> {
        if text.starts_with(['.', '[']) {
            let token = |step| match step {
                WrittenStep::Key(name) => name,
                WrittenStep::Item(label) => label.split_once('=').map_or(label.clone(), |(_, value)| value.into()),
            };
            return Ok(Self::new(written_steps(text)?.into_iter().map(token).map(literal)));
        }
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

    /// The progress before any component.
    pub fn start(&self) -> Progress {
        self.past_any(Progress(1))
    }

    /// The progress after one more component, which may have several names: a match of any of them counts.
    pub fn step(&self, progress: Progress, names: &[&str]) -> Progress {
        let mut next = Progress::default();
        for (at, component) in self.components.iter().enumerate().filter(|(at, _)| progress.has(*at)) {
            match component {
                Component::Any => next.add(at),
                _ if names.iter().any(|name| component.matches(name)) => next.add(at + 1),
                _ => {}
            }
        }
        self.past_any(next)
    }

    /// Whether the components so far match the whole pattern.
    pub fn is_complete(&self, progress: Progress) -> bool {
        progress.has(self.components.len())
    }

    /// Whether these components match the pattern.
    pub fn matches<S: AsRef<str>>(&self, components: &[S]) -> bool {
        let mut progress = self.start();
        for component in components {
            if progress == Progress::default() {
                return false;
            }
            progress = self.step(progress, &[component.as_ref()]);
        }
        self.is_complete(progress)
    }

    /// Whether the pattern matches this path or one of its ancestors.
    pub fn covers<S: AsRef<str>>(&self, components: &[S]) -> bool {
        let mut progress = self.start();
        let mut next = components.iter();
        loop {
            match next.next() {
                _ if self.is_complete(progress) => return true,
                Some(component) => progress = self.step(progress, &[component.as_ref()]),
                None => return false,
            }
        }
    }

    /// The last component that is a plain name, and no index.
    pub fn last_name(&self) -> Option<&str> {
        self.components.iter().rev().find_map(|component| match component {
            Component::Literal(text) if !text.bytes().all(|byte| byte.is_ascii_digit()) => Some(text.as_str()),
            _ => None,
        })
    }

    /// `**` may match no component at all: what has reached it has also reached the component after it.
    fn past_any(&self, mut progress: Progress) -> Progress {
        for (at, component) in self.components.iter().enumerate() {
            if *component == Component::Any && progress.has(at) {
                progress.add(at + 1);
            }
        }
        progress
    }
}

impl Component {
    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Literal(text) => text == name,
            Self::Glob(glob) => glob_matches(glob, name),
            Self::Any => true,
        }
    }
}

impl Progress {
    fn has(self, matched: usize) -> bool {
        self.0 & Self::bit(matched) != 0
    }

    fn add(&mut self, matched: usize) {
        self.0 |= Self::bit(matched);
    }

    /// Nothing for a position beyond the last bit: a pattern with more components is never complete.
    fn bit(matched: usize) -> u128 {
        u32::try_from(matched).ok().and_then(|matched| 1_u128.checked_shl(matched)).unwrap_or(0)
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
    fn ancestors_are_covered() {
        let covers = |pattern, path: &str| Pattern::of_path(pattern).covers(&path.split('/').collect::<Vec<_>>());
        assert!(covers("a", "a/b/c") && covers("a/b", "a/b") && covers("**", "a") && covers("**/b", "a/b/c"));
        assert!(!covers("a/b", "a") && !covers("b", "a/b"));
        assert!(Pattern::of_path("").covers::<&str>(&[]) && !Pattern::of_path("a").covers::<&str>(&[]));
    }

    #[test]
    fn a_pattern_of_too_many_components_matches_nothing() {
        let longest = vec!["a"; 127];
        assert!(Pattern::of_path(&longest.join("/")).matches(&longest));
        let longer = vec!["a"; 128];
        assert!(!Pattern::of_path(&longer.join("/")).matches(&longer));
    }

    /// The obvious definition.
    fn naive(pattern: &[&str], path: &[&str]) -> bool {
        match (pattern, path) {
            (["**", rest @ ..], _) => naive(rest, path) || !path.is_empty() && naive(pattern, &path[1..]),
            ([first, rest @ ..], [name, below @ ..]) => glob_matches(first, name) && naive(rest, below),
            _ => pattern.is_empty() && path.is_empty(),
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
        fn patterns_match_by_their_definition(
            pattern in prop::collection::vec(prop::sample::select(vec!["**", "*", "a", "b"]), 0..6),
            path in prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 0..7),
        ) {
            let compiled = Pattern::of_path(&pattern.join("/"));
            prop_assert_eq!(compiled.matches(&path), naive(&pattern, &path));
            let covered = (0..=path.len()).any(|length| naive(&pattern, &path[..length]));
            prop_assert_eq!(compiled.covers(&path), covered);
        }

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
