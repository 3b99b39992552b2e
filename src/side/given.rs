//! Values of a file that kustomize or Flux put into Secrets, found by rendering what reads the file.

use std::collections::BTreeSet;
use std::sync::Arc;

use smol_str::SmolStr;

use super::Side;
use crate::layout::TreeFacts;
use crate::limits::Budget;
use crate::path::RepoPath;
use crate::resource::{Identity, Resource, Unit};
use crate::secrets::Origins;
use crate::value::{Node, Secret};

/// The files that say what is put into Secrets.
#[derive(Debug, Default)]
pub(super) struct Givers {
    /// Kustomizations with replacements.
    replacing: BTreeSet<RepoPath>,
    /// The Kustomization objects of Flux with variables.
    substituting: Vec<Substitution>,
}

/// A Kustomization object of Flux with variables.
#[derive(Debug)]
struct Substitution {
    unit: Unit,
    file: RepoPath,
    /// The ConfigMaps that it takes variables from.
    config_maps: BTreeSet<SmolStr>,
}

impl Side<'_> {
    /// The places of a file that tools put into Secrets.
    pub fn given_from(&self, file: &RepoPath) -> Arc<Origins> {
        self.caches.given_from.get(file, || {
            let units = self.units_that_give(file);
            if units.is_empty() {
                return Arc::default();
            }
            let mut origins = Origins::default();
            let mut resources = self.file(file).resources.clone();
            for unit in units {
                let rendered = self.units().rendered(&unit);
                resources.extend(rendered.resources.iter().cloned());
            }
            let hidden: Vec<Resource> = resources.into_iter().map(|it| self.secrets.hide(it)).collect();
            hidden.iter().for_each(|resource| origins.add(resource, self.sources, &|taken| taken == file));
            if origins.has_given() {
                origins.note_open_uses(&hidden, self.sources);
                return Arc::new(origins.in_file(file));
            }
            Arc::default()
        })
    }

    /// The places that the units of some resources take values for Secrets from, also where these Secrets are not among the resources.
    pub fn given_by_units_of(&self, resources: &[Resource]) -> Origins {
        let units: BTreeSet<&Unit> = resources.iter().filter_map(|resource| resource.unit.as_ref()).collect();
        let mut origins = Origins::default();
        for unit in units {
            let rendered = self.units().rendered(unit);
            let hidden: Vec<Resource> = rendered.resources.iter().map(|it| self.secrets.hide(it.clone())).collect();
            hidden.iter().for_each(|resource| origins.add(resource, self.sources, &|_| true));
            origins.note_open_uses(&hidden, self.sources);
        }
        origins
    }

    /// The secrets that a file has because tools put them into Secrets.
    pub fn secrets_given_by(&self, file: &RepoPath) -> Vec<Secret> {
        let origins = self.given_from(file);
        let content = self.file(file);
        let hidden = content.resources.iter().filter_map(|it| origins.hide(&it.payload, self.sources));
        crate::secrets::secrets_in(&hidden.collect::<Vec<_>>())
    }

    /// The units that may put values of a file into Secrets. The file is read only if units take variables from ConfigMaps.
    fn units_that_give(&self, file: &RepoPath) -> BTreeSet<Unit> {
        let givers = self.givers();
        let named: BTreeSet<SmolStr> = match givers.substituting.iter().any(|it| !it.config_maps.is_empty()) {
            true => self.file(file).resources.iter().filter_map(config_map).collect(),
            false => BTreeSet::new(),
        };
        let substituting = givers
            .substituting
            .iter()
            .filter(|it| it.file == *file || it.config_maps.iter().any(|name| named.contains(name)));
        let mut units: BTreeSet<Unit> = substituting.map(|it| it.unit.clone()).collect();
        if !units.is_empty() && self.units().known_files().is_none() {
            self.unit_table();
        }
        if !givers.replacing.is_empty() {
            let replacing = self.units_with_replacements(&givers.replacing).units.iter().filter(|(_, facts)| {
                facts.inputs.reads(file) && givers.replacing.iter().any(|giver| facts.inputs.reads(giver))
            });
            units.extend(replacing.map(|(unit, _)| unit.clone()));
        }
        units
    }

    /// What is known about the units that read kustomizations with replacements, and perhaps about others.
    fn units_with_replacements(&self, replacing: &BTreeSet<RepoPath>) -> &TreeFacts {
        self.caches.unit_table.get().unwrap_or_else(|| {
            let read = || TreeFacts::read_units_of(self.units(), &Budget::default(), replacing);
            self.caches.replacing_units.get_or_init(read)
        })
    }

    fn givers(&self) -> &Givers {
        self.caches.givers.get_or_init(|| {
            let has_layout = |name: &str| self.files().layouts().iter().any(|layout| layout.name() == name);
            let mut givers = Givers::default();
            if !has_layout("kustomize") {
                return givers;
            }
            for file in self.files_with(&[&["replacements"], &["postBuild", "kustomize.toolkit.fluxcd.io"]]) {
                let content = self.file(&file);
                let payloads = || content.resources.iter().map(|resource| &resource.payload);
                if payloads().any(|payload| payload.get("replacements").is_some()) {
                    givers.replacing.insert(file.clone());
                }
                givers.substituting.extend(content.resources.iter().filter_map(substitution));
            }
            givers
        })
    }
}

/// The name of a ConfigMap.
fn config_map(resource: &Resource) -> Option<SmolStr> {
    match &resource.identity {
        Identity::Kubernetes(name) if name.kind == "ConfigMap" => Some(name.name.clone()),
        _ => None,
    }
}

fn substitution(resource: &Resource) -> Option<Substitution> {
    let unit = crate::layout::flux_unit(resource)?;
    let post_build = resource.payload.get("spec")?.get("postBuild")?;
    let sources = post_build.get("substituteFrom").and_then(Node::as_list).unwrap_or_default();
    let names = sources.iter().filter_map(|source| source.get("name").and_then(Node::as_str));
    Some(Substitution { unit, file: resource.file.clone(), config_maps: names.map(SmolStr::new).collect() })
}
