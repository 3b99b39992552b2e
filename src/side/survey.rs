//! One look at all files of a snapshot: what they are, and which mechanisms they use.

use std::collections::{BTreeMap, BTreeSet};

use super::Side;
use crate::directive::has_directives;
use crate::expression::eval::has_expressions;
use crate::layout::Opened;
use crate::layout::kustomize::is_kustomization;
use crate::limits::Spent;
use crate::names;
use crate::path::RepoPath;
use crate::resource::{Content, Identity, ReadAs, Resource, SkipReason, parse};
use crate::snapshot::{Entry, Scope, files_below};
use crate::value::Node;

/// What the files of a snapshot are, and use.
#[derive(Debug, Default)]
pub struct Survey {
    /// How many files are read as what.
    pub read_as: BTreeMap<ReadAs, usize>,
    /// How many files are templates of other tools.
    pub templates: usize,
    /// How many directories are kustomizations.
    pub kustomizations: usize,
    /// How many files hold Kustomization objects of Flux.
    pub flux: usize,
    /// How many files hold components of OpenChoreo.
    pub components: usize,
    /// How many files have merge directives.
    pub directives: usize,
    /// How many files have expressions.
    pub expressions: usize,
    /// Whether there are ensembles of Unfurl.
    pub has_ensembles: bool,
    /// The OpenAPI documents.
    pub openapi: Vec<RepoPath>,
    /// The deepest directory around all resources by directory and the layers that apply to them; `None` without any.
    pub around_resources: Option<RepoPath>,
    /// How many files and directories could not be read.
    pub unreadable: usize,
}

impl Side<'_> {
    /// Looks at every file once.
    pub fn survey(&self) -> Survey {
        let (entries, unreadable) =
            files_below(self.given.snapshot, &Scope::default(), self.given.limits, &Spent::default());
        let mut survey = Survey { unreadable: unreadable.len(), ..Survey::default() };
        let mut roots = BTreeSet::new();
        for entry in entries {
            self.look_at(entry, &mut survey, &mut roots);
        }
        survey.around_resources = roots.into_iter().reduce(|a, b| common_directory(&a, &b));
        survey
    }

    fn look_at(&self, entry: Entry, survey: &mut Survey, roots: &mut BTreeSet<RepoPath>) {
        let path = entry.path.clone();
        survey.kustomizations += usize::from(is_kustomization(path.file_name()));
        let bytes = match self.open(Some(entry)) {
            Opened::Bytes(bytes, _) => bytes,
            Opened::Done(content) => {
                survey.unreadable += usize::from(content.is_unreadable);
                return;
            }
        };
        let content = Content { bytes: &bytes, path: &path, revision: self.given.snapshot.label() };
        let parsed = parse(content, self.given.sources, self.given.limits);
        let content = self.content(&path, &parsed);
        survey.templates += usize::from(content.skipped == Some(SkipReason::ForeignTemplate));
        survey.unreadable += usize::from(content.is_broken);
        let Some(read_as) = content.read_as else { return };
        *survey.read_as.entry(read_as).or_default() += 1;
        if matches!(read_as, ReadAs::Resource | ReadAs::Layer) {
            roots.extend(directory_of_tree(&path));
        }
        if read_as == ReadAs::Configuration {
            return;
        }
        let documents = || parsed.documents.iter().map(|document| &document.root);
        survey.flux += usize::from(documents().any(is_applied_by_flux));
        survey.components += usize::from(content.resources.iter().any(is_component));
        survey.directives += usize::from(parsed.documents.iter().any(has_directives));
        survey.expressions += usize::from(content.resources.iter().any(|found| has_expressions(&found.payload)));
        survey.has_ensembles |= documents().any(is_ensemble);
        if documents().any(|root| root.get("openapi").is_some() || root.get("swagger").is_some()) {
            survey.openapi.push(path);
        }
    }
}

/// The directory in which a resource or the directory of a resource is, or that a layer for many resources is below.
fn directory_of_tree(file: &RepoPath) -> Option<RepoPath> {
    let directory = file.parent()?;
    let is_named_by_directory =
        names::rank(file.file_name(), names::RESOURCE).is_some() || names::is_layer_file(file.file_name());
    if !is_named_by_directory {
        return Some(directory);
    }
    let wildcards = std::iter::successors(Some(directory.clone()), RepoPath::parent)
        .filter(|around| around.file_name() == names::WILDCARD.as_bytes());
    wildcards.last().unwrap_or(directory).parent()
}

fn common_directory(a: &RepoPath, b: &RepoPath) -> RepoPath {
    std::iter::successors(Some(a.clone()), RepoPath::parent).find(|around| b.is_within(around)).unwrap_or_default()
}

fn is_applied_by_flux(root: &Node) -> bool {
    let version = root.get("apiVersion").and_then(Node::as_str);
    version.is_some_and(|version| version.starts_with("kustomize.toolkit.fluxcd.io/"))
}

fn is_component(resource: &Resource) -> bool {
    matches!(&resource.identity, Identity::Kubernetes(name) if name.group == "openchoreo.dev" && name.kind == "Component")
}

fn is_ensemble(root: &Node) -> bool {
    let version = root.get("apiVersion").and_then(Node::as_str);
    version.is_some_and(|version| version.starts_with("unfurl/"))
}
