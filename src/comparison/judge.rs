//! What only a check looks for: requests, names in collections, and what the two sides together show.

use std::collections::{BTreeMap, BTreeSet};

use super::expressions::{WrittenPayloads, key};
use super::hidden::HiddenSecrets;
use super::{AffectedSelectors, Comparison, Judged, Prepared, SideFindings};
use crate::diff;
use crate::document::Format;
use crate::finding::{self, Finding};
use crate::impact::{AncestorReaders, ancestor_readers};
use crate::metadata::is_metadata_file;
use crate::parallel::{FEW, few_or_many};
use crate::path::{LogicalPath, RepoPath};
use crate::resource::{Identity, Resource};
use crate::rules;
use crate::side::Side;
use crate::snapshot::EntryKind;

impl Comparison<'_> {
    /// Adds what only a check looks for.
    pub(super) fn judge(&self, prepared: Prepared, judged: Judged) -> Prepared {
        let Prepared { mut loaded, reach, layer_edits, reach_changes, layers, selectors } = prepared;
        loaded.findings.before.extend(rules::duplicates(&loaded.before, &self.before.settings.roots));
        loaded.findings.after.extend(rules::duplicates(&loaded.after, &self.after.settings.roots));
        loaded.findings.after.extend(rules::rules_change(self.configuration, self.after.snapshot.label()));
        self.judge_openchoreo(&mut loaded.findings);
        let (below, hidden) = self.resources_below(&loaded.before, &loaded.after);
        loaded.hidden.extend(hidden);
        let [before, after] = [[&loaded.before, &below[0]], [&loaded.after, &below[1]]];
        let [older, newer] = [before, after].map(|[edited, below]| edited.iter().chain(below).collect::<Vec<_>>());
        let mut found = self.request_findings(&older, &newer);
        found.extend(self.resource_findings(&older, &newer, &layers));
        found.after.extend(self.change_findings(&older, &newer, &loaded.written[1]));
        found.after.extend(self.hidden_changes(&loaded.before, &loaded.after, &reach, &layers));
        found.after.extend(self.transition_findings(&loaded, judged));
        loaded.findings.extend(found);
        Prepared { loaded, reach, layer_edits, reach_changes, layers, selectors }
    }

    /// Adds what is wrong with objects of OpenChoreo. A component that does not render because of it is not reported twice.
    fn judge_openchoreo(&self, findings: &mut SideFindings) {
        let [older, newer] = rules::openchoreo_objects([&self.before, &self.after]);
        for (known, found) in [(&mut findings.before, older), (&mut findings.after, newer)] {
            let is_failed = |it: &Finding| it.rule.id == finding::OPENCHOREO_UNIT_FAILED.id;
            known.retain(|it| !is_failed(it) || !rules::is_explained(it, &found));
            known.extend(found);
        }
    }

    /// What rules say about single resources. The older side is asked only about what the newer side has.
    fn resource_findings(&self, older: &[&Resource], newer: &[&Resource], layers: &[RepoPath]) -> SideFindings {
        let judge = |side: &Side<'_>, resource: &Resource| {
            if !side.limits.may_go_on() {
                return Vec::new();
            }
            let mut findings = rules::plaintext_secrets(side, None, resource);
            findings.extend(rules::redundant_overrides(resource));
            findings.extend(rules::nothing_left(side, resource));
            findings
        };
        let of = |side: &Side<'_>, resources: &[&Resource]| -> Vec<Finding> {
            few_or_many(resources, FEW, |resource| judge(side, resource)).into_iter().flatten().collect()
        };
        let mut after = of(&self.after, newer);
        let mut before = of(&self.before, &namesakes(older, &after));
        after.extend(rules::redundant_layers(&self.after, layers, newer));
        before.extend(rules::redundant_layers(&self.before, layers, older));
        SideFindings { before, after }
    }

    /// What only the two sides together show.
    fn change_findings(&self, older: &[&Resource], newer: &[&Resource], written: &WrittenPayloads) -> Vec<Finding> {
        let mut findings = self.joined_resources(older, newer);
        let was: BTreeMap<&Identity, &Resource> =
            older.iter().map(|resource| (&resource.identity, *resource)).collect();
        let pairs: Vec<(&Resource, &Resource)> =
            newer.iter().filter_map(|resource| Some((*was.get(&resource.identity)?, *resource))).collect();
        let sides = [&self.before, &self.after];
        let found = few_or_many(&pairs, FEW, |(old, new)| {
            if !self.after.limits.may_go_on() {
                return Vec::new();
            }
            let mut findings = rules::moved_indexes(sides, old, new);
            if !old.payload.is_equal(&new.payload) {
                let known = rules::plaintext_secrets(&self.after, None, new);
                let is_known = |finding: &Finding| known.iter().any(|known| known.pointer == finding.pointer);
                let placeholders = rules::plaintext_secrets(&self.after, Some(old), new);
                findings.extend(placeholders.into_iter().filter(|finding| !is_known(finding)));
            }
            findings
        });
        findings.extend(found.into_iter().flatten());
        findings.extend(self.removed_references(older, newer, written));
        findings
    }

    /// Files that describe one resource now, also with files beside them that did not change.
    fn joined_resources(&self, older: &[&Resource], newer: &[&Resource]) -> Vec<Finding> {
        let was: BTreeMap<(&RepoPath, usize), &Identity> =
            older.iter().map(|resource| ((&resource.file, resource.position), &resource.identity)).collect();
        let is_renamed = |resource: &&&Resource| {
            was.get(&(&resource.file, resource.position)).is_some_and(|was| **was != resource.identity)
        };
        let renamed = newer.iter().filter(is_renamed).filter_map(|resource| resource.file.parent()).collect();
        let beside = self.resources_beside(&renamed, newer);
        let [older, newer] = [older, newer].map(|known| known.iter().copied().chain(&beside).collect::<Vec<_>>());
        rules::joined_resources(&older, &newer)
    }

    /// The resources of the newer side in files of these directories that are not known yet.
    fn resources_beside(&self, directories: &BTreeSet<RepoPath>, known: &[&Resource]) -> Vec<Resource> {
        let known: BTreeSet<&RepoPath> = known.iter().map(|resource| &resource.file).collect();
        let files = directories.iter().flat_map(|directory| self.after.snapshot.list(directory).entries);
        let files = files.filter(|entry| {
            let is_document = Format::of_file_name(entry.path.file_name()).is_some();
            entry.kind == EntryKind::File && is_document && !known.contains(&entry.path)
        });
        files.flat_map(|entry| self.after.file(&entry.path).resources.clone()).collect()
    }

    /// References to resources that are gone, in what changed and in other files of their directories.
    fn removed_references(&self, older: &[&Resource], newer: &[&Resource], written: &WrittenPayloads) -> Vec<Finding> {
        let is: BTreeSet<&Identity> = newer.iter().map(|resource| &resource.identity).collect();
        let removed: Vec<&Resource> = older.iter().copied().filter(|it| !is.contains(&it.identity)).collect();
        let directories: BTreeSet<RepoPath> = removed.iter().filter_map(|resource| resource.file.parent()).collect();
        let beside = self.resources_beside(&directories, newer);
        let is_there: BTreeSet<&Identity> = beside.iter().map(|resource| &resource.identity).collect();
        let removed: Vec<&Resource> = removed.into_iter().filter(|it| !is_there.contains(&it.identity)).collect();
        if removed.is_empty() {
            return Vec::new();
        }
        let referrers = newer.iter().copied().chain(&beside).map(|resource| rules::Referrer {
            identity: &resource.identity,
            file: &resource.file,
            written: written.get(&key(resource)).unwrap_or(&resource.payload),
        });
        rules::removed_references(&removed, &referrers.collect::<Vec<_>>())
    }

    /// Changes that new compare rules hide. Nothing is compared where the rules stay as they are.
    fn hidden_changes(
        &self,
        before: &[Resource],
        after: &[Resource],
        reach: &AffectedSelectors,
        layers: &[RepoPath],
    ) -> Vec<Finding> {
        let (old, new) = (&self.configuration.before, &self.configuration.after);
        let is_same = (&old.ignore, &old.compare) == (&new.ignore, &new.compare);
        if is_same && !layers.iter().any(|layer| is_metadata_file(layer.file_name())) {
            return Vec::new();
        }
        let mut pairs = diff::pair(before.to_vec(), after.to_vec());
        if is_same {
            // Compare rules of metadata hide changes of payloads only.
            pairs.retain(|pair| matches!(pair, (Some(old), Some(new)) if !old.payload.is_identical(&new.payload)));
        }
        let changes = self.compare_pairs(pairs, reach, &AncestorReaders::default(), &Default::default());
        let mut hidden = self.would_hide(&changes.resources);
        hidden.extend(changes.notes.would_hide);
        rules::hidden_changes(&hidden)
    }

    /// The resources of both sides whose requests read one that differs, though their own files do not.
    fn resources_below(&self, before: &[Resource], after: &[Resource]) -> ([Vec<Resource>; 2], HiddenSecrets) {
        fn by_path(resources: &[Resource]) -> BTreeMap<&LogicalPath, &Resource> {
            let logical = resources.iter().filter_map(|resource| match &resource.identity {
                Identity::Logical(path) => Some((path, resource)),
                _ => None,
            });
            logical.collect()
        }
        let (older, newer) = (by_path(before), by_path(after));
        let is_changed = |path: &&LogicalPath| match (older.get(*path), newer.get(*path)) {
            (Some(old), Some(new)) => !old.payload.is_equal(&new.payload),
            _ => true,
        };
        let changed: BTreeSet<&LogicalPath> = older.keys().chain(newer.keys()).copied().filter(is_changed).collect();
        let readers = ancestor_readers([&self.before, &self.after], &changed, &self.options.scope);
        let known = before.iter().chain(after).map(|resource| &resource.file).collect();
        self.unloaded(&readers, known)
    }

    /// What is wrong with requests and names of both sides. The older side is asked only about what is wrong on the newer.
    fn request_findings(&self, older: &[&Resource], newer: &[&Resource]) -> SideFindings {
        let problems = |side: &Side<'_>, resources: &[&Resource]| -> Vec<Finding> {
            let found = few_or_many(resources, FEW, |resource| {
                if side.limits.may_go_on() { rules::request_problems(side, resource) } else { Vec::new() }
            });
            found.into_iter().flatten().collect()
        };
        let mut after = problems(&self.after, newer);
        let mut before = problems(&self.before, &namesakes(older, &after));
        for (collection, file) in collections(newer) {
            if !self.after.limits.may_go_on() {
                break;
            }
            let found = collection_problems(&self.after, &collection, file);
            if !found.is_empty() {
                before.extend(collection_problems(&self.before, &collection, file));
            }
            after.extend(found);
        }
        SideFindings { before, after }
    }
}

/// The resources that findings are about, by their names.
fn namesakes<'r>(resources: &[&'r Resource], findings: &[Finding]) -> Vec<&'r Resource> {
    let named: BTreeSet<&str> = findings.iter().filter_map(|finding| finding.resource.as_deref()).collect();
    if named.is_empty() {
        return Vec::new();
    }
    resources.iter().copied().filter(|resource| named.contains(resource.identity.to_string().as_str())).collect()
}

fn collection_problems(side: &Side<'_>, collection: &LogicalPath, file: &RepoPath) -> Vec<Finding> {
    let mut findings = rules::list_problems(side, collection, file);
    findings.extend(rules::same_names(side, collection, file));
    findings
}

/// The collections of resources, each with the file of one of its resources.
fn collections<'r>(resources: &[&'r Resource]) -> BTreeMap<LogicalPath, &'r RepoPath> {
    let parents = resources.iter().filter_map(|resource| match &resource.identity {
        Identity::Logical(path) => Some((path.parent()?, &resource.file)),
        _ => None,
    });
    parents.collect()
}
