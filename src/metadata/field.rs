//! The table of metadata fields: names, form, merging, default and purpose of each.
//!
//! Reading, merging, writing, the schema for editors and the page for people all follow this table.

use std::fmt;

use smol_str::SmolStr;

use crate::path::Pointer;

/// One field of a metadata document.
#[derive(Debug)]
pub struct FieldRow {
    /// The field.
    pub field: Field,
    /// The sections that can contain it.
    pub home: FieldHome,
    /// Its canonical place in the section; a dot leads into a map.
    pub wire: &'static str,
    /// Older places that it is read from, strongest first.
    pub aliases: &'static [&'static str],
    /// The form of its value.
    pub form: FieldForm,
    /// How values of weaker layers are merged.
    pub merge: MergeMode,
    /// The value where no layer sets the field.
    pub default: fn(Operation) -> FieldDefault,
    /// Whether `{{resource_format .}}` in it is rendered for display.
    pub knows_format: bool,
    /// The parts of a request that depend on it.
    pub affects: RequestParts,
    /// Whether its templates name segments of the logical path.
    pub names_segments: bool,
    /// What it is for, in one sentence without a full stop.
    pub about: &'static str,
}

/// The value of a field that no layer sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldDefault {
    /// The field has no value.
    None,
    /// A text.
    Text(&'static str),
    /// An empty map.
    EmptyMap,
    /// An empty list.
    EmptyList,
    /// Headers by name.
    Headers(&'static [(&'static str, &'static str)]),
}

/// Parts of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestParts {
    /// The method.
    pub method: bool,
    /// The path.
    pub path: bool,
    /// The query parameters.
    pub query: bool,
    /// The headers.
    pub headers: bool,
    /// The body.
    pub body: bool,
}

/// Every field, in the order of [`Field`] and of canonical documents.
pub static FIELDS: [FieldRow; 15] = [
    FieldRow {
        about: "attribute of the payload that holds the id on the server; a dotted path",
        ..FieldRow::text(Field::IdFromAttribute, FieldHome::Resource, "idFromAttribute")
    },
    FieldRow {
        about: "attribute of the payload that holds the name people use; a dotted path",
        ..FieldRow::text(Field::AliasFromAttribute, FieldHome::Resource, "aliasFromAttribute")
    },
    FieldRow {
        knows_format: true,
        names_segments: true,
        about: "path of the collection on the server, if it is not the logical one; a template",
        ..FieldRow::text(Field::CollectionPath, FieldHome::Resource, "collectionPath")
    },
    FieldRow {
        aliases: &["secretsFromAttributes"],
        form: FieldForm::Names,
        about: "attributes that hold secrets: a dotted path, or a bare name at any depth",
        ..FieldRow::text(Field::SecretInAttributes, FieldHome::Resource, "secretInAttributes")
    },
    FieldRow {
        aliases: &["method"],
        default: default_method,
        knows_format: true,
        affects: RequestParts { method: true, ..RequestParts::NONE },
        about: "HTTP method; a template",
        ..FieldRow::text(Field::Method, FieldHome::Operation, "httpMethod")
    },
    FieldRow {
        aliases: &["url.path"],
        default: default_path,
        knows_format: true,
        affects: RequestParts { path: true, ..RequestParts::NONE },
        names_segments: true,
        about: "path of the request; a template, relative to the collection if it starts with `.`",
        ..FieldRow::text(Field::Path, FieldHome::Operation, "path")
    },
    FieldRow {
        form: FieldForm::Texts,
        merge: MergeMode::PerKey,
        default: |_| FieldDefault::EmptyMap,
        knows_format: true,
        affects: RequestParts { query: true, ..RequestParts::NONE },
        about: "query parameters; values are templates",
        ..FieldRow::text(Field::Query, FieldHome::Operation, "query")
    },
    FieldRow {
        aliases: &["headers", "accept", "contentType"],
        form: FieldForm::Headers,
        merge: MergeMode::PerKey,
        default: default_headers,
        knows_format: true,
        affects: RequestParts { headers: true, ..RequestParts::NONE },
        about: "headers; values are templates, `Accept` and `Content-Type` survive an empty list",
        ..FieldRow::text(Field::Headers, FieldHome::Operation, "httpHeaders")
    },
    FieldRow {
        form: FieldForm::Any,
        knows_format: true,
        about: "body to send in place of the payload; never rendered",
        ..FieldRow::text(Field::Body, FieldHome::Operation, "body")
    },
    FieldRow {
        aliases: &["payload.filter", "filter"],
        form: FieldForm::Names,
        about: "attributes to keep: top-level names or JSON Pointers",
        ..FieldRow::text(Field::Filter, FieldHome::Transform, "payload.filterAttributes")
    },
    FieldRow {
        aliases: &["payload.suppress", "suppress"],
        form: FieldForm::Names,
        default: |_| FieldDefault::EmptyList,
        about: "attributes to leave out: top-level names or JSON Pointers",
        ..FieldRow::text(Field::Suppress, FieldHome::Transform, "payload.suppressAttributes")
    },
    FieldRow {
        aliases: &["payload.jq", "jq"],
        knows_format: true,
        names_segments: true,
        about: "jq expression over the payload; a template",
        ..FieldRow::text(Field::Jq, FieldHome::Transform, "payload.jqExpression")
    },
    FieldRow {
        form: FieldForm::Names,
        affects: RequestParts { body: true, ..RequestParts::NONE },
        about: "top-level attributes the body must have",
        ..FieldRow::text(Field::RequiredAttributes, FieldHome::Operation, "validate.requiredAttributes")
    },
    FieldRow {
        form: FieldForm::Assertions,
        affects: RequestParts { body: true, ..RequestParts::NONE },
        about: "conditions in jq that must hold for the body, each with a message",
        ..FieldRow::text(Field::Assertions, FieldHome::Operation, "validate.assertions")
    },
    FieldRow {
        affects: RequestParts { body: true, ..RequestParts::NONE },
        about: "schema of the body: `openapi:request-body` or `openapi:#/…`",
        ..FieldRow::text(Field::SchemaRef, FieldHome::Operation, "validate.schemaRef")
    },
];

impl FieldRow {
    /// A text that the strongest layer decides.
    const fn text(field: Field, home: FieldHome, wire: &'static str) -> Self {
        Self {
            field,
            home,
            wire,
            aliases: &[],
            form: FieldForm::Text,
            merge: MergeMode::Replace,
            default: |_| FieldDefault::None,
            knows_format: false,
            affects: RequestParts::ALL,
            names_segments: false,
            about: "",
        }
    }

    /// The places a section reads this field from, the canonical one first.
    pub fn places(&self, section: Section) -> Vec<&'static str> {
        let mut places = Vec::with_capacity(5);
        // Comparing has no payload of its own: its transforms are at the top.
        if section == Section::Operation(Operation::Compare)
            && let Some(top) = self.wire.strip_prefix("payload.")
        {
            places.push(top);
            places.extend((self.field == Field::Suppress).then_some("ignoreAttributes"));
        }
        places.push(self.wire);
        places.extend_from_slice(self.aliases);
        places
    }

    /// The canonical place in a section.
    pub fn place(&self, section: Section) -> &'static str {
        match section {
            Section::Operation(Operation::Compare) => self.wire.strip_prefix("payload.").unwrap_or(self.wire),
            _ => self.wire,
        }
    }
}

/// A field of a metadata document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The section itself: its presence.
    Itself,
    /// `idFromAttribute`
    IdFromAttribute,
    /// `aliasFromAttribute`
    AliasFromAttribute,
    /// `collectionPath`
    CollectionPath,
    /// `secretInAttributes`
    SecretInAttributes,
    /// `httpMethod`
    Method,
    /// `path`
    Path,
    /// `query`
    Query,
    /// `httpHeaders`
    Headers,
    /// `body`
    Body,
    /// `payload.filterAttributes`
    Filter,
    /// `payload.suppressAttributes`
    Suppress,
    /// `payload.jqExpression`
    Jq,
    /// `validate.requiredAttributes`
    RequiredAttributes,
    /// `validate.assertions`
    Assertions,
    /// `validate.schemaRef`
    SchemaRef,
}

impl Field {
    /// The transforms, in the order they run unless a document says otherwise.
    pub const TRANSFORMS: [Self; 3] = [Self::Filter, Self::Suppress, Self::Jq];

    /// Its row in the table; the section itself has none.
    pub fn row(self) -> Option<&'static FieldRow> {
        FIELDS.get((self as usize).checked_sub(1)?)
    }

    /// Its text where no layer sets it; empty if it has none.
    pub fn default_text(self, operation: Operation) -> &'static str {
        match self.default(operation) {
            FieldDefault::Text(text) => text,
            _ => "",
        }
    }

    /// Its value where no layer sets it.
    pub fn default(self, operation: Operation) -> FieldDefault {
        self.row().map_or(FieldDefault::None, |row| (row.default)(operation))
    }

    /// Whether its values have keys of their own.
    pub fn is_per_key(self) -> bool {
        self.row().is_some_and(|row| row.merge == MergeMode::PerKey)
    }
}

/// The sections that can contain a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldHome {
    /// `resourceInfo`.
    Resource,
    /// Every operation.
    Operation,
    /// Every operation, and the defaults that all of them share.
    Transform,
}

/// The form of a field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldForm {
    /// A text; an empty one is ignored.
    Text,
    /// A list of texts; one text is a list of one.
    Names,
    /// A map of texts.
    Texts,
    /// A list of `{name, value}`, or a map from name to value.
    Headers,
    /// Anything.
    Any,
    /// A list of `{message, jq}`.
    Assertions,
}

/// How the values of weaker layers are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeMode {
    /// They are replaced as a whole.
    Replace,
    /// They stay, key by key, unless the same key is set; an empty map replaces them all.
    PerKey,
}

/// An operation on a resource or a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Read one.
    Get,
    /// Make one.
    Create,
    /// Change one.
    Update,
    /// Remove one.
    Delete,
    /// Read a collection.
    List,
    /// Compare the stored one with the server's.
    Compare,
}

impl Operation {
    /// All of them, in the order of canonical documents.
    pub const ALL: [Self; 6] = [Self::Get, Self::Create, Self::Update, Self::Delete, Self::List, Self::Compare];

    /// Its name on the command line: `get`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::List => "list",
            Self::Compare => "compare",
        }
    }

    /// Its name in documents: `getResource`.
    pub fn wire(self) -> &'static str {
        match self {
            Self::Get => "getResource",
            Self::Create => "createResource",
            Self::Update => "updateResource",
            Self::Delete => "deleteResource",
            Self::List => "listCollection",
            Self::Compare => "compareResources",
        }
    }

    /// The operation of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }
}

/// A part of a document with fields of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// `resourceInfo`.
    Resource,
    /// `operationInfo`, which holds all that follow.
    Operations,
    /// `operationInfo.defaults`.
    Defaults,
    /// One operation.
    Operation(Operation),
}

impl Section {
    /// All of them, in the order of canonical documents.
    pub fn all() -> impl Iterator<Item = Self> {
        [Self::Resource, Self::Operations, Self::Defaults].into_iter().chain(Operation::ALL.map(Self::Operation))
    }

    /// The keys that lead to it in a document.
    pub fn wire(self) -> &'static [&'static str] {
        match self {
            Self::Resource => &["resourceInfo"],
            Self::Operations => &["operationInfo"],
            Self::Defaults => &["operationInfo", "defaults"],
            Self::Operation(Operation::Get) => &["operationInfo", "getResource"],
            Self::Operation(Operation::Create) => &["operationInfo", "createResource"],
            Self::Operation(Operation::Update) => &["operationInfo", "updateResource"],
            Self::Operation(Operation::Delete) => &["operationInfo", "deleteResource"],
            Self::Operation(Operation::List) => &["operationInfo", "listCollection"],
            Self::Operation(Operation::Compare) => &["operationInfo", "compareResources"],
        }
    }

    /// The fields it can have.
    pub fn rows(self) -> impl Iterator<Item = &'static FieldRow> {
        FIELDS.iter().filter(move |row| match self {
            Self::Resource => row.home == FieldHome::Resource,
            Self::Operations => false,
            Self::Defaults => row.home == FieldHome::Transform,
            Self::Operation(_) => row.home != FieldHome::Resource,
        })
    }
}

/// Something that a layer can set and another can override: a field of a section, or one key of a field.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath {
    /// The section.
    pub section: Section,
    /// The field.
    pub field: Field,
    /// The key, where each key counts on its own; for headers in lower case, because their names have no case.
    pub key: Option<SmolStr>,
}

impl FieldPath {
    /// A whole field.
    pub fn new(section: Section, field: Field) -> Self {
        Self { section, field, key: None }
    }

    /// One key of a field.
    pub fn keyed(section: Section, field: Field, key: impl Into<SmolStr>) -> Self {
        Self { section, field, key: Some(key.into()) }
    }

    /// The field that keys of a canonical document lead to or into; `None` if they end above the fields.
    pub fn containing(keys: &[&str]) -> Option<Self> {
        let fields = Section::all().flat_map(|section| section.rows().map(move |row| (section, row)));
        let mut fields = fields.filter(|(section, row)| {
            let place = section.wire().iter().copied().chain(row.place(*section).split('.'));
            place.clone().count() <= keys.len() && place.zip(keys).all(|(expected, key)| expected == *key)
        });
        fields.next().map(|(section, row)| Self::new(section, row.field))
    }

    /// Its pointer in a canonical document.
    pub fn pointer(&self) -> Pointer {
        let field = self.field.row().map(|row| row.place(self.section).split('.')).into_iter().flatten();
        let fixed = self.section.wire().iter().copied().chain(field).map(SmolStr::new_static);
        fixed.chain(self.key.clone()).collect()
    }

    /// Whether clearing this clears the other: a section all it holds, a field all its keys. Headers that say how to read the
    /// body are only ever cleared by name.
    pub fn covers(&self, other: &Self) -> bool {
        match (self.section, self.field, &self.key) {
            (Section::Operations, Field::Itself, _) => other.section != Section::Resource,
            (section, Field::Itself, _) => section == other.section,
            (section, field, None) => {
                (section, field) == (other.section, other.field)
                    && !(field == Field::Headers && other.key.as_deref().is_some_and(is_media_header))
            }
            _ => self == other,
        }
    }
}

impl fmt::Display for FieldPath {
    /// `operationInfo.getResource.query.page`; callers sanitize it before printing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.section.wire().join("."))?;
        if let Some(row) = self.field.row() {
            write!(f, ".{}", row.place(self.section))?;
        }
        self.key.iter().try_for_each(|key| write!(f, ".{key}"))
    }
}

/// The two headers that name the format of a body, as they are written.
pub(super) const MEDIA_HEADERS: [&str; 2] = ["Accept", "Content-Type"];

/// Whether a header names the format of a body; case is ignored.
pub(super) fn is_media_header(name: &str) -> bool {
    MEDIA_HEADERS.iter().any(|media| media.eq_ignore_ascii_case(name))
}

fn default_method(operation: Operation) -> FieldDefault {
    FieldDefault::Text(match operation {
        Operation::Create => "POST",
        Operation::Update => "PUT",
        Operation::Delete => "DELETE",
        Operation::Get | Operation::List | Operation::Compare => "GET",
    })
}

fn default_path(operation: Operation) -> FieldDefault {
    FieldDefault::Text(match operation {
        Operation::Create | Operation::List => ".",
        _ => "./{{.id}}",
    })
}

fn default_headers(operation: Operation) -> FieldDefault {
    const ACCEPT: (&str, &str) = (MEDIA_HEADERS[0], "application/{{resource_format .}}");
    const CONTENT_TYPE: (&str, &str) = (MEDIA_HEADERS[1], "application/{{resource_format .}}");
    FieldDefault::Headers(match operation {
        Operation::Create | Operation::Update => &[ACCEPT, CONTENT_TYPE],
        _ => &[ACCEPT],
    })
}

impl FieldDefault {
    /// The default as YAML on one line; `None` if there is none.
    pub(super) fn to_yaml(self) -> Option<String> {
        let quoted = |text: &str| format!("'{text}'");
        match self {
            Self::None => None,
            Self::Text(text) if text.bytes().all(|byte| byte.is_ascii_alphabetic()) => Some(text.to_owned()),
            Self::Text(text) => Some(quoted(text)),
            Self::EmptyMap => Some("{}".to_owned()),
            Self::EmptyList => Some("[]".to_owned()),
            Self::Headers(headers) => {
                let items = headers.iter().map(|(name, value)| format!("{{name: {name}, value: {}}}", quoted(value)));
                Some(format!("[{}]", items.collect::<Vec<_>>().join(", ")))
            }
        }
    }
}

impl RequestParts {
    /// No part.
    pub const NONE: Self = Self { method: false, path: false, query: false, headers: false, body: false };
    /// Every part.
    pub const ALL: Self = Self { method: true, path: true, query: true, headers: true, body: true };

    /// The parts of both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            method: self.method || other.method,
            path: self.path || other.path,
            query: self.query || other.query,
            headers: self.headers || other.headers,
            body: self.body || other.body,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_finds_its_row() {
        for row in &FIELDS {
            assert_eq!(row.field.row().map(|found| found.field), Some(row.field));
        }
        assert!(Field::Itself.row().is_none());
    }

    #[test]
    fn the_transforms_of_compare_are_at_the_top() {
        let section = Section::Operation(Operation::Compare);
        let row = Field::Suppress.row().expect("it has a row");
        assert_eq!(row.place(section), "suppressAttributes");
        assert_eq!(
            row.places(section),
            ["suppressAttributes", "ignoreAttributes", "payload.suppressAttributes", "payload.suppress", "suppress"]
        );
        let field_path = FieldPath::new(section, Field::Suppress);
        assert_eq!(field_path.to_string(), "operationInfo.compareResources.suppressAttributes");
        assert_eq!(field_path.pointer().to_string(), "/operationInfo/compareResources/suppressAttributes");
    }

    #[test]
    fn keys_lead_to_fields() {
        let field = |keys: &[&str]| FieldPath::containing(keys).map(|path| (path.section, path.field));
        let get = Section::Operation(Operation::Get);
        assert_eq!(field(&["operationInfo", "getResource", "query", "page"]), Some((get, Field::Query)));
        assert_eq!(field(&["operationInfo", "getResource", "payload", "jqExpression"]), Some((get, Field::Jq)));
        assert_eq!(field(&["resourceInfo", "collectionPath"]), Some((Section::Resource, Field::CollectionPath)));
        let compare = Section::Operation(Operation::Compare);
        assert_eq!(field(&["operationInfo", "compareResources", "jqExpression"]), Some((compare, Field::Jq)));
        assert_eq!(field(&["operationInfo", "getResource"]), None);
        assert_eq!(field(&["operationInfo", "getResource", "payload"]), None);
    }

    #[test]
    fn clearing_reaches_what_is_below_but_not_the_media_headers() {
        let get = Section::Operation(Operation::Get);
        let header = |name: &str| FieldPath::keyed(get, Field::Headers, name);
        assert!(FieldPath::new(get, Field::Headers).covers(&header("x-a")));
        assert!(!FieldPath::new(get, Field::Headers).covers(&header("accept")));
        assert!(FieldPath::new(get, Field::Itself).covers(&header("accept")));
        assert!(FieldPath::new(Section::Operations, Field::Itself).covers(&header("accept")));
        assert!(header("accept").covers(&header("accept")) && !header("x-a").covers(&header("x-b")));
        assert!(
            !FieldPath::new(Section::Operations, Field::Itself)
                .covers(&FieldPath::new(Section::Resource, Field::Itself))
        );
    }
}
