//! What a file says about roots, for indexes: which directories a kustomization refers to, and which ones an application names.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use crate::document::{self, Format};
use crate::layout::IndexEntry;
use crate::layout::kustomize::{KUSTOMIZATION_FILES, resolve};
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::resource::{Identity, Resource};
use crate::scan::byte_pairs;
use crate::text::{SourceText, Sources};
use crate::value::Node;

/// Kustomization files; the key is [`ROOT`] or [`COMPONENT`].
pub(super) const KUSTOMIZATIONS: &str = "kustomizations";
/// Kustomizations by the paths that they refer to.
pub(super) const REFERENCES: &str = "kustomize references";
/// Applications by the directories that they name; a `*` is any one part of a path.
pub(super) const NAMED: &str = "application paths";

/// Files by the directories that a Flux Kustomization in them applies.
pub(super) const APPLIED: &str = "flux paths";

/// A kustomization that may be a root.
pub(super) const ROOT: &str = "root";
/// A kustomization that is only part of others.
pub(super) const COMPONENT: &str = "component";

/// Whether this is the name of a kustomization file.
pub(super) fn is_kustomization(file: &RepoPath) -> bool {
    KUSTOMIZATION_FILES.iter().any(|name| name.as_bytes() == file.file_name())
}

/// What indexes list about a kustomization file.
pub(super) fn of_kustomization(file: &RepoPath, bytes: &[u8], limits: &Limits) -> Vec<IndexEntry> {
    let outline = Outline::read(&String::from_utf8_lossy(bytes), limits);
    let directory = file.parent().unwrap_or_default();
    let kind = if outline.is_component { COMPONENT } else { ROOT };
    let references = outline.names.iter().filter_map(|name| resolve(&directory, name)?.to_str().map(SmolStr::new));
    let references = references.map(|key| IndexEntry { index: REFERENCES.into(), key });
    references.chain([IndexEntry { index: KUSTOMIZATIONS.into(), key: kind.into() }]).collect()
}

/// What matters of a kustomization for its place among others.
struct Outline {
    is_component: bool,
    names: Vec<SmolStr>,
}

/// The fields that name other kustomizations.
const FIELDS: [&str; 3] = ["resources", "bases", "components"];

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
        let is_field = |name: &str| FIELDS.iter().any(|field| field.eq_ignore_ascii_case(name));
        let lists = entries.iter().filter(|entry| is_field(&entry.key.name)).filter_map(|entry| entry.value.as_list());
        Self {
            is_component: root.get("kind").and_then(Node::as_str) == Some("Component"),
            names: lists.flatten().filter_map(Node::as_str).map(SmolStr::new).collect(),
        }
    }

    fn of_lines(text: &str) -> Self {
        let item = |line: &str| Some(SmolStr::new(line.trim().strip_prefix("- ")?.trim().trim_matches(['"', '\''])));
        Self {
            is_component: text.lines().any(|line| line.trim_end() == "kind: Component"),
            names: text.lines().filter_map(item).collect(),
        }
    }
}

/// Whether a file may hold an application.
pub(super) fn may_hold_application(bytes: &[u8]) -> bool {
    const GROUP: &[u8] = b"argoproj.io";
    let pair = GROUP.len() - 4;
    byte_pairs(bytes, |byte, next| (byte == b'j') & (next == b'.'))
        .any(|at| at >= pair && bytes[at - pair..].starts_with(GROUP))
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
    let tidy = |path: SmolStr| SmolStr::new(path.trim_start_matches("./").trim_matches('/'));
    paths.into_iter().map(|path| IndexEntry { index: NAMED.into(), key: tidy(path) }).collect()
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
    paths.retain(|path| !path.contains("{{") && path.split('/').any(|part| !part.is_empty() && part != "*"));
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
}
