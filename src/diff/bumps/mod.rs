//! Version bumps: changes that say nothing but which version of something is used.
//!
//! A change counts as a bump only where its field is known to hold a version and everything that names the thing is the same on
//! both sides. Whatever is not certain is not a bump: a change is called "only version bumps" when each of its values is one.

mod beside;
mod field;
mod image;
mod known;
mod url;
mod version;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use smol_str::SmolStr;

pub use beside::documents_for_bumps;
pub use version::Level;

use super::groups::Member;
use super::{Change, ChangeKind, PathStep, ResourceChange, Status};
use crate::limits::Limits;
use crate::text::Sources;
use crate::value::Node;
use field::VersionField;
use image::ImageReference;
use url::versioned_url;
use version::Version;

/// The bumps of a comparison.
#[derive(Debug, Default)]
pub struct Bumps {
    /// One row for each thing with its version before and after, in order of kind and name.
    pub rows: Vec<Bump>,
    /// Whether the sides differ in nothing else.
    pub is_everything: bool,
    /// The row of each change that is a bump.
    covered: BTreeMap<Member, usize>,
}

impl Bumps {
    /// The row that a change belongs to.
    pub fn row_of(&self, member: &Member) -> Option<&Bump> {
        self.covered.get(member).and_then(|at| self.rows.get(*at))
    }
}

/// Something whose version changed.
#[derive(Debug)]
pub struct Bump {
    /// What it is.
    pub kind: BumpKind,
    /// Its name: the repository of an image, the name of a chart, the URL of a source.
    pub name: SmolStr,
    /// The version before and after, as written.
    pub versions: [SmolStr; 2],
    /// The versions that comments beside commits name.
    pub comments: [Option<SmolStr>; 2],
    /// How much it changed.
    pub level: Level,
    /// Whether the newer version has the smaller number.
    pub is_downgrade: bool,
    /// The changes, in order of their resources.
    pub members: Vec<Member>,
}

impl Bump {
    /// The resources that use it, by position, each once.
    pub fn resources(&self) -> Vec<usize> {
        self.members.iter().map(|member| member.resource).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// What a version belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BumpKind {
    /// A container image.
    Image,
    /// A Helm chart.
    Chart,
    /// A repository or a file that is fetched.
    Source,
    /// An action of a workflow.
    Action,
    /// A package or a product.
    Package,
    /// A label that repeats a version.
    Label,
}

impl BumpKind {
    /// The name in reports.
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    kind: BumpKind,
    name: SmolStr,
    versions: [SmolStr; 2],
    comments: [Option<SmolStr>; 2],
}

impl Candidate {
    /// A bump, if both texts are versions of the same thing; the table of fields says of what kind.
    fn new(name: &str, before: &str, after: &str) -> Option<Self> {
        let is_bump = Version::read(before)?.may_become(Version::read(after)?);
        let versions = [before.into(), after.into()];
        is_bump.then(|| Self { kind: BumpKind::Package, name: name.into(), versions, comments: [None, None] })
    }

    /// How much the version changed, by the comments if both sides have one.
    fn distance(&self) -> (Level, bool) {
        let said = match &self.comments {
            [Some(before), Some(after)] => [before, after],
            _ => [&self.versions[0], &self.versions[1]],
        };
        match (Version::read(said[0]), Version::read(said[1])) {
            (Some(before), Some(after)) => before.distance(after),
            _ => (Level::Other, false),
        }
    }

    fn into_bump(self, members: Vec<Member>) -> Bump {
        let (level, is_downgrade) = self.distance();
        let Self { kind, name, versions, comments } = self;
        Bump { kind, name, versions, comments, level, is_downgrade, members }
    }
}

/// Finds the bumps among the changes of resources; none if there is not enough time for that. Whether they are everything is not
/// decided here.
pub fn bumps(resources: &[ResourceChange], sources: &Sources, limits: &Limits) -> Bumps {
    let mut found: BTreeMap<Candidate, Vec<Member>> = BTreeMap::new();
    for (resource, of) in resources.iter().enumerate() {
        let Some((bumps, _)) = bumps_in(of, sources, limits) else { return Bumps::default() };
        for (candidate, changes) in bumps {
            let members = changes.into_iter().map(|change| Member { resource, change });
            found.entry(candidate).or_default().extend(members);
        }
    }
    let rows: Vec<Bump> = found.into_iter().map(|(candidate, members)| candidate.into_bump(members)).collect();
    let covered = rows.iter().enumerate().flat_map(|(at, row)| row.members.iter().map(move |member| (*member, at)));
    Bumps { covered: covered.collect(), rows, is_everything: false }
}

/// Whether resources differ, and each of them in nothing but versions. A resource that came, went or moved is more than that, and
/// so is a value that is only written differently.
pub fn differ_only_in_versions(resources: &[ResourceChange], sources: &Sources, limits: &Limits) -> bool {
    let is_bumped = |of: &ResourceChange| {
        let is_edited = of.status() == Status::Changed && !of.is_moved() && of.spellings().next().is_none();
        is_edited && bumps_in(of, sources, limits).is_some_and(|(_, is_whole)| is_whole)
    };
    !resources.is_empty() && resources.iter().all(is_bumped)
}

/// Whether a change may be a bump, which depends on what is beside it.
fn may_be_bump(change: &Change) -> bool {
    let ends_in_version = |node: &Option<Node>| {
        let text = node.as_ref().and_then(field::scalar);
        text.and_then(|text| text.rsplit([':', '@', '=', '/']).next()).is_some_and(|end| Version::read(end).is_some())
    };
    change.kind == ChangeKind::Value && ends_in_version(&change.before) && ends_in_version(&change.after)
}

/// A bump with the positions of its changes.
type Found = (Candidate, Vec<usize>);

/// A change of a list item, with its position.
type ListItem<'c> = (usize, &'c Change);

/// The bumps of one resource, and whether they are all that changed in it; nothing if there is not enough time to find out.
fn bumps_in(of: &ResourceChange, sources: &Sources, limits: &Limits) -> Option<(Vec<Found>, bool)> {
    let (mut found, mut items) = (Vec::new(), Vec::new());
    let (mut unrecognised, mut parents) = (0, None);
    for (at, change) in of.changes().enumerate() {
        if at % 1024 == 1023 && !limits.may_go_on() {
            return None;
        }
        let field = VersionField::of_change(change, of, sources, &mut parents);
        match field.and_then(|field| known::bump(&field)) {
            Some(candidate) => found.push((candidate, vec![at])),
            None if is_list_item(change) => items.push((at, change)),
            None => unrecognised += 1,
        }
    }
    let unpaired = pair_items(&items, &mut found);
    let is_whole = !found.is_empty() && unrecognised + unpaired == 0;
    Some((found, is_whole))
}

/// Whether a text was added to a list or removed from one.
fn is_list_item(change: &Change) -> bool {
    let is_text = change.before.as_ref().or(change.after.as_ref()).is_some_and(|node| node.as_str().is_some());
    let is_item = matches!(change.path.last(), Some(PathStep::Item { .. }));
    let is_payload = !matches!(change.path.first(), Some(PathStep::Metadata | PathStep::Request(_)));
    matches!(change.kind, ChangeKind::Add | ChangeKind::Remove) && is_text && is_item && is_payload
}

/// Pairs removed and added items of lists that differ in nothing but a version, and returns how many are left over. A list of
/// texts has no names, so that an edited item is one that went and one that came.
fn pair_items(items: &[ListItem<'_>], found: &mut Vec<Found>) -> usize {
    let (removed, added): (Vec<&ListItem<'_>>, Vec<&ListItem<'_>>) =
        items.iter().partition(|(_, change)| change.kind == ChangeKind::Remove);
    let mut unpaired = removed.len() + added.len();
    let mut by_place: HashMap<(usize, String), Vec<&ListItem<'_>>> = HashMap::new();
    for item in removed {
        by_place.entry(place_of(item.1)).or_default().push(item);
    }
    for (at, change) in added {
        let Some(others) = by_place.get_mut(&place_of(change)) else { continue };
        let bump = |(_, other): &&ListItem<'_>| version_of_item(other, change);
        let partner = others.iter().enumerate().find_map(|(partner, other)| Some((partner, bump(other)?)));
        if let Some((partner, bump)) = partner {
            let (other_at, _) = others.swap_remove(partner);
            found.push((bump, vec![*other_at, *at]));
            unpaired -= 2;
        }
    }
    unpaired
}

/// The position of an item that went or came, and its list.
fn place_of(change: &Change) -> (usize, String) {
    let position = match change.path.last() {
        Some(PathStep::Item { before, after, .. }) => before.or(*after),
        _ => None,
    };
    let above = &change.path[..change.path.len().saturating_sub(1)];
    (position.unwrap_or(usize::MAX), super::path_text::display(above, ""))
}

/// The bump of two items that were at one place of a list: an address with a version, or a flag with an image.
fn version_of_item(removed: &Change, added: &Change) -> Option<Candidate> {
    let (before, after) = (removed.before.as_ref()?.as_str()?, added.after.as_ref()?.as_str()?);
    let is_base = removed
        .path
        .iter()
        .rev()
        .nth(1)
        .is_some_and(|step| matches!(step, PathStep::Key(key) if known::is_list_of_bases(&key.name)));
    if let Some(url) = versioned_url(before, after, is_base) {
        return Candidate::new(url.name, url.before, url.after).map(|it| Candidate { kind: BumpKind::Source, ..it });
    }
    let ((flag, before), (other, after)) = (known::flag(before), known::flag(after));
    let [before, after] = [ImageReference::read(before)?, ImageReference::read(after)?];
    let is_same = flag == other && before.repository == after.repository && before.has_registry();
    let bump = Candidate::new(before.repository, before.text, after.text).filter(|_| is_same);
    bump.map(|it| Candidate { kind: BumpKind::Image, ..it })
}

#[cfg(test)]
mod tests;
