//! The layers of one snapshot: finds those that apply to a path, and reads each directory and file once, on demand.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use smol_str::SmolStr;

use super::directory::{Directory, Likeness};
use super::effective::{EffectiveMetadata, Layer, LayerOrigin};
use super::load::PatchDocument;
use super::selector::{MetadataPath, WILDCARD};
use super::statement::Statements;
use crate::document::Document;
use crate::finding::{self, Finding, Location, Outcome, has_errors};
use crate::glob::is_glob;
use crate::limits::Limits;
use crate::memo::Memo;
use crate::path::{LogicalPath, RepoPath};
use crate::snapshot::{EntryKind, Snapshot};
use crate::text::{SourceText, Sources, Span};
use crate::value::Node;

/// Expands the merge directives of a document before its metadata is read.
pub type Expand<'a> = dyn Fn(&Document, &RepoPath) -> Outcome<Node> + Send + Sync + 'a;

/// All layers below one root of one snapshot. Shared between threads; everything is read at most once.
pub struct Layers<'a> {
    pub(super) snapshot: &'a dyn Snapshot,
    pub(super) base: RepoPath,
    pub(super) sources: &'a Sources,
    pub(super) limits: &'a Limits,
    pub(super) expand: Option<Box<Expand<'a>>>,
    pub(super) nowhere: Span,
    numbers: AtomicU32,
    directories: Memo<RepoPath, Arc<Directory>>,
    files: Memo<RepoPath, Option<Arc<Layer>>>,
    patch_files: Memo<RepoPath, Option<Arc<PatchDocument>>>,
    trails: Memo<LogicalPath, Arc<Trail>>,
    merged: Memo<(u32, u32), Arc<MergedLayers>>,
    leaves: Memo<LogicalPath, Arc<Leaf>>,
}

/// A path followed down to some segment: the directories that match it, and their layers merged so far.
struct Trail {
    candidates: Vec<Arc<Directory>>,
    state: Arc<MergedLayers>,
    /// The directories above whose patches apply to everything below, in the order they apply.
    patched: Vec<Arc<Directory>>,
}

/// The metadata and patches that apply to one path.
struct Leaf {
    metadata: Arc<EffectiveMetadata>,
    patches: Vec<Arc<PatchDocument>>,
}

/// Merged layers with a number, so that the same layers are merged once.
struct MergedLayers {
    number: u32,
    metadata: Arc<EffectiveMetadata>,
}

/// The merged metadata of all layers that apply to a path.
///
/// The value is what could be understood; a layer with an error makes it incomplete.
pub fn resolve(path: &LogicalPath, layers: &Layers<'_>) -> Outcome<Arc<EffectiveMetadata>> {
    if path.segments().any(|segment| segment == WILDCARD || is_glob(segment)) {
        return layers.refuse(path);
    }
    Layers::outcome(layers.follow(path))
}

/// The metadata of a selector with everything it surely inherits: the metadata of a path that it matches and nothing more
/// specific does. For a selector without wildcards this is the metadata of that path.
pub fn resolve_selector(path: &MetadataPath, layers: &Layers<'_>) -> Outcome<Arc<EffectiveMetadata>> {
    if let Some(path) = path.to_logical() {
        return resolve(&path, layers);
    }
    let mut trail = layers.trail(&LogicalPath::root());
    for segment in path.segments() {
        let is_pattern = segment == WILDCARD || is_glob(segment);
        trail = Arc::new(if is_pattern {
            let own = |parent: &Directory| -> Vec<(Likeness, RepoPath)> {
                let own = parent.globs.iter().filter(|glob| *glob == segment).map(SmolStr::as_str);
                let any = parent.has_wildcard.then_some(WILDCARD);
                parent.children(Likeness::Wildcard, any.into_iter().chain(own)).collect()
            };
            let found = trail.candidates.iter().flat_map(|parent| own(parent)).collect();
            layers.follow_all(&trail, found, Arc::new)
        } else {
            layers.step(&trail, segment, Arc::new)
        });
    }
    Layers::outcome(Arc::clone(&trail.state.metadata))
}

impl<'a> Layers<'a> {
    /// The layers below `base` of a snapshot. Texts are kept in `sources` for findings to show.
    pub fn new(snapshot: &'a dyn Snapshot, base: RepoPath, sources: &'a Sources, limits: &'a Limits) -> Self {
        let nowhere = sources.add(SourceText::new(base.clone(), snapshot.label(), ""));
        Self {
            snapshot,
            base,
            sources,
            limits,
            expand: None,
            nowhere: Span::new(nowhere, 0, 0),
            numbers: AtomicU32::new(1),
            directories: Memo::default(),
            files: Memo::default(),
            patch_files: Memo::default(),
            trails: Memo::default(),
            merged: Memo::default(),
            leaves: Memo::default(),
        }
    }

    /// These layers with documents expanded before they are read.
    #[must_use]
    pub fn expanding(mut self, expand: Box<Expand<'a>>) -> Self {
        self.expand = Some(expand);
        self
    }

    /// The directory that all layers are below.
    pub fn base(&self) -> &RepoPath {
        &self.base
    }

    fn outcome(metadata: Arc<EffectiveMetadata>) -> Outcome<Arc<EffectiveMetadata>> {
        let findings = metadata.layers().iter().flat_map(|layer| layer.statements.findings.iter().cloned()).collect();
        Outcome { value: metadata, findings }
    }

    fn refuse(&self, path: &LogicalPath) -> Outcome<Arc<EffectiveMetadata>> {
        let at = path.directory_below(&self.base).unwrap_or_default();
        let location = Location::File { path: at, revision: self.snapshot.label().into() };
        let message = format!("{path} has no metadata, because `_` and globs in a path match other paths");
        let finding = Finding::new(&finding::METADATA_PATH, location, message)
            .help("rename the directory; `*`, `?` and `[` are for selectors of metadata");
        let trouble = self.trouble(&self.base, vec![finding.clone()], false);
        let value = EffectiveMetadata::empty(self.nowhere).under(&trouble);
        Outcome { value: Arc::new(value), findings: vec![finding] }
    }

    /// The patch files that apply to a path, in order: found like layers, the resource's own last.
    pub fn patch_documents(&self, path: &LogicalPath) -> Vec<Arc<PatchDocument>> {
        if path.segments().any(|segment| segment == WILDCARD || is_glob(segment)) {
            return Vec::new();
        }
        self.leaf(path).patches.clone()
    }

    /// The patch file in a directory.
    pub fn patches_at(&self, directory: &RepoPath) -> Option<Arc<PatchDocument>> {
        self.read_patches(&[self.directory(directory)]).pop()
    }

    fn read_patches(&self, directories: &[Arc<Directory>]) -> Vec<Arc<PatchDocument>> {
        let directories = directories.iter().filter(|directory| !directory.patches.is_empty());
        let read = |directory: &Arc<Directory>| {
            self.patch_files.get(&directory.path, || self.load_patches(directory).map(Arc::new))
        };
        directories.filter_map(read).collect()
    }

    fn follow(&self, path: &LogicalPath) -> Arc<EffectiveMetadata> {
        Arc::clone(&self.leaf(path).metadata)
    }

    /// The documents that apply to a path: collections first, from the root down; the resource's own documents last. Found once, because
    /// several stages ask.
    fn leaf(&self, path: &LogicalPath) -> Arc<Leaf> {
        self.leaves.get(path, || {
            let Some(parent) = path.parent() else {
                let trail = self.trail(path);
                let metadata = Arc::clone(&trail.state.metadata);
                return Arc::new(Leaf { metadata, patches: self.read_patches(&trail.patched) });
            };
            let trail = self.step(&self.trail(&parent), path.last().unwrap_or_default(), Arc::new);
            let own = path.directory_below(&self.base).ok();
            let own = trail.candidates.iter().find(|candidate| Some(&candidate.path) == own.as_ref());
            let metadata = match own.and_then(|directory| self.layer_in(directory)) {
                Some(layer) => Arc::new(trail.state.metadata.under(&layer)),
                None => Arc::clone(&trail.state.metadata),
            };
            let directories: Vec<Arc<Directory>> = trail.patched.iter().chain(own).cloned().collect();
            Arc::new(Leaf { metadata, patches: self.read_patches(&directories) })
        })
    }

    /// The path to a collection, cached because all of its resources share it. Where it ends early, nothing can be below.
    fn trail(&self, path: &LogicalPath) -> Arc<Trail> {
        if let Some(trail) = self.trails.known(path) {
            return trail;
        }
        let mut prefix = LogicalPath::root();
        let mut trail = self.trails.get(&prefix, || {
            let root = self.directory(&self.base);
            let start =
                Arc::new(MergedLayers { number: 0, metadata: Arc::new(EffectiveMetadata::empty(self.nowhere)) });
            let state = self.apply_collection(start, &root);
            let patched = self.collection_patches(&root).into_iter().collect();
            Arc::new(Trail { candidates: vec![root], state, patched })
        });
        for segment in path.segments() {
            if trail.candidates.is_empty() {
                break;
            }
            prefix = prefix.child(segment);
            let remember = |directory: Directory| {
                let path = directory.path.clone();
                self.directories.get(&path, || Arc::new(directory))
            };
            trail = self.trails.get(&prefix, || Arc::new(self.step(&trail, segment, remember)));
        }
        trail
    }

    /// Follows one more segment, into every directory that matches it.
    fn step(&self, trail: &Trail, segment: &str, keep: impl Fn(Directory) -> Arc<Directory>) -> Trail {
        let mut found: Vec<(Likeness, RepoPath)> = Vec::new();
        for parent in &trail.candidates {
            found.extend(parent.children(Likeness::Wildcard, parent.patterns_for(segment)));
            let literal = parent.children(Likeness::Literal, [segment].into_iter());
            found.extend(literal.filter(|(_, path)| self.is_directory(path)));
        }
        self.follow_all(trail, found, keep)
    }

    /// Takes these directories into a trail: wildcards before literal names, each in byte order of the whole selector.
    fn follow_all(
        &self,
        trail: &Trail,
        mut found: Vec<(Likeness, RepoPath)>,
        keep: impl Fn(Directory) -> Arc<Directory>,
    ) -> Trail {
        found.sort_unstable();
        let mut state = Arc::clone(&trail.state);
        let mut patched = trail.patched.clone();
        let mut candidates = Vec::with_capacity(found.len());
        for (likeness, path) in found {
            let directory = match likeness {
                Likeness::Wildcard => self.directory(&path),
                Likeness::Literal => keep(Directory::list(self.snapshot, &path)),
            };
            state = self.apply_collection(state, &directory);
            patched.extend(self.collection_patches(&directory));
            candidates.push(directory);
        }
        Trail { candidates, state, patched }
    }

    /// What cannot be looked up is listed, so that listing says why.
    fn is_directory(&self, path: &RepoPath) -> bool {
        match self.snapshot.entry(path) {
            Ok(entry) => entry.is_some_and(|entry| entry.kind == EntryKind::Directory),
            Err(_) => true,
        }
    }

    fn apply_collection(&self, mut state: Arc<MergedLayers>, directory: &Directory) -> Arc<MergedLayers> {
        if !directory.findings.is_empty() {
            let trouble = self.trouble(&directory.path, directory.findings.clone(), has_errors(&directory.findings));
            state = self.apply(&state, &trouble);
        }
        match self.collection_layer(directory) {
            Some(layer) => self.apply(&state, &layer),
            None => state,
        }
    }

    fn apply(&self, state: &MergedLayers, layer: &Arc<Layer>) -> Arc<MergedLayers> {
        self.merged.get(&(state.number, layer.number), || {
            Arc::new(MergedLayers { number: self.number(), metadata: Arc::new(state.metadata.under(layer)) })
        })
    }

    /// The directory with the patches that a directory, as a selector, has for its collection.
    fn collection_patches(&self, directory: &Directory) -> Option<Arc<Directory>> {
        let marker = directory.path.join(WILDCARD.as_bytes()).ok().filter(|_| directory.has_wildcard)?;
        Some(self.directory(&marker)).filter(|marker| !marker.patches.is_empty())
    }

    /// The document that a directory, as a selector, has for its collection.
    pub(super) fn collection_layer(&self, directory: &Directory) -> Option<Arc<Layer>> {
        let marker = directory.path.join(WILDCARD.as_bytes()).ok().filter(|_| directory.has_wildcard)?;
        self.layer_in(&self.directory(&marker))
    }

    /// The document in a directory.
    pub(super) fn layer_in(&self, directory: &Directory) -> Option<Arc<Layer>> {
        if directory.metadata.is_empty() {
            return None;
        }
        self.files.get(&directory.path, || self.load(directory).map(Arc::new))
    }

    pub(super) fn directory(&self, path: &RepoPath) -> Arc<Directory> {
        self.directories.get(path, || Arc::new(Directory::list(self.snapshot, path)))
    }

    /// The layer whose document is in a directory.
    pub fn layer_at(&self, directory: &RepoPath) -> Option<Arc<Layer>> {
        self.layer_in(&self.directory(directory))
    }

    /// The selector of the metadata in a directory.
    pub fn selector_of(&self, directory: &RepoPath) -> Option<MetadataPath> {
        MetadataPath::of_directory(&directory.below(&self.base)?)
    }

    /// An empty layer that carries findings about a place where no layer could be read.
    fn trouble(&self, directory: &RepoPath, findings: Vec<Finding>, may_miss_secrets: bool) -> Arc<Layer> {
        let statements = Statements { findings, may_miss_secrets, ..Statements::default() };
        let origin = LayerOrigin::Directory(directory.clone());
        Arc::new(Layer { origin, statements, span: self.nowhere, number: self.number() })
    }

    pub(super) fn number(&self) -> u32 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn label(&self) -> SmolStr {
        self.snapshot.label().into()
    }
}
