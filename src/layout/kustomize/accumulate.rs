//! The build of one kustomization: resources, generators, components and transformers, in kustomize's order.

use super::configuration::Tables;
use super::external::{self, Leaf};
use super::file::{Kustomization, Text};
use super::load::{Loader, is_remote};
use super::resource::Resource;
use super::{Fatal, fatal, generate, patch, reference, replace, transform};
use crate::path::RepoPath;
use crate::text::Span;

/// Everything that a kustomization has collected so far.
#[derive(Debug, Default)]
pub(super) struct Accumulated {
    /// The resources, in order.
    pub(super) resources: Vec<Resource>,
    /// What is not in the repository.
    pub(super) leaves: Vec<Leaf>,
    /// The tables of fields, extended by configurations.
    pub(super) tables: Tables,
}

/// How deep kustomizations may be nested.
const DEEPEST: usize = 64;

/// Builds a root: everything below it, then what is done once at the end.
pub(super) fn root(directory: &RepoPath, loader: &Loader<'_>) -> Result<Accumulated, Fatal> {
    let Some(kustomization) = loader.kustomization(directory)? else {
        return Err(no_kustomization(directory, loader));
    };
    let mut accumulated = Accumulated::default();
    let build = Build { loader, chain: vec![directory.clone()] };
    build.kustomization(directory, &kustomization, &mut accumulated)?;
    generate::add_hashes(&mut accumulated.resources)?;
    reference::update(&mut accumulated.resources, &accumulated.tables)?;
    accumulated.resources.retain(|resource| !is_local_config(resource));
    if !kustomization.build_metadata.is_empty() {
        loader.note(kustomization.build_metadata[0].span, "metadata about the build is left out");
    }
    Ok(accumulated)
}

fn no_kustomization(directory: &RepoPath, loader: &Loader<'_>) -> Fatal {
    let text = crate::text::SourceText::new(directory.clone(), "", "");
    fatal(Span::new(loader.sources().add(text), 0, 0), format!("there is no kustomization in `{directory}`"))
}

fn is_local_config(resource: &Resource) -> bool {
    let annotation =
        super::fields::get_at(&resource.node, &["metadata", "annotations", "config.kubernetes.io/local-config"]);
    annotation.is_some_and(|value| value.as_str() != Some("false"))
}

struct Build<'a> {
    loader: &'a Loader<'a>,
    /// The directories that led here.
    chain: Vec<RepoPath>,
}

impl Build<'_> {
    fn kustomization(
        &self,
        directory: &RepoPath,
        kustomization: &Kustomization,
        accumulated: &mut Accumulated,
    ) -> Result<(), Fatal> {
        for name in &kustomization.resources {
            self.resource(directory, name, accumulated)?;
        }
        accumulated.tables.extend(directory, kustomization, self.loader)?;
        accumulated.leaves.extend(external::leaves(directory, kustomization, self.loader)?);
        generate::generate(directory, kustomization, self.loader, &mut accumulated.resources)?;
        for name in &kustomization.components {
            self.component(directory, name, accumulated)?;
        }
        self.transform(directory, kustomization, accumulated)
    }

    fn resource(&self, directory: &RepoPath, name: &Text, accumulated: &mut Accumulated) -> Result<(), Fatal> {
        if is_remote(&name.value) {
            self.loader.note(name.span, format!("`{}` is not in this repository", name.value));
            accumulated.leaves.push(Leaf::remote(name));
            return Ok(());
        }
        let path = self.loader.path(directory, name);
        let missing = || fatal(name.span, format!("there is no file or kustomization `{}`", name.value));
        let path = path.ok_or_else(missing)?;
        if let Some(file) = self.loader.text(&path)? {
            return self.append(self.loader.resources(&file)?, accumulated);
        }
        let kustomization = self.enter(&path, name)?.ok_or_else(missing)?;
        if kustomization.is_component {
            return Err(fatal(name.span, format!("`{}` is a component, which belongs under `components`", name.value)));
        }
        let mut inner = Accumulated::default();
        self.below(&path).kustomization(&path, &kustomization, &mut inner)?;
        accumulated.leaves.append(&mut inner.leaves);
        accumulated.tables.merge(inner.tables);
        self.append(inner.resources, accumulated)
    }

    fn component(&self, directory: &RepoPath, name: &Text, accumulated: &mut Accumulated) -> Result<(), Fatal> {
        if is_remote(&name.value) {
            self.loader.note(name.span, format!("`{}` is not in this repository", name.value));
            accumulated.leaves.push(Leaf { field: "components", ..Leaf::remote(name) });
            return Ok(());
        }
        let missing = || fatal(name.span, format!("there is no component `{}`", name.value));
        let path = self.loader.path(directory, name).ok_or_else(missing)?;
        let kustomization = self.enter(&path, name)?.ok_or_else(missing)?;
        if !kustomization.is_component {
            return Err(fatal(name.span, format!("`{}` is not a component", name.value)));
        }
        self.below(&path).kustomization(&path, &kustomization, accumulated)
    }

    /// The kustomization of another directory, unless it leads back to where the build came from.
    fn enter(&self, path: &RepoPath, name: &Text) -> Result<Option<Kustomization>, Fatal> {
        if self.chain.iter().any(|above| above.is_within(path)) {
            return Err(fatal(name.span, format!("`{}` contains this kustomization: a cycle", name.value)));
        }
        if self.chain.len() >= DEEPEST {
            return Err(fatal(name.span, format!("kustomizations are nested more than {DEEPEST} deep")));
        }
        self.loader.kustomization(path)
    }

    fn below(&self, path: &RepoPath) -> Self {
        Self { loader: self.loader, chain: self.chain.iter().cloned().chain([path.clone()]).collect() }
    }

    fn append(&self, resources: Vec<Resource>, accumulated: &mut Accumulated) -> Result<(), Fatal> {
        for resource in resources {
            let id = resource.id();
            if let Some(other) = accumulated.resources.iter().find(|other| other.id().is_same(&id)) {
                let failure = fatal(resource.span(), format!("{} is in this kustomization twice", id.shown()));
                return Err(Box::new(failure.related(other.span(), "first here")));
            }
            accumulated.resources.push(resource);
        }
        Ok(())
    }

    fn transform(
        &self,
        directory: &RepoPath,
        kustomization: &Kustomization,
        accumulated: &mut Accumulated,
    ) -> Result<(), Fatal> {
        accumulated.leaves.iter_mut().for_each(|leaf| leaf.apply(directory, kustomization));
        let is_open = !accumulated.leaves.is_empty();
        let Accumulated { resources, tables, .. } = accumulated;
        let patches = patch::Patches { directory, loader: self.loader, schemas: &tables.schemas, is_open };
        patches.strategic(&kustomization.patches_strategic_merge, resources)?;
        patches.apply(&kustomization.patches, resources)?;
        transform::namespace(kustomization, tables, resources)?;
        transform::names(kustomization, tables, resources)?;
        transform::labels(kustomization, tables, resources)?;
        transform::annotations(kustomization, tables, resources)?;
        patches.json(&kustomization.patches_json6902, resources)?;
        transform::replicas(kustomization, tables, resources, is_open)?;
        transform::images(kustomization, tables, resources)?;
        replace::replacements(directory, kustomization, self.loader, resources, is_open)
    }
}
