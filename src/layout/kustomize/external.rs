//! What a root refers to and the repository does not hold: remote bases, charts, plugins.

use smol_str::SmolStr;

use super::file::{Kustomization, Text};
use super::load::{Loader, revision_of};
use super::{Fatal, fatal};
use crate::path::RepoPath;
use crate::text::Span;
use crate::value::{Entry, Node};

/// A reference to contents that are not in the repository.
///
/// Its value is the entry, the files of the repository that it names, and each transformer and patch that runs over it: two
/// leaves are equal only if all of that is.
#[derive(Debug, Clone)]
pub struct Leaf {
    /// The field that holds the reference: `resources`, `helmCharts`, `generators` …
    pub field: &'static str,
    /// What is referred to, for people: a URL, the name of a chart.
    pub reference: SmolStr,
    /// The revision or version, if the reference names one.
    pub revision: Option<SmolStr>,
    /// The entry as written.
    pub entry: Node,
    /// The files of the repository that the entry names, with their texts.
    pub files: Vec<(RepoPath, Node)>,
    /// What is applied to the contents: the directory of the kustomization and its transformers.
    pub applied: Vec<(RepoPath, Node)>,
}

/// The fields that change whatever a kustomization has collected.
const TRANSFORMERS: [&str; 14] = [
    "namespace",
    "namePrefix",
    "nameSuffix",
    "labels",
    "commonLabels",
    "commonAnnotations",
    "images",
    "imageTags",
    "replicas",
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "replacements",
    "components",
];

impl Leaf {
    /// A remote base.
    pub(super) fn remote(name: &Text) -> Self {
        Self {
            field: "resources",
            reference: name.value.split('?').next().unwrap_or_default().into(),
            revision: revision_of(&name.value),
            entry: Node::text(name.value.clone(), name.span),
            files: Vec::new(),
            applied: Vec::new(),
        }
    }

    /// An entry of a field whose contents a program would make.
    pub(super) fn of_entry(
        field: &'static str,
        entry: &Node,
        directory: &RepoPath,
        loader: &Loader<'_>,
    ) -> Result<Self, Fatal> {
        let text = |key: &str| entry.get(key).and_then(Node::as_str);
        // An inline document is not a name.
        let name = entry.as_str().filter(|name| !name.contains('\n'));
        let reference = name.or_else(|| text("name")).or_else(|| text("chartName")).unwrap_or(field);
        let mut files = Vec::new();
        let mut failure = None;
        entry.for_each(&mut crate::path::Pointer::root(), |_, node| {
            let named = node.as_str().filter(|name| !name.contains(['\n', ' ']) && name.contains(['.', '/']));
            let Some(path) = named.and_then(|name| super::load::resolve(directory, name)) else { return };
            match loader.text(&path) {
                Ok(Some(file)) => files.push((path, Node::text(&*file.text, Span::new(file.source, 0, 0)))),
                Ok(None) => {}
                Err(error) => failure = failure.take().or(Some(error)),
            }
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        let revision = text("version").or_else(|| text("chartVersion")).map(SmolStr::new);
        Ok(Self { field, reference: reference.into(), revision, entry: entry.clone(), files, applied: Vec::new() })
    }

    /// Notes what a kustomization does to everything it has collected.
    pub(super) fn apply(&mut self, directory: &RepoPath, kustomization: &Kustomization) {
        let node = &kustomization.node;
        let is_transformer = |entry: &&Entry| TRANSFORMERS.iter().any(|name| entry.key.name.eq_ignore_ascii_case(name));
        let entries: Vec<Entry> =
            node.as_map().map_or(&[][..], |map| map.entries()).iter().filter(is_transformer).cloned().collect();
        if !entries.is_empty() {
            self.applied.push((directory.clone(), Node::map(entries, node.span)));
        }
    }

    /// Where it is written.
    pub fn span(&self) -> Span {
        self.entry.span
    }
}

/// The leaves of a kustomization's own fields.
pub(super) fn leaves(
    directory: &RepoPath,
    kustomization: &Kustomization,
    loader: &Loader<'_>,
) -> Result<Vec<Leaf>, Fatal> {
    let mut leaves = Vec::new();
    for (field, entry) in &kustomization.external {
        let entry = match entry.as_str() {
            Some(name) => plugin(directory, &Text { value: name.into(), span: entry.span }, loader)?,
            None => entry.clone(),
        };
        loader.note(entry.span, format!("`{field}` is not run: what it makes is not in this repository"));
        leaves.push(Leaf::of_entry(field, &entry, directory, loader)?);
    }
    Ok(leaves)
}

/// The configuration of a plugin: a file, an inline document, or a directory, which is left as written.
fn plugin(directory: &RepoPath, name: &Text, loader: &Loader<'_>) -> Result<Node, Fatal> {
    let written = Node::text(name.value.clone(), name.span);
    if name.value.contains('\n') {
        return Ok(written);
    }
    let Some(path) = super::load::resolve(directory, &name.value) else { return Ok(written) };
    match loader.text(&path)? {
        Some(file) => {
            let documents = loader.documents(&file, super::scalars::Dialect::Resource)?;
            documents.first().cloned().ok_or_else(|| fatal(name.span, "this plugin has no configuration"))
        }
        None => Ok(written),
    }
}
