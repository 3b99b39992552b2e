//! A tree of resources in memory.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use super::super::tree::{Payload, ResourceId, Tree};
use crate::path::LogicalPath;
use crate::value::Node;

/// Resources by their paths. Paths in between become resources without a payload.
#[derive(Debug)]
pub(crate) struct MemoryTree {
    resources: Vec<Member>,
    by_path: BTreeMap<SmolStr, ResourceId>,
    read: RefCell<BTreeSet<SmolStr>>,
}

#[derive(Debug)]
struct Member {
    path: LogicalPath,
    parent: Option<ResourceId>,
    children: BTreeMap<SmolStr, ResourceId>,
    payload: Payload,
}

impl Default for MemoryTree {
    fn default() -> Self {
        let root = LogicalPath::root();
        let by_path = BTreeMap::from([(root.as_str().into(), ResourceId(0))]);
        let root = Member { path: root, parent: None, children: BTreeMap::new(), payload: Payload::Nothing };
        Self { resources: vec![root], by_path, read: RefCell::default() }
    }
}

impl MemoryTree {
    /// The tree with one more resource.
    #[must_use]
    pub(crate) fn with(self, path: &LogicalPath, payload: Node) -> Self {
        self.having(path, Payload::Node(payload))
    }

    /// The tree with one more resource, whose payload may be absent or unknown.
    #[must_use]
    pub(crate) fn having(mut self, path: &LogicalPath, payload: Payload) -> Self {
        let id = self.ensure(path);
        self.resources[id.0].payload = payload;
        self
    }

    /// The paths of the resources whose payloads were asked for.
    pub(crate) fn read(&self) -> Vec<SmolStr> {
        self.read.borrow().iter().cloned().collect()
    }

    fn ensure(&mut self, path: &LogicalPath) -> ResourceId {
        let mut missing = Vec::new();
        let mut known = path.clone();
        let mut parent = loop {
            if let Some(&id) = self.by_path.get(known.as_str()) {
                break id;
            }
            missing.push(known.clone());
            known = known.parent().unwrap_or_else(LogicalPath::root);
        };
        for path in missing.into_iter().rev() {
            let id = ResourceId(self.resources.len());
            self.by_path.insert(path.as_str().into(), id);
            self.resources[parent.0].children.insert(path.as_str().into(), id);
            let payload = Payload::Nothing;
            self.resources.push(Member { path, parent: Some(parent), children: BTreeMap::new(), payload });
            parent = id;
        }
        parent
    }
}

impl Tree for MemoryTree {
    fn root(&self) -> ResourceId {
        ResourceId(0)
    }

    fn parent(&self, of: ResourceId) -> Option<ResourceId> {
        self.resources[of.0].parent
    }

    fn children(&self, of: ResourceId) -> Vec<ResourceId> {
        self.resources[of.0].children.values().copied().collect()
    }

    fn name(&self, of: ResourceId) -> SmolStr {
        self.resources[of.0].path.last().unwrap_or("root").into()
    }

    fn path(&self, of: ResourceId) -> SmolStr {
        self.resources[of.0].path.as_str().into()
    }

    fn file(&self, _of: ResourceId) -> Option<SmolStr> {
        None
    }

    fn kind(&self, of: ResourceId) -> Option<SmolStr> {
        match &self.resources[of.0].payload {
            Payload::Node(node) => node.get("kind").and_then(Node::as_str).map(SmolStr::new),
            Payload::Nothing | Payload::Unreadable(_) => None,
        }
    }

    fn by_path(&self, path: &str) -> Option<ResourceId> {
        let path = SmolStr::from_iter(["/", path.trim_start_matches('/')]);
        self.by_path.get(&path).copied()
    }

    fn by_name(&self, name: &str) -> Vec<ResourceId> {
        self.by_path.values().copied().filter(|&id| self.name(id) == name).collect()
    }

    fn payload(&self, of: ResourceId) -> Payload {
        self.read.borrow_mut().insert(self.path(of));
        self.resources[of.0].payload.clone()
    }
}
