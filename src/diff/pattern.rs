//! The list rules of the settings, followed while the comparison walks down the trees.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::glob::{self, Pattern};
use crate::path::Pointer;
use crate::settings::ListRule;

/// The configured list rules, compiled.
#[derive(Debug, Clone, Default)]
pub struct ListRules(Arc<[CompiledRule]>);

/// Why the pattern of a list rule cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pointer}` is not a pattern of places: {reason}")]
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
    pattern: Pattern,
    pub(super) keys: Vec<SmolStr>,
    pub(super) is_unordered: bool,
}

/// How much of the pattern of each rule matches so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress(Vec<glob::Progress>);

/// The settings refuse longer patterns too.
const LONGEST_PATTERN: usize = 63;

impl ListRules {
    /// Compiles the rules of the settings.
    pub fn compile(rules: &[ListRule]) -> Result<Self, InvalidPattern> {
        let compile = |rule: &ListRule| {
            let invalid = |reason| InvalidPattern { pointer: rule.pointer.clone(), reason };
            if Pointer::parse(&rule.pointer).map_err(invalid)?.tokens().len() > LONGEST_PATTERN {
                return Err(invalid("it has more than 63 levels"));
            }
            Ok(CompiledRule {
                pointer: rule.pointer.clone(),
                pattern: Pattern::of_pointer(&rule.pointer).map_err(invalid)?,
                keys: rule.keys.clone(),
                is_unordered: rule.is_unordered,
            })
        };
        rules.iter().map(compile).collect::<Result<_, _>>().map(Self)
    }

    /// The progress at the root.
    pub(super) fn start(&self) -> Progress {
        Progress(self.0.iter().map(|rule| rule.pattern.start()).collect())
    }

    /// The progress one level down. An item has an index on each side; a pattern that names either matches.
    pub(super) fn step(&self, progress: &Progress, tokens: &[&str]) -> Progress {
        Progress(self.0.iter().zip(&progress.0).map(|(rule, &reached)| rule.pattern.step(reached, tokens)).collect())
    }

    /// The first rule whose pattern matches here.
    pub(super) fn at(&self, progress: &Progress) -> Option<&CompiledRule> {
        self.0.iter().zip(&progress.0).find(|(rule, reached)| rule.pattern.is_complete(**reached)).map(|(rule, _)| rule)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
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
