//! A common edit of texts that differ between resources: `/v1/customers/… → /v2/customers/…`.

use std::hash::Hash;

use crate::diff::{Change, Group, ResourceChange, Variant};
use crate::memo::HashMap;
use crate::parallel::few_or_many;

/// Variants of a group whose texts were edited alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EditPattern {
    /// Their positions among the variants, in order; at least two.
    pub variants: Vec<usize>,
    /// The common start and end of the texts before.
    pub before: Ends,
    /// The common start and end of the texts after.
    pub after: Ends,
}

/// The common start and end of several texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ends {
    start: String,
    end: String,
}

impl Ends {
    /// Both ends with a mark for what is between.
    pub(super) fn words(&self, ellipsis: &str) -> String {
        [self.start.as_str(), ellipsis, &self.end].concat()
    }
}

/// Fewer texts than this are taken apart on one thread.
const MANY: usize = 1000;
/// Longer texts do not fit on a line.
const LONGEST: usize = 400;

/// The pattern that most resources share, if it covers more of them than the most frequent values.
pub(super) fn of_group(group: &Group, resources: &[ResourceChange]) -> Option<EditPattern> {
    let example = |variant: &Variant| variant.example(resources).and_then(|(_, change)| texts(change));
    let texts: Vec<Option<(&str, &str)>> = group.variants.iter().map(example).collect();
    let edits: Vec<Option<TextEdit<'_>>> = few_or_many(&texts, MANY, |pair| pair.map(TextEdit::new));
    // The edited part may be before or after the part that differs, so that one or the other end is shared.
    let by_start = classes(&edits, |edit| (edit.start, edit.old, edit.new));
    let by_end = classes(&edits, |edit| (edit.end, edit.old, edit.new));
    let count = |class: &[usize]| class.iter().map(|at| group.variants[*at].resource_count()).sum::<usize>();
    let largest = by_start.into_iter().chain(by_end).rev().max_by_key(|class| count(class))?;
    let says_more = largest.len() > 1 && count(&largest) > group.variants.first()?.resource_count();
    let members = || largest.iter().filter_map(|at| texts[*at]);
    let first = TextEdit::new(members().next()?);
    says_more.then(|| EditPattern {
        before: ends(&members().map(|(old, _)| old).collect::<Vec<_>>(), &first, first.old),
        after: ends(&members().map(|(_, new)| new).collect::<Vec<_>>(), &first, first.new),
        variants: largest.clone(),
    })
}

fn texts(change: &Change) -> Option<(&str, &str)> {
    let (old, new) = (change.before.as_ref()?, change.after.as_ref()?);
    let text = |node: &crate::value::Node| node.tag().is_none() && !node.holds_secret();
    let (before, after) = (old.as_str()?, new.as_str()?);
    let is_short = |text: &str| text.len() <= LONGEST && !text.contains('\n');
    (text(old) && text(new) && is_short(before) && is_short(after)).then_some((before, after))
}

/// The edit of a text, between the unchanged start and the unchanged end.
struct TextEdit<'a> {
    start: &'a str,
    old: &'a str,
    new: &'a str,
    end: &'a str,
}

impl<'a> TextEdit<'a> {
    fn new((before, after): (&'a str, &'a str)) -> Self {
        let start = shared_start(before, after);
        let (old, new) = (&before[start..], &after[start..]);
        let end = shared_end(old, new);
        Self {
            start: &before[..start],
            old: &old[..old.len() - end],
            new: &new[..new.len() - end],
            end: &old[old.len() - end..],
        }
    }
}

/// Positions of texts that were edited alike, in order of the first. Texts without a common start or end are in no class.
fn classes<'a, K: Hash + Eq>(edits: &[Option<TextEdit<'a>>], key: impl Fn(&TextEdit<'a>) -> K) -> Vec<Vec<usize>> {
    let mut classes: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<K, usize> = HashMap::default();
    for (at, edit) in edits.iter().enumerate() {
        let Some(edit) = edit.as_ref().filter(|edit| !edit.start.is_empty() || !edit.end.is_empty()) else { continue };
        let class = *known.entry(key(edit)).or_insert(classes.len());
        match classes.get_mut(class) {
            Some(class) => class.push(at),
            None => classes.push(vec![at]),
        }
    }
    classes
}

/// The common start and end of all texts, cut to whole words unless that removes the edit.
fn ends(texts: &[&str], edit: &TextEdit<'_>, core: &str) -> Ends {
    let Some((first, rest)) = texts.split_first() else { return Ends { start: String::new(), end: String::new() } };
    let start = rest.iter().fold(first.len(), |length, text| length.min(shared_start(first, text)));
    let is_word = |c: char| c.is_alphanumeric();
    let whole = first[..start].trim_end_matches(is_word).len();
    let edited = edit.start.len() + core.len();
    let start = if whole >= edited || start < edited { whole } else { start };
    let room = texts.iter().map(|text| text.len() - start).min().unwrap_or(0);
    let end =
        rest.iter().fold(first.len() - start, |length, text| length.min(shared_end(&first[start..], &text[start..])));
    let end = end.min(room);
    let whole = first[first.len() - end..].trim_start_matches(is_word).len();
    let edited = edit.end.len() + core.len();
    let end = if whole >= edited || end < edited { whole } else { end };
    Ends { start: first[..start].to_owned(), end: first[first.len() - end..].to_owned() }
}

/// The bytes at the start that both have, in whole characters.
fn shared_start(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    (0..=same).rev().find(|at| a.is_char_boundary(*at)).unwrap_or(0)
}

/// The bytes at the end that both have, in whole characters.
fn shared_end(a: &str, b: &str) -> usize {
    let same = a.bytes().rev().zip(b.bytes().rev()).take_while(|(a, b)| a == b).count();
    (0..=same).rev().find(|same| a.is_char_boundary(a.len() - same)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::{ChangeKind, groups};
    use crate::report::sample::{both, change, key, kubernetes, map, report, resource, secret, string};
    use crate::text::Span;
    use crate::value::Node;
    use proptest::prelude::*;

    fn edit_pattern(edits: &[(&str, &str)]) -> Option<(usize, String, String)> {
        let mut report = report(Vec::new());
        let other = crate::text::SourceText::new(crate::report::sample::path("base.yaml"), "x", "text");
        let at = Span::new(report.sources.add(other), 0, 0);
        let node = |text: &str| Node { span: at, ..if text == "secret" { secret(text) } else { string(text) } };
        for (number, (old, new)) in edits.iter().enumerate() {
            let side = || resource(kubernetes("ConfigMap", &format!("n{number}")), "x.yaml", map([]));
            report.resources.push(both(
                side(),
                side(),
                vec![change(ChangeKind::Value, [key("k")], node(old), node(new))],
            ));
        }
        let groups = groups(&report.resources, &report.sources);
        let edit_pattern = of_group(groups.first()?, &report.resources)?;
        Some((edit_pattern.variants.len(), edit_pattern.before.words("…"), edit_pattern.after.words("…")))
    }

    #[test]
    fn the_same_edit_of_different_texts_has_a_form() {
        let paths = [("/v1/c/1001", "/v2/c/1001"), ("/v1/c/1002", "/v2/c/1002"), ("/v1/c/2", "/v2/c/2")];
        assert_eq!(edit_pattern(&paths), Some((3, "/v1/c/…".into(), "/v2/c/…".into())));
        let outlier = [&paths[..], &[("/own", "/v2/c/3")]].concat();
        assert_eq!(edit_pattern(&outlier), Some((3, "/v1/c/…".into(), "/v2/c/…".into())), "outliers are no part of it");
        let ends = [("acme.old.example", "acme.new.example"), ("bolt.old.example", "bolt.new.example")];
        assert_eq!(edit_pattern(&ends), Some((2, "….old.example".into(), "….new.example".into())));
        assert_eq!(
            edit_pattern(&[("silver1", "gold1"), ("silver2", "gold2")]),
            Some((2, "silver…".into(), "gold…".into()))
        );
        assert_eq!(edit_pattern(&[("a", "x"), ("b", "x")]), None);
        assert_eq!(edit_pattern(&[("v1-é", "v2-é"), ("v1-ü", "v2-ü")]), Some((2, "v1-…".into(), "v2-…".into())));
        assert_eq!(
            edit_pattern(&[("a/1", "b/1"), ("a/1", "b/1"), ("a/2", "b/2")]),
            Some((2, "a/…".into(), "b/…".into()))
        );
        assert_eq!(edit_pattern(&[("secret", "a"), ("secret", "b")]), None);
    }

    proptest! {
        #[test]
        fn a_form_fits_all_that_have_it(edits in prop::collection::vec(("[ab1/é]{0,6}", "[ab1/é]{0,6}"), 2..6)) {
            let pairs: Vec<(&str, &str)> = edits.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
            if let Some((_, before, after)) = edit_pattern(&pairs) {
                let fits = |words: &str, text: &str| {
                    let (start, end) = words.split_once('…').expect("a mark");
                    text.len() >= start.len() + end.len() && text.starts_with(start) && text.ends_with(end)
                };
                let count = pairs.iter().filter(|(old, new)| fits(&before, old) && fits(&after, new)).count();
                prop_assert!(count >= 2, "{before} {after}");
            }
        }
    }
}
