//! The difference by position, as the programs report it that compare with a server: members by name, items by index.

use smol_str::SmolStr;

use outcrop::path::Pointer;
use outcrop::value::{Node, Value};

/// One place at which two payloads differ.
#[derive(Debug, Clone)]
pub(super) struct Positional {
    /// Where.
    pub(super) path: Pointer,
    /// The local value, if there is one.
    pub(super) local: Option<Node>,
    /// The remote value, if there is one.
    pub(super) remote: Option<Node>,
}

/// Every place at which two payloads differ, sorted by its path as text.
pub(super) fn positional(local: &Node, remote: &Node) -> Vec<Positional> {
    let mut walk = Walk { path: Pointer::root(), found: Vec::new() };
    walk.nodes(local, remote);
    walk.found.sort_by_cached_key(|entry| entry.path.to_string());
    walk.found
}

struct Walk {
    path: Pointer,
    found: Vec<Positional>,
}

impl Walk {
    fn nodes(&mut self, local: &Node, remote: &Node) {
        if local.is_equal(remote) {
            return;
        }
        match (&local.value, &remote.value) {
            (Value::Map(ours), Value::Map(theirs)) => {
                for entry in ours.entries() {
                    self.at(entry.key.name.clone(), Some(&entry.value), theirs.get(&entry.key.name));
                }
                for entry in theirs.entries().iter().filter(|entry| ours.get(&entry.key.name).is_none()) {
                    self.at(entry.key.name.clone(), None, Some(&entry.value));
                }
            }
            (Value::List(ours), Value::List(theirs)) => {
                let (ours, theirs) = (ours.items(), theirs.items());
                for at in 0..ours.len().max(theirs.len()) {
                    self.at(SmolStr::new(at.to_string()), ours.get(at), theirs.get(at));
                }
            }
            _ => self.push(Some(local), Some(remote)),
        }
    }

    fn at(&mut self, token: SmolStr, local: Option<&Node>, remote: Option<&Node>) {
        self.path.push(token);
        match (local, remote) {
            (Some(local), Some(remote)) => self.nodes(local, remote),
            _ => self.push(local, remote),
        }
        self.path.pop();
    }

    fn push(&mut self, local: Option<&Node>, remote: Option<&Node>) {
        self.found.push(Positional { path: self.path.clone(), local: local.cloned(), remote: remote.cloned() });
    }
}

impl Positional {
    /// `add` where only the remote has a value, `remove` where only the local one has, `replace` where both have.
    pub(super) fn operation(&self) -> &'static str {
        match (&self.local, &self.remote) {
            (None, _) => "add",
            (Some(_), None) => "remove",
            (Some(_), Some(_)) => "replace",
        }
    }
}
