//! Numbers for secrets, `#1`, `#2`: equal secrets have equal numbers, so that equality is visible without the value.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use super::Report;
use crate::diff::Change;
use crate::value::{Node, Secret, Value};

/// The secrets of a run, numbered in order of appearance. Every format visits a report in the same order, so the numbers agree.
#[derive(Debug, Default)]
pub(super) struct SecretNumbers {
    /// By a hash that means nothing outside this run; it decides nothing but the bucket.
    seen: BTreeMap<u64, Vec<(Secret, usize)>>,
    count: usize,
}

impl SecretNumbers {
    /// The numbers of all secrets that a report can show.
    pub(super) fn number_all(report: &Report) -> Self {
        let mut secret_numbers = Self::default();
        for resource in &report.resources {
            for change in resource.changes() {
                change.before.iter().chain(&change.after).for_each(|node| secret_numbers.meet(node));
            }
            if resource.before.is_none() || resource.after.is_none() {
                resource
                    .before
                    .iter()
                    .chain(&resource.after)
                    .for_each(|resource| secret_numbers.meet(&resource.payload));
            }
        }
        secret_numbers
    }

    /// The number of a secret.
    pub(super) fn number(&mut self, secret: &Secret, hash: u64) -> usize {
        let bucket = self.seen.entry(hash).or_default();
        if let Some((_, number)) = bucket.iter().find(|(known, _)| known.is_equal(secret)) {
            return *number;
        }
        self.count += 1;
        bucket.push((secret.clone(), self.count));
        self.count
    }

    /// The number of a node that is a secret.
    pub(super) fn of_node(&mut self, node: &Node) -> Option<usize> {
        match &node.value {
            Value::Secret(secret) => Some(self.number(secret, node.hash())),
            _ => None,
        }
    }

    /// A copy of a value with `(sensitive)#N` or `(withheld)#N` in place of its secrets.
    pub(super) fn masked(&mut self, node: &Node) -> Node {
        self.mask(node).unwrap_or_else(|| node.clone())
    }

    /// `None` if there is nothing to mask, so that values without secrets are not copied.
    fn mask(&mut self, node: &Node) -> Option<Node> {
        let Value::Secret(secret) = &node.value else { return node.map_children(|child| self.mask(child.node)) };
        let words = format!("({})#{}", secret.word(), self.number(secret, node.hash()));
        Some(Node { value: Value::String(SmolStr::from(words)), ..node.clone() })
    }

    fn meet(&mut self, node: &Node) {
        if let Value::Secret(secret) = &node.value {
            self.number(secret, node.hash());
        }
        node.children().for_each(|child| self.meet(child.node));
    }
}

/// Why the sides of a change are not shown, in one word.
pub(super) fn word(change: &Change) -> &'static str {
    let secret = change.before.iter().chain(&change.after).find_map(|node| match &node.value {
        Value::Secret(secret) => Some(secret.word()),
        _ => None,
    });
    secret.unwrap_or("sensitive")
}

/// Whether a change concerns a value that is never shown.
pub(super) fn concerns_secret(change: &Change) -> bool {
    change.before.iter().chain(&change.after).any(Node::holds_secret)
}

/// Whether one side of a change is itself a secret: then neither side is shown.
pub(super) fn is_secret(change: &Change) -> bool {
    change.before.iter().chain(&change.after).any(|node| matches!(node.value, Value::Secret(_)))
}
