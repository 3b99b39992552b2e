//! What only a check looks for: requests, names in collections, and what the two sides together show.

use std::collections::{BTreeMap, BTreeSet};

use super::{Comparison, Prepared};
use crate::finding::Finding;
use crate::impact::ancestor_readers;
use crate::parallel::{FEW, few_or_many};
use crate::path::{LogicalPath, RepoPath};
use crate::resource::{Identity, Resource};
use crate::rules;
use crate::side::Side;

impl Comparison<'_> {
    /// Adds what only a check looks for.
    pub(super) fn judge(&self, prepared: Prepared) -> Prepared {
        let Prepared { mut loaded, reach, layer_edits } = prepared;
        loaded.findings.before.extend(rules::duplicates(&loaded.before, &self.before.settings.roots));
        loaded.findings.after.extend(rules::duplicates(&loaded.after, &self.after.settings.roots));
        loaded.findings.after.extend(rules::rules_change(self.configuration, self.after.snapshot.label()));
        let below = self.resources_below(&loaded.before, &loaded.after);
        let [before, after] = [[&loaded.before, &below[0]], [&loaded.after, &below[1]]];
        let [older, newer] = [before, after].map(|[edited, below]| edited.iter().chain(below).collect::<Vec<_>>());
        let (before, after) = self.request_findings(&older, &newer);
        loaded.findings.before.extend(before);
        loaded.findings.after.extend(after);
        Prepared { loaded, reach, layer_edits }
    }

    /// The resources of both sides whose requests read one that differs, though their own files do not.
    fn resources_below(&self, before: &[Resource], after: &[Resource]) -> [Vec<Resource>; 2] {
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
    fn request_findings(&self, older: &[&Resource], newer: &[&Resource]) -> (Vec<Finding>, Vec<Finding>) {
        let problems = |side: &Side<'_>, resources: &[&Resource]| -> Vec<Finding> {
            let found = few_or_many(resources, FEW, |resource| rules::request_problems(side, resource));
            found.into_iter().flatten().collect()
        };
        let mut after = problems(&self.after, newer);
        let named: BTreeSet<&str> = after.iter().filter_map(|finding| finding.resource.as_deref()).collect();
        let is_named = |resource: &&&Resource| named.contains(resource.identity.to_string().as_str());
        let again: Vec<&Resource> =
            if named.is_empty() { Vec::new() } else { older.iter().filter(is_named).copied().collect() };
        let mut before = problems(&self.before, &again);
        for (collection, file) in collections(newer) {
            let found = collection_problems(&self.after, &collection, file);
            if !found.is_empty() {
                before.extend(collection_problems(&self.before, &collection, file));
            }
            after.extend(found);
        }
        (before, after)
    }
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
