//! The files of one snapshot, each read once.

use std::sync::Arc;

use super::{Layout, Role, Roles, read_as, resources_in};
use crate::directive::{self, Includes, Read, Reads};
use crate::document::{self, Format};
use crate::finding::{self, Finding, Location, has_errors};
use crate::memo::Memo;
use crate::metadata::{PayloadType, is_kubernetes_document};
use crate::names;
use crate::path::{LogicalPath, RepoPath};
use crate::resource::{Content, Identity, Parsed, ReadAs, Resource, SkipReason, kubernetes_name, parse};
use crate::settings::Given;
use crate::snapshot::{Entry, EntryKind, ObjectId};
use crate::text::{SourceText, Sources, Span};
use crate::value::Node;

/// What a file holds, after its directives and before expressions and patches.
#[derive(Debug, Default, Clone)]
pub struct FileContent {
    /// Its resources, in the order of the file.
    pub resources: Vec<Resource>,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
    /// Why it was not read, if there is a good reason.
    pub skipped: Option<SkipReason>,
    /// What it was taken for.
    pub read_as: Option<ReadAs>,
    /// Documents that were not read because they are the same to the letter on the other side.
    pub same: usize,
    /// Other files that its directives asked for.
    pub reads: Reads,
    /// The files that each document includes, by the position of the document.
    pub includes: Vec<(usize, RepoPath)>,
    /// Whether something in it could not be understood; then it has no resources.
    pub is_broken: bool,
    /// Whether it could not be read at all.
    pub is_unreadable: bool,
    /// Whether a directive in it failed, so that a part of it is missing.
    pub is_incomplete: bool,
}

/// The bytes of a file, or what is known about it without any.
pub enum Opened {
    /// Its content, with its id if it has one.
    Bytes(Arc<[u8]>, Option<ObjectId>),
    /// It has no content that could be parsed.
    Done(FileContent),
}

impl FileContent {
    fn skipped(reason: SkipReason) -> Self {
        Self { skipped: Some(reason), ..Self::default() }
    }

    /// Leaves the file to the units that show it: what it holds by itself is not shown, and a unit that renders has understood it.
    pub fn leave_to_units(&mut self) {
        self.resources.clear();
        self.skipped = None;
        if self.is_broken {
            self.findings.clear();
            (self.is_broken, self.is_unreadable) = (false, false);
        }
    }

    fn unreadable(finding: Finding) -> Self {
        Self { findings: vec![finding], is_broken: true, is_unreadable: true, ..Self::default() }
    }
}

/// The files of one snapshot, as layouts read them.
pub struct Files<'a> {
    given: Given<'a>,
    includes: Arc<Includes>,
    roles: Roles<'a>,
    layouts: &'a [&'a dyn Layout],
    files: Memo<RepoPath, Arc<FileContent>>,
}

impl<'a> Files<'a> {
    /// The files of a snapshot, read by these layouts.
    pub fn new(given: Given<'a>, includes: Arc<Includes>, layouts: &'a [&'a dyn Layout]) -> Self {
        Self { given, includes, roles: Roles::new(given.snapshot, given.settings), layouts, files: Memo::default() }
    }

    /// The files of the snapshot, to be read again, with their texts kept elsewhere.
    pub fn with_sources<'b>(&self, sources: &'b Arc<Sources>) -> Files<'b>
    where
        'a: 'b,
    {
        Files::new(Given { sources, ..self.given }, Arc::default(), self.layouts)
    }

    /// The snapshot and how it is read.
    pub fn given(&self) -> Given<'a> {
        self.given
    }

    /// What files are, by their place.
    pub fn roles(&self) -> &Roles<'a> {
        &self.roles
    }

    /// How files become resources, the most specific layout first.
    pub fn layouts(&self) -> &'a [&'a dyn Layout] {
        self.layouts
    }

    /// The layouts that have units beside files, unless they are switched off.
    pub fn unit_layouts(&self) -> impl Iterator<Item = &'a dyn Layout> {
        let off = &self.given.settings.layouts_off;
        self.layouts.iter().copied().filter(|it| it.has_units() && !off.iter().any(|name| name == it.name()))
    }

    /// Whether some layout has units beside files.
    pub fn has_units(&self) -> bool {
        self.unit_layouts().next().is_some()
    }

    /// What the file at a path holds; nothing if there is none. It is read once.
    pub fn file(&self, path: &RepoPath) -> Arc<FileContent> {
        self.files.get(path, || {
            let opened = match self.given.snapshot.entry(path) {
                Ok(entry) => self.open(entry),
                Err(error) => Opened::Done(FileContent::unreadable(error.into_finding())),
            };
            Arc::new(match opened {
                Opened::Done(content) => content,
                Opened::Bytes(bytes, _) => {
                    let content = Content { bytes: &bytes, path, revision: self.given.snapshot.label() };
                    self.content(path, &parse(content, self.given.sources, self.given.limits))
                }
            })
        })
    }

    /// The bytes of an entry.
    pub fn open(&self, entry: Option<Entry>) -> Opened {
        let Some(entry) = entry else { return Opened::Done(FileContent::default()) };
        let skipped = |reason| Opened::Done(FileContent::skipped(reason));
        match entry.kind {
            EntryKind::File if Format::of_file_name(entry.path.file_name()).is_none() => {
                match self.roles.role(&entry.path) {
                    Role::Resource(logical) => self.raw_resource(&entry, logical),
                    _ => skipped(SkipReason::OtherFormat),
                }
            }
            EntryKind::File => match self.given.snapshot.read(&entry) {
                Ok(bytes) => Opened::Bytes(bytes, entry.id),
                Err(error) => Opened::Done(FileContent::unreadable(error.into_finding())),
            },
            EntryKind::Symlink => skipped(SkipReason::Symlink),
            EntryKind::Submodule => skipped(SkipReason::Submodule),
            EntryKind::Conflict | EntryKind::Directory => Opened::Done(FileContent::unreadable(self.conflict(&entry))),
        }
    }

    /// A resource whose payload is a text, or a text of names and values.
    fn raw_resource(&self, entry: &Entry, logical: LogicalPath) -> Opened {
        let bytes = match self.given.snapshot.read(entry) {
            Ok(bytes) => bytes,
            Err(error) => return Opened::Done(FileContent::unreadable(error.into_finding())),
        };
        let extension = entry.path.stem_and_extension().map_or("", |(_, extension)| extension);
        let kind = PayloadType::of_extension(extension);
        let text = document::decode(&bytes).ok().filter(|_| kind.name != "octet-stream");
        let label = self.given.snapshot.label();
        let shown = text.as_deref().unwrap_or_default();
        let source = self.given.sources.add(SourceText::new(entry.path.clone(), label, shown));
        let whole = Span::new(source, 0, shown.len());
        let payload = match (&text, kind.name) {
            (Some(text), "properties") => document::properties(text, source),
            (Some(text), "ini") => document::ini(text, source),
            (Some(text), _) => Node::text(&**text, whole),
            (None, _) => Node::bytes(&bytes, whole),
        };
        let identity = Identity::Logical(logical);
        let resource = Resource { identity, file: entry.path.clone(), position: 0, payload, unit: None };
        let read_as = Some(ReadAs::Resource);
        Opened::Done(FileContent { resources: vec![resource], read_as, ..FileContent::default() })
    }

    fn conflict(&self, entry: &Entry) -> Finding {
        let location = Location::File { path: entry.path.clone(), revision: self.given.snapshot.label().into() };
        Finding::new(&finding::SOURCE_CONFLICT, location, "unresolved merge conflict in the index")
            .help(format!("resolve it, then run `git add -- {}`", entry.path))
    }

    /// The resources of a file that is parsed already.
    pub fn content(&self, path: &RepoPath, parsed: &Parsed) -> FileContent {
        let is_kubernetes = !parsed.documents.is_empty()
            && parsed.documents.iter().all(|document| kubernetes_name(&document.root).is_some());
        let mut role = self.roles.role_of_content(path, is_kubernetes);
        if role == Role::Layer && parsed.documents.iter().any(|document| is_kubernetes_document(&document.root)) {
            role = Role::Documents;
        }
        if let Some(reason) = parsed.skipped(role.is_ours()) {
            return FileContent::skipped(reason);
        }
        let (mut reads, mut includes) = (Reads::new(), Vec::new());
        let mut is_incomplete = false;
        let expanded = self.expand(path, &role, parsed, &mut is_incomplete, &mut |position, read| {
            let present = read.iter().filter(|(_, read)| **read != Read::Absent);
            includes.extend(present.map(|(file, _)| (position, file.clone())));
            reads.extend(read);
        });
        let parsed = expanded.as_ref().unwrap_or(parsed);
        let resources = if parsed.is_broken { Vec::new() } else { resources_in(parsed, path, &role, self.layouts) };
        FileContent {
            read_as: Some(read_as(&role, &resources)),
            same: parsed.count.saturating_sub(parsed.documents.len()),
            resources,
            // The configuration was read, and judged, before everything else.
            findings: if role == Role::Configuration { Vec::new() } else { parsed.findings.clone() },
            is_broken: parsed.is_broken,
            is_incomplete,
            reads,
            includes,
            ..FileContent::default()
        }
    }

    /// What expanding a document of this snapshot needs.
    pub fn directives(&self) -> directive::Context<'_> {
        directive::Context::new(self.given, &self.includes)
    }

    /// The documents of a file after their merge directives; nothing if there are none.
    fn expand(
        &self,
        path: &RepoPath,
        role: &Role,
        parsed: &Parsed,
        is_incomplete: &mut bool,
        note: &mut dyn FnMut(usize, Reads),
    ) -> Option<Parsed> {
        let is_exempt = *role == Role::Configuration || path.as_bytes() == names::BUNDLE.as_bytes();
        if !self.given.settings.directives || is_exempt || !parsed.documents.iter().any(directive::has_directives) {
            return None;
        }
        let context = self.directives();
        let mut expanded = parsed.clone();
        for document in &mut expanded.documents {
            let mut outcome = directive::expand(document, path, &context);
            // One directive that fails leaves the rest of its document as it is; a limit leaves nothing.
            let is_cut = outcome.findings.iter().any(|finding| finding.rule.id.starts_with("limit/"));
            expanded.is_broken |= is_cut;
            *is_incomplete |= has_errors(&outcome.findings);
            expanded.findings.append(&mut outcome.findings);
            document.root = outcome.value.root;
            note(document.position, outcome.value.reads);
        }
        Some(expanded)
    }
}
