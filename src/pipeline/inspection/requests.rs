//! The requests of one path: what would be sent for the resource that stands there, or for a collection.

use smol_str::SmolStr;

use super::find::Sought;
use super::metadata_ladders::hidden_at;
use super::{Inspection, MetadataTree, Question, hidden};
use crate::finding::{Outcome, has_errors};
use crate::metadata::{
    EffectiveMetadata, Field, FieldPath, MetadataPath, Operation, Section, resolve, resolve_selector,
};
use crate::names::Format;
use crate::path::{LogicalPath, RepoPath};
use crate::report::explain::{Stories, Story};
use crate::report::request::Rendered;
use crate::request::{self, Request, RequestTarget, scope_for};
use crate::resource::Resource;
use crate::secrets::Masks;
use crate::side::Side;
use crate::value::{Node, Value};

/// Which requests are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// The one that people mean who name none: a list of a collection, otherwise getting the resource.
    Usual,
    /// This one.
    One(Operation),
    /// Every one that makes sense for the path.
    All,
}

/// The requests of a path.
#[derive(Debug)]
pub struct RenderedRequests {
    /// Those that could be made, in the order of operations.
    pub requests: Vec<Rendered>,
    /// Those that need a payload where there is none.
    pub impossible: Vec<Operation>,
    /// Whether a resource stands at the path.
    pub has_resource: bool,
    /// Whether this is a list because the resource cannot be got without an id that it does not have.
    pub is_listed_instead: bool,
    /// The format of the repository at that place.
    pub format: Format,
}

impl Inspection<'_> {
    /// The requests of a path. For a selector, which stands for many paths, and for operations on resources of a collection that
    /// are not named, templates stay as they are written.
    pub fn requests(
        &self,
        path: &MetadataPath,
        tree: &MetadataTree,
        wish: Wish,
        reveal: bool,
    ) -> Outcome<RenderedRequests> {
        self.with_world(reveal, |world, _| {
            let mut findings = Vec::new();
            let subject = self.subject(path, tree, world, reveal).gather(&mut findings);
            let mut rendering = subject.render(wish, world).gather(&mut findings);
            rendering.format = world.format_of(&subject.file);
            Outcome { value: rendering, findings }
        })
    }

    fn subject(&self, path: &MetadataPath, tree: &MetadataTree, world: &Side<'_>, reveal: bool) -> Outcome<Subject> {
        let mut findings = Vec::new();
        let found = match path.to_logical() {
            Some(path) => {
                self.find(&Sought::Path(MetadataPath::of_resource(&path), tree.clone())).gather(&mut findings)
            }
            None => Vec::new(),
        };
        let resource = found.into_iter().next().map(|found| found.resource);
        let subject = self.subject_of(path, &tree.base, resource, world, reveal).gather(&mut findings);
        Outcome { value: subject, findings }
    }

    /// A path and the resource that stands there, if one does; the place is where it would.
    fn subject_of(
        &self,
        path: &MetadataPath,
        place: &RepoPath,
        resource: Option<Resource>,
        world: &Side<'_>,
        reveal: bool,
    ) -> Outcome<Subject> {
        let mut findings = Vec::new();
        let logical = path.segments().iter().fold(LogicalPath::root(), |path, segment| path.child(segment));
        let file = resource.as_ref().map_or_else(|| place.clone(), |resource| resource.file.clone());
        let payload = resource.and_then(|resource| {
            findings.extend(world.effective(&resource).findings.iter().cloned());
            world.shown_payload(resource)
        });
        let metadata = world.layers().layers_for(&file).map(|layers| {
            let resolved = match path.to_logical() {
                Some(path) => resolve(&path, layers),
                None => resolve_selector(path, layers),
            };
            (*resolved.gather(&mut findings)).clone()
        });
        let metadata = metadata.unwrap_or_else(|| EffectiveMetadata::empty(self.nowhere()));
        let metadata = if reveal { metadata } else { self.masked(&metadata, path) };
        let subject = Subject {
            is_selector: path.to_logical().is_none(),
            is_collection: path.is_collection(),
            has_resource: payload.is_some(),
            payload: payload.unwrap_or_else(|| Node::new(Value::Null, self.nowhere())),
            path: logical,
            metadata,
            file,
        };
        Outcome { value: subject, findings }
    }

    /// How the requests of a resource come to be: those that some layer speaks of, and how many go by the defaults.
    pub(super) fn resource_stories(&self, resource: &Resource, question: &Question) -> Outcome<Stories> {
        self.with_world(false, |world, _| {
            let path = world.path_of(resource).filter(|_| resource.is_managed());
            let Some(path) = path.map(|path| MetadataPath::of_resource(&path)) else {
                return Outcome::clean(Stories::default());
            };
            let resource = Some(resource.clone());
            let subject = self.subject_of(&path, &RepoPath::root(), resource, world, false).value;
            subject.stories(&subject.operations(Wish::All), question, world)
        })
    }

    /// The same for a collection, which has only a list.
    pub(super) fn collection_stories(
        &self,
        path: &MetadataPath,
        tree: &MetadataTree,
        question: &Question,
    ) -> Outcome<Stories> {
        if path.to_logical().is_none() || !path.is_collection() {
            return Outcome::clean(Stories::default());
        }
        self.with_world(false, |world, _| {
            let subject = self.subject(path, tree, world, false).value;
            subject.stories(&[Operation::List], question, world)
        })
    }

    /// Metadata with what is configured as secret hidden, however a rule may reach it: by the name of a header, or by its place
    /// in the document.
    pub(super) fn masked(&self, metadata: &EffectiveMetadata, path: &MetadataPath) -> EffectiveMetadata {
        let masks = Masks::new(&self.settings.secrets);
        let document = hidden(metadata.to_node(), path, &masks);
        metadata.map_values(|field_path, node| {
            let by_name = |node: &Node| hidden_at(&field_path.pointer(), node, path, &masks);
            if field_path.field != Field::Headers {
                return Some(by_name(node));
            }
            let name = node.get("name").and_then(Node::as_str)?;
            let listed = document.at(&FieldPath::new(field_path.section, Field::Headers).pointer())?;
            let is_meant = |item: &&Node| item.get("name").and_then(Node::as_str) == Some(name);
            let item = listed.as_list()?.iter().find(is_meant).cloned().unwrap_or_else(|| node.clone());
            match item.get("value").map(|value| &value.value) {
                Some(Value::Secret(_)) => Some(item),
                _ => Some(with_value(node, by_name(node.get("value")?))),
            }
        })
    }
}

/// A header with another value.
fn with_value(header: &Node, value: Node) -> Node {
    let entries = header.as_map().map(|map| map.entries().to_vec()).unwrap_or_default();
    let replaced = entries.into_iter().map(|mut entry| {
        if entry.key.name == "value" {
            entry.value = value.clone();
        }
        entry
    });
    Node::map(replaced.collect(), header.span)
}

/// What requests are made for.
struct Subject {
    path: LogicalPath,
    payload: Node,
    metadata: EffectiveMetadata,
    /// Where it stands, or would.
    file: RepoPath,
    is_selector: bool,
    is_collection: bool,
    has_resource: bool,
}

impl Subject {
    fn render(&self, wish: Wish, world: &Side<'_>) -> Outcome<RenderedRequests> {
        let mut rendering = RenderedRequests {
            requests: Vec::new(),
            impossible: Vec::new(),
            has_resource: self.has_resource,
            is_listed_instead: false,
            format: Format::default(),
        };
        let target = world.target(&self.path, &self.payload, &self.metadata, &self.file);
        let mut findings = Vec::new();
        for operation in self.operations(wish) {
            if self.is_impossible(operation) {
                rendering.impossible.push(operation);
                continue;
            }
            let mut made = self.made(operation, &target);
            if made.value.is_none() && wish == Wish::Usual && self.lacks_id(operation, &target) {
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

    fn stories(&self, operations: &[Operation], question: &Question, world: &Side<'_>) -> Outcome<Stories> {
        let target = world.target(&self.path, &self.payload, &self.metadata, &self.file);
        let (mut stories, mut findings) = (Stories::default(), Vec::new());
        let asked = question.within.tokens();
        for operation in operations.iter().copied() {
            let is_asked = match asked {
                [] => self.is_spoken_of(operation),
                _ => Section::Operation(operation).wire().iter().eq(asked.iter().take(2)),
            };
            if !is_asked || self.is_impossible(operation) {
                stories.untold += usize::from(asked.is_empty());
                continue;
            }
            let made = request::request(&target, operation);
            match made.value {
                Some(request) => stories.told.push(self.story(request)),
                None => findings.extend(made.findings),
            }
        }
        Outcome { value: stories, findings }
    }

    fn story(&self, request: Request) -> Story {
        // Only what is sent has a body that could be transformed, and only a list has an answer that is always looked at.
        let transforms = self.metadata.transforms(request.operation);
        let named = transforms.into_iter().map(|(field, node)| {
            let wire = field.row().map_or("", |row| row.wire);
            (SmolStr::new(wire.strip_prefix("payload.").unwrap_or(wire)), node.clone())
        });
        Story { transforms: named.collect(), request }
    }

    /// Whether a layer says something about a request, other than what becomes of a payload that is compared.
    fn is_spoken_of(&self, operation: Operation) -> bool {
        self.metadata.entries().any(|(field_path, _)| match (field_path.section, field_path.field) {
            (_, Field::Itself) => false,
            (Section::Resource, Field::CollectionPath) => matches!(operation, Operation::Get | Operation::List),
            (Section::Resource | Section::Operations, _) => false,
            (Section::Defaults, _) => matches!(operation, Operation::Create | Operation::Update),
            (Section::Operation(own), field) => {
                own == operation && (own != Operation::Compare || !Field::TRANSFORMS.contains(&field))
            }
        })
    }

    fn operations(&self, wish: Wish) -> Vec<Operation> {
        use Operation::{Compare, Create, Delete, Get, List, Update};
        match wish {
            Wish::One(operation) => vec![operation],
            Wish::Usual if self.is_collection => vec![List],
            Wish::Usual => vec![Get],
            Wish::All if self.is_selector => Operation::ALL.to_vec(),
            Wish::All if self.is_collection => vec![List],
            Wish::All if self.has_resource => vec![Get, Create, Update, Delete, Compare],
            Wish::All => vec![Get, Delete, List, Compare],
        }
    }

    /// Whether an operation speaks of resources that nobody named.
    fn is_written(&self, operation: Operation) -> bool {
        self.is_selector || (self.is_collection && operation != Operation::List)
    }

    /// Whether there is nothing that could be sent.
    fn is_impossible(&self, operation: Operation) -> bool {
        let sends = matches!(operation, Operation::Create | Operation::Update);
        let has_body = || self.metadata.get(&FieldPath::new(Section::Operation(operation), Field::Body)).is_some();
        sends && !self.has_resource && !self.is_written(operation) && !has_body()
    }

    fn made(&self, operation: Operation, target: &RequestTarget<'_>) -> Outcome<Option<Rendered>> {
        if self.is_written(operation) {
            let Outcome { value, findings } = request::request_as_written(target, operation);
            return Outcome { value: value.map(Rendered::alone), findings };
        }
        let mut findings = Vec::new();
        let request = request::request(target, operation).gather(&mut findings);
        let answer = request::answer(target, operation).gather(&mut findings);
        let is_sound = !has_errors(&findings);
        Outcome { value: request.map(|request| Rendered { request, answer, is_sound }), findings }
    }

    /// Whether a resource cannot be got because there is none, or because nobody knows its id yet.
    fn lacks_id(&self, operation: Operation, target: &RequestTarget<'_>) -> bool {
        if !self.has_resource {
            return true;
        }
        let Some(path) = self.metadata.text(Section::Operation(operation), Field::Path) else { return false };
        let named = self.metadata.text(Section::Resource, Field::IdFromAttribute).unwrap_or("id");
        let id: Vec<SmolStr> = named.trim().trim_start_matches('/').split(['.', '/']).map(SmolStr::new).collect();
        let scoped = scope_for(target, operation);
        target.memo.template(path).is_ok_and(|template| {
            let is_id = template.reads().iter().any(|read| read.level == 0 && read.path == id);
            is_id && scoped.scope().root.at(&id.into_iter().collect()).is_none()
        })
    }
}
