//! The forms of single fields: texts, lists, maps, headers, assertions.

use std::borrow::Cow;

use super::{Claim, MetadataReader};
use crate::metadata::field::{Field, FieldForm, FieldPath, FieldRow, Section, is_media_header};
use crate::metadata::spelling;
use crate::metadata::statement::StatementKind;
use crate::sanitize;
use crate::text::Span;
use crate::value::{Entry, Node, Value};

/// A header as it is written somewhere; without a value it is cleared.
struct Header<'n> {
    name: &'n str,
    value: Option<&'n Node>,
    at: Span,
}

impl MetadataReader<'_> {
    /// Adds the statement of a claim, if its value has the right form.
    pub(super) fn value(&mut self, section: Section, row: &FieldRow, claim: &Claim<'_>) {
        let field_path = FieldPath::new(section, row.field);
        let what = self.field_name(section, row);
        let node = match row.form {
            FieldForm::Text => {
                self.text(claim.node, &what).filter(|node| row.field != Field::SchemaRef || self.schema_ref(node))
            }
            FieldForm::Names => self.names(claim.node, row.field, &what),
            FieldForm::Any => Some(claim.node.clone()),
            FieldForm::Assertions => self.assertions(claim.node, &what),
            FieldForm::Identity => self.identity(claim, &what),
            FieldForm::Flag => self.shape.flag(claim.node, &what).map(|_| claim.node.clone()),
            FieldForm::Format => self.format(claim.node, &what),
            FieldForm::Externalized => self.externalized(claim.node, &what),
            FieldForm::DefaultsMode => self.defaults_mode(claim.node, &what),
            FieldForm::DefaultValue => self.default_value(claim.node, &what, None),
            FieldForm::DefaultProfiles => return self.default_profiles(&field_path, claim, &what),
            FieldForm::Steps => return self.steps(section, claim, &what),
            FieldForm::Texts => return self.texts(&field_path, claim),
            FieldForm::Headers => return self.headers(section, claim),
        };
        if let Some(node) = node {
            self.state(field_path, claim.at, StatementKind::Value(node));
        }
    }

    pub(super) fn text(&mut self, node: &Node, what: &str) -> Option<Node> {
        match &node.value {
            Value::String(text) => Some(match spelling::placeholders(text) {
                Cow::Borrowed(_) => node.clone(),
                Cow::Owned(spelled) => Node { value: Value::String(spelled.into()), ..node.clone() },
            }),
            _ => {
                self.shape.wrong(node, what, "a text");
                None
            }
        }
    }

    fn schema_ref(&mut self, node: &Node) -> bool {
        let text = node.as_str().unwrap_or_default();
        let is_known = text.trim() == "openapi:request-body" || text.trim().starts_with("openapi:#/");
        if !is_known {
            let shown = sanitize::inline(text);
            let message = format!("`schemaRef` takes `openapi:request-body` or `openapi:#/…`, not `{shown}`");
            self.shape.invalid(node, message);
        }
        is_known
    }

    /// A list of texts; one text is a list of one.
    pub(super) fn names(&mut self, node: &Node, field: Field, what: &str) -> Option<Node> {
        let items: &[Node] = match &node.value {
            Value::String(_) => std::slice::from_ref(node),
            Value::List(_) => node.as_list().unwrap_or_default(),
            _ => {
                self.shape.wrong(node, what, "a list of texts");
                return None;
            }
        };
        let mut is_sound = true;
        for item in items {
            match item.as_str() {
                None => self.shape.wrong(item, what, "a list of texts"),
                Some(name) if field == Field::RequiredAttributes && name.trim().is_empty() => {
                    self.shape.invalid(item, "an attribute in `requiredAttributes` has a blank name");
                }
                Some(_) => continue,
            }
            is_sound = false;
        }
        is_sound.then(|| if node.as_str().is_some() { Node::list(items.to_vec(), node.span) } else { node.clone() })
    }

    /// A map whose keys count one by one.
    fn texts(&mut self, field: &FieldPath, claim: &Claim<'_>) {
        let Value::Map(map) = &claim.node.value else {
            return self.shape.wrong(claim.node, &field.to_string(), "a map of texts");
        };
        let empty = || Node::map(Vec::new(), claim.node.span);
        if map.is_empty() {
            return self.state(field.clone(), claim.at, StatementKind::Empty(empty()));
        }
        let mut has_value = false;
        for entry in map.entries() {
            let field_path = FieldPath::keyed(field.section, field.field, entry.key.name.clone());
            match &entry.value.value {
                Value::Null => self.state(field_path, entry.key.span, StatementKind::Null),
                Value::String(_) => {
                    has_value = true;
                    if let Some(value) = self.text(&entry.value, "") {
                        self.state(field_path, entry.key.span, StatementKind::Value(value));
                    }
                }
                _ => self.shape.wrong(&entry.value, &sanitize::inline(&field_path.to_string()), "a text"),
            }
        }
        // A map of nothing but nulls clears some keys; it does not say that there is a map.
        if has_value {
            self.state(field.clone(), claim.at, StatementKind::Present(empty()));
        }
    }

    fn headers(&mut self, section: Section, claim: &Claim<'_>) {
        let Some(mut headers) = self.written_headers(section, claim) else { return };
        let field = FieldPath::new(section, Field::Headers);
        let empty = Node::list(Vec::new(), claim.node.span);
        let is_empty = claim.node.as_list().is_some_and(<[Node]>::is_empty);
        if is_empty || claim.node.as_map().is_some_and(|map| map.is_empty()) {
            return self.state(field, claim.at, StatementKind::Empty(empty));
        }
        // Of two with the same name the later counts; names of headers have no case.
        headers.reverse();
        let mut seen: Vec<String> = Vec::new();
        let mut has_value = false;
        for header in headers {
            let key = header.name.to_ascii_lowercase();
            if seen.contains(&key) {
                continue;
            }
            has_value |= header.value.is_some() && !is_media_header(header.name);
            self.header(section, &header);
            seen.push(key);
        }
        if has_value {
            self.state(field, claim.at, StatementKind::Present(empty));
        }
    }

    /// The headers as written, in written order; nothing if the value is no form of headers at all.
    fn written_headers<'n>(&mut self, section: Section, claim: &Claim<'n>) -> Option<Vec<Header<'n>>> {
        let group = self.group_name(section);
        let what = || format!("{group}.{}", claim.name);
        match (&claim.node.value, claim.name) {
            (Value::Map(map), "headers") => {
                let what = what();
                let entry = |entry: &'n Entry| self.checked(&entry.key.name, Some(&entry.value), entry.key.span, &what);
                Some(map.entries().iter().filter_map(entry).collect())
            }
            (Value::List(_), _) => {
                let items = claim.node.as_list().unwrap_or_default();
                let what = what();
                Some(items.iter().flat_map(|item| self.header_items(item, claim.name, &what)).collect())
            }
            (_, name) => {
                let wanted =
                    if name == "headers" { "a map of texts, or a list of them" } else { "a list of `{name, value}`" };
                self.shape.wrong(claim.node, &what(), wanted);
                None
            }
        }
    }

    /// The headers of an item of a list: `{name, value}`, or in a list called `headers` any number of names and values.
    fn header_items<'n>(&mut self, item: &'n Node, list: &str, what: &str) -> Vec<Header<'n>> {
        let is_named = |map: &crate::value::Map| map.get("name").is_some() && map.get("value").is_some();
        match item.as_map().filter(|map| list == "headers" && !is_named(map)) {
            Some(map) => {
                let entry = |entry: &'n Entry| self.checked(&entry.key.name, Some(&entry.value), entry.key.span, what);
                map.entries().iter().filter_map(entry).collect()
            }
            None => self.header_item(item, what).into_iter().collect(),
        }
    }

    fn header_item<'n>(&mut self, item: &'n Node, what: &str) -> Option<Header<'n>> {
        let entries = self.shape.entries(item, what, &["name", "value"]);
        let member = |name: &str| entries.iter().find(|entry| entry.key.name == name).map(|entry| &entry.value);
        item.as_map()?;
        let Some(name) = member("name").and_then(Node::as_str) else {
            self.shape.invalid(item, format!("a header in `{what}` needs a `name`, a text"));
            return None;
        };
        self.checked(name, member("value"), item.span, what)
    }

    fn checked<'n>(&mut self, name: &'n str, value: Option<&'n Node>, at: Span, what: &str) -> Option<Header<'n>> {
        let shown = sanitize::inline(name);
        match value.map(|node| (node, &node.value)) {
            Some((node, _)) if name.trim().is_empty() => {
                self.shape.invalid(node, format!("a header in `{what}` has no name"))
            }
            Some((_, Value::Null)) => return Some(Header { name, value: None, at }),
            Some((node, Value::String(_))) => return Some(Header { name, value: Some(node), at }),
            Some((node, _)) => self.shape.wrong(node, &format!("{what}.{shown}"), "a text"),
            None => {
                self.shape.invalid_at(at, format!("header `{shown}` in `{what}` needs a `value`; `null` clears it"))
            }
        }
        None
    }

    /// `accept` and `contentType`, which give way to the same header in the list.
    pub(super) fn media_header(&mut self, section: Section, claim: &Claim<'_>) {
        let Some(name) = claim.header else { return };
        let known = FieldPath::keyed(section, Field::Headers, name.to_ascii_lowercase());
        if let Some(statement) = self.statements.about(&known) {
            let at = statement.at;
            return self.ignore(claim.at, at, claim.name, "httpHeaders");
        }
        let what = format!("{}.{}", self.group_name(section), claim.name);
        match &claim.node.value {
            Value::Null => self.header(section, &Header { name, value: None, at: claim.at }),
            Value::String(_) => self.header(section, &Header { name, value: Some(claim.node), at: claim.at }),
            _ => self.shape.wrong(claim.node, &what, "a text"),
        }
    }

    fn header(&mut self, section: Section, header: &Header<'_>) {
        let field_path = FieldPath::keyed(section, Field::Headers, header.name.to_ascii_lowercase());
        let media = super::MEDIA_HEADERS.into_iter().find(|media| media.eq_ignore_ascii_case(header.name));
        let kind = match header.value {
            None => StatementKind::Null,
            // These two merge like texts, and an empty text is ignored.
            Some(value) if media.is_some() && value.as_str() == Some("") => return,
            Some(value) => {
                let spelled = self.text(value, "").unwrap_or_else(|| value.clone());
                StatementKind::Value(header_node(media.unwrap_or(header.name), &spelled, header.at))
            }
        };
        self.state(field_path, header.at, kind);
    }

    fn assertions(&mut self, node: &Node, what: &str) -> Option<Node> {
        let Some(items) = node.as_list() else {
            self.shape.wrong(node, what, "a list of `{message, jq}`");
            return None;
        };
        let sound: Vec<Option<Node>> =
            items.iter().enumerate().map(|(at, item)| self.assertion(item, &format!("{what}[{at}]"))).collect();
        let items: Option<Vec<Node>> = sound.into_iter().collect();
        items.map(|items| Node::list(items, node.span))
    }

    fn assertion(&mut self, item: &Node, what: &str) -> Option<Node> {
        let mut entries: Vec<Entry> = self.shape.entries(item, what, &["message", "jq"]).into_iter().cloned().collect();
        item.as_map()?;
        entries.retain(|entry| !matches!(entry.value.value, Value::Null));
        if let Some(entry) = entries.iter().find(|entry| entry.value.as_str().is_none()) {
            self.shape.wrong(&entry.value, &format!("{what}.{}", entry.key.name), "a text");
            return None;
        }
        let jq = entries.iter().find(|entry| entry.key.name == "jq").and_then(|entry| entry.value.as_str());
        if jq.is_none_or(|jq| jq.trim().is_empty()) {
            self.shape.invalid(item, format!("`{what}` needs `jq`, the condition that must hold"));
            return None;
        }
        entries.sort_by_key(|entry| entry.key.name != "message");
        Some(Node::map(entries, item.span))
    }
}

/// A header in canonical form.
fn header_node(name: &str, value: &Node, at: Span) -> Node {
    Node::map(vec![Entry::named("name", at, Node::text(name, at)), Entry::named("value", at, value.clone())], at)
}
