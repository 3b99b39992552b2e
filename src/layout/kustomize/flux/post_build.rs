//! `postBuild` of a Flux Kustomization: variables in rendered resources.

use std::cell::RefCell;
use std::collections::BTreeMap;

use smol_str::SmolStr;

use super::envsubst::{self, Variable};
use super::printed;
use crate::document::{self, Format};
use crate::layout::kustomize::fields::get_at;
use crate::layout::kustomize::file::Fields;
use crate::layout::kustomize::load::Loader;
use crate::layout::kustomize::resource::Resource;
use crate::layout::kustomize::scalars::{Dialect, reread};
use crate::layout::kustomize::{Fatal, fatal};
use crate::path::RepoPath;
use crate::text::{SourceText, Sources, Span};
use crate::value::{Entry, Key, Node, StepKind, Value};

/// Finds objects of the repository by kind, namespace and name.
pub(super) type Lookup<'l> = dyn Fn(&str, &str, &str) -> Vec<Node> + 'l;

/// The variables of a Kustomization.
#[derive(Debug, Default)]
pub(super) struct Variables {
    known: BTreeMap<SmolStr, (SmolStr, Span)>,
    /// Whether there may be more of them, outside of the repository.
    is_open: bool,
    is_always: bool,
}

/// So many variables of one text are noted as its origin.
const MOST_NOTED: usize = 64;

/// The label or annotation that keeps a resource as it is.
const SWITCH: &str = "kustomize.toolkit.fluxcd.io/substitute";

/// Reads `spec.postBuild`: variables of ConfigMaps in order, and then those that are written here.
pub(super) fn variables(
    post_build: &Node,
    namespace: &str,
    lookup: &Lookup<'_>,
    loader: &Loader<'_>,
) -> Result<Variables, Fatal> {
    let known = ["substitute", "substituteFrom", "substituteStrategy"];
    let fields = Fields::new(post_build, "postBuild", &known)?;
    let strategy = fields.text("substituteStrategy")?;
    let mut variables =
        Variables { is_always: strategy.is_some_and(|text| text.value == "Always"), ..Variables::default() };
    for source in fields.items("substituteFrom") {
        let text = |name: &str| source.get(name).and_then(Node::as_str).unwrap_or_default();
        let (kind, name) = (text("kind"), text("name"));
        let found = if kind == "ConfigMap" { lookup(kind, namespace, name) } else { Vec::new() };
        match found.first() {
            Some(object) => variables.add(object.get("data"))?,
            None => {
                variables.is_open = true;
                let reason = if kind == "Secret" { "is not read" } else { "is not in this repository" };
                loader.note(source.span, format!("{kind} {name} {reason}, so its variables stay as they are written"));
            }
        }
    }
    variables.add(fields.get("substitute"))?;
    Ok(variables)
}

impl Variables {
    fn add(&mut self, data: Option<&Node>) -> Result<(), Fatal> {
        for entry in data.and_then(Node::as_map).map_or(&[][..], |map| map.entries()) {
            let name = &entry.key.name;
            let is_letter = |first: char| first.is_ascii_alphabetic() || first == '_';
            let is_valid = name.starts_with(is_letter)
                && name.chars().all(|character| is_letter(character) || character.is_ascii_digit());
            if !is_valid {
                return Err(fatal(entry.key.span, format!("`{name}` cannot be the name of a variable")));
            }
            let value = match &entry.value.value {
                Value::String(text) => text.replace('\n', "").into(),
                Value::Number(number) => number.as_str().into(),
                Value::Bool(value) => SmolStr::from(value.to_string()),
                _ => SmolStr::default(),
            };
            self.known.insert(name.clone(), (value, entry.value.span));
        }
        Ok(())
    }

    /// Puts the variables into a resource.
    pub(super) fn apply(&self, resource: &mut Resource, loader: &Loader<'_>) -> Result<(), Fatal> {
        let is_on = self.is_always || self.is_open || !self.known.is_empty();
        let is_disabled = ["labels", "annotations"].iter().any(|field| {
            get_at(&resource.node, &["metadata", field, SWITCH]).and_then(Node::as_str) == Some("disabled")
        });
        if is_on
            && !is_disabled
            && let Some(changed) = self.node(&resource.node, loader)?
        {
            resource.node = changed;
        }
        Ok(())
    }

    /// The node with its variables replaced; `None` if it has none.
    fn node(&self, node: &Node, loader: &Loader<'_>) -> Result<Option<Node>, Fatal> {
        match &node.value {
            Value::String(text) if text.contains('$') => self.text(node, text, loader).map(Some),
            Value::List(list) => {
                let mut items = list.items().to_vec();
                let mut is_changed = false;
                for item in &mut items {
                    if let Some(changed) = self.node(item, loader)? {
                        (*item, is_changed) = (changed, true);
                    }
                }
                let changed = || Node { extra: node.extra.clone(), ..Node::list(items, node.span) };
                Ok(is_changed.then(changed))
            }
            Value::Map(map) => {
                let mut entries: Vec<Entry> = Vec::with_capacity(map.entries().len());
                let mut is_changed = false;
                for entry in map.entries() {
                    let key = if entry.key.name.contains('$') { Some(self.key(&entry.key, loader)?) } else { None };
                    let value = self.node(&entry.value, loader)?;
                    is_changed |= key.is_some() || value.is_some();
                    let key = key.unwrap_or_else(|| entry.key.clone());
                    entries.retain(|other| other.key.name != key.name);
                    entries.push(Entry { key, value: value.unwrap_or_else(|| entry.value.clone()) });
                }
                let changed = || Node { extra: node.extra.clone(), ..Node::map(entries, node.span) };
                Ok(is_changed.then(changed))
            }
            _ => Ok(None),
        }
    }

    fn text(&self, node: &Node, text: &str, loader: &Loader<'_>) -> Result<Node, Fatal> {
        let (document, used) = self.document(&printed::as_value(text), node.span, loader)?;
        let Some(value) = document.get("v").filter(|value| !value.is_identical(node)) else { return Ok(node.clone()) };
        let placed = Node { extra: node.extra.clone(), ..value.written_at(node.span) };
        // The first variable is the last step.
        let used = if used.is_empty() { vec![node.span] } else { used };
        Ok(used.into_iter().rev().fold(placed, |node, at| node.through(StepKind::Kustomize("postBuild"), at)))
    }

    fn key(&self, key: &Key, loader: &Loader<'_>) -> Result<Key, Fatal> {
        let (document, _) = self.document(&printed::as_key(&key.name), key.span, loader)?;
        let entry = document.as_map().and_then(|map| map.entries().first());
        let name = entry.map(|entry| entry.key.name.clone());
        let name = name.ok_or_else(|| fatal(key.span, "this key is no longer one with its variables replaced"))?;
        Ok(Key { name, span: key.span, ..key.clone() })
    }

    /// A printed document with variables replaced, read again, and where the variables are defined.
    fn document(&self, text: &str, at: Span, loader: &Loader<'_>) -> Result<(Node, Vec<Span>), Fatal> {
        let used = RefCell::new(Vec::new());
        let value = |name: &str| match self.known.get(name) {
            Some((value, span)) => {
                let mut used = used.borrow_mut();
                if used.len() < MOST_NOTED && !used.contains(span) {
                    used.push(*span);
                }
                Variable::Known(value.as_str())
            }
            None if self.is_open => Variable::Unknown,
            None => Variable::Undefined,
        };
        let text = envsubst::substitute(text, &value).map_err(|reason| fatal(at, reason))?;
        let scratch = Sources::default();
        let source = scratch.add(SourceText::new(RepoPath::root(), "", text.as_str()));
        let parsed = document::parse(&text, source, Format::Yaml, loader.given().limits);
        let document = parsed.value.first().filter(|_| parsed.findings.iter().all(|finding| !finding.is_error()));
        let broken = || fatal(at, "this is not valid YAML with its variables replaced");
        let node = reread(&document.ok_or_else(broken)?.root, Dialect::Yaml11, &scratch).map_err(|_| broken())?;
        Ok((node, used.into_inner()))
    }
}
