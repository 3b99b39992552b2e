//! Adds included files to the arena and collects the anchors of a document and its includes.

use std::collections::HashSet;
use std::sync::Arc;

use smol_str::SmolStr;

use super::load::{self, IncludeRequest, Loaded};
use crate::directive::Read;
use crate::directive::arena::{DirectiveId, OccurrenceId, Occurrences};
use crate::directive::engine::Engine;
use crate::directive::index::{IndexEntry, IndexEntryKind, IndexedDocument};
use crate::directive::problem::Problem;
use crate::directive::target::{Anchors, Inclusion};

impl Engine<'_> {
    /// The file of an include, loaded on first demand.
    pub(in crate::directive) fn inclusion(&mut self, directive: DirectiveId) -> Inclusion {
        if let Some(known) = self.inclusions.get(&directive) {
            return known.clone();
        }
        let found = self.include(directive).unwrap_or_else(|problem| Inclusion::Broken(Arc::new(problem)));
        self.inclusions.insert(directive, found.clone());
        found
    }

    fn include(&mut self, directive: DirectiveId) -> Result<Inclusion, Problem> {
        let it = self.arena.directive(directive);
        let IncludeRequest { name, fragment, is_raw } = load::request(&it.value).map_err(Problem::InvalidInclude)?;
        let file = self.arena.file(self.arena.get(it.occurrence).file);
        let path = load::resolve(&file.path, &name).map_err(Problem::Refused)?;
        let mut includer = Some(file);
        let mut chain = vec![directive];
        while let Some(file) = includer {
            if file.path == path {
                chain.reverse();
                return Err(Problem::FileCycle { path, chain });
            }
            chain.extend(file.included_by);
            includer =
                file.included_by.map(|by| self.arena.file(self.arena.get(self.arena.directive(by).occurrence).file));
        }
        let limits = self.context.limits;
        if file.depth >= limits.include_depth {
            return Err(Problem::TooManyIncludes {
                limit: limits.include_depth,
                what: "files that include each other in a row",
            });
        }
        if self.inclusions.len() >= limits.includes as usize {
            return Err(Problem::TooManyIncludes { limit: limits.includes, what: "included files" });
        }
        let (loaded, id) = self.context.includes.load(&path, self.context);
        let read = if matches!(loaded, Loaded::Absent) { Read::Absent } else { Read::Present(id) };
        self.reads.insert(path.clone(), read);
        match loaded {
            Loaded::Absent => Ok(Inclusion::Absent),
            Loaded::Empty => Ok(Inclusion::Empty),
            Loaded::Refused(reason) => Err(Problem::Refused(reason)),
            Loaded::Broken(findings) => Err(Problem::Foreign(findings)),
            Loaded::Several { second } => Err(Problem::Several { second }),
            Loaded::Ready(indexed) => {
                let reference = self.arena.directive(directive).reference.as_ref();
                let is_whole = fragment.is_none()
                    && reference.is_some_and(|it| it.anchor.is_none() && it.pointer.tokens().is_empty());
                let root = self.arena.include(directive, path, indexed, is_whole);
                Ok(Inclusion::File { root, fragment, is_raw })
            }
        }
    }

    /// All anchors and names of the document and of every file that it includes.
    pub(in crate::directive) fn anchors(&mut self) -> &Anchors {
        if self.anchors.is_none() {
            let mut anchors = Anchors::new();
            self.gather_anchors(Occurrences::ROOT, Some(Occurrences::ROOT), &mut anchors);
            self.anchors = Some(anchors);
        }
        self.anchors.get_or_insert_default()
    }

    /// Collects the anchors of a file, and those of the files that its used part includes in turn.
    fn gather_anchors(&mut self, root: OccurrenceId, used: Option<OccurrenceId>, anchors: &mut Anchors) {
        let indexed = Arc::clone(&self.arena.file(self.arena.get(root).file).indexed);
        self.gather_detached_anchors(root, &indexed, anchors);
        let mut previous = None;
        for entry in indexed.entries() {
            let Some(occurrence) = self.arena.descend(root, &entry.path) else { continue };
            match &entry.kind {
                IndexEntryKind::Anchor(name) | IndexEntryKind::Name(name) => {
                    anchors.insert(name.clone(), occurrence);
                }
                IndexEntryKind::Include if used.is_some_and(|used| self.arena.is_within(occurrence, used)) => {
                    // A map with several includes has several entries; all includes are resolved at the first one.
                    if previous.replace(occurrence) != Some(occurrence) {
                        self.gather_included_anchors(occurrence, anchors);
                    }
                }
                IndexEntryKind::Include => {}
            }
        }
    }

    fn gather_included_anchors(&mut self, occurrence: OccurrenceId, anchors: &mut Anchors) {
        for directive in self.arena.directives_of(occurrence).to_vec() {
            let reference = self.arena.directive(directive).reference.as_ref();
            if !reference.is_some_and(|reference| reference.is_include) {
                continue;
            }
            if let Inclusion::File { root, fragment, is_raw } = self.inclusion(directive) {
                let path = fragment.unwrap_or_default();
                let used = path.tokens().iter().try_fold(root, |occurrence, token| {
                    self.arena.member(occurrence, token).or_else(|| self.arena.item(occurrence, token))
                });
                self.gather_anchors(root, used.filter(|_| !is_raw), anchors);
            }
        }
    }

    /// Collects the anchors of values outside the tree, such as a map written after `<<`. Those in the tree come later and win.
    fn gather_detached_anchors(&mut self, root: OccurrenceId, indexed: &IndexedDocument, anchors: &mut Anchors) {
        let in_tree: HashSet<&SmolStr> = indexed.entries().iter().filter_map(IndexEntry::anchor).collect();
        for (name, node) in indexed.document.anchors.iter().filter(|(name, _)| !in_tree.contains(name)) {
            let occurrence = self.arena.detach(root, node.clone());
            anchors.insert(name.clone(), occurrence);
        }
    }

    /// The last value of a file that has this anchor or name.
    pub(in crate::directive) fn anchor_in_file(&mut self, root: OccurrenceId, anchor: &str) -> Option<OccurrenceId> {
        let indexed = Arc::clone(&self.arena.file(self.arena.get(root).file).indexed);
        let named = indexed.entries().iter().rev().find(|entry| match &entry.kind {
            IndexEntryKind::Anchor(name) | IndexEntryKind::Name(name) => name == anchor,
            IndexEntryKind::Include => false,
        });
        if let Some(entry) = named {
            return self.arena.descend(root, &entry.path);
        }
        let detached = indexed.document.anchors.iter().rev().find(|(name, _)| name == anchor);
        detached.map(|(_, node)| self.arena.detach(root, node.clone()))
    }
}
