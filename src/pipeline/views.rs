//! What is compared of a resource beside its plain payload: the payload that metadata lets through, the metadata, the requests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use smol_str::SmolStr;

use super::metadata::{self, Reach};
use super::{Request, Worlds, requests};
use crate::diff::{self, Change, Difference, Options, OtherChanges, Suppressed};
use crate::finding::Finding;
use crate::metadata::{EffectiveMetadata, FieldPath, LayerOrigin, Operation, RequestParts, Section};
use crate::path::{LogicalPath, RepoPath};
use crate::request;
use crate::request::RequestTarget;
use crate::resource::Resource;
use crate::side::Side;

/// Which views are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wants {
    /// What resources say.
    pub payload: bool,
    /// What layers say about them.
    pub metadata: bool,
    /// What would be sent for them.
    pub requests: bool,
}

impl Default for Wants {
    fn default() -> Self {
        Self { payload: true, metadata: true, requests: true }
    }
}

impl Wants {
    /// The views by name, if they are not all of them.
    pub(super) fn names(self) -> Vec<&'static str> {
        let Self { payload, metadata, requests } = self;
        let views = [(payload, "payload"), (metadata, "metadata"), (requests, "requests")];
        let wanted: Vec<&'static str> =
            views.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, name)| name).collect();
        if wanted.len() == views.len() { Vec::new() } else { wanted }
    }
}

/// Compares resources in every view.
pub(super) struct Views<'a> {
    pub(super) worlds: &'a Worlds<'a>,
    pub(super) reach: &'a Reach,
    pub(super) options: &'a Options,
    pub(super) wants: Wants,
    /// Files whose requests may differ though nothing of their own does: a resource above them changed.
    pub(super) below_changed: &'a BTreeSet<RepoPath>,
    pub(super) noted: Mutex<Noted>,
}

/// What is found on the way, beside the changes.
#[derive(Default)]
pub(super) struct Noted {
    pub(super) suppressed: Vec<Suppressed>,
    pub(super) would_hide: Vec<Suppressed>,
    pub(super) findings: Vec<Finding>,
    pub(super) findings_before: Vec<Finding>,
}

/// A resource of one side with its metadata.
pub(super) struct Known<'a> {
    pub(super) world: &'a Side<'a>,
    pub(super) resource: &'a Resource,
    pub(super) path: LogicalPath,
    pub(super) metadata: std::sync::Arc<EffectiveMetadata>,
}

impl<'a> Known<'a> {
    pub(super) fn of(world: &'a Side<'a>, resource: &'a Resource) -> Option<Self> {
        let path = world.path_of(resource).filter(|_| resource.is_managed())?;
        let metadata = world.metadata_of(resource)?;
        Some(Self { world, resource, path, metadata })
    }

    /// Asks something that needs to know the resource's neighbours.
    pub(super) fn with_target<T>(&self, ask: impl FnOnce(&RequestTarget<'_>) -> T) -> T {
        ask(&self.world.target(&self.path, &self.resource.payload, &self.metadata, &self.resource.file))
    }

    fn has_layers(&self) -> bool {
        !self.metadata.layers().is_empty()
    }
}

impl Views<'_> {
    /// What changed of a resource, given what changed in its plain payload.
    pub(super) fn compare(&self, before: &Resource, after: &Resource, plain: &Difference) -> OtherChanges {
        let known = (Known::of(&self.worlds.before, before), Known::of(&self.worlds.after, after));
        let (Some(old), Some(new)) = known else { return OtherChanges::default() };
        let metadata = metadata::compare(&old, &new, self.worlds, self.reach);
        let payload = if plain.changes.is_empty() { None } else { self.let_through(&old, &new, plain) };
        let may_differ = !plain.changes.is_empty()
            || !metadata.is_empty()
            || old.path != new.path
            || self.below_changed.contains(&after.file)
            || self.reach.is_everybody();
        let requests = match self.wants.requests && may_differ && (old.has_layers() || new.has_layers()) {
            true => self.requests(&old, &new, plain, &metadata),
            false => Difference::default(),
        };
        let metadata = if self.wants.metadata { metadata } else { Difference::default() };
        let payload = if self.wants.payload { payload } else { Some(Difference::default()) };
        OtherChanges { payload, metadata, requests }
    }

    /// The changes that the compare rules of the older side let through; nothing where there are no rules. What they hide is
    /// counted, and so is what the rules of the newer side would hide in addition.
    fn let_through(&self, old: &Known<'_>, new: &Known<'_>, plain: &Difference) -> Option<Difference> {
        let rules = (CompareRules::of(&old.metadata), CompareRules::of(&new.metadata));
        let shown = match rules.0.is_some() {
            true => self.transformed(old, [old, new]),
            false => None,
        };
        if let Some(rule) = &rules.0
            && let Some(shown) = &shown
        {
            self.note_hidden(plain, shown, rule, new, |noted| &mut noted.suppressed);
        }
        if rules.0 != rules.1
            && let Some(rule) = &rules.1
        {
            let current = shown.as_ref().unwrap_or(plain);
            if let Some(future) = self.transformed(new, [old, new]) {
                self.note_hidden(current, &future, rule, new, |noted| &mut noted.would_hide);
            }
        }
        shown
    }

    /// Both payloads after the rules of one side, compared. Where a rule fails, nothing is hidden.
    fn transformed(&self, rules: &Known<'_>, sides: [&Known<'_>; 2]) -> Option<Difference> {
        let mut transformed = Vec::with_capacity(2);
        for side in sides {
            let outcome = rules.with_target(|target| request::compare_transform(&side.resource.payload, target));
            match outcome {
                Ok(node) => transformed.push(node),
                Err(finding) => {
                    self.noted().findings.push(*finding);
                    return None;
                }
            }
        }
        Some(diff::diff(&transformed[0], &transformed[1], self.options))
    }

    fn note_hidden(
        &self,
        all: &Difference,
        shown: &Difference,
        rule: &CompareRules,
        of: &Known<'_>,
        place: fn(&mut Noted) -> &mut Vec<Suppressed>,
    ) {
        let place_of = |change: &Change| diff::pointer(&change.path, diff::DiffSide::After).to_string();
        let shown: BTreeSet<String> = shown.changes.iter().map(place_of).collect();
        let hidden = all.changes.iter().filter(|change| !shown.contains(&place_of(change))).map(|change| Suppressed {
            rule: rule.name.clone(),
            identity: of.resource.identity.clone(),
            change: change.clone(),
        });
        place(&mut self.noted()).extend(hidden);
    }

    fn requests(&self, old: &Known<'_>, new: &Known<'_>, plain: &Difference, metadata: &Difference) -> Difference {
        // Without another payload, path or other names from the path, only the parts whose metadata changed can differ.
        let is_same = plain.changes.is_empty() && old.path == new.path && !self.reach.is_everybody();
        let is_same = is_same && !self.below_changed.contains(&new.resource.file);
        let is_same = is_same && !(metadata::may_derive_otherwise(metadata) && requests::derive_otherwise(old, new));
        let operations = match is_same {
            true => concerned(metadata),
            false => requests::OPERATIONS.map(|operation| (operation, RequestParts::ALL)).into(),
        };
        let mut all = Difference::default();
        for (operation, wanted) in operations {
            let (before, after) = (requests::made(old, operation, wanted), requests::made(new, operation, wanted));
            if !before.findings.is_empty() || !after.findings.is_empty() {
                let mut noted = self.noted();
                noted.findings_before.extend(before.findings);
                noted.findings.extend(after.findings);
            }
            let difference = requests::compare(&before.value, &after.value, plain);
            all.changes.extend(difference.changes);
            all.spelling_only.extend(difference.spelling_only);
        }
        all
    }

    fn noted(&self) -> std::sync::MutexGuard<'_, Noted> {
        self.noted.lock().expect("no thread panics while it holds this lock")
    }
}

/// The parts of requests that can differ because metadata changed.
fn concerned(metadata: &Difference) -> BTreeMap<Operation, RequestParts> {
    let mut concerned = BTreeMap::new();
    for change in &metadata.changes {
        let keys: Vec<&str> = metadata::names(change).collect();
        let field = FieldPath::containing(&keys);
        let parts = field.as_ref().and_then(|path| path.field.row()).map_or(RequestParts::ALL, |row| row.affects);
        let is_concerned = |operation: &Operation| match keys.get(..2) {
            Some(keys) if Operation::ALL.iter().any(|other| Section::Operation(*other).wire() == keys) => {
                Section::Operation(*operation).wire() == keys
            }
            _ => true,
        };
        for operation in requests::OPERATIONS.into_iter().filter(is_concerned) {
            let known = concerned.entry(operation).or_insert(RequestParts::NONE);
            *known = known.or(parts);
        }
    }
    concerned
}

/// What metadata says about comparing, and who says it.
#[derive(Debug, Clone)]
struct CompareRules {
    name: SmolStr,
    rules: Vec<(SmolStr, crate::value::Node)>,
}

impl PartialEq for CompareRules {
    fn eq(&self, other: &Self) -> bool {
        self.rules.len() == other.rules.len()
            && self.rules.iter().zip(&other.rules).all(|(a, b)| a.0 == b.0 && a.1.is_identical(&b.1))
    }
}

impl CompareRules {
    fn of(metadata: &EffectiveMetadata) -> Option<Self> {
        let transforms = metadata.transforms(Operation::Compare);
        if transforms.is_empty() {
            return None;
        }
        let said = metadata.entries().filter(|(_, said)| {
            let is_rule = |(_, node): &(_, &crate::value::Node)| match &said.effect {
                crate::metadata::Effect::Set(set) => set.span == node.span,
                _ => false,
            };
            transforms.iter().any(is_rule)
        });
        let files: BTreeSet<String> = said
            .filter_map(|(_, said)| match &said.by.origin {
                LayerOrigin::File { path, .. } => Some(path.to_string()),
                _ => None,
            })
            .collect();
        let files: Vec<String> = files.into_iter().collect();
        let name = match files.is_empty() {
            true => "compare rules of metadata".into(),
            false => format!("compare rules of {}", files.join(", ")).into(),
        };
        let rules = transforms.into_iter().map(|(field, node)| (format!("{field:?}").into(), node.clone()));
        Some(Self { name, rules: rules.collect() })
    }
}

/// Puts what was noted into an order that does not depend on threads.
pub(super) fn in_order(mut noted: Noted) -> Noted {
    let order = |a: &Suppressed, b: &Suppressed| {
        let place = |it: &Suppressed| diff::pointer(&it.change.path, diff::DiffSide::After).to_string();
        (&a.rule, &a.identity, place(a)).cmp(&(&b.rule, &b.identity, place(b)))
    };
    noted.suppressed.sort_by(order);
    noted.would_hide.sort_by(order);
    noted
}

/// What the rules of the newer side's `outcrop.yaml` would take out of what is shown now.
pub(super) fn would_hide(request: &Request<'_>, resources: &[diff::ResourceChange]) -> Vec<Suppressed> {
    let (old, new) = (request.configuration.policy(), &request.configuration.after);
    if (&old.ignore, &old.compare) == (&new.ignore, &new.compare) {
        return Vec::new();
    }
    let mut shown = resources.to_vec();
    diff::Suppressions::new(&new.ignore, &new.compare, &[]).apply(&mut shown)
}
