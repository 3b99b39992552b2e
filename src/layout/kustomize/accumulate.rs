//! The build of one kustomization: resources, generators, components and transformers, in kustomize's order.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

use super::configuration::Tables;
use super::external::{self, Leaf};
use super::file::{Kustomization, Text};
use super::id::IdKey;
use super::load::{FileCache, Loader, Noted, is_remote};
use super::resource::{self, Resource};
use super::{Fatal, fatal, generate, patch, reference, replace, run_limit, transform};
use crate::finding::{self, Finding, Location};
use crate::limits::Counted;
use crate::memo::Memo;
use crate::path::RepoPath;
use crate::text::Span;

/// What builds of one snapshot share: files and built bases, each read once.
#[derive(Debug, Default)]
pub struct Cache {
    pub(super) files: FileCache,
    /// Bases that were built without a failure.
    bases: Memo<RepoPath, Arc<Base>>,
}

/// A base that was built, and what was noted meanwhile.
#[derive(Debug)]
struct Base {
    accumulated: Accumulated,
    noted: Noted,
}

/// Everything that a kustomization has collected so far.
#[derive(Debug, Clone)]
pub(super) struct Accumulated {
    /// The resources, in order.
    pub(super) resources: Vec<Resource>,
    /// What is not in the repository.
    pub(super) leaves: Vec<Leaf>,
    /// The tables of fields, extended by configurations.
    pub(super) tables: Arc<Tables>,
}

impl Default for Accumulated {
    fn default() -> Self {
        Self { resources: Vec::new(), leaves: Vec::new(), tables: Tables::built_in() }
    }
}

/// How deep kustomizations may be nested.
const DEEPEST: usize = 64;

/// The number of values that a copied resource counts as: the memory that goes with each.
const RESOURCE: u64 = 6;

/// How many values all transformers of a build may look at, for each value that one document may have.
const MOST_PASSES: u64 = 64;

/// Builds a root: everything below it, then what is done once at the end.
pub(super) fn root(directory: &RepoPath, loader: &Loader<'_>, cache: &Cache) -> Result<Accumulated, Fatal> {
    let Some(kustomization) = loader.kustomization(directory)? else {
        return Err(no_kustomization(directory, loader));
    };
    of_kustomization(directory, &kustomization, loader, cache)
}

/// Builds a root whose kustomization is known.
pub(super) fn of_kustomization(
    directory: &RepoPath,
    kustomization: &Kustomization,
    loader: &Loader<'_>,
    cache: &Cache,
) -> Result<Accumulated, Fatal> {
    let mut accumulated = Accumulated::default();
    let work = Cell::new(loader.given().limits.nodes.saturating_mul(MOST_PASSES));
    let build = Build { loader, cache, chain: vec![directory.clone()], work: &work };
    build.kustomization(directory, kustomization, &mut accumulated)?;
    generate::add_hashes(&mut accumulated.resources)?;
    reference::update(&mut accumulated.resources, &accumulated.tables)?;
    for resource in &mut accumulated.resources {
        resource.node = resource::finished(&resource.node)?;
    }
    accumulated.resources.retain(|resource| !is_local_config(resource));
    if let Some(first) = kustomization.build_metadata.first() {
        loader.note(first.span, "metadata about the build is left out");
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

/// Taking in a component costs as much as looking at so many values.
const ENTERING: u64 = 1000;

struct Build<'a> {
    loader: &'a Loader<'a>,
    cache: &'a Cache,
    /// The directories that led here.
    chain: Vec<RepoPath>,
    /// How many values transformers may still look at.
    work: &'a Cell<u64>,
}

impl Build<'_> {
    fn kustomization(
        &self,
        directory: &RepoPath,
        kustomization: &Kustomization,
        accumulated: &mut Accumulated,
    ) -> Result<(), Fatal> {
        self.loader.note_entered(directory);
        kustomization.deprecated.iter().for_each(|finding| self.loader.report(finding.clone()));
        let mut ids: HashSet<IdKey> = accumulated.resources.iter().map(|resource| resource.id().key()).collect();
        for name in &kustomization.resources {
            self.resource(directory, name, accumulated, &mut ids)?;
        }
        accumulated.tables = Tables::extended(&accumulated.tables, directory, kustomization, self.loader)?;
        accumulated.leaves.extend(external::leaves(directory, kustomization, self.loader)?);
        let is_open = !accumulated.leaves.is_empty();
        generate::generate(directory, kustomization, self.loader, &mut accumulated.resources, is_open)?;
        for name in &kustomization.components {
            self.component(directory, name, accumulated)?;
        }
        self.transform(directory, kustomization, accumulated)
    }

    fn resource(
        &self,
        directory: &RepoPath,
        name: &Text,
        accumulated: &mut Accumulated,
        ids: &mut HashSet<IdKey>,
    ) -> Result<(), Fatal> {
        if is_remote(&name.value) {
            self.loader.note(name.span, format!("`{}` is not in this repository", name.value));
            accumulated.leaves.push(Leaf::remote(name));
            return Ok(());
        }
        let path = self.loader.path(directory, name);
        let missing = || fatal(name.span, format!("there is no file or kustomization `{}`", name.value));
        let path = path.ok_or_else(missing)?;
        if let Some(file) = self.loader.text(&path)? {
            self.loader.note_outside(directory, &path, name.span);
            let resources = self.loader.resources(&file)?;
            self.keep(resources.len(), name.span)?;
            return append(&resources, accumulated, ids);
        }
        let base = self.base(&path, name)?.ok_or_else(missing)?;
        accumulated.leaves.extend(base.accumulated.leaves.iter().cloned());
        accumulated.tables = Tables::united(&accumulated.tables, &base.accumulated.tables);
        self.keep(base.accumulated.resources.len(), name.span)?;
        append(&base.accumulated.resources, accumulated, ids)
    }

    /// The base in a directory, built once for all that use it; `None` if there is no kustomization.
    fn base(&self, path: &RepoPath, name: &Text) -> Result<Option<Arc<Base>>, Fatal> {
        if let Some(base) = self.cache.bases.known(path)
            && !self.leads_back(base.noted.entered.iter())
        {
            self.loader.include(&base.noted);
            self.spend(base.accumulated.resources.len() as u64, name.span)?;
            return Ok(Some(base));
        }
        let (built, noted) = self.loader.noting(|| {
            let Some(kustomization) = self.enter(path, name)? else { return Ok(None) };
            if kustomization.is_component {
                let message = format!("`{}` is a component, which belongs under `components`", name.value);
                return Err(fatal(name.span, message));
            }
            let mut accumulated = Accumulated::default();
            self.below(path).kustomization(path, &kustomization, &mut accumulated)?;
            Ok(Some(accumulated))
        });
        let Some(accumulated) = built? else { return Ok(None) };
        let base = Arc::new(Base { accumulated, noted });
        Ok(Some(self.cache.bases.get(path, || base)))
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
        // Components of components multiply, also where none of them changes anything.
        self.spend(ENTERING.saturating_add(accumulated.resources.len() as u64), name.span)?;
        self.below(&path).kustomization(&path, &kustomization, accumulated)
    }

    /// The kustomization of another directory, unless it leads back to where the build came from.
    fn enter(&self, path: &RepoPath, name: &Text) -> Result<Option<Arc<Kustomization>>, Fatal> {
        if self.leads_back([path]) {
            return Err(fatal(name.span, format!("`{}` contains this kustomization: a cycle", name.value)));
        }
        if self.chain.len() >= DEEPEST {
            return Err(limit(name.span, format!("kustomizations are nested more than {DEEPEST} deep")));
        }
        self.loader.kustomization(path)
    }

    fn leads_back<'p>(&self, paths: impl IntoIterator<Item = &'p RepoPath>) -> bool {
        paths.into_iter().any(|path| self.chain.iter().any(|above| above.is_within(path)))
    }

    fn below(&self, path: &RepoPath) -> Self {
        Self { chain: self.chain.iter().cloned().chain([path.clone()]).collect(), ..*self }
    }

    /// Counts resources that are copied.
    fn keep(&self, resources: usize, span: Span) -> Result<(), Fatal> {
        let limits = self.loader.given().limits;
        if limits.take_nodes((resources as u64).saturating_mul(RESOURCE)) {
            return Ok(());
        }
        Err(run_limit(span, limits, Counted::Values))
    }

    /// Counts values that are looked at.
    fn spend(&self, values: u64, span: Span) -> Result<(), Fatal> {
        let limits = self.loader.given().limits;
        if !limits.take_steps(values.saturating_add(1)) {
            return Err(run_limit(span, limits, Counted::Steps));
        }
        match self.work.get().checked_sub(values.saturating_add(1)) {
            Some(left) => {
                self.work.set(left);
                Ok(())
            }
            None => Err(limit(span, "this kustomization combines too many resources and transformers")),
        }
    }

    fn transform(
        &self,
        directory: &RepoPath,
        kustomization: &Kustomization,
        accumulated: &mut Accumulated,
    ) -> Result<(), Fatal> {
        let is_open = !accumulated.leaves.is_empty();
        if is_open {
            let applied = external::applied(directory, kustomization, self.loader, &accumulated.resources)?;
            accumulated.leaves.iter_mut().for_each(|leaf| leaf.applied.extend(applied.clone()));
        }
        let Accumulated { resources, tables, .. } = accumulated;
        let values = resources.iter().fold(0_u64, |sum, resource| sum.saturating_add(resource.node.size()));
        let patches = [
            kustomization.patches.len(),
            kustomization.patches_strategic_merge.len(),
            kustomization.patches_json6902.len(),
            kustomization.replacements.len(),
        ];
        let passes = (patches.into_iter().sum::<usize>() as u64).saturating_mul(resources.len() as u64);
        let values_passed = values.saturating_mul(1 + kustomization.images.len() as u64);
        self.spend(passes.saturating_add(values_passed), kustomization.span)?;
        let context = patch::Context {
            directory,
            loader: self.loader,
            schemas: &tables.schemas,
            is_open,
            is_component: kustomization.is_component,
        };
        context.strategic(&kustomization.patches_strategic_merge, resources)?;
        context.apply(&kustomization.patches, resources)?;
        transform::namespace(kustomization, tables, resources)?;
        transform::names(kustomization, tables, resources)?;
        transform::labels(kustomization, tables, resources)?;
        transform::annotations(kustomization, tables, resources)?;
        context.json(&kustomization.patches_json6902, resources)?;
        transform::replicas(kustomization, tables, resources, is_open)?;
        let unused = transform::images(kustomization, tables, resources)?;
        if !context.is_lenient() {
            unused.into_iter().for_each(|image| {
                self.loader.note_no_match(image.span, format!("no container here has the image `{}`", image.value));
            });
        }
        replace::replacements(&context, kustomization, resources)
    }
}

/// Adds resources, unless one of them is there already.
fn append(resources: &[Resource], accumulated: &mut Accumulated, ids: &mut HashSet<IdKey>) -> Result<(), Fatal> {
    for resource in resources {
        let id = resource.id();
        if !ids.insert(id.key()) {
            let failure = fatal(resource.span(), format!("{} is in this kustomization twice", id.shown()));
            let other = accumulated.resources.iter().find(|other| other.id().is_same(&id));
            return Err(match other {
                Some(other) => Box::new(failure.related(other.span(), "first here")),
                None => failure,
            });
        }
        accumulated.resources.push(resource.clone());
    }
    Ok(())
}

/// A limit that was reached.
fn limit(span: Span, message: impl Into<String>) -> Fatal {
    Box::new(Finding::new(&finding::LIMIT_NODES, Location::Span(span), message))
}
