//! Adds what units render. Expressions, patches and layers do not apply to it; what is secret is hidden like everywhere else.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::load::Loaded;
use super::rollout::{restarts, rollouts, without_suffixes};
use super::unit_change::{DefinitionUse, UnitChange};
use super::{Comparison, Gap};
use crate::diff::Status;
use crate::finding::{self, Finding, Location};
use crate::layout::{Input, Rendered};
use crate::parallel::few_or_many;
use crate::path::RepoPath;
use crate::resource::{Identity, Resource, Unit};
use crate::side::Side;
use crate::value::Node;

/// The bytes of memory that a rendered resource takes in the steps after this one, beside what is shared.
const RESOURCE: u64 = 640;
/// Fewer units than this are rendered on one thread.
const FEW: usize = 4;

impl Comparison<'_> {
    /// Adds the resources of units, each on the sides that have it.
    pub(super) fn with_units(&self, mut loaded: Loaded, units: &BTreeMap<Unit, [bool; 2]>) -> Loaded {
        let units: Vec<(&Unit, &[bool; 2])> = units.iter().collect();
        let both = few_or_many(units.as_slice(), FEW, |(unit, sides)| {
            let outputs = [rendered(&self.before, unit, sides[0]), rendered(&self.after, unit, sides[1])];
            let change = UnitChange {
                unit: (*unit).clone(),
                sides: **sides,
                failed: [outputs[0].is_broken, outputs[1].is_broken],
                missing: [outputs[0].is_missing, outputs[1].is_missing],
                is_left_out: false,
                resources: differing(&outputs),
            };
            (change, outputs)
        });
        let count: usize = both.iter().flat_map(|(_, outputs)| outputs).map(|output| output.resources.len()).sum();
        // Where there is no room for what follows, the units are left out.
        let has_room = self.after.limits.has_memory_for(count as u64 * RESOURCE);
        loaded.definitions = if has_room { definition_uses(&loaded, &both) } else { Vec::new() };
        let mut known = [HashSet::new(), HashSet::new()];
        for (mut change, [before, after]) in both {
            // What stops a run stops what is rendered meanwhile, too.
            if !self.after.limits.may_go_on() {
                let (failed, missing, resources) = ([false; 2], [false; 2], Vec::new());
                change = UnitChange { failed, missing, resources, is_left_out: true, ..change };
            }
            let [known_before, known_after] = &mut known;
            loaded.findings.before.extend(new_findings(&before, known_before));
            loaded.findings.after.extend(new_findings(&after, known_after));
            loaded.findings.after.extend(kept_in_cluster(&change, &before, &after));
            let (is_failed, unit) = (change.is_incomplete(), change.unit.clone());
            let is_missing = !change.is_unjudged();
            if change.is_difference() && !is_failed {
                loaded.explained.extend(before.explains.iter().chain(&after.explains).cloned());
            }
            let wanted = [self.wanted(&change.unit, &before), self.wanted(&change.unit, &after)];
            if self.is_unit_wanted(&change.unit) || wanted.iter().any(|wanted| !wanted.is_empty()) {
                loaded.units.push(change);
            }
            // A unit that cannot be rendered on one side must not look added or removed.
            if is_failed {
                // What is not in the repository is no mistake of it.
                if !is_missing {
                    loaded.gap = loaded.gap.max(Gap::Unparsed);
                }
                continue;
            }
            let [before, after] = wanted;
            loaded.rollouts.extend(rollouts(&unit, &before, &after));
            if unit.layout == "openchoreo" {
                loaded.rollouts.extend(restarts(&unit, &before, &after));
            }
            let [before, after] = without_suffixes(self.hide_unit([before, after]));
            loaded.before.extend(before);
            loaded.after.extend(after);
        }
        loaded
    }

    /// The resources of a unit that are of interest: by their own file, or because the unit is.
    fn wanted(&self, unit: &Unit, rendered: &Rendered) -> Vec<Resource> {
        let is_wanted = self.is_unit_wanted(unit);
        let wanted = all(rendered).filter(|it| is_wanted || self.options.scope.wants(&it.file));
        wanted.cloned().collect()
    }

    /// Hides what is secret in some resource of the unit on either side, in all of them.
    pub(super) fn hide_unit(&self, [before, after]: [Vec<Resource>; 2]) -> [Vec<Resource>; 2] {
        if before.iter().chain(&after).any(|resource| resource.is_rendered_by("openchoreo")) {
            self.know_templates();
        }
        let count = before.len();
        let known = self.before.secrets_read_by(&before);
        let mut all = self.after.hide_in_unit(before.into_iter().chain(after).collect(), known);
        let after = all.split_off(count);
        [all, after]
    }

    fn is_unit_wanted(&self, unit: &Unit) -> bool {
        let scope = &self.options.scope;
        scope.is_everything() || RepoPath::new(unit.key.as_str()).is_ok_and(|path| scope.wants(&path))
    }
}

/// A unit with what it renders on both sides.
type RenderedUnit = (UnitChange, [Arc<Rendered>; 2]);

/// Kinds that components are rendered with.
const DEFINITIONS: [&str; 4] = ["ComponentType", "ClusterComponentType", "Trait", "ClusterTrait"];

/// The types and traits that differ, and the components that are rendered with them.
fn definition_uses(loaded: &Loaded, units: &[RenderedUnit]) -> Vec<DefinitionUse> {
    let is_definition = |it: &&Resource| match &it.identity {
        Identity::Kubernetes(name) => name.group == "openchoreo.dev" && DEFINITIONS.contains(&name.kind.as_str()),
        _ => false,
    };
    let mut files: BTreeMap<&Identity, [Vec<&Resource>; 2]> = BTreeMap::new();
    // Other units, such as those of Flux, may apply them.
    let applied = |side: usize| units.iter().flat_map(move |(_, outputs)| &outputs[side].resources);
    for (side, resources) in [&loaded.before, &loaded.after].into_iter().enumerate() {
        for resource in resources.iter().chain(applied(side)).filter(is_definition) {
            files.entry(&resource.identity).or_default()[side].push(resource);
        }
    }
    let is_same = |[before, after]: &[Vec<&Resource>; 2]| {
        before.len() == after.len() && before.iter().zip(after).all(|(old, new)| old.payload.is_equal(&new.payload))
    };
    let differing = files.into_iter().filter(|(_, sides)| !is_same(sides));
    let uses = differing.map(|(identity, sides)| {
        let reads = |rendered: &Rendered| {
            let is_read = |it: &&Resource| rendered.inputs.contains(&Input::File(it.file.clone()));
            sides.iter().flatten().any(is_read)
        };
        let users = units.iter().filter(|(_, outputs)| outputs.iter().any(|rendered| reads(rendered)));
        let users = users.map(|(change, _)| change).filter(|change| change.unit.layout == "openchoreo");
        let is_same = |change: &UnitChange| !change.is_incomplete() && !change.is_difference();
        let (mut components, mut is_without_effect) = (BTreeSet::new(), true);
        for change in users {
            components.extend(change.unit.key.split_once('@').map(|(component, _)| component.to_owned()));
            is_without_effect &= is_same(change);
        }
        let name = identity.to_string().replace(".openchoreo.dev ", " ");
        DefinitionUse { name, is_without_effect: is_without_effect && !components.is_empty(), components }
    });
    uses.collect()
}

/// The resources of a unit, and what is known about others.
pub(super) fn all(rendered: &Rendered) -> impl Iterator<Item = &Resource> {
    rendered.resources.iter().chain(&rendered.opaque)
}

/// The resources that differ between two outputs of a unit, by name.
pub(super) fn differing(outputs: &[Arc<Rendered>; 2]) -> Vec<(String, Status)> {
    if outputs.iter().any(|rendered| rendered.is_broken) {
        return Vec::new();
    }
    let mut named: BTreeMap<String, [Vec<&Node>; 2]> = BTreeMap::new();
    for (side, rendered) in outputs.iter().enumerate() {
        for resource in all(rendered) {
            named.entry(resource.identity.to_string()).or_default()[side].push(&resource.payload);
        }
    }
    let status = |[before, after]: [Vec<&Node>; 2]| match (before.is_empty(), after.is_empty()) {
        (true, _) => Some(Status::Added),
        (_, true) => Some(Status::Removed),
        _ => {
            let is_same = before.len() == after.len() && before.iter().zip(&after).all(|(old, new)| old.is_equal(new));
            (!is_same).then_some(Status::Changed)
        }
    };
    named.into_iter().filter_map(|(name, sides)| Some((name, status(sides)?))).collect()
}

/// The findings that no other unit of this side has: units share their files, and what is wrong with these is said once.
fn new_findings(rendered: &Rendered, known: &mut HashSet<String>) -> Vec<Finding> {
    let is_new = |finding: &&Finding| known.insert(format!("{:?} {}", finding.location, finding.message));
    rendered.findings.iter().filter(is_new).cloned().collect()
}

/// A note about resources that a unit no longer holds and that are not deleted from the cluster for that.
fn kept_in_cluster(change: &UnitChange, before: &Rendered, after: &Rendered) -> Option<Finding> {
    let rendered = if change.sides[1] { after } else { before };
    let at = rendered.keeps_removed.filter(|_| !change.is_incomplete())?;
    let is_removed = |(_, status): &&(String, Status)| *status == Status::Removed;
    let removed: Vec<&str> = change.resources.iter().filter(is_removed).map(|(name, _)| name.as_str()).collect();
    let (first, more) = (removed.first()?, removed.len() - 1);
    let others = if more == 0 { String::new() } else { format!(" and {more} more") };
    let message = format!("{first}{others} stays in the cluster: this Kustomization does not prune");
    let note = Finding::new(&finding::KUSTOMIZE_UNRESOLVED, Location::Span(at), message);
    Some(note.help("Flux deletes what is no longer there with `prune: true`"))
}

fn rendered(side: &Side<'_>, unit: &Unit, is_there: bool) -> Arc<Rendered> {
    if is_there { side.units().rendered(unit) } else { Arc::default() }
}
