//! Where the walk stands: a chain on the stack, turned into a path only when something is found.

use std::ops::Deref;

use super::PathStep;
use super::identity::Names;
use super::pattern::{ListRules, Progress};
use crate::document::Format;
use crate::value::{Key, Node};

/// One place on the way down, linked to the one above.
pub(super) struct Place<'a> {
    above: Option<&'a Place<'a>>,
    step: Step<'a>,
    /// How far the configured patterns have been followed.
    pub(super) progress: Progress,
}

/// What the items of a list are called; may be found out only when somebody asks.
pub(super) type MaybeNames<'a> = dyn Deref<Target = Option<Names>> + 'a;

#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    Root,
    Key(&'a Key),
    Item { before: Option<(usize, &'a Node)>, after: Option<(usize, &'a Node)>, names: &'a MaybeNames<'a> },
    Inside(Format),
}

impl<'a> Place<'a> {
    pub(super) fn root(rules: &ListRules) -> Self {
        Place { above: None, step: Step::Root, progress: rules.start() }
    }

    pub(super) fn below(&'a self, step: Step<'a>, rules: &ListRules) -> Place<'a> {
        let progress = if rules.is_empty() { Progress::default() } else { self.follow(step, rules) };
        Place { above: Some(self), step, progress }
    }

    fn follow(&self, step: Step<'_>, rules: &ListRules) -> Progress {
        match step {
            Step::Key(key) => rules.step(&self.progress, &[&key.name]),
            Step::Item { before, after, .. } => {
                let indexes: Vec<String> = before.iter().chain(&after).map(|(at, _)| at.to_string()).collect();
                let indexes: Vec<&str> = indexes.iter().map(String::as_str).collect();
                rules.step(&self.progress, &indexes)
            }
            // A document in a string continues the path of the string.
            Step::Root | Step::Inside(_) => self.progress.clone(),
        }
    }

    /// The key this stands under; a list in a list has none.
    pub(super) fn key(&self) -> Option<&'a str> {
        match self.step {
            Step::Key(key) => Some(&key.name),
            _ => None,
        }
    }

    /// How many documents in strings lead here.
    pub(super) fn inside_depth(&self) -> usize {
        self.chain().filter(|place| matches!(place.step, Step::Inside(_))).count()
    }

    /// The way down from the root.
    pub(super) fn path(&self) -> Vec<PathStep> {
        let mut path: Vec<PathStep> = self.chain().filter_map(|place| place.step.to_path()).collect();
        path.reverse();
        path
    }

    fn chain(&self) -> impl Iterator<Item = &Place<'a>> {
        std::iter::successors(Some(self), |place| place.above)
    }
}

impl Step<'_> {
    fn to_path(self) -> Option<PathStep> {
        Some(match self {
            Step::Root => return None,
            Step::Key(key) => PathStep::Key(key.clone()),
            Step::Inside(format) => PathStep::Inside(format),
            Step::Item { before, after, names } => PathStep::Item {
                before: before.map(|(at, _)| at),
                after: after.map(|(at, _)| at),
                label: names.as_ref().and_then(|names| {
                    let (_, item) = after.or(before)?;
                    // Items paired by likeness may be called differently on the two sides; then neither name is theirs.
                    let is_one_name = before.is_none_or(|(_, before)| names.of(before) == names.of(item));
                    if is_one_name { names.label(item) } else { None }
                }),
            },
        })
    }
}
