//! The fifth step: each pair is compared, its payload, its metadata and its requests.

use std::sync::Arc;

use super::compare_rules::let_through;
use super::expressions::WrittenPayloads;
use super::metadata_difference::MetadataDifference;
use super::requests::{compare_requests, names_otherwise};
use super::{AffectedSelectors, Comparison, SideFindings, payload_options};
use crate::diff::{self, Change, DiffSide, Difference, Options, ResourceChange, ResourcePair, Suppressed};
use crate::finding::{self, Finding, Location};
use crate::impact::AncestorReaders;
use crate::limits::Counted;
use crate::metadata::EffectiveMetadata;
use crate::parallel::few_or_many;
use crate::path::LogicalPath;
use crate::request::RequestTarget;
use crate::resource::Resource;
use crate::secrets::withhold_value;
use crate::side::Side;

/// What is compared of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedViews {
    /// The resource itself.
    pub payload: bool,
    /// What layers say about it.
    pub metadata: bool,
    /// What would be sent for it.
    pub requests: bool,
}

impl Default for ComparedViews {
    fn default() -> Self {
        Self { payload: true, metadata: true, requests: true }
    }
}

impl ComparedViews {
    /// The views by name, if they are not all of them.
    pub(super) fn names(self) -> Vec<&'static str> {
        let Self { payload, metadata, requests } = self;
        let views = [(payload, "payload"), (metadata, "metadata"), (requests, "requests")];
        let wanted: Vec<&'static str> =
            views.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, name)| name).collect();
        if wanted.len() == views.len() { Vec::new() } else { wanted }
    }
}

/// Everything that changed, and what was found out on the way.
#[derive(Default)]
pub(super) struct Changes {
    pub(super) resources: Vec<ResourceChange>,
    pub(super) notes: ViewNotes,
}

impl ViewNotes {
    pub(super) fn extend(&mut self, other: Self) {
        self.suppressed.extend(other.suppressed);
        self.would_hide.extend(other.would_hide);
        self.findings.extend(other.findings);
    }

    /// Whether there is nothing to report.
    pub(super) fn is_empty(&self) -> bool {
        self.suppressed.is_empty() && self.would_hide.is_empty() && self.findings.is_empty()
    }

    /// Puts what was hidden in the order of its rules.
    pub(super) fn sort(&mut self) {
        self.suppressed.sort_by(by_rule);
        self.would_hide.sort_by(by_rule);
    }
}

/// What comparing finds out beside changes.
#[derive(Default)]
pub(super) struct ViewNotes {
    pub(super) suppressed: Vec<Suppressed>,
    pub(super) would_hide: Vec<Suppressed>,
    pub(super) findings: SideFindings,
    /// Whether resources below a resource, and its own templates, see it by another name.
    pub(super) names_otherwise: bool,
}

/// A resource of one side with its metadata.
pub(super) struct ResourceWithMetadata<'a> {
    side: &'a Side<'a>,
    pub(super) resource: &'a Resource,
    pub(super) path: LogicalPath,
    pub(super) metadata: Arc<EffectiveMetadata>,
}

impl<'a> ResourceWithMetadata<'a> {
    /// Nothing for a plain file, which has no metadata.
    pub(super) fn new(side: &'a Side<'a>, resource: &'a Resource) -> Option<Self> {
        let path = side.path_of(resource).filter(|_| resource.is_managed())?;
        let metadata = side.metadata_of(resource)?;
        Some(Self { side, resource, path, metadata })
    }

    /// What requests are made of.
    pub(super) fn target(&self) -> RequestTarget<'_> {
        self.side.target(&self.path, &self.resource.payload, &self.metadata, &self.resource.file)
    }

    /// The resource with the default identity of its tree decided.
    fn with_default_identity(&self) -> ResourceWithMetadata<'a> {
        let (settled, secrets) = (self.settled(), self.side.secrets());
        // What is sent literally can be secret too.
        let metadata = match secrets.hides_values() {
            true => secrets.hide_effective_of(&settled, &self.path),
            false => settled,
        };
        ResourceWithMetadata { metadata, path: self.path.clone(), ..*self }
    }

    /// Its metadata with the default identity of its tree.
    pub(super) fn settled(&self) -> Arc<EffectiveMetadata> {
        self.side.settled(&self.metadata, &self.resource.file)
    }

    /// Whether no layer says anything about this resource or another one, and both have the defaults of one tree of layers. Only an edit
    /// of a layer makes these others on the other side.
    pub(super) fn has_defaults_of(&self, other: &Self) -> bool {
        let base = |it: &Self| it.side.layers().layers_for(&it.resource.file).map(|layers| layers.base().clone());
        !self.has_layers() && !other.has_layers() && base(self) == base(other)
    }

    fn has_layers(&self) -> bool {
        !self.metadata.layers().is_empty()
    }
}

impl Comparison<'_> {
    /// Compares each pair in every view; pairs without change that are where they were are left out.
    pub(super) fn compare_pairs(
        &self,
        pairs: Vec<ResourcePair>,
        reach: &AffectedSelectors,
        readers: &AncestorReaders,
        written: &[WrittenPayloads; 2],
    ) -> Changes {
        let options = self.diff_options();
        let few = diff::few_pairs(&pairs);
        let compared = few_or_many(pairs, few, |pair| self.compare_pair(pair, &options, reach, readers, written));
        let mut changes = Changes::default();
        for (change, notes) in compared {
            changes.resources.extend(change);
            changes.notes.extend(notes);
        }
        changes
    }

    /// How documents are compared.
    pub(super) fn diff_options(&self) -> Options {
        payload_options(&self.configuration.policy().lists, self.after.limits)
    }

    /// The change of a pair, if there is one.
    pub(super) fn compare_pair(
        &self,
        pair: ResourcePair,
        options: &Options,
        reach: &AffectedSelectors,
        readers: &AncestorReaders,
        written: &[WrittenPayloads; 2],
    ) -> (Option<ResourceChange>, ViewNotes) {
        let mut notes = ViewNotes::default();
        if !self.after.limits.may_go_on() {
            return (None, notes);
        }
        let (mut payload, mut requests, mut expressions) = Default::default();
        let mut metadata: Arc<MetadataDifference> = Arc::default();
        if let (Some(before), Some(after)) = &pair {
            payload = diff::compare_payloads(before, after, options);
            if self.options.views.payload {
                expressions = self.edited_expressions([before, after], written, &payload, options);
            }
            let before = ResourceWithMetadata::new(&self.before, before);
            let after = ResourceWithMetadata::new(&self.after, after);
            if let (Some(old), Some(new)) = (before, after) {
                // A layer that fails on one side is left out on both: what is missing there did not change.
                let is_comparable = old.metadata.is_complete() == new.metadata.is_complete();
                if is_comparable {
                    metadata = self.compare_metadata(&old, &new, reach);
                }
                let is_read_by = readers.contains(&new.resource.file) || reach.is_everything;
                let is_same = payload.changes.is_empty() && old.path == new.path && !is_read_by;
                notes.names_otherwise = names_otherwise(&old, &new, &metadata);
                let may_differ = !is_same || !metadata.difference.is_empty();
                if self.options.views.requests && is_comparable && may_differ && (old.has_layers() || new.has_layers())
                {
                    let is_same = is_same && !notes.names_otherwise;
                    let (old, new) = (old.with_default_identity(), new.with_default_identity());
                    (requests, notes.findings) =
                        compare_requests(&old, &new, &payload, &metadata, is_same, self.after.limits);
                }
                // What a request sends literally may be as secret as what is in the payload.
                let withholds = |resource: &&Resource| self.after.secrets().withholds(resource);
                if !requests.changes.is_empty() && [old.resource, new.resource].iter().any(withholds) {
                    requests.changes.iter_mut().for_each(withhold_change);
                }
                if !payload.changes.is_empty() {
                    payload = let_through(&old, &new, &payload, options, &mut notes).unwrap_or(payload);
                }
                metadata = if self.options.views.metadata { metadata } else { Arc::default() };
                payload = if self.options.views.payload { payload } else { Difference::default() };
            }
        }
        let metadata = metadata.difference.clone();
        if [&payload, &metadata, &requests, &expressions].iter().any(|difference| difference.is_cut) {
            notes.findings.after.extend(self.too_many_changes(&pair));
        }
        (diff::change_of(pair, payload, metadata, requests, expressions), notes)
    }

    /// The finding about a resource whose changes are not all listed.
    fn too_many_changes(&self, (before, after): &ResourcePair) -> Option<Finding> {
        let path = after.as_ref().or(before.as_ref())?.file.clone();
        let side = if after.is_some() { &self.after } else { &self.before };
        let location = Location::File { path, revision: side.snapshot.label().into() };
        let (message, help) = self.after.limits.excess(Counted::Changes);
        Some(Finding::new(&finding::LIMIT_RUN_WORK, location, message).help(help))
    }
}

/// Withholds both values of a change.
fn withhold_change(change: &mut Change) {
    change.before = change.before.as_ref().map(withhold_value);
    change.after = change.after.as_ref().map(withhold_value);
}

fn by_rule(a: &Suppressed, b: &Suppressed) -> std::cmp::Ordering {
    let place = |it: &Suppressed| diff::pointer(&it.change.path, DiffSide::After).to_string();
    (&a.rule, &a.identity, place(a)).cmp(&(&b.rule, &b.identity, place(b)))
}
