//! Adds included files to the arena and collects the anchors of a document and its includes.

use std::collections::HashSet;
use std::sync::Arc;

use smol_str::SmolStr;

use super::load::{self, IncludeRequest, Loaded};
use super::repository::{self, Place};
use crate::directive::Read;
use crate::directive::arena::{DirectiveId, OccurrenceId, Occurrences};
use crate::directive::engine::Engine;
use crate::directive::index::{IndexEntry, IndexEntryKind, IndexedDocument};
use crate::directive::problem::Problem;
use crate::directive::target::{Anchors, Inclusion};
use crate::directive::unfurl::{self, Elsewhere};
use crate::path::RepoPath;

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
        let request = load::request(&it.value).map_err(Problem::InvalidInclude)?;
        let is_optional = it.reference.as_ref().is_some_and(|reference| reference.is_optional);
        let from = self.place_of(directive, &request)?;
        let IncludeRequest { name, fragment, is_raw, .. } = request;
        let file = self.arena.file(self.arena.get(self.arena.directive(directive).occurrence).file);
        let path = match &from {
            Some(directory) => load::resolve_in(directory, &name),
            None => load::resolve(&file.path, &name),
        };
        let path = path.map_err(Problem::Refused)?;
        if name.ends_with(".py") {
            // The program runs it; only whether an optional one is there can be seen.
            let is_absent = || matches!(self.context.snapshot.entry(&path), Ok(None));
            if is_optional && is_absent() {
                self.reads.insert(path, Read::Absent);
                return Ok(Inclusion::Absent);
            }
            return Err(Problem::Elsewhere(Elsewhere::Python, name.into()));
        }
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

    /// The directory in which the file of an include is looked for, if it is not that of the includer; or why it is not looked for.
    fn place_of(&mut self, directive: DirectiveId, request: &IncludeRequest) -> Result<Option<RepoPath>, Problem> {
        let is_unfurl = self.is_unfurl();
        let depends = load::is_url(&request.name) || request.name.contains("${");
        if is_unfurl && (request.condition.is_some() || depends) {
            return Err(Problem::Elsewhere(Elsewhere::Environment, request.name.as_str().into()));
        }
        if let Some(error) = &request.condition {
            return Err(Problem::InvalidInclude(error.clone()));
        }
        let Some(repository) = &request.repository else { return Ok(None) };
        let occurrence = self.arena.directive(directive).occurrence;
        let written = Arc::clone(&self.arena.file(self.arena.get(occurrence).file).indexed);
        let main = self.arena.file(self.arena.get(Occurrences::ROOT).file);
        let (outermost, path) = (Arc::clone(&main.indexed), main.path.clone());
        let mut asked = Vec::new();
        let documents = [&outermost.document.root, &written.document.root];
        let place = repository::place(repository, &path, documents, self.context, &mut asked);
        for path in asked {
            let entry = self.context.snapshot.entry(&path).ok().flatten();
            let read = entry.map_or(Read::Absent, |entry| Read::Present(entry.id));
            self.reads.entry(path).or_insert(read);
        }
        match place {
            Place::Directory(directory) => Ok(Some(directory)),
            Place::Elsewhere => Err(Problem::Elsewhere(Elsewhere::Repository, repository.clone())),
        }
    }

    /// Whether the document is one of Unfurl.
    fn is_unfurl(&self) -> bool {
        let main = self.arena.file(self.arena.get(Occurrences::ROOT).file);
        let is_known = || unfurl::unfurl_role(&main.indexed.document.root, &main.path).is_some();
        self.context.unfurl && (self.context.is_unfurl || is_known())
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
