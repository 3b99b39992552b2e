//! A layout that exists only here: it asks every kind of question that a layout can ask, and its units render new units.

use outcrop::finding::{self, Finding, Location};
use outcrop::layout::{Ask, IndexEntry, Layout, Rendered};
use outcrop::path::RepoPath;
use outcrop::resource::{Identity, KubernetesName, Resource, Unit};
use outcrop::text::Span;
use outcrop::value::{Entry, Node};
use proptest::prelude::*;

/// Files `stacks/NAME.yaml` are units; what is below their keys says what they are made of:
///
/// * `file`: the resources of a file, or that it is absent
/// * `names`: the names in a directory
/// * `folder`: every file below a directory, with its size
/// * `thing`: the files that hold a `Thing` of this name nearest to `from`
/// * `of`: what another stack renders
/// * `makes`: the unit `made/NAME` is found in the output; it is `made/NAME.yaml`, if there is such a file
pub(crate) struct Stacks;

const NAME: &str = "stacks";

fn unit(key: impl AsRef<str>) -> Unit {
    Unit { layout: NAME.into(), key: key.as_ref().into() }
}

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap_or_default()
}

impl Layout for Stacks {
    fn name(&self) -> &'static str {
        NAME
    }

    fn has_units(&self) -> bool {
        true
    }

    fn units(&self, ask: &Ask<'_, '_>) -> Vec<Unit> {
        let entries = ask.list(&path(NAME));
        let is_stack = |file: &RepoPath| ask.bytes(file).is_some_and(|bytes| !bytes.starts_with(b"off"));
        let files = entries.into_iter().map(|entry| entry.path).filter(is_stack);
        files.filter_map(|file| Some(unit(file.stem_and_extension()?.0))).collect()
    }

    fn units_in(&self, _unit: &Unit, rendered: &Rendered) -> Vec<Unit> {
        let made = rendered.resources.iter().filter_map(|resource| resource.payload.get("makes")?.as_str());
        made.map(|name| unit(format!("made/{name}"))).collect()
    }

    fn render(&self, ask: &Ask<'_, '_>, unit: &Unit) -> Rendered {
        let file = path(&if unit.key.contains('/') {
            format!("{}.yaml", unit.key)
        } else {
            format!("{NAME}/{}.yaml", unit.key)
        });
        let Some(content) = ask.file(&file) else { return Rendered::default() };
        let broken =
            |findings| Rendered { findings, is_broken: true, shows: vec![file.clone()], ..Rendered::default() };
        if content.is_broken {
            return broken(content.findings.clone());
        }
        let mut resources = Vec::new();
        for written in &content.resources {
            let Some(map) = written.payload.as_map() else { continue };
            let mut entries = Vec::new();
            for entry in map.entries() {
                let (name, value) = (entry.key.name.as_str(), &entry.value);
                let Some(answer) = answer(ask, unit, map.get("from"), name, value) else {
                    let location = Location::File { path: file.clone(), revision: "test".into() };
                    return broken(vec![Finding::new(
                        &finding::SOURCE_UNREADABLE,
                        location,
                        format!("{name} is broken"),
                    )]);
                };
                entries.push(Entry::named(name, value.span, answer));
            }
            let name = KubernetesName {
                group: "".into(),
                kind: "Stack".into(),
                namespace: "".into(),
                name: format!("{}-{}", unit.key, written.position).into(),
            };
            let payload = Node::map(entries, written.payload.span);
            resources.push(Resource { identity: Identity::Kubernetes(name), payload, ..written.clone() });
        }
        Rendered { resources, shows: vec![file], ..Rendered::default() }
    }

    fn may_index(&self, _file: &RepoPath, bytes: &[u8]) -> bool {
        bytes.windows(5).any(|window| window == b"Thing")
    }

    fn index(&self, resource: &Resource) -> Vec<IndexEntry> {
        match &resource.identity {
            Identity::Kubernetes(name) if name.kind == "Thing" => {
                vec![IndexEntry { index: "thing".into(), key: name.name.clone() }]
            }
            _ => Vec::new(),
        }
    }
}

/// What a key of a stack is rendered to; nothing if it cannot be known.
fn answer(ask: &Ask<'_, '_>, own: &Unit, from: Option<&Node>, key: &str, value: &Node) -> Option<Node> {
    let span = value.span;
    let Some(name) = value.as_str() else { return Some(value.clone()) };
    Some(match key {
        "file" => match ask.file(&path(name)) {
            Some(content) if content.is_broken => return None,
            Some(content) => list(content.resources.iter().map(|resource| resource.payload.clone()), span),
            None => Node::text("absent", span),
        },
        "names" => list(ask.list(&path(name)).iter().map(|entry| text(&entry.path, span)), span),
        "folder" => {
            let size = |file: &RepoPath| ask.bytes(file).map_or(0, |bytes| bytes.len());
            let files = ask.subtree(&path(name));
            list(files.iter().map(|entry| Node::text(format!("{} {}", entry.path, size(&entry.path)), span)), span)
        }
        "thing" => {
            let from = path(from.and_then(Node::as_str).unwrap_or_default());
            list(ask.look_up("thing", name, &from).iter().map(|file| text(file, span)), span)
        }
        "of" => {
            let output = ask.output(&unit(name));
            if output.is_broken || unit(name) == *own {
                return None;
            }
            list(output.resources.iter().map(|resource| resource.payload.clone()), span)
        }
        _ => value.clone(),
    })
}

fn text(path: &RepoPath, span: Span) -> Node {
    Node::text(path.to_string(), span)
}

fn list(items: impl Iterator<Item = Node>, span: Span) -> Node {
    Node::list(items.collect(), span)
}

/// Files of stacks, and files that stacks make.
pub(crate) fn files() -> impl Strategy<Value = (String, String)> {
    let directories = || prop::sample::select(vec!["a", "a/b", "d", "k", "stacks", ""]);
    let names = || prop::sample::select(vec!["one", "two", "three"]);
    let line = prop_oneof![
        prop::sample::select(vec!["shared.yaml", "deep.yaml", "a/things.yaml", "a/b/resource.yaml", "gone.yaml"])
            .prop_map(|file| format!("file: {file}\n")),
        directories().prop_map(|directory| format!("names: {directory:?}\n")),
        directories().prop_map(|directory| format!("folder: {directory:?}\n")),
        (prop::sample::select(vec!["n0", "n1", "n2"]), directories())
            .prop_map(|(name, from)| format!("thing: {name}\nfrom: {from:?}\n")),
        names().prop_map(|name| format!("of: {name}\n")),
        names().prop_map(|name| format!("makes: {name}\n")),
        Just("value: 1\n".to_owned()),
        Just("off: [\n".to_owned()),
    ];
    let place = prop_oneof![2 => names().prop_map(|name| format!("stacks/{name}.yaml")), 1 => names().prop_map(|name| format!("made/{name}.yaml"))];
    (place, line, 0..3u8).prop_map(|(path, line, value)| (path, format!("{line}plain: {value}\n")))
}
