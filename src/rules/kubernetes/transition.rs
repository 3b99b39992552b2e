//! A Kubernetes resource on both sides of a change, and what a rule says about it.

use smol_str::SmolStr;

use crate::finding::{Rule, Severity};
use crate::path::Pointer;
use crate::resource::{Identity, KubernetesName, Resource};
use crate::value::{Node, Value};

/// A Kubernetes resource on both sides of a change, as it is rendered.
#[derive(Debug, Clone, Copy)]
pub struct Transition<'r> {
    /// The resource before; absent if it is new.
    pub before: Option<&'r Resource>,
    /// The resource after; absent if it is gone.
    pub after: Option<&'r Resource>,
    /// Whether both may be two objects of two clusters: one root lost the resource, and another one got it.
    pub is_moved: bool,
    /// Whether it is gone together with its root, while other roots still have a resource of its name.
    pub is_left_to_others: bool,
    /// How it is applied.
    pub applied: Applied,
}

/// What is known about how a resource is applied, beside its own annotations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Applied {
    /// Whether objects that cannot be updated are deleted and created again.
    pub is_forced: bool,
    /// Whether objects stay in the cluster when they are removed from the repository.
    pub is_kept: bool,
}

/// Something that a rule found out about a transition. The message is made of `head`, the name of the resource, and `tail`.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) rule: &'static Rule,
    pub(super) severity: Severity,
    /// The place in the newer resource.
    pub(super) at: Pointer,
    /// The place in the older resource.
    pub(super) was: Pointer,
    pub(super) head: String,
    pub(super) tail: String,
    pub(super) help: String,
}

impl Problem {
    pub(super) fn new(rule: &'static Rule, at: Pointer, tail: impl Into<String>) -> Self {
        let severity = rule.severity;
        Self { rule, severity, was: at.clone(), at, head: String::new(), tail: tail.into(), help: String::new() }
    }

    /// Puts words in front of the name of the resource.
    #[must_use]
    pub(super) fn head(self, head: impl Into<String>) -> Self {
        Self { head: head.into(), ..self }
    }

    #[must_use]
    pub(super) fn help(self, help: impl Into<String>) -> Self {
        Self { help: help.into(), ..self }
    }

    #[must_use]
    pub(super) fn severity(self, severity: Severity) -> Self {
        Self { severity, ..self }
    }
}

impl<'r> Transition<'r> {
    /// The resource on the newer side, or on the older if it is gone.
    pub(super) fn resource(&self) -> Option<&'r Resource> {
        self.after.or(self.before)
    }

    /// Its name; nothing if it is no Kubernetes resource.
    pub(super) fn name(&self) -> Option<&'r KubernetesName> {
        self.resource().and_then(kubernetes_name)
    }

    /// Whether it is of a kind.
    pub(super) fn is(&self, group: &str, kind: &str) -> bool {
        self.name().is_some_and(|name| name.group == group && name.kind == kind)
    }

    pub(super) fn older(&self) -> Option<&'r Node> {
        self.before.map(|resource| &resource.payload)
    }

    pub(super) fn newer(&self) -> Option<&'r Node> {
        self.after.map(|resource| &resource.payload)
    }

    /// Both payloads of what is one object on both sides.
    pub(super) fn both(&self) -> Option<(&'r Node, &'r Node)> {
        self.older().zip(self.newer()).filter(|_| !self.is_moved)
    }
}

/// The Kubernetes name of a resource.
pub(super) fn kubernetes_name(resource: &Resource) -> Option<&KubernetesName> {
    match &resource.identity {
        Identity::Kubernetes(name) => Some(name),
        _ => None,
    }
}

/// A pointer that is part of the program.
pub(super) fn pointer(text: &'static str) -> Pointer {
    Pointer::parse(text).expect("pointers in tables are well formed")
}

/// The pointer to a member of what another pointer leads to.
pub(super) fn below(place: &Pointer, token: impl Into<SmolStr>) -> Pointer {
    let mut place = place.clone();
    place.push(token);
    place
}

/// The value at a place, if it says something: null and nothing are the same to the API server.
pub(super) fn written<'n>(root: &'n Node, place: &Pointer) -> Option<&'n Node> {
    root.at(place).filter(|node| !is_empty(node))
}

/// Whether the API server takes a value for none at all.
pub(super) fn is_empty(node: &Node) -> bool {
    match &node.value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::List(list) => list.items().is_empty(),
        Value::Map(map) => map.is_empty(),
        _ => false,
    }
}

/// Whether a value is `true`.
pub(super) fn is_true(node: Option<&Node>) -> bool {
    node.is_some_and(|node| matches!(node.value, Value::Bool(true)))
}

/// A scalar as people write it; nothing for a secret.
pub(super) fn scalar(node: &Node) -> Option<SmolStr> {
    match &node.value {
        Value::Bool(value) => Some(if *value { "true" } else { "false" }.into()),
        Value::Number(number) => Some(number.as_str().into()),
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// The texts of a list of strings.
pub(super) fn texts(node: Option<&Node>) -> Vec<&str> {
    node.and_then(Node::as_list).into_iter().flatten().filter_map(Node::as_str).collect()
}

/// Whether Flux or a template has yet to put a value here, so that nothing is known about it.
pub(super) fn is_placeholder(node: &Node) -> bool {
    node.as_str().is_some_and(|text| text.contains("${") || text.contains("{{"))
}
