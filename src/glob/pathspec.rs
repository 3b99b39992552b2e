//! Shell patterns as git reads them, matched in linear time whatever the pattern is.

use std::mem;

/// A compiled pattern. Patterns come from users and from repositories, so matching never backtracks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    steps: Vec<Step>,
    folds_case: bool,
}

/// What `*` means for `/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slashes {
    /// `*`, `?` and `[…]` match a slash as well: git's default for paths on the command line.
    Ordinary,
    /// Only `**` crosses directories: git's `:(glob)`.
    Separators,
}

/// One step of the automaton; the state number is its place in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Byte(u8),
    AnyByte,
    AnyButSlash,
    OneOf(Box<[bool; 256]>),
    /// Any number of bytes.
    Bytes,
    /// Any number of bytes other than `/`.
    BytesButSlash,
    /// `**/` where a component starts: any number of whole components. The step after it is "inside a component".
    Components,
    InsideComponent,
    /// A bracket that is never closed matches nothing.
    Nothing,
}

impl Glob {
    /// Compiles a pattern; every byte string is one.
    pub fn new(pattern: &[u8], slashes: Slashes, folds_case: bool) -> Self {
        let mut glob = Self { steps: Vec::with_capacity(pattern.len()), folds_case };
        glob.append(pattern, slashes);
        glob
    }

    /// A pattern that starts with plain text, for instance the user's current directory.
    pub fn below(directory: &[u8], pattern: &[u8], slashes: Slashes, folds_case: bool) -> Self {
        let mut glob = Self { steps: directory.iter().map(|&byte| Step::Byte(byte)).collect(), folds_case };
        glob.append(pattern, slashes);
        glob
    }

    /// Whether the whole text matches.
    pub fn matches(&self, text: &[u8]) -> bool {
        let accept = self.steps.len();
        let mut now = vec![false; accept + 1];
        let mut next = vec![false; accept + 1];
        self.enter(&mut now, 0);
        for &byte in text {
            let mut is_alive = false;
            for at in (0..accept).filter(|&at| now[at]) {
                if let Some(to) = self.step(at, byte) {
                    self.enter(&mut next, to);
                    is_alive = true;
                }
            }
            if !is_alive {
                return false;
            }
            mem::swap(&mut now, &mut next);
            next.fill(false);
        }
        now[accept]
    }

    /// Marks a state and all that can be reached from it without reading a byte.
    fn enter(&self, states: &mut [bool], mut at: usize) {
        loop {
            states[at] = true;
            at += match self.steps.get(at) {
                Some(Step::Bytes | Step::BytesButSlash) => 1,
                Some(Step::Components) => 2,
                _ => return,
            };
        }
    }

    fn step(&self, at: usize, byte: u8) -> Option<usize> {
        let matched = match &self.steps[at] {
            Step::Byte(wanted) if self.folds_case => wanted.eq_ignore_ascii_case(&byte),
            Step::Byte(wanted) => *wanted == byte,
            Step::AnyByte => true,
            Step::AnyButSlash => byte != b'/',
            Step::OneOf(set) => set[usize::from(byte)],
            Step::Bytes => return Some(at),
            Step::BytesButSlash => return (byte != b'/').then_some(at),
            Step::Components => return (byte != b'/').then_some(at + 1),
            Step::InsideComponent => return Some(if byte == b'/' { at - 1 } else { at }),
            Step::Nothing => false,
        };
        matched.then_some(at + 1)
    }

    fn append(&mut self, pattern: &[u8], slashes: Slashes) {
        let mut at = 0;
        while let Some(&byte) = pattern.get(at) {
            at += 1;
            match byte {
                b'*' => {
                    let stars = 1 + pattern[at..].iter().take_while(|&&byte| byte == b'*').count();
                    at = self.append_stars(pattern, at - 1, stars, slashes);
                }
                b'?' if slashes == Slashes::Separators => self.steps.push(Step::AnyButSlash),
                b'?' => self.steps.push(Step::AnyByte),
                b'[' => match self.bracket(&pattern[at..], slashes) {
                    Some((set, length)) => {
                        self.steps.push(Step::OneOf(set));
                        at += length;
                    }
                    None => {
                        self.steps.push(Step::Nothing);
                        return;
                    }
                },
                b'\\' => {
                    self.steps.push(pattern.get(at).map_or(Step::Nothing, |&byte| Step::Byte(byte)));
                    at += 1;
                }
                byte => self.steps.push(Step::Byte(byte)),
            }
        }
    }

    /// Takes a run of stars that starts at `at`; gives the place after what was used up.
    fn append_stars(&mut self, pattern: &[u8], at: usize, stars: usize, slashes: Slashes) -> usize {
        let end = at + stars;
        if slashes == Slashes::Ordinary {
            self.steps.push(Step::Bytes);
            return end;
        }
        let starts_component = at == 0 || pattern[at - 1] == b'/';
        match pattern.get(end) {
            None if stars > 1 && starts_component => self.steps.push(Step::Bytes),
            Some(b'/') if stars > 1 && starts_component => {
                self.steps.extend([Step::Components, Step::InsideComponent]);
                return end + 1;
            }
            _ => self.steps.push(Step::BytesButSlash),
        }
        end
    }

    /// Reads what follows a `[`: the set of bytes, and how many pattern bytes it takes.
    fn bracket(&self, rest: &[u8], slashes: Slashes) -> Option<(Box<[bool; 256]>, usize)> {
        let is_negated = matches!(rest.first(), Some(b'!' | b'^'));
        let first = usize::from(is_negated);
        let mut set = Box::new([false; 256]);
        let mut at = first;
        // A `]` that comes first is an ordinary member.
        while at == first || *rest.get(at)? != b']' {
            if rest[at..].starts_with(b"[:")
                && let Some(length) = rest[at + 2..].windows(2).position(|pair| pair == b":]")
            {
                let class = named_class(&rest[at + 2..at + 2 + length])?;
                (0..=u8::MAX).filter(class).for_each(|byte| set[usize::from(byte)] = true);
                at += length + 4;
                continue;
            }
            let (low, after) = member(rest, at)?;
            let is_range = rest.get(after) == Some(&b'-') && rest.get(after + 1).is_some_and(|&byte| byte != b']');
            let (high, after) = if is_range { member(rest, after + 1)? } else { (low, after) };
            (low..=high).for_each(|byte| set[usize::from(byte)] = true);
            at = after;
        }
        if self.folds_case {
            for lower in b'a'..=b'z' {
                let either = set[usize::from(lower)] || set[usize::from(lower.to_ascii_uppercase())];
                set[usize::from(lower)] = either;
                set[usize::from(lower.to_ascii_uppercase())] = either;
            }
        }
        if is_negated {
            set.iter_mut().for_each(|member| *member = !*member);
        }
        set[usize::from(b'/')] &= slashes == Slashes::Ordinary;
        Some((set, at + 1))
    }
}

/// One byte of a bracket, which a backslash may protect.
fn member(rest: &[u8], at: usize) -> Option<(u8, usize)> {
    match *rest.get(at)? {
        b'\\' => Some((*rest.get(at + 1)?, at + 2)),
        byte => Some((byte, at + 1)),
    }
}

fn named_class(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| matches!(byte, b' '..=b'~'),
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| byte.is_ascii_whitespace() || *byte == 0x0b,
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Glob::new(pattern.as_bytes(), Slashes::Ordinary, false).matches(text.as_bytes())
    }

    fn matches_components(pattern: &str, text: &str) -> bool {
        Glob::new(pattern.as_bytes(), Slashes::Separators, false).matches(text.as_bytes())
    }

    #[test]
    fn a_star_crosses_directories_unless_slashes_separate() {
        assert!(matches("*.yaml", "a/b/c.yaml"));
        assert!(matches("a*c", "a/b/c"));
        assert!(!matches("*.yaml", "a.yml"));
        assert!(!matches_components("*.yaml", "a/b.yaml"));
        assert!(matches_components("a/*/c", "a/b/c"));
        assert!(!matches_components("a/*/c", "a/b/b/c"));
        assert!(!matches_components("a?c", "a/c"));
        assert!(!matches_components("a[/]c", "a/c"));
    }

    #[test]
    fn two_stars_stand_for_any_number_of_directories() {
        for text in ["c", "b/c", "a/b/c"] {
            assert!(matches_components("**/c", text), "{text}");
        }
        assert!(!matches_components("**/c", "a/bc"));
        assert!(matches_components("a/**/c", "a/c"));
        assert!(matches_components("a/**/c", "a/x/y/c"));
        assert!(matches_components("a/**", "a/x/y"));
        assert!(!matches_components("a/**", "b/x"));
        assert!(!matches_components("a**c", "a/c"), "two stars inside a name are one");
    }

    #[test]
    fn brackets_hold_ranges_classes_and_their_own_end() {
        assert!(matches("[a-c]x", "bx"));
        assert!(!matches("[!a-c]x", "bx"));
        assert!(matches("[]x]", "]"));
        assert!(matches("[[:digit:]_]", "7"));
        assert!(matches("[[:digit:]_]", "_"));
        assert!(matches(r"[\]]", "]"));
        assert!(matches("[a-]", "-"));
        assert!(!matches("[a", "[a"), "a bracket that is never closed matches nothing");
        assert!(matches(r"\*", "*") && !matches(r"\*", "x"));
    }

    #[test]
    fn case_can_be_ignored() {
        let glob = Glob::new(b"Cust*/[a-b].YAML", Slashes::Ordinary, true);
        assert!(glob.matches(b"customers/A.yaml"));
        assert!(!glob.matches(b"customers/c.yaml"));
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_time() {
        let pattern = "*a".repeat(500) + "b";
        assert!(!matches(&pattern, &"a".repeat(5_000)));
    }

    /// The obvious way to match, exponential and easy to trust.
    fn naive(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.first(), text.first()) {
            (None, None) => true,
            (Some(b'*'), _) => naive(&pattern[1..], text) || !text.is_empty() && naive(pattern, &text[1..]),
            (Some(b'?'), Some(_)) => naive(&pattern[1..], &text[1..]),
            (Some(wanted), Some(found)) => wanted == found && naive(&pattern[1..], &text[1..]),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn stars_and_question_marks_match_as_written(pattern in "[ab/*?]{0,8}", text in "[ab/]{0,10}") {
            prop_assert_eq!(matches(&pattern, &text), naive(pattern.as_bytes(), text.as_bytes()));
        }

        #[test]
        fn any_pattern_and_any_text_give_an_answer(
            pattern in any::<Vec<u8>>(), text in any::<Vec<u8>>(), fold in any::<bool>(),
        ) {
            Glob::new(&pattern, Slashes::Ordinary, fold).matches(&text);
            Glob::new(&pattern, Slashes::Separators, fold).matches(&text);
        }
    }
}
