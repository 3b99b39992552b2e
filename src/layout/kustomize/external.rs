//! What a root refers to and the repository does not hold: remote bases, charts, plugins.

use smol_str::SmolStr;

use super::file::{Kustomization, Text, read_patch};
use super::id::ResourceId;
use super::load::{Loader, revision_of};
use super::resource::Resource;
use super::scalars::Dialect;
use super::selector::Compiled;
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
    /// What is applied to the contents: the transformers of each kustomization, in their order.
    pub applied: Vec<Node>,
}

/// The fields that change whatever a kustomization has collected. Components have such fields of their own.
const TRANSFORMERS: [&str; 18] = [
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
    "vars",
    "configurations",
    "crds",
    "openapi",
    "buildMetadata",
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

    /// Where it is written.
    pub fn span(&self) -> Span {
        self.entry.span
    }
}

/// What a kustomization does to everything it has collected, with the contents of the files that it names. A patch that names a resource
/// of the repository is for that one alone.
pub(super) fn applied(
    directory: &RepoPath,
    kustomization: &Kustomization,
    loader: &Loader<'_>,
    resources: &[Resource],
) -> Result<Option<Node>, Fatal> {
    let node = &kustomization.node;
    let read = Contents { directory, loader, resources };
    let mut entries = Vec::new();
    for entry in node.as_map().map_or(&[][..], |map| map.entries()) {
        let name = entry.key.name.strip_prefix("spec.").unwrap_or(&entry.key.name);
        if TRANSFORMERS.iter().any(|field| name.eq_ignore_ascii_case(field))
            && let Some(value) = read.of_field(&entry.value)?
        {
            entries.push(Entry { value, ..entry.clone() });
        }
    }
    Ok((!entries.is_empty()).then(|| Node::map(entries, node.span)))
}

/// Reads the files that the fields of a kustomization name.
struct Contents<'a> {
    directory: &'a RepoPath,
    loader: &'a Loader<'a>,
    resources: &'a [Resource],
}

impl Contents<'_> {
    /// A field with contents in the place of names; `None` if nothing of it is for what is not in the repository.
    fn of_field(&self, value: &Node) -> Result<Option<Node>, Fatal> {
        let Some(items) = value.as_list() else { return self.of_item(value).map(Some) };
        let mut kept = Vec::new();
        for written in items {
            let item = self.of_item(written)?;
            if !self.is_for_local(&item) && !self.selects_local(written) {
                kept.push(item);
            }
        }
        Ok((!kept.is_empty() || items.is_empty()).then(|| Node::list(kept, value.span)))
    }

    /// An entry: the name of a file, or a map that names one as `path`, or has a text as `patch`.
    fn of_item(&self, item: &Node) -> Result<Node, Fatal> {
        let Some(map) = item.as_map() else { return Ok(self.of_text(item)?.unwrap_or_else(|| item.clone())) };
        let mut entries = map.entries().to_vec();
        for entry in entries.iter_mut().filter(|entry| ["path", "patch"].contains(&entry.key.name.as_str())) {
            if let Some(content) = self.of_text(&entry.value)? {
                *entry = Entry::named("patch", entry.key.span, content);
            }
        }
        Ok(Node::map(entries, item.span))
    }

    /// The documents that a text holds or names; `None` if it is neither a document nor the name of a file with some.
    fn of_text(&self, node: &Node) -> Result<Option<Node>, Fatal> {
        let Some(value) = node.as_str() else { return Ok(None) };
        let text = Text { value: value.into(), span: node.span };
        let documents = if value.contains('\n') {
            self.loader.inline(&text, Dialect::Resource).ok()
        } else {
            let path = self.loader.path(self.directory, &text);
            let file = path.map(|path| self.loader.text(&path)).transpose()?.flatten();
            file.and_then(|file| self.loader.documents(&file, Dialect::Resource).ok())
        };
        Ok(documents.map(|documents| match &*documents {
            [document] => document.clone(),
            several => Node::list(several.to_vec(), node.span),
        }))
    }

    /// Whether an entry is a patch whose documents all name resources of the repository.
    fn is_for_local(&self, item: &Node) -> bool {
        if item.get("target").is_some() {
            return false;
        }
        let patch = item.get("patch").unwrap_or(item);
        let documents = patch.as_list().unwrap_or(std::slice::from_ref(patch));
        let is_local = |document: &Node| {
            let id = ResourceId::read(document);
            document.get("kind").is_some() && self.resources.iter().any(|resource| resource.is_called(&id))
        };
        !documents.is_empty() && documents.iter().all(is_local)
    }

    /// Whether an entry is a patch for one kind and one name, and the repository has the resource.
    fn selects_local(&self, item: &Node) -> bool {
        let Some(target) = item.get("target").and_then(|_| read_patch(item).ok()?.target) else { return false };
        let is_plain =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_plain(&target.kind)
            && is_plain(&target.name)
            && Compiled::new(&target, item.span)
                .is_ok_and(|target| self.resources.iter().any(|resource| target.selects(resource)))
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
            let documents = loader.documents(&file, Dialect::Resource)?;
            documents.first().cloned().ok_or_else(|| fatal(name.span, "this plugin has no configuration"))
        }
        None => Ok(written),
    }
}
