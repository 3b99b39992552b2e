//! Expressions in the payloads of a side: what they may see of other resources, and what they give.

use std::collections::BTreeMap;
use std::sync::Mutex;

use smol_str::SmolStr;

use super::Side;
use crate::directive;
use crate::expression::eval::{Payload, ResourceId, Tree, compute, compute_closed, has_expressions, sealed};
use crate::finding::{self, Finding, Location, Outcome};
use crate::limits::Spent;
use crate::names::Format;
use crate::path::LogicalPath;
use crate::resource::{Identity, Resource};
use crate::scan;
use crate::snapshot::{EntryKind, Scope, files_below};
use crate::value::Node;

impl Side<'_> {
    /// A payload with its expressions replaced by what they give, seen from the resource that owns them.
    pub(super) fn computed(&self, resource: &Resource) -> Outcome<Node> {
        let path = self.path_of(resource).filter(|_| self.settings.expressions && has_expressions(&resource.payload));
        if self.is_unfurl(resource) {
            return self.closed(resource);
        }
        let Some(path) = path else { return Outcome::clean(resource.payload.clone()) };
        let tree = SideTree::new(self);
        let seen = self.seen(resource.clone());
        let computed = compute(&resource.payload, &seen, tree.id(&path), &tree, self.limits);
        // A part of an Unfurl document in a file of its own addresses the same model.
        let is_foreign = |finding: &Finding| {
            [&finding::EXPRESSION_UNKNOWN_FUNCTION, &finding::EXPRESSION_UNKNOWN_SPECIAL_KEY]
                .iter()
                .any(|rule| rule.id == finding.rule.id)
        };
        let is_file = matches!(resource.identity, Identity::File { .. });
        match is_file && computed.findings.iter().any(is_foreign) && self.holds_unfurl() {
            true => self.closed(resource),
            false => computed,
        }
    }

    /// Whether some file of the snapshot is a document of Unfurl, judged by its bytes.
    fn holds_unfurl(&self) -> bool {
        *self.caches.holds_unfurl.get_or_init(|| {
            let (entries, _) = files_below(self.snapshot, &Scope::everything(), self.limits, &Spent::default());
            let mut texts = entries.iter().filter(|entry| {
                entry.kind == EntryKind::File && Format::of_file_name(entry.path.file_name()).is_some()
            });
            let marks: [&[u8]; 3] = [b"apiVersion: unfurl/", b"tosca_definitions_version", b"\"unfurl/v1"];
            self.settings.unfurl
                && texts.any(|entry| {
                    let bytes = self.snapshot.read(entry).unwrap_or_default();
                    marks.iter().any(|mark| scan::contains(&bytes, mark))
                })
        })
    }

    /// Whether a resource is a document of Unfurl: its paths address a model that is not in the repository.
    pub fn is_unfurl(&self, resource: &Resource) -> bool {
        self.settings.unfurl && directive::unfurl_role(&resource.payload, &resource.file).is_some()
    }

    /// A payload with the expressions replaced that have a value from their own text; a note says how many stay as they are.
    fn closed(&self, resource: &Resource) -> Outcome<Node> {
        if !self.settings.expressions || !has_expressions(&resource.payload) {
            return Outcome::clean(resource.payload.clone());
        }
        let (mut outcome, open) = compute_closed(&resource.payload, self.limits);
        if open > 0 {
            let message = match open {
                1 => "1 expression needs a running deployment and is compared as text".to_owned(),
                count => format!("{count} expressions need a running deployment and are compared as text"),
            };
            let at = Location::File { path: resource.file.clone(), revision: self.snapshot.label().into() };
            outcome.findings.push(Finding::new(&finding::EXPRESSION_NEEDS_RUN, at, message));
        }
        outcome
    }

    /// What a resource says, as expressions may see it: its secrets hidden, also from itself.
    fn seen(&self, resource: Resource) -> Node {
        let written = resource.payload.clone();
        let is_unfurl = self.is_unfurl(&resource);
        let hidden = self.hidden(resource).payload;
        let computes = self.settings.expressions && !is_unfurl && has_expressions(&written);
        if computes { sealed(&written, &hidden) } else { hidden }
    }

    /// What expressions see of the resource at a path; computed once.
    fn seen_at(&self, path: &LogicalPath) -> Payload {
        self.caches.seen.get(path, || match self.find(path) {
            Some(resource) => Payload::Node(self.seen(resource)),
            None if self.is_broken_at(path) => Payload::Unreadable("its file has errors".to_owned()),
            None => Payload::Nothing,
        })
    }
}

/// The resources of a side as expressions see them: a tree of paths, secrets hidden.
pub struct SideTree<'a> {
    side: &'a Side<'a>,
    paths: Mutex<Paths>,
    /// A resource that takes precedence over others at its path.
    around: Option<(LogicalPath, Resource)>,
}

#[derive(Default)]
struct Paths {
    all: Vec<LogicalPath>,
    ids: BTreeMap<LogicalPath, ResourceId>,
}

impl<'a> SideTree<'a> {
    /// The tree of a side.
    pub fn new(side: &'a Side<'a>) -> Self {
        Self { side, paths: Mutex::default(), around: None }
    }

    /// The tree as seen from a resource: of several at its path, this one is used.
    #[must_use]
    pub fn around(mut self, path: LogicalPath, resource: Resource) -> Self {
        self.around = Some((path, resource));
        self
    }

    /// The number of a path.
    pub fn id(&self, path: &LogicalPath) -> ResourceId {
        let mut paths = self.paths.lock().expect("no thread panics while it holds this lock");
        if let Some(id) = paths.ids.get(path) {
            return *id;
        }
        let id = ResourceId(paths.all.len());
        paths.all.push(path.clone());
        paths.ids.insert(path.clone(), id);
        id
    }

    fn logical(&self, id: ResourceId) -> LogicalPath {
        let paths = self.paths.lock().expect("no thread panics while it holds this lock");
        paths.all.get(id.0).cloned().unwrap_or_else(LogicalPath::root)
    }

    fn resource(&self, id: ResourceId) -> Option<Resource> {
        let path = self.logical(id);
        match &self.around {
            Some((own, resource)) if *own == path => Some(resource.clone()),
            _ => self.side.find(&path),
        }
    }
}

impl Tree for SideTree<'_> {
    fn root(&self) -> ResourceId {
        self.id(&LogicalPath::root())
    }

    fn parent(&self, of: ResourceId) -> Option<ResourceId> {
        Some(self.id(&self.logical(of).parent()?))
    }

    fn children(&self, of: ResourceId) -> Vec<ResourceId> {
        self.side.children(&self.logical(of)).iter().map(|path| self.id(path)).collect()
    }

    fn name(&self, of: ResourceId) -> SmolStr {
        self.logical(of).last().unwrap_or("root").into()
    }

    fn path(&self, of: ResourceId) -> SmolStr {
        self.logical(of).as_str().into()
    }

    fn file(&self, of: ResourceId) -> Option<SmolStr> {
        self.resource(of).map(|resource| resource.file.to_string().into())
    }

    fn kind(&self, of: ResourceId) -> Option<SmolStr> {
        match self.resource(of)?.identity {
            Identity::Kubernetes(name) => Some(name.kind),
            _ => None,
        }
    }

    fn by_path(&self, path: &str) -> Option<ResourceId> {
        let path = LogicalPath::parse(&format!("/{}", path.trim_start_matches('/'))).ok()?;
        self.side.exists_at(&path).then(|| self.id(&path))
    }

    fn by_name(&self, name: &str) -> Vec<ResourceId> {
        self.side.named(name).iter().map(|path| self.id(path)).collect()
    }

    fn payload(&self, of: ResourceId) -> Payload {
        let path = self.logical(of);
        match &self.around {
            Some((own, resource)) if *own == path => Payload::Node(self.side.seen(resource.clone())),
            _ => self.side.seen_at(&path),
        }
    }

    fn is_computed(&self) -> bool {
        self.side.settings.expressions
    }

    fn gap(&self) -> Option<String> {
        self.side.gap()
    }
}
