//! The names that templates of a resource see, and where each of them comes from. Nothing is looked up before a template asks.

use std::cell::OnceCell;
use std::sync::Arc;

use smol_str::SmolStr;

use super::RequestTarget;
use super::derive::{Derived, derive};
use super::lookup::ancestors;
use super::render::levels;
use crate::expression::template::{self, PayloadNames, Template};
use crate::finding::{Finding, Outcome};
use crate::metadata::{Operation, PayloadType, RemoteIdentity, identify};
use crate::path::LogicalPath;
use crate::text::Span;
use crate::value::{Entry, KeyKind, Node, Value};

/// Everything that templates of one resource can name.
pub struct Scoped<'t> {
    names: ScopeNames<'t>,
    ancestors: Vec<Ancestor>,
    format: SmolStr,
    payload: PayloadNames,
    whole: OnceCell<Arc<template::Scope>>,
}

fn payload_names(known: PayloadType) -> PayloadNames {
    let PayloadType { name, media, extension } = known;
    PayloadNames { name: name.into(), media: media.into(), extension: extension.into() }
}

/// Where a name's value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeOrigin {
    /// A field of the payload, written there.
    Payload(Span),
    /// What is known about the resource without looking into it: its path, its names, its format.
    Context,
    /// A segment of the logical path; the template that names it, or nothing if the name of a collection does.
    Path(Option<Span>),
    /// A resource above.
    Ancestor {
        /// Which.
        path: LogicalPath,
        /// Where it has it from.
        origin: Box<ScopeOrigin>,
    },
}

/// The names that templates of an operation see; `levels` is how many resources up they reach.
pub fn scope<'t>(target: &'t RequestTarget<'t>, operation: Operation, levels: usize) -> Scoped<'t> {
    let above = if levels == 0 { Vec::new() } else { ancestors(target.path, target.lookup) };
    let above = above.into_iter().take(levels).map(|(path, payload)| Ancestor::of(target, path, &payload));
    let context = ScopeContext { target, collection: logical_collection(target.path, operation), rendered: None };
    Scoped {
        names: ScopeNames { context: Some(context), ..ScopeNames::of(target.payload) },
        ancestors: above.collect(),
        format: SmolStr::new_static(target.format.extension()),
        payload: payload_names(target.payload_type()),
        whole: OnceCell::new(),
    }
}

/// The names that templates of an operation see, reaching as far up as they do.
pub fn scope_for<'t>(target: &'t RequestTarget<'t>, operation: Operation) -> Scoped<'t> {
    scope(target, operation, levels(target, operation))
}

/// The collection in which an operation takes place: for a list, the path itself.
pub(super) fn logical_collection(path: &LogicalPath, operation: Operation) -> LogicalPath {
    match operation {
        Operation::List => path.clone(),
        _ => path.parent().unwrap_or_else(LogicalPath::root),
    }
}

impl Scoped<'_> {
    /// A scope that is given as it is, with nothing above it.
    pub fn given(root: Node, format: impl Into<SmolStr>) -> Self {
        let payload = payload_names(PayloadType::of_extension("json"));
        let names = ScopeNames::of(&root);
        Self { names, ancestors: Vec::new(), format: format.into(), payload, whole: OnceCell::new() }
    }

    /// This scope with the rendered collection path, unless the payload has a field of that name.
    #[must_use]
    pub fn with_collection_path(mut self, collection: &str) -> Self {
        if let Some(context) = &mut self.names.context {
            context.rendered = Some(collection.into());
        }
        Self { whole: OnceCell::new(), ..self }
    }

    /// Everything, as templates are given it.
    pub fn scope(&self) -> &Arc<template::Scope> {
        self.whole.get_or_init(|| Arc::new(self.with_root(self.names.root())))
    }

    /// What one template can ask for; for most of them that is much less than everything.
    pub(super) fn scope_of(&self, template: &Template) -> Arc<template::Scope> {
        if template.reads_whole() || self.whole.get().is_some() {
            return Arc::clone(self.scope());
        }
        let mut entries: Vec<Entry> = Vec::new();
        for read in template.reads().iter().filter(|read| read.level == 0) {
            let Some(name) = read.path.first().filter(|name| entries.iter().all(|entry| entry.key.name != **name))
            else {
                continue;
            };
            if let Some((value, _)) = self.names.get(name) {
                entries.push(Entry::named(name.clone(), value.span, value));
            }
        }
        Arc::new(self.with_root(Node::map(entries, self.names.payload.span)))
    }

    fn with_root(&self, root: Node) -> template::Scope {
        let ancestors = self.ancestors.iter().map(|ancestor| ancestor.root.clone()).collect();
        template::Scope { root, ancestors, format: self.format.clone(), payload: self.payload.clone() }
    }

    /// What follows from the path.
    pub fn derived(&self) -> &[Derived] {
        self.names.derived()
    }

    /// What the resource is called.
    pub fn identity(&self) -> RemoteIdentity {
        let nameless = || RemoteIdentity { alias: SmolStr::default(), remote_id: SmolStr::default() };
        self.names.context.as_ref().map_or_else(nameless, |context| self.names.identity(context).clone())
    }

    /// What is wrong with the names of the resource.
    pub(super) fn identity_findings(&self) -> Vec<Finding> {
        let context = self.names.context.as_ref();
        context.map(|context| self.names.identified(context).findings.clone()).unwrap_or_default()
    }

    /// Where a name has its value from.
    pub fn origin(&self, level: usize, name: &str) -> Option<ScopeOrigin> {
        match level.checked_sub(1) {
            None => self.names.get(name).map(|(_, origin)| origin),
            Some(above) => {
                let Ancestor { path, names, .. } = self.ancestors.get(above)?;
                let origin = Box::new(names.get(name)?.1);
                Some(ScopeOrigin::Ancestor { path: path.clone(), origin })
            }
        }
    }
}

/// Names in the order of their strength: the whole payload, its fields, the context, what follows from the path. The first to
/// claim a name has it.
struct ScopeNames<'t> {
    payload: Node,
    /// `None` for a payload that is given as it is, and for ancestors.
    context: Option<ScopeContext<'t>>,
    derived: OnceCell<Vec<Derived>>,
    identity: OnceCell<Outcome<RemoteIdentity>>,
}

/// What is known about a resource without looking into it.
struct ScopeContext<'t> {
    target: &'t RequestTarget<'t>,
    /// The logical collection.
    collection: LogicalPath,
    /// Its path for requests, once that is rendered.
    rendered: Option<SmolStr>,
}

/// A resource above.
struct Ancestor {
    path: LogicalPath,
    names: ScopeNames<'static>,
    root: Node,
}

/// These two always mean the whole payload, whatever it holds.
const WHOLE: [&str; 2] = ["payload", "value"];
const CONTEXT: [&str; 8] = [
    "logicalPath",
    "collectionPath",
    "logicalCollectionPath",
    "alias",
    "remoteID",
    "resourceFormat",
    "id",
    "contentType",
];
/// Names that mean what is known about the resource, whatever its payload holds.
const STRONG: [&str; 6] = [
    "remoteCollectionPath",
    "payloadType",
    "payloadMediaType",
    "payloadExtension",
    "descendantPath",
    "descendantCollectionPath",
];

impl ScopeNames<'_> {
    /// The fields of a payload.
    fn of(payload: &Node) -> Self {
        Self { payload: payload.clone(), context: None, derived: OnceCell::new(), identity: OnceCell::new() }
    }

    fn derived(&self) -> &[Derived] {
        let derive = |ScopeContext { target, collection, .. }: &ScopeContext<'_>| {
            derive(target.metadata, target.path, collection)
        };
        self.derived.get_or_init(|| self.context.as_ref().map(derive).unwrap_or_default())
    }

    fn identified(&self, context: &ScopeContext<'_>) -> &Outcome<RemoteIdentity> {
        let RequestTarget { metadata, path, payload, .. } = context.target;
        self.identity.get_or_init(|| identify(metadata, path, payload))
    }

    fn identity(&self, context: &ScopeContext<'_>) -> &RemoteIdentity {
        &self.identified(context).value
    }

    fn get(&self, name: &str) -> Option<(Node, ScopeOrigin)> {
        if self.context.is_some() && WHOLE.contains(&name) {
            return Some((with_derived(&self.payload, self.derived()), ScopeOrigin::Payload(self.payload.span)));
        }
        let nowhere = self.payload.span.start_only();
        if let Some(value) = self.strong(name) {
            return Some((Node::text(value, nowhere), ScopeOrigin::Context));
        }
        if let Some(field) = self.payload.get(name) {
            return Some((field.clone(), ScopeOrigin::Payload(field.span)));
        }
        if let Some(value) = self.context(name) {
            return Some((Node::text(value, nowhere), ScopeOrigin::Context));
        }
        let derived = self.derived().iter().find(|derived| derived.name == name)?;
        let place = derived.template.unwrap_or(nowhere);
        Some((Node::text(derived.value.clone(), place), ScopeOrigin::Path(derived.template)))
    }

    /// What is known about the resource under a name that its payload cannot take.
    fn strong(&self, name: &str) -> Option<SmolStr> {
        let context = self.context.as_ref().filter(|_| STRONG.contains(&name))?;
        let target = context.target;
        let below = |path: &LogicalPath| {
            let depth = target.metadata.descendant_depth()?;
            let rest: Vec<&str> = path.segments().skip(depth).collect();
            Some(if rest.is_empty() { SmolStr::default() } else { format!("/{}", rest.join("/")).into() })
        };
        match name {
            "remoteCollectionPath" => context.rendered.clone(),
            "payloadType" => Some(target.payload_type().name.into()),
            "payloadMediaType" => Some(target.payload_type().media.into()),
            "payloadExtension" => Some(target.payload_type().extension.into()),
            "descendantPath" => below(target.path),
            _ => below(&context.collection),
        }
    }

    fn context(&self, name: &str) -> Option<SmolStr> {
        let context = self.context.as_ref()?;
        match name {
            "logicalCollectionPath" => Some(context.collection.as_str().into()),
            "contentType" => {
                let is_value = !matches!(self.payload.value, Value::Map(_) | Value::Null);
                is_value.then(|| context.target.payload_type().media.into())
            }
            "logicalPath" => Some(context.target.path.as_str().into()),
            "collectionPath" => {
                Some(context.rendered.clone().unwrap_or_else(|| SmolStr::new(context.collection.as_str())))
            }
            "alias" => Some(self.identity(context).alias.clone()),
            "remoteID" => Some(self.identity(context).remote_id.clone()),
            "resourceFormat" => Some(context.target.format.extension().into()),
            "id" => Some(self.identity(context).remote_id.clone()).filter(|id| !id.trim().is_empty()),
            _ => None,
        }
    }

    /// Everything that can be named, each name once.
    fn root(&self) -> Node {
        let fields = self.payload.as_map().map(|map| map.entries()).unwrap_or_default().iter();
        let is_whole = |name: &str| self.context.is_some() && WHOLE.contains(&name);
        // Beside `"1"`, a number 1 has no name of its own.
        let has_name = |field: &Entry| {
            let is_text = field.key.kind == KeyKind::Text;
            is_text || self.payload.get(&field.key.name).is_some_and(|named| std::ptr::eq(named, &field.value))
        };
        let named = |name: &str| self.get(name).map(|(value, _)| Entry::named(name, value.span, value));
        let mut entries: Vec<Entry> =
            WHOLE.iter().filter(|name| is_whole(name)).filter_map(|name| named(name)).collect();
        let is_strong = |name: &str| self.strong(name).is_some();
        entries.extend(STRONG.iter().filter_map(|name| named(name).filter(|_| is_strong(name))));
        let fields =
            fields.filter(|field| !is_whole(&field.key.name) && !is_strong(&field.key.name) && has_name(field));
        entries.extend(fields.map(|field| Entry::named(field.key.name.clone(), field.value.span, field.value.clone())));
        let is_free = |name: &&str| self.payload.get(name).is_none();
        entries.extend(CONTEXT.iter().copied().filter(is_free).filter_map(named));
        for derived in self.derived() {
            if !entries.iter().any(|entry| entry.key.name == derived.name) {
                entries.extend(named(&derived.name));
            }
        }
        Node::map(entries, self.payload.span)
    }
}

impl Ancestor {
    /// What `../` sees: the payload of the resource above, then what follows from its path.
    fn of(target: &RequestTarget<'_>, path: LogicalPath, payload: &Node) -> Self {
        let derived = target.lookup.metadata(&path).map(|metadata| {
            let collection = logical_collection(&path, Operation::Get);
            derive(&metadata, &path, &collection)
        });
        let names = ScopeNames { derived: OnceCell::from(derived.unwrap_or_default()), ..ScopeNames::of(payload) };
        Self { root: names.root(), path, names }
    }
}

/// A payload with what follows from its path, where it lacks it.
pub(super) fn with_derived(payload: &Node, derived: &[Derived]) -> Node {
    let Value::Map(map) = &payload.value else { return payload.clone() };
    let nowhere = payload.span.start_only();
    let missing = derived.iter().filter(|attribute| map.get(&attribute.name).is_none());
    let added: Vec<Entry> = missing
        .map(|attribute| {
            let place = attribute.template.unwrap_or(nowhere);
            Entry::named(attribute.name.clone(), place, Node::text(attribute.value.clone(), place))
        })
        .collect();
    if added.is_empty() {
        return payload.clone();
    }
    Node { extra: payload.extra.clone(), ..Node::map([map.entries(), &added].concat(), payload.span) }
}
