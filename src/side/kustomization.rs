//! A kustomization as `kustomize build` renders it, with its secrets hidden.

use super::{RenderedResource, RenderedStage, Side};
use crate::finding::Finding;
use crate::layout::kustomize::{self, BuiltResource};
use crate::path::RepoPath;
use crate::resource::{Identity, KubernetesName, Resource, Unit, kubernetes_name};
use crate::value::Node;

/// A rendered kustomization.
#[derive(Debug, Default)]
pub struct RenderedKustomization {
    /// Its resources, in the order in which they were collected.
    pub resources: Vec<RenderedResource>,
    /// Why it could not be built, and what is not in the repository.
    pub findings: Vec<Finding>,
    /// Whether it could not be built; then there are no resources.
    pub is_failed: bool,
    /// Whether values are hidden.
    pub is_masked: bool,
}

impl Side<'_> {
    /// Renders the kustomization in a directory.
    pub fn kustomization(&self, directory: &RepoPath) -> RenderedKustomization {
        let built = kustomize::build(directory, self.given, &kustomize::Cache::default());
        let unit = Unit { layout: "kustomize".into(), key: directory.to_string().into() };
        let resources: Vec<Resource> =
            built.resources.into_iter().map(|resource| self.built_resource(resource, &unit)).collect();
        // Replacements copy values between resources, so what is secret in one of them is secret in all.
        let secrets: Vec<_> =
            resources.iter().flat_map(|resource| self.secrets().secrets_of(resource.clone())).collect();
        let rendered = |resource: Resource| {
            let payload = self.secrets().keep(&secrets, resource.clone());
            let hidden = self.secrets().hide(Resource { payload, ..resource });
            RenderedResource {
                name: hidden.identity.to_string(),
                file: hidden.file,
                views: vec![RenderedStage { stage: None, payload: Some(hidden.payload) }],
                remark: None,
            }
        };
        let resources: Vec<RenderedResource> = resources.into_iter().map(rendered).collect();
        let is_masked = resources
            .iter()
            .flat_map(|resource| &resource.views)
            .any(|view| view.payload.as_ref().is_some_and(Node::holds_secret));
        RenderedKustomization { resources, findings: built.findings, is_failed: built.is_failed, is_masked }
    }

    fn built_resource(&self, built: BuiltResource, unit: &Unit) -> Resource {
        let file = self.sources.get(built.node.span.source).path.clone();
        let name = kubernetes_name(&built.node).map(|name| KubernetesName { name: built.name.clone(), ..name });
        let identity = match name {
            Some(name) => Identity::Kubernetes(name),
            None => Identity::File { path: file.clone(), position: None },
        };
        Resource { identity, file, position: 0, payload: built.node, unit: Some(unit.clone()) }
    }
}
