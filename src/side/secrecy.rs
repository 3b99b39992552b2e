//! What others may see of the resources of a side: secrets are hidden by their places, by what they were made of, and by where they
//! come from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Opened, Side};
use crate::directive::{self, Read};
use crate::document::Format;
use crate::layout::kustomize::{KustomizeUse, KustomizeUses, is_kustomization, uses_by_directory};
use crate::layout::openchoreo::{self, DEFINITIONS};
use crate::layout::{FileTable, Input};
use crate::limits::Spent;
use crate::parallel::{FEW, few_or_many};
use crate::path::RepoPath;
use crate::resource::{Resource, Unit};
use crate::scan;
use crate::secrets::{MovedSecrets, Origins, TemplateInputs, is_of_openchoreo};
use crate::snapshot::{EntryKind, Scope, changes, files_below};
use crate::text::SourceId;
use crate::value::{Node, Secret};

/// The files that include a file.
pub(super) type Includers = BTreeMap<RepoPath, BTreeSet<RepoPath>>;

impl Side<'_> {
    /// A resource as others may see it.
    pub fn hidden(&self, resource: Resource) -> Resource {
        if !self.secrets.hides_values() {
            return resource;
        }
        if is_of_openchoreo(&resource.payload) {
            self.know_templates();
        }
        let hidden = self.without_older(self.secrets.hide(resource));
        let origins = self.origins([&hidden], &|_, _| true);
        self.by_origin(hidden, &origins)
    }

    /// Payloads of one resource on its way, with the secrets of all of them hidden in each.
    pub(super) fn hidden_stages(&self, resource: &Resource, payloads: Vec<Node>) -> Vec<Node> {
        if !self.secrets.hides_values() {
            return payloads;
        }
        if is_of_openchoreo(&resource.payload) {
            self.know_templates();
        }
        let stages: Vec<Resource> = self
            .secrets
            .hide_all(resource, payloads)
            .into_iter()
            .map(|payload| self.without_older(Resource { payload, ..resource.clone() }))
            .collect();
        let origins = self.origins(&stages, &|_, _| true);
        stages.into_iter().map(|stage| self.by_origin(stage, &origins).payload).collect()
    }

    /// The places of secrets of these resources, and those of the files that they take values from. A side that is looked at alone
    /// also knows which of their files others take secrets from. `is_followed` says whether it counts what a resource takes from a
    /// file.
    pub fn origins<'r>(
        &self,
        hidden: impl IntoIterator<Item = &'r Resource>,
        is_followed: &dyn Fn(&Resource, &RepoPath) -> bool,
    ) -> Origins {
        let hidden: Vec<&Resource> = hidden.into_iter().collect();
        let mut origins = Origins::default();
        for resource in &hidden {
            origins.add(resource, self.sources, &|file| is_followed(resource, file));
        }
        let taken = self.taken_files(hidden.iter().copied());
        for file in &taken {
            origins.extend(&self.declared_in(file));
        }
        let own: BTreeSet<SourceId> = hidden.iter().map(|resource| resource.payload.span.source).collect();
        let own = own.into_iter().map(|text| self.sources.get(text).path.clone());
        let files: Vec<RepoPath> = taken.into_iter().chain(own).collect();
        if self.is_alone {
            for file in &files {
                origins.extend(&self.taken_from(file));
                origins.extend(&self.given_from(file));
            }
        }
        let becomes_secret = |file: RepoPath| {
            let mut sides = self.older.iter().chain([self]);
            sides.any(|side| side.kustomize_use(&file) == Some(KustomizeUse::SecretContent)).then_some(file)
        };
        few_or_many(files, FEW, becomes_secret).into_iter().flatten().for_each(|file| origins.add_file(file));
        if origins.has_given() {
            origins.note_open_uses(hidden.iter().copied(), self.sources);
        }
        origins
    }

    /// The files that resources take values from, beside their own.
    pub fn taken_files<'r>(&self, resources: impl IntoIterator<Item = &'r Resource>) -> BTreeSet<RepoPath> {
        let taken = |resource: &'r Resource| {
            let own = resource.payload.span.source;
            let mut texts = BTreeSet::new();
            texts_of(&resource.payload, own, &mut texts);
            // What a unit made of a file need not be what the file says, and a file may include the whole of another.
            if resource.unit.is_some() || self.sources.get(own).path != resource.file {
                texts.insert(own);
            }
            texts
        };
        let resources: Vec<&Resource> = resources.into_iter().collect();
        let texts: BTreeSet<SourceId> = few_or_many(resources, FEW, taken).into_iter().flatten().collect();
        let files = texts.into_iter().map(|text| self.sources.get(text).path.clone());
        files.filter(|file| !file.is_root()).collect()
    }

    /// A hidden resource, also without what is written at these places.
    pub fn by_origin(&self, hidden: Resource, origins: &Origins) -> Resource {
        let used = if hidden.unit.is_none() { self.kustomize_use(&hidden.file) } else { None };
        let payload = match used {
            Some(KustomizeUse::SecretContent) => self.secrets.hide_whole(&hidden.payload),
            Some(KustomizeUse::SecretPatch) => self.secrets.hide_patch_of_secret(&hidden),
            Some(KustomizeUse::PlainContent) | None => hidden.payload.clone(),
        };
        let payload = origins.hide(&payload, self.sources).unwrap_or(payload);
        Resource { payload, ..hidden }
    }

    /// Finds out what templates put into Secrets, on this side and on those that it replaces.
    pub(super) fn know_templates(&self) {
        self.secrets.know_inputs(|| {
            let mut inputs = self.template_inputs();
            self.older.iter().for_each(|older| inputs.extend(&older.template_inputs()));
            inputs
        });
    }

    /// What templates of this side put into Secrets.
    pub fn template_inputs(&self) -> TemplateInputs {
        let is_indexed = self.files().layouts().iter().any(|layout| layout.name() == "openchoreo");
        let listed: Option<Vec<Vec<RepoPath>>> =
            DEFINITIONS.iter().map(|kind| self.units.listed(openchoreo::KINDS, kind)).collect();
        let files: BTreeSet<RepoPath> = match listed.filter(|_| is_indexed) {
            Some(listed) => listed.into_iter().flatten().collect(),
            None => self.files_with(&[&["openchoreo.dev", "Secret"]]),
        };
        let mut inputs = TemplateInputs::default();
        for file in &files {
            let content = self.file(file);
            let definitions = content.resources.iter().map(|resource| &resource.payload);
            definitions.filter(|payload| is_of_openchoreo(payload)).for_each(|payload| inputs.note(payload));
        }
        inputs
    }

    /// Whether a file gives values that templates put into Secrets.
    fn holds_template_input(&self, file: &RepoPath) -> bool {
        let entry = self.snapshot.entry(file).ok().flatten().filter(|entry| entry.kind == EntryKind::File);
        let Some(Opened::Bytes(bytes, _)) = entry.map(|entry| self.open(Some(entry))) else { return false };
        let text = String::from_utf8_lossy(&bytes);
        if !text.contains("openchoreo.dev") {
            return false;
        }
        self.know_templates();
        self.secrets.may_be_input(&text)
    }

    /// The documents that hold all words of one of these groups.
    pub(super) fn files_with(&self, groups: &[&[&str]]) -> BTreeSet<RepoPath> {
        let (entries, _) = files_below(self.snapshot, &Scope::everything(), self.limits, &Spent::default());
        if entries.len() > MOST_SCANNED {
            return BTreeSet::new();
        }
        let is_document = |path: &RepoPath| Format::of_file_name(path.file_name()).is_some();
        let files = entries.into_iter().filter(|entry| entry.kind == EntryKind::File && is_document(&entry.path));
        let found = few_or_many(files.collect::<Vec<_>>(), FEW, |entry| {
            let path = entry.path.clone();
            let Opened::Bytes(bytes, _) = self.open(Some(entry)) else { return None };
            let has_all = |words: &&[&str]| words.iter().all(|word| scan::contains(&bytes, word.as_bytes()));
            groups.iter().any(has_all).then_some(path)
        });
        found.into_iter().flatten().collect()
    }

    /// The secrets that the documents which a unit reads are known to hold.
    pub fn secrets_read_by(&self, resources: &[Resource]) -> Vec<Secret> {
        let units: BTreeSet<&Unit> = resources.iter().filter_map(|resource| resource.unit.as_ref()).collect();
        let mut files = BTreeSet::new();
        for unit in units.into_iter().filter(|unit| unit.layout == "openchoreo") {
            let rendered = self.units.rendered(unit);
            files.extend(rendered.inputs.iter().filter_map(|input| match input {
                Input::File(file) => Some(file.clone()),
                _ => None,
            }));
        }
        let contents: Vec<_> = files.iter().map(|file| self.file(file)).collect();
        let documents = contents.iter().flat_map(|content| &content.resources);
        documents.flat_map(|resource| self.secrets.secrets_of(resource.clone())).collect()
    }

    /// Whether a kustomization makes a Secret of a file, or patches one with it.
    pub fn is_kustomized_secret(&self, file: &RepoPath) -> bool {
        self.kustomize_use(file).is_some_and(|used| used != KustomizeUse::PlainContent)
    }

    /// Whether a file that is no document has values that tools put into Secrets.
    fn is_content_given(&self, file: &RepoPath) -> bool {
        let has_units = self.is_alone || self.files().unit_layouts().next().is_some();
        has_units && self.kustomize_use(file) == Some(KustomizeUse::PlainContent) && !self.given_from(file).is_empty()
    }

    /// The files that a resource includes, directly or not.
    pub fn included_by(&self, resource: &Resource) -> BTreeSet<RepoPath> {
        let content = self.file(&resource.file);
        content.reads.iter().filter(|(_, read)| **read != Read::Absent).map(|(file, _)| file.clone()).collect()
    }

    /// Whether the content of a file becomes part of a Secret, so that none of its lines is shown.
    pub fn becomes_secret(&self, file: &RepoPath) -> bool {
        let holds_secret = |includer: &RepoPath| {
            self.caches.secretive.get(includer, || {
                let content = self.file(includer);
                content.resources.iter().any(|resource| self.secrets.hide(resource.clone()).payload.holds_secret())
            })
        };
        self.is_kustomized_secret(file)
            || self.is_content_given(file)
            || self.holds_template_input(file)
            || self.includers().get(file).is_some_and(|includers| includers.iter().any(holds_secret))
    }

    /// A hidden resource, also without what was secret in its file on the older side.
    pub fn without_older(&self, hidden: Resource) -> Resource {
        let hidden = self.older.iter().enumerate().fold(hidden, |hidden, (at, older)| {
            let file = (at, hidden.file.clone());
            let known = match self.caches.same_before.get(&file, || self.is_same_file(older, &file.1)) {
                true => Vec::new(),
                false => older.file(&hidden.file).resources.clone(),
            };
            let known: Vec<Resource> = known.into_iter().map(|resource| older.hidden(resource)).collect();
            MovedSecrets::new(known.iter(), std::iter::once(&hidden)).hide(hidden.clone())
        });
        self.moved().iter().fold(hidden, |hidden, moved| moved.hide(hidden))
    }

    /// The secrets that older sides have in files that differ, and this one has not as secrets; looked for among a few files.
    pub fn moved(&self) -> &[MovedSecrets] {
        self.caches.moved.get_or_init(|| {
            let moved = |older: &Side<'_>| {
                let found =
                    changes(older.snapshot, self.snapshot, &Scope::everything(), self.limits, &Spent::default());
                let is_few = found.files.len() <= MOST_CHANGED;
                let files = found.files.iter().filter(|_| is_few).map(|file| &file.path);
                let is_document = |path: &&RepoPath| Format::of_file_name(path.file_name()).is_some();
                let files: Vec<&RepoPath> = files.filter(is_document).collect();
                let of = |side: &Side<'_>| -> Vec<Resource> {
                    let resources = files.iter().flat_map(|file| side.file(file).resources.clone());
                    resources.map(|resource| self.secrets.hide(resource)).collect()
                };
                MovedSecrets::new(of(older).iter(), of(self).iter())
            };
            self.older.iter().map(moved).collect()
        })
    }

    /// Whether a file is the same on an older side.
    pub fn is_same_file(&self, older: &Side<'_>, file: &RepoPath) -> bool {
        let entry = |side: &Side<'_>| side.snapshot.entry(file).ok().flatten();
        let (Some(old), Some(new)) = (entry(older), entry(self)) else { return false };
        old.id.is_some() && old.id == new.id
            || matches!((older.snapshot.read(&old), self.snapshot.read(&new)), (Ok(old), Ok(new)) if old == new)
    }

    /// The secret places that a file has by itself.
    fn declared_in(&self, file: &RepoPath) -> Arc<Origins> {
        self.caches.declared_in.get(file, || {
            let mut origins = Origins::default();
            for resource in &self.file(file).resources {
                origins.add(&self.secrets.hide(resource.clone()), self.sources, &|_| true);
            }
            Arc::new(origins)
        })
    }

    /// The places of a file that others put at secret places.
    pub fn taken_from(&self, file: &RepoPath) -> Arc<Origins> {
        self.caches.taken_from.get(file, || {
            let mut origins = Origins::default();
            for includer in self.includers().get(file).into_iter().flatten() {
                for resource in &self.file(includer).resources {
                    let payload = self.effective(resource).payload.clone().unwrap_or_else(|| resource.payload.clone());
                    let hidden = self.secrets.hide(Resource { payload, ..resource.clone() });
                    origins.add(&hidden, self.sources, &|taken| taken == file);
                }
            }
            Arc::new(origins.in_file(file))
        })
    }

    /// Which files include which, at any distance; every file is looked at once, unless it is known.
    fn includers(&self) -> &Includers {
        self.caches.includers.get_or_init(|| {
            if let Some(table) = self.units.known_files() {
                return known_includers(table);
            }
            if !self.settings.directives {
                return Includers::new();
            }
            let (entries, _) = files_below(self.snapshot, &Scope::everything(), self.limits, &Spent::default());
            if entries.len() > MOST_SCANNED {
                return Includers::new();
            }
            let is_document = |path: &RepoPath| Format::of_file_name(path.file_name()).is_some();
            let files = entries.into_iter().filter(|entry| entry.kind == EntryKind::File && is_document(&entry.path));
            let reads = few_or_many(files.collect::<Vec<_>>(), FEW, |entry| {
                let path = entry.path.clone();
                let Opened::Bytes(bytes, _) = self.open(Some(entry)) else { return None };
                directive::may_include(&bytes).then(|| (path.clone(), self.file(&path)))
            });
            let mut includers = Includers::new();
            for (path, content) in reads.into_iter().flatten() {
                let present = content.reads.iter().filter(|(_, read)| **read != Read::Absent);
                for (included, _) in present {
                    includers.entry(included.clone()).or_default().insert(path.clone());
                }
            }
            includers
        })
    }

    /// What a kustomization in the directory of a file, or above it, does with the file; for a side that is looked at alone, what any
    /// kustomization does with it.
    fn kustomize_use(&self, file: &RepoPath) -> Option<KustomizeUse> {
        let near = match self.known_kustomize_uses() {
            Some(known) if known.is_empty() => None,
            Some(known) => {
                let around = std::iter::successors(file.parent(), RepoPath::parent);
                around.filter_map(|directory| known.get(&directory)?.get(file)).max()
            }
            None => file.parent().and_then(|directory| self.kustomize_uses_near(&directory).get(file)),
        };
        match near {
            None | Some(KustomizeUse::PlainContent) if self.is_alone => near.max(self.all_kustomize_uses().get(file)),
            near => near,
        }
    }

    /// What kustomizations do with files, by their directories, if it is known without reading them.
    fn known_kustomize_uses(&self) -> Option<&BTreeMap<RepoPath, KustomizeUses>> {
        let table = self.units.known_files()?;
        Some(self.caches.known_kustomize_uses.get_or_init(|| uses_by_directory(table)))
    }

    /// What all kustomizations of the tree do with files.
    fn all_kustomize_uses(&self) -> &KustomizeUses {
        self.caches.all_kustomize_uses.get_or_init(|| {
            let mut all = KustomizeUses::default();
            if let Some(known) = self.known_kustomize_uses() {
                known.values().for_each(|uses| all.extend(uses));
                return all;
            }
            let (entries, _) = files_below(self.snapshot, &Scope::everything(), self.limits, &Spent::default());
            if entries.len() > MOST_SCANNED {
                return all;
            }
            let directories = entries.iter().filter(|entry| is_kustomization(entry.path.file_name()));
            for directory in directories.filter_map(|entry| entry.path.parent()) {
                all.extend(&self.kustomize_uses(&directory));
            }
            all
        })
    }

    /// What the kustomizations of a directory and of those above it do with files.
    fn kustomize_uses_near(&self, directory: &RepoPath) -> Arc<KustomizeUses> {
        self.caches.kustomize_uses_near.get(directory, || {
            let own = self.kustomize_uses(directory);
            let Some(above) = directory.parent().map(|parent| self.kustomize_uses_near(&parent)) else { return own };
            if own.is_empty() {
                return above;
            }
            let mut near = KustomizeUses::clone(&own);
            near.extend(&above);
            Arc::new(near)
        })
    }

    /// What the kustomization of a directory does with files.
    fn kustomize_uses(&self, directory: &RepoPath) -> Arc<KustomizeUses> {
        self.caches.kustomize_uses.get(directory, || {
            let mut uses = KustomizeUses::default();
            let mut names = Vec::new();
            self.snapshot.visit(directory, &mut |member| {
                let is_meant = is_kustomization(member.name) && member.kind == EntryKind::File;
                names.extend(is_meant.then(|| member.name.to_vec()));
            });
            for file in names.iter().filter_map(|name| directory.join(name).ok()) {
                let content = self.file(&file);
                content.resources.iter().for_each(|it| uses.extend(&KustomizeUses::of(&it.payload, directory)));
            }
            Arc::new(uses)
        })
    }
}

fn known_includers(table: &FileTable) -> Includers {
    let mut includers = Includers::new();
    for (path, facts) in table.iter() {
        for input in facts.inputs.iter() {
            if let Input::File(included) = input {
                includers.entry(included.clone()).or_default().insert(path.clone());
            }
        }
    }
    includers
}

/// Among more files that differ, secrets are looked for in the same file alone.
const MOST_CHANGED: usize = 200;

/// In a tree with more files it is not found out which of them include which.
const MOST_SCANNED: usize = 5000;

/// The texts that the parts of a payload are written in.
fn texts_of(node: &Node, last: SourceId, texts: &mut BTreeSet<SourceId>) {
    if node.span.source != last {
        texts.insert(node.span.source);
    }
    node.children().for_each(|child| texts_of(child.node, node.span.source, texts));
    if let Some(loser) = node.overridden() {
        texts.insert(loser.span.source);
    }
}
