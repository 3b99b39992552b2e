//! Where a transition is caused: the edited place, which is often not in the file of the resource.

use std::sync::Arc;

use smol_str::SmolStr;

use super::transition::{Problem, Transition};
use crate::finding::{Label, Location};
use crate::layout::kustomize::KUSTOMIZATION_FILES;
use crate::path::{Pointer, RepoPath};
use crate::resource::Resource;
use crate::text::{SourceText, Sources, Span};
use crate::value::{Node, Step};

/// What is asked about the files of both sides.
pub struct EditedFiles<'a> {
    /// Whether a file differs between the sides.
    pub is_edited: &'a dyn Fn(&RepoPath) -> bool,
    /// Whether the newer side has a file.
    pub exists: &'a dyn Fn(&RepoPath) -> bool,
    /// Both sides, as people call them.
    pub revisions: [&'a str; 2],
    /// Whether there is an older side to compare with.
    pub is_comparing: bool,
    /// The texts of both sides.
    pub sources: &'a Sources,
}

/// The place of a finding, and the places that belong to it.
#[derive(Debug)]
pub(super) struct CausePlace {
    pub(super) location: Location,
    pub(super) label: &'static str,
    pub(super) related: Vec<Label>,
}

/// What two places in one text have in common: file, revision and bytes. A text may be read twice.
pub(super) type PlaceKey = (RepoPath, SmolStr, usize, usize);

impl CausePlace {
    /// The key of the place; a file as a whole has that of the place that belongs to it.
    pub(super) fn key(&self, files: &EditedFiles<'_>) -> PlaceKey {
        match &self.location {
            Location::Span(span) => files.key(*span),
            Location::File { path, revision } => {
                let (_, _, start, end) = self.related.first().map(|it| files.key(it.span)).unwrap_or_default();
                (path.clone(), revision.clone(), start, end)
            }
        }
    }
}

/// The place that was edited, with the older value and the definition of the newer one where these are elsewhere.
pub(super) fn cause(transition: &Transition<'_>, problem: &Problem, files: &EditedFiles<'_>) -> Option<CausePlace> {
    let old = transition.before.map(|it| way(&it.payload, &problem.was));
    let new = transition.after.map(|it| way(&it.payload, &problem.at));
    let Some(new) = new else { return transition.before.map(|it| removal(it, files)) };
    let was = old.as_ref().filter(|old| old.is_there);
    let is_same_text = was.is_some_and(|old| new.is_there && files.is_same_text(old.span, new.span));
    let [here, by_this] =
        if was.is_some() { ["changed here", "changed by this"] } else { ["added here", "added by this"] };
    let defined = (new.is_there && !is_same_text).then_some((new.span, here));
    let by_step = new.steps.iter().map(|step| (step.at, by_this));
    let removed = was.into_iter().flat_map(|old| {
        let steps = old.steps.iter().map(|step| (step.at, "was set by this"));
        std::iter::once((old.span, "was set here")).chain(steps)
    });
    let is_edited = |(span, _): &(Span, &str)| files.is_edited_at(*span);
    let candidates = defined.into_iter().chain(by_step).chain(removed);
    let edited = candidates.into_iter().find(is_edited);
    // A root that is new for what no edit wrote brings nothing new into the repository.
    if edited.is_none() && transition.before.is_none() && files.is_comparing {
        return None;
    }
    let (place, label) = edited.unwrap_or((new.span, "here"));
    let mut related = Vec::new();
    let mut relate = |span: Span, text: &str| {
        if !files.is_same_place(span, place) {
            related.push(Label { span, text: text.to_owned() });
        }
    };
    if new.is_there {
        relate(new.span, "the value now");
    }
    if let Some(old) = was {
        relate(old.span, "the value before");
    }
    Some(CausePlace { location: Location::Span(place), label, related })
}

/// Where a resource was removed: in its file, or in a file that no longer leads to it.
fn removal(resource: &Resource, files: &EditedFiles<'_>) -> CausePlace {
    let place = resource.payload.span.start_only();
    let here = CausePlace { location: Location::Span(place), label: "removed", related: Vec::new() };
    if files.is_edited_at(place) {
        return here;
    }
    match leading_files(resource).into_iter().find(|file| (files.is_edited)(file)) {
        None => here,
        Some(path) => CausePlace {
            location: Location::File { revision: files.revision_of(&path).into(), path },
            label: "no longer part of it",
            related: vec![Label { span: place, text: "defined here".to_owned() }],
        },
    }
}

/// The files that may lead to a resource of a unit: the kustomizations in the directory of its file and in that of the unit, and the
/// file that describes the unit.
fn leading_files(resource: &Resource) -> Vec<RepoPath> {
    let key = resource.unit.as_ref().map(|unit| unit.key.as_str());
    let described = key.and_then(|key| RepoPath::new(key.rsplit_once('#')?.0).ok());
    let root = key.and_then(|key| RepoPath::new(key).ok());
    let directories = resource.file.parent().into_iter().chain(root);
    let kustomizations = directories.flat_map(|directory| {
        KUSTOMIZATION_FILES.iter().filter_map(move |name| directory.join(name.as_bytes()).ok()).collect::<Vec<_>>()
    });
    kustomizations.chain(described).collect()
}

impl EditedFiles<'_> {
    /// The newer side that has a file, or the older one.
    fn revision_of(&self, file: &RepoPath) -> &str {
        self.revisions[usize::from((self.exists)(file))]
    }

    fn text(&self, span: Span) -> Arc<SourceText> {
        self.sources.get(span.source)
    }

    fn is_edited_at(&self, span: Span) -> bool {
        (self.is_edited)(&self.text(span).path)
    }

    /// Whether both places are in one file and hold the same text.
    fn is_same_text(&self, one: Span, other: Span) -> bool {
        let (a, b) = (self.text(one), self.text(other));
        a.path == b.path && a.text.get(one.range()) == b.text.get(other.range())
    }

    fn key(&self, span: Span) -> PlaceKey {
        let text = self.text(span);
        (text.path.clone(), text.revision.clone(), span.range().start, span.range().end)
    }

    fn is_same_place(&self, one: Span, other: Span) -> bool {
        self.key(one) == self.key(other)
    }
}

/// The way to a place in a document.
struct Way<'n> {
    /// The place, or that of the deepest part around it.
    span: Span,
    /// Whether there is a value at the place.
    is_there: bool,
    /// The steps by which the value got there, the last one first.
    steps: Vec<&'n Step>,
}

fn way<'n>(root: &'n Node, place: &Pointer) -> Way<'n> {
    let chain = |node: &'n Node| node.step().into_iter().flat_map(|step| step.chain().into_iter().rev());
    let mut steps: Vec<&Step> = chain(root).collect();
    let (mut node, mut span) = (root, root.span.start_only());
    let mut is_there = true;
    for token in place.tokens() {
        let Some(child) = node.children().find(|child| child.token() == *token) else {
            is_there = false;
            break;
        };
        node = child.node;
        // A map is best shown by the key in front of it.
        span =
            child.key.filter(|_| node.as_map().is_some() || node.as_list().is_some()).map_or(node.span, |key| key.span);
        steps.splice(0..0, chain(node));
    }
    Way { span, is_there, steps }
}
