//! The layout of kustomize: which directories are roots, and what they render.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use smol_str::SmolStr;

use super::index::{
    self, APPLIED, COMPONENT, KUSTOMIZATIONS, NAMED, PATCHED_VALUES, PATTERNS, PLUGINS, REFERENCES, patched_paths,
};
use super::leaf;
use crate::finding::Severity;
use crate::layout::kustomize::{self, Built, BuiltResource};
use crate::layout::{Ask, IndexEntry, Layout, Rendered};
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::resource::{Identity, KubernetesName, Resource, Unit, kubernetes_name};
use crate::text::Sources;

/// Kustomizations that are built as a whole.
pub struct Kustomize;

/// The name of the layout.
const NAME: &str = "kustomize";

impl Layout for Kustomize {
    fn name(&self) -> &'static str {
        NAME
    }

    fn has_units(&self) -> bool {
        true
    }

    fn units(&self, ask: &Ask<'_, '_>) -> Vec<Unit> {
        let named = named(ask);
        let graph = Graph::new(&ask.index(KUSTOMIZATIONS), &ask.index(REFERENCES));
        let mut roots = graph.roots();
        let named = Patterns::new(named.iter().map(SmolStr::as_str));
        roots.extend(graph.directories.iter().filter(|directory| named.fit(directory)).cloned());
        // What Flux applies is rendered with everything that the object adds.
        let applied: BTreeSet<SmolStr> = ask.index(APPLIED).into_iter().map(|(_, directory)| directory).collect();
        roots.into_iter().filter(|directory| !applied.contains(directory)).map(unit).collect()
    }

    fn units_that_may_read(&self, ask: &Ask<'_, '_>, units: Vec<Unit>, files: &BTreeSet<RepoPath>) -> Vec<Unit> {
        if !files.iter().all(|file| kustomize::is_kustomization(file.file_name())) {
            return units;
        }
        let references = [ask.index(REFERENCES), ask.index(PLUGINS)].concat();
        let referring = referring_to(files, &references);
        units.into_iter().filter(|unit| referring.contains(&unit.key)).collect()
    }

    fn render(&self, ask: &Ask<'_, '_>, unit: &Unit) -> Rendered {
        let Ok(directory) = RepoPath::new(unit.key.as_str()) else { return Rendered::default() };
        let built = kustomize::build(&directory, ask.given(), &ask.shared::<kustomize::Cache>());
        let mut rendered = rendered(ask, built);
        if rendered.is_broken && is_template(&unit.key) {
            rendered.is_missing = true;
            rendered.findings.iter_mut().for_each(|finding| finding.severity = Severity::Note);
        }
        rendered
    }

    fn may_index(&self, file: &RepoPath, bytes: &[u8]) -> bool {
        kustomize::is_kustomization(file.file_name())
            || index::may_hold_application(bytes)
            || index::may_patch_generators(bytes)
    }

    fn index_file(&self, file: &RepoPath, bytes: &[u8], limits: &Limits) -> Vec<IndexEntry> {
        match kustomize::is_kustomization(file.file_name()) {
            true => index::of_kustomization(file, bytes, limits),
            false if index::may_patch_generators(bytes) => index::of_patch(bytes, limits),
            false => Vec::new(),
        }
    }

    fn index(&self, resource: &Resource) -> Vec<IndexEntry> {
        index::of_application(resource)
    }
}

/// The directories that applications name, as they are written and as patches make them.
fn named(ask: &Ask<'_, '_>) -> BTreeSet<SmolStr> {
    let keys = |index: &str| ask.index(index).into_iter().map(|(_, key)| key).collect::<BTreeSet<SmolStr>>();
    let (patterns, given) = (keys(PATTERNS), keys(PATCHED_VALUES));
    let patched = patterns.iter().flat_map(|pattern| given.iter().flat_map(|given| patched_paths(pattern, given)));
    keys(NAMED).into_iter().chain(patched).collect()
}

/// The unit of a root.
fn unit(directory: SmolStr) -> Unit {
    Unit { layout: NAME.into(), key: directory }
}

/// The paths that applications name; a `*` is any one part of a path.
struct Patterns<'a> {
    plain: HashSet<&'a str>,
    /// Those with a `*`, by the number of their parts.
    starred: HashMap<usize, BTreeSet<&'a str>>,
}

impl<'a> Patterns<'a> {
    fn new(patterns: impl Iterator<Item = &'a str>) -> Self {
        let mut all = Self { plain: HashSet::new(), starred: HashMap::new() };
        for pattern in patterns {
            match pattern.split('/').any(|part| part == "*") {
                true => drop(all.starred.entry(pattern.split('/').count()).or_default().insert(pattern)),
                false => drop(all.plain.insert(pattern)),
            }
        }
        all
    }

    /// Whether one of them means the directory.
    fn fit(&self, directory: &str) -> bool {
        let means = |pattern: &&str| {
            pattern.split('/').zip(directory.split('/')).all(|(wanted, found)| wanted == "*" || wanted == found)
        };
        let starred = || self.starred.get(&directory.split('/').count());
        self.plain.contains(directory) || starred().is_some_and(|patterns| patterns.iter().any(means))
    }
}

/// Whether a directory is a template of others, which is copied somewhere else before it is built: what it refers to may not be there.
fn is_template(directory: &str) -> bool {
    directory.split('/').any(|part| ["template", "templates", "skeleton"].contains(&part))
}

/// Kustomizations and what they refer to, by their directories.
struct Graph {
    /// Those that can be built on their own.
    directories: BTreeSet<SmolStr>,
    references: BTreeMap<SmolStr, BTreeSet<SmolStr>>,
}

impl Graph {
    fn new(kustomizations: &[(RepoPath, SmolStr)], references: &[(RepoPath, SmolStr)]) -> Self {
        let directory = |file: &RepoPath| file.parent().unwrap_or_default().to_str().map(SmolStr::new);
        let own = kustomizations.iter().filter(|(_, kind)| kind != COMPONENT).filter_map(|(file, _)| directory(file));
        let mut graph = Self { directories: own.collect(), references: BTreeMap::new() };
        for (file, to) in references {
            if let Some(from) = directory(file).filter(|from| from != to) {
                graph.references.entry(from).or_default().insert(to.clone());
            }
        }
        graph
    }

    /// The kustomizations that no other one refers to, and the first of each cycle that no root leads to.
    fn roots(&self) -> BTreeSet<SmolStr> {
        let referred: BTreeSet<&SmolStr> = self.references.values().flatten().collect();
        let mut roots: BTreeSet<SmolStr> =
            self.directories.iter().filter(|directory| !referred.contains(directory)).cloned().collect();
        let mut reached = BTreeSet::new();
        // A component that no root uses may refer to kustomizations.
        let unused = self.references.keys().filter(|from| !referred.contains(from));
        roots.iter().chain(unused).for_each(|root| self.reach(root, &mut reached));
        for directory in &self.directories {
            if !reached.contains(directory) {
                roots.insert(directory.clone());
                self.reach(directory, &mut reached);
            }
        }
        roots
    }

    fn reach(&self, from: &SmolStr, reached: &mut BTreeSet<SmolStr>) {
        let mut waiting = vec![from];
        while let Some(directory) = waiting.pop() {
            if reached.insert(directory.clone()) {
                waiting.extend(self.references.get(directory).into_iter().flatten());
            }
        }
    }
}

/// The directories of some kustomizations, and of those that refer to them at any distance.
fn referring_to(files: &BTreeSet<RepoPath>, references: &[(RepoPath, SmolStr)]) -> BTreeSet<SmolStr> {
    let directory = |file: &RepoPath| file.parent().unwrap_or_default().to_str().map(SmolStr::new);
    let mut referring: BTreeMap<&SmolStr, Vec<&RepoPath>> = BTreeMap::new();
    references.iter().for_each(|(from, to)| referring.entry(to).or_default().push(from));
    let mut found = BTreeSet::new();
    let mut waiting: Vec<SmolStr> = files.iter().filter_map(directory).collect();
    while let Some(next) = waiting.pop() {
        if found.insert(next.clone()) {
            waiting.extend(referring.get(&next).into_iter().flatten().filter_map(|from| directory(from)));
        }
    }
    found
}

/// What a build gives, with everything that it read as inputs.
pub(super) fn rendered(ask: &Ask<'_, '_>, built: Built) -> Rendered {
    let sources = ask.given().sources;
    built.listings.iter().for_each(|directory| ask.depend_on_subtree(directory));
    let shows = built.inputs.iter().filter(|path| ask.is_file(path)).cloned().collect();
    let mut resources: Vec<Resource> = built.resources.into_iter().map(|it| resource(it, sources)).collect();
    let mut opaque: Vec<Resource> = built.leaves.iter().flat_map(|leaf| leaf::resources(leaf, ask.given())).collect();
    let all = resources.iter_mut().chain(&mut opaque);
    all.enumerate().for_each(|(position, resource)| resource.position = position);
    Rendered { resources, opaque, findings: built.findings, is_broken: built.is_failed, shows, ..Rendered::default() }
}

/// A built document as a resource. Its name does not have the suffix that is made of its content.
fn resource(built: BuiltResource, sources: &Sources) -> Resource {
    let file = sources.get(built.node.span.source).path.clone();
    let identity = match kubernetes_name(&built.node) {
        Some(name) => Identity::Kubernetes(KubernetesName { name: built.name, ..name }),
        None => Identity::File { path: file.clone(), position: None },
    };
    Resource { identity, file, position: 0, payload: built.node, unit: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(kustomizations: &[&str], references: &[(&str, &str)]) -> Vec<String> {
        let file = |directory: &str| RepoPath::new(format!("{directory}/kustomization.yaml")).expect("a path");
        let kustomizations: Vec<_> = kustomizations.iter().map(|it| (file(it), SmolStr::new(index::ROOT))).collect();
        let references: Vec<_> = references.iter().map(|(from, to)| (file(from), SmolStr::new(to))).collect();
        Graph::new(&kustomizations, &references).roots().into_iter().map(|root| root.to_string()).collect()
    }

    #[test]
    fn what_another_kustomization_refers_to_is_no_root() {
        assert_eq!(roots(&["base", "dev", "prod"], &[("dev", "base"), ("prod", "base")]), ["dev", "prod"]);
    }

    #[test]
    fn what_refers_to_a_kustomization_at_any_distance_may_read_it() {
        let file = |directory: &str| RepoPath::new(format!("{directory}/kustomization.yaml")).expect("a path");
        let references = [("prod", "base"), ("base", "parts"), ("dev", "other"), ("parts", "base")];
        let references: Vec<_> = references.iter().map(|(from, to)| (file(from), SmolStr::new(to))).collect();
        let found = referring_to(&BTreeSet::from([file("parts")]), &references);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["base", "parts", "prod"]);
    }

    #[test]
    fn kustomizations_in_a_cycle_are_built_once() {
        assert_eq!(roots(&["a", "b", "c"], &[("a", "b"), ("b", "a")]), ["a", "c"]);
    }

    #[test]
    fn an_application_names_a_directory_or_all_of_one_level() {
        let fits = |pattern: &str, directory: &str| Patterns::new([pattern].into_iter()).fit(directory);
        assert!(fits("apps/*", "apps/web") && fits("apps/web", "apps/web"));
        assert!(!fits("apps/*", "apps") && !fits("apps/*", "apps/web/base") && !fits("apps", "apps/web"));
    }
}
