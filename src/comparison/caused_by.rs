//! Names the edit behind a new problem that is reported somewhere else: in a file that this change does not touch.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::{SmolStr, ToSmolStr};

use super::load::Loaded;
use super::{Comparison, causes};
use crate::diff::{self, Change};
use crate::directive::Read;
use crate::finding::{Finding, Location};
use crate::layout::Input;
use crate::metadata::{Effect, EffectiveEntry, EffectiveMetadata};
use crate::path::{LogicalPath, RepoPath};
use crate::resource::{Identity, Resource};
use crate::text::Span;
use crate::value::{Node, Step};

/// The most edits that are named for one problem.
const MOST_EDITS: usize = 3;

/// The resources of both sides by what findings call them.
type NamedResources<'r> = BTreeMap<SmolStr, [Option<&'r Resource>; 2]>;

impl Comparison<'_> {
    /// Adds the edits that cause new findings, where nothing that a finding points at was edited.
    pub(super) fn naming_edits(&self, findings: Vec<Finding>, loaded: &Loaded) -> Vec<Finding> {
        let is_elsewhere = |finding: &Finding| {
            let is_edited = |span: Span| self.is_edited(&self.after.sources.get(span.source).path);
            !self.is_edited(&finding.path(self.after.sources)) && !finding.spans().any(is_edited)
        };
        if !findings.iter().any(is_elsewhere) {
            return findings;
        }
        let mut named: NamedResources<'_> = BTreeMap::new();
        for (side, resources) in [&loaded.before, &loaded.after].into_iter().enumerate() {
            resources.iter().for_each(|it| named.entry(it.identity.to_smolstr()).or_default()[side] = Some(it));
        }
        let name = |finding| if is_elsewhere(&finding) { self.naming_edit(finding, &named, loaded) } else { finding };
        findings.into_iter().map(name).collect()
    }

    fn naming_edit(&self, finding: Finding, named: &NamedResources<'_>, loaded: &Loaded) -> Finding {
        let edits = finding.resource.as_ref().map(|name| self.edits_of(name, named)).unwrap_or_default();
        if !edits.is_empty() {
            let label = |finding: Finding, (span, text): (Span, &str)| finding.related(span, text);
            return edits.into_iter().take(MOST_EDITS).fold(finding, label);
        }
        let files = self.edited_inputs(&finding, loaded);
        let names: Vec<String> =
            files.iter().take(MOST_EDITS).map(|(file, what)| format!("{file} is {what}")).collect();
        if names.is_empty() {
            return finding;
        }
        let caused = format!("{} by this change", names.join(", "));
        let help = finding.help.as_ref().map_or(caused.clone(), |help| format!("{help}\n{caused}"));
        finding.help(help)
    }

    /// The edited places that a resource is made of: in its metadata, its payload, or the resources above it.
    fn edits_of(&self, name: &str, named: &NamedResources<'_>) -> Vec<(Span, &'static str)> {
        let path = LogicalPath::parse(name).ok();
        let found = [&self.before, &self.after].map(|side| path.as_ref().and_then(|path| side.find(path)));
        let known = named.get(name).copied().unwrap_or_default();
        let [before, after] = [0, 1].map(|side| known[side].or(found[side].as_ref()));
        let mut edits = self.metadata_edits([before, after]);
        if let (Some(before), Some(after)) = (before, after) {
            edits.extend(self.payload_edits(&before.payload, &after.payload));
        }
        if edits.is_empty() {
            edits.extend(path.and_then(|path| self.edit_above(&path, named)));
        }
        edits
    }

    /// The entries of layers that say something else now, in files that were edited.
    fn metadata_edits(&self, [before, after]: [Option<&Resource>; 2]) -> Vec<(Span, &'static str)> {
        let old = before.and_then(|resource| self.before.metadata_of(resource));
        let new = after.and_then(|resource| self.after.metadata_of(resource));
        let edited = |of: &EffectiveMetadata, other: Option<&EffectiveMetadata>, text: &'static str| {
            let is_new = |field, entry: &EffectiveEntry| {
                let twin = other.and_then(|other| other.entries().find(|(known, _)| *known == field));
                twin.is_none_or(|(_, twin)| !is_same(&entry.effect, &twin.effect))
            };
            let new = of.entries().filter(|(field, entry)| is_new(*field, entry) && self.is_edited_at(entry.at));
            new.map(|(_, entry)| (entry.at, text)).collect::<Vec<_>>()
        };
        let mut edits = new.as_ref().map(|it| edited(it, old.as_deref(), "edited by this change")).unwrap_or_default();
        if edits.is_empty() {
            edits = old.as_ref().map(|it| edited(it, new.as_deref(), "removed by this change")).unwrap_or_default();
        }
        edits
    }

    fn payload_edits(&self, before: &Node, after: &Node) -> Option<(Span, &'static str)> {
        let difference = diff::diff(before, after, &diff::Options::default());
        difference.changes.iter().find_map(|change| self.edit_behind(change))
    }

    /// The edited place behind a change: where its value is written, or a step by which it got there.
    fn edit_behind(&self, change: &Change) -> Option<(Span, &'static str)> {
        let places = |node: &Node| -> Vec<Span> {
            let steps = node.step().map(Step::chain).unwrap_or_default();
            std::iter::once(node.span).chain(steps.into_iter().rev().map(|step| step.at)).collect()
        };
        let of = |node: &Option<Node>, text: &'static str| {
            let places = node.as_ref().map(places).unwrap_or_default();
            places.into_iter().find(|span| self.is_edited_at(*span)).map(|span| (span, text))
        };
        of(&change.after, "edited by this change").or_else(|| of(&change.before, "removed by this change"))
    }

    /// The nearest edited resource above a path, which requests may read.
    fn edit_above(&self, path: &LogicalPath, named: &NamedResources<'_>) -> Option<(Span, &'static str)> {
        let above = std::iter::successors(path.parent(), LogicalPath::parent);
        let edited = above.into_iter().filter_map(|path| named.get(&Identity::Logical(path).to_smolstr()).copied());
        edited.into_iter().find_map(|sides| match sides {
            [Some(before), Some(after)] => self.payload_edits(&before.payload, &after.payload),
            [Some(gone), None] => Some((gone.payload.span.start_only(), "removed by this change")),
            _ => None,
        })
    }

    /// The edited files that the file or the unit of a finding reads, those that are gone first.
    fn edited_inputs(&self, finding: &Finding, loaded: &Loaded) -> BTreeSet<(RepoPath, &'static str)> {
        let file = finding.path(self.after.sources);
        let content = self.after.file(&file);
        let absent =
            content.reads.iter().filter(|(_, read)| matches!(read, Read::Absent)).map(|(path, _)| path.clone());
        let mut gone: BTreeSet<RepoPath> = absent.collect();
        let mut read: BTreeSet<RepoPath> = content.reads.keys().cloned().collect();
        for change in loaded.units.iter().filter(|change| change.failed[1]) {
            let rendered = self.after.units().rendered(&change.unit);
            if !rendered.findings.iter().any(|own| is_same_finding(own, finding)) {
                continue;
            }
            gone.extend(rendered.inputs.iter().filter_map(|input| match input {
                Input::Absent(path) => Some(path.clone()),
                _ => None,
            }));
        }
        gone.retain(|path| self.before.snapshot.entry(path).is_ok_and(|entry| entry.is_some()));
        read.retain(|path| *path != file && self.is_edited(path));
        let removed: BTreeSet<_> = gone.into_iter().map(|path| (path, "removed")).collect();
        if removed.is_empty() { read.into_iter().map(|path| (path, "edited")).collect() } else { removed }
    }

    fn is_edited(&self, file: &RepoPath) -> bool {
        causes::is_edited(&self.before, &self.after, file)
    }

    fn is_edited_at(&self, span: Span) -> bool {
        self.is_edited(&self.after.sources.get(span.source).path)
    }
}

fn is_same(one: &Effect, other: &Effect) -> bool {
    match (one, other) {
        (Effect::Set(one), Effect::Set(other)) => one.is_equal(other),
        (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

fn is_same_finding(one: &Finding, other: &Finding) -> bool {
    let place = |finding: &Finding| match &finding.location {
        Location::Span(span) => (Some(*span), None),
        Location::File { path, .. } => (None, Some(path.clone())),
    };
    one.rule.id == other.rule.id && one.message == other.message && place(one) == place(other)
}
