//! The resources of a collection, by their paths alone: no file is opened.

use super::layout::{Role, Roles};
use crate::finding::{Finding, Outcome};
use crate::limits::Budget;
use crate::path::{LogicalPath, RepoPath};
use crate::snapshot::{EntryKind, Reason, Snapshot, Unreadable};

/// Which resources of a collection are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Those that stand in it.
    Children,
    /// Those that stand in it or anywhere below.
    Descendants,
}

/// The resources of a collection below a root, sorted. Directories named `_` hold metadata, never resources.
pub fn list(
    collection: &LogicalPath,
    depth: Depth,
    root: &RepoPath,
    snapshot: &dyn Snapshot,
    roles: &Roles<'_>,
    budget: &Budget,
) -> Outcome<Vec<LogicalPath>> {
    let Ok(start) = collection.directory_below(root) else { return Outcome::clean(Vec::new()) };
    let mut found = Vec::new();
    let mut findings: Vec<Finding> = Vec::new();
    let mut waiting = vec![(start, 0)];
    while let Some((directory, level)) = waiting.pop() {
        let listing = snapshot.list(&directory);
        let refuse = |limit, what| {
            let reason = Reason::TooManyEntries { limit, what };
            Unreadable { path: directory.clone(), revision: snapshot.label().into(), reason }.into_finding()
        };
        if level > budget.limits.directory_depth {
            findings.push(refuse(budget.limits.directory_depth.into(), "directory levels"));
            continue;
        }
        if !budget.spent.take_entries(listing.entries.len() as u64, &budget.limits) {
            findings.push(refuse(budget.limits.entries, "directory entries"));
            break;
        }
        findings.extend(listing.unreadable.into_iter().map(Unreadable::into_finding));
        for entry in listing.entries {
            match entry.kind {
                EntryKind::Directory if entry.path.file_name() == b"_" => {}
                EntryKind::Directory if level == 0 || depth == Depth::Descendants => {
                    waiting.push((entry.path, level + 1));
                }
                EntryKind::File => match roles.of(&entry.path) {
                    Role::Resource(path) | Role::LegacyResource(path) => found.push(path),
                    _ => {}
                },
                _ => {}
            }
        }
    }
    found.retain(|path| match depth {
        Depth::Children => path.parent().as_ref() == Some(collection),
        Depth::Descendants => path != collection,
    });
    found.sort_unstable();
    found.dedup();
    Outcome { value: found, findings }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::snapshot::MemorySnapshot;

    fn listed(files: &[&str], collection: &str, depth: Depth) -> Vec<String> {
        let add = |snapshot: MemorySnapshot, file: &&str| snapshot.with(RepoPath::new(file).unwrap(), *b"{}");
        let snapshot = files.iter().fold(MemorySnapshot::new("test"), add);
        let settings = Settings::default();
        let roles = Roles::new(&snapshot, &settings);
        let collection = LogicalPath::parse(collection).unwrap();
        let outcome = list(&collection, depth, &RepoPath::root(), &snapshot, &roles, &Budget::default());
        assert!(outcome.findings.is_empty());
        outcome.value.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn directories_and_legacy_files_are_resources_and_metadata_is_not() {
        let files = [
            "customers/_/metadata.json",
            "customers/_/x/resource.json",
            "customers/acme/resource.json",
            "customers/acme/resource.yaml",
            "customers/acme/metadata.json",
            "customers/acme/orders/o1/resource.json",
            "customers/legacy.json",
        ];
        let all = ["/customers/acme", "/customers/acme/orders/o1", "/customers/legacy"];
        assert_eq!(listed(&files, "/", Depth::Descendants), all);
        assert_eq!(listed(&files, "/customers", Depth::Children), [all[0], all[2]]);
        assert_eq!(listed(&files, "/customers/acme", Depth::Descendants), [all[1]]);
        assert!(listed(&files, "/", Depth::Children).is_empty());
        assert!(listed(&files, "/nowhere", Depth::Descendants).is_empty());
    }
}
