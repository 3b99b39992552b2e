//! Resources that pair within their own file are compared as soon as the file is read, and only what differs is kept: a large
//! change takes as much memory as what it shows. Those are resources that nothing but their own file decides about, and resources that
//! only a layer changes.

use std::collections::BTreeSet;
use std::ops::Range;

use super::views::ViewNotes;
use super::{AffectedSelectors, Comparison};
use crate::diff::{self, Change, Options, PathStep, ResourceChange, ResourcePair, documents_for_bumps};
use crate::impact::{self, AncestorReaders, EditReaders, LayerEdits};
use crate::metadata::is_layer_file;
use crate::path::{LogicalPath, RepoPath};
use crate::resource::{Identity, Resource};
use crate::side::{FileContent, Side};
use crate::text::SourceId;
use crate::value::{Node, Value};

/// How resources are compared at once.
pub(super) struct AtOnce<'a> {
    options: Options,
    reach: &'a AffectedSelectors,
    layer_edits: &'a LayerEdits<'a>,
}

/// Changes in the order in which they were found. Lists of many threads are joined often, and a change is large.
#[allow(clippy::vec_box, reason = "joining lists moves no changes")]
pub(super) type ChangeList = Vec<Box<ResourceChange>>;

/// What was found out about resources that are not kept.
#[derive(Default)]
pub(super) struct ComparedAtOnce {
    /// What differs in resources that nothing but their own file decides about.
    pub(super) own: ChangeList,
    /// What was found out beside these changes.
    notes: ViewNotes,
    /// How many resources there were, on either side.
    pub(super) count: usize,
    /// The paths of those that changed: the requests of resources below them may read them.
    pub(super) changed: Vec<LogicalPath>,
    /// What differs in resources that only layers change.
    by_layers: ChangeList,
    /// What was found out beside their changes, with the resource that it is about.
    notes_by_layers: Vec<(Resource, ViewNotes)>,
    /// What edited values of layers are to them.
    pub(super) readers: EditReaders,
}

impl ComparedAtOnce {
    pub(super) fn extend(&mut self, other: Self) {
        self.own.extend(other.own);
        self.notes.extend(other.notes);
        self.count += other.count;
        self.changed.extend(other.changed);
        self.by_layers.extend(other.by_layers);
        self.notes_by_layers.extend(other.notes_by_layers);
        self.readers.extend(other.readers);
    }

    /// The files of those that changed.
    pub(super) fn files(&self) -> BTreeSet<RepoPath> {
        let changes = self.own.iter().chain(&self.by_layers);
        changes.flat_map(|change| sides(change)).map(|resource| resource.file.clone()).collect()
    }

    /// Takes out the resources that only layers change: what their requests send is hidden in many ways.
    pub(super) fn take_by_layers(&mut self) -> BTreeSet<(RepoPath, Identity)> {
        let changed = self.by_layers.drain(..).filter_map(|change| change.after);
        let noted = self.notes_by_layers.drain(..).map(|(resource, _)| resource);
        let taken: BTreeSet<_> = changed.chain(noted).map(|resource| (resource.file, resource.identity)).collect();
        self.count -= taken.len();
        taken
    }

    /// What changed, what only layers change, but in these files, and what was found out beside both.
    pub(super) fn into_changes(self, excluded: &AncestorReaders) -> ([ChangeList; 2], ViewNotes) {
        let Self { own, mut notes, mut by_layers, notes_by_layers, .. } = self;
        by_layers.retain(|change| !sides(change).any(|resource| excluded.contains(&resource.file)));
        let others = notes_by_layers.into_iter().filter(|(resource, _)| !excluded.contains(&resource.file));
        others.for_each(|(_, others)| notes.extend(others));
        ([own, by_layers], notes)
    }

    /// Leaves out what differs in some files.
    pub(super) fn leave_out(&mut self, files: &BTreeSet<RepoPath>) {
        if files.is_empty() {
            return;
        }
        let is_kept = |change: &ResourceChange| !sides(change).all(|resource| files.contains(&resource.file));
        self.own.retain(|change| is_kept(change));
        self.by_layers.retain(|change| is_kept(change));
    }

    /// Takes out the resources with a change that shows something which must be hidden.
    pub(super) fn take(&mut self, is_secret: &dyn Fn(&Node, &RepoPath) -> bool) -> BTreeSet<(RepoPath, Identity)> {
        let mut taken = BTreeSet::new();
        self.own.retain(|of| {
            let Some(resource) = of.after.as_ref().or(of.before.as_ref()) else { return true };
            let is_secret = |node: &Node| is_secret(node, &resource.file);
            let is_shown = shows(of, &is_secret);
            if is_shown {
                taken.insert((resource.file.clone(), resource.identity.clone()));
            }
            !is_shown
        });
        // What a rule hides is named by its resource alone.
        for list in [&mut self.notes.suppressed, &mut self.notes.would_hide] {
            list.retain(|it| !taken.iter().any(|(_, identity)| *identity == it.identity));
        }
        self.count -= taken.len();
        taken
    }
}

impl Comparison<'_> {
    /// How resources are compared at once. Layers that now apply to more or fewer paths are judged with all resources.
    pub(super) fn at_once<'c>(
        &self,
        reach: &'c AffectedSelectors,
        layers: &[RepoPath],
        layer_edits: &'c LayerEdits<'c>,
    ) -> Option<AtOnce<'c>> {
        let is_known = !reach.is_everything && !impact::changes_reach([&self.before, &self.after], layers);
        is_known.then(|| AtOnce { options: self.diff_options(), reach, layer_edits })
    }

    /// Takes the resources of a file that certainly pair with each other off both sides, and compares them. Where a report shows
    /// nothing but changes, the texts of the file are kept only where something is shown of them.
    pub(super) fn compare_at_once(
        &self,
        sides: &mut [FileContent; 2],
        texts: [Option<SourceId>; 2],
        how: &AtOnce<'_>,
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
            let is_done = match decided_by([(&self.before, old), (&self.after, new)]) {
                Some(decided_by) => self.compare_one((old, new), decided_by, how, &mut done),
                None => false,
            };
            (is_taken[0][this], is_taken[1][that]) = (is_done, is_done);
        }
        for (side, is_taken) in [before, after].into_iter().zip(is_taken) {
            let mut is_taken = is_taken.into_iter();
            side.resources.retain(|_| !is_taken.next().unwrap_or(false));
        }
        if !self.options.keeps_resources && sides.iter().all(is_over) {
            self.drop_texts(texts, &done);
        }
        done
    }

    /// Compares two versions of a resource, unless they hold secrets: others may have copies of these.
    fn compare_one(
        &self,
        (old, new): (&Resource, &Resource),
        decided_by: DecidedBy,
        how: &AtOnce<'_>,
        done: &mut ComparedAtOnce,
    ) -> bool {
        let [before, after] = self.hide_declared(vec![old.clone()], vec![new.clone()]);
        let is_kustomized = |side: &Side<'_>, it: &Resource| side.is_kustomized_secret(&it.file);
        if before.iter().chain(&after).any(|it| it.payload.holds_secret())
            || is_kustomized(&self.before, old)
            || is_kustomized(&self.after, new)
        {
            return false;
        }
        if !self.options.keeps_resources {
            // A document that both sides share was counted once.
            let of_older = if new.payload.is_shared_with(&old.payload) { 0 } else { values_of_its_own(old) };
            self.after.limits.give_back_nodes(of_older + values_of_its_own(new));
        }
        let pair: ResourcePair = (before.into_iter().next(), after.into_iter().next());
        done.count += 1;
        let (paths, is_changed): (Vec<LogicalPath>, _) = (paths(&pair).cloned().collect(), is_changed(&pair));
        let readers = AncestorReaders::default();
        let (change, notes) = self.compare_pair(pair, &how.options, how.reach, &readers, &Default::default());
        if is_changed || notes.names_otherwise {
            done.changed.extend(paths);
        }
        let kept = |change| if self.options.keeps_resources { change } else { without_payloads(change) };
        let change = change.map(kept).map(Box::new);
        match decided_by {
            DecidedBy::ItsFile => {
                done.own.extend(change);
                done.notes.extend(notes);
            }
            DecidedBy::Layers => {
                done.readers.extend(how.layer_edits.readers(new));
                done.by_layers.extend(change);
                done.notes_by_layers.extend((!notes.is_empty()).then(|| (new.clone(), notes)));
            }
        }
        true
    }

    /// Keeps the lines of changes, and nothing else of these texts.
    fn drop_texts(&self, texts: [Option<SourceId>; 2], done: &ComparedAtOnce) {
        let resources = &done.own;
        if resources.iter().any(|of| !of.difference.unusable.is_empty()) {
            return;
        }
        for source in texts.into_iter().flatten() {
            let shown: Vec<Range<usize>> = resources.iter().flat_map(|resource| shown_of(resource, source)).collect();
            let dropped = self.after.sources.reduce(source, &shown);
            self.options.budget.spent.give_back_bytes(dropped as u64);
        }
    }
}

/// A resource on the sides that have it.
fn sides(change: &ResourceChange) -> impl Iterator<Item = &Resource> {
    change.before.iter().chain(&change.after)
}

/// Whether a change shows a value that is secret.
fn shows(of: &ResourceChange, is_secret: &dyn Fn(&Node) -> bool) -> bool {
    let changes = of.difference.changes.iter().chain(&of.difference.spelling_only);
    let values = changes.flat_map(|change| change.before.iter().chain(&change.after));
    let payloads = of.before.iter().chain(&of.after).map(|resource| &resource.payload);
    values.chain(payloads).any(is_secret)
}

/// What decides how a resource differs from its older version.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DecidedBy {
    /// Nothing but its own file decides what it is and what would be sent for it.
    ItsFile,
    /// The resource is the same, but layers apply to it.
    Layers,
}

/// What decides how a resource differs; nothing if that is not known from its two versions alone. What happens to an object in a
/// cluster is judged with all others, and layers may be compared by what they mean.
fn decided_by(versions: [(&Side<'_>, &Resource); 2]) -> Option<DecidedBy> {
    let [(_, old), (_, new)] = versions;
    let is_in_cluster = |resource: &Resource| matches!(resource.identity, Identity::Kubernetes(_));
    let is_layer = |resource: &Resource| is_layer_file(resource.file.file_name());
    if [old, new].into_iter().any(|it| is_in_cluster(it) || is_layer(it))
        || !versions.iter().all(|(side, it)| side.is_as_written(it))
    {
        return None;
    }
    let layered = |(side, resource): &(&Side<'_>, &Resource)| {
        let metadata = if resource.is_managed() { side.metadata_of(resource) } else { None };
        metadata.filter(|it| !it.layers().is_empty() || !it.is_complete())
    };
    let metadata: Vec<_> = versions.iter().filter_map(layered).collect();
    if metadata.is_empty() {
        return Some(DecidedBy::ItsFile);
    }
    // What is wrong with layers is said beside each resource that differs.
    let is_complete = metadata.iter().all(|it| it.is_complete());
    let is_same = old.identity == new.identity && old.payload.is_shared_with(&new.payload);
    (is_complete && is_same).then_some(DecidedBy::Layers)
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
