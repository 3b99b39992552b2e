//! The third step: secrets are hidden before anything is compared.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::Comparison;
use super::hidden::HiddenSecrets;
use super::load::{Documents, Loaded};
use crate::metadata::is_layer_file;
use crate::parallel::{FEW, few_or_many};
use crate::path::RepoPath;
use crate::resource::{Identity, Resource, Unit};
use crate::secrets::{MovedSecrets, Origins, is_of_openchoreo, secrets_in};
use crate::side::Side;
use crate::snapshot::ChangedFile;
use crate::value::{Node, Secret};

impl Comparison<'_> {
    /// Hides what either side declares as secret, and copies of it. What was compared already and turns out to hold copies is
    /// compared again.
    pub(super) fn hide(&self, mut loaded: Loaded) -> Loaded {
        let [mut before, mut after] = self.hide_declared(loaded.before, loaded.after);
        if !self.after.secrets().hides_values() {
            return Loaded { before, after, ..loaded };
        }
        let files = loaded.at_once.files();
        let moved = moved(&before, &after);
        let beside = self.moved_beside();
        let may_hold = |node: &Node, file: &RepoPath| moved.iter().chain([&beside]).any(|it| is_in(it, node, file));
        let mut again = loaded.at_once.take(&may_hold);
        if moved.iter().chain([&beside]).any(|it| !it.is_empty()) {
            again.append(&mut loaded.at_once.take_by_layers());
        }
        let mut more = self.read_again(&again);
        before.append(&mut more[0]);
        after.append(&mut more[1]);
        let copies = self.copies_beside([&before, &after], moved, beside, &files, Beside::Versions);
        let takes = |node: &Node, _: &RepoPath| copies.origins.hide(node, self.after.sources).is_some();
        let mut others = loaded.at_once.take(&takes);
        if !copies.origins.is_empty() {
            others.append(&mut loaded.at_once.take_by_layers());
        }
        let mut more = self.read_again(&others);
        before.append(&mut more[0]);
        after.append(&mut more[1]);
        again.append(&mut others);
        loaded.read_again = again;
        let ([before, after], hidden) = self.hide_copies(before, after, &copies);
        Loaded { before, after, hidden, ..loaded }
    }

    /// Hides the secrets of both sides, and copies of them.
    pub(super) fn hide_both(
        &self,
        before: Vec<Resource>,
        after: Vec<Resource>,
        beside: Beside,
    ) -> ([Vec<Resource>; 2], HiddenSecrets) {
        let [before, after] = self.hide_declared(before, after);
        if !self.after.secrets().hides_values() {
            return ([before, after], HiddenSecrets::default());
        }
        let of_now = |resources: Vec<Resource>| match beside {
            Beside::Versions => resources,
            Beside::Parts => resources.into_iter().map(|it| self.after.without_older(it)).collect(),
        };
        let (before, after) = (of_now(before), of_now(after));
        let moved = moved(&before, &after);
        let copies = self.copies_beside([&before, &after], moved, self.moved_beside(), &BTreeSet::new(), beside);
        self.hide_copies(before, after, &copies)
    }

    /// Hides what is declared as secret. Both sides hide the same, so that what did not change is looked at once.
    pub(super) fn hide_declared(&self, before: Vec<Resource>, after: Vec<Resource>) -> [Vec<Resource>; 2] {
        let secrets = self.after.secrets();
        if before.iter().chain(&after).any(|resource| is_of_openchoreo(&resource.payload)) {
            self.know_templates();
        }
        let twins = twins(&before, &after);
        let after = few_or_many(after, FEW, |resource| secrets.hide(resource));
        let before: Vec<(Resource, Option<usize>)> = before.into_iter().zip(twins).collect();
        let before = few_or_many(before, FEW, |(resource, twin)| match twin.and_then(|at| after.get(at)) {
            Some(twin) => Resource { payload: twin.payload.clone(), ..resource },
            None => secrets.hide(resource),
        });
        [before, after]
    }

    /// Finds out what templates of either side put into Secrets.
    pub(super) fn know_templates(&self) {
        self.after.secrets().know_inputs(|| {
            let mut inputs = self.after.template_inputs();
            inputs.extend(&self.before.template_inputs());
            self.options.replaced.iter().for_each(|it| inputs.extend(&Side::new(*it, &[], false).template_inputs()));
            inputs
        });
    }

    /// Hides what left a secret place or came to one, and what is written at a secret place and used elsewhere.
    fn hide_copies(
        &self,
        before: Vec<Resource>,
        after: Vec<Resource>,
        copies: &Copies,
    ) -> ([Vec<Resource>; 2], HiddenSecrets) {
        let hide = |side: &Side<'_>, resources: Vec<Resource>| {
            few_or_many(resources, FEW, |resource| side.by_origin(copies.moved.hide(resource), &copies.origins))
        };
        let resources = [hide(&self.before, before), hide(&self.after, after)];
        let mut hidden = HiddenSecrets::default();
        for (side, resources) in [&self.before, &self.after].into_iter().zip(&resources) {
            for resource in resources.iter().filter(|resource| resource.payload.holds_secret()) {
                let files = side.included_by(resource).into_iter().chain([resource.file.clone()]);
                hidden.add(secrets_in([&resource.payload]), files);
            }
        }
        (resources, hidden)
    }

    /// What is secret beside what is declared. It depends on what differs and on what is used, never on what else was read.
    /// `others` are files whose resources are not among these, and hold no secrets of their own.
    fn copies_beside(
        &self,
        [before, after]: [&[Resource]; 2],
        [gone, come]: [MovedSecrets; 2],
        in_others: MovedSecrets,
        others: &BTreeSet<RepoPath>,
        beside: Beside,
    ) -> Copies {
        // What is in the open on one side is hidden on both, so that it does not seem to have changed.
        let moved = match gone.is_empty() && come.is_empty() {
            true => MovedSecrets::default(),
            // What is the same on both sides shows nothing that moved, and it may be here only because everything was read.
            false => gone.found_in(differing(after, before)).and(come.found_in(differing(before, after))),
        };
        // A file of one part has another name in the other.
        let moved = if beside == Beside::Parts { moved.in_every_file() } else { moved };
        let moved = moved.and(in_others);
        let origins = if moved.is_empty() {
            self.origins([before, after], others, beside)
        } else {
            let hide = |resources: &[Resource]| -> Vec<Resource> {
                few_or_many(resources, FEW, |resource| moved.hide(resource.clone()))
            };
            self.origins([&hide(before), &hide(after)], others, beside)
        };
        Copies { moved, origins }
    }

    /// Resources of both sides as they are written, with what is declared as secret hidden.
    fn read_again(&self, wanted: &BTreeSet<(RepoPath, Identity)>) -> [Vec<Resource>; 2] {
        let files: BTreeSet<RepoPath> = wanted.iter().map(|(file, _)| file.clone()).collect();
        let changed = files.iter().map(|file| ChangedFile {
            path: file.clone(),
            before: self.before.snapshot.entry(file).ok().flatten(),
            after: self.after.snapshot.entry(file).ok().flatten(),
        });
        let loaded = self.load(changed.collect(), &files, &Default::default(), Documents::All, None);
        let is_wanted = |it: &Resource| wanted.contains(&(it.file.clone(), it.identity.clone()));
        let [mut before, mut after] = [loaded.before, loaded.after];
        before.retain(is_wanted);
        after.retain(is_wanted);
        self.hide_declared(before, after)
    }
}

/// What is secret beside what is declared.
struct Copies {
    /// What left a secret place or came to one.
    moved: MovedSecrets,
    /// What is written at a secret place.
    origins: Origins,
}

/// Whether a value in a file holds secrets that moved.
fn is_in(moved: &MovedSecrets, node: &Node, file: &RepoPath) -> bool {
    let identity = Identity::File { path: file.clone(), position: None };
    let alone = || Resource { identity, file: file.clone(), position: 0, payload: node.clone(), unit: None };
    !moved.is_empty() && moved.hide(alone()).payload.holds_secret()
}

/// What two groups of resources are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// The resources of two versions that differ, or may differ.
    Versions,
    /// Parts of one version.
    Parts,
}

impl Comparison<'_> {
    /// The places of secrets of these resources, in the texts of both sides.
    fn origins(&self, resources: [&[Resource]; 2], others: &BTreeSet<RepoPath>, beside: Beside) -> Origins {
        let edited = EditedFiles { comparison: self, known: RefCell::default() };
        // A patch is made for many resources, each with secrets of its own, and a unit uses what others use too. Only if one of their
        // files was edited, all of them are here.
        let is_open = |file: &RepoPath| !is_layer_file(file.file_name()) || beside == Beside::Parts;
        let is_followed = |by: &Resource, file: &RepoPath| {
            by.unit.is_none() && is_open(file) || edited.contains(file) || edited.contains(&by.file)
        };
        // What is not looked at may take secrets from what is.
        let is_part = beside == Beside::Parts || !self.options.scope.is_everything();
        let mut origins = Origins::default();
        for (side, resources) in [&self.before, &self.after].into_iter().zip(resources) {
            origins.extend(&side.origins(resources, &is_followed));
            for file in side.taken_files(resources) {
                // Whatever takes from an edited file is here. Who takes from another one is asked for.
                if is_open(&file) && !edited.contains(&file) {
                    origins.extend(&self.after.taken_from(&file));
                }
            }
            let files = || resources.iter().map(|resource| &resource.file).chain(others).collect::<BTreeSet<_>>();
            if is_part {
                origins.extend(&side.given_by_units_of(resources));
                for file in files() {
                    origins.extend(&side.taken_from(file));
                    origins.extend(&side.given_from(file));
                }
            }
        }
        if origins.has_given() {
            origins.note_open_uses(resources.into_iter().flatten(), self.after.sources);
        }
        origins
    }

    /// The secrets that left their places, or came to them, in files that are not looked at.
    fn moved_beside(&self) -> MovedSecrets {
        if self.options.scope.is_everything() {
            return MovedSecrets::default();
        }
        let moved = |here: &Side<'_>, there: &Side<'_>| -> Vec<Secret> {
            let side = Side::new(**here, &[**there], false);
            side.moved().iter().flat_map(MovedSecrets::secrets).collect()
        };
        let secrets = [moved(&self.after, &self.before), moved(&self.before, &self.after)].concat();
        MovedSecrets::of(&secrets)
    }
}

/// Distinguishes edited files from others.
struct EditedFiles<'a> {
    comparison: &'a Comparison<'a>,
    known: RefCell<BTreeMap<RepoPath, bool>>,
}

impl EditedFiles<'_> {
    fn contains(&self, file: &RepoPath) -> bool {
        let known = self.known.borrow().get(file).copied();
        known.unwrap_or_else(|| {
            let is_edited = !self.comparison.after.is_same_file(&self.comparison.before, file);
            self.known.borrow_mut().insert(file.clone(), is_edited);
            is_edited
        })
    }
}

impl Comparison<'_> {
    /// Whether the content of a file becomes secret elsewhere.
    pub(super) fn becomes_secret(&self, file: &RepoPath, hidden: &HiddenSecrets) -> bool {
        hidden.is_source(file) || self.before.is_kustomized_secret(file) || self.after.becomes_secret(file)
    }
}

/// The secrets that one side has in what differs, and the other has not as secrets there: those of the older side, and of the newer.
fn moved(before: &[Resource], after: &[Resource]) -> [MovedSecrets; 2] {
    fn places(resources: &[Resource]) -> BTreeSet<Place<'_>> {
        resources.iter().filter(|resource| resource.payload.holds_secret()).map(place).collect()
    }
    let same: BTreeSet<Place<'_>> = places(before).intersection(&places(after)).copied().collect();
    let differs = |resource: &&Resource| !same.contains(&place(resource));
    let [before, after] =
        [before, after].map(|resources| -> Vec<&Resource> { resources.iter().filter(differs).collect() });
    let new = |here: &[&Resource], there: &[&Resource]| MovedSecrets::new(here.iter().copied(), there.iter().copied());
    [new(&before, &after), new(&after, &before)]
}

/// Where a resource is, and its content.
type Place<'r> = (&'r RepoPath, Option<&'r Unit>, u64);

fn place(resource: &Resource) -> Place<'_> {
    (&resource.file, resource.unit.as_ref(), resource.payload.hash())
}

/// The resources of one side that are not on the other in the same place with the same content.
fn differing<'r>(these: &'r [Resource], those: &[Resource]) -> Vec<&'r Resource> {
    let others: BTreeSet<Place<'_>> = those.iter().map(place).collect();
    these.iter().filter(|resource| !others.contains(&place(resource))).collect()
}

/// For each resource the position of the same one, with the same payload, on the other side; both are sorted by file.
fn twins(before: &[Resource], after: &[Resource]) -> Vec<Option<usize>> {
    fn place(resource: &Resource) -> (&RepoPath, usize) {
        (&resource.file, resource.position)
    }
    let mut at = 0;
    let twin = |resource: &Resource| {
        while after.get(at).is_some_and(|other| place(other) < place(resource)) {
            at += 1;
        }
        let other = after.get(at)?;
        let is_same = place(other) == place(resource) && other.identity == resource.identity;
        (is_same && other.payload.is_shared_with(&resource.payload)).then_some(at)
    };
    before.iter().map(twin).collect()
}
