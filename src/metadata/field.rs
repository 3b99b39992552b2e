//! The table of metadata fields: names, form, merging, default and purpose of each.
//!
//! Reading, merging, writing, the schema for editors and the page for people all follow this table.

use std::fmt;

use smol_str::SmolStr;

use crate::path::Pointer;

pub use super::field_default::FieldDefault;
pub(super) use super::field_default::{MEDIA_HEADERS, is_media_header};
use super::field_default::{default_headers, default_method, default_path};
pub use super::operation::{Operation, RequestParts};

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
    /// Its places in documents of the new form, the newest first.
    pub newer: &'static [&'static str],
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

/// Every field, in the order of [`Field`] and of canonical documents.
pub static FIELDS: [FieldRow; 24] = [
    FieldRow {
        newer: &["id", "idAttribute"],
        form: FieldForm::Identity,
        about: "attribute of the payload that holds the id on the server: a dotted path, a pointer, or a template of pointers",
        ..FieldRow::text(Field::IdFromAttribute, FieldHome::Resource, "idFromAttribute")
    },
    FieldRow {
        newer: &["alias", "aliasAttribute"],
        form: FieldForm::Identity,
        about: "attribute of the payload that holds the name people use; written like the id",
        ..FieldRow::text(Field::AliasFromAttribute, FieldHome::Resource, "aliasFromAttribute")
    },
    FieldRow {
        newer: &["remoteCollectionPath"],
        knows_format: true,
        names_segments: true,
        about: "path of the collection on the server, if it is not the logical one; a template",
        ..FieldRow::text(Field::CollectionPath, FieldHome::Resource, "collectionPath")
    },
    FieldRow {
        aliases: &["secretsFromAttributes"],
        newer: &["secretAttributes"],
        form: FieldForm::Names,
        about: "attributes that hold secrets: a pointer, a dotted path, or a bare name at any depth",
        ..FieldRow::text(Field::SecretInAttributes, FieldHome::Resource, "secretInAttributes")
    },
    FieldRow {
        form: FieldForm::Flag,
        affects: RequestParts::NONE,
        about: "whether everything of the resource is secret",
        ..FieldRow::text(Field::Secret, FieldHome::Resource, "secret")
    },
    FieldRow {
        form: FieldForm::Names,
        affects: RequestParts { body: true, ..RequestParts::NONE },
        about: "attributes the payload must have before its transforms: top-level names or JSON Pointers",
        ..FieldRow::text(Field::ResourceRequired, FieldHome::Resource, "requiredAttributes")
    },
    FieldRow {
        form: FieldForm::Externalized,
        about: "attributes whose text is in a file beside the resource",
        ..FieldRow::text(Field::Externalized, FieldHome::Resource, "externalizedAttributes")
    },
    FieldRow {
        aliases: &["payloadType", "defaultFormat", "preferredFormat"],
        form: FieldForm::Format,
        about: "format of the payload: json, yaml, xml, hcl, ini, properties, text, octet-stream or any",
        ..FieldRow::text(Field::Format, FieldHome::Resource, "format")
    },
    FieldRow {
        form: FieldForm::DefaultsMode,
        about: "what happens to inherited defaults: `inherit`, `ignore` their value, or `replace` everything",
        ..FieldRow::text(Field::DefaultsMode, FieldHome::Resource, "defaults.mode")
    },
    FieldRow {
        form: FieldForm::Names,
        about: "profiles that are laid over the default value, in this order",
        ..FieldRow::text(Field::UseProfiles, FieldHome::Resource, "defaults.useProfiles")
    },
    FieldRow {
        form: FieldForm::DefaultValue,
        merge: MergeMode::Deep,
        about: "default payload: a map, or `{{include defaults.yaml}}`",
        ..FieldRow::text(Field::DefaultsValue, FieldHome::Resource, "defaults.value")
    },
    FieldRow {
        form: FieldForm::DefaultProfiles,
        merge: MergeMode::PerKey,
        about: "named defaults that `useProfiles` selects, each written like the value",
        ..FieldRow::text(Field::Profiles, FieldHome::Resource, "defaults.profiles")
    },
    FieldRow {
        aliases: &["method"],
        newer: &["method"],
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
        newer: &["headers"],
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
        aliases: &["payload.jq", "jq", "jqFilter"],
        knows_format: true,
        names_segments: true,
        about: "jq expression over the payload; a template",
        ..FieldRow::text(Field::Jq, FieldHome::Transform, "payload.jqExpression")
    },
    FieldRow {
        aliases: &["payloadMutation"],
        newer: &["transforms"],
        form: FieldForm::Steps,
        knows_format: true,
        names_segments: true,
        about: "transforms as a list of steps, each `selectAttributes`, `excludeAttributes` or `jqExpression`",
        ..FieldRow::text(Field::Transforms, FieldHome::Transform, "payload.transforms")
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
            newer: &[],
            form: FieldForm::Text,
            merge: MergeMode::Replace,
            default: |_| FieldDefault::None,
            knows_format: false,
            affects: RequestParts::ALL,
            names_segments: false,
            about: "",
        }
    }

    /// The places a section reads this field from, in a document of either form, the strongest first: the newest name, but a name
    /// that old documents use as an alias is an alias there.
    pub fn places(&self, section: Section, form: DocumentForm) -> Vec<&'static str> {
        let is_new = form == DocumentForm::New;
        let newer = self.newer.iter().copied().filter(|name| is_new || !self.aliases.contains(name));
        let mut places: Vec<&'static str> = newer.collect();
        for place in self.old_places(section) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    /// The places in documents of any form, the canonical one first.
    pub fn all_places(&self, section: Section) -> Vec<&'static str> {
        let mut places = self.old_places(section);
        let newer = self.newer.iter().copied();
        let missing: Vec<&'static str> = newer.filter(|name| !places.contains(name)).collect();
        places.extend(missing);
        places
    }

    /// The places in documents of the old form, the canonical one first.
    fn old_places(&self, section: Section) -> Vec<&'static str> {
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

    /// The place in a section of a document of the new form.
    pub fn native_place(&self, section: Section) -> &'static str {
        self.newer.first().copied().unwrap_or_else(|| self.place(section))
    }
}

/// The form of a document, which decides how far it reaches. Names of fields are read in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentForm {
    /// `resourceInfo`, `operationInfo`, or flat keys.
    Old,
    /// `resource`, `operations`, `selector`.
    New,
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
    /// `secret`
    Secret,
    /// `requiredAttributes` of the resource
    ResourceRequired,
    /// `externalizedAttributes`
    Externalized,
    /// `format`
    Format,
    /// `defaults.mode`
    DefaultsMode,
    /// `defaults.useProfiles`
    UseProfiles,
    /// `defaults.value`
    DefaultsValue,
    /// `defaults.profiles`
    Profiles,
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
    /// `payload.transforms`, where a kind of step occurs more than once
    Transforms,
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
    /// An attribute, or a template of attributes.
    Identity,
    /// `true` or `false`.
    Flag,
    /// The name of a format.
    Format,
    /// A list of `{path, file, …}`.
    Externalized,
    /// A list of steps with one kind each.
    Steps,
    /// `inherit`, `ignore` or `replace`.
    DefaultsMode,
    /// A map, or the include of a file.
    DefaultValue,
    /// A map of names to such values.
    DefaultProfiles,
}

/// How the values of weaker layers are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeMode {
    /// They are replaced as a whole.
    Replace,
    /// They stay, key by key, unless the same key is set; an empty map replaces them all.
    PerKey,
    /// They stay, at every depth of maps, unless the same place is set.
    Deep,
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

    /// The keys that lead to it in a document of the new form.
    pub fn native_wire(self) -> Vec<&'static str> {
        match self {
            Self::Resource => vec!["resource"],
            Self::Operations => vec!["operations"],
            Self::Defaults => vec!["operations", "defaults"],
            Self::Operation(operation) => vec!["operations", operation.name()],
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
            row.places(section, DocumentForm::Old),
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
