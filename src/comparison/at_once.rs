//! Resources that pair within their own file are compared as soon as the file is read, and only what differs is kept: a large
//! change takes as much memory as what it shows.

use std::collections::BTreeSet;
use std::ops::Range;

use super::views::{Changes, ViewNotes};
use super::{AffectedSelectors, Comparison};
use crate::diff::{self, Change, Options, PathStep, ResourceChange, ResourcePair, documents_for_bumps};
use crate::impact::AncestorReaders;
use crate::path::{LogicalPath, RepoPath};
use crate::resource::{Identity, Resource};
use crate::side::{FileContent, Side};
use crate::text::SourceId;
use crate::value::{Node, Value};

/// What was found out about resources that are not kept.
#[derive(Default)]
pub(super) struct ComparedAtOnce {
    pub(super) changes: Changes,
    /// How many resources there were, on either side.
    pub(super) count: usize,
    /// The paths of those that changed: the requests of resources below them may read them.
    pub(super) changed: Vec<LogicalPath>,
}

impl ComparedAtOnce {
    pub(super) fn extend(&mut self, other: Self) {
        self.changes.extend(other.changes);
        self.count += other.count;
        self.changed.extend(other.changed);
    }

    /// The files of those that changed.
    pub(super) fn files(&self) -> BTreeSet<RepoPath> {
        let sides = self.changes.resources.iter().flat_map(|change| change.before.iter().chain(&change.after));
        sides.map(|resource| resource.file.clone()).collect()
    }

    /// Takes out the resources with a change that shows something which must be hidden.
    pub(super) fn take(&mut self, is_secret: &dyn Fn(&Node, &RepoPath) -> bool) -> BTreeSet<(RepoPath, Identity)> {
        let mut taken = BTreeSet::new();
        self.changes.resources.retain(|of| {
            let Some(resource) = of.after.as_ref().or(of.before.as_ref()) else { return true };
            let is_secret = |node: &Node| is_secret(node, &resource.file);
            let is_shown = shows(of, &is_secret);
            if is_shown {
                taken.insert((resource.file.clone(), resource.identity.clone()));
            }
            !is_shown
        });
        // What a rule hides is named by its resource alone.
        let notes = &mut self.changes.notes;
        for list in [&mut notes.suppressed, &mut notes.would_hide] {
            list.retain(|it| !taken.iter().any(|(_, identity)| *identity == it.identity));
        }
        self.count -= taken.len();
        taken
    }

    fn add(&mut self, paths: impl Iterator<Item = LogicalPath>, change: Option<ResourceChange>, notes: ViewNotes) {
        self.count += 1;
        self.changed.extend(paths);
        self.changes.resources.extend(change);
        self.changes.notes.extend(notes);
    }
}

impl Comparison<'_> {
    /// Takes the resources of a file that certainly pair with each other off both sides, and compares them. Where a report shows
    /// nothing but changes, the texts of the file are kept only where something is shown of them.
    pub(super) fn compare_at_once(
        &self,
        sides: &mut [FileContent; 2],
        texts: [Option<SourceId>; 2],
        options: &Options,
    ) -> ComparedAtOnce {
        let mut done = ComparedAtOnce::default();
        // What is included may be secret where it comes from.
        let is_clean = |side: &FileContent| {
            !side.is_broken
                && !side.is_unreadable
                && !side.is_incomplete
                && side.skipped.is_none()
                && side.reads.is_empty()
        };
        if !sides.iter().all(is_clean) {
            return done;
        }
        let [before, after] = &mut *sides;
        let mut is_taken = [vec![false; before.resources.len()], vec![false; after.resources.len()]];
        for (this, that) in diff::sole_namesakes(&before.resources, &after.resources) {
            let (old, new) = (&before.resources[this], &after.resources[that]);
            if stands_alone(&self.before, old)
                && stands_alone(&self.after, new)
                && self.compare_one((old, new), options, &mut done)
            {
                (is_taken[0][this], is_taken[1][that]) = (true, true);
            }
        }
        for (side, is_taken) in [before, after].into_iter().zip(is_taken) {
            let mut is_taken = is_taken.into_iter();
            side.resources.retain(|_| !is_taken.next().unwrap_or(false));
        }
        if !self.options.keeps_resources && sides.iter().all(is_over) {
            self.drop_texts(texts, &done);
        }
        // Most files hold one resource, and there may be many files.
        done.changes.resources.shrink_to_fit();
        done
    }

    /// Compares two versions of a resource, unless they hold secrets: others may have copies of these.
    fn compare_one(&self, (old, new): (&Resource, &Resource), options: &Options, done: &mut ComparedAtOnce) -> bool {
        let [before, after] = self.hide_declared(vec![old.clone()], vec![new.clone()]);
        let is_kustomized = |side: &Side<'_>, it: &Resource| side.is_kustomized_secret(&it.file);
        if before.iter().chain(&after).any(|it| it.payload.holds_secret())
            || is_kustomized(&self.before, old)
            || is_kustomized(&self.after, new)
        {
            return false;
        }
        if !self.options.keeps_resources {
            self.after.limits.give_back_nodes(values_of_its_own(old) + values_of_its_own(new));
        }
        let pair: ResourcePair = (before.into_iter().next(), after.into_iter().next());
        let changed: Vec<LogicalPath> = paths(&pair).filter(|_| is_changed(&pair)).cloned().collect();
        let (reach, readers) = (AffectedSelectors::default(), AncestorReaders::default());
        let (change, notes) = self.compare_pair(pair, options, &reach, &readers, &Default::default());
        let kept = |change| if self.options.keeps_resources { change } else { without_payloads(change) };
        done.add(changed.into_iter(), change.map(kept), notes);
        true
    }

    /// Keeps the lines of changes, and nothing else of these texts.
    fn drop_texts(&self, texts: [Option<SourceId>; 2], done: &ComparedAtOnce) {
        let resources = &done.changes.resources;
        let is_needed = |of: &ResourceChange| !of.difference.unusable.is_empty();
        if resources.iter().any(is_needed) {
            return;
        }
        for source in texts.into_iter().flatten() {
            let shown: Vec<Range<usize>> = resources.iter().flat_map(|resource| shown_of(resource, source)).collect();
            let dropped = self.after.sources.reduce(source, &shown);
            self.options.budget.spent.give_back_bytes(dropped as u64);
        }
    }
}

/// Whether a change shows a value that is secret.
fn shows(of: &ResourceChange, is_secret: &dyn Fn(&Node) -> bool) -> bool {
    let changes = of.difference.changes.iter().chain(&of.difference.spelling_only);
    let values = changes.flat_map(|change| change.before.iter().chain(&change.after));
    let payloads = of.before.iter().chain(&of.after).map(|resource| &resource.payload);
    values.chain(payloads).any(is_secret)
}

/// Whether nothing but its own file decides what a resource is and what would be sent for it. What happens to an object in a
/// cluster is judged with all others.
fn stands_alone(side: &Side<'_>, resource: &Resource) -> bool {
    if matches!(resource.identity, Identity::Kubernetes(_)) {
        return false;
    }
    let has_layers = || side.metadata_of(resource).is_some_and(|it| !it.layers().is_empty() || !it.is_complete());
    side.is_as_written(resource) && !(resource.is_managed() && has_layers())
}

/// How many values of a resource are its own. Those that aliases repeat stay counted, for the work that they make.
fn values_of_its_own(resource: &Resource) -> u64 {
    resource.payload.size().min(resource.payload.span.range().len() as u64)
}

/// Whether nothing of a file will be looked at any more.
fn is_over(side: &FileContent) -> bool {
    side.resources.is_empty() && side.findings.is_empty() && side.reads.is_empty()
}

/// A change without the values that it is not about. What is next to a secret is needed to know what must not be shown, and what is
/// beside a version to know what it is the version of.
fn without_payloads(mut change: ResourceChange) -> ResourceChange {
    change.difference.documents = documents_for_bumps(&change);
    for side in [&mut change.before, &mut change.after].into_iter().flatten() {
        if !side.payload.holds_secret() {
            side.payload = Node::new(Value::Null, side.payload.span);
        }
    }
    change
}

/// The places of a text that a change shows or points at.
fn shown_of(of: &ResourceChange, source: SourceId) -> impl Iterator<Item = Range<usize>> {
    let payloads = of.before.iter().chain(&of.after).map(|side| side.payload.span.start_only());
    let values = |change: &Change| change.before.iter().chain(&change.after).map(|node| node.span).collect::<Vec<_>>();
    let keys = |change: &Change| {
        change.path.last().and_then(|step| match step {
            PathStep::Key(key) => Some(key.span),
            _ => None,
        })
    };
    let changes = || of.difference.changes.iter().chain(&of.difference.spelling_only);
    let spans = payloads.chain(changes().flat_map(values)).chain(changes().filter_map(keys));
    spans.filter(move |span| span.source == source).map(|span| span.range()).collect::<Vec<_>>().into_iter()
}

/// Whether a resource differs in anything that others may read.
pub(super) fn is_changed((before, after): &ResourcePair) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => before.identity != after.identity || !before.payload.is_equal(&after.payload),
        _ => true,
    }
}

/// The logical paths of a pair: only what has a directory of its own can have something below it.
pub(super) fn paths((before, after): &ResourcePair) -> impl Iterator<Item = &LogicalPath> {
    let sides = [before, after].into_iter().flatten();
    sides.filter_map(|resource| match &resource.identity {
        Identity::Logical(path) => Some(path),
        _ => None,
    })
}
