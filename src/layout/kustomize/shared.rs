//! Values that a transformer writes into several fields of a resource. In kustomize they are one value from then on: whatever changes
//! it in one of the fields changes it in all of them, as long as the resource is not written and read again.

use std::cell::RefCell;
use std::sync::Arc;

use crate::path::Pointer;
use crate::value::{Extra, Node};

/// The values of a resource that are in several fields of it. A group is known by the provenance that its members have in common.
#[derive(Debug, Clone, Default)]
pub(super) struct Shared {
    groups: Vec<Arc<Extra>>,
}

/// The values that were put in the place of others, in the order of their fields.
#[derive(Debug, Default)]
pub(super) struct Writes {
    made: RefCell<Vec<(Pointer, Node, Node)>>,
}

impl Writes {
    /// Notes a value in the place of another one.
    pub(super) fn note(&self, at: &Pointer, old: &Node, new: &Node) {
        self.made.borrow_mut().push((at.clone(), old.clone(), new.clone()));
    }
}

impl Shared {
    /// Whether nothing is in several fields.
    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Notes that a value is in several fields.
    pub(super) fn add(&mut self, node: &Node) {
        self.groups.extend(node.extra.clone());
    }

    /// Whether a value is in several fields.
    pub(super) fn holds(&self, node: &Node) -> bool {
        self.group(node).is_some()
    }

    /// Every field has a value of its own from now on.
    pub(super) fn separate(&mut self) {
        self.groups.clear();
    }

    fn group(&self, node: &Node) -> Option<usize> {
        let extra = node.extra.as_ref()?;
        self.groups.iter().position(|group| Arc::ptr_eq(group, extra))
    }

    /// The document after values were written into some fields: the last one goes to every field of its group.
    pub(super) fn written(&mut self, document: Node, writes: Writes) -> Node {
        let mut writes = writes.made.into_inner();
        writes.sort_by(|one, other| one.0.tokens().cmp(other.0.tokens()));
        let mut meant: Vec<(usize, Vec<Arc<Extra>>, Node)> = Vec::new();
        for (_, old, new) in writes {
            let Some(group) = self.group(&old) else { continue };
            let members = old.extra.iter().chain(&new.extra).cloned();
            match meant.iter_mut().find(|(known, ..)| *known == group) {
                Some((_, known, last)) => {
                    known.extend(members);
                    *last = new;
                }
                None => meant.push((group, members.collect(), new)),
            }
        }
        for (group, _, last) in &meant {
            if let Some(extra) = &last.extra {
                self.groups[*group] = Arc::clone(extra);
            }
        }
        if meant.is_empty() { document } else { everywhere(&document, &meant).unwrap_or(document) }
    }
}

fn everywhere(node: &Node, meant: &[(usize, Vec<Arc<Extra>>, Node)]) -> Option<Node> {
    if let Some(extra) = &node.extra {
        let is_member = |members: &Vec<Arc<Extra>>| members.iter().any(|member| Arc::ptr_eq(member, extra));
        if let Some((_, _, last)) = meant.iter().find(|(_, members, _)| is_member(members)) {
            return Some(last.clone());
        }
    }
    node.map_children(|child| everywhere(child.node, meant))
}
