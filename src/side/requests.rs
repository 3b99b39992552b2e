//! The requests of one path: what would be sent for its resource, or for a collection.

use std::sync::Arc;

use smol_str::SmolStr;

use super::{ResourceQuery, Side};
use crate::finding::{Finding, Outcome, has_errors};
use crate::metadata::{
    EffectiveMetadata, Field, FieldPath, MetadataPath, Operation, Section, Sibling, look_up, resolve, resolve_selector,
};
use crate::names::Format;
use crate::path::{LogicalPath, RepoPath};
use crate::request::{self, ExpectedResponse, Request, RequestTarget, scope_for};
use crate::resource::Resource;
use crate::settings::Root;
use crate::value::{Node, Value};

/// Which requests are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedRequests {
    /// The usual one: a list of a collection, otherwise getting the resource.
    Usual,
    /// This one.
    One(Operation),
    /// Every one that makes sense for the path.
    All,
}

/// A request as it is shown.
#[derive(Debug)]
pub struct RenderedRequest {
    /// What would be sent.
    pub request: Request,
    /// What would be answered, where metadata says what to make of it.
    pub answer: Option<ExpectedResponse>,
    /// Whether nothing is wrong with it; otherwise it must not be sent.
    pub is_sound: bool,
}

impl RenderedRequest {
    /// A request without an answer.
    pub fn alone(request: Request) -> Self {
        Self { request, answer: None, is_sound: true }
    }

    /// Whether something in it is not shown because it is secret.
    pub fn hides_secrets(&self) -> bool {
        let request = &self.request;
        let parts = [&request.collection, &request.method, &request.path].into_iter();
        let mut parts = parts.chain(request.query.iter().chain(&request.headers).map(|(_, part)| part));
        let answered: Vec<&Node> = match &self.answer {
            None => Vec::new(),
            Some(ExpectedResponse::Payload(payload)) => vec![payload],
            Some(ExpectedResponse::Items(_)) => Vec::new(),
        };
        parts.any(|part| part.uses.iter().any(|read| read.value.holds_secret()))
            || request.body.iter().chain(answered).any(Node::holds_secret)
    }
}

/// The requests of a path.
#[derive(Debug, Default)]
pub struct RenderedRequests {
    /// Those that could be made, in the order of operations.
    pub requests: Vec<RenderedRequest>,
    /// Those that need a payload where there is none.
    pub impossible: Vec<Operation>,
    /// Whether there is a resource at the path.
    pub has_resource: bool,
    /// Whether this is a list because the resource cannot be got without an id that it does not have.
    pub is_listed_instead: bool,
    /// The format of the repository at that place.
    pub format: Format,
}

impl Side<'_> {
    /// The requests of a path. For a selector, which matches many paths, and for operations on resources of a collection that
    /// are not named, templates stay as they are written.
    pub fn requests(&self, path: &MetadataPath, root: &Root, wanted: WantedRequests) -> Outcome<RenderedRequests> {
        let mut findings = Vec::new();
        let path = match self.meant(path, root, wanted) {
            Ok(path) => path,
            Err(ambiguous) => return Outcome { value: RenderedRequests::default(), findings: vec![*ambiguous] },
        };
        let subject = self.subject_at(&path, root).gather(&mut findings);
        let mut rendering = subject.render(wanted, self).gather(&mut findings);
        rendering.format = self.format_of(&subject.file);
        Outcome { value: rendering, findings }
    }

    /// The path that requests are made for. Where no resource is at the path, it is that of the sibling whose alias or id is the last
    /// segment; and a list that is wanted for a resource is that of its collection.
    fn meant(&self, path: &MetadataPath, root: &Root, wanted: WantedRequests) -> Result<MetadataPath, Box<Finding>> {
        let Some(logical) = path.to_logical().filter(|_| !path.is_collection()) else { return Ok(path.clone()) };
        let Some(collection) = logical.parent() else { return Ok(path.clone()) };
        let query = ResourceQuery::Path(path.clone(), root.clone());
        let found = match self.query(&query).value.is_empty() {
            true => self.answering(&logical, &collection, root)?,
            false => Some(logical),
        };
        Ok(match found {
            Some(_) if wanted == WantedRequests::One(Operation::List) => {
                MetadataPath::of_resource(&collection).to_collection()
            }
            Some(found) => MetadataPath::of_resource(&found),
            None => path.clone(),
        })
    }

    /// The resource of a collection below a root whose alias or id is the last segment of a path.
    fn answering(
        &self,
        path: &LogicalPath,
        collection: &LogicalPath,
        root: &Root,
    ) -> Result<Option<LogicalPath>, Box<Finding>> {
        let Some(layers) = self.layers.layers_at(&root.path) else { return Ok(None) };
        let is_asked = |resource: &Resource| {
            self.settings.metadata_root.is_some() || self.root_of(&resource.file) == Some(&root.path)
        };
        let resources = self.resources_in(collection).into_iter().filter(|(_, resource)| is_asked(resource));
        let resources: Vec<_> = resources
            .filter_map(|(path, resource)| {
                let metadata = self.metadata_of(&resource)?;
                Some((path, self.shown_payload(resource)?, metadata))
            })
            .collect();
        let siblings: Vec<Sibling<'_>> =
            resources.iter().map(|(path, payload, metadata)| Sibling { path, payload, metadata }).collect();
        Ok(look_up(path, &resolve(path, layers).value, &siblings)?.map(|sibling| sibling.path.clone()))
    }

    /// A path and the resource at it, as requests are made for it.
    pub fn subject_at(&self, path: &MetadataPath, root: &Root) -> Outcome<RequestSubject> {
        let mut findings = Vec::new();
        let found = match path.to_logical() {
            Some(logical) => {
                let query = ResourceQuery::Path(MetadataPath::of_resource(&logical), root.clone());
                self.query(&query).gather(&mut findings)
            }
            None => Vec::new(),
        };
        let resource = found.into_iter().next().map(|hit| hit.resource);
        let subject = self.subject_of(path, &root.path, resource).gather(&mut findings);
        Outcome { value: subject, findings }
    }

    /// A path and its resource, if there is one, as requests are made for it; the place is where its file would be.
    pub fn subject_of(
        &self,
        path: &MetadataPath,
        place: &RepoPath,
        resource: Option<Resource>,
    ) -> Outcome<RequestSubject> {
        let mut findings = Vec::new();
        let logical = path.segments().iter().fold(LogicalPath::root(), |path, segment| path.child(segment));
        let file = resource.as_ref().map_or_else(|| place.clone(), |resource| resource.file.clone());
        let payload = resource.and_then(|resource| {
            findings.extend(self.effective(&resource).findings.iter().cloned());
            self.shown_payload(resource)
        });
        let metadata = self.layers.layers_for(&file).map(|layers| {
            let resolved = resolve_selector(path, layers).gather(&mut findings);
            self.secrets.hide_effective(&layers.settled(&resolved), path)
        });
        let subject = RequestSubject {
            is_selector: path.to_logical().is_none(),
            is_collection: path.is_collection(),
            has_resource: payload.is_some(),
            payload: payload.unwrap_or_else(|| Node::new(Value::Null, self.nowhere())),
            path: logical,
            metadata: metadata.unwrap_or_else(|| Arc::new(EffectiveMetadata::empty(self.nowhere()))),
            file,
        };
        Outcome { value: subject, findings }
    }
}

/// What requests are made for.
pub struct RequestSubject {
    path: LogicalPath,
    payload: Node,
    /// What layers say about it, with secrets hidden.
    pub metadata: Arc<EffectiveMetadata>,
    /// Where it is written, or would be.
    file: RepoPath,
    is_selector: bool,
    is_collection: bool,
    has_resource: bool,
}

impl RequestSubject {
    /// What requests are made of.
    pub fn target<'t>(&'t self, side: &'t Side<'_>) -> RequestTarget<'t> {
        side.target(&self.path, &self.payload, &self.metadata, &self.file)
    }

    fn render(&self, wanted: WantedRequests, side: &Side<'_>) -> Outcome<RenderedRequests> {
        let mut rendering = RenderedRequests {
            requests: Vec::new(),
            impossible: Vec::new(),
            has_resource: self.has_resource,
            is_listed_instead: false,
            format: Format::default(),
        };
        let target = self.target(side);
        let mut findings = Vec::new();
        for operation in self.operations(wanted) {
            if self.is_impossible(operation) {
                rendering.impossible.push(operation);
                continue;
            }
            let mut made = self.made(operation, &target);
            if made.value.is_none() && wanted == WantedRequests::Usual && self.lacks_id(operation, &target) {
                let list = self.made(Operation::List, &target);
                if list.value.is_some() {
                    rendering.is_listed_instead = true;
                    made = list;
                }
            }
            rendering.requests.extend(made.gather(&mut findings));
        }
        Outcome { value: rendering, findings }
    }

    /// The operations that are wanted.
    pub fn operations(&self, wanted: WantedRequests) -> Vec<Operation> {
        use Operation::{Compare, Create, Delete, Get, List, Update};
        match wanted {
            WantedRequests::One(operation) => vec![operation],
            WantedRequests::Usual if self.is_collection => vec![List],
            WantedRequests::Usual => vec![Get],
            WantedRequests::All if self.is_selector => Operation::ALL.to_vec(),
            WantedRequests::All if self.is_collection => vec![List],
            WantedRequests::All if self.has_resource => vec![Get, Create, Update, Delete, Compare],
            WantedRequests::All => vec![Get, Delete, List, Compare],
        }
    }

    /// Whether the path matches many resources, so that templates are shown unrendered.
    fn is_written(&self, operation: Operation) -> bool {
        self.is_selector || (self.is_collection && operation != Operation::List)
    }

    /// Whether there is nothing that could be sent.
    pub fn is_impossible(&self, operation: Operation) -> bool {
        let sends = matches!(operation, Operation::Create | Operation::Update);
        let has_body = || self.metadata.get(&FieldPath::new(Section::Operation(operation), Field::Body)).is_some();
        sends && !self.has_resource && !self.is_written(operation) && !has_body()
    }

    fn made(&self, operation: Operation, target: &RequestTarget<'_>) -> Outcome<Option<RenderedRequest>> {
        if self.is_written(operation) {
            let Outcome { value, findings } = request::request_as_written(target, operation);
            return Outcome { value: value.map(RenderedRequest::alone), findings };
        }
        let mut findings = Vec::new();
        let request = request::request(target, operation).gather(&mut findings);
        let answer = request::answer(target, operation).gather(&mut findings);
        let is_sound = !has_errors(&findings);
        Outcome { value: request.map(|request| RenderedRequest { request, answer, is_sound }), findings }
    }

    /// Whether a resource cannot be got because there is none, or because its id is not known yet.
    fn lacks_id(&self, operation: Operation, target: &RequestTarget<'_>) -> bool {
        if !self.has_resource {
            return true;
        }
        let Some(path) = self.metadata.text(Section::Operation(operation), Field::Path) else { return false };
        let named = self.metadata.identity(Field::IdFromAttribute).unwrap_or("id");
        let id: Vec<SmolStr> = named.trim().trim_start_matches('/').split(['.', '/']).map(SmolStr::new).collect();
        let scoped = scope_for(target, operation);
        target.memo.template(path).is_ok_and(|template| {
            let is_id = template.reads().iter().any(|read| read.level == 0 && read.path == id);
            is_id && scoped.scope().root.at(&id.into_iter().collect()).is_none()
        })
    }
}
