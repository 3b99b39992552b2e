//! The resources that a query means: by path, by file, or by the name of a Kubernetes document.

use super::{Opened, Side};
use crate::directive;
use crate::document::Format;
use crate::finding::{Finding, Outcome};
use crate::layout::Role;
use crate::limits::Spent;
use crate::metadata::MetadataPath;
use crate::parallel::{FEW, few_or_many};
use crate::path::{LogicalPath, RepoPath};
use crate::resource::{Content, Identity, KubernetesQuery, Resource, parse};
use crate::settings::Root;
use crate::side::FileContent;
use crate::snapshot::{Entry, EntryKind, Scope, Unreadable, files_below};

/// What a user asks about.
#[derive(Debug, Clone)]
pub enum ResourceQuery {
    /// A path that layers may apply to, with or without a resource, and the root of these layers.
    Path(MetadataPath, Root),
    /// The documents of a file, or one of them, counted from 0.
    File(RepoPath, Option<usize>),
    /// Kubernetes documents by kind and name.
    Kubernetes(KubernetesQuery),
    /// What the kustomization in a directory renders, or those documents of it that have a name.
    Root(RepoPath, Option<KubernetesQuery>),
}

/// A resource that a query means, with its directives expanded.
pub struct ResourceHit {
    /// The resource.
    pub resource: Resource,
    /// The files that its document includes.
    pub includes: Vec<RepoPath>,
}

impl Side<'_> {
    /// Every resource that a query means, and what is wrong with the files that were asked for.
    pub fn query(&self, query: &ResourceQuery) -> Outcome<Vec<ResourceHit>> {
        match query {
            ResourceQuery::Path(path, root) => match path.to_logical().filter(|_| !path.is_collection()) {
                Some(logical) => self.at_path(&logical, root),
                None => Outcome::clean(Vec::new()),
            },
            ResourceQuery::File(file, position) => {
                let content = self.file(file);
                let is_wanted = |resource: &Resource| position.is_none_or(|position| resource.position == position);
                Outcome { value: hits(&content, is_wanted), findings: content.findings.clone() }
            }
            ResourceQuery::Kubernetes(query) => self.by_kubernetes_name(query),
            ResourceQuery::Root(directory, name) => self.in_root(directory, name.as_ref()),
        }
    }

    /// What a kustomization renders.
    fn in_root(&self, directory: &RepoPath, wanted: Option<&KubernetesQuery>) -> Outcome<Vec<ResourceHit>> {
        let rendered = self.root(directory);
        let is_wanted = |resource: &Resource| match (&resource.identity, wanted) {
            (_, None) => true,
            (Identity::Kubernetes(name), Some(query)) => query.fits(name),
            _ => false,
        };
        let hidden = self.hide_in_unit(rendered.resources.clone(), Vec::new());
        let found = hidden.into_iter().filter(is_wanted).map(|resource| ResourceHit { resource, includes: Vec::new() });
        Outcome { value: found.collect(), findings: rendered.findings.clone() }
    }

    /// The resources at a path below the root of its layers, in the order of precedence of [`find`](Self::find).
    fn at_path(&self, path: &LogicalPath, layers: &Root) -> Outcome<Vec<ResourceHit>> {
        let is_asked = |root: &&RepoPath| self.settings.metadata_root.is_some() || **root == layers.path;
        let mut all = Outcome::clean(Vec::new());
        for file in self.settings.roots.paths().filter(is_asked).flat_map(|root| self.candidates(path, root)) {
            let content = self.file(&file);
            let found = hits(&content, |resource| self.path_of(resource).as_ref() == Some(path));
            // What is wrong with a file that only might have held it is not part of the answer.
            if matches!(self.roles().role(&file), Role::Resource(_)) || !found.is_empty() {
                all.findings.extend(content.findings.iter().cloned());
            }
            all.value.extend(found);
        }
        all
    }

    /// Looks through the whole snapshot.
    fn by_kubernetes_name(&self, query: &KubernetesQuery) -> Outcome<Vec<ResourceHit>> {
        let (mut entries, unreadable) =
            files_below(self.snapshot, &Scope::everything(), self.limits, &Spent::default());
        entries.retain(|entry| entry.kind == EntryKind::File && Format::of_file_name(entry.path.file_name()).is_some());
        self.snapshot.sort_for_reading(&mut entries);
        let read = |entry: Entry| {
            let path = entry.path.clone();
            let Opened::Bytes(bytes, _) = self.open(Some(entry)) else { return Vec::new() };
            if !query.may_be_in(&bytes) && !directive::may_include(&bytes) {
                return Vec::new();
            }
            let content = Content { bytes: &bytes, path: &path, revision: self.snapshot.label() };
            let content = self.content(&path, &parse(content, self.sources, self.limits));
            hits(&content, |resource| matches!(&resource.identity, Identity::Kubernetes(name) if query.fits(name)))
        };
        let mut found: Vec<ResourceHit> = few_or_many(entries, FEW, read).into_iter().flatten().collect();
        found.sort_by(|a, b| (&a.resource.file, a.resource.position).cmp(&(&b.resource.file, b.resource.position)));
        let findings: Vec<Finding> = unreadable.into_iter().map(Unreadable::into_finding).collect();
        Outcome { value: found, findings }
    }
}

fn hits(content: &FileContent, is_meant: impl Fn(&Resource) -> bool) -> Vec<ResourceHit> {
    let meant = content.resources.iter().filter(|resource| is_meant(resource)).map(|resource| {
        let own = content.includes.iter().filter(|(position, _)| *position == resource.position);
        ResourceHit { resource: resource.clone(), includes: own.map(|(_, file)| file.clone()).collect() }
    });
    meant.collect()
}
