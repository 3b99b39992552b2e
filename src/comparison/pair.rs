//! The fourth step: which resources of the two sides are the same one, and which others may send other requests.

use std::collections::BTreeSet;

use super::at_once::{ChangeList, is_changed, paths};
use super::effect::both_in_effect;
use super::expressions::WrittenPayloads;
use super::hidden::HiddenSecrets;
use super::hide::Beside;
use super::load::{Documents, Loaded, LoadedFiles};
use super::rollout::Rollout;
use super::unit_change::{DefinitionUse, UnitChange};
use super::views::ResourceWithMetadata;
use super::views::ViewNotes;
use super::{AffectedSelectors, Comparison, Gap, SideFindings, requests};
use crate::diff::{self, ResourcePair};
use crate::impact::{AncestorReaders, ancestor_readers};
use crate::parallel::{FEW, few_or_many};
use crate::path::{LogicalPath, RepoPath};
use crate::resource::Resource;
use crate::secrets::hide_alike;
use crate::snapshot::ChangedFile;
use crate::value::Node;

/// Pairs of resources, and what was found out before.
pub(super) struct Paired {
    pub(super) pairs: Vec<ResourcePair>,
    /// Files whose requests may differ because a resource above them changed.
    pub(super) readers: AncestorReaders,
    pub(super) summary: LoadSummary,
    /// Payloads with expressions of both sides, as they are written.
    pub(super) written: [WrittenPayloads; 2],
    /// What was compared before: what differs by itself, and what only layers change, all of which can be read.
    pub(super) at_once: [ChangeList; 2],
    /// What was found out beside these changes.
    pub(super) notes: ViewNotes,
}

/// What is reported beside changes.
pub(super) struct LoadSummary {
    pub(super) findings: SideFindings,
    /// What was hidden in the resources.
    pub(super) hidden: HiddenSecrets,
    pub(super) gap: Gap,
    pub(super) files: LoadedFiles,
    /// Resources in the files that differ, on either side.
    pub(super) resources: usize,
    /// Units whose inputs changed.
    pub(super) units: Vec<UnitChange>,
    /// Resources that are rolled out because of another one.
    pub(super) rollouts: Vec<Rollout>,
    /// Types and traits that differ, and who uses them.
    pub(super) definitions: Vec<DefinitionUse>,
}

impl Comparison<'_> {
    /// Pairs the resources of both sides, and those below a changed one whose requests read it.
    pub(super) fn pair(&self, loaded: Loaded, reach: &AffectedSelectors) -> Paired {
        let Loaded {
            mut before,
            mut after,
            findings,
            mut hidden,
            gap,
            files,
            written,
            units,
            rollouts,
            mut at_once,
            explained,
            definitions,
            read_again: _,
        } = loaded;
        for side in [&mut before, &mut after] {
            side.retain(|resource| resource.unit.is_some() || !explained.contains(&resource.file));
        }
        at_once.leave_out(&explained);
        let resources = before.len().max(after.len()) + files.counted.same_documents + at_once.count;
        if !self.after.limits.may_go_on() {
            // Nothing would be compared.
            (before, after) = Default::default();
        }
        let mut pairs = alike(diff::pair(before, after));
        let mut readers = AncestorReaders::default();
        if self.options.views.requests {
            readers = self.readers_below(&pairs, &at_once.changed, reach);
            let ([before, after], also_hidden) = self.unloaded_beside(&readers, &pairs);
            pairs.extend(alike(diff::pair(before, after)));
            hidden.extend(also_hidden);
        }
        let summary = LoadSummary { findings, hidden, gap, files, resources, units, rollouts, definitions };
        // What reads a changed resource was compared again, with it.
        let (at_once, notes) = at_once.into_changes(&readers);
        Paired { pairs, readers, summary, written, at_once, notes }
    }

    fn readers_below(
        &self,
        pairs: &[ResourcePair],
        others: &[LogicalPath],
        reach: &AffectedSelectors,
    ) -> AncestorReaders {
        let is_seen_below = |pair: &ResourcePair| is_changed(pair) || self.is_named_otherwise(pair, reach);
        let seen = few_or_many(pairs, FEW, is_seen_below);
        let changed = pairs.iter().zip(seen).filter(|(_, is_seen)| *is_seen).flat_map(|(pair, _)| paths(pair));
        let changed: BTreeSet<&LogicalPath> = changed.chain(others).collect();
        ancestor_readers([&self.before, &self.after], &changed, &self.options.scope)
    }

    /// The resources of files that were not loaded because nothing in them changed.
    fn unloaded_beside(
        &self,
        readers: &AncestorReaders,
        pairs: &[ResourcePair],
    ) -> ([Vec<Resource>; 2], HiddenSecrets) {
        let resources = pairs.iter().flat_map(|(before, after)| [before, after]).flatten();
        self.unloaded(readers, resources.map(|resource| &resource.file).collect())
    }

    /// The resources of both sides in files that are not known yet, in effect and with their secrets hidden.
    pub(super) fn unloaded(
        &self,
        readers: &AncestorReaders,
        known: BTreeSet<&RepoPath>,
    ) -> ([Vec<Resource>; 2], HiddenSecrets) {
        let unknown = readers.iter().filter(|file| !known.contains(file)).map(|file| ChangedFile {
            path: file.clone(),
            before: self.before.snapshot.entry(file).ok().flatten(),
            after: self.after.snapshot.entry(file).ok().flatten(),
        });
        let unknown: Vec<ChangedFile> = unknown.collect();
        let affected = unknown.iter().map(|file| file.path.clone()).collect();
        // What is wrong with files that were not edited was wrong before, so that only their resources count.
        let loaded = self.load(unknown, &affected, &Default::default(), Documents::All, None);
        let [before, after] = both_in_effect(loaded.before, loaded.after, &self.before, &self.after);
        self.hide_both(before.resources, after.resources, Beside::Versions)
    }

    /// Whether a resource is seen differently from below, because layers name the segments of its path differently now.
    fn is_named_otherwise(&self, (before, after): &ResourcePair, reach: &AffectedSelectors) -> bool {
        let (Some(before), Some(after)) = (before, after) else { return false };
        if reach.is_empty() {
            return false;
        }
        let before = ResourceWithMetadata::new(&self.before, before);
        let after = ResourceWithMetadata::new(&self.after, after);
        let (Some(old), Some(new)) = (before, after) else { return false };
        let metadata = self.compare_metadata(&old, &new, reach);
        requests::names_otherwise(&old, &new, &metadata)
    }
}

/// Pairs in which what is equal is hidden on both sides or on none.
fn alike(pairs: Vec<ResourcePair>) -> Vec<ResourcePair> {
    hiding(pairs, hide_alike)
}

/// Pairs of resources, with something hidden in both of each.
pub(super) fn hiding(pairs: Vec<ResourcePair>, hide: fn(Node, Node) -> [Node; 2]) -> Vec<ResourcePair> {
    let hide = |pair: ResourcePair| match pair {
        (Some(before), Some(after)) => {
            let [old, new] = hide(before.payload, after.payload);
            (Some(Resource { payload: old, ..before }), Some(Resource { payload: new, ..after }))
        }
        pair => pair,
    };
    pairs.into_iter().map(hide).collect()
}
