//! The current path of the tree walk: a linked chain on the stack, converted to a path only when a change is found.

use std::ops::Deref;

use super::identity::Names;
use super::pattern::{ListRules, Progress};
use super::{DiffSide, PathStep};
use crate::document::Format;
use crate::value::{self, Key, Node};

/// One level of the current path, linked to its parent.
pub(super) struct WalkPath<'a> {
    above: Option<&'a WalkPath<'a>>,
    step: WalkStep<'a>,
    /// How far the configured patterns have matched.
    pub(super) progress: Progress,
}

/// The names of list items, computed only when needed.
pub(super) type MaybeNames<'a> = dyn Deref<Target = Option<Names>> + 'a;

#[derive(Clone, Copy)]
pub(super) enum WalkStep<'a> {
    Root,
    Key(&'a Key),
    Item {
        before: Option<(usize, &'a Node)>,
        after: Option<(usize, &'a Node)>,
        names: &'a MaybeNames<'a>,
    },
    Embedded(Format),
    /// Not a level: records that the value here was inserted from elsewhere, on one side or both.
    Brought {
        before: Option<&'a value::Step>,
        after: Option<&'a value::Step>,
    },
}

/// Provenance steps that are recorded for a change; more would only take time.
const LONGEST_WAY: usize = 64;

impl<'a> WalkPath<'a> {
    pub(super) fn root(rules: &ListRules) -> Self {
        WalkPath { above: None, step: WalkStep::Root, progress: rules.start() }
    }

    pub(super) fn below(&'a self, step: WalkStep<'a>, rules: &ListRules) -> WalkPath<'a> {
        let progress = if rules.is_empty() { Progress::default() } else { self.follow(step, rules) };
        WalkPath { above: Some(self), step, progress }
    }

    fn follow(&self, step: WalkStep<'_>, rules: &ListRules) -> Progress {
        match step {
            WalkStep::Key(key) => rules.step(&self.progress, &[&key.name]),
            WalkStep::Item { before, after, .. } => {
                let indexes: Vec<String> = before.iter().chain(&after).map(|(at, _)| at.to_string()).collect();
                let indexes: Vec<&str> = indexes.iter().map(String::as_str).collect();
                rules.step(&self.progress, &indexes)
            }
            // An embedded document continues the path of its string.
            WalkStep::Root | WalkStep::Embedded(_) | WalkStep::Brought { .. } => self.progress.clone(),
        }
    }

    /// The key of the nearest map entry; `None` for a list in a list.
    pub(super) fn key(&self) -> Option<&'a str> {
        match self.step {
            WalkStep::Key(key) => Some(&key.name),
            WalkStep::Brought { .. } => self.above.and_then(WalkPath::key),
            _ => None,
        }
    }

    /// The number of embedded documents on the path.
    pub(super) fn embedded_depth(&self) -> usize {
        self.chain().filter(|place| matches!(place.step, WalkStep::Embedded(_))).count()
    }

    /// The path from the root.
    pub(super) fn path(&self) -> Vec<PathStep> {
        let mut path: Vec<PathStep> = self.chain().filter_map(|place| place.step.to_path()).collect();
        path.reverse();
        path
    }

    /// Copies the provenance steps of all levels onto a value. Steps are stored where a part was inserted, and a change is no
    /// longer part of that tree.
    pub(super) fn tracked(&self, node: &Node, side: DiffSide) -> Node {
        let own = node.step();
        let mut room = LONGEST_WAY;
        let mut node = node.clone();
        for place in self.chain() {
            let WalkStep::Brought { before, after } = place.step else { continue };
            let last = if side == DiffSide::Before { before } else { after };
            // This level may be the value itself, which has these steps already.
            let last = last.filter(|last| !own.is_some_and(|own| std::ptr::eq(*last, own)));
            let way = std::iter::successors(last, |step| step.before.as_deref()).take(room);
            let way: Vec<&value::Step> = way.collect();
            room -= way.len();
            node = way.iter().rev().fold(node, |node, step| node.through(step.kind, step.at));
        }
        node
    }

    fn chain(&self) -> impl Iterator<Item = &WalkPath<'a>> {
        std::iter::successors(Some(self), |place| place.above)
    }
}

impl WalkStep<'_> {
    fn to_path(self) -> Option<PathStep> {
        Some(match self {
            WalkStep::Root | WalkStep::Brought { .. } => return None,
            WalkStep::Key(key) => PathStep::Key(key.clone()),
            WalkStep::Embedded(format) => PathStep::Embedded(format),
            WalkStep::Item { before, after, names } => PathStep::Item {
                before: before.map(|(at, _)| at),
                after: after.map(|(at, _)| at),
                label: names.as_ref().and_then(|names| {
                    let (_, item) = after.or(before)?;
                    // Items paired by similarity may have different names on the two sides; then neither is used.
                    let is_one_name = before.is_none_or(|(_, before)| names.parts(before) == names.parts(item));
                    if is_one_name { names.label(item) } else { None }
                }),
            },
        })
    }
}
