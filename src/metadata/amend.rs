//! Changing one field of a metadata file and nothing else: comments, layout, directives and nulls stay as they are.

use smol_str::SmolStr;

use super::decode::decode;
use super::decode::form_of;
use super::field::{DocumentForm, Field, FieldForm, FieldPath, MEDIA_HEADERS};
use super::layers::Layers;
use super::native;
use super::plan::{EditPlan, MetadataFiles, Planned, Surroundings, not_found, remove, text_of};
use super::selector::MetadataPath;
use super::statement::{Statement, StatementKind, Statements};
use super::target::EditTarget;
use crate::document::{self, Document};
use crate::edit;
use crate::finding::{self, Finding, Location, Rule, has_errors};
use crate::names::Format;
use crate::path::{Pointer, RepoPath};
use crate::text::SourceText;
use crate::value::{Entry, Node, Value, list_index};

/// Sets one field. A text is taken as it is unless it is quoted, everything else is read as YAML; `null` clears what is inherited.
pub fn set_field(path: &MetadataPath, pointer: &Pointer, value: &str, layers: &Layers<'_>, format: Format) -> Planned {
    let place = MetadataFiles::of(path, layers, format)?;
    let amend = Amend { layers, place: &place };
    let target = EditTarget::parse(pointer).map_err(|reason| amend.refuse(&finding::METADATA_UNKNOWN_KEY, reason))?;
    let EditTarget::Field { field_path, header, inside } = &target else {
        return Err(
            amend.refuse(&finding::METADATA_INVALID, format!("`{pointer}` holds several fields; set one of them"))
        );
    };
    let stored = amend.stored()?;
    let nothing = amend.new_document();
    let root = stored.as_ref().map_or(&nothing, |stored| &stored.document.root);
    amend.check_form(field_path, root)?;
    if Field::TRANSFORMS.contains(&field_path.field) {
        let section = target.place_in(root);
        let list = section.iter().position(|name| name == "transforms" || name == "payloadMutation");
        let steps = list.and_then(|end| root.at(&section[..=end].iter().cloned().collect()));
        amend.only_step(field_path.field, steps.and_then(Node::as_list).unwrap_or_default())?;
    }
    let at = target.place_in(root);
    let value = match header {
        Some(name) => amend.header(&target, name, amend.text(value)),
        None => native::spelled(field_path.field, amend.value(field_path, inside, value)?, &at, root),
    };
    let clears = matches!(value.value, Value::Null);
    let new = with_at(root, &at, value);
    let Some(stored) = stored else {
        let statements = decode(&new);
        if !statements.is_sound() {
            return Err(statements.findings);
        }
        let written = match form_of(&new) {
            _ if clears => new,
            Some(DocumentForm::New) => native::document(&statements, layers.nowhere),
            _ => super::compose::statements(&statements, layers.nowhere),
        };
        return Ok(place.write(text_of(&written, &place.file)));
    };
    amend.edited(&stored, &new, std::slice::from_ref(&target)).map(|text| place.write(text))
}

/// Removes one field, or all of a section; a file that is empty afterwards is removed.
pub fn unset_field(path: &MetadataPath, pointer: &Pointer, layers: &Layers<'_>) -> Planned {
    let place = MetadataFiles::of(path, layers, Format::default())?;
    let amend = Amend { layers, place: &place };
    let target = EditTarget::parse(pointer).map_err(|reason| amend.refuse(&finding::METADATA_UNKNOWN_KEY, reason))?;
    let Some(stored) = amend.stored()? else { return Err(vec![not_found(path, &place.directory, layers)]) };
    let at: Pointer = target.place_in(&stored.document.root).into_iter().collect();
    if stored.document.root.at(&at).is_none() {
        let entry = stored.statements.all.iter().find(|statement| target.concerns(&statement.field_path));
        let message = match entry {
            Some(_) => format!("`{pointer}` is not written in {}, but brought in by a directive", place.file),
            None => format!("{} says nothing about `{pointer}`", place.file),
        };
        return Err(amend.refuse(&finding::METADATA_NOT_FOUND, message));
    }
    let Some(new) = without(&stored.document.root, at.tokens()) else { return remove(path, layers) };
    let text = amend.edited(&stored, &new, std::slice::from_ref(&target))?;
    Ok(place.write(text))
}

/// Adds to the file of a path what a document sets and the file does not. What the file sets or clears stays.
pub fn supplement(path: &MetadataPath, document: &Node, layers: &Layers<'_>, format: Format) -> Planned {
    let offered = decode(document);
    if !offered.is_sound() {
        return Err(offered.findings);
    }
    let place = MetadataFiles::of(path, layers, format)?;
    let amend = Amend { layers, place: &place };
    let Some(stored) = amend.stored()? else {
        return Ok(place.write(text_of(&super::compose::statements(&offered, document.span), &place.file)));
    };
    let is_stated = |field_path: &FieldPath| {
        stored.statements.all.iter().any(|known| match known.kind {
            StatementKind::Value(_) | StatementKind::Present(_) => known.field_path == *field_path,
            StatementKind::Null | StatementKind::Empty(_) => known.field_path.covers(field_path),
        })
    };
    let mut root = stored.document.root.clone();
    let mut targets = Vec::new();
    for statement in offered.all.iter().filter(|statement| !is_stated(&statement.field_path)) {
        let StatementKind::Value(value) = &statement.kind else { continue };
        let target = EditTarget::Field { field_path: statement.field_path.clone(), header: None, inside: Vec::new() };
        root = with_at(&root, &target.place_in(&root), value.clone());
        targets.push(target);
    }
    if targets.is_empty() {
        return Ok(EditPlan::default());
    }
    amend.edited(&stored, &root, &targets).map(|text| place.write(text))
}

struct Amend<'a> {
    layers: &'a Layers<'a>,
    place: &'a MetadataFiles,
}

/// What is in the file now.
struct Stored {
    text: std::sync::Arc<str>,
    document: Document,
    statements: Statements,
}

impl Amend<'_> {
    fn stored(&self) -> Result<Option<Stored>, Vec<Finding>> {
        let Some(layer) = &self.place.layer else { return Ok(None) };
        if !layer.statements.is_sound() {
            return Err(layer.statements.findings.clone());
        }
        let source = layer.span.source;
        let text = std::sync::Arc::clone(&self.layers.sources.get(source).text);
        let parsed = document::parse(&text, source, self.format(), self.layers.limits);
        let document = parsed.value.into_iter().next();
        Ok(document.map(|document| Stored { text, document, statements: layer.statements.clone() }))
    }

    /// An empty document of the form that the layers around have: the nearest above, or else most of them.
    fn new_document(&self) -> Node {
        let nowhere = self.layers.nowhere;
        let is_new = Surroundings::of(&self.place.directory, self.layers).form == Some(DocumentForm::New);
        let group = Entry::named("resource", nowhere, Node::map(Vec::new(), nowhere));
        Node::map(if is_new { vec![group] } else { Vec::new() }, nowhere)
    }

    /// Refuses a field that documents of a form do not have.
    fn check_form(&self, field_path: &FieldPath, root: &Node) -> Result<(), Vec<Finding>> {
        let only_new = matches!(
            field_path.field,
            Field::ResourceRequired | Field::DefaultsMode | Field::DefaultsValue | Field::UseProfiles | Field::Profiles
        );
        let is_list = field_path.field == Field::Transforms && root.get("operationsInfo").is_none();
        if form_of(root) != Some(DocumentForm::Old) || !(only_new || is_list) {
            return Ok(());
        }
        let name = field_path.field.row().map_or("", |row| row.wire);
        let message = format!("`{name}` cannot be written in a document of the old form");
        let mut findings = self.refuse(&finding::METADATA_INVALID, message);
        let help = "documents with `resource` and `operations` have it; write the whole file in that form";
        findings.iter_mut().for_each(|finding| finding.help = Some(help.to_owned()));
        Err(findings)
    }

    /// Refuses to pick one of several steps of the same kind.
    fn only_step(&self, field: Field, steps: &[Node]) -> Result<(), Vec<Finding>> {
        let names = super::target::step_names(field);
        let same = steps.iter().filter(|step| names.iter().any(|name| step.get(name).is_some())).count();
        match same {
            0 | 1 => Ok(()),
            _ => Err(self.refuse(
                &finding::METADATA_INVALID,
                format!("`transforms` has {same} steps of this kind; set the whole list"),
            )),
        }
    }

    fn format(&self) -> document::Format {
        Format::of_file_name(self.place.file.file_name()).unwrap_or(Format::Yaml)
    }

    /// The value to set, read in the form of its field.
    fn value(&self, field_path: &FieldPath, inside: &[SmolStr], text: &str) -> Result<Node, Vec<Finding>> {
        let nowhere = self.layers.nowhere;
        let form = field_path.field.row().map_or(FieldForm::Any, |row| row.form);
        if is_null(text) {
            return Ok(Node::new(Value::Null, nowhere));
        }
        let plain = self.text(text);
        match form {
            FieldForm::Text | FieldForm::Identity if text.is_empty() => {
                Err(self.refuse(&finding::METADATA_INVALID, "an empty text says nothing; `unset` removes a field"))
            }
            FieldForm::Text | FieldForm::Identity | FieldForm::Format => Ok(plain),
            FieldForm::Texts if field_path.key.is_some() => Ok(plain),
            FieldForm::Any | FieldForm::DefaultValue if !inside.is_empty() => self.parsed(text),
            _ => match self.parsed(text)? {
                Node { value: Value::Null, .. } => {
                    Err(self.refuse(&finding::METADATA_INVALID, "the value is empty; `null` clears a field"))
                }
                node => Ok(node),
            },
        }
    }

    /// A text: what is in the quotes where it is a quoted YAML string, otherwise all of it, as templates start with braces.
    fn text(&self, text: &str) -> Node {
        let nowhere = self.layers.nowhere;
        let is_quoted = text.trim_start().starts_with(['"', '\'']);
        let parsed = is_quoted.then(|| self.parsed(text).ok()).flatten();
        let inner = parsed.as_ref().and_then(Node::as_str);
        Node::text(inner.unwrap_or(text), nowhere)
    }

    /// A header, in the form that its place takes.
    fn header(&self, target: &EditTarget, name: &str, value: Node) -> Node {
        let empty = Node::map(Vec::new(), self.layers.nowhere);
        let root = self.stored().ok().flatten().map_or(empty, |stored| stored.document.root);
        let place = target.place_in(&root);
        if !place.iter().any(|name| name == "httpHeaders") {
            // In a list of maps and in a map, a header is its value.
            return value;
        }
        let is_new_list = place.last().is_some_and(|last| last == "httpHeaders");
        let written: Pointer = place.into_iter().chain(["name".into()]).collect();
        let media = MEDIA_HEADERS.into_iter().find(|media| media.eq_ignore_ascii_case(name));
        let fresh = media.unwrap_or(name);
        let name = root.at(&written).cloned();
        let name = name.unwrap_or_else(|| Node::text(fresh, self.layers.nowhere));
        let nowhere = self.layers.nowhere;
        let header =
            Node::map(vec![Entry::named("name", nowhere, name), Entry::named("value", nowhere, value)], nowhere);
        if is_new_list { Node::list(vec![header], nowhere) } else { header }
    }

    fn parsed(&self, text: &str) -> Result<Node, Vec<Finding>> {
        let name = RepoPath::new("VALUE").expect("a plain name");
        let source = self.layers.sources.add(SourceText::new(name, "command line", text));
        let parsed = document::parse(text, source, Format::Yaml, self.layers.limits);
        if has_errors(&parsed.findings) {
            return Err(parsed.findings);
        }
        match <[Document; 1]>::try_from(parsed.value) {
            Ok([only]) => Ok(only.root),
            Err(_) => Err(self.refuse(&finding::METADATA_INVALID, "the value is not one YAML value")),
        }
    }

    /// The text of the new document, if nothing but the targets change by it.
    fn edited(&self, stored: &Stored, new: &Node, targets: &[EditTarget]) -> Result<String, Vec<Finding>> {
        let text = edit::edit(&stored.text, &stored.document, new, self.format(), self.layers.limits);
        let cannot = || {
            let message =
                "this field cannot be changed without changing others, because of the form the file is written in";
            let mut findings = self.refuse(&finding::METADATA_INVALID, message);
            let help = "`outcrop metadata set PATH -f FILE` writes the whole document in canonical form";
            findings.iter_mut().for_each(|finding| finding.help = Some(help.to_owned()));
            findings
        };
        let text = text.ok_or_else(cannot)?;
        let source = SourceText::new(self.place.file.clone(), "edited", text.as_str());
        let parsed = document::parse(&text, self.layers.sources.add(source), self.format(), self.layers.limits);
        let document = parsed.value.first().ok_or_else(cannot)?;
        let mut findings = Vec::new();
        let expanded = self.layers.expanded(document, &self.place.file, &mut findings);
        let mut statements = decode(&expanded);
        statements.findings.append(&mut findings);
        if !statements.is_sound() {
            return Err(statements.findings);
        }
        let others = |statements: &Statements| -> Vec<Statement> {
            let counts = |statement: &&Statement| {
                let is_presence =
                    matches!(statement.kind, StatementKind::Present(_)) || statement.field_path.field == Field::Itself;
                !is_presence && !targets.iter().any(|target| target.concerns(&statement.field_path))
            };
            statements.all.iter().filter(counts).cloned().collect()
        };
        let (before, after) = (others(&stored.statements), others(&statements));
        let is_kept = before.len() == after.len() && before.iter().zip(&after).all(|(a, b)| are_equal(a, b));
        if is_kept { Ok(text) } else { Err(cannot()) }
    }

    fn refuse(&self, rule: &'static Rule, message: impl Into<String>) -> Vec<Finding> {
        let location = Location::File { path: self.place.file.clone(), revision: self.layers.label() };
        vec![Finding::new(rule, location, crate::sanitize::inline(&message.into()))]
    }
}

/// Whether a value on the command line is `null`, unquoted.
fn is_null(text: &str) -> bool {
    matches!(text.trim(), "null" | "~")
}

fn are_equal(a: &Statement, b: &Statement) -> bool {
    a.field_path == b.field_path
        && match (&a.kind, &b.kind) {
            (StatementKind::Value(a), StatementKind::Value(b)) => a.is_identical(b),
            (StatementKind::Null, StatementKind::Null) | (StatementKind::Empty(_), StatementKind::Empty(_)) => true,
            _ => false,
        }
}

/// The node with a value at a place; missing maps above it are added.
fn with_at(node: &Node, place: &[SmolStr], value: Node) -> Node {
    let Some((name, rest)) = place.split_first() else { return value };
    let nowhere = value.span;
    if let (Some(items), Some(at)) = (node.as_list(), list_index(name)) {
        let mut items = items.to_vec();
        match items.get(at) {
            Some(item) => items[at] = with_at(item, rest, value),
            None => items.push(with_at(&Node::map(Vec::new(), nowhere), rest, value)),
        }
        return Node { extra: node.extra.clone(), ..Node::list(items, node.span) };
    }
    let mut entries: Vec<Entry> = node.as_map().map(|map| map.entries().to_vec()).unwrap_or_default();
    match entries.iter_mut().find(|entry| entry.key.name == *name) {
        Some(entry) => entry.value = with_at(&entry.value, rest, value),
        None => {
            entries.push(Entry::named(name.clone(), nowhere, with_at(&Node::map(Vec::new(), nowhere), rest, value)))
        }
    }
    Node { extra: node.extra.clone(), ..Node::map(entries, node.span) }
}

/// The node without the value at a place, and without the maps and lists that this leaves empty; `None` if nothing is left.
fn without(node: &Node, place: &[SmolStr]) -> Option<Node> {
    let (name, rest) = place.split_first()?;
    if let (Some(items), Some(at)) = (node.as_list(), list_index(name)) {
        let mut items = items.to_vec();
        match without(items.get(at)?, rest) {
            Some(item) => items[at] = item,
            None => {
                items.remove(at);
            }
        }
        let list = Node { extra: node.extra.clone(), ..Node::list(items, node.span) };
        return Some(list).filter(|list| list.as_list().is_some_and(|items| !items.is_empty()));
    }
    let map = node.as_map()?;
    let mut entries = map.entries().to_vec();
    let at = map.position(name)?;
    match without(&entries[at].value, rest) {
        Some(value) => entries[at].value = value,
        None => {
            entries.remove(at);
        }
    }
    (!entries.is_empty()).then(|| Node { extra: node.extra.clone(), ..Node::map(entries, node.span) })
}
