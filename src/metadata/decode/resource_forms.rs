//! The forms of fields that newer documents brought: identities, formats, steps, files beside resources, defaults.

use super::{Claim, MetadataReader};
use crate::metadata::field::{Field, FieldHome, FieldPath, Section};
use crate::metadata::spelling;
use crate::metadata::statement::{StatementKind, TransformOrder};
use crate::path::Pointer;
use crate::sanitize;
use crate::value::{Entry, Node, Value};

/// Formats of payloads that are data.
const DATA_FORMATS: [&str; 4] = ["json", "yaml", "ini", "properties"];
const OTHER_FORMATS: [&str; 5] = ["xml", "hcl", "text", "octet-stream", "any"];

/// The names of the kinds of steps, and the fields they are.
const STEP_KINDS: [(&str, Field); 5] = [
    ("selectAttributes", Field::Filter),
    ("excludeAttributes", Field::Suppress),
    ("jqExpression", Field::Jq),
    ("filterAttributes", Field::Filter),
    ("suppressAttributes", Field::Suppress),
];

const SIDECAR_KEYS: [&str; 7] = ["path", "file", "template", "mode", "saveBehavior", "renderBehavior", "enabled"];

impl MetadataReader<'_> {
    /// An identity: `id` and `alias` are templates, the older names hold one attribute.
    pub(super) fn identity(&mut self, claim: &Claim<'_>, what: &str) -> Option<Node> {
        let Value::String(text) = &claim.node.value else {
            self.shape.wrong(claim.node, what, "a text");
            return None;
        };
        let spelled = spelling::identity(text, matches!(claim.name, "id" | "alias"));
        if let Err(reason) = crate::metadata::identity_template::check(&spelled) {
            self.shape.invalid(claim.node, format!("`{what}` is no identity: {reason}"));
            return None;
        }
        Some(Node { value: Value::String(spelled.into()), ..claim.node.clone() })
    }

    pub(super) fn format(&mut self, node: &Node, what: &str) -> Option<Node> {
        let word = node.as_str().unwrap_or_default().trim().to_lowercase();
        let word = if word == "binary" { "octet-stream".to_owned() } else { word };
        if !DATA_FORMATS.iter().chain(&OTHER_FORMATS).any(|known| *known == word) {
            let names: Vec<&str> = DATA_FORMATS.into_iter().chain(OTHER_FORMATS).collect();
            self.shape.wrong(node, what, &format!("one of {}", names.join(", ")));
            return None;
        }
        Some(Node { value: Value::String(word.into()), ..node.clone() })
    }

    /// Fields that name attributes make no sense in a document whose format has none.
    pub(super) fn check_format(&mut self) {
        let format = self.statements.about(&FieldPath::new(Section::Resource, Field::Format));
        let Some(format) = format.and_then(|statement| match &statement.kind {
            StatementKind::Value(node) => node.as_str().map(str::to_owned),
            _ => None,
        }) else {
            return self.check_secret();
        };
        let is_data = DATA_FORMATS.contains(&format.as_str()) || format == "any";
        let names_attributes = |path: &FieldPath| match (path.section, path.field) {
            (Section::Resource, Field::Format | Field::Secret | Field::CollectionPath | Field::Itself) => false,
            (Section::Resource, _) => true,
            (_, Field::RequiredAttributes | Field::Assertions | Field::SchemaRef) => true,
            (_, field) => field.row().is_some_and(|row| row.home == FieldHome::Transform),
        };
        let wrong: Vec<(FieldPath, crate::text::Span)> = self
            .statements
            .all
            .iter()
            .filter(|statement| !is_data && matches!(statement.kind, StatementKind::Value(_)))
            .filter(|statement| names_attributes(&statement.field_path))
            .map(|statement| (statement.field_path.clone(), statement.at))
            .collect();
        for (path, at) in wrong {
            let Some(row) = path.field.row() else { continue };
            let name = self.field_name(path.section, row);
            let message = format!("`{name}` names attributes, and a payload of the format `{format}` has none");
            self.shape.invalid_at(at, message);
        }
        self.check_secret();
    }

    /// A resource that is secret as a whole has no single secret attributes.
    fn check_secret(&mut self) {
        let value = |field| self.statements.about(&FieldPath::new(Section::Resource, field));
        let is_whole = value(Field::Secret).is_some_and(
            |statement| matches!(&statement.kind, StatementKind::Value(node) if matches!(node.value, Value::Bool(true))),
        );
        let list = value(Field::SecretInAttributes).filter(|statement| {
            matches!(&statement.kind, StatementKind::Value(node) if node.as_list().is_some_and(|items| !items.is_empty()))
        });
        if let (true, Some(list)) = (is_whole, list) {
            let at = list.at;
            self.shape.invalid_at(at, "everything of this resource is secret, so no attributes are to be named");
        }
    }

    /// An ordered list of steps, which replaces the transforms of weaker layers as a whole.
    pub(super) fn steps(&mut self, section: Section, claim: &Claim<'_>, what: &str) {
        let items: &[Node] = match &claim.node.value {
            Value::List(_) => claim.node.as_list().unwrap_or_default(),
            _ => return self.shape.wrong(claim.node, what, "a list of steps"),
        };
        let name = what.rsplit('.').next().unwrap_or(what).to_owned();
        let known = self.shape.finding_count();
        let steps: Vec<(Field, Node)> =
            items.iter().enumerate().filter_map(|(at, item)| self.step(item, &format!("{name}[{at}]"))).collect();
        if self.shape.finding_count() > known {
            return;
        }
        let repeats = Field::TRANSFORMS.iter().any(|kind| steps.iter().filter(|(field, _)| field == kind).count() > 1);
        let null = |reader: &mut Self, field| {
            reader.state(FieldPath::new(section, field), claim.at, StatementKind::Null);
        };
        if steps.is_empty() || repeats {
            Field::TRANSFORMS.into_iter().for_each(|field| null(self, field));
            let items = steps.into_iter().map(|(field, node)| step_node(field, node)).collect();
            let list = Node::list(items, claim.node.span);
            return self.state(FieldPath::new(section, Field::Transforms), claim.at, StatementKind::Value(list));
        }
        null(self, Field::Transforms);
        let missing = |field: &Field| steps.iter().all(|(named, _)| named != field);
        Field::TRANSFORMS.into_iter().filter(missing).for_each(|field| null(self, field));
        let mut order = TransformOrder::default();
        for (field, node) in steps {
            order.push(field);
            let at = node.span;
            self.state(FieldPath::new(section, field), at, StatementKind::Value(node));
        }
        self.statements.orders.push((section, order));
    }

    fn step(&mut self, item: &Node, what: &str) -> Option<(Field, Node)> {
        let Some(map) = item.as_map() else {
            self.shape.wrong(item, what, "a map with one kind of step");
            return None;
        };
        let [entry] = map.entries() else {
            self.shape.invalid(item, format!("`{what}` has {} kinds of steps, and a step has exactly one", map.len()));
            return None;
        };
        let Some((_, field)) = STEP_KINDS.iter().find(|(name, _)| *name == entry.key.name) else {
            self.shape.unknown(entry, what, &STEP_KINDS.map(|(name, _)| name)[..3]);
            return None;
        };
        let what = format!("{what}.{}", entry.key.name);
        let value = match field {
            Field::Jq => self.text(&entry.value, &what),
            _ => self.names(&entry.value, *field, &what),
        };
        Some((*field, value?))
    }

    pub(super) fn externalized(&mut self, node: &Node, what: &str) -> Option<Node> {
        let Some(items) = node.as_list() else {
            self.shape.wrong(node, what, "a list of `{path, file}`");
            return None;
        };
        let known = self.shape.finding_count();
        let mut seen: Vec<(String, String)> = Vec::new();
        let mut entries = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let what = format!("{what}[{at}]");
            let Some((item, path, file)) = self.sidecar(item, &what) else { continue };
            if let Some((other, _)) = seen.iter().enumerate().find(|(_, (known, _))| *known == path) {
                self.shape.invalid(&item, format!("`{what}.path` is that of entry {other} too"));
            }
            if let Some((other, _)) = seen.iter().enumerate().find(|(_, (_, known))| *known == file) {
                self.shape.invalid(&item, format!("`{what}.file` is that of entry {other} too"));
            }
            if item.get("enabled").is_none_or(|enabled| !matches!(enabled.value, Value::Bool(false))) {
                seen.push((path, file));
            }
            entries.push(item);
        }
        (self.shape.finding_count() == known).then(|| Node::list(entries, node.span))
    }

    /// An entry with its path as a pointer and its file cleaned.
    fn sidecar(&mut self, item: &Node, what: &str) -> Option<(Node, String, String)> {
        let known = self.shape.finding_count();
        let mut entries: Vec<Entry> = self.shape.entries(item, what, &SIDECAR_KEYS).into_iter().cloned().collect();
        item.as_map()?;
        let (mut path, mut file) = (None, None);
        for entry in &mut entries {
            let name = format!("{what}.{}", entry.key.name);
            match entry.key.name.as_str() {
                "path" => path = self.sidecar_path(&mut entry.value, &name),
                "file" => file = self.sidecar_file(&mut entry.value, &name),
                "enabled" => {
                    self.shape.flag(&entry.value, &name);
                }
                "template" => {
                    self.shape.text(&entry.value, &name);
                }
                key => {
                    let expected = spelling::SIDECAR_DEFAULTS.iter().find(|(known, _)| *known == key);
                    if let Some((_, only)) =
                        expected.filter(|(_, only)| entry.value.as_str().map(str::trim) != Some(*only))
                    {
                        self.shape.wrong(&entry.value, &name, &format!("`{only}` only"));
                    }
                }
            }
        }
        if path.is_none() || file.is_none() {
            if self.shape.finding_count() == known {
                self.shape.invalid(item, format!("`{what}` needs a `path` and a `file`"));
            }
            return None;
        }
        Some((Node::map(entries, item.span), path?, file?))
    }

    /// A pointer, or the list of its tokens as older documents have it.
    fn sidecar_path(&mut self, node: &mut Node, what: &str) -> Option<String> {
        let pointer = match node.as_list() {
            Some(items) => {
                let tokens: Option<Vec<smol_str::SmolStr>> =
                    items.iter().map(|item| item.as_str().map(smol_str::SmolStr::new)).collect();
                tokens.filter(|tokens| !tokens.is_empty()).map(|tokens| tokens.into_iter().collect::<Pointer>())
            }
            None => {
                node.as_str().and_then(|text| Pointer::parse(text.trim()).ok()).filter(|it| !it.tokens().is_empty())
            }
        };
        let Some(pointer) = pointer else {
            self.shape.wrong(node, what, "a JSON Pointer to an attribute");
            return None;
        };
        let text = pointer.to_string();
        *node = Node { value: Value::String(text.as_str().into()), ..node.clone() };
        Some(text)
    }

    fn sidecar_file(&mut self, node: &mut Node, what: &str) -> Option<String> {
        let text = self.shape.text(node, what)?;
        let mut parts: Vec<&str> = Vec::new();
        let mut leads_out = text.trim().starts_with('/') || text.contains('\0');
        for part in text.trim().split('/') {
            match part {
                "" | "." => {}
                ".." => leads_out |= parts.pop().is_none(),
                part => parts.push(part),
            }
        }
        if leads_out || parts.is_empty() {
            let shown = sanitize::inline(&text);
            self.shape.invalid(node, format!("`{what}` is a file beside the resource, and `{shown}` is not"));
            return None;
        }
        let cleaned = parts.join("/");
        *node = Node { value: Value::String(cleaned.as_str().into()), ..node.clone() };
        Some(cleaned)
    }

    pub(super) fn defaults_mode(&mut self, node: &Node, what: &str) -> Option<Node> {
        let choices = [("inherit", ()), ("ignore", ()), ("replace", ())];
        self.shape.choice(node, what, &choices).map(|()| node.clone())
    }

    /// A map, or the content of the file that an include names.
    pub(super) fn default_value(&mut self, node: &Node, what: &str, profile: Option<&str>) -> Option<Node> {
        let Value::String(text) = &node.value else {
            if node.as_map().is_none() {
                self.shape.wrong(node, what, "a map or `{{include defaults.yaml}}`");
                return None;
            }
            return Some(node.clone());
        };
        let Some(file) = included(text, profile) else {
            let stem = profile.map_or_else(|| "defaults".to_owned(), |profile| format!("defaults-{profile}"));
            let message = format!("`{what}` takes a map or exactly `{{{{include {stem}.yaml}}}}`");
            self.shape.invalid(node, message);
            return None;
        };
        let Some(include) = self.include else { return Some(node.clone()) };
        match include(file, node.span) {
            Ok(content) if content.as_map().is_some() => Some(content),
            Ok(content) => {
                let message = format!("`{file}` holds a {}, and defaults are a map", content.type_of());
                self.shape.invalid(node, message);
                None
            }
            Err(findings) => {
                self.read.extend(findings);
                None
            }
        }
    }

    pub(super) fn default_profiles(&mut self, field: &FieldPath, claim: &Claim<'_>, what: &str) {
        let Value::Map(map) = &claim.node.value else {
            return self.shape.wrong(claim.node, what, "a map of profiles");
        };
        let empty = || Node::map(Vec::new(), claim.node.span);
        if map.is_empty() {
            return self.state(field.clone(), claim.at, StatementKind::Present(empty()));
        }
        for entry in map.entries() {
            let path = FieldPath::keyed(field.section, field.field, entry.key.name.clone());
            if !is_profile_name(&entry.key.name) {
                let shown = sanitize::inline(&entry.key.name).into_owned();
                self.shape.invalid_at(entry.key.span, format!("`{shown}` is no name of a profile"));
            } else if matches!(entry.value.value, Value::Null) {
                self.state(path, entry.key.span, StatementKind::Null);
            } else if let Some(value) =
                self.default_value(&entry.value, &format!("{what}.{}", entry.key.name), Some(&entry.key.name))
            {
                self.state(path, entry.key.span, StatementKind::Value(value));
            }
        }
        self.state(field.clone(), claim.at, StatementKind::Present(empty()));
    }
}

/// The file that exactly `{{include FILE}}` names, if it may be one of defaults.
fn included<'t>(text: &'t str, profile: Option<&str>) -> Option<&'t str> {
    let file = text.trim().strip_prefix("{{include ")?.strip_suffix("}}")?;
    let (stem, extension) = file.rsplit_once('.')?;
    let is_named = match profile {
        None => stem == "defaults",
        Some(profile) => stem.strip_prefix("defaults-") == Some(profile),
    };
    let is_known = ["json", "yaml", "yml", "properties"].contains(&extension.to_ascii_lowercase().as_str());
    (is_named && is_known).then_some(file)
}

fn is_profile_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

/// A step in canonical form.
fn step_node(field: Field, node: Node) -> Node {
    let name = field.row().map_or("", |row| row.wire.rsplit('.').next().unwrap_or_default());
    let at = node.span;
    Node::map(vec![Entry::named(name, at, node)], at)
}
