//! Expressions in the payloads of a world: what they may see of other resources, and what they give.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

use smol_str::SmolStr;

use super::World;
use crate::expression::path::{Payload, ResourceId, Tree, compute, has_expressions};
use crate::finding::Outcome;
use crate::path::LogicalPath;
use crate::resource::{Identity, Resource};
use crate::value::Node;

impl World<'_> {
    /// A payload with its expressions replaced by what they give, seen from the resource that owns them.
    pub(super) fn computed(&self, resource: &Resource) -> Outcome<Node> {
        let path = self.path_of(resource).filter(|_| self.settings.expressions && has_expressions(&resource.payload));
        let Some(path) = path else { return Outcome::clean(resource.payload.clone()) };
        let tree = WorldTree::new(self);
        compute(&resource.payload, tree.id(&path), &tree, self.limits)
    }
}

/// The resources of a world as expressions see them: a tree of paths, secrets of others hidden.
pub struct WorldTree<'a> {
    world: &'a World<'a>,
    paths: Mutex<Paths>,
    /// Every path of the tree by its last segment, for short names.
    names: OnceLock<BTreeMap<SmolStr, Vec<LogicalPath>>>,
}

#[derive(Default)]
struct Paths {
    all: Vec<LogicalPath>,
    ids: BTreeMap<LogicalPath, ResourceId>,
}

impl<'a> WorldTree<'a> {
    /// The tree of a world.
    pub fn new(world: &'a World<'a>) -> Self {
        Self { world, paths: Mutex::default(), names: OnceLock::new() }
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

    fn names(&self) -> &BTreeMap<SmolStr, Vec<LogicalPath>> {
        self.names.get_or_init(|| {
            let mut names: BTreeMap<SmolStr, Vec<LogicalPath>> = BTreeMap::new();
            let mut waiting = vec![LogicalPath::root()];
            while let Some(path) = waiting.pop() {
                waiting.extend(self.world.children(&path));
                names.entry(path.last().unwrap_or("root").into()).or_default().push(path);
            }
            names.values_mut().for_each(|paths| paths.sort_unstable());
            names
        })
    }
}

impl Tree for WorldTree<'_> {
    fn root(&self) -> ResourceId {
        self.id(&LogicalPath::root())
    }

    fn parent(&self, of: ResourceId) -> Option<ResourceId> {
        Some(self.id(&self.logical(of).parent()?))
    }

    fn children(&self, of: ResourceId) -> Vec<ResourceId> {
        self.world.children(&self.logical(of)).iter().map(|path| self.id(path)).collect()
    }

    fn name(&self, of: ResourceId) -> SmolStr {
        self.logical(of).last().unwrap_or("root").into()
    }

    fn path(&self, of: ResourceId) -> SmolStr {
        self.logical(of).as_str().into()
    }

    fn file(&self, of: ResourceId) -> Option<SmolStr> {
        self.world.find(&self.logical(of)).map(|resource| resource.file.to_string().into())
    }

    fn kind(&self, of: ResourceId) -> Option<SmolStr> {
        match self.world.find(&self.logical(of))?.identity {
            Identity::Kubernetes(name) => Some(name.kind),
            _ => None,
        }
    }

    fn by_path(&self, path: &str) -> Option<ResourceId> {
        let path = LogicalPath::parse(&format!("/{}", path.trim_start_matches('/'))).ok()?;
        let stands = path.is_root() || self.world.find(&path).is_some() || !self.world.children(&path).is_empty();
        stands.then(|| self.id(&path))
    }

    fn by_name(&self, name: &str) -> Vec<ResourceId> {
        self.names().get(name).into_iter().flatten().map(|path| self.id(path)).collect()
    }

    fn payload(&self, of: ResourceId) -> Payload {
        let path = self.logical(of);
        match self.world.find(&path) {
            Some(resource) => Payload::Node(self.world.hidden(resource).payload),
            None => match self.world.is_broken_at(&path) {
                true => Payload::Unreadable("its file has errors".to_owned()),
                false => Payload::Nothing,
            },
        }
    }
}
