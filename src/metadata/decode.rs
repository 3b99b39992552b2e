//! A document becomes statements: canonical names and aliases, the flat form of old, and nothing that is not known.

use std::sync::LazyLock;

use smol_str::SmolStr;

use super::field::{DocumentForm, Field, FieldPath, FieldRow, MEDIA_HEADERS, Operation, Section};
use super::statement::{Statement, StatementKind, Statements, TransformOrder};
use crate::decode::{StrictReader, StrictRules};
use crate::finding::{self, Finding, Location, sort_by_span};
use crate::sanitize;
use crate::text::Span;
use crate::value::{Entry, Map, Node, Value};

mod forms;
mod resource_forms;

const RULES: StrictRules =
    StrictRules { unknown_key: &finding::METADATA_UNKNOWN_KEY, invalid: &finding::METADATA_INVALID };

/// Reads an expanded metadata document. What is wrong is reported, and the rest still counts. Includes of defaults stay as written.
pub fn decode(root: &Node) -> Statements {
    decode_including(root, None)
}

/// Reads the file that `{{include …}}` names, beside the document; or says what is wrong with it.
pub(super) type ReadInclude<'a> = dyn Fn(&str, Span) -> Result<Node, Vec<Finding>> + 'a;

/// Reads a document, with the files that its defaults include.
pub(super) fn decode_including(root: &Node, include: Option<&ReadInclude<'_>>) -> Statements {
    let form = form_of(root);
    let statements = Statements { form, ..Statements::default() };
    let form = form.unwrap_or(DocumentForm::Old);
    let shape = StrictReader::new(RULES);
    let mut reader = MetadataReader {
        shape,
        ignored: Vec::new(),
        read: Vec::new(),
        statements,
        form,
        written: SmolStr::default(),
        include,
    };
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

/// Resource fields that the flat form has at the top.
pub(super) const FLAT_RESOURCE: [&str; 5] =
    ["idFromAttribute", "aliasFromAttribute", "collectionPath", "secretInAttributes", "secretsFromAttributes"];
const OLD_GROUPS: [&str; 3] = ["resourceInfo", "operationInfo", "operationsInfo"];
const NEW_GROUPS: [&str; 3] = ["resource", "operations", "selector"];

/// The form of a document, by its keys at the top.
pub(super) fn form_of(root: &Node) -> Option<DocumentForm> {
    let map = root.as_map()?;
    let has = |names: &[&str]| names.iter().any(|name| map.get(name).is_some());
    let is_flat = has(&FLAT_RESOURCE) || FLAT_TRANSFORMS.iter().any(|(name, _)| map.get(name).is_some());
    let is_new = has(&["resource", "selector"]) || has(&["operations"]) && !is_flat;
    match (is_new, is_flat || has(&OLD_GROUPS)) {
        (true, _) => Some(DocumentForm::New),
        (false, true) => Some(DocumentForm::Old),
        (false, false) => None,
    }
}

struct MetadataReader<'i> {
    shape: StrictReader,
    /// Warnings about what does not count.
    ignored: Vec<Finding>,
    /// What is wrong with included files.
    read: Vec<Finding>,
    statements: Statements,
    /// The form of the document; an empty one counts as old, like what outcrop writes.
    form: DocumentForm,
    /// The keys that lead to the field that is being read.
    written: SmolStr,
    include: Option<&'i ReadInclude<'i>>,
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

static PLACES: LazyLock<Vec<((Section, DocumentForm), FieldPlaces)>> = LazyLock::new(|| {
    let forms = [DocumentForm::Old, DocumentForm::New];
    let all = Section::all().flat_map(|section| forms.map(|form| (section, form)));
    all.map(|(section, form)| ((section, form), FieldPlaces::of(section, form))).collect()
});

impl FieldPlaces {
    fn of(section: Section, form: DocumentForm) -> Self {
        let mut places = Self { all: Vec::new(), suggested: Vec::new() };
        for row in section.rows() {
            let suggested = if form == DocumentForm::New { row.native_place(section) } else { row.place(section) };
            for wire in row.places(section, form) {
                let (first, second) =
                    wire.split_once('.').map_or((wire, None), |(first, second)| (first, Some(second)));
                let header = match first {
                    "accept" => Some(MEDIA_HEADERS[0]),
                    "contentType" => Some(MEDIA_HEADERS[1]),
                    _ => None,
                };
                places.all.push(FieldPlace { field: row.field, first, second, header });
                if wire == suggested && !places.suggested.contains(&first) {
                    places.suggested.push(first);
                }
            }
        }
        places
    }

    fn get(section: Section, form: DocumentForm) -> &'static Self {
        let found = PLACES.iter().find(|(known, _)| *known == (section, form));
        &found.expect("every section has its places").1
    }
}

/// A value found for a field, and how strongly it claims to be it.
struct Claim<'n> {
    field: Field,
    /// As it is written.
    name: &'n str,
    /// The keys above it, each followed by a dot.
    above: SmolStr,
    rank: usize,
    at: Span,
    node: &'n Node,
    header: Option<&'static str>,
    /// Its position in its `payload` map, which decides when it runs.
    position: Option<usize>,
}

/// Groups of the old form are weaker than those of the new one, and the flat form is weaker than both.
const OLD_GROUP: usize = 1_000;
const FLAT: usize = 2_000;

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

const FLAT_TRANSFORMS: [(&str, Field); 3] =
    [("filter", Field::Filter), ("suppress", Field::Suppress), ("jq", Field::Jq)];

/// Operations as they are claimed: each with the claims to its fields.
type OperationClaims<'n> = Vec<(Operation, Vec<Claim<'n>>)>;

impl MetadataReader<'_> {
    fn document(&mut self, map: &Map) {
        self.note_mixed_groups(map);
        let mut resource: Vec<Claim<'_>> = Vec::new();
        let mut defaults: Vec<Claim<'_>> = Vec::new();
        let mut operations: OperationClaims<'_> = Vec::new();
        let is_new = self.form == DocumentForm::New;
        for entry in map.entries() {
            let name = entry.key.name.as_str();
            let flat_transform = FLAT_TRANSFORMS.iter().find(|(flat, _)| *flat == name);
            match (name, flat_transform) {
                ("resource", _) => resource.extend(self.section(Section::Resource, entry, 0, "")),
                ("resourceInfo", _) => resource.extend(self.section(Section::Resource, entry, OLD_GROUP, "")),
                ("operations", _) if is_new => self.operation_group(entry, 0, &mut defaults, &mut operations),
                ("operationInfo" | "operationsInfo", _) => {
                    self.operation_group(entry, OLD_GROUP, &mut defaults, &mut operations)
                }
                ("operations", _) => self.flat_operations(entry, &mut operations),
                ("selector", _) => self.selector(entry),
                (_, None) if FLAT_RESOURCE.contains(&name) => {
                    let places = &FieldPlaces::get(Section::Resource, DocumentForm::Old).all;
                    let place = places.iter().enumerate().find(|(_, place)| place.first == name);
                    resource.extend(place.map(|(rank, place)| Claim::new(place.field, FLAT + rank, entry, "")));
                }
                (_, Some((_, field))) => defaults.push(Claim::new(*field, FLAT, entry, "")),
                _ => {
                    let known = if is_new { &NEW_GROUPS[..] } else { &OLD_GROUPS[..2] };
                    self.shape.unknown(entry, "metadata", known);
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
        self.check_format();
    }

    /// Groups of both forms in one document count, but somebody should decide.
    fn note_mixed_groups(&mut self, map: &Map) {
        let first = |names: &[&str]| map.entries().iter().find(|entry| names.contains(&entry.key.name.as_str()));
        let flat: Vec<&str> = FLAT_RESOURCE.into_iter().chain(FLAT_TRANSFORMS.map(|(name, _)| name)).collect();
        let old = first(&OLD_GROUPS).or_else(|| first(&flat));
        if let (DocumentForm::New, Some(old), Some(new)) = (self.form, old, first(&NEW_GROUPS)) {
            let message = format!("`{}` and `{}` are groups of two forms of metadata", old.key.name, new.key.name);
            let finding = Finding::new(&finding::METADATA_MIXED_FORMS, Location::Span(old.key.span), message);
            let finding = finding.labelled("the old form").related(new.key.span, "the new form, which counts");
            self.ignored.push(finding.help("keep one of them; with both, the names of the new form win"));
        }
    }

    /// `selector: {descendants: true}`, which belongs to the layer and is not merged.
    fn selector(&mut self, selector: &Entry) {
        if matches!(selector.value.value, Value::Null) {
            return;
        }
        for entry in self.shape.entries(&selector.value, "selector", &["descendants"]) {
            if !matches!(entry.value.value, Value::Null)
                && let Some(value) = self.shape.flag(&entry.value, "selector.descendants")
            {
                self.statements.descendants = Some((value, entry.key.span));
            }
        }
    }

    /// A group of operations; each of them may have its old or its new name.
    fn operation_group<'n>(
        &mut self,
        group: &'n Entry,
        rank: usize,
        defaults: &mut Vec<Claim<'n>>,
        operations: &mut OperationClaims<'n>,
    ) {
        let Some(map) = self.map_or_null(Section::Operations, group) else { return };
        let prefers_wire = rank == OLD_GROUP;
        let mut twins: Vec<(Operation, Option<&'n Entry>, Option<&'n Entry>)> = Vec::new();
        for entry in map.entries() {
            let name = entry.key.name.as_str();
            let by_wire = Operation::ALL.into_iter().find(|operation| operation.wire() == name);
            if name == "defaults" {
                defaults.extend(self.section(Section::Defaults, entry, rank, &group.key.name));
            } else if let Some(operation) = by_wire.or_else(|| Operation::parse(name)) {
                let at = twins.iter().position(|(known, ..)| *known == operation).unwrap_or_else(|| {
                    twins.push((operation, None, None));
                    twins.len() - 1
                });
                let slot = if by_wire.is_some() == prefers_wire { &mut twins[at].1 } else { &mut twins[at].2 };
                *slot = Some(entry);
            } else {
                let names = Operation::ALL.map(if prefers_wire { Operation::wire } else { Operation::name });
                let known: Vec<&str> = ["defaults"].into_iter().chain(names).collect();
                self.shape.unknown(entry, &group.key.name, &known);
            }
        }
        for (operation, preferred, other) in twins {
            // The whole operation of the preferred name counts, and nothing of its namesake.
            let counts = preferred.filter(|entry| other.is_none() || !matches!(entry.value.value, Value::Null));
            if let (Some(counts), Some(other)) = (counts, other) {
                self.ignore(other.key.span, counts.key.span, &other.key.name, &counts.key.name);
            }
            if let Some(entry) = counts.or(other) {
                let claims = self.section(Section::Operation(operation), entry, rank, &group.key.name);
                operations.push((operation, claims));
            }
        }
    }

    fn flat_operations<'n>(&mut self, flat: &'n Entry, operations: &mut OperationClaims<'n>) {
        let Some(map) = self.map_or_null(Section::Operations, flat) else { return };
        for entry in map.entries() {
            match Operation::parse(&entry.key.name) {
                Some(operation) => {
                    let claims = self.section(Section::Operation(operation), entry, FLAT, &flat.key.name);
                    operations.push((operation, claims));
                }
                None => self.shape.unknown(entry, "operations", &Operation::ALL.map(Operation::name)),
            }
        }
    }

    /// The claims of a section's map, below a group; that the section is there, or cleared, is noted at once.
    fn section<'n>(&mut self, section: Section, entry: &'n Entry, rank: usize, group: &str) -> Vec<Claim<'n>> {
        let above =
            if group.is_empty() { format!("{}.", entry.key.name) } else { format!("{group}.{}.", entry.key.name) };
        let Some(map) = self.map_or_null(section, entry) else { return Vec::new() };
        let places = FieldPlaces::get(section, if rank == 0 { DocumentForm::New } else { DocumentForm::Old });
        let mut claims = Vec::new();
        let is_there = |name: &&&str| map.get(name).is_some_and(|value| !matches!(value.value, Value::Null));
        let steps = ["transforms", "payloadMutation"].iter().find(is_there).copied();
        let payload = steps.or_else(|| ["payload"].iter().find(is_there).copied());
        for entry in map.entries() {
            let name = entry.key.name.as_str();
            let mut found = places.all.iter().enumerate().filter(|(_, place)| place.first == name).peekable();
            match found.peek() {
                None => self.unknown(section, entry, &places.suggested),
                Some((_, FieldPlace { second: Some(_), .. })) if name == "payload" && steps.is_some() => {
                    self.silence(map, entry, steps);
                }
                Some((_, FieldPlace { second: Some(_), .. })) => {
                    self.container(section, entry, found.collect(), rank, &above, &mut claims);
                }
                Some(&(at, place)) => {
                    let is_transform = Field::TRANSFORMS.contains(&place.field);
                    let is_alias = FLAT_TRANSFORMS.iter().any(|(flat, _)| *flat == name);
                    if is_transform && (is_alias && payload.is_some() || steps.is_some()) {
                        self.silence(map, entry, payload);
                        continue;
                    }
                    claims.push(Claim { header: place.header, ..Claim::new(place.field, rank + at, entry, &above) });
                }
            }
        }
        claims
    }

    /// Reports that an older spelling of transforms is ignored because of a newer one beside it.
    fn silence(&mut self, map: &Map, entry: &Entry, winner: Option<&'static str>) {
        let winner = winner.and_then(|name| map.entry(name));
        if let Some(winner) = winner {
            self.ignore(entry.key.span, winner.key.span, &entry.key.name, &winner.key.name);
        }
    }

    /// A map inside a section: `payload`, `validate`, `url`, `defaults`.
    fn container<'n>(
        &mut self,
        section: Section,
        entry: &'n Entry,
        places: Vec<(usize, &FieldPlace)>,
        rank: usize,
        above: &str,
        claims: &mut Vec<Claim<'n>>,
    ) {
        let what = format!("{}.{}", self.group_name(section), entry.key.name);
        let inside = format!("{above}{}.", entry.key.name);
        if matches!(entry.value.value, Value::Null) {
            let mut fields: Vec<(usize, Field)> = places.iter().map(|(at, place)| (*at, place.field)).collect();
            fields.dedup_by_key(|(_, field)| *field);
            claims.extend(fields.into_iter().map(|(at, field)| Claim::new(field, rank + at, entry, above)));
            return;
        }
        let Value::Map(map) = &entry.value.value else { return self.shape.wrong(&entry.value, &what, "a map") };
        for (position, entry) in map.entries().iter().enumerate() {
            match places.iter().find(|(_, place)| place.second == Some(entry.key.name.as_str())) {
                Some((at, place)) => {
                    let position = Field::TRANSFORMS.contains(&place.field).then_some(position);
                    claims.push(Claim { position, ..Claim::new(place.field, rank + at, entry, &inside) });
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
                self.shape.wrong(&entry.value, &self.group_name(section), "a map");
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
                    self.written = claim.written();
                    self.value(section, row, claim);
                    let is_wrong = self.shape.finding_count() > known;
                    self.statements.may_miss_secrets |= is_wrong && claim.field == Field::SecretInAttributes;
                    for ignored in counting {
                        self.ignore(ignored.at, claim.at, ignored.name, claim.name);
                    }
                }
                None => {
                    if let Some(null) = plain.iter().find(|claim| matches!(claim.node.value, Value::Null)) {
                        self.written = null.written();
                        self.state(FieldPath::new(section, claims[0].field), null.at, StatementKind::Null);
                        // A list of steps is all transforms.
                        let others = Field::TRANSFORMS.into_iter().filter(|_| claims[0].field == Field::Transforms);
                        for field in others {
                            self.state(FieldPath::new(section, field), null.at, StatementKind::Null);
                        }
                    }
                }
            }
            for claim in headers {
                self.written = claim.written();
                self.media_header(section, claim);
            }
        }
        self.written = SmolStr::default();
        if !named.is_empty() {
            named.sort_unstable();
            let mut order = TransformOrder::default();
            named.into_iter().for_each(|(_, field)| order.push(field));
            self.statements.orders.push((section, order));
        }
    }

    /// The keys that lead to a section in this document's form, for messages.
    fn group_name(&self, section: Section) -> String {
        match self.form {
            DocumentForm::Old => section.wire().join("."),
            DocumentForm::New => section.native_wire().join("."),
        }
    }

    /// A field as messages name it, in this document's form.
    fn field_name(&self, section: Section, row: &FieldRow) -> String {
        let place = match self.form {
            DocumentForm::Old => row.place(section),
            DocumentForm::New => row.native_place(section),
        };
        format!("{}.{place}", self.group_name(section))
    }

    fn state(&mut self, field_path: FieldPath, at: Span, kind: StatementKind) {
        self.statements.all.push(Statement { field_path, at, written: self.written.clone(), kind });
    }

    fn unknown(&mut self, section: Section, entry: &Entry, known: &[&str]) {
        self.statements.may_miss_secrets |= section == Section::Resource;
        let what = self.group_name(section);
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
        statements.findings.extend(self.ignored.into_iter().chain(self.read));
        sort_by_span(&mut statements.findings);
        statements
    }
}

impl<'n> Claim<'n> {
    fn new(field: Field, rank: usize, entry: &'n Entry, above: &str) -> Self {
        let (name, at, node) = (entry.key.name.as_str(), entry.key.span, &entry.value);
        Self { field, name, above: above.into(), rank, at, node, header: None, position: None }
    }

    /// The keys that lead to it in its document.
    fn written(&self) -> SmolStr {
        format!("{}{}", self.above, self.name).into()
    }
}

#[cfg(test)]
mod tests;
