//! The JSON Schema of metadata documents, for editors; made from the table of fields.

use super::decode::FLAT_RESOURCE;
use super::field::{FieldForm, FieldRow, Operation, Section};
use crate::document::write;
use crate::path::RepoPath;
use crate::text::{SourceText, Sources, Span};
use crate::value::{Entry, Node, Value};

/// The schema as JSON text. Older names are part of it, marked as deprecated, and `null` is allowed wherever it clears something.
pub fn schema() -> String {
    // Nodes need spans; these point into a text of their own.
    let source = Sources::default().add(SourceText::new(RepoPath::root(), "outcrop", ""));
    write::to_json(&SchemaWriter { nowhere: Span::new(source, 0, 0) }.document())
}

struct SchemaWriter {
    nowhere: Span,
}

impl SchemaWriter {
    fn document(&self) -> Node {
        let mut operations = vec![("defaults", self.section(Section::Defaults, "shared by all operations"))];
        for operation in Operation::ALL {
            operations.push((operation.wire(), self.reference(operation, false)));
        }
        operations.extend(Operation::ALL.map(|operation| (operation.name(), self.reference(operation, true))));
        let mut top = vec![
            ("resourceInfo", self.section(Section::Resource, "identity, secrets and collection of resources")),
            ("operationInfo", self.object(operations, "what to send for each operation")),
        ];
        let named = || {
            let mut operations = vec![("defaults", self.section(Section::Defaults, "shared by all operations"))];
            operations.extend(Operation::ALL.map(|operation| (operation.name(), self.reference(operation, false))));
            operations.extend(Operation::ALL.map(|operation| (operation.wire(), self.reference(operation, true))));
            operations
        };
        let flag = self.described(self.types(&["boolean", "null"]), "whether the layer applies to everything below");
        top.push(("selector", self.object(vec![("descendants", flag)], "how far the layer reaches")));
        top.push(("resource", self.section(Section::Resource, "identity, secrets and collection of resources")));
        top.push(("operations", self.object(named(), "what to send for each operation")));
        top.push(("operationsInfo", self.deprecated(self.object(named(), ""), "operationInfo")));
        for row in Section::Resource.rows() {
            for place in [row.wire].into_iter().chain(row.aliases.iter().copied()) {
                if FLAT_RESOURCE.contains(&place) {
                    let canonical = format!("resourceInfo.{}", row.wire);
                    top.push((place, self.deprecated(self.form(row, place), &canonical)));
                }
            }
        }
        for row in Section::Defaults.rows() {
            let older = row.aliases.iter().find(|alias| !alias.contains('.')).copied();
            let canonical = format!("operationInfo.defaults.{}", row.wire);
            top.extend(older.map(|name| (name, self.deprecated(self.form(row, name), &canonical))));
        }
        let definitions = Operation::ALL
            .map(|operation| (operation.wire(), self.section(Section::Operation(operation), operation.name())))
            .to_vec();
        let mut entries = vec![
            ("$schema", self.text("http://json-schema.org/draft-07/schema#")),
            ("title", self.text("Metadata of resources")),
        ];
        let body = self.object(top, "a layer: what it says overrides weaker layers, and null clears what they say");
        let body = body.as_map().map(|map| map.entries().to_vec()).unwrap_or_default();
        let mut all: Vec<Entry> = entries.drain(..).map(|(name, value)| self.entry(name, value)).collect();
        all.extend(body);
        all.push(self.entry("definitions", self.map(definitions)));
        Node::map(all, self.nowhere)
    }

    fn reference(&self, operation: Operation, is_older: bool) -> Node {
        let target = self.map(vec![("$ref", self.text(&format!("#/definitions/{}", operation.wire())))]);
        if !is_older {
            return target;
        }
        let all_of = self.map(vec![("allOf", self.list(vec![target]))]);
        self.deprecated(all_of, operation.wire())
    }

    /// Every place of every field of a section, those inside maps gathered.
    fn section(&self, section: Section, about: &str) -> Node {
        let mut properties: Vec<(&str, Node)> = Vec::new();
        let mut inner: Vec<(&str, Vec<(&str, Node)>)> = Vec::new();
        for row in section.rows() {
            for place in row.all_places(section) {
                let is_new = row.newer.first() == Some(&place);
                let form = match place == row.place(section) || is_new {
                    true => self.described(self.form(row, place), row.about),
                    false => self.deprecated(self.form(row, place), row.place(section)),
                };
                let Some((container, name)) = place.split_once('.') else {
                    properties.push((place, form));
                    continue;
                };
                match inner.iter_mut().find(|(known, _)| *known == container) {
                    Some((_, fields)) => fields.push((name, form)),
                    None => inner.push((container, vec![(name, form)])),
                }
            }
        }
        properties.extend(inner.into_iter().map(|(container, fields)| (container, self.object(fields, ""))));
        self.object(properties, about)
    }

    fn form(&self, row: &FieldRow, place: &str) -> Node {
        let texts = || ("additionalProperties", self.types(&["string", "null"]));
        match (row.form, place) {
            (FieldForm::Text, _) | (FieldForm::Headers, "accept" | "contentType") => self.types(&["string", "null"]),
            (FieldForm::Names, _) => {
                self.with(self.types(&["array", "string", "null"]), ("items", self.types(&["string"])))
            }
            (FieldForm::Texts, _) => self.with(self.types(&["object", "null"]), texts()),
            (FieldForm::Headers, "headers") => {
                let item = self.with(self.types(&["object"]), texts());
                self.with(self.with(self.types(&["object", "array", "null"]), texts()), ("items", item))
            }
            (FieldForm::Headers, _) => {
                let fields = vec![("name", self.types(&["string"])), ("value", self.types(&["string", "null"]))];
                self.items(fields, &["name", "value"])
            }
            (FieldForm::Assertions, _) => {
                let fields = vec![("message", self.types(&["string", "null"])), ("jq", self.types(&["string"]))];
                self.items(fields, &["jq"])
            }
            (FieldForm::Any, _) => self.map(Vec::new()),
            (FieldForm::Identity | FieldForm::Format | FieldForm::DefaultsMode, _) => self.types(&["string", "null"]),
            (FieldForm::Flag, _) => self.types(&["boolean", "null"]),
            (FieldForm::DefaultValue, _) => self.types(&["object", "string", "null"]),
            (FieldForm::DefaultProfiles, _) => {
                let values = self.types(&["object", "string", "null"]);
                self.with(self.types(&["object", "null"]), ("additionalProperties", values))
            }
            (FieldForm::Externalized, _) => {
                let text = || self.types(&["string"]);
                let names = ["file", "template", "mode", "saveBehavior", "renderBehavior"];
                let mut fields: Vec<(&str, Node)> = names.into_iter().map(|name| (name, text())).collect();
                fields.push(("path", self.types(&["string", "array"])));
                fields.push(("enabled", self.types(&["boolean"])));
                self.items(fields, &["path", "file"])
            }
            (FieldForm::Steps, _) => {
                let names = || self.with(self.types(&["array", "string"]), ("items", self.types(&["string"])));
                let lists = ["selectAttributes", "excludeAttributes", "filterAttributes", "suppressAttributes"];
                let mut fields: Vec<(&str, Node)> = lists.into_iter().map(|name| (name, names())).collect();
                fields.push(("jqExpression", self.types(&["string"])));
                self.items(fields, &[])
            }
        }
    }

    fn items(&self, fields: Vec<(&str, Node)>, required: &[&str]) -> Node {
        let required = self.list(required.iter().map(|name| self.text(name)).collect());
        let item = self.map(vec![
            ("type", self.text("object")),
            ("additionalProperties", Node::new(Value::Bool(false), self.nowhere)),
            ("required", required),
            ("properties", self.map(fields)),
        ]);
        self.with(self.types(&["array", "null"]), ("items", item))
    }

    /// A map with these keys and no others, but for merge directives, which are gone before it is read.
    fn object(&self, properties: Vec<(&str, Node)>, about: &str) -> Node {
        let object = self.map(vec![
            ("type", self.list(vec![self.text("object"), self.text("null")])),
            ("additionalProperties", Node::new(Value::Bool(false), self.nowhere)),
            ("patternProperties", self.map(vec![("^\\+", self.map(Vec::new()))])),
            ("properties", self.map(properties)),
        ]);
        if about.is_empty() { object } else { self.described(object, about) }
    }

    fn deprecated(&self, schema: Node, canonical: &str) -> Node {
        let schema = self.described(schema, &format!("older name of {canonical}"));
        self.with(schema, ("deprecated", Node::new(Value::Bool(true), self.nowhere)))
    }

    fn described(&self, schema: Node, about: &str) -> Node {
        self.with(schema, ("description", self.text(about)))
    }

    fn types(&self, names: &[&str]) -> Node {
        let value = match names {
            [only] => self.text(only),
            _ => self.list(names.iter().map(|name| self.text(name)).collect()),
        };
        self.map(vec![("type", value)])
    }

    fn with(&self, map: Node, (name, value): (&str, Node)) -> Node {
        let mut entries = map.as_map().map(|map| map.entries().to_vec()).unwrap_or_default();
        entries.retain(|entry| entry.key.name != name);
        entries.push(self.entry(name, value));
        Node::map(entries, self.nowhere)
    }

    fn map(&self, entries: Vec<(&str, Node)>) -> Node {
        Node::map(entries.into_iter().map(|(name, value)| self.entry(name, value)).collect(), self.nowhere)
    }

    fn list(&self, items: Vec<Node>) -> Node {
        Node::list(items, self.nowhere)
    }

    fn text(&self, text: &str) -> Node {
        Node::text(text, self.nowhere)
    }

    fn entry(&self, name: &str, value: Node) -> Entry {
        Entry::named(name, self.nowhere, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Format, parse};
    use crate::limits::Limits;

    #[test]
    fn every_name_that_is_read_is_in_the_schema() {
        let text = schema();
        let source = Sources::default().add(SourceText::new(RepoPath::root(), "test", text.as_str()));
        let parsed = parse(&text, source, Format::Json, &Limits::default());
        assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
        let root = &parsed.value[0].root;
        let property = |node: &Node, name: &str| node.get("properties").and_then(|all| all.get(name)).cloned();
        for section in Section::all() {
            let schema = match section {
                Section::Resource => property(root, "resourceInfo"),
                Section::Defaults => property(root, "operationInfo").and_then(|info| property(&info, "defaults")),
                Section::Operation(operation) => {
                    root.get("definitions").and_then(|all| all.get(operation.wire())).cloned()
                }
                Section::Operations => continue,
            };
            let schema = schema.unwrap_or_else(|| panic!("{section:?}"));
            for place in section.rows().flat_map(|row| row.all_places(section)) {
                let found = place.split('.').try_fold(schema.clone(), |schema, name| property(&schema, name));
                assert!(found.is_some(), "{section:?} {place}");
            }
        }
    }
}
