//! Version bumps: changes that say nothing but which version of something is used.
//!
//! A change counts as a bump only where its field is known to hold a version and everything that names the thing is the same on
//! both sides. Whatever is not certain is not a bump: a change is called "only version bumps" when each of its values is one.

mod fields;
mod image;
mod version;

use std::collections::BTreeMap;

use smol_str::SmolStr;

pub use version::Level;

use super::{Change, ChangeKind, PathStep, ResourceChange, Status};
use fields::{VersionField, reference_in_url};
use version::Version;

/// The bumps of a comparison.
#[derive(Debug, Default)]
pub struct Bumps {
    /// One row for each thing with its version before and after, in order of kind and name.
    pub rows: Vec<Bump>,
    /// Whether every difference between the resources is a bump.
    pub is_everything: bool,
}

/// Something whose version changed.
#[derive(Debug)]
pub struct Bump {
    /// What it is.
    pub kind: BumpKind,
    /// Its name: the repository of an image, the name of a chart, the URL of a source.
    pub name: SmolStr,
    /// The version before.
    pub before: SmolStr,
    /// The version after.
    pub after: SmolStr,
    /// How much it changed.
    pub level: Level,
    /// Whether the newer version has the smaller number.
    pub is_downgrade: bool,
    /// The resources that use it, by position, each once.
    pub resources: Vec<usize>,
}

/// What a version belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BumpKind {
    /// A container image.
    Image,
    /// A Helm chart.
    Chart,
    /// A repository or an archive that is fetched.
    Source,
    /// An action of a workflow.
    Action,
    /// A package or a product.
    Package,
    /// A label that repeats a version.
    Label,
}

impl BumpKind {
    /// The name in reports; people see the plural in headlines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Chart => "chart",
            Self::Source => "source",
            Self::Action => "action",
            Self::Package => "package",
            Self::Label => "label",
        }
    }
}

/// A change that was recognised.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    kind: BumpKind,
    name: SmolStr,
    before: SmolStr,
    after: SmolStr,
}

impl Candidate {
    /// A bump, if both texts are versions.
    fn new(kind: BumpKind, name: &str, before: &str, after: &str) -> Option<Self> {
        let is_version = Version::read(before).is_some() && Version::read(after).is_some();
        is_version.then(|| Self { kind, name: name.into(), before: before.into(), after: after.into() })
    }

    fn into_bump(self, resources: Vec<usize>) -> Bump {
        let versions = Version::read(&self.before).zip(Version::read(&self.after));
        let (level, is_downgrade) = versions.map_or((Level::Other, false), |(before, after)| before.distance(after));
        let Self { kind, name, before, after } = self;
        Bump { kind, name, before, after, level, is_downgrade, resources }
    }
}

/// Finds the bumps among the changes of resources.
pub fn bumps(resources: &[ResourceChange]) -> Bumps {
    let mut found: BTreeMap<Candidate, Vec<usize>> = BTreeMap::new();
    let mut is_everything = true;
    for (at, resource) in resources.iter().enumerate().filter(|(_, resource)| resource.is_difference()) {
        let (candidates, is_whole) = bumps_in(resource);
        is_everything &= is_whole;
        for candidate in candidates {
            let users = found.entry(candidate).or_default();
            if users.last() != Some(&at) {
                users.push(at);
            }
        }
    }
    let is_everything = is_everything && !found.is_empty();
    Bumps { rows: found.into_iter().map(|(candidate, users)| candidate.into_bump(users)).collect(), is_everything }
}

/// The bumps of one resource, and whether they are all that changed in it.
fn bumps_in(resource: &ResourceChange) -> (Vec<Candidate>, bool) {
    let is_edited = resource.status() == Status::Changed && !resource.is_moved();
    let file_name = resource.after.as_ref().map_or(&b""[..], |after| after.file.file_name());
    let documents = resource.difference.documents.as_deref();
    let (mut candidates, mut items) = (Vec::new(), Vec::new());
    let mut unrecognised = 0;
    for change in resource.changes() {
        match VersionField::of_change(change, documents, file_name).and_then(|field| field.bump()) {
            Some(candidate) => candidates.push(candidate),
            None if is_list_item(change) => items.push(change),
            None => unrecognised += 1,
        }
    }
    let unpaired = pair_items(&items, &mut candidates);
    (candidates, is_edited && unrecognised + unpaired == 0)
}

/// Whether a text was added to a list or removed from one.
fn is_list_item(change: &Change) -> bool {
    let is_text = change.before.as_ref().or(change.after.as_ref()).is_some_and(|node| node.as_str().is_some());
    let is_item = matches!(change.path.last(), Some(PathStep::Item { .. }));
    matches!(change.kind, ChangeKind::Add | ChangeKind::Remove) && is_text && is_item
}

/// Pairs removed and added items of lists that differ in nothing but a reference, and returns how many are left over. A list of
/// URLs has no names, so that an edited item is one that went and one that came.
fn pair_items(items: &[&Change], candidates: &mut Vec<Candidate>) -> usize {
    let (mut removed, added): (Vec<&Change>, Vec<&Change>) =
        items.iter().copied().partition(|change| change.kind == ChangeKind::Remove);
    let mut unpaired = 0;
    for change in added {
        let is_partner =
            |other: &&Change| is_same_list(&change.path, &other.path) && reference_of(other, change).is_some();
        match removed.iter().position(|other| is_partner(&other)) {
            Some(at) => candidates.extend(reference_of(removed.swap_remove(at), change)),
            None => unpaired += 1,
        }
    }
    unpaired + removed.len()
}

fn reference_of(removed: &Change, added: &Change) -> Option<Candidate> {
    reference_in_url(removed.before.as_ref()?.as_str()?, added.after.as_ref()?.as_str()?)
}

fn is_same_list(this: &[PathStep], that: &[PathStep]) -> bool {
    let above = |path: &[PathStep]| {
        let path = &path[..path.len().saturating_sub(1)];
        super::path_text::display(path, "")
    };
    above(this) == above(that)
}

#[cfg(test)]
mod tests;
