//! Fields that name other resources follow them when they are renamed.

use std::collections::HashMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::configuration::Tables;
use super::fields::{FieldSpec, get_at, rewrite, set_at};
use super::id::ResourceId;
use super::reference_table::Reference;
use super::resource::Resource;
use super::{Fatal, fatal};
use crate::value::{Extra, Node, Value};

/// Updates every reference to a resource that has another name now.
pub(super) fn update(resources: &mut [Resource], tables: &Tables) -> Result<(), Fatal> {
    let all: Vec<Candidate> = resources.iter().map(Candidate::new).collect();
    let mut by_name: HashMap<SmolStr, Vec<usize>> = HashMap::new();
    for (at, candidate) in all.iter().enumerate() {
        for id in &candidate.previous {
            let known = by_name.entry(id.name.clone()).or_default();
            if known.last() != Some(&at) {
                known.push(at);
            }
        }
    }
    for (at, resource) in resources.iter_mut().enumerate() {
        let original = resource.original();
        for reference in &tables.references {
            for field in reference.fields.iter().filter(|field| field.selects(&original)) {
                let referrer = Referrer { all: &all, by_name: &by_name, at, reference, field, resource: &*resource };
                let changed = rewrite(&resource.node, &field.path, None, &mut |node| referrer.follow(node))?;
                if let Some(changed) = changed {
                    resource.node = changed;
                }
            }
        }
    }
    Ok(())
}

/// What references need to know about a resource.
struct Candidate {
    now: ResourceId,
    /// Its name and its namespace, with their provenance.
    name: Option<Node>,
    namespace: Option<Node>,
    previous: Vec<ResourceId>,
    prefixes: Vec<SmolStr>,
    suffixes: Vec<SmolStr>,
}

impl Candidate {
    fn new(resource: &Resource) -> Self {
        Self {
            now: resource.id(),
            name: get_at(&resource.node, &["metadata", "name"]).cloned(),
            namespace: get_at(&resource.node, &["metadata", "namespace"]).cloned(),
            previous: resource.previous.clone(),
            prefixes: resource.prefixes.clone(),
            suffixes: resource.suffixes.clone(),
        }
    }
}

impl Candidate {
    fn original(&self) -> &ResourceId {
        self.previous.first().unwrap_or(&self.now)
    }
}

struct Referrer<'a> {
    all: &'a [Candidate],
    /// Which of them have or had a name.
    by_name: &'a HashMap<SmolStr, Vec<usize>>,
    at: usize,
    reference: &'a Reference,
    field: &'a FieldSpec,
    resource: &'a Resource,
}

impl Referrer<'_> {
    fn follow(&self, node: &Node) -> Result<Node, Fatal> {
        match &node.value {
            Value::String(name) => {
                let found = self.find(name, None, node)?;
                Ok(match found.filter(|candidate| candidate.now.name != *name) {
                    Some(candidate) => renamed(node, candidate.name.as_ref()),
                    None => node.clone(),
                })
            }
            Value::Map(map) => {
                let Some(name) = map.get("name").and_then(Node::as_str) else {
                    return Err(fatal(node.span, "this reference has no `name`"));
                };
                if let Some(blank) = map.get("namespace").filter(|namespace| matches!(namespace.value, Value::Null)) {
                    return Err(fatal(blank.span, "this reference has a `namespace` without a value"));
                }
                let namespace = map.get("namespace").and_then(Node::as_str);
                let Some(candidate) = self.find(name, namespace, node)? else { return Ok(node.clone()) };
                let mut changed = node.clone();
                if let Some(old) = map.get("name").filter(|_| candidate.now.name != name) {
                    changed = set_at(&changed, &["name"], renamed(old, candidate.name.as_ref()));
                }
                let namespace_now = &candidate.now.namespace;
                if !namespace_now.is_empty() && namespace != Some(namespace_now.as_str()) {
                    let at = map.get("namespace").unwrap_or(node);
                    changed = set_at(&changed, &["namespace"], renamed(at, candidate.namespace.as_ref()));
                }
                Ok(changed)
            }
            _ => Ok(node.clone()),
        }
    }

    /// The resource that is meant by a name.
    fn find(&self, name: &str, namespace: Option<&str>, node: &Node) -> Result<Option<&Candidate>, Fatal> {
        let role = self.role_reference();
        let fits = |candidate: &&Candidate| {
            let is_kind = |id: &ResourceId| {
                let fits = |wanted: &SmolStr, found: &SmolStr| wanted.is_empty() || wanted == found;
                fits(&self.reference.group, &id.group)
                    && fits(&self.reference.version, &id.version)
                    && fits(&self.reference.kind, &id.kind)
            };
            let is_role = |id: &ResourceId| {
                let fits = |wanted: &SmolStr, found: &SmolStr| wanted.is_empty() || wanted == found;
                role.as_ref().is_none_or(|(group, kind)| fits(group, &id.group) && fits(kind, &id.kind))
            };
            candidate.previous.iter().any(is_kind) && candidate.previous.iter().any(is_role)
        };
        let named = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let mut found: Vec<&Candidate> = named.iter().map(|&at| &self.all[at]).filter(fits).collect();
        found.retain(|candidate| self.can_mean(candidate) && self.is_near(candidate));
        if let Some(namespace) = namespace {
            let is_original = |candidate: &Candidate| candidate.original().effective_namespace() == namespace;
            // As soon as anything was in that namespace at first, nothing that came to it later is meant.
            if self.all.iter().any(|candidate| self.can_mean(candidate) && is_original(candidate)) {
                found.retain(|candidate| is_original(candidate));
            } else {
                found.retain(|candidate| candidate.now.effective_namespace() == namespace);
            }
        }
        self.one(found, node)
    }

    /// Whether a candidate is among the resources that the referrer can mean at all.
    fn can_mean(&self, candidate: &Candidate) -> bool {
        self.is_beside(candidate) || self.has_subject_in(&candidate.now)
    }

    /// Whether a candidate lives where the referrer can mean it; accounts may live anywhere.
    fn is_near(&self, candidate: &Candidate) -> bool {
        self.is_beside(candidate) || candidate.now.kind == "ServiceAccount"
    }

    fn is_beside(&self, candidate: &Candidate) -> bool {
        let own = &self.all[self.at].now;
        own.is_cluster_scoped()
            || candidate.now.is_cluster_scoped()
            || own.effective_namespace() == candidate.now.effective_namespace()
    }

    fn has_subject_in(&self, id: &ResourceId) -> bool {
        if self.all[self.at].now.kind != "RoleBinding" {
            return false;
        }
        let subjects = self.resource.node.get("subjects").and_then(Node::as_list).unwrap_or_default();
        subjects.iter().any(|subject| {
            subject.get("kind").and_then(Node::as_str) == Some("ServiceAccount")
                && subject.get("namespace").and_then(Node::as_str) == Some(id.namespace.as_str())
        })
    }

    /// The group and kind that a role binding names.
    fn role_reference(&self) -> Option<(SmolStr, SmolStr)> {
        if !self.field.path.ends_with(&["roleRef".into(), "name".into()]) {
            return None;
        }
        let role = self.resource.node.get("roleRef")?;
        let text = |key: &str| role.get(key).and_then(Node::as_str).map(SmolStr::new);
        Some((text("apiGroup")?, text("kind")?))
    }

    fn one<'c>(&self, found: Vec<&'c Candidate>, node: &Node) -> Result<Option<&'c Candidate>, Fatal> {
        if found.len() <= 1 {
            return Ok(found.first().copied());
        }
        let own = &self.all[self.at];
        let end = |own: &[SmolStr], other: &[SmolStr], is_strict: bool| {
            let is_end = own.ends_with(other) || other.ends_with(own);
            if own.is_empty() || other.is_empty() { !is_strict || own.len() == other.len() } else { is_end }
        };
        let near = |is_strict: bool| -> Vec<&'c Candidate> {
            let is_near = |candidate: &&&Candidate| {
                end(&own.prefixes, &candidate.prefixes, is_strict) && end(&own.suffixes, &candidate.suffixes, is_strict)
            };
            found.iter().filter(is_near).copied().collect()
        };
        let loose = near(false);
        let chosen = if loose.len() > 1 { near(true) } else { loose };
        match chosen.as_slice() {
            [] => Ok(None),
            [first, rest @ ..] => {
                let is_same = |other: &&&Candidate| {
                    other.now.name == first.now.name
                        && (node.as_map().is_none() || other.now.namespace == first.now.namespace)
                };
                if rest.iter().all(|other| is_same(&other)) {
                    Ok(Some(first))
                } else {
                    Err(fatal(node.span, format!("several resources could be meant by this: {}", first.now.shown())))
                }
            }
        }
    }
}

/// A reference that follows a renamed resource: written where it was, and changed by what has changed the name.
fn renamed(node: &Node, name: Option<&Node>) -> Node {
    let Some(name) = name else { return node.clone() };
    let extra = name.step().map(|step| Arc::new(Extra { step: Some(step.clone()), ..Extra::default() }));
    Node { value: name.value.clone(), span: node.span, extra }
}
