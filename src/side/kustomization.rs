//! A kustomization as `kustomize build` renders it, with its secrets hidden.

use super::{RenderedResource, RenderedStage, Side};
use crate::finding::Finding;
use crate::path::RepoPath;
use crate::resource::{Resource, Unit};
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
        let unit = Unit { layout: "kustomize".into(), key: directory.to_string().into() };
        let built = self.units().rendered(&unit);
        let resources: &[Resource] = &built.resources;
        // Replacements copy values between resources, so what is secret in one of them is secret in all.
        let secrets: Vec<_> =
            resources.iter().flat_map(|resource| self.secrets().secrets_of(resource.clone())).collect();
        let rendered = |resource: &Resource| {
            let payload = self.secrets().keep(&secrets, resource.clone());
            let hidden = self.secrets().hide(Resource { payload, ..resource.clone() });
            RenderedResource {
                name: hidden.identity.to_string(),
                file: hidden.file,
                views: vec![RenderedStage { stage: None, payload: Some(hidden.payload) }],
                remark: None,
            }
        };
        let resources: Vec<RenderedResource> = resources.iter().map(rendered).collect();
        let is_masked = resources
            .iter()
            .flat_map(|resource| &resource.views)
            .any(|view| view.payload.as_ref().is_some_and(Node::holds_secret));
        let findings = built.findings.clone();
        RenderedKustomization { resources, findings, is_failed: built.is_broken, is_masked }
    }
}
