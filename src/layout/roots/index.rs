//! What a file says about roots, for indexes: which directories a kustomization refers to, and which ones an application names.

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

/// The directories of an application set whose placeholders a list or directories of this repository fill. Others are not known.
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
        }
    }
    paths.retain(|path| !path.contains("{{"));
    paths
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
