//! The resources of a side by their short names: the last segments of their paths.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use super::Side;
use crate::path::{LogicalPath, RepoPath};
use crate::suggest;

/// The paths that a short name may mean, in byte order.
pub(super) type Names = BTreeMap<SmolStr, Vec<LogicalPath>>;

impl Side<'_> {
    /// Every path with this name, in byte order.
    ///
    /// Documents that name themselves, and plain files, have a dot in their names: only for such a name files are opened.
    pub fn named(&self, name: &str) -> Vec<LogicalPath> {
        let names = match name.contains('.') {
            true => self.caches.names_of_all.get_or_init(|| self.all_names()),
            false => self.caches.names_of_places.get_or_init(|| self.place_names()),
        };
        let mut paths = names.get(name).cloned().unwrap_or_default();
        if !name.contains('.') {
            // What is a legacy resource by its place may turn out to be something else.
            paths.retain(|path| self.exists_at(path));
        }
        paths
    }

    /// The existing path that is most like one that does not exist: each segment as it is, or the nearest name at its level.
    pub fn nearest_path(&self, path: &LogicalPath) -> Option<LogicalPath> {
        path.segments().try_fold(LogicalPath::root(), |around, segment| {
            let children = self.children(&around);
            let names: Vec<&str> = children.iter().filter_map(LogicalPath::last).collect();
            let known = names.iter().copied().find(|name| *name == segment);
            Some(around.child(known.or_else(|| suggest::nearest(segment, names.iter().copied()))?))
        })
    }

    fn all_names(&self) -> Names {
        let mut names = Names::new();
        let mut waiting = vec![LogicalPath::root()];
        while let Some(path) = waiting.pop().filter(|_| !self.is_cut()) {
            waiting.extend(self.children(&path).iter().cloned());
            names.entry(path.last().unwrap_or("root").into()).or_default().push(path);
        }
        in_order(names)
    }

    /// The names that directories and files give; nothing is opened.
    fn place_names(&self) -> Names {
        let mut names = Names::new();
        names.entry("root".into()).or_default().push(LogicalPath::root());
        for root in self.settings.roots.paths() {
            let mut waiting: Vec<RepoPath> = vec![root.clone()];
            while let Some(directory) = waiting.pop().filter(|_| !self.is_cut()) {
                let own = directory.below(root).and_then(|below| LogicalPath::of_directory(&below));
                let own = own.filter(|path| !path.is_root());
                for path in own.into_iter().chain(self.named_by_files(&directory)) {
                    names.entry(path.last().unwrap_or_default().into()).or_default().push(path);
                }
                let below = self.folder(&directory);
                waiting.extend(below.folders.iter().filter(|folder| self.leads_to_resources(folder)).cloned());
            }
        }
        in_order(names)
    }
}

fn in_order(mut names: Names) -> Names {
    for paths in names.values_mut() {
        paths.sort_unstable();
        paths.dedup();
    }
    names
}
