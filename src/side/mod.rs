//! One side of a comparison, or the one revision that a command looks at: a snapshot, how it is read, and caches of everything
//! that was asked about it.
//!
//! A [`Side`] reads files on demand, expands their directives, and answers what a resource is in effect. Each answer is computed
//! once.

mod defaults;
mod elsewhere;
mod evaluate;
mod expressions;
mod find;
mod given;
mod infer;
mod kustomization;
mod layers;
mod names;
mod neighbours;
mod openapi;
mod patching;
mod render;
mod requests;
mod secrecy;
mod selection;
mod selectors;
mod stages;
mod survey;
mod tree;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock};

use crate::directive::{self, Includes};
use crate::expression::eval::Payload;
use crate::finding::Outcome;
use crate::layout::kustomize::KustomizeUses;
use crate::layout::{Files, LAYOUTS, Layout, Roles, TreeFacts, Units};
use crate::memo::Memo;
use crate::metadata::LayerTrees;
use crate::metadata::openapi::ApiDocument;
use crate::patch::PatchFiles;
use crate::path::{LogicalPath, RepoPath};
use crate::request;
use crate::resource::{Identity, Parsed};
use crate::secrets::{DeclaredElsewhere, MovedSecrets, Origins, Secrets};
use crate::settings::{Given, PlaceRule};
use crate::snapshot::Entry;
use crate::text::{SourceText, Span};
use crate::value::Node;

pub use crate::layout::{FileContent, Opened};
pub use evaluate::{EvalQuestion, Evaluated, NoStart};
pub use expressions::SideTree;
pub use find::{ResourceHit, ResourceQuery};
use given::Givers;
pub use kustomization::RenderedKustomization;
use names::Names;
use openapi::Documents;
pub use patching::{PatchInput, PatchedDocuments};
pub use render::{RenderSummary, RenderedResource, RenderedStage, Rendering};
pub use requests::{RenderedRequest, RenderedRequests, RequestSubject, WantedRequests};
use secrecy::Includers;
pub use selection::{ResourceName, ResourceSelection};
pub use stages::{Effective, Stage};
pub use survey::Survey;
use tree::{Folder, Written};

/// One snapshot with everything that is known about it.
pub struct Side<'a> {
    given: Given<'a>,
    units: Units<'a>,
    layers: Arc<LayerTrees<'a>>,
    secrets: Arc<Secrets<'a>>,
    caches: Caches,
    /// Whether it is not compared with another one.
    is_alone: bool,
    /// The sides that it replaces, which may have had other secrets.
    older: Vec<Side<'a>>,
}

/// Answers that were computed before.
struct Caches {
    /// Whether the snapshot holds documents of Unfurl.
    holds_unfurl: OnceLock<bool>,
    /// Files whose resources have defaults below them.
    based: Memo<RepoPath, Arc<FileContent>>,
    folders: Memo<RepoPath, Arc<Folder>>,
    written: Memo<RepoPath, Arc<Written>>,
    children: Memo<LogicalPath, Arc<[LogicalPath]>>,
    names_of_places: OnceLock<Names>,
    names_of_all: OnceLock<Names>,
    /// Directory entries that were looked at to find resources.
    entries: AtomicU64,
    is_unlisted: AtomicBool,
    /// What expressions see of other resources.
    seen: Memo<LogicalPath, Payload>,
    /// Secret places by the files that have them.
    declared_in: Memo<RepoPath, Arc<Origins>>,
    taken_from: Memo<RepoPath, Arc<Origins>>,
    includers: OnceLock<Includers>,
    /// Whether files are the same on the sides that this one replaces, by their positions.
    same_before: Memo<(usize, RepoPath), bool>,
    /// Whether files have resources with secrets.
    secretive: Memo<RepoPath, bool>,
    /// Which files say what tools put into Secrets, and what they take from each file.
    givers: OnceLock<Givers>,
    given_from: Memo<RepoPath, Arc<Origins>>,
    known_kustomize_uses: OnceLock<BTreeMap<RepoPath, KustomizeUses>>,
    kustomize_uses: Memo<RepoPath, Arc<KustomizeUses>>,
    kustomize_uses_near: Memo<RepoPath, Arc<KustomizeUses>>,
    all_kustomize_uses: OnceLock<KustomizeUses>,
    moved: OnceLock<Vec<MovedSecrets>>,
    patch_files: BTreeMap<RepoPath, PatchFiles>,
    effective: Memo<(RepoPath, usize, Identity), Arc<Effective>>,
    /// What requests see of other resources.
    shown: Memo<LogicalPath, Option<Node>>,
    requests: request::CompiledTemplates,
    /// All units, for commands that name one.
    unit_table: OnceLock<TreeFacts>,
    /// The units that read kustomizations with replacements.
    replacing_units: OnceLock<TreeFacts>,
    openapi: OnceLock<Outcome<Option<Arc<ApiDocument>>>>,
    /// OpenAPI documents by the ids of their files; both sides of a comparison share them.
    documents: Arc<Documents>,
}

impl<'a> Side<'a> {
    /// A snapshot on its own, with the secret rules of its own settings and of the snapshots that it replaces; with `reveal`, secrets
    /// are shown.
    pub fn new(given: Given<'a>, older: &[Given<'a>], reveal: bool) -> Self {
        let side = Layered::new(given, LAYOUTS);
        let others: Vec<Layered<'a>> = older.iter().map(|older| Layered::new(*older, LAYOUTS)).collect();
        let rules = older.iter().flat_map(|older| &older.settings.secrets).chain(&given.settings.secrets);
        let is_unknown = older.iter().chain([&given]).any(|given| given.settings.may_miss_secrets);
        let secrets = Secrets::new(rules, vec![Arc::clone(&side.layers)], reveal)
            .declared_by(others.iter().map(|other| Arc::clone(&other.layers)).collect())
            .withholding_all(is_unknown);
        let documents = Arc::<Documents>::default();
        Self { is_alone: true, ..side.hiding(Arc::new(secrets), documents) }.replacing(others)
    }

    /// This side, which replaces these snapshots: what was secret there stays hidden.
    #[must_use]
    pub fn in_place_of(self, older: &[Given<'a>], layouts: &'a [&'a dyn Layout]) -> Self {
        self.replacing(older.iter().map(|older| Layered::new(*older, layouts)).collect())
    }

    fn replacing(self, others: Vec<Layered<'a>>) -> Self {
        let older = others.into_iter().map(|other| {
            let side = other.hiding(Arc::clone(&self.secrets), Arc::clone(&self.caches.documents));
            Self { is_alone: true, ..side }
        });
        Self { older: older.collect(), ..self }
    }

    /// Both sides of a comparison. Each hides what either of them, or a layer of the `others`, declares as secret, and what is
    /// known `elsewhere` about files that are seen alone.
    pub fn pair<'r>(
        [before, after]: [Given<'a>; 2],
        others: &[Given<'a>],
        elsewhere: DeclaredElsewhere,
        layouts: &'a [&'a dyn Layout],
        rules: impl IntoIterator<Item = &'r PlaceRule>,
        reveal: bool,
    ) -> [Self; 2] {
        let others = others.iter().map(|given| Layered::new(*given, layouts).layers).collect();
        let is_unknown = before.settings.may_miss_secrets || after.settings.may_miss_secrets;
        let (before, after) = (Layered::new(before, layouts), Layered::new(after, layouts));
        let layers = vec![Arc::clone(&before.layers), Arc::clone(&after.layers)];
        let secrets = Secrets::new(rules, layers, reveal).declared_by(others).known_elsewhere(elsewhere);
        let secrets = Arc::new(secrets.withholding_all(is_unknown));
        let documents = Arc::<Documents>::default();
        [before.hiding(Arc::clone(&secrets), Arc::clone(&documents)), after.hiding(secrets, documents)]
    }

    /// What is hidden, on this side and on the one it is compared with.
    pub fn secrets(&self) -> &Secrets<'a> {
        &self.secrets
    }

    /// A place for values that no file contains.
    pub fn nowhere(&self) -> Span {
        let source = self.sources.add(SourceText::new(RepoPath::root(), self.snapshot.label(), ""));
        Span::new(source, 0, 0)
    }

    /// What files are, by their place.
    pub fn roles(&self) -> &Roles<'a> {
        self.files().roles()
    }

    /// The files, as layouts read them.
    pub fn files(&self) -> &Files<'a> {
        self.units.files()
    }

    /// The units that layouts render as a whole.
    pub fn units(&self) -> &Units<'a> {
        &self.units
    }

    /// What the file at a path holds; nothing if there is none. It is read once.
    pub fn file(&self, path: &RepoPath) -> Arc<FileContent> {
        let content = self.files().file(path);
        if !self.is_based(&content) {
            return content;
        }
        self.caches.based.get(path, || Arc::new(self.based(FileContent::clone(&content))))
    }

    /// What expanding a document of this side needs.
    pub fn directives(&self) -> directive::Context<'_> {
        self.files().directives()
    }

    /// The bytes of an entry.
    pub fn open(&self, entry: Option<Entry>) -> Opened {
        self.files().open(entry)
    }

    /// The resources of a file that is parsed already.
    pub fn content(&self, path: &RepoPath, parsed: &Parsed) -> FileContent {
        let content = self.files().content(path, parsed);
        if self.is_based(&content) { self.based(content) } else { content }
    }
}

/// A side is read like what it is made of: `side.snapshot`, `side.settings`, `side.sources`, `side.limits`.
impl<'a> Deref for Side<'a> {
    type Target = Given<'a>;

    fn deref(&self) -> &Given<'a> {
        &self.given
    }
}

/// A snapshot whose layers can be asked, so that all sides together can say what is secret.
struct Layered<'a> {
    given: Given<'a>,
    layouts: &'a [&'a dyn Layout],
    includes: Arc<Includes>,
    layers: Arc<LayerTrees<'a>>,
}

impl<'a> Layered<'a> {
    fn new(given: Given<'a>, layouts: &'a [&'a dyn Layout]) -> Self {
        let includes = Arc::new(Includes::default());
        let layers = Arc::new(LayerTrees::new(given, &includes));
        Self { given, layouts, includes, layers }
    }

    fn hiding(self, secrets: Arc<Secrets<'a>>, documents: Arc<Documents>) -> Side<'a> {
        let Self { given, layouts, includes, layers } = self;
        Side {
            given,
            units: Units::new(Files::new(given, includes, layouts)),
            layers,
            secrets,
            caches: Caches::new(given, documents),
            is_alone: false,
            older: Vec::new(),
        }
    }
}

impl Caches {
    fn new(given: Given<'_>, documents: Arc<Documents>) -> Self {
        let patch_files =
            given.settings.layer_roots().paths().map(|base| (base.clone(), PatchFiles::default())).collect();
        Self {
            holds_unfurl: OnceLock::new(),
            based: Memo::default(),
            folders: Memo::default(),
            written: Memo::default(),
            children: Memo::default(),
            names_of_places: OnceLock::new(),
            names_of_all: OnceLock::new(),
            entries: AtomicU64::new(0),
            is_unlisted: AtomicBool::new(false),
            seen: Memo::default(),
            declared_in: Memo::default(),
            taken_from: Memo::default(),
            includers: OnceLock::new(),
            same_before: Memo::default(),
            secretive: Memo::default(),
            givers: OnceLock::new(),
            given_from: Memo::default(),
            known_kustomize_uses: OnceLock::new(),
            kustomize_uses: Memo::default(),
            kustomize_uses_near: Memo::default(),
            all_kustomize_uses: OnceLock::new(),
            moved: OnceLock::new(),
            patch_files,
            effective: Memo::default(),
            shown: Memo::default(),
            requests: request::CompiledTemplates::within(given.limits),
            unit_table: OnceLock::new(),
            replacing_units: OnceLock::new(),
            openapi: OnceLock::new(),
            documents,
        }
    }
}

#[cfg(test)]
mod tests;
