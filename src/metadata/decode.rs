//! A document becomes statements: canonical names and aliases, the flat form of old, and nothing that is not known.

use std::sync::LazyLock;

use super::field::{Field, FieldPath, MEDIA_HEADERS, Operation, Section};
use super::statement::{Statement, StatementKind, Statements, TransformOrder};
use crate::decode::{StrictReader, StrictRules};
use crate::finding::{self, Finding, Location, sort_by_span};
use crate::sanitize;
use crate::text::Span;
use crate::value::{Entry, Map, Node, Value};

mod forms;

const RULES: StrictRules =
    StrictRules { unknown_key: &finding::METADATA_UNKNOWN_KEY, invalid: &finding::METADATA_INVALID };

/// Reads an expanded metadata document. What is wrong is reported, and the rest still counts.
pub fn decode(root: &Node) -> Statements {
    let mut reader =
        MetadataReader { shape: StrictReader::new(RULES), ignored: Vec::new(), statements: Statements::default() };
    match &root.value {
        Value::Null => {}
        Value::Map(map) => reader.document(map),
        _ => {
            reader.shape.wrong(root, "metadata", "a map");
            reader.statements.may_miss_secrets = true;
        }
    }
    reader.finish()
}

struct MetadataReader {
    shape: StrictReader,
    /// Warnings about what does not count.
    ignored: Vec<Finding>,
    statements: Statements,
}

/// A place where a field may be read from.
struct FieldPlace {
    field: Field,
    first: &'static str,
    second: Option<&'static str>,
    /// The header that it sets, if it sets one.
    header: Option<&'static str>,
}

/// The places of a section, strongest first for each field.
struct FieldPlaces {
    all: Vec<FieldPlace>,
    /// What a person should write, for suggestions.
    suggested: Vec<&'static str>,
}

static PLACES: LazyLock<Vec<(Section, FieldPlaces)>> =
    LazyLock::new(|| Section::all().map(|section| (section, FieldPlaces::of(section))).collect());

impl FieldPlaces {
    fn of(section: Section) -> Self {
        let mut places = Self { all: Vec::new(), suggested: Vec::new() };
        for row in section.rows() {
            for (rank, wire) in row.places(section).into_iter().enumerate() {
                let (first, second) =
                    wire.split_once('.').map_or((wire, None), |(first, second)| (first, Some(second)));
                let header = match first {
                    "accept" => Some(MEDIA_HEADERS[0]),
                    "contentType" => Some(MEDIA_HEADERS[1]),
                    _ => None,
                };
                places.all.push(FieldPlace { field: row.field, first, second, header });
                if rank == 0 && !places.suggested.contains(&first) {
                    places.suggested.push(first);
                }
            }
        }
        places
    }

    fn get(section: Section) -> &'static Self {
        let found = PLACES.iter().find(|(known, _)| *known == section);
        &found.expect("every section has its places").1
    }
}

/// A value found for a field, and how strongly it claims to be it.
struct Claim<'n> {
    field: Field,
    /// As it is written.
    name: &'n str,
    rank: usize,
    at: Span,
    node: &'n Node,
    header: Option<&'static str>,
    /// Its position in its `payload` map, which decides when it runs.
    position: Option<usize>,
}

/// The flat form of old is weaker than every name of the nested form.
const FLAT: usize = 100;

impl Claim<'_> {
    /// Whether it has a value; a blank text has none.
    fn is_set(&self) -> bool {
        match &self.node.value {
            Value::Null => false,
            Value::String(text) => !text.trim().is_empty(),
            _ => true,
        }
    }
}

const DOCUMENT_KEYS: [&str; 2] = ["resourceInfo", "operationInfo"];
const FLAT_TRANSFORMS: [(&str, Field); 3] =
    [("filter", Field::Filter), ("suppress", Field::Suppress), ("jq", Field::Jq)];

impl MetadataReader {
    fn document(&mut self, map: &Map) {
        let mut resource: Vec<Claim<'_>> = Vec::new();
        let mut defaults: Vec<Claim<'_>> = Vec::new();
        let mut operations: Vec<(Operation, Vec<Claim<'_>>)> = Vec::new();
        for entry in map.entries() {
            let name = entry.key.name.as_str();
            let flat_resource = FieldPlaces::get(Section::Resource).all.iter().position(|place| place.first == name);
            let flat_transform = FLAT_TRANSFORMS.iter().find(|(flat, _)| *flat == name);
            match (name, flat_resource, flat_transform) {
                ("resourceInfo", ..) => resource.extend(self.section(Section::Resource, entry, 0)),
                ("operationInfo", ..) => self.operation_info(entry, &mut defaults, &mut operations),
                ("operations", ..) => self.flat_operations(entry, &mut operations),
                (_, Some(rank), _) => {
                    let field = FieldPlaces::get(Section::Resource).all[rank].field;
                    resource.push(Claim::new(field, FLAT + rank, entry));
                }
                (_, _, Some((_, field))) => defaults.push(Claim::new(*field, FLAT, entry)),
                _ => {
                    self.shape.unknown(entry, "metadata", &DOCUMENT_KEYS);
                    self.statements.may_miss_secrets = true;
                }
            }
        }
        self.settle(Section::Resource, resource);
        self.settle(Section::Defaults, defaults);
        for operation in Operation::ALL {
            let claims = operations.iter_mut().filter(|(named, _)| *named == operation);
            let claims = claims.flat_map(|(_, claims)| std::mem::take(claims)).collect();
            self.settle(Section::Operation(operation), claims);
        }
    }

    fn operation_info<'n>(
        &mut self,
        info: &'n Entry,
        defaults: &mut Vec<Claim<'n>>,
        operations: &mut Vec<(Operation, Vec<Claim<'n>>)>,
    ) {
        let Some(map) = self.map_or_null(Section::Operations, info) else { return };
        let mut twins: Vec<(Operation, Option<&'n Entry>, Option<&'n Entry>)> = Vec::new();
        for entry in map.entries() {
            let name = entry.key.name.as_str();
            let canonical = Operation::ALL.into_iter().find(|operation| operation.wire() == name);
            if name == "defaults" {
                defaults.extend(self.section(Section::Defaults, entry, 0));
            } else if let Some(operation) = canonical.or_else(|| Operation::parse(name)) {
                let at = twins.iter().position(|(known, ..)| *known == operation).unwrap_or_else(|| {
                    twins.push((operation, None, None));
                    twins.len() - 1
                });
                let slot = if canonical.is_some() { &mut twins[at].1 } else { &mut twins[at].2 };
                *slot = Some(entry);
            } else {
                let known: Vec<&str> = ["defaults"].into_iter().chain(Operation::ALL.map(Operation::wire)).collect();
                self.shape.unknown(entry, "operationInfo", &known);
            }
        }
        for (operation, canonical, legacy) in twins {
            // The whole canonical operation counts, and nothing of its namesake of old.
            let counts = canonical.filter(|entry| legacy.is_none() || !matches!(entry.value.value, Value::Null));
            if let (Some(canonical), Some(legacy)) = (counts, legacy) {
                self.ignore(legacy.key.span, canonical.key.span, operation.name(), operation.wire());
            }
            if let Some(entry) = counts.or(legacy) {
                operations.push((operation, self.section(Section::Operation(operation), entry, 0)));
            }
        }
    }

    fn flat_operations<'n>(&mut self, flat: &'n Entry, operations: &mut Vec<(Operation, Vec<Claim<'n>>)>) {
        let Some(map) = self.map_or_null(Section::Operations, flat) else { return };
        for entry in map.entries() {
            match Operation::parse(&entry.key.name) {
                Some(operation) => {
                    operations.push((operation, self.section(Section::Operation(operation), entry, FLAT)));
                }
                None => self.shape.unknown(entry, "operations", &Operation::ALL.map(Operation::name)),
            }
        }
    }

    /// The claims of a section's map; that the section is there, or cleared, is noted at once.
    fn section<'n>(&mut self, section: Section, entry: &'n Entry, rank: usize) -> Vec<Claim<'n>> {
        let Some(map) = self.map_or_null(section, entry) else { return Vec::new() };
        let places = FieldPlaces::get(section);
        let mut claims = Vec::new();
        let has_payload = map.get("payload").is_some_and(|payload| !matches!(payload.value, Value::Null));
        for entry in map.entries() {
            let name = entry.key.name.as_str();
            let mut found = places.all.iter().enumerate().filter(|(_, place)| place.first == name).peekable();
            match found.peek() {
                None => self.unknown(section, entry, &places.suggested),
                Some((_, FieldPlace { second: Some(_), .. })) => {
                    self.container(section, entry, found.collect(), rank, &mut claims);
                }
                Some(&(at, place)) => {
                    let is_transform = Field::TRANSFORMS.contains(&place.field);
                    let is_alias = FLAT_TRANSFORMS.iter().any(|(flat, _)| *flat == name);
                    if is_transform && is_alias && has_payload {
                        let payload = map.entry("payload").map_or(entry.key.span, |payload| payload.key.span);
                        self.ignore(entry.key.span, payload, name, "payload");
                        continue;
                    }
                    claims.push(Claim { header: place.header, ..Claim::new(place.field, rank + at, entry) });
                }
            }
        }
        claims
    }

    /// A map inside a section: `payload`, `validate`, `url`.
    fn container<'n>(
        &mut self,
        section: Section,
        entry: &'n Entry,
        places: Vec<(usize, &FieldPlace)>,
        rank: usize,
        claims: &mut Vec<Claim<'n>>,
    ) {
        let what = format!("{}.{}", section.wire().join("."), entry.key.name);
        if matches!(entry.value.value, Value::Null) {
            let mut fields: Vec<(usize, Field)> = places.iter().map(|(at, place)| (*at, place.field)).collect();
            fields.dedup_by_key(|(_, field)| *field);
            claims.extend(fields.into_iter().map(|(at, field)| Claim::new(field, rank + at, entry)));
            return;
        }
        let Value::Map(map) = &entry.value.value else { return self.shape.wrong(&entry.value, &what, "a map") };
        for (position, entry) in map.entries().iter().enumerate() {
            match places.iter().find(|(_, place)| place.second == Some(entry.key.name.as_str())) {
                Some((at, place)) => {
                    let position = Field::TRANSFORMS.contains(&place.field).then_some(position);
                    claims.push(Claim { position, ..Claim::new(place.field, rank + at, entry) });
                }
                None => {
                    let mut known: Vec<&str> = Vec::new();
                    let canonical = |field: Field| places.iter().find(|(_, place)| place.field == field);
                    for (_, place) in &places {
                        let name = canonical(place.field).and_then(|(_, place)| place.second);
                        known.extend(name.filter(|name| !known.contains(name)));
                    }
                    self.shape.unknown(entry, &what, &known);
                }
            }
        }
    }

    /// The map behind a key; `null` is noted as clearing the section, and anything else is wrong.
    fn map_or_null<'n>(&mut self, section: Section, entry: &'n Entry) -> Option<&'n Map> {
        let kind = match &entry.value.value {
            Value::Map(_) => StatementKind::Present(Node::map(Vec::new(), entry.value.span)),
            Value::Null => StatementKind::Null,
            _ => {
                self.shape.wrong(&entry.value, &section.wire().join("."), "a map");
                self.statements.may_miss_secrets |= section == Section::Resource;
                return None;
            }
        };
        let is_known = self.statements.all.iter().any(|statement| {
            statement.field_path == FieldPath::new(section, Field::Itself)
                && !matches!(statement.kind, StatementKind::Null)
        });
        if !is_known {
            self.statements.all.retain(|statement| statement.field_path != FieldPath::new(section, Field::Itself));
            self.state(FieldPath::new(section, Field::Itself), entry.key.span, kind);
        }
        entry.value.as_map()
    }

    /// Lets the strongest claim to each field count.
    fn settle(&mut self, section: Section, mut claims: Vec<Claim<'_>>) {
        claims.sort_by_key(|claim| (claim.field, claim.rank));
        let mut named: Vec<(usize, Field)> = Vec::new();
        for claims in claims.chunk_by(|a, b| a.field == b.field) {
            let Some(row) = claims[0].field.row() else { continue };
            let (plain, headers): (Vec<&Claim<'_>>, Vec<&Claim<'_>>) =
                claims.iter().partition(|claim| claim.header.is_none());
            let mut counting = plain.iter().filter(|claim| claim.is_set());
            match counting.next() {
                Some(claim) => {
                    named.extend(claim.position.map(|position| (position, claim.field)));
                    let known = self.shape.finding_count();
                    self.value(section, row, claim);
                    let is_wrong = self.shape.finding_count() > known;
                    self.statements.may_miss_secrets |= is_wrong && claim.field == Field::SecretInAttributes;
                    for ignored in counting {
                        self.ignore(ignored.at, claim.at, ignored.name, claim.name);
                    }
                }
                None => {
                    if let Some(null) = plain.iter().find(|claim| matches!(claim.node.value, Value::Null)) {
                        self.state(FieldPath::new(section, claims[0].field), null.at, StatementKind::Null);
                    }
                }
            }
            headers.into_iter().for_each(|claim| self.media_header(section, claim));
        }
        if !named.is_empty() {
            named.sort_unstable();
            let mut order = TransformOrder::default();
            named.into_iter().for_each(|(_, field)| order.push(field));
            self.statements.orders.push((section, order));
        }
    }

    fn state(&mut self, field_path: FieldPath, at: Span, kind: StatementKind) {
        self.statements.all.push(Statement { field_path, at, kind });
    }

    fn unknown(&mut self, section: Section, entry: &Entry, known: &[&str]) {
        self.statements.may_miss_secrets |= section == Section::Resource;
        let what = section.wire().join(".");
        let transform = section.rows().find(|row| row.wire.strip_prefix("payload.") == Some(&entry.key.name));
        match transform {
            Some(row) => {
                let message = format!("unknown key `{}` in `{what}`", entry.key.name);
                let finding = Finding::new(&finding::METADATA_UNKNOWN_KEY, Location::Span(entry.key.span), message);
                let help = format!("only `compareResources` has it at the top; here it is `{}`", row.wire);
                self.ignored.push(finding.labelled("not known").help(help));
            }
            None => self.shape.unknown(entry, &what, known),
        }
    }

    /// Reports that something is ignored because another name of the same field is present.
    fn ignore(&mut self, ignored: Span, counts: Span, name: &str, winner: &str) {
        let message = format!("`{}` does not count, because `{winner}` is there too", sanitize::inline(name));
        self.ignored.push(
            Finding::new(&finding::METADATA_SHADOWED, Location::Span(ignored), message)
                .labelled("does not count")
                .related(counts, "this counts")
                .help("keep one of them"),
        );
    }

    fn finish(self) -> Statements {
        let mut statements = self.statements;
        statements.all.sort_by(|a, b| a.field_path.cmp(&b.field_path));
        statements.findings = self.shape.into_findings();
        statements.findings.extend(self.ignored);
        sort_by_span(&mut statements.findings);
        statements
    }
}

impl<'n> Claim<'n> {
    fn new(field: Field, rank: usize, entry: &'n Entry) -> Self {
        let (name, at, node) = (entry.key.name.as_str(), entry.key.span, &entry.value);
        Self { field, name, rank, at, node, header: None, position: None }
    }
}

#[cfg(test)]
mod tests;
