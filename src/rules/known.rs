//! Findings that a change brings, as opposed to those that were there before.

use std::collections::BTreeMap;

use crate::finding::{Finding, FindingKey};
use crate::text::{SourceText, Sources};

/// Findings of a newer side, by whether the older side has them too.
#[derive(Debug, Default)]
pub struct ByAge {
    /// Those that only the newer side has.
    pub new: Vec<Finding>,
    /// Those that both sides have.
    pub existing: Vec<Finding>,
}

/// Splits findings: those that the older side has too exist already, as often as it has them. They are recognised by rule, resource (or
/// file), place and shape of the message; then without the place, which moves when something is inserted above; and a file that
/// moved takes its findings along.
pub fn by_age(findings: Vec<Finding>, known: &[Finding], sources: &Sources) -> ByAge {
    let mut split = ByAge { new: findings, existing: Vec::new() };
    let mut gone: Vec<&Finding> = known.iter().collect();
    for is_exact in [true, false] {
        let key = |finding: &Finding| {
            let key = finding.key(sources);
            FindingKey { pointer: key.pointer.filter(|_| is_exact), ..key }
        };
        let mut unmatched: BTreeMap<FindingKey, Vec<&Finding>> = BTreeMap::new();
        gone.into_iter().rev().for_each(|finding| unmatched.entry(key(finding)).or_default().push(finding));
        let mut is_known =
            |finding: &Finding| unmatched.get_mut(&key(finding)).is_some_and(|known| known.pop().is_some());
        let (existing, new): (Vec<Finding>, Vec<Finding>) = split.new.into_iter().partition(|it| is_known(it));
        split.existing.extend(existing);
        split.new = new;
        gone = unmatched.into_values().flatten().collect();
    }
    let ByAge { mut new, mut existing } = split;
    new.retain(|finding| match gone.iter().position(|gone| has_moved(gone, finding, sources)) {
        Some(at) => {
            gone.swap_remove(at);
            existing.push(finding.clone());
            false
        }
        None => true,
    });
    ByAge { new, existing }
}

/// Whether both say the same about one text in two files.
fn has_moved(gone: &Finding, finding: &Finding, sources: &Sources) -> bool {
    let text = |finding: &Finding| finding.span().map(|span| sources.get(span.source));
    let is_moved = |(old, new): (&SourceText, &SourceText)| old.path != new.path && old.text == new.text;
    gone.rule.id == finding.rule.id
        && gone.message == finding.message
        && text(gone).as_deref().zip(text(finding).as_deref()).is_some_and(is_moved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{self, Location};
    use crate::path::RepoPath;
    use crate::text::Span;

    #[test]
    fn what_was_there_as_often_is_not_new() {
        let about = |file: &str| {
            let location = Location::File { path: RepoPath::new(file).unwrap(), revision: "x".into() };
            Finding::new(&finding::RESOURCE_DUPLICATE, location, "twice")
        };
        let new = |found: Vec<Finding>, known: &[Finding]| by_age(found, known, &Sources::default()).new.len();
        assert_eq!(new(vec![about("a"), about("a")], &[about("a")]), 1);
        assert_eq!(new(vec![about("a")], &[about("b")]), 1);
        assert_eq!(new(vec![about("a")], &[about("a"), about("a")]), 0);
    }
    #[test]
    fn a_file_that_moves_takes_its_findings_along_and_a_copy_has_new_ones() {
        let sources = Sources::default();
        let about = |file: &str, revision: &str| {
            let source = sources.add(SourceText::new(RepoPath::new(file).unwrap(), revision, "a: ["));
            Finding::new(&finding::DOCUMENT_SYNTAX, Location::Span(Span::new(source, 3, 4)), "not closed")
        };
        let moved = by_age(vec![about("b", "new")], &[about("a", "old")], &sources);
        assert_eq!((moved.new.len(), moved.existing.len()), (0, 1));
        let copied = by_age(vec![about("a", "new"), about("b", "new")], &[about("a", "old")], &sources);
        assert_eq!((copied.new.len(), copied.existing.len()), (1, 1));
    }
}
