//! Patterns of places, followed level by level while the walk goes down, so that no path is ever matched from its start again.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::glob::glob_matches;
use crate::path::Pointer;
use crate::settings::ListRule;

/// The configured list rules, ready to be followed.
#[derive(Debug, Clone, Default)]
pub struct ListRules(Arc<[CompiledRule]>);

/// Why a pattern of places cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pointer}` is no pattern of places: {reason}")]
pub struct InvalidPattern {
    /// The pattern as configured.
    pub pointer: SmolStr,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// One rule and its pattern.
#[derive(Debug)]
pub(super) struct CompiledRule {
    /// As configured.
    pub(super) pointer: SmolStr,
    pattern: Vec<Level>,
    pub(super) keys: Vec<SmolStr>,
    pub(super) is_unordered: bool,
}

#[derive(Debug)]
enum Level {
    /// `**`: any number of levels, none included.
    AnyLevels,
    /// One level whose token looks like this glob.
    Like(SmolStr),
}

/// How far each rule has matched: bit `n` is set when the first `n` levels of its pattern match the path so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress(Vec<u64>);

/// One bit per level, and one more for the end.
const LONGEST_PATTERN: usize = 63;

impl ListRules {
    /// Reads the patterns of the settings.
    pub fn compile(rules: &[ListRule]) -> Result<Self, InvalidPattern> {
        let compile = |rule: &ListRule| {
            let invalid = |reason| InvalidPattern { pointer: rule.pointer.clone(), reason };
            let pointer = Pointer::parse(&rule.pointer).map_err(invalid)?;
            if pointer.tokens().len() > LONGEST_PATTERN {
                return Err(invalid("it has more than 63 levels"));
            }
            let level = |token: &SmolStr| if token == "**" { Level::AnyLevels } else { Level::Like(token.clone()) };
            Ok(CompiledRule {
                pointer: rule.pointer.clone(),
                pattern: pointer.tokens().iter().map(level).collect(),
                keys: rule.keys.clone(),
                is_unordered: rule.is_unordered,
            })
        };
        rules.iter().map(compile).collect::<Result<_, _>>().map(Self)
    }

    /// At the root, before any level.
    pub(super) fn start(&self) -> Progress {
        Progress(self.0.iter().map(|rule| skip_any_levels(&rule.pattern, 1)).collect())
    }

    /// One level down. An item has an index on each side; a pattern that names either fits.
    pub(super) fn step(&self, progress: &Progress, tokens: &[&str]) -> Progress {
        let step = |(rule, &reached): (&CompiledRule, &u64)| {
            let mut next = 0;
            for (at, level) in rule.pattern.iter().enumerate().filter(|(at, _)| reached & (1 << at) != 0) {
                match level {
                    Level::AnyLevels => next |= 1 << at,
                    Level::Like(pattern) if tokens.iter().any(|token| glob_matches(pattern, token)) => {
                        next |= 1 << (at + 1)
                    }
                    Level::Like(_) => {}
                }
            }
            skip_any_levels(&rule.pattern, next)
        };
        Progress(self.0.iter().zip(&progress.0).map(step).collect())
    }

    /// The first rule whose pattern ends here.
    pub(super) fn at(&self, progress: &Progress) -> Option<&CompiledRule> {
        let ends = |(rule, reached): &(&CompiledRule, &u64)| **reached & (1 << rule.pattern.len()) != 0;
        self.0.iter().zip(&progress.0).find(ends).map(|(rule, _)| rule)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// `**` may match no level at all, so a rule that is before it is also after it.
fn skip_any_levels(pattern: &[Level], mut reached: u64) -> u64 {
    for (at, level) in pattern.iter().enumerate() {
        if matches!(level, Level::AnyLevels) && reached & (1 << at) != 0 {
            reached |= 1 << (at + 1);
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &[&str]) -> bool {
        let rule = ListRule { pointer: pattern.into(), keys: Vec::new(), is_unordered: true };
        let rules = ListRules::compile(&[rule]).unwrap();
        let progress = path.iter().fold(rules.start(), |progress, token| rules.step(&progress, &[token]));
        rules.at(&progress).is_some()
    }

    #[test]
    fn tokens_may_hold_stars_and_two_stars_span_levels() {
        for (pattern, path) in [
            ("", &[][..]),
            ("/a/b", &["a", "b"]),
            ("/a/*/b", &["a", "0", "b"]),
            ("/app-*/x", &["app-1", "x"]),
            ("/*-*/x", &["a-b-c", "x"]),
            ("/**/x", &["x"]),
            ("/**/x", &["a", "b", "x"]),
            ("/a/**", &["a"]),
            ("/a/**/b/**/c", &["a", "b", "b", "z", "c"]),
            ("/a~1b", &["a/b"]),
            ("/**", &[]),
        ] {
            assert!(matches(pattern, path), "{pattern} fits {path:?}");
        }
        for (pattern, path) in [
            ("/a/b", &["a"][..]),
            ("/a", &["a", "b"]),
            ("/a/*", &["a"]),
            ("/app-*", &["ap"]),
            ("/**/x", &["x", "y"]),
            ("", &["a"]),
            ("/*b", &["abc"]),
        ] {
            assert!(!matches(pattern, path), "{pattern} does not fit {path:?}");
        }
    }

    #[test]
    fn the_first_rule_wins_and_nonsense_is_refused() {
        let rule = |pointer: &str, key: &str| ListRule {
            pointer: pointer.into(),
            keys: vec![key.into()],
            is_unordered: false,
        };
        let rules = ListRules::compile(&[rule("/**/x", "one"), rule("/x", "two")]).unwrap();
        let progress = rules.step(&rules.start(), &["x"]);
        assert_eq!(rules.at(&progress).unwrap().keys, ["one"]);
        assert!(ListRules::compile(&[rule("x", "k")]).is_err());
        assert!(ListRules::compile(&[rule(&"/a".repeat(64), "k")]).is_err());
        assert!(ListRules::compile(&[rule(&"/a".repeat(63), "k")]).is_ok());
    }
}
