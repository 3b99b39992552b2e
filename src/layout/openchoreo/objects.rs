//! Looks objects up in a repository: by name, by owner, and of several copies the one nearest to where it is referred to.

use smol_str::format_smolstr;

use super::object::{CHANNELS, ENVIRONMENTS, KINDS, OBJECTS, OWNED, Object, ObjectName, text};
use crate::glob::Pattern;
use crate::layout::Ask;
use crate::path::RepoPath;

/// The objects of a repository. Everything that is looked up becomes an input.
pub(super) struct Objects<'q, 'f, 'a> {
    pub(super) ask: &'q Ask<'f, 'a>,
    catalog: Vec<Pattern>,
}

impl<'q, 'f, 'a> Objects<'q, 'f, 'a> {
    /// The objects behind an ask.
    pub(super) fn new(ask: &'q Ask<'f, 'a>) -> Self {
        let catalog = ask.settings().catalog.iter().map(|pattern| Pattern::of_path(pattern)).collect();
        Self { ask, catalog }
    }

    /// Whether a file only holds objects for others to refer to.
    pub(super) fn is_catalog(&self, file: &RepoPath) -> bool {
        if self.catalog.is_empty() {
            return false;
        }
        let Some(path) = file.to_str() else { return false };
        let components: Vec<&str> = path.split('/').collect();
        self.catalog.iter().any(|pattern| pattern.covers(&components))
    }

    /// All objects that an index lists under a key and that are meant.
    fn listed(&self, index: &str, key: &str, is_meant: impl Fn(&Object) -> bool) -> Vec<Object> {
        let files = self.ask.look_up(index, key, &RepoPath::root());
        let contents = files.iter().filter_map(|file| self.ask.file(file));
        let objects = contents.flat_map(|content| content.resources.iter().filter_map(Object::of).collect::<Vec<_>>());
        objects.filter(is_meant).collect()
    }

    /// Whether there is an object of this name; its file is not read.
    pub(super) fn has(&self, name: &ObjectName) -> bool {
        !self.ask.look_up(OBJECTS, &name.key(), &RepoPath::root()).is_empty()
    }

    /// Whether there is some object of a kind.
    pub(super) fn has_kind(&self, kind: &str) -> bool {
        !self.ask.look_up(KINDS, kind, &RepoPath::root()).is_empty()
    }

    /// The object of a name, nearest to the file that refers to it. Those of the repository win over those of a catalog.
    pub(super) fn find(&self, name: &ObjectName, from: &RepoPath) -> Option<Object> {
        let found = self.listed(OBJECTS, &name.key(), |object| object.name == *name);
        let (catalog, own): (Vec<Object>, Vec<Object>) = found.into_iter().partition(|it| self.is_catalog(&it.file));
        nearest(own, from).or_else(|| nearest(catalog, from))
    }

    /// All copies of an object in the repository itself.
    pub(super) fn copies(&self, name: &ObjectName) -> Vec<Object> {
        self.listed(OBJECTS, &name.key(), |object| object.name == *name && !self.is_catalog(&object.file))
    }

    /// The workloads or bindings of a component in the repository itself.
    pub(super) fn owned(&self, kind: &str, namespace: &str, component: &str) -> Vec<Object> {
        let key = format_smolstr!("{kind}/{namespace}/{component}");
        let is_meant =
            |it: &Object| it.name.kind == kind && it.name.namespace == namespace && it.owner().1 == component;
        self.listed(OWNED, &key, |object| is_meant(object) && !self.is_catalog(&object.file))
    }

    /// The environments of a namespace.
    pub(super) fn environments(&self, namespace: &str) -> Vec<Object> {
        self.listed(ENVIRONMENTS, namespace, |it| it.name.kind == "Environment" && it.name.namespace == namespace)
    }

    /// The default notification channel of an environment.
    pub(super) fn default_channel(&self, namespace: &str, environment: &str) -> Option<Object> {
        let channels = self.listed(CHANNELS, namespace, |it| {
            let is_default = it.spec(&["isEnvDefault"]).is_some_and(is_true);
            it.name.kind == "ObservabilityAlertsNotificationChannel"
                && it.name.namespace == namespace
                && it.node.get("spec").and_then(|spec| text(spec, "environment")) == Some(environment)
                && is_default
        });
        channels.into_iter().next()
    }

    /// Every object of the repository itself, in the order of files.
    pub(super) fn all(&self) -> Vec<Object> {
        let mut files: Vec<RepoPath> = self.ask.index(KINDS).into_iter().map(|(file, _)| file).collect();
        files.dedup();
        let own = files.iter().filter(|file| !self.is_catalog(file)).filter_map(|file| self.ask.file(file));
        own.flat_map(|content| content.resources.iter().filter_map(Object::of).collect::<Vec<_>>()).collect()
    }
}

fn is_true(node: &crate::value::Node) -> bool {
    matches!(node.value, crate::value::Value::Bool(true))
}

/// The object whose directory shares the longest beginning with that of a file; of several the first by path.
pub(super) fn nearest(objects: Vec<Object>, from: &RepoPath) -> Option<Object> {
    let shared = |object: &Object| shared_directories(&object.file, from);
    let most = objects.iter().map(shared).max()?;
    let near = objects.into_iter().filter(|object| shared(object) == most);
    near.min_by(|a, b| (&a.file, a.position).cmp(&(&b.file, b.position)))
}

/// How many directories two files have in common.
pub(super) fn shared_directories(a: &RepoPath, b: &RepoPath) -> usize {
    let (a, b) = (a.parent().unwrap_or_default(), b.parent().unwrap_or_default());
    a.components().zip(b.components()).take_while(|(a, b)| a == b).count()
}
