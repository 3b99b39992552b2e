//! A changed value with everything around it that says what it is.

use std::cell::OnceCell;
use std::rc::Rc;

use smol_str::SmolStr;

use crate::diff::comment::{comment_above, comment_beside};
use crate::diff::{Change, ChangeKind, DiffSide, PathStep, ResourceChange, pointer};
use crate::path::Pointer;
use crate::resource::Identity;
use crate::text::Sources;
use crate::value::{Node, Value};

/// The names of the values around a version that are looked at. Of a large change, nothing else is kept.
pub(super) const NEIGHBOURS: &[&str] = &[
    "chart",
    "chartName",
    "helmRepository",
    "kind",
    "name",
    "newName",
    "path",
    "registry",
    "repo",
    "repoURL",
    "repository",
    "sourceRef",
    "url",
    "uses",
];

/// The name of a value around a version.
fn neighbour(name: &str) -> &str {
    debug_assert!(NEIGHBOURS.contains(&name), "`{name}` is not kept of large changes");
    name
}

/// The map that holds a value, on both sides. What is looked up in it is remembered: it may hold many versions, and be large.
pub(super) struct Parents<'c> {
    maps: [&'c Node; 2],
    /// In the order of [`NEIGHBOURS`].
    neighbours: [OnceCell<[Option<&'c Node>; 2]>; NEIGHBOURS.len()],
}

impl<'c> Parents<'c> {
    /// These maps; the ones that are known if they are the same.
    fn of(maps: [&'c Node; 2], known: &mut Option<Rc<Self>>) -> Rc<Self> {
        let is_known =
            |known: &&mut Rc<Self>| known.maps.iter().zip(maps).all(|(known, map)| std::ptr::eq(*known, map));
        if let Some(known) = known.as_mut().filter(is_known) {
            return Rc::clone(known);
        }
        let parents = Rc::new(Self { maps, neighbours: Default::default() });
        *known = Some(Rc::clone(&parents));
        parents
    }

    /// What is beside the value, on both sides.
    fn neighbour(&self, name: &str) -> [Option<&'c Node>; 2] {
        let look_up = || self.maps.map(|map| map.get(name));
        match NEIGHBOURS.binary_search(&neighbour(name)) {
            Ok(at) => *self.neighbours[at].get_or_init(look_up),
            Err(_) => look_up(),
        }
    }
}

/// A value before and after, and where it is written.
pub(super) struct VersionField<'c> {
    pub(super) before: &'c str,
    pub(super) after: &'c str,
    /// The keys of the path, outermost first; items of lists have none.
    pub(super) keys: Vec<&'c str>,
    /// The name of the file.
    pub(super) file_name: &'c [u8],
    /// The map that holds the value, on both sides.
    parents: Option<Rc<Parents<'c>>>,
    /// The documents.
    roots: Option<[&'c Node; 2]>,
    change: &'c Change,
    resource: &'c ResourceChange,
    sources: &'c Sources,
}

impl<'c> VersionField<'c> {
    /// The field of a change; `None` for anything but a text or number that is another one now. `known` are the maps that held the
    /// last one.
    pub(super) fn of_change(
        change: &'c Change,
        resource: &'c ResourceChange,
        sources: &'c Sources,
        known: &mut Option<Rc<Parents<'c>>>,
    ) -> Option<Self> {
        // A version that became a number is more than another version: programs may refuse it.
        if change.kind != ChangeKind::Value || is_other_view(change) {
            return None;
        }
        let [before, after] = [scalar(change.before.as_ref()?)?, scalar(change.after.as_ref()?)?];
        let key = |step: &'c PathStep| match step {
            PathStep::Key(key) => Some(key.name.as_str()),
            _ => None,
        };
        let keys = change.path.iter().filter_map(key).collect();
        let is_embedded = change.path.iter().any(|step| matches!(step, PathStep::Embedded(_)));
        let documents = resource.difference.documents.as_deref().filter(|_| !is_embedded);
        let roots = documents.map(|documents| [&documents.before, &documents.after]);
        let parents = roots.and_then(|[before, after]| {
            let above = &change.path[..change.path.len().saturating_sub(1)];
            let parent = |root: &'c Node, side| root.at(&pointer(above, side));
            Some(Parents::of([parent(before, DiffSide::Before)?, parent(after, DiffSide::After)?], known))
        });
        let file_name = resource.after.as_ref().map_or(&b""[..], |after| after.file.file_name());
        Some(Self { before, after, keys, file_name, parents, roots, change, resource, sources })
    }

    /// The key of the value.
    pub(super) fn key(&self) -> Option<&'c str> {
        match self.change.path.last() {
            Some(PathStep::Key(_)) => self.keys.last().copied(),
            _ => None,
        }
    }

    /// The key of the list that the value is an item of.
    pub(super) fn list(&self) -> Option<&'c str> {
        match self.change.path.last() {
            Some(PathStep::Item { .. }) => self.keys.last().copied(),
            _ => None,
        }
    }

    /// The key that is so many levels above the value.
    pub(super) fn key_above(&self, levels: usize) -> Option<&'c str> {
        self.keys.len().checked_sub(levels + 1).map(|at| self.keys[at])
    }

    /// A neighbour in the same map that is the same text on both sides.
    pub(super) fn same(&self, name: &str) -> Option<&'c str> {
        let [before, after] = self.parents.as_ref()?.neighbour(name);
        let text = before?.as_str()?;
        (after?.as_str()? == text).then_some(text)
    }

    /// The first of these neighbours that is the same text on both sides.
    pub(super) fn first_same(&self, names: &[&str]) -> Option<&'c str> {
        names.iter().find_map(|name| self.same(name))
    }

    /// Whether each of these neighbours is absent or the same on both sides.
    pub(super) fn are_unchanged(&self, names: &[&str]) -> bool {
        let is_unchanged = |neighbours: [Option<&Node>; 2]| match neighbours {
            [None, None] => true,
            [Some(before), Some(after)] => before.is_equal(after),
            _ => false,
        };
        let all = |parents: &Rc<Parents<'_>>| names.iter().all(|name| is_unchanged(parents.neighbour(name)));
        self.parents.as_ref().is_some_and(all)
    }

    /// The kind of the document, if both sides have the same.
    pub(super) fn kind(&self) -> Option<&'c str> {
        let [before, after] = self.roots?;
        let kind = before.get(neighbour("kind"))?.as_str()?;
        (after.get("kind")?.as_str()? == kind).then_some(kind)
    }

    /// The kind by which reports call the resource: what a root refers to and the repository does not hold has one too.
    pub(super) fn reported_kind(&self) -> Option<&'c str> {
        match &self.resource.after.as_ref()?.identity {
            Identity::Kubernetes(name) => Some(&name.kind),
            _ => None,
        }
    }

    /// A text at a place of the document that is the same on both sides.
    pub(super) fn same_at(&self, place: &[&str]) -> Option<&'c str> {
        let [before, after] = self.roots?;
        debug_assert!(
            place.last().is_some_and(|name| NEIGHBOURS.contains(name)),
            "{place:?} is not kept of large changes"
        );
        let place: Pointer = place.iter().map(|token| SmolStr::from(*token)).collect();
        let text = before.at(&place)?.as_str()?;
        (after.at(&place)?.as_str()? == text).then_some(text)
    }

    /// The texts beside the map that holds the value, one level up, on both sides: `uses` beside `with`.
    pub(super) fn beside_parent(&self, name: &str) -> Option<[&'c str; 2]> {
        let [before, after] = self.roots?;
        let above = &self.change.path[..self.change.path.len().checked_sub(2)?];
        let text = |root: &'c Node, side| root.at(&pointer(above, side))?.get(neighbour(name))?.as_str();
        Some([text(before, DiffSide::Before)?, text(after, DiffSide::After)?])
    }

    /// The comments beside the value on both sides. Near secrets none is read.
    pub(super) fn comments(&self) -> [Option<String>; 2] {
        self.nodes().map(|node| self.sources_near(node).and_then(|sources| comment_beside(node?, sources)))
    }

    /// The comment in the line above the value, if it is the same on both sides.
    pub(super) fn comment_above(&self) -> Option<String> {
        let [before, after] =
            self.nodes().map(|node| self.sources_near(node).and_then(|sources| comment_above(node?, sources)));
        before.filter(|before| after.as_ref() == Some(before))
    }

    fn nodes(&self) -> [Option<&'c Node>; 2] {
        [self.change.before.as_ref(), self.change.after.as_ref()]
    }

    fn sources_near(&self, node: Option<&Node>) -> Option<&'c Sources> {
        let mut sides = self.resource.before.iter().chain(&self.resource.after);
        (node.is_some() && !sides.any(|side| side.payload.holds_secret())).then_some(self.sources)
    }
}

/// Whether a change is one of metadata, of a request or of the text of an expression.
fn is_other_view(change: &Change) -> bool {
    let first = change.path.first();
    first.is_some_and(|step| matches!(step, PathStep::Metadata | PathStep::Request(_) | PathStep::Expression(_)))
}

/// A text, or a number as it is written.
pub(super) fn scalar(node: &Node) -> Option<&str> {
    match &node.value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.as_str()),
        _ => None,
    }
}
