//! Repositories of layers alone: each path that holds a layer is compared by its effective metadata.

use std::collections::{BTreeMap, BTreeSet};

use super::load::Loaded;
use super::{AffectedSelectors, Comparison};
use crate::diff::{self, Difference, ResourceChange};
use crate::layout::Role;
use crate::metadata::{self, DocumentForm, MetadataPath, is_metadata_file};
use crate::path::{LogicalPath, RepoPath};
use crate::resource::{Identity, Resource};
use crate::side::Side;
use crate::value::Node;

/// The selectors that are compared like resources.
#[derive(Default)]
pub(super) struct SelectorChanges {
    /// Whether they are what the repository consists of, because no resource matches any of them.
    pub(super) are_subjects: bool,
    /// All of both sides.
    pub(super) all: Vec<MetadataPath>,
    /// What differs between those that no resource matches.
    pub(super) changes: Vec<ResourceChange>,
}

impl Comparison<'_> {
    /// The dialects that the newer side is written in, in words for a person.
    pub fn dialects(&self) -> Vec<String> {
        let layers: Vec<_> = self.after.layers().all().flat_map(|layers| layers.stored()).collect();
        let count = |form| layers.iter().filter(|layer| layer.statements.form == Some(form)).count();
        let (old, new) = (count(DocumentForm::Old), count(DocumentForm::New));
        let kind = if self.after.settings.is_bundle { "DeclaREST bundle" } else { "DeclaREST" };
        let forms = [(old, "layers of the old form"), (new, "layers of the new form")];
        let forms: Vec<String> =
            forms.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        let mut dialects = if forms.is_empty() { Vec::new() } else { vec![format!("{kind}: {}", forms.join(", "))] };
        let units = [
            ("kustomize", "kustomize", "root", "roots"),
            ("flux", "Flux", "Kustomization", "Kustomizations"),
            ("openchoreo", "OpenChoreo", "component in environments", "components in environments"),
        ];
        for (layout, name, one, many) in units {
            match self.after.units_of(layout).len() {
                0 => {}
                1 => dialects.push(format!("{name}: 1 {one}")),
                count => dialects.push(format!("{name}: {count} {many}")),
            }
        }
        dialects
    }

    /// The changes of every selector, if the repository has layers and no resources that they apply to; otherwise of those that no
    /// resource matches, if they are asked for.
    pub(super) fn selector_changes(&self, layers: &[RepoPath], reach: &AffectedSelectors) -> SelectorChanges {
        let is_edited = reach.is_everything || layers.iter().any(|file| is_metadata_file(file.file_name()));
        if !is_edited || !self.options.views.metadata {
            return SelectorChanges::default();
        }
        let everything = MetadataPath::of_resource(&LogicalPath::root());
        let sides = [&self.before, &self.after];
        // To find every layer means to look at every directory, and a resource is found soon.
        let has_resources =
            sides.iter().any(|side| !side.settings.is_bundle && side.has_resources_below(std::iter::once(&everything)));
        if has_resources && !self.options.all_selectors {
            return SelectorChanges::default();
        }
        let selectors = sides.map(Side::selectors);
        let has_selectors = selectors.iter().any(|selectors| !selectors.is_empty());
        let is_matched_by = |(side, selectors): (&Side<'_>, &BTreeMap<MetadataPath, RepoPath>)| {
            side.settings.is_bundle && side.has_resources_below(selectors.keys())
        };
        let is_used = || has_resources || sides.into_iter().zip(&selectors).any(is_matched_by);
        let are_subjects = has_selectors && !is_used();
        if !are_subjects && !self.options.all_selectors {
            return SelectorChanges::default();
        }
        let is_matched = |selector: &MetadataPath| {
            [&self.before, &self.after].into_iter().any(|side| side.has_resources_below(std::iter::once(selector)))
        };
        let [before, after] = &selectors;
        let all: BTreeSet<MetadataPath> = before.keys().chain(after.keys()).cloned().collect();
        let mut changes = Vec::new();
        for selector in all.iter().filter(|selector| are_subjects || reach.may_change(selector)) {
            let change = self.selector_change(selector, [before.get(selector), after.get(selector)]);
            changes.extend(change.filter(|_| are_subjects || !is_matched(selector)));
        }
        SelectorChanges { are_subjects, all: all.into_iter().collect(), changes }
    }

    /// What differs between both sides of a selector: by its own text, so that one that is gone is compared with what it falls back to.
    fn selector_change(&self, selector: &MetadataPath, files: [Option<&RepoPath>; 2]) -> Option<ResourceChange> {
        if !files.iter().flatten().any(|file| self.is_asked_for(file)) {
            return None;
        }
        let sides = [self.before.selector_metadata(selector), self.after.selector_metadata(selector)];
        let is_unknown = sides.iter().any(|metadata| metadata.secret_attributes().is_unknown());
        let is_comparable = sides[0].is_complete() == sides[1].is_complete();
        let nodes = metadata::compared(&sides[0], &sides[1]);
        let path = selector.segments().iter().fold(LogicalPath::root(), |path, segment| path.child(segment));
        let subject = |file: &RepoPath, payload: &Node| {
            let identity = Identity::Logical(path.clone());
            let subject = Resource { identity, file: file.clone(), position: 0, payload: payload.clone(), unit: None };
            self.after.secrets().hide_in_metadata(subject, is_unknown)
        };
        let nowhere = files.iter().flatten().next().copied()?;
        let hidden = [0, 1].map(|side| subject(files[side].unwrap_or(nowhere), &nodes[side]));
        let options = diff::Options { limits: self.after.limits.clone(), ..diff::Options::default() };
        let difference = match is_comparable {
            true => diff::diff(&hidden[0].payload, &hidden[1].payload, &options),
            false => Difference::default(),
        };
        let is_same = difference.is_empty() && files[0] == files[1];
        let [before, after] = hidden;
        let before = files[0].map(|_| before);
        let after = files[1].map(|_| after);
        (!is_same).then_some(ResourceChange { before, after, difference, ..ResourceChange::default() })
    }

    /// The loaded files without the layers that are compared by what they mean.
    pub(super) fn without_layers(&self, mut loaded: Loaded, selectors: &SelectorChanges) -> Loaded {
        let compared: BTreeSet<&RepoPath> = selectors
            .changes
            .iter()
            .flat_map(|change| change.before.iter().chain(&change.after))
            .map(|it| &it.file)
            .collect();
        let is_compared = |side: &Side<'_>, resource: &Resource| match selectors.are_subjects {
            true => is_metadata_file(resource.file.file_name()) && side.roles().role(&resource.file) == Role::Layer,
            false => compared.contains(&resource.file),
        };
        loaded.before.retain(|resource| !is_compared(&self.before, resource));
        loaded.after.retain(|resource| !is_compared(&self.after, resource));
        loaded
    }
}
