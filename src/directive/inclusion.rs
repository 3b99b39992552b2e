//! What other files bring to a document: their content where it is included, and their anchors everywhere.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use smol_str::SmolStr;

use super::Read;
use super::engine::Engine;
use super::ground::{DirectiveId, Ground, PlaceId};
use super::include::{self, Loaded, Request};
use super::marked::{Landmark, LandmarkKind, Marked};
use super::trouble::Trouble;
use crate::path::Pointer;

/// Anchors and names by name; the last in document order counts.
pub(super) type Anchors = HashMap<SmolStr, PlaceId>;

/// What became of an include.
#[derive(Debug, Clone)]
pub(super) enum Inclusion {
    File { root: PlaceId, fragment: Option<Pointer>, is_raw: bool },
    Empty,
    Absent,
    Broken(Arc<Trouble>),
}

impl Engine<'_> {
    /// Loads the file of an include, once.
    pub(super) fn inclusion(&mut self, directive: DirectiveId) -> Inclusion {
        if let Some(known) = self.inclusions.get(&directive) {
            return known.clone();
        }
        let found = self.include(directive).unwrap_or_else(|trouble| Inclusion::Broken(Arc::new(trouble)));
        self.inclusions.insert(directive, found.clone());
        found
    }

    fn include(&mut self, directive: DirectiveId) -> Result<Inclusion, Trouble> {
        let it = self.ground.directive(directive);
        let Request { name, fragment, is_raw } = include::request(&it.value).map_err(Trouble::BadRequest)?;
        let file = self.ground.file(self.ground.place(it.place).file);
        let path = include::resolve(&file.path, &name).map_err(Trouble::Refused)?;
        let mut includer = Some(file);
        let mut chain = vec![directive];
        while let Some(file) = includer {
            if file.path == path {
                chain.reverse();
                return Err(Trouble::FileCycle { path, chain });
            }
            chain.extend(file.included_by);
            includer =
                file.included_by.map(|by| self.ground.file(self.ground.place(self.ground.directive(by).place).file));
        }
        let limits = self.context.limits;
        if file.depth >= limits.include_depth {
            return Err(Trouble::TooManyIncludes {
                limit: limits.include_depth,
                what: "files that include each other in a row",
            });
        }
        if self.inclusions.len() >= limits.includes as usize {
            return Err(Trouble::TooManyIncludes { limit: limits.includes, what: "included files" });
        }
        let (loaded, id) = self.context.includes.load(&path, self.context);
        let read = if matches!(loaded, Loaded::Absent) { Read::Absent } else { Read::Present(id) };
        self.reads.insert(path.clone(), read);
        match loaded {
            Loaded::Absent => Ok(Inclusion::Absent),
            Loaded::Empty => Ok(Inclusion::Empty),
            Loaded::Refused(reason) => Err(Trouble::Refused(reason)),
            Loaded::Broken(findings) => Err(Trouble::Foreign(findings)),
            Loaded::Several { second } => Err(Trouble::Several { second }),
            Loaded::Ready(marked) => {
                let reference = self.ground.directive(directive).reference.as_ref();
                let is_whole = fragment.is_none()
                    && reference.is_some_and(|it| it.anchor.is_none() && it.pointer.tokens().is_empty());
                let root = self.ground.include(directive, path, marked, is_whole);
                Ok(Inclusion::File { root, fragment, is_raw })
            }
        }
    }

    /// All anchors and names of the document and of every file it includes.
    pub(super) fn anchors(&mut self) -> &Anchors {
        if self.anchors.is_none() {
            let mut anchors = Anchors::new();
            self.gather_anchors(Ground::ROOT, Some(Ground::ROOT), &mut anchors);
            self.anchors = Some(anchors);
        }
        self.anchors.get_or_insert_default()
    }

    /// Gathers the anchors of a file, and those of the files that the part of it which is used includes in turn.
    fn gather_anchors(&mut self, root: PlaceId, used: Option<PlaceId>, anchors: &mut Anchors) {
        let marked = Arc::clone(&self.ground.file(self.ground.place(root).file).marked);
        self.gather_asides(root, &marked, anchors);
        let mut is_after = None;
        for landmark in marked.landmarks() {
            let Some(place) = self.ground.descend(root, &landmark.way) else { continue };
            match &landmark.kind {
                LandmarkKind::Anchor(name) | LandmarkKind::Name(name) => {
                    anchors.insert(name.clone(), place);
                }
                LandmarkKind::Include if used.is_some_and(|used| self.ground.is_within(place, used)) => {
                    // A map with several includes is several landmarks; all of them are followed at the first.
                    if is_after.replace(place) != Some(place) {
                        self.gather_included_anchors(place, anchors);
                    }
                }
                LandmarkKind::Include => {}
            }
        }
    }

    fn gather_included_anchors(&mut self, place: PlaceId, anchors: &mut Anchors) {
        for directive in self.ground.directives_of(place).to_vec() {
            let reference = self.ground.directive(directive).reference.as_ref();
            if !reference.is_some_and(|reference| reference.is_include) {
                continue;
            }
            if let Inclusion::File { root, fragment, is_raw } = self.inclusion(directive) {
                let way = fragment.unwrap_or_default();
                let used = way.tokens().iter().try_fold(root, |place, token| {
                    self.ground.member(place, token).or_else(|| self.ground.item(place, token))
                });
                self.gather_anchors(root, used.filter(|_| !is_raw), anchors);
            }
        }
    }

    /// Anchors of values that are not in the tree, such as a map written after `<<`. Those in the tree come later and win.
    fn gather_asides(&mut self, root: PlaceId, marked: &Marked, anchors: &mut Anchors) {
        let in_tree: HashSet<&SmolStr> = marked.landmarks().iter().filter_map(Landmark::anchor).collect();
        for (name, node) in marked.document.anchors.iter().filter(|(name, _)| !in_tree.contains(name)) {
            let place = self.ground.aside(root, node.clone());
            anchors.insert(name.clone(), place);
        }
    }

    pub(super) fn anchor_in_file(&mut self, root: PlaceId, anchor: &str) -> Option<PlaceId> {
        let marked = Arc::clone(&self.ground.file(self.ground.place(root).file).marked);
        let named = marked.landmarks().iter().rev().find(|landmark| match &landmark.kind {
            LandmarkKind::Anchor(name) | LandmarkKind::Name(name) => name == anchor,
            LandmarkKind::Include => false,
        });
        if let Some(landmark) = named {
            return self.ground.descend(root, &landmark.way);
        }
        let aside = marked.document.anchors.iter().rev().find(|(name, _)| name == anchor);
        aside.map(|(_, node)| self.ground.aside(root, node.clone()))
    }
}
