//! What a change does to objects in a cluster: resources of both sides by name, as roots render them or as they are written.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use super::load::Loaded;
use super::{Comparison, Judged, Prepared, causes};
use crate::finding::{Finding, Severity};
use crate::path::RepoPath;
use crate::resource::{Home, Identity, KubernetesName, Resource, Unit};
use crate::rules::{self, Applied, EditedFiles, RolledOut, Transition};
use crate::side::Side;
use crate::value::{Node, Value};

impl Comparison<'_> {
    /// Adds what a change does to objects in a cluster, as far as it is more than a note: a check lists everything.
    pub(super) fn with_transitions(&self, mut prepared: Prepared) -> Prepared {
        let mut findings = self.transition_findings(&prepared.loaded, Judged::New);
        findings.retain(|finding| finding.severity >= Severity::Warning);
        prepared.loaded.findings.after.extend(findings);
        prepared
    }

    /// What a change does to objects in a cluster. Without an older side to compare with, only what is wrong with any object.
    pub(super) fn transition_findings(&self, loaded: &Loaded, judged: Judged) -> Vec<Finding> {
        let [before, after] =
            [(&loaded.before, &self.before), (&loaded.after, &self.after)].map(|(resources, side)| {
                let mut known = BTreeMap::new();
                resources.iter().filter(|it| is_applied(it, side, &mut known)).collect::<Vec<_>>()
            });
        let mut transitions = transitions(&before, &after);
        let mut known: BTreeMap<Unit, Applied> = BTreeMap::new();
        for transition in &mut transitions {
            let Some(unit) = transition.after.or(transition.before).and_then(|it| it.unit.as_ref()) else { continue };
            transition.applied = *known.entry(unit.clone()).or_insert_with(|| self.applied(unit));
        }
        let gone: BTreeSet<&Unit> =
            loaded.units.iter().filter(|change| change.sides == [true, false]).map(|change| &change.unit).collect();
        let names: BTreeSet<&Identity> = after.iter().map(|resource| &resource.identity).collect();
        for transition in transitions.iter_mut().filter(|it| it.after.is_none()) {
            transition.is_left_to_others = transition.before.is_some_and(|old| {
                old.unit.as_ref().is_some_and(|unit| gone.contains(unit)) && names.contains(&old.identity)
            });
        }
        let files = EditedFiles {
            is_edited: &|file| causes::is_edited(&self.before, &self.after, file),
            exists: &|file| self.after.snapshot.entry(file).is_ok_and(|entry| entry.is_some()),
            revisions: [self.before.snapshot.label(), self.after.snapshot.label()],
            is_comparing: judged != Judged::Everything,
            sources: self.after.sources,
        };
        match judged {
            Judged::Everything => rules::state_findings(&transitions, &files),
            Judged::New | Judged::Changed => {
                let mut findings = rules::transition_findings(&transitions, &files);
                findings.extend(rules::rollout_findings(&rolled_out(loaded, &transitions), &files));
                findings
            }
        }
    }

    /// How the objects of a unit are applied: what a Flux Kustomization says about it.
    fn applied(&self, unit: &Unit) -> Applied {
        let Some((file, name)) = unit.key.rsplit_once('#').filter(|_| unit.layout == "flux") else {
            return Applied::default();
        };
        let Ok(file) = RepoPath::new(file) else { return Applied::default() };
        let name = name.rsplit('/').next().unwrap_or(name);
        let spec = [&self.after, &self.before].into_iter().find_map(|side| {
            let content = side.file(&file);
            let is_meant =
                |it: &&Resource| kubernetes_name(it).is_some_and(|own| own.kind == "Kustomization" && own.name == name);
            content.resources.iter().find(is_meant).and_then(|it| it.payload.get("spec").cloned())
        });
        let flag = |key: &str| {
            let value = spec.as_ref().and_then(|spec| spec.get(key)).map(|node: &Node| &node.value);
            matches!(value, Some(Value::Bool(true)))
        };
        Applied { is_forced: flag("force"), is_kept: !flag("prune") }
    }
}

/// Whether a resource is what is applied: rendered by a unit, or written where no kustomization is around it. There it may be a
/// patch, or a part of something that could not be rendered.
fn is_applied(resource: &Resource, side: &Side<'_>, known: &mut BTreeMap<RepoPath, bool>) -> bool {
    if kubernetes_name(resource).is_none() {
        return false;
    }
    let Some(directory) = resource.file.parent().filter(|_| resource.unit.is_none()) else {
        return resource.unit.is_some();
    };
    is_outside(directory, side, known)
}

/// Whether neither a directory nor one above it has a kustomization.
fn is_outside(directory: RepoPath, side: &Side<'_>, known: &mut BTreeMap<RepoPath, bool>) -> bool {
    let (mut next, mut below) = (Some(directory), Vec::new());
    let mut is_outside = true;
    while let Some(directory) = next.filter(|_| is_outside) {
        next = match known.get(&directory) {
            Some(known) => {
                is_outside = *known;
                None
            }
            None => {
                is_outside = !side.has_kustomization(&directory);
                directory.parent()
            }
        };
        below.push(directory);
    }
    known.extend(below.into_iter().map(|directory| (directory, is_outside)));
    is_outside
}

fn kubernetes_name(resource: &Resource) -> Option<&KubernetesName> {
    match &resource.identity {
        Identity::Kubernetes(name) => Some(name),
        _ => None,
    }
}

/// A transition of nothing into nothing.
const NOTHING: Transition<'_> = Transition {
    before: None,
    after: None,
    is_moved: false,
    is_left_to_others: false,
    applied: Applied { is_forced: false, is_kept: false },
};

/// The resources of both sides by name: those of one home first, then what moved from one home to another.
fn transitions<'r>(before: &[&'r Resource], after: &[&'r Resource]) -> Vec<Transition<'r>> {
    let mut homes: BTreeMap<(Home<'r>, &Identity), [Vec<&'r Resource>; 2]> = BTreeMap::new();
    for (side, resources) in [before, after].into_iter().enumerate() {
        resources.iter().for_each(|it| homes.entry((it.home(), &it.identity)).or_default()[side].push(it));
    }
    let mut found = Vec::new();
    let mut alone: [Vec<&'r Resource>; 2] = Default::default();
    let mut at_home: BTreeSet<&Identity> = BTreeSet::new();
    for ((_, identity), [older, newer]) in homes {
        match (older.as_slice(), newer.as_slice()) {
            ([old], [new]) => {
                at_home.insert(identity);
                found.push(Transition { before: Some(*old), after: Some(*new), ..NOTHING });
            }
            ([old], []) => alone[0].push(old),
            ([], [new]) => alone[1].push(new),
            // Which of several documents of one name is applied is not known.
            _ => {}
        }
    }
    let [older, newer] = alone;
    found.extend(moved(older, newer, &at_home));
    found
}

/// Pairs what one home lost with what another one got, by kind and name: a group may be renamed, and a namespace left out.
fn moved<'r>(older: Vec<&'r Resource>, newer: Vec<&'r Resource>, at_home: &BTreeSet<&Identity>) -> Vec<Transition<'r>> {
    let mut waiting: BTreeMap<(SmolStr, SmolStr), Vec<&'r Resource>> = BTreeMap::new();
    let key = |name: &KubernetesName| (name.kind.clone(), name.name.clone());
    for resource in newer {
        waiting.entry(kubernetes_name(resource).map(key).unwrap_or_default()).or_default().push(resource);
    }
    let (lost, got): (Vec<_>, _) = (older, waiting.values().map(Vec::len).sum::<usize>());
    let mut found = Vec::with_capacity(lost.len() + got);
    let count =
        |resources: &[&Resource], identity: &Identity| resources.iter().filter(|it| it.identity == *identity).count();
    for &old in &lost {
        let Some(name) = kubernetes_name(old) else { continue };
        let others = waiting.entry(key(name)).or_default();
        let rank = |new: &&&Resource| {
            let own = kubernetes_name(new)?;
            let is_near = own.namespace == name.namespace || own.namespace.is_empty() || name.namespace.is_empty();
            is_near.then_some((own.group != name.group, own.namespace != name.namespace))
        };
        let near = others.iter().enumerate().filter_map(|(at, new)| Some((rank(&new)?, at))).min();
        let Some((_, at)) = near else {
            found.push(Transition { before: Some(old), ..NOTHING });
            continue;
        };
        let is_only = count(&lost, &old.identity) == 1 && others.len() == 1 && !at_home.contains(&old.identity);
        let new = others.remove(at);
        found.push(Transition { before: Some(old), after: Some(new), is_moved: !is_only, ..NOTHING });
    }
    found.extend(waiting.into_values().flatten().map(|new| Transition { after: Some(new), ..NOTHING }));
    found
}

/// What is rolled out, each with the content that makes it so.
fn rolled_out<'r>(loaded: &Loaded, transitions: &[Transition<'r>]) -> Vec<RolledOut<'r>> {
    let mut found = Vec::new();
    for rollout in &loaded.rollouts {
        let of_unit = |it: &&Transition<'r>| it.after.is_some_and(|it| it.unit.as_ref() == Some(&rollout.unit));
        let both = |it: &Transition<'r>| Some([it.before?, it.after?]);
        let workload =
            transitions.iter().filter(of_unit).filter_map(both).find(|[_, it]| it.identity == rollout.identity);
        let Some(workload) = workload else { continue };
        let is_content =
            |it: &&Transition<'r>| it.after.is_some_and(|it| rollout.because.contains(&it.identity.to_string()));
        let contents = transitions.iter().filter(of_unit).filter(is_content);
        found.extend(contents.map(|content| RolledOut { content: *content, workload }));
    }
    found
}
