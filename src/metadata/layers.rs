//! The layers of one snapshot: finds those that apply to a path, and reads each directory and file once, on demand.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use smol_str::SmolStr;

use super::directory::{Directory, Likeness, is_metadata_file};
use super::effective::{EffectiveMetadata, Layer, LayerOrigin};
use super::field::DocumentForm;
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
    /// The source of weaker layers, such as a bundle: it is layered on its own, and everything here is laid over it.
    weaker: Option<Box<Layers<'a>>>,
    numbers: AtomicU32,
    has_new_form: OnceLock<bool>,
    directories: Memo<RepoPath, Arc<Directory>>,
    files: Memo<RepoPath, Option<Arc<Layer>>>,
    patch_files: Memo<RepoPath, Option<Arc<PatchDocument>>>,
    trails: Memo<LogicalPath, Arc<Trail>>,
    merged: Memo<(u32, u32), Arc<MergedLayers>>,
    leaves: Memo<(LogicalPath, bool), Arc<Leaf>>,
}

/// A path followed down to some segment: the directories that match it, and their layers merged so far.
struct Trail {
    candidates: Vec<Arc<Directory>>,
    /// The layers of this path and above that apply to everything below.
    state: Arc<MergedLayers>,
    /// The layers that apply to this collection and its items: those above that apply to everything below, and all of its own.
    here: Arc<MergedLayers>,
    /// The layers of the directories of this path, in the order they apply.
    own: Vec<Arc<Layer>>,
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
    if is_pattern(path) {
        return layers.refuse(path);
    }
    Layers::outcome(layers.follow(path))
}

/// The merged metadata of all layers that apply to a path, without what is wrong with them.
pub(super) fn resolved(path: &LogicalPath, layers: &Layers<'_>) -> Arc<EffectiveMetadata> {
    if is_pattern(path) { layers.refuse(path).value } else { layers.follow(path) }
}

/// Whether a path has a segment that matches others. Asked for every resource, so the letters are looked at first.
fn is_pattern(path: &LogicalPath) -> bool {
    path.as_str().bytes().any(|byte| matches!(byte, b'_' | b'*' | b'?' | b'['))
        && path.segments().any(|segment| segment == WILDCARD || is_glob(segment))
}

/// The merged metadata of all layers that apply to a collection.
pub fn resolve_collection(path: &LogicalPath, layers: &Layers<'_>) -> Outcome<Arc<EffectiveMetadata>> {
    if is_pattern(path) {
        return layers.refuse(path);
    }
    Layers::outcome(Arc::clone(&layers.leaf(path, true).metadata))
}

/// The metadata of a selector with everything it surely inherits: the metadata of a path that it matches and nothing more
/// specific does. For a selector without wildcards this is the metadata of that path.
pub fn resolve_selector(path: &MetadataPath, layers: &Layers<'_>) -> Outcome<Arc<EffectiveMetadata>> {
    match path.to_logical() {
        Some(logical) if path.is_collection() => resolve_collection(&logical, layers),
        Some(logical) => resolve(&logical, layers),
        None => Layers::outcome(layers.selected(path, Matching::Wildcards)),
    }
}

/// The metadata of a selector by its own text: `_` and globs match the directories of that name alone.
pub fn resolve_text(path: &MetadataPath, layers: &Layers<'_>) -> Outcome<Arc<EffectiveMetadata>> {
    match path.to_logical() {
        Some(_) => resolve_selector(path, layers),
        None => Layers::outcome(layers.selected(path, Matching::Text)),
    }
}

/// What a pattern in a selector matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Matching {
    /// A directory of its name, and `_`.
    Wildcards,
    /// A directory of its name.
    Text,
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
            weaker: None,
            has_new_form: OnceLock::new(),
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

    /// These layers over those of a weaker source.
    #[must_use]
    pub fn over(mut self, weaker: Layers<'a>) -> Self {
        self.weaker = Some(Box::new(weaker));
        self
    }

    /// The weaker source that these layers are laid over.
    pub fn weaker(&self) -> Option<&Layers<'a>> {
        self.weaker.as_deref()
    }

    /// The directory that all layers are below.
    pub fn base(&self) -> &RepoPath {
        &self.base
    }

    fn outcome(metadata: Arc<EffectiveMetadata>) -> Outcome<Arc<EffectiveMetadata>> {
        Outcome { findings: metadata.findings(), value: metadata }
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
        if is_pattern(path) {
            return Vec::new();
        }
        self.leaf(path, false).patches.clone()
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
        Arc::clone(&self.leaf(path, false).metadata)
    }

    /// The documents that apply to a path: collections first, from the root down; the resource's own documents last. Found once, because
    /// several stages ask. As a collection, a path does not count among the items of the collection above.
    fn leaf(&self, path: &LogicalPath, is_collection: bool) -> Arc<Leaf> {
        self.leaves.get(&(path.clone(), is_collection), || {
            let Some(parent) = path.parent() else {
                let trail = self.trail(path);
                let metadata = self.over_weaker(path, is_collection, Arc::clone(&trail.state.metadata));
                return Arc::new(Leaf { metadata, patches: self.read_patches(&trail.patched) });
            };
            let above = self.trail(&parent);
            let trail = self.step(&above, path.last().unwrap_or_default(), Arc::new);
            let own = path.directory_below(&self.base).ok();
            let own = trail.candidates.iter().find(|candidate| Some(&candidate.path) == own.as_ref());
            let state = if is_collection {
                Arc::clone(&trail.here)
            } else {
                trail.own.iter().fold(Arc::clone(&above.here), |state, layer| self.apply(&state, layer))
            };
            let metadata = match own.and_then(|directory| self.layer_in(directory)) {
                Some(layer) => Arc::new(state.metadata.under(&layer)),
                None => Arc::clone(&state.metadata),
            };
            let metadata = self.over_weaker(path, is_collection, metadata);
            let directories: Vec<Arc<Directory>> = trail.patched.iter().chain(own).cloned().collect();
            Arc::new(Leaf { metadata, patches: self.read_patches(&directories) })
        })
    }

    /// The metadata of this source over that of the weaker one, if there is one.
    fn over_weaker(
        &self,
        path: &LogicalPath,
        is_collection: bool,
        metadata: Arc<EffectiveMetadata>,
    ) -> Arc<EffectiveMetadata> {
        match &self.weaker {
            None => metadata,
            Some(weaker) => {
                let below = (*weaker.leaf(path, is_collection).metadata).clone();
                Arc::new(metadata.layers().iter().fold(below, |merged, layer| merged.under(layer)))
            }
        }
    }

    /// The metadata of a selector with patterns.
    fn selected(&self, path: &MetadataPath, matching: Matching) -> Arc<EffectiveMetadata> {
        let mut trail = self.trail(&LogicalPath::root());
        for segment in path.segments() {
            let is_pattern = segment == WILDCARD || is_glob(segment);
            trail = Arc::new(if is_pattern {
                let own = |parent: &Directory| -> Vec<(Likeness, RepoPath)> {
                    let own = parent.globs.iter().filter(|glob| *glob == segment).map(SmolStr::as_str);
                    let is_any = segment == WILDCARD || matching == Matching::Wildcards;
                    let any = (parent.has_wildcard && is_any).then_some(WILDCARD);
                    parent.children(Likeness::Wildcard, any.into_iter().chain(own)).collect()
                };
                let found = trail.candidates.iter().flat_map(|parent| own(parent)).collect();
                self.follow_all(&trail, found, Arc::new)
            } else if matching == Matching::Text {
                let literal = |parent: &Arc<Directory>| -> Vec<(Likeness, RepoPath)> {
                    let found = parent.children(Likeness::Literal, [segment.as_str()].into_iter());
                    found.filter(|(_, path)| self.is_directory(path)).collect()
                };
                let found = trail.candidates.iter().flat_map(literal).collect();
                self.follow_all(&trail, found, Arc::new)
            } else {
                self.step(&trail, segment, Arc::new)
            });
        }
        let metadata = Arc::clone(&trail.here.metadata);
        match &self.weaker {
            None => metadata,
            Some(weaker) => {
                let below = (*weaker.selected(path, matching)).clone();
                Arc::new(metadata.layers().iter().fold(below, |merged, layer| merged.under(layer)))
            }
        }
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
            let own = self.collection_layers(&root);
            // What is stored for the root applies to everything, whatever its form.
            let state = own.iter().fold(start, |state, layer| self.apply(&state, layer));
            let patched = self.collection_patches(&root).into_iter().collect();
            let here = Arc::clone(&state);
            Arc::new(Trail { candidates: vec![root], state, here, own, patched })
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
        let mut patched = trail.patched.clone();
        let mut candidates = Vec::with_capacity(found.len());
        let mut own = Vec::new();
        for (likeness, path) in found {
            let directory = match likeness {
                Likeness::Wildcard => self.directory(&path),
                Likeness::Literal => keep(Directory::list(self.snapshot, &path)),
            };
            own.extend(self.collection_layers(&directory));
            patched.extend(self.collection_patches(&directory));
            candidates.push(directory);
        }
        let here = own.iter().fold(Arc::clone(&trail.state), |state, layer| self.apply(&state, layer));
        let reaching = own.iter().filter(|layer| layer.statements.reaches_below());
        let state = reaching.fold(Arc::clone(&trail.state), |state, layer| self.apply(&state, layer));
        Trail { candidates, state, here, own, patched }
    }

    /// What cannot be looked up is listed, so that listing says why.
    fn is_directory(&self, path: &RepoPath) -> bool {
        match self.snapshot.entry(path) {
            Ok(entry) => entry.is_some_and(|entry| entry.kind == EntryKind::Directory),
            Err(_) => true,
        }
    }

    /// The layers that a directory, as a selector, has for its collection: what is wrong with the directory, then its document.
    fn collection_layers(&self, directory: &Directory) -> Vec<Arc<Layer>> {
        let mut layers = Vec::new();
        if !directory.findings.is_empty() {
            let findings = directory.findings.clone();
            layers.push(self.trouble(&directory.path, findings, has_errors(&directory.findings)));
        }
        layers.extend(self.collection_layer(directory));
        layers
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

    /// Whether some document of this tree has the new form, so that resources without a configured identity are named by `id`.
    pub fn has_new_form(&self) -> bool {
        *self.has_new_form.get_or_init(|| {
            let weaker = self.weaker.as_ref().is_some_and(|weaker| weaker.has_new_form());
            weaker || self.stored().iter().any(|layer| layer.statements.form == Some(DocumentForm::New))
        })
    }

    /// Metadata with its default identity decided, if that depends on the rest of the tree.
    pub fn settled(&self, metadata: &Arc<EffectiveMetadata>) -> Arc<EffectiveMetadata> {
        match metadata.default_identity() {
            Some(_) => Arc::clone(metadata),
            None => Arc::new(metadata.with_default_identity(self.has_new_form())),
        }
    }

    /// Every layer that is stored below the base, in the order of their directories.
    pub fn stored(&self) -> Vec<Arc<Layer>> {
        let mut layers = Vec::new();
        let mut waiting = vec![self.base.clone()];
        let mut seen: u64 = 0;
        while let Some(path) = waiting.pop() {
            let mut has_metadata = false;
            let mut below: Vec<RepoPath> = Vec::new();
            self.snapshot.visit(&path, &mut |member| {
                seen += 1;
                let is_open = member.kind == EntryKind::Directory && member.name != b".git";
                if is_open && path.components().count() < self.limits.directory_depth as usize {
                    below.push(member.path());
                }
                has_metadata |= is_metadata_file(member.name);
            });
            if seen > self.limits.entries {
                break;
            }
            if has_metadata {
                layers.extend(self.layer_at(&path));
            }
            below.sort_unstable_by(|a, b| b.cmp(a));
            waiting.extend(below);
        }
        layers
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
