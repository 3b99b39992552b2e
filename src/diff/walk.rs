//! The walk down two trees at once, and what it finds.

use std::cell::LazyCell;
use std::sync::Arc;

use super::embedded;
use super::kubernetes::{self, Known};
use super::lists::{self, Matching, Pair};
use super::options::Options;
use super::pattern::CompiledRule;
use super::same::{Sameness, sameness};
use super::text;
use super::walk_path::{MaybeNames, WalkPath, WalkStep};
use super::{Change, ChangeKind, DiffSide, Difference, UnusableKeys};
use crate::value::{Entry, Map, Node, Value};

pub(super) fn walk(before: &Node, after: &Node, options: &Options) -> Difference {
    let mut walk = TreeDiff { options, is_kubernetes: options.is_kubernetes, found: Difference::default() };
    walk.nodes(before, after, &WalkPath::root(&options.lists));
    walk.found
}

struct TreeDiff<'o> {
    options: &'o Options,
    /// Options of the current document, which may be embedded in another.
    is_kubernetes: bool,
    found: Difference,
}

/// Beyond this many moved items, if they are most of the list, one change of order replaces the moves.
const MOST_MOVES: usize = 8;

impl TreeDiff<'_> {
    fn nodes(&mut self, before: &Node, after: &Node, place: &WalkPath<'_>) {
        if self.found.is_cut {
            return;
        }
        match sameness(before, after) {
            Sameness::Identical => return,
            Sameness::Equal => return self.spelling(before, after, place),
            Sameness::Different => {}
        }
        match (before.step(), after.step()) {
            (None, None) => self.parts(before, after, place),
            (old, new) => {
                let brought = self.below(place, WalkStep::Brought { before: old, after: new });
                self.parts(before, after, &brought);
            }
        }
    }

    fn parts(&mut self, before: &Node, after: &Node, place: &WalkPath<'_>) {
        match (&before.value, &after.value) {
            // The type of a secret stays as hidden as its value.
            (Value::Secret(_), _) | (_, Value::Secret(_)) => self.changed(ChangeKind::Value, before, after, place),
            _ if before.tag() != after.tag() => self.changed(ChangeKind::Type, before, after, place),
            (Value::Map(these), Value::Map(those)) => self.maps(these, those, place),
            (Value::List(_), Value::List(_)) => self.lists(before, after, place),
            (Value::String(_), Value::String(_)) => self.strings(before, after, place),
            _ if before.type_of() == after.type_of() => self.changed(ChangeKind::Value, before, after, place),
            _ => self.changed(ChangeKind::Type, before, after, place),
        }
    }

    /// Entries in the order of `after`; removed ones follow the entry that they followed before.
    fn maps(&mut self, before: &Map, after: &Map, place: &WalkPath<'_>) {
        let mut gone = gone(before, after).into_iter().peekable();
        while let Some((_, entry)) = gone.next_if(|(behind, _)| behind.is_none()) {
            self.removed(&entry.value, place, WalkStep::Key(&entry.key));
        }
        for (at, entry) in after.entries().iter().enumerate() {
            let step = WalkStep::Key(&entry.key);
            match before.entry_near(at, &entry.key) {
                Some(twin) => self.nodes(&twin.value, &entry.value, &self.below(place, step)),
                None => self.added(&entry.value, place, step),
            }
            while let Some((_, entry)) = gone.next_if(|(behind, _)| *behind == Some(at)) {
                self.removed(&entry.value, place, WalkStep::Key(&entry.key));
            }
        }
    }

    fn lists(&mut self, before: &Node, after: &Node, place: &WalkPath<'_>) {
        // Matching the items of long lists takes much memory.
        if !self.options.limits.may_go_on() {
            self.found.is_cut = true;
            return;
        }
        let (these, those) = (before.as_list().unwrap_or_default(), after.as_list().unwrap_or_default());
        let (rule, known) = known(self.options, self.is_kubernetes, (these, those), place);
        let matching = lists::match_items(these, those, rule, known);
        if let Some(rule) = rule.filter(|rule| !lists::is_followed(&matching, rule)) {
            self.unusable(rule, these, those, place);
        }
        let moved = matching.pairs.iter().filter(|pair| matching.is_ordered && !pair.is_in_order).count();
        let is_complete = matching.pairs.len() == these.len() && these.len() == those.len();
        let is_permutation = || {
            let is_equal = |pair: &Pair| sameness(&these[pair.before], &those[pair.after]) != Sameness::Different;
            moved > 0 && is_complete && matching.pairs.iter().all(is_equal)
        };
        let is_shuffled = (moved > MOST_MOVES && 2 * moved > matching.pairs.len()) || is_permutation();
        if is_shuffled {
            self.changed(ChangeKind::Reorder, before, after, place);
        }
        self.items(these, those, &matching, matching.is_ordered && !is_shuffled, place);
    }

    fn unusable(&mut self, rule: &CompiledRule, before: &[Node], after: &[Node], place: &WalkPath<'_>) {
        let Some((item, twin)) = lists::fault(after, rule).or_else(|| lists::fault(before, rule)) else { return };
        self.found.unusable.push(UnusableKeys {
            pattern: rule.pointer.clone(),
            keys: rule.keys.clone(),
            path: place.path(),
            item: item.span,
            twin: twin.map(|twin| twin.span),
        });
    }

    /// Items in the order of `after`; between two that stayed, first those that are gone, then those that came.
    fn items(&mut self, before: &[Node], after: &[Node], matching: &Matching, shows_moves: bool, place: &WalkPath<'_>) {
        let names: &MaybeNames<'_> = &&matching.names;
        let mut is_paired = vec![false; before.len()];
        matching.pairs.iter().for_each(|pair| is_paired[pair.before] = true);
        let mut pairs = matching.pairs.iter().peekable();
        let (mut from_before, mut from_after) = (0, 0);
        let stayed = matching.pairs.iter().filter(|pair| pair.is_in_order).map(|pair| (pair.before, pair.after));
        for (to_before, to_after) in stayed.chain([(before.len(), after.len())]) {
            for at in (from_before..to_before).filter(|&at| !is_paired[at]) {
                let step = WalkStep::Item { before: Some((at, &before[at])), after: None, names };
                self.removed(&before[at], place, step);
            }
            let end = after.len().min(to_after + 1);
            for (at, item) in (from_after..).zip(&after[from_after..end]) {
                let Some(pair) = pairs.next_if(|pair| pair.after == at) else {
                    self.added(item, place, WalkStep::Item { before: None, after: Some((at, item)), names });
                    continue;
                };
                let is_moved = shows_moves && !pair.is_in_order;
                self.item((pair.before, &before[pair.before]), (at, item), names, is_moved, place);
            }
            (from_before, from_after) = (to_before + 1, to_after + 1);
        }
    }

    fn item(
        &mut self,
        before: (usize, &Node),
        after: (usize, &Node),
        names: &MaybeNames<'_>,
        is_moved: bool,
        place: &WalkPath<'_>,
    ) {
        let place = self.below(place, WalkStep::Item { before: Some(before), after: Some(after), names });
        if is_moved {
            self.changed(ChangeKind::Move, before.1, after.1, &place);
        }
        self.nodes(before.1, after.1, &place);
    }

    fn strings(&mut self, before: &Node, after: &Node, place: &WalkPath<'_>) {
        let (this, that) = (before.as_str().unwrap_or_default(), after.as_str().unwrap_or_default());
        let is_text = text::is_text(this, that, self.options.text);
        let kind = if is_text { ChangeKind::Text } else { ChangeKind::Value };
        let Some(inside) = embedded::read(before, after, place, self.options) else {
            return self.changed(kind, before, after, place);
        };
        let place = self.below(place, WalkStep::Embedded(inside.format));
        if sameness(&inside.before, &inside.after) == Sameness::Identical {
            self.spelled(kind, before, after, &place);
            return;
        }
        let is_kubernetes = [&inside.before, &inside.after].into_iter().all(kubernetes::is_kubernetes);
        let outside = std::mem::replace(&mut self.is_kubernetes, is_kubernetes);
        self.nodes(&inside.before, &inside.after, &place);
        self.is_kubernetes = outside;
    }

    /// Lists the numbers that are spelled differently in two trees that are equal.
    fn spelling(&mut self, before: &Node, after: &Node, place: &WalkPath<'_>) {
        match (&before.value, &after.value) {
            (Value::Number(this), Value::Number(that)) if !this.is_identical(that) => {
                self.spelled(ChangeKind::Value, before, after, place);
            }
            (Value::Map(before), Value::Map(after)) if !Arc::ptr_eq(before, after) => {
                for (at, entry) in after.entries().iter().enumerate() {
                    if let Some(twin) = before.entry_near(at, &entry.key) {
                        self.spelling(&twin.value, &entry.value, &self.below(place, WalkStep::Key(&entry.key)));
                    }
                }
            }
            (Value::List(this), Value::List(that)) if !Arc::ptr_eq(this, that) => {
                let (these, those) = (before.as_list().unwrap_or_default(), after.as_list().unwrap_or_default());
                let (options, is_kubernetes) = (self.options, self.is_kubernetes);
                let names = LazyCell::new(|| {
                    let (rule, known) = known(options, is_kubernetes, (these, those), place);
                    lists::names_of(those, rule, known)
                });
                for (at, (before, after)) in these.iter().zip(those).enumerate() {
                    let step = WalkStep::Item { before: Some((at, before)), after: Some((at, after)), names: &names };
                    self.spelling(before, after, &self.below(place, step));
                }
            }
            _ => {}
        }
    }

    fn below<'a>(&self, place: &'a WalkPath<'a>, step: WalkStep<'a>) -> WalkPath<'a> {
        place.below(step, &self.options.lists)
    }

    fn changed(&mut self, kind: ChangeKind, before: &Node, after: &Node, place: &WalkPath<'_>) {
        if self.has_room() {
            self.found.changes.push(change(kind, Some(before), Some(after), place));
        }
    }

    fn spelled(&mut self, kind: ChangeKind, before: &Node, after: &Node, place: &WalkPath<'_>) {
        if self.has_room() {
            self.found.spelling_only.push(change(kind, Some(before), Some(after), place));
        }
    }

    fn added(&mut self, after: &Node, place: &WalkPath<'_>, step: WalkStep<'_>) {
        if self.has_room() {
            let found = change(ChangeKind::Add, None, Some(after), &place.below(step, &self.options.lists));
            self.found.changes.push(found);
        }
    }

    fn removed(&mut self, before: &Node, place: &WalkPath<'_>, step: WalkStep<'_>) {
        if self.has_room() {
            let found = change(ChangeKind::Remove, Some(before), None, &place.below(step, &self.options.lists));
            self.found.changes.push(found);
        }
    }

    /// Books one more change on the account of the run; false if it may not be listed.
    fn has_room(&mut self) -> bool {
        self.found.is_cut = self.found.is_cut || !self.options.limits.take_change();
        !self.found.is_cut
    }
}

/// The configured and known keys of the list at this path.
fn known<'o>(
    options: &'o Options,
    is_kubernetes: bool,
    (before, after): (&[Node], &[Node]),
    place: &WalkPath<'_>,
) -> (Option<&'o CompiledRule>, Known) {
    let key = place.key().filter(|_| is_kubernetes);
    let known = key.map_or(Known::Nothing, |key| kubernetes::known(key, before, after));
    (options.lists.at(&place.progress), known)
}

fn change(kind: ChangeKind, before: Option<&Node>, after: Option<&Node>, place: &WalkPath<'_>) -> Change {
    let tracked = |node: Option<&Node>, side| node.map(|node| place.tracked(node, side));
    Change::new(kind, place.path(), tracked(before, DiffSide::Before), tracked(after, DiffSide::After))
}

/// The entries that are gone, each with the position in `after` of the last entry before it that stayed; sorted by it.
fn gone<'a>(before: &'a Map, after: &Map) -> Vec<(Option<usize>, &'a Entry)> {
    let mut behind = None;
    let mut gone = Vec::new();
    for (at, entry) in before.entries().iter().enumerate() {
        match after.position_near(at, &entry.key) {
            Some(position) => behind = Some(position),
            None => gone.push((behind, entry)),
        }
    }
    gone.sort_by_key(|(behind, _)| *behind);
    gone
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::testing::{lines, number, read, secret, string, tagged, try_read};
    use crate::document::Format;
    use crate::value::StepKind;

    fn changes(before: &str, after: &str) -> Vec<String> {
        lines(&walk(&read(before), &read(after), &Options::default()).changes)
    }

    fn spelling(before: &str, after: &str) -> Vec<String> {
        let difference = walk(&read(before), &read(after), &Options::default());
        assert!(difference.changes.is_empty());
        lines(&difference.spelling_only)
    }

    #[test]
    fn maps_are_compared_by_key_in_any_order() {
        assert_eq!(changes(r#"{"a": 1, "b": {"c": 1, "d": 2}}"#, r#"{"b": {"d": 2, "c": 1}, "a": 1}"#), [""; 0]);
        assert_eq!(changes(r#"{"a": null}"#, "{}"), ["remove /a"]);
    }

    #[test]
    fn changes_come_in_the_order_of_after_and_what_is_gone_where_it_stood() {
        assert_eq!(
            changes(r#"{"w": 0, "a": 1, "x": 1, "y": 1, "b": 1, "z": 1}"#, r#"{"new": 1, "b": 2, "a": 2, "last": 1}"#),
            ["remove /w", "add /new", "value /b", "remove /z", "value /a", "remove /x", "remove /y", "add /last"]
        );
        assert_eq!(
            changes("[9, 1, 2, 3, 8]", "[1, 5, 3, 6]"),
            ["remove /0→-", "remove /2→-", "add /-→1", "remove /4→-", "add /-→3"]
        );
    }

    #[test]
    fn types_and_tags_are_told_from_values() {
        assert_eq!(changes(r#"{"v": "true"}"#, r#"{"v": true}"#), ["type /v"]);
        assert_eq!(changes(r#"{"v": {}}"#, r#"{"v": []}"#), ["type /v"]);
        assert_eq!(changes(r#"{"v": 9007199254740993}"#, r#"{"v": 9007199254740992}"#), ["value /v"]);
        let of = |before, after| lines(&walk(&before, &after, &Options::default()).changes);
        assert_eq!(of(tagged("!Ref", string("a")), string("a")), ["type "]);
        assert_eq!(of(tagged("!Ref", string("a")), tagged("!Ref", string("b"))), ["value "]);
        assert_eq!(of(tagged("!A", read(r#"{"x": 1}"#)), tagged("!A", read(r#"{"x": 2}"#))), ["value /x"]);
    }

    #[test]
    fn spelling_is_no_change_but_is_found_even_deep_in_what_is_equal() {
        assert_eq!(spelling(r#"{"v": 1.10}"#, r#"{"v": 1.1}"#), ["value /v"]);
        assert_eq!(
            spelling(
                r#"{"l": [{"name": "a", "v": [1.0]}, {"name": "b"}]}"#,
                r#"{"l": [{"name": "a", "v": [1]}, {"name": "b"}]}"#
            ),
            ["value /l/0[name=a]/v/0"]
        );
        assert_eq!(spelling(r#"{"v": .nan}"#, r#"{"v": .nan}"#), [""; 0]);
        assert_eq!(spelling(r#"{"v": 0x10}"#, r#"{"v": 16}"#), [""; 0]);
        let reordered = walk(&read("[1.0, 2]"), &read("[2, 1]"), &Options::default());
        assert_eq!(
            (lines(&reordered.changes), lines(&reordered.spelling_only)),
            (vec!["reorder ".into()], vec!["value /0→1".into()])
        );
    }

    #[test]
    fn texts_share_lines_or_are_values() {
        assert_eq!(changes(r#""a\nb\n""#, r#""a\nc\n""#), ["text "]);
        assert_eq!(changes(r#""a\nb\n""#, r#""x\ny\n""#), ["value "]);
        assert_eq!(changes(r#""a""#, r#""b""#), ["value "]);
        assert_eq!(changes(r#""a\n\n""#, r#""b\n\n""#), ["value "], "blank lines are nothing in common");
        assert_eq!(changes(r#""a\nb""#, r#""a\nb\n""#), ["text "]);
    }

    #[test]
    fn secrets_tell_that_they_changed_and_nothing_else() {
        let of = |before: &Node, after: &Node| walk(before, after, &Options::default());
        let (one, other) = (secret(string("{\"a\": 1}")), secret(string("{\"a\": 2}")));
        assert_eq!(lines(&of(&one, &other).changes), ["value "]);
        assert_eq!(lines(&of(&one, &one.clone()).changes), [""; 0]);
        assert_eq!(lines(&of(&one, &number("1")).changes), ["value "], "a type change would tell the type");
        assert_eq!(lines(&of(&read("{}"), &one).changes), ["value "]);
        let spelled = of(&secret(number("1.0")), &secret(number("1")));
        assert!(spelled.changes.is_empty() && spelled.spelling_only.is_empty());
    }

    fn looking_inside() -> Options {
        let parse = |text: &str, _: crate::text::Span| match text.strip_prefix("yaml\n") {
            Some(rest) => try_read(rest).map(|node| (Format::Yaml, node)),
            None => try_read(text).map(|node| (Format::Json, node)),
        };
        Options { embedded_parser: Some(Arc::new(parse)), ..Options::default() }
    }

    fn inside(key: &str, before: &str, after: &str) -> (Vec<String>, Vec<String>) {
        let document = |text: &str| crate::diff::testing::map(vec![(key, string(text))]);
        let difference = walk(&document(before), &document(after), &looking_inside());
        (lines(&difference.changes), lines(&difference.spelling_only))
    }

    #[test]
    fn documents_in_strings_are_compared_inside() {
        let nothing = Vec::<String>::new;
        assert_eq!(
            inside("k", r#"{"a": [1]}"#, r#"{"a": [2]}"#),
            (vec!["remove /k/(json)/a/0→-".into(), "add /k/(json)/a/-→0".into()], nothing())
        );
        assert_eq!(inside("k", r#"{"a": 1}"#, r#"{ "a": 1 }"#), (nothing(), vec!["value /k/(json)".into()]));
        assert_eq!(inside("k", r#"{"a": 1}"#, r#"{"a": 1.0}"#), (nothing(), vec!["value /k/(json)/a".into()]));
        assert_eq!(inside("k", "yaml\n{\"a\": 1}", "yaml\n{\"a\": 2}"), (vec!["value /k/(yaml)/a".into()], nothing()));
        assert_eq!(
            inside("k", "yaml\n{\"a b\": 1}", "yaml\n{\"a b\": 2}"),
            (vec!["text /k".into()], nothing()),
            "a sentence"
        );
        assert_eq!(
            inside("k.yml", "yaml\n{\"a b\": 1}", "yaml\n{\"a b\": 2}"),
            (vec!["value /k.yml/(yaml)/a b".into()], nothing())
        );
        assert_eq!(inside("k", "1", "2"), (vec!["value /k".into()], nothing()));
        assert_eq!(inside("k", "{}", "[]"), (vec!["value /k".into()], nothing()));
        assert_eq!(inside("k", "{{ .Values.a }}", "{{ .Values.b }}"), (vec!["value /k".into()], nothing()));
    }

    #[test]
    fn deep_trees_do_not_exhaust_the_stack() {
        let deep = |leaf: &str| {
            let wrap = |node: Node, at: i32| {
                if at % 2 == 0 {
                    crate::diff::testing::map(vec![("k", node)])
                } else {
                    crate::diff::testing::list(vec![node])
                }
            };
            (0..600).fold(read(leaf), wrap)
        };
        let difference = walk(&deep("1"), &deep("true"), &Options::default());
        assert_eq!(difference.changes.len(), 1);
    }

    #[test]
    fn what_is_cut_out_of_a_tree_keeps_the_whole_of_its_way() {
        let at = |start: usize| crate::text::Span { start: start as u32, ..crate::diff::testing::span() };
        let tree = |leaf: &str| {
            let leaf = read(leaf).through(StepKind::Alias, at(1));
            let inner = crate::diff::testing::map(vec![("k", leaf)]).through(StepKind::Include, at(2));
            let inner = inner.through(StepKind::Directive, at(3));
            crate::diff::testing::map(vec![(
                "m",
                crate::diff::testing::list(vec![inner]).through(StepKind::MergeKey, at(4)),
            )])
        };
        let way = |node: &Option<Node>| {
            let node = node.as_ref().expect("a value");
            node.step()
                .map(|step| step.chain().iter().map(|step| step.at.start).collect::<Vec<_>>())
                .unwrap_or_default()
        };
        let changed = &walk(&tree("1"), &tree("2"), &Options::default()).changes[0];
        assert_eq!((way(&changed.before), way(&changed.after)), (vec![1, 2, 3, 4], vec![1, 2, 3, 4]));
        let gone =
            &walk(&tree("1"), &crate::diff::testing::map(vec![("m", read("[]"))]), &Options::default()).changes[0];
        assert_eq!(way(&gone.before), [2, 3, 4]);
        let retyped =
            &walk(&tree("1"), &crate::diff::testing::map(vec![("m", read("1"))]), &Options::default()).changes[0];
        assert_eq!((way(&retyped.before), way(&retyped.after)), (vec![4], vec![]));
    }

    #[test]
    fn an_edit_that_only_shifts_digits_of_a_version_is_a_value() {
        assert_eq!(changes(r#"{"v": "1.10"}"#, r#"{"v": "1.1"}"#), ["value /v"]);
    }
}
