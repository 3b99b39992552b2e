//! What a file says about roots, for indexes: which directories a kustomization refers to, and which ones an application names.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use crate::document::{self, Format};
use crate::layout::IndexEntry;
use crate::layout::kustomize::resolve;
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::resource::{Identity, Resource};
use crate::scan;
use crate::text::{SourceText, Sources};
use crate::value::Node;

/// Kustomization files; the key is [`ROOT`] or [`COMPONENT`].
pub(super) const KUSTOMIZATIONS: &str = "kustomizations";
/// Kustomizations by the paths that they refer to.
pub(super) const REFERENCES: &str = "kustomize references";
/// Kustomizations by the paths of the generators and transformers that they use, which may be kustomizations too.
pub(super) const PLUGINS: &str = "kustomize plugins";
/// Applications by the directories that they name; a `*` is any one part of a path.
pub(super) const NAMED: &str = "application paths";

/// Application sets by their paths with placeholders, each behind the values that its generators give: `a=1&b=2|apps/{{a}}/{{b}}`.
pub(super) const PATTERNS: &str = "application patterns";
/// Patches by the values that they give to the generators of application sets: `values.a=1&values.b=2`.
pub(super) const PATCHED_VALUES: &str = "patched application values";

/// Files by the directories that a Flux Kustomization in them applies.
pub(super) const APPLIED: &str = "flux paths";

/// A kustomization that may be a root.
pub(super) const ROOT: &str = "root";
/// A kustomization that is only part of others.
pub(super) const COMPONENT: &str = "component";

/// What indexes list about a kustomization file.
pub(super) fn of_kustomization(file: &RepoPath, bytes: &[u8], limits: &Limits) -> Vec<IndexEntry> {
    let text = String::from_utf8_lossy(bytes);
    let outline = Outline::read(&text, limits);
    let directory = file.parent().unwrap_or_default();
    let kind = if outline.is_component { COMPONENT } else { ROOT };
    // Another revision of a remote base makes no other directory a root.
    let listed = |names: &[SmolStr], index: &'static str| -> Vec<IndexEntry> {
        let names = names.iter().filter(|name| !name.contains("://") && !name.contains("?ref="));
        let paths = names.filter_map(|name| resolve(&directory, name)?.to_str().map(SmolStr::new));
        paths.map(|key| IndexEntry { index: index.into(), key }).collect()
    };
    // A plugin may be written in the list itself, with whatever it holds; such a text is remembered nowhere.
    let plugins: Vec<SmolStr> =
        outline.plugins.iter().filter(|name| !name.contains(['\n', ':', '{'])).cloned().collect();
    let references = listed(&outline.names, REFERENCES).into_iter().chain(listed(&plugins, PLUGINS));
    let patched = if may_patch_generators(bytes) { patched_in_kustomization(&text, limits) } else { Vec::new() };
    references.chain(patched).chain([IndexEntry { index: KUSTOMIZATIONS.into(), key: kind.into() }]).collect()
}

/// Whether a file may hold a patch of an application set's generators.
pub(super) fn may_patch_generators(bytes: &[u8]) -> bool {
    scan::contains(bytes, b"/spec/generators/")
}

/// What indexes list about a file with a patch of an application set's generators.
pub(super) fn of_patch(bytes: &[u8], limits: &Limits) -> Vec<IndexEntry> {
    with_document(&String::from_utf8_lossy(bytes), limits, |root| patched_values(root).into_iter().collect())
}

/// The patches of application sets that are written in a kustomization itself.
fn patched_in_kustomization(text: &str, limits: &Limits) -> Vec<IndexEntry> {
    with_document(text, limits, |root| {
        let lists = ["patches", "patchesJson6902"].into_iter().filter_map(|field| root.get(field)?.as_list());
        let texts = lists.flatten().filter_map(|patch| patch.get("patch")?.as_str());
        texts
            .flat_map(|patch| with_document(patch, limits, |root| patched_values(root).into_iter().collect()))
            .collect()
    })
}

fn with_document(text: &str, limits: &Limits, work: impl FnOnce(&Node) -> Vec<IndexEntry>) -> Vec<IndexEntry> {
    let sources = Sources::default();
    let source = sources.add(SourceText::new(RepoPath::root(), "", text));
    let parsed = document::parse(text, source, Format::Yaml, limits);
    parsed.value.first().map_or_else(Vec::new, |document| work(&document.root))
}

/// The values that a JSON patch gives to generators: of clusters, and of elements in lists.
fn patched_values(operations: &Node) -> Option<IndexEntry> {
    let value = |operation: &Node| {
        let path = operation.get("path")?.as_str()?.strip_prefix("/spec/generators/")?;
        let (above, name) = path.rsplit_once('/')?;
        let is_value = above.ends_with("/values");
        let is_element = above.rsplit_once('/').is_some_and(|(list, _)| list.ends_with("/elements"));
        let prefix = if is_value { "values." } else { "" };
        let value = operation.get("value")?.as_str()?;
        (is_value || is_element).then(|| format!("{prefix}{name}={value}"))
    };
    let given: Vec<String> =
        operations.as_list()?.iter().filter_map(value).filter(|it| !it.contains(['&', '|'])).collect();
    (!given.is_empty()).then(|| IndexEntry { index: PATCHED_VALUES.into(), key: given.join("&").into() })
}

/// The directories that an application set names where a patch gives it other values.
pub(super) fn patched_paths(pattern: &str, given: &str) -> Vec<SmolStr> {
    let Some((own, path)) = pattern.split_once('|') else { return Vec::new() };
    let pairs = |text: &str| -> Vec<(String, SmolStr)> {
        text.split('&').filter_map(|it| it.split_once('=')).map(|(name, value)| (name.into(), value.into())).collect()
    };
    let mut values: BTreeMap<String, BTreeSet<SmolStr>> = BTreeMap::new();
    let given = pairs(given);
    let kept = pairs(own).into_iter().filter(|(name, _)| !given.iter().any(|(other, _)| other == name));
    kept.chain(given.iter().cloned()).for_each(|(name, value)| {
        values.entry(name).or_default().insert(value);
    });
    let mut paths = combined(path, &values);
    paths.retain(is_specific);
    paths.into_iter().map(tidy).collect()
}

/// What matters of a kustomization for its place among others.
struct Outline {
    is_component: bool,
    names: Vec<SmolStr>,
    plugins: Vec<SmolStr>,
}

/// The fields that name other kustomizations.
const FIELDS: [&str; 3] = ["resources", "bases", "components"];
/// The fields that name plugins.
const PLUGIN_FIELDS: [&str; 3] = ["generators", "transformers", "validators"];

impl Outline {
    /// A kustomization that cannot be built refers to others all the same: they are no roots because of it.
    fn read(text: &str, limits: &Limits) -> Self {
        let sources = Sources::default();
        let source = sources.add(SourceText::new(RepoPath::root(), "", text));
        let parsed = document::parse(text, source, Format::Yaml, limits);
        match parsed.value.first() {
            Some(document) if !parsed.findings.iter().any(crate::finding::Finding::is_error) => {
                Self::of_document(&document.root)
            }
            _ => Self::of_lines(text),
        }
    }

    fn of_document(root: &Node) -> Self {
        let entries = root.as_map().map_or(&[][..], |map| map.entries());
        let named_in = |fields: [&str; 3]| -> Vec<SmolStr> {
            let is_field = |name: &str| fields.iter().any(|field| field.eq_ignore_ascii_case(name));
            let lists = entries.iter().filter(|entry| is_field(&entry.key.name)).filter_map(|it| it.value.as_list());
            lists.flatten().filter_map(Node::as_str).map(SmolStr::new).collect()
        };
        Self {
            is_component: root.get("kind").and_then(Node::as_str) == Some("Component"),
            names: named_in(FIELDS),
            plugins: named_in(PLUGIN_FIELDS),
        }
    }

    fn of_lines(text: &str) -> Self {
        let item = |line: &str| Some(SmolStr::new(line.trim().strip_prefix("- ")?.trim().trim_matches(['"', '\''])));
        Self {
            is_component: text.lines().any(|line| line.trim_end() == "kind: Component"),
            // What is no path, but may be a literal of a generator, is remembered nowhere.
            names: text.lines().filter_map(item).filter(|name| !name.contains(['=', ':'])).collect(),
            plugins: Vec::new(),
        }
    }
}

/// Whether a file may hold an application.
pub(super) fn may_hold_application(bytes: &[u8]) -> bool {
    scan::contains(bytes, b"argoproj.io")
}

/// What indexes list about a resource: the directories that an application names.
pub(super) fn of_application(resource: &Resource) -> Vec<IndexEntry> {
    let Identity::Kubernetes(name) = &resource.identity else { return Vec::new() };
    if name.group != "argoproj.io" {
        return Vec::new();
    }
    let paths = match name.kind.as_str() {
        "Application" => source_paths(resource.payload.get("spec")),
        "ApplicationSet" => set_paths(&resource.payload),
        _ => Vec::new(),
    };
    let patterns = if name.kind == "ApplicationSet" { patterns(&resource.payload) } else { Vec::new() };
    let patterns = patterns.into_iter().map(|key| IndexEntry { index: PATTERNS.into(), key });
    let named = paths.into_iter().map(|path| IndexEntry { index: NAMED.into(), key: tidy(path) });
    named.chain(patterns).collect()
}

/// A path as directories are called.
fn tidy(path: SmolStr) -> SmolStr {
    SmolStr::new(path.trim_start_matches("./").trim_matches('/'))
}

/// Whether a path without placeholders says anything about where it leads.
fn is_specific(path: &SmolStr) -> bool {
    !path.contains("{{") && path.split('/').any(|part| !part.is_empty() && part != "*")
}

/// The paths of an application set with placeholders, each with the values that its generators give.
fn patterns(set: &Node) -> Vec<SmolStr> {
    let Some(spec) = set.get("spec") else { return Vec::new() };
    let generators = spec.get("generators").and_then(Node::as_list).unwrap_or_default();
    let values = generators.iter().flat_map(|generator| {
        let of_name = |(name, values): (String, BTreeSet<SmolStr>)| {
            values.into_iter().map(move |value| format!("{name}={value}")).collect::<Vec<_>>()
        };
        values_of(generator).into_iter().flat_map(of_name).collect::<Vec<_>>()
    });
    let values: BTreeSet<String> = values.filter(|it| !it.contains(['&', '|'])).collect();
    let values = values.into_iter().collect::<Vec<_>>().join("&");
    let paths = source_paths(spec.get("template").and_then(|template| template.get("spec")));
    let open = paths.into_iter().filter(|path| path.contains("{{"));
    open.map(|path| SmolStr::from(format!("{values}|{path}"))).collect()
}

fn source_paths(spec: Option<&Node>) -> Vec<SmolStr> {
    let Some(spec) = spec else { return Vec::new() };
    let several = spec.get("sources").and_then(Node::as_list).unwrap_or_default();
    let sources = spec.get("source").into_iter().chain(several);
    sources.filter_map(|source| source.get("path")?.as_str().map(SmolStr::new)).collect()
}

/// The directories of an application set. Placeholders are filled with what its generators say; one that they do not know is any one
/// part of a path.
fn set_paths(set: &Node) -> Vec<SmolStr> {
    let Some(spec) = set.get("spec") else { return Vec::new() };
    let template = spec.get("template").and_then(|template| template.get("spec"));
    let generators = spec.get("generators").and_then(Node::as_list).unwrap_or_default();
    let mut paths = Vec::new();
    for path in source_paths(template) {
        if !path.contains("{{") {
            paths.push(path);
            continue;
        }
        for generator in generators {
            let elements = generator.get("list").and_then(|list| list.get("elements")).and_then(Node::as_list);
            paths.extend(elements.unwrap_or_default().iter().map(|element| filled(&path, element)));
            let directories = generator.get("git").and_then(|git| git.get("directories")).and_then(Node::as_list);
            let is_path = ["{{path}}", "{{path.path}}", "{{.path.path}}"].contains(&&*path.replace(' ', ""));
            let named = directories.filter(|_| is_path).unwrap_or_default().iter();
            let named = named.filter(|entry| entry.get("exclude").is_none());
            paths.extend(named.filter_map(|entry| entry.get("path")?.as_str().map(SmolStr::new)));
            if ["merge", "matrix", "clusters"].iter().any(|kind| generator.get(kind).is_some()) {
                paths.extend(combined(&path, &values_of(generator)));
            }
        }
    }
    paths.retain(is_specific);
    paths
}

/// How many directories the placeholders of one path may lead to.
const MOST_PATHS: usize = 1000;

/// The values that generators give to placeholders, at any depth: of clusters and of elements in lists.
fn values_of(generator: &Node) -> BTreeMap<String, BTreeSet<SmolStr>> {
    let mut values: BTreeMap<String, BTreeSet<SmolStr>> = BTreeMap::new();
    let mut add = |prefix: &str, map: &Node| {
        for entry in map.as_map().map_or(&[][..], |map| map.entries()) {
            let value = entry.value.as_str().map(SmolStr::new);
            values.entry(format!("{prefix}{}", entry.key.name)).or_default().extend(value);
        }
    };
    let mut waiting = vec![generator];
    while let Some(generator) = waiting.pop() {
        for kind in ["merge", "matrix"] {
            let inner = generator.get(kind).and_then(|it| it.get("generators")).and_then(Node::as_list);
            waiting.extend(inner.unwrap_or_default());
        }
        if let Some(own) = generator.get("clusters").and_then(|clusters| clusters.get("values")) {
            add("values.", own);
        }
        let elements = generator.get("list").and_then(|list| list.get("elements")).and_then(Node::as_list);
        elements.unwrap_or_default().iter().for_each(|element| add("", element));
    }
    values
}

/// Every path that values make of one with placeholders.
fn combined(path: &str, values: &BTreeMap<String, BTreeSet<SmolStr>>) -> Vec<SmolStr> {
    let mut paths = vec![path.to_owned()];
    while let Some((start, end)) = paths.first().and_then(|path| placeholder(path)) {
        let name = paths[0][start + 2..end - 2].trim().trim_start_matches('.').to_owned();
        let any = BTreeSet::from([SmolStr::new_static("*")]);
        let known = values.get(&name).filter(|values| !values.is_empty()).unwrap_or(&any);
        let written = paths[0][start..end].to_owned();
        let filled = |path: &String| known.iter().map(|value| path.replace(&written, value)).collect::<Vec<_>>();
        paths = paths.iter().flat_map(filled).collect();
        if paths.len() > MOST_PATHS {
            return Vec::new();
        }
    }
    paths.into_iter().map(SmolStr::from).collect()
}

/// Where the first placeholder of a path begins and ends.
fn placeholder(path: &str) -> Option<(usize, usize)> {
    let start = path.find("{{")?;
    Some((start, start + path[start..].find("}}")? + 2))
}

/// A path whose placeholders are filled with the values of an element.
fn filled(path: &str, element: &Node) -> SmolStr {
    let entries = element.as_map().map_or(&[][..], |map| map.entries());
    let texts = entries.iter().filter_map(|entry| Some((entry.key.name.as_str(), entry.value.as_str()?)));
    let fill = |path: String, (key, value): (&str, &str)| {
        [format!("{{{{{key}}}}}"), format!("{{{{ {key} }}}}"), format!("{{{{.{key}}}}}"), format!("{{{{ .{key} }}}}")]
            .iter()
            .fold(path, |path, placeholder| path.replace(placeholder.as_str(), value))
    };
    texts.fold(path.to_owned(), fill).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<SmolStr> {
        let sources = Sources::default();
        let source = sources.add(SourceText::new(RepoPath::root(), "", text));
        set_paths(&document::parse(text, source, Format::Yaml, &Limits::default()).value[0].root)
    }

    #[test]
    fn placeholders_are_filled_with_what_generators_say() {
        let merge = "spec:\n  generators:\n  - merge:\n      generators:\n      - clusters: {values: {root: apps/web, env: staging, dir: base}}\n      \
                     - list: {elements: [{nameNormalized: one, values.dir: one}]}\n  \
                     template: {spec: {source: {path: '{{values.root}}/{{ values.env }}/{{values.dir}}'}}}\n";
        assert_eq!(paths(merge), ["apps/web/staging/base", "apps/web/staging/one"]);
        let unknown = merge.replace("{{values.dir}}", "{{name}}");
        assert_eq!(paths(&unknown), ["apps/web/staging/*"]);
        let all_unknown = merge.replace("{{values.root}}/{{ values.env }}/{{values.dir}}", "{{a}}/{{b}}/{{c}}");
        assert_eq!(paths(&all_unknown), [""; 0]);
    }

    #[test]
    fn a_patch_gives_generators_other_values() {
        let limits = Limits::default();
        let set = "spec:\n  generators:\n  - merge:\n      generators:\n      - clusters: {values: {root: apps/web, env: staging, dir: ''}}\n  \
                   template: {spec: {source: {path: '{{values.root}}/{{values.env}}/{{values.dir}}'}}}\n";
        let mut found = Vec::new();
        with_document(set, &limits, |root| {
            found = patterns(root);
            Vec::new()
        });
        let patch =
            b"- {op: add, path: /spec/generators/0/merge/generators/0/clusters/values/env, value: development}\n\
                      - {op: add, path: /spec/template/spec/source/path, value: x}\n";
        assert!(may_patch_generators(patch));
        let given = of_patch(patch, &limits);
        assert_eq!(given.iter().map(|it| it.key.as_str()).collect::<Vec<_>>(), ["values.env=development"]);
        assert_eq!(patched_paths(&found[0], &given[0].key), ["apps/web/development"]);
    }
}
