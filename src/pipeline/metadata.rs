//! What changed layers change: the effective metadata of every resource they speak for, changed itself or not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::Request;
use super::affected::{Affected, affected};
use super::inspection;
use super::loading::LoadedSides;
use crate::compare::{Masks, hide_places};
use crate::diff::{self, Change, Difference, PathStep, ResourceChange};
use crate::finding::{Finding, Location, Severity};
use crate::layer::{EffectiveMetadata, Layers, MetadataPath, Reach, SecretAttributes, is_metadata_file, resolve};
use crate::merge::Includes;
use crate::path::{LogicalPath, RepoPath};
use crate::report::Report;
use crate::resource::{Identity, Resource};
use crate::settings::Settings;
use crate::source::{Changes, Scope, Snapshot, changes};
use crate::text::Sources;

/// The layers of both sides, and which of them differ.
pub(super) struct Layered<'a> {
    pub(super) before: SideLayers<'a>,
    pub(super) after: SideLayers<'a>,
    /// Metadata files that differ, anywhere in the repository: a resource of interest may be changed from elsewhere.
    changed: Vec<RepoPath>,
}

/// Included files of both sides, parsed once.
#[derive(Default)]
pub(super) struct BothIncludes {
    before: Includes,
    after: Includes,
}

impl<'a> Layered<'a> {
    pub(super) fn new(request: &'a Request<'_>, includes: &'a BothIncludes, found: &Changes) -> Self {
        let settings = request.configuration;
        let sources = request.sources;
        let before = SideLayers::new(request.before, &settings.before, sources, &includes.before);
        let after = SideLayers::new(request.after, &settings.after, sources, &includes.after);
        let differing = |found: &Changes| -> Vec<RepoPath> {
            let paths = found.files.iter().map(|file| &file.path);
            paths.filter(|path| is_metadata_file(path.file_name())).cloned().collect()
        };
        let changed = match request.scope.is_everything() {
            true => differing(found),
            false => {
                let budget = request.budget;
                let everything = Scope::everything();
                differing(&changes(request.before, request.after, &everything, &budget.limits, &budget.spent))
            }
        };
        Self { before, after, changed }
    }

    /// Adds what is wrong with the metadata files that differ. What is wrong with them as documents is known already.
    pub(super) fn judge(&self, request: &Request<'_>, loaded: &mut LoadedSides) {
        let is_news = |finding: &Finding| {
            !["document/", "limit/", "source/"].iter().any(|area| finding.rule.id.starts_with(area))
        };
        for file in self.changed.iter().filter(|file| request.scope.wants(file)) {
            loaded.findings_before.extend(self.before.findings_about(file).into_iter().filter(is_news));
            loaded.findings.extend(self.after.findings_about(file).into_iter().filter(is_news));
        }
    }

    /// Hides what metadata on either side declares as secret: dropping a declaration does not bring its secret to light.
    pub(super) fn hide(&self, resources: Vec<Resource>) -> Vec<Resource> {
        let hide = |resource: Resource| {
            let secrets = self.secrets_of(&resource);
            if secrets.is_empty() {
                resource
            } else {
                hide_places(resource, |payload| secrets.places(payload, Reach::Everywhere))
            }
        };
        resources.into_par_iter().map(hide).collect()
    }

    fn secrets_of(&self, resource: &Resource) -> SecretAttributes {
        let of = |side: &SideLayers<'_>| side.metadata_of(resource).map(|metadata| SecretAttributes::of(&metadata));
        match (of(&self.before), of(&self.after)) {
            (Some(before), Some(after)) => before.and(&after),
            (before, after) => before.or(after).unwrap_or_default(),
        }
    }

    /// Whom the changed layers speak for, on either side.
    fn selectors(&self) -> BTreeSet<MetadataPath> {
        let sides = [&self.before, &self.after];
        let speaks_for = |file: &RepoPath| sides.map(|side| side.speaks_for(file));
        self.changed.iter().flat_map(speaks_for).flatten().collect()
    }

    /// Compares the metadata of every resource that a changed layer speaks for, or that stands elsewhere now.
    pub(super) fn compare(&self, request: &Request<'_>, masks: &Masks, report: &mut Report) {
        let selectors = self.selectors();
        for resource in &mut report.resources {
            if let (Some(before), Some(after)) = (&resource.before, &resource.after) {
                let paths = (self.before.path_of(before), self.after.path_of(after));
                let is_affected = |path: &Option<LogicalPath>| {
                    path.as_ref().is_some_and(|path| selectors.iter().any(|selector| selector.applies_to(path)))
                };
                if paths.0 != paths.1 || is_affected(&paths.0) || is_affected(&paths.1) {
                    resource.metadata = self.difference(before, after, masks);
                }
            }
        }
        if selectors.is_empty() {
            return;
        }
        let Affected { resources, findings } = affected(request, self, &selectors);
        report.incomplete |= findings.iter().any(|finding| finding.severity == Severity::Error);
        report.findings.extend(findings);
        let known: BTreeSet<(&Identity, &RepoPath)> = report
            .resources
            .iter()
            .filter_map(|change| change.after.as_ref())
            .map(|after| (&after.identity, &after.file))
            .collect();
        let unknown = resources.into_iter().filter(|resource| !known.contains(&(&resource.identity, &resource.file)));
        let unknown: Vec<Resource> = unknown.collect();
        report.compared.resources += unknown.len();
        let more: Vec<ResourceChange> = unknown
            .into_par_iter()
            .filter_map(|resource| {
                let metadata = self.difference(&resource, &resource, masks);
                let before = Some(masks.hide(resource));
                (!metadata.is_empty()).then(|| ResourceChange {
                    after: before.clone(),
                    before,
                    difference: Difference::default(),
                    metadata,
                })
            })
            .collect();
        report.resources.extend(more);
        diff::sort(&mut report.resources);
        self.warn_of_incomplete(report);
    }

    /// What cannot be understood on one side cannot be compared.
    fn warn_of_incomplete(&self, report: &mut Report) {
        let is_broken = |file: &RepoPath| {
            let findings = [self.before.findings_about(file), self.after.findings_about(file)].concat();
            findings.iter().any(|finding| finding.severity == Severity::Error)
        };
        report.incomplete |= self.changed.iter().any(is_broken);
    }

    /// Whether one of the changed layers was asked about.
    pub(super) fn is_any_changed_in(&self, scope: &Scope) -> bool {
        self.changed.iter().any(|file| scope.wants(file))
    }

    /// Hides the values of texts that findings point into, where metadata declares secrets for what the text describes.
    pub(super) fn veil(&self, report: &Report) {
        let spans = report.findings.iter().flat_map(|finding| match finding.location {
            Location::Span(span) => vec![span],
            Location::File { .. } => Vec::new(),
        });
        let shown: BTreeSet<_> = spans.map(|span| span.source).collect();
        for source in shown {
            let text = report.sources.get(source);
            let sides = [&self.before, &self.after];
            if sides.iter().any(|side| side.secrets_near(&text.path).may_be_in(&text.text)) {
                report.sources.mark_sensitive(source);
            }
        }
    }

    /// The metadata of a resource before and after; places start in the metadata, not in the payload.
    fn difference(&self, before: &Resource, after: &Resource, masks: &Masks) -> Difference {
        let (Some(old), Some(new)) = (self.before.metadata_of(before), self.after.metadata_of(after)) else {
            return Difference::default();
        };
        let hidden = |metadata: &EffectiveMetadata, of: &Resource| {
            masks.hide(Resource { payload: metadata.to_node(), ..of.clone() }).payload
        };
        let mut difference = diff::diff(&hidden(&old, before), &hidden(&new, after), &diff::Options::default());
        let place = |change: &mut Change| change.path.insert(0, PathStep::Metadata);
        difference.changes.iter_mut().chain(&mut difference.spelling_only).for_each(place);
        difference
    }
}

/// The layers of one side: one tree for each root of resources, or one for all.
pub(super) struct SideLayers<'a> {
    pub(super) snapshot: &'a dyn Snapshot,
    pub(super) settings: &'a Settings,
    trees: BTreeMap<RepoPath, Layers<'a>>,
}

impl<'a> SideLayers<'a> {
    fn new(
        snapshot: &'a dyn Snapshot,
        settings: &'a Settings,
        sources: &'a Arc<Sources>,
        includes: &'a Includes,
    ) -> Self {
        let mut bases: Vec<RepoPath> = settings.roots.iter().map(|root| root.path.clone()).collect();
        if bases.is_empty() {
            bases.push(RepoPath::root());
        }
        if let Some(base) = &settings.metadata_root {
            bases = vec![base.clone()];
        }
        let layers = |base: RepoPath| {
            let layers = inspection::layers(snapshot, settings, &base, sources, &settings.limits, includes);
            (base, layers)
        };
        Self { snapshot, settings, trees: bases.into_iter().map(layers).collect() }
    }

    /// The root that a file of a resource belongs to.
    pub(super) fn root_of(&self, file: &RepoPath) -> Option<RepoPath> {
        if self.settings.roots.is_empty() {
            return Some(RepoPath::root());
        }
        let around = self.settings.roots.iter().map(|root| &root.path).filter(|root| file.is_within(root));
        around.max_by_key(|root| root.as_bytes().len()).cloned()
    }

    /// All roots of resources.
    pub(super) fn roots(&self) -> Vec<RepoPath> {
        match self.settings.roots.is_empty() {
            true => vec![RepoPath::root()],
            false => self.settings.roots.iter().map(|root| root.path.clone()).collect(),
        }
    }

    fn layers_for(&self, file: &RepoPath) -> Option<&Layers<'a>> {
        let base = match &self.settings.metadata_root {
            Some(base) => base.clone(),
            None => self.root_of(file)?,
        };
        self.trees.get(&base)
    }

    /// The path under which layers speak for a resource; a plain file has none.
    pub(super) fn path_of(&self, resource: &Resource) -> Option<LogicalPath> {
        resource.logical_path(&self.root_of(&resource.file)?)
    }

    fn metadata_of(&self, resource: &Resource) -> Option<Arc<EffectiveMetadata>> {
        let path = self.path_of(resource)?;
        Some(resolve(&path, self.layers_for(&resource.file)?).value)
    }

    /// What may be secret in a file that could not be read as a resource: whatever it would be called, it stands in its directory.
    fn secrets_near(&self, file: &RepoPath) -> SecretAttributes {
        let (Some(directory), Some(root), Some(layers)) = (file.parent(), self.root_of(file), self.layers_for(file))
        else {
            return SecretAttributes::default();
        };
        let below = |path: &RepoPath| {
            let below = path.as_bytes().get(root.as_bytes().len()..)?;
            LogicalPath::of_directory(&RepoPath::new(below.strip_prefix(b"/").unwrap_or(below)).ok()?)
        };
        let stem = file.stem_and_extension().map_or("", |(stem, _)| stem);
        let paths = below(&directory).into_iter().flat_map(|path| [path.child(stem), path]);
        let secrets = paths.map(|path| SecretAttributes::of(&resolve(&path, layers).value));
        secrets.fold(SecretAttributes::default(), |all, secrets| all.and(&secrets))
    }

    /// Whom a metadata file speaks for, if it stands in a tree of metadata.
    fn speaks_for(&self, file: &RepoPath) -> Option<MetadataPath> {
        let directory = file.parent()?;
        let around = self.trees.iter().filter(|(base, _)| directory.is_within(base));
        let (_, layers) = around.max_by_key(|(base, _)| base.as_bytes().len())?;
        layers.speaks_for(&directory)
    }

    /// What is wrong with a metadata file, if it is one that is read.
    fn findings_about(&self, file: &RepoPath) -> Vec<Finding> {
        let Some(directory) = file.parent() else { return Vec::new() };
        let around = self.trees.iter().filter(|(base, _)| directory.is_within(base));
        let Some((_, layers)) = around.max_by_key(|(base, _)| base.as_bytes().len()) else { return Vec::new() };
        let Some(layer) = layers.layer_at(&directory) else { return Vec::new() };
        let is_about = |finding: &&Finding| match &finding.location {
            Location::File { path, .. } => path == file,
            Location::Span(_) => layer.is_from(file),
        };
        layer.statements.findings.iter().filter(is_about).cloned().collect()
    }
}
