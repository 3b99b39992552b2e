//! Units by name, as commands render them: a kustomization, or a component in an environment; with their secrets hidden.

use std::sync::Arc;

use super::{RenderedResource, RenderedStage, Side};
use crate::finding::Finding;
use crate::layout::kustomize::KUSTOMIZATION_FILES;
use crate::layout::{Rendered, TreeFacts};
use crate::limits::Budget;
use crate::path::RepoPath;
use crate::resource::{Resource, Unit};
use crate::snapshot::EntryKind;
use crate::value::Secret;

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
    /// Whether a directory has a kustomization that can be built on its own.
    pub fn has_kustomization(&self, directory: &RepoPath) -> bool {
        let is_file = |name: &str| {
            let file = directory.join(name.as_bytes()).ok();
            let entry = file.and_then(|file| self.snapshot.entry(&file).ok().flatten());
            entry.is_some_and(|entry| entry.kind == EntryKind::File)
        };
        KUSTOMIZATION_FILES.iter().any(|name| is_file(name))
    }

    /// Whether a name is that of a component in an environment: `NAMESPACE/COMPONENT@ENVIRONMENT`.
    pub fn has_component(&self, name: &RepoPath) -> bool {
        let Some(key) = name.to_str().filter(|key| key.contains('@')) else { return false };
        let unit = Unit { layout: "openchoreo".into(), key: key.into() };
        self.unit_table().units.contains_key(&unit)
    }

    /// The names of all units of a layout: `openchoreo` has components in environments, `kustomize` and `flux` have roots.
    pub fn units_of(&self, layout: &str) -> Vec<String> {
        let shown = self.unit_table().units.iter().filter(|(_, facts)| facts.is_shown);
        shown.filter(|(unit, _)| unit.layout == layout).map(|(unit, _)| unit.key.to_string()).collect()
    }

    /// What is known about all units of this side.
    pub(super) fn unit_table(&self) -> &TreeFacts {
        self.caches.unit_table.get_or_init(|| TreeFacts::read(self.units(), &Budget::default()).0)
    }

    /// What the kustomization in a directory renders, or the component of a name, as it is.
    pub fn root(&self, directory: &RepoPath) -> Arc<Rendered> {
        let key = directory.to_str().unwrap_or_default().into();
        let layout = if self.has_component(directory) { "openchoreo" } else { "kustomize" };
        self.units().rendered(&Unit { layout: layout.into(), key })
    }

    /// The resources of one unit with their secrets hidden. Replacements copy values between resources, so what is secret in one of
    /// them is secret in all.
    pub fn hide_in_unit(&self, resources: Vec<Resource>, known: Vec<Secret>) -> Vec<Resource> {
        if resources.iter().any(|resource| resource.is_rendered_by("openchoreo")) {
            self.know_templates();
        }
        // What is secret in a document that a unit reads is secret in what it makes.
        let mut given = known;
        given.extend(self.secrets_read_by(&resources));
        let mut secrets = given.clone();
        secrets.extend(resources.iter().flat_map(|resource| self.secrets().secrets_of(resource.clone())));
        let hide = |resource: Resource| {
            let payload = match secrets.is_empty() {
                true => resource.payload.clone(),
                false => self.secrets().keep(&secrets, resource.clone()),
            };
            let payload = self.secrets().hide_in_texts(payload, &given);
            self.secrets().hide(Resource { payload, ..resource })
        };
        let hidden: Vec<Resource> =
            resources.into_iter().map(hide).map(|resource| self.without_older(resource)).collect();
        if !self.secrets().hides_values() {
            return hidden;
        }
        let origins = self.origins(&hidden, &|_, _| true);
        hidden.into_iter().map(|resource| self.by_origin(resource, &origins)).collect()
    }

    /// Renders the kustomization in a directory.
    pub fn kustomization(&self, directory: &RepoPath) -> RenderedKustomization {
        let built = self.root(directory);
        let rendered = |hidden: Resource| RenderedResource {
            name: hidden.identity.to_string(),
            file: hidden.file,
            views: vec![RenderedStage { stage: None, payload: Some(hidden.payload) }],
            remark: None,
        };
        let hidden = self.hide_in_unit(built.resources.clone(), Vec::new());
        let is_masked = hidden.iter().any(|resource| resource.payload.holds_secret());
        let resources = hidden.into_iter().map(rendered).collect();
        let findings = built.findings.clone();
        RenderedKustomization { resources, findings, is_failed: built.is_broken, is_masked }
    }
}
