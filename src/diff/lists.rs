//! Which items of two lists are the same item: by configured names, by known names, by likely names, by content.

use super::identity::{self, Names};
use super::kubernetes::Known;
use super::order::is_turned;
use super::pattern::CompiledRule;
use super::same::{Sameness, sameness};
use super::unmatched::{ALIKE, Unmatched, is_much_alike, is_same_container};
use crate::value::Node;
use crate::value::align;

/// Which items belong together.
#[derive(Debug)]
pub(super) struct Matching {
    /// In order of `after`.
    pub(super) pairs: Vec<Pair>,
    /// What the items are called.
    pub(super) names: Option<Names>,
    /// Whether the order of the items is significant.
    pub(super) is_ordered: bool,
}

/// An item that exists on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) before: usize,
    pub(super) after: usize,
    /// Whether it is part of the longest sequence of items that kept their order.
    pub(super) is_in_order: bool,
}

type Pairs = Vec<(usize, usize)>;

/// Matches the items of two lists.
pub(super) fn match_items(before: &[Node], after: &[Node], rule: Option<&CompiledRule>, known: Known) -> Matching {
    let is_turned = is_turned(before, after);
    let (first, second) = if is_turned { (after, before) } else { (before, after) };
    let is_ordered = rule.is_none_or(|rule| !rule.is_unordered);
    let (mut found, names) = find_pairs(first, second, rule, known, is_ordered);
    found.sort_unstable();
    let places: Vec<usize> = found.iter().map(|&(_, second)| second).collect();
    let mut pairs: Vec<Pair> = found
        .iter()
        .map(|&(first, second)| {
            let (before, after) = if is_turned { (second, first) } else { (first, second) };
            Pair { before, after, is_in_order: false }
        })
        .collect();
    for at in align::longest_rise(&places) {
        pairs[at].is_in_order = true;
    }
    pairs.sort_unstable_by_key(|pair| pair.after);
    Matching { pairs, names, is_ordered }
}

/// The first item that the configured keys do not identify, and the other item with the same key values.
pub(super) fn fault<'a>(items: &'a [Node], rule: &CompiledRule) -> Option<(&'a Node, Option<&'a Node>)> {
    let (item, twin) = Names::configured(&rule.keys).fault(items)?;
    Some((&items[item], twin.map(|twin| &items[twin])))
}

/// Whether the items were matched by the configured keys, or the rule has none.
pub(super) fn is_followed(matching: &Matching, rule: &CompiledRule) -> bool {
    rule.keys.is_empty() || matching.names.as_ref() == Some(&Names::configured(&rule.keys))
}

/// What the items of a list are called, for a list that is equal on both sides.
pub(super) fn names_of(items: &[Node], rule: Option<&CompiledRule>, known: Known) -> Option<Names> {
    let is_usable = |names: &Names| names.pairs(items, items).is_some();
    let configured = rule.filter(|rule| !rule.keys.is_empty()).map(|rule| Names::configured(&rule.keys));
    configured.filter(is_usable).or_else(|| match known {
        Known::Named(names) if is_usable(&names) => Some(names),
        Known::Ordered => None,
        Known::Named(_) | Known::Nothing => identity::guess(items, items).map(|guess| guess.names),
    })
}

fn find_pairs(
    first: &[Node],
    second: &[Node],
    rule: Option<&CompiledRule>,
    known: Known,
    is_ordered: bool,
) -> (Pairs, Option<Names>) {
    let by_value = || if is_ordered { by_content(first, second) } else { as_sets(first, second) };
    if let Some(rule) = rule {
        let names = Names::configured(&rule.keys);
        if rule.keys.is_empty() && is_ordered {
            // A list that is configured to have no names is not searched for names.
            return (by_value(), None);
        }
        if let Some(pairs) = names.pairs(first, second).filter(|_| !rule.keys.is_empty()) {
            return (pairs, Some(names));
        }
    }
    match known {
        Known::Named(names) => {
            if let Some(pairs) = names.pairs(first, second) {
                return (pairs, Some(names));
            }
        }
        Known::Ordered => return (by_value(), None),
        Known::Nothing => {}
    }
    match identity::guess(first, second) {
        Some(guess) if !guess.pairs.is_empty() => (with_renamed(first, second, guess.pairs), Some(guess.names)),
        guess => (by_value(), guess.map(|guess| guess.names)),
    }
}

/// Items paired by a guessed name, and those that changed only that name.
fn with_renamed(first: &[Node], second: &[Node], mut pairs: Pairs) -> Pairs {
    let unmatched = Unmatched::new(first, second, &pairs, |_| 0, |_| 0);
    let found = unmatched.alike(|_, _, similarity| is_much_alike(similarity).then_some(similarity.per_mille));
    pairs.extend(found);
    pairs
}

/// Items of lists without order: equal ones first, then containers that are alike.
fn as_sets(first: &[Node], second: &[Node]) -> Pairs {
    let (first_classes, second_classes) = classes(first, second);
    let mut pairs = align::same_occurrences(first_classes, second_classes);
    let unmatched = Unmatched::new(first, second, &pairs, |_| 0, |_| 0);
    let found = unmatched.alike(|first, second, similarity| {
        (is_same_container(first, second) && similarity.per_mille >= ALIKE).then_some(similarity.per_mille)
    });
    pairs.extend(found);
    pairs
}

/// Items of lists in order: equal ones that stayed in order, equal ones that moved, then those that are alike.
fn by_content(first: &[Node], second: &[Node]) -> Pairs {
    let is_equal = |(a, b): &(&Node, &Node)| sameness(a, b) != Sameness::Different;
    let head = first.iter().zip(second).take_while(is_equal).count();
    let (first_rest, second_rest) = (&first[head..], &second[head..]);
    let tail = first_rest.iter().rev().zip(second_rest.iter().rev()).take_while(is_equal).count();
    let (first_end, second_end) = (first.len() - tail, second.len() - tail);
    let middle = by_content_between(&first[head..first_end], &second[head..second_end]);
    let mut pairs: Pairs = (0..head).map(|at| (at, at)).collect();
    pairs.extend(middle.into_iter().map(|(at, to)| (head + at, head + to)));
    pairs.extend((0..tail).map(|offset| (first_end + offset, second_end + offset)));
    pairs
}

fn by_content_between(first: &[Node], second: &[Node]) -> Pairs {
    let (first_classes, second_classes) = classes(first, second);
    let mut pairs = align::align(&first_classes, &second_classes);
    let first_gaps = gaps(first.len(), pairs.iter().map(|pair| pair.0));
    let second_gaps = gaps(second.len(), pairs.iter().map(|pair| pair.1));
    let (first_rest, second_rest) = (without_partner(&first_gaps), without_partner(&second_gaps));
    let moved = align::same_occurrences(
        first_rest.iter().map(|&at| first_classes[at]),
        second_rest.iter().map(|&at| second_classes[at]),
    );
    pairs.extend(moved.into_iter().map(|(at, to)| (first_rest[at], second_rest[to])));
    let gap = |gaps: &[Option<usize>], at: usize| gaps[at].unwrap_or_default();
    let unmatched = Unmatched::new(first, second, &pairs, |at| gap(&first_gaps, at), |at| gap(&second_gaps, at));
    pairs.extend(unmatched.alike_in_gaps());
    pairs
}

fn classes(first: &[Node], second: &[Node]) -> (Vec<u32>, Vec<u32>) {
    let (first, second): (Vec<&Node>, Vec<&Node>) = (first.iter().collect(), second.iter().collect());
    align::classes(&first, &second, Node::is_equal)
}

/// For each unmatched item, the number of matched ones before it.
fn gaps(length: usize, partnered: impl Iterator<Item = usize>) -> Vec<Option<usize>> {
    let mut gaps = vec![Some(0); length];
    partnered.for_each(|at| gaps[at] = None);
    let mut passed = 0;
    for gap in &mut gaps {
        match gap {
            Some(number) => *number = passed,
            None => passed += 1,
        }
    }
    gaps
}

fn without_partner(gaps: &[Option<usize>]) -> Vec<usize> {
    gaps.iter().enumerate().filter(|(_, gap)| gap.is_some()).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use crate::diff::testing::{lines, list, read, string};
    use crate::diff::{Options, diff};
    use crate::settings::ListRule;

    fn changes(before: &str, after: &str) -> Vec<String> {
        lines(&diff(&read(before), &read(after), &Options::default()).changes)
    }

    fn configured(keys: &[&str], is_unordered: bool, before: &str, after: &str) -> Vec<String> {
        let keys = keys.iter().map(|&key| key.into()).collect();
        let options = Options::new(&[ListRule { pointer: "".into(), keys, is_unordered }]).unwrap();
        lines(&diff(&read(before), &read(after), &options).changes)
    }

    fn kubernetes(before: &str, after: &str) -> Vec<String> {
        let options = Options { is_kubernetes: true, ..Options::default() };
        lines(&diff(&read(before), &read(after), &options).changes)
    }

    const NOTHING: [&str; 0] = [];

    #[test]
    fn scalars_are_added_removed_and_reordered() {
        assert_eq!(changes(r#"{"l": ["a", "b", "c"]}"#, r#"{"l": ["c", "a", "b"]}"#), ["reorder /l"]);
        assert_eq!(changes(r#"["a", "b"]"#, r#"["a", "x", "b"]"#), ["add /-→1"]);
        assert_eq!(changes(r#"["a", "a"]"#, r#"["a"]"#), ["remove /1→-"]);
        assert_eq!(changes(r#"["a", "b", "c"]"#, r#"["a", "x", "c"]"#), ["remove /1→-", "add /-→1"]);
        assert_eq!(changes(r#"["a", "b", "c", "d"]"#, r#"["b", "c", "a", "d", "e"]"#), ["move /0→2", "add /-→4"]);
        assert_eq!(changes("[1, 2, 3]", r#"["1", 2, 3]"#), ["type /0"]);
        assert_eq!(changes("[]", r#"["abcd"]"#), ["add /-→0"]);
    }

    #[test]
    fn a_string_that_was_edited_is_the_same_string() {
        assert_eq!(
            changes(r#"["--level=info", "--x"]"#, r#"["--level=debug", "--x", "--y"]"#),
            ["value /0", "add /-→2"]
        );
        assert_eq!(changes(r#"["sh", "-c", "one\ntwo\nthree\n"]"#, r#"["sh", "-c", "one\n2\nthree\n"]"#), ["text /2"]);
    }

    #[test]
    fn a_file_whose_ids_are_text_does_not_differ_from_itself() {
        let text = r#"{"spec": {"items": [{"id": "1"}, {"id": "2"}]}}"#;
        assert_eq!(changes(text, text), NOTHING);
    }

    #[test]
    fn named_items_are_followed_by_their_name() {
        let before = r#"[{"name": "a", "v": 1}, {"name": "b", "v": 1}, {"name": "c", "v": 1}]"#;
        assert_eq!(
            changes(before, r#"[{"name": "a", "v": 1}, {"name": "c", "v": 2}, {"name": "d", "v": 1}]"#),
            ["remove /1→-[name=b]", "value /2→1[name=c]/v", "add /-→2[name=d]"]
        );
        assert_eq!(
            changes(before, r#"[{"name": "c", "v": 1}, {"name": "a", "v": 1}, {"name": "b", "v": 1}]"#),
            ["reorder "]
        );
        assert_eq!(
            changes(before, r#"[{"name": "c", "v": 2}, {"name": "a", "v": 1}, {"name": "b", "v": 1}]"#),
            ["move /2→0[name=c]", "value /2→0[name=c]/v"]
        );
    }

    #[test]
    fn an_item_that_changed_only_its_likely_name_is_renamed() {
        let item = |name: &str| format!(r#"{{"name": "{name}", "run": "make", "if": "always", "shell": "sh"}}"#);
        let list = |names: &[&str]| format!("[{}]", names.iter().map(|name| item(name)).collect::<Vec<_>>().join(", "));
        assert_eq!(changes(&list(&["a", "b"]), &list(&["a", "c"])), ["value /1/name"]);
        assert_eq!(
            changes(
                r#"[{"name": "a", "v": 1}, {"name": "b", "v": 1}]"#,
                r#"[{"name": "a", "v": 1}, {"name": "c", "v": 1}]"#
            ),
            ["remove /1→-[name=b]", "add /-→1[name=c]"],
            "too little in common to be the same"
        );
    }

    #[test]
    fn configured_names_may_be_composite_and_deep() {
        let before =
            r#"[{"m": {"n": 1}, "k": "x", "v": 1}, {"m": {"n": 1}, "k": "y", "v": 1}, {"m": {"n": 2}, "v": 1}]"#;
        let after =
            r#"[{"m": {"n": 1}, "k": "x", "v": 1}, {"m": {"n": 2}, "v": 2}, {"m": {"n": 1}, "k": "y", "v": 1}]"#;
        assert_eq!(configured(&["m.n", "k"], false, before, after), ["move /2→1[m.n=2]", "value /2→1[m.n=2]/v"]);
        assert_eq!(configured(&["m.n", "k"], true, before, after), ["value /2→1[m.n=2]/v"]);
    }

    #[test]
    fn keys_that_name_nothing_or_two_of_a_list_are_told() {
        let unusable_keys = |keys: &[&str], before: &str, after: &str| {
            let rule = ListRule {
                pointer: "/**/l".into(),
                keys: keys.iter().map(|&key| key.into()).collect(),
                is_unordered: false,
            };
            let options = Options::new(&[rule]).unwrap();
            let difference = diff(&read(before), &read(after), &options);
            let unusable_keys = difference.unusable.iter().map(|unusable| {
                let place = crate::diff::pointer(&unusable.path, crate::diff::DiffSide::After);
                format!("{place} {} {}", unusable.keys.join("+"), unusable.twin.is_some())
            });
            unusable_keys.collect::<Vec<_>>()
        };
        let named = r#"{"l": [{"id": 1}, {"id": 2}]}"#;
        assert_eq!(unusable_keys(&["id"], named, r#"{"l": [{"id": 1}, {"x": 2}]}"#), ["/l id false"]);
        assert_eq!(unusable_keys(&["id"], r#"{"l": [{"x": 1}]}"#, named), ["/l id false"], "on either side");
        assert_eq!(unusable_keys(&["id"], named, r#"{"l": [{"id": 1}, {"id": 1, "v": 1}]}"#), ["/l id true"]);
        assert_eq!(unusable_keys(&["id"], named, r#"{"l": ["a"]}"#), ["/l id false"], "no maps at all");
        assert_eq!(unusable_keys(&["id"], named, r#"{"l": [{"id": 1}, {"id": 3}]}"#), NOTHING);
        assert_eq!(unusable_keys(&["id"], named, r#"{"l": []}"#), NOTHING);
        assert_eq!(unusable_keys(&["id", "v"], named, r#"{"l": [{"id": 1}, {"id": 1, "v": 1}]}"#), NOTHING);
        assert_eq!(unusable_keys(&[], named, r#"{"l": [{"x": 1}]}"#), NOTHING, "without keys nothing is promised");
        assert_eq!(
            unusable_keys(&["id"], r#"{"l": [{"x": 1}]}"#, r#"{"l": [{"x": 1}]}"#),
            NOTHING,
            "nothing to follow"
        );
    }

    #[test]
    fn lists_without_order_are_sets_with_repetition() {
        assert_eq!(configured(&[], true, "[1, 2, 3]", "[3, 1, 2]"), NOTHING);
        assert_eq!(configured(&[], true, "[1, 2, 2]", "[2, 1]"), ["remove /2→-"]);
        assert_eq!(configured(&[], true, "[[1, 2, 3], [4]]", "[[4], [1, 2, 5]]"), ["remove /0→1/2→-", "add /0→1/-→2"]);
        assert_eq!(
            configured(
                &[],
                true,
                r#"[{"name": "a", "v": 1}, {"name": "b"}]"#,
                r#"[{"name": "b"}, {"name": "a", "v": 2}]"#
            ),
            ["value /0→1[name=a]/v"]
        );
    }

    #[test]
    fn a_list_that_is_said_to_have_no_names_has_none() {
        let before = r#"[{"name": "a", "v": 1}, {"name": "b", "v": 1}]"#;
        let after = r#"[{"name": "b", "v": 1}, {"name": "a", "v": 1}, {"name": "c"}]"#;
        assert_eq!(configured(&[], false, before, after), ["move /0→1", "add /-→2"]);
    }

    #[test]
    fn kubernetes_lists_have_their_keys() {
        let pod = |containers: &str| format!(r#"{{"containers": [{containers}]}}"#);
        assert_eq!(
            kubernetes(
                &pod(r#"{"name": "web", "ports": [{"containerPort": 80}], "args": ["a", "b"]}"#),
                &pod(
                    r#"{"name": "web", "ports": [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 80, "protocol": "UDP"}], "args": ["b", "a"]}"#
                ),
            ),
            [
                "add /containers/0[name=web]/ports/0[containerport=80,protocol=tcp]/protocol",
                "add /containers/0[name=web]/ports/-→1[containerport=80,protocol=udp]",
                "reorder /containers/0[name=web]/args",
            ]
        );
        assert_eq!(
            kubernetes(
                &pod(r#"{"name": "a", "x": 1, "y": 2, "z": 3}"#),
                &pod(r#"{"name": "b", "x": 1, "y": 2, "z": 3}"#)
            ),
            ["remove /containers/0→-[name=a]", "add /containers/-→0[name=b]"],
            "another name is another container"
        );
    }

    #[test]
    fn two_of_one_name_are_told_apart_by_content() {
        let before =
            r#"{"env": [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}, {"name": "b", "value": "x"}]}"#;
        let after =
            r#"{"env": [{"name": "a", "value": "1"}, {"name": "a", "value": "3"}, {"name": "b", "value": "x"}]}"#;
        assert_eq!(kubernetes(before, after), ["value /env/1/value"]);
    }

    #[test]
    fn nameless_maps_are_followed_by_what_they_say() {
        let before = r#"[{"a": 1, "b": 2, "c": 3}, {"a": 4, "b": 5, "c": 6}, {"a": 7, "b": 8, "c": 9}]"#;
        assert_eq!(
            changes(
                before,
                r#"[{"a": 0}, {"a": 1, "b": 2, "c": 3}, {"a": 4, "b": 5, "c": 0}, {"a": 7, "b": 8, "c": 9}]"#
            ),
            ["add /-→0", "value /1→2/c"]
        );
        assert_eq!(
            changes(before, r#"[{"a": 7, "b": 8, "c": 9}, {"a": 1, "b": 2, "c": 3}, {"a": 4, "b": 5, "c": 6}, 1]"#),
            ["move /2→0", "add /-→3"]
        );
        assert_eq!(changes(r#"[{"to": {"cidr": "x"}}]"#, r#"[{"to": {"cidr": "y"}}]"#), ["value /0/to/cidr"]);
    }

    #[test]
    fn a_moved_item_shows_its_edit_too() {
        let item = |a: u32, d: u32| format!(r#"{{"a": {a}, "b": {a}, "c": {a}, "d": {d}}}"#);
        let list = |items: &[String]| format!("[{}]", items.join(", "));
        let before = list(&[item(1, 0), item(2, 0), item(3, 0), item(4, 0)]);
        let after = list(&[item(2, 0), item(3, 0), item(4, 0), item(1, 9)]);
        assert_eq!(changes(&before, &after), ["move /0→3", "value /0→3/d"]);
    }

    #[test]
    fn a_list_that_was_sorted_and_edited_is_reordered_once() {
        let list = |from: Vec<u32>, edit: u32| {
            let item = |at: &u32| format!(r#"{{"name": "n{at}", "v": {}}}"#, if *at == 7 { edit } else { 0 });
            format!("[{}]", from.iter().map(item).collect::<Vec<_>>().join(", "))
        };
        let found = changes(&list((0..40).collect(), 0), &list((0..40).rev().collect(), 1));
        assert_eq!(found, ["reorder ", "value /7→32[name=n7]/v"]);
    }

    #[test]
    fn long_lists_are_compared_without_comparing_everybody_with_everybody() {
        let many = 5_000;
        let nameless = |from: u32, edit: u32| {
            list(
                (from..from + many)
                    .map(|at| read(&format!(r#"{{"a": {at}, "b": {{"c": "x{at}"}}, "d": {edit}}}"#)))
                    .collect(),
            )
        };
        let edited = diff(&nameless(0, 0), &nameless(0, 1), &Options::default());
        assert_eq!(edited.changes.len(), many as usize);
        assert!(lines(&edited.changes)[5] == "value /5/d");
        let shifted = diff(&nameless(0, 0), &nameless(3, 0), &Options::default());
        assert_eq!(shifted.changes.len(), 6);
        let rising = list((0..many).map(|at| string(&at.to_string())).collect());
        let reversed = list((0..many).rev().map(|at| string(&at.to_string())).collect());
        assert_eq!(lines(&diff(&rising, &reversed, &Options::default()).changes), ["reorder "]);
    }
}
