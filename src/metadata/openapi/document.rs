//! An OpenAPI document that is asked many times: its paths are read once, and so is every pattern of its schemas.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use super::api::{Api, PathItem};
use super::schema;
use super::template::PathTemplate;
use crate::path::RepoPath;
use crate::schema::Patterns;
use crate::value::{Entry, Node};

/// A document with an index of its paths.
#[derive(Debug)]
pub struct ApiDocument {
    root: Node,
    files: BTreeSet<RepoPath>,
    /// The position of every path in the map of paths, by the number of its segments.
    by_length: BTreeMap<usize, Vec<usize>>,
    /// What comes before every path on a server.
    base_paths: Vec<String>,
    patterns: Patterns,
}

/// What a document knows about a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownRequest {
    /// The path and the method, with the media types of bodies and of responses, in byte order.
    Yes {
        /// Media types that a body may have.
        takes: Vec<SmolStr>,
        /// Media types that a response may have.
        gives: Vec<SmolStr>,
    },
    /// The path, but only with these methods.
    OtherMethods(Vec<&'static str>),
    /// Nothing.
    No,
}

impl ApiDocument {
    /// Reads the paths of a document that was put together from these files.
    pub fn new(root: Node, files: BTreeSet<RepoPath>) -> Self {
        let mut by_length: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, entry) in path_entries(&root).iter().enumerate() {
            if let Some(template) = PathTemplate::parse(&entry.key.name) {
                by_length.entry(template.len()).or_default().push(at);
            }
        }
        let base_paths = base_paths(&root);
        Self { root, files, by_length, base_paths, patterns: Patterns::default() }
    }

    /// The document itself.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// The files that it was put together from.
    pub fn files(&self) -> &BTreeSet<RepoPath> {
        &self.files
    }

    /// The compiled patterns of its schemas.
    pub(super) fn patterns(&self) -> &Patterns {
        &self.patterns
    }

    /// Whether it describes any path.
    pub fn has_paths(&self) -> bool {
        !self.by_length.is_empty()
    }

    /// What it knows about a request.
    pub fn knows(&self, method: &str, path: &str) -> KnownRequest {
        let api = Api::new(&self.root);
        let items = self.items_for(path, &api);
        let method = method.to_ascii_lowercase();
        let known = items.iter().find_map(|item| Some((item, item.operation(&method)?)));
        match known {
            Some((item, operation)) => KnownRequest::Yes {
                takes: schema::taken_media(&api, item, operation, &self.root),
                gives: schema::given_media(&api, operation, &self.root),
            },
            None if items.is_empty() => KnownRequest::No,
            None => {
                let mut methods: Vec<&str> = Vec::new();
                for method in items.iter().flat_map(PathItem::methods) {
                    if !methods.contains(&method) {
                        methods.push(method);
                    }
                }
                KnownRequest::OtherMethods(methods)
            }
        }
    }

    /// The first of some methods that a path has.
    pub fn first_method(&self, path: &str, methods: &[&'static str]) -> Option<&'static str> {
        let items = self.items_for(path, &Api::new(&self.root));
        methods.iter().copied().find(|method| items.iter().any(|item| item.operation(method).is_some()))
    }

    /// The path of the document that a request with a method means: of those that match, one with the method.
    pub(super) fn item_for<'a>(&'a self, method: &str, path: &str, api: &Api<'a>) -> Option<PathItem<'a>> {
        let mut items = self.items_for(path, api);
        let at = items.iter().position(|item| item.operation(method).is_some()).unwrap_or_default();
        (at < items.len()).then(|| items.swap_remove(at))
    }

    /// The paths of the document that match the path of a request, with or without what comes before it on a server: those with the
    /// fewest variables, in byte order. Two paths may differ in nothing but the names of their variables.
    fn items_for<'a>(&'a self, path: &str, api: &Api<'a>) -> Vec<PathItem<'a>> {
        let below = self.base_paths.iter().filter_map(|base| path.strip_prefix(base.as_str()));
        let items = std::iter::once(path).chain(below).map(|path| self.items_at(path, api));
        items.into_iter().find(|items| !items.is_empty()).unwrap_or_default()
    }

    fn items_at<'a>(&'a self, path: &str, api: &Api<'a>) -> Vec<PathItem<'a>> {
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let entries = path_entries(&self.root);
        let candidates = self.by_length.get(&segments.len()).into_iter().flatten().filter_map(|at| entries.get(*at));
        let fitting = candidates.filter(|entry| may_stand_for(&entry.key.name, &segments));
        let items = fitting.filter_map(|entry| api.path_item(entry)).filter(|item| item.template.stands_for(&segments));
        let mut items: Vec<PathItem<'a>> = items.collect();
        let fewest = items.iter().map(|item| item.template.variables()).min();
        items.retain(|item| Some(item.template.variables()) == fewest);
        items.sort_by_key(|item| item.text);
        items
    }
}

/// Whether the segments without variables are the same; cheap, because most paths of a document are others.
fn may_stand_for(template: &str, segments: &[&str]) -> bool {
    let mut own = template.split('/').filter(|segment| !segment.is_empty());
    segments.iter().all(|segment| own.next().is_some_and(|own| own == *segment || own.contains('{')))
}

fn path_entries(root: &Node) -> &[Entry] {
    root.get("paths").and_then(Node::as_map).map(|map| map.entries()).unwrap_or_default()
}

/// The path of every server, as versions 3 write it, and of the one host of version 2.
fn base_paths(root: &Node) -> Vec<String> {
    let servers = root.get("servers").and_then(Node::as_list).unwrap_or_default().iter();
    let urls = servers.filter_map(|server| server.get("url")?.as_str());
    let paths = urls.map(|url| match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
        None => url,
    });
    let paths = paths.chain(root.get("basePath").and_then(Node::as_str));
    let paths = paths.map(|path| path.trim_end_matches('/').to_owned());
    paths.filter(|path| path.starts_with('/')).collect()
}
