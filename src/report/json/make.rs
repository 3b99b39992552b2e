//! From the domain types to the wire form.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::v1::*;
use super::value::{Written, secret_places};
use crate::comparison::{Rollout, UnitChange};
use crate::diff::path_text;
use crate::diff::{
    self, Bump, Change, ChangeKind, DiffSide, Difference, EditedFile, Fingerprint, Group, HomeFile, Member, PathStep,
    ResourceChange, Suppressed, causes_at,
};
use crate::finding::Location;
use crate::path::{Pointer, RepoPath};
use crate::report::identified::{Identified, identified};
use crate::report::locate::Locator;
use crate::report::paint::Line;
use crate::report::secret_numbers::SecretNumbers;
use crate::report::summary_counts::SummaryCounts;
use crate::report::{ReachChange, Report, SkipReason, Style, TextFile, lines};
use crate::resource::{Home, Identity, Resource, Unit};
use crate::text::{Sources, Span};
use crate::value::Node;

/// Makes the wire form, remembering what has been counted.
pub(super) struct Maker<'a> {
    pub(super) secret_numbers: &'a RefCell<SecretNumbers>,
    pub(super) locator: Locator<'a>,
    sources: &'a Sources,
    /// The name of the group that a change belongs to.
    groups: BTreeMap<Member, Fingerprint>,
}

impl<'a> Maker<'a> {
    pub(super) fn new(report: &'a Report, secret_numbers: &'a RefCell<SecretNumbers>) -> Self {
        let named = |group: &Group| group.members().map(|member| (member, group.fingerprint)).collect::<Vec<_>>();
        let groups = report.groups.iter().flat_map(named).collect();
        Self { secret_numbers, locator: Locator::new(&report.sources), sources: &report.sources, groups }
    }

    pub(super) fn report(&mut self, report: &'a Report) -> WireReport<'a> {
        WireReport {
            schema: "outcrop/report/v1",
            tool: Tool { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") },
            before: SideLabel { label: &report.before },
            after: SideLabel { label: &report.after },
            compared: ComparedCounts {
                files: report.compared.files,
                resources: report.compared.resources,
                examined: report.examined,
            },
            summary: summary(report),
            resources: report.resources.iter().enumerate().map(|(at, resource)| self.resource(at, resource)).collect(),
            groups: report.groups.iter().map(|group| self.group(group, report)).collect(),
            bumps: report.bumps.rows.iter().map(|bump| wire_bump(bump, report)).collect(),
            sources: report.edits.files.iter().map(source).collect(),
            layer_edits: report.layer_edits.iter().map(|edit| self.layer_edit(edit)).collect(),
            reach: report.reach_changes.iter().map(reach_change).collect(),
            findings: identified(report.findings.iter().chain(&report.new_problems), &report.sources)
                .into_iter()
                .map(|found| self.finding(found))
                .collect(),
            accepted: self.accepted(report),
            compared_as_text: report.compared_as_text().map(text_file).collect(),
            not_compared: report.unread.iter().map(|path| unread(path, report)).collect(),
            skipped: report
                .skipped
                .iter()
                .map(|skipped| WireSkipped { path: wire_path(&skipped.path), reason: reason(skipped.reason) })
                .collect(),
            suppressed: report.suppressed.iter().map(|suppressed| self.suppressed(suppressed)).collect(),
            would_hide: report.would_hide.iter().map(|hidden| self.suppressed(hidden)).collect(),
            only: &report.only,
            units: report.units.iter().map(unit_change).collect(),
            rollouts: report.rollouts.iter().map(rollout).collect(),
            incomplete: report.is_incomplete(),
        }
    }

    fn suppressed(&mut self, suppressed: &'a Suppressed) -> WireSuppressed<'a> {
        WireSuppressed {
            rule: &suppressed.rule,
            resource: suppressed.identity.to_string(),
            change: self.change(&suppressed.change, &[None, None], None),
        }
    }

    fn resource(&mut self, at: usize, resource: &'a ResourceChange) -> WireResource<'a> {
        let side = resource.after.as_ref().or(resource.before.as_ref());
        let homes = HomeFile::both(resource);
        let whole = self.whole(resource, &homes);
        let mut position = 0;
        let mut changes = |difference: &'a Difference| {
            let mut wire = Vec::with_capacity(difference.changes.len());
            for change in &difference.changes {
                let group = self.groups.get(&Member { resource: at, change: position }).map(ToString::to_string);
                position += 1;
                wire.push(self.change(change, &homes, group));
            }
            wire
        };
        let (payload, metadata) = (changes(&resource.difference), changes(&resource.metadata));
        let requests = changes(&resource.requests);
        let expressions = changes(&resource.expressions);
        let spelling = resource.difference.spelling_only.iter().map(|change| self.change(change, &homes, None));
        WireResource {
            id: side.map(|side| side.identity.to_string()).unwrap_or_default(),
            identity: side.map_or(WireIdentity::Logical { path: "" }, |side| identity(&side.identity)),
            subject: side.filter(|side| side.is_selector()).map(|_| "selector"),
            status: resource.status().name(),
            changes: whole.into_iter().chain(payload).collect(),
            spelling_only: spelling.collect(),
            metadata,
            requests,
            expressions,
            before: resource.before.as_ref().map(|side| self.file(side)),
            after: resource.after.as_ref().map(|side| self.file(side)),
        }
    }

    /// A resource that came or went is one change of everything.
    fn whole(&mut self, resource: &'a ResourceChange, homes: &[Option<HomeFile>; 2]) -> Option<WireChange<'a>> {
        let (kind, before, after) = match (&resource.before, &resource.after) {
            (None, Some(after)) if !after.is_selector() => (ChangeKind::Add, None, Some(&after.payload)),
            (Some(before), None) if !before.is_selector() => (ChangeKind::Remove, Some(&before.payload), None),
            _ => return None,
        };
        let change = Change::new(kind, Vec::new(), before.cloned(), after.cloned());
        let cause = self.causes(causes_at(&change, homes, self.sources));
        Some(self.wire_change((kind, &[]), before, after, cause))
    }

    fn change(&mut self, change: &'a Change, homes: &[Option<HomeFile>; 2], group: Option<String>) -> WireChange<'a> {
        let cause = self.causes(causes_at(change, homes, self.sources));
        let wire = self.wire_change((change.kind, &change.path), change.before.as_ref(), change.after.as_ref(), cause);
        WireChange { group, ..wire }
    }

    /// The numbers of secrets, if one side is one.
    pub(super) fn secret(&self, before: Option<&Node>, after: Option<&Node>) -> Option<WireSecret> {
        let number = |node: Option<&Node>| node.and_then(|node| self.secret_numbers.borrow_mut().of_node(node));
        let secret = WireSecret { before: number(before), after: number(after) };
        (secret.before.is_some() || secret.after.is_some()).then_some(secret)
    }

    fn wire_change(
        &mut self,
        (kind, path): (ChangeKind, &[PathStep]),
        before: Option<&'a Node>,
        after: Option<&'a Node>,
        cause: WireCauses,
    ) -> WireChange<'a> {
        let secret = self.secret(before, after);
        let is_secret = secret.is_some();
        let secret_numbers = self.secret_numbers;
        let shown = |node: &'a Node| (!is_secret).then_some(Written { node, secret_numbers });
        let (new, old) = (diff::pointer(path, DiffSide::After), diff::pointer(path, DiffSide::Before));
        let mut masked: Vec<String> =
            [before, after].into_iter().flatten().filter(|_| !is_secret).flat_map(secret_places).collect();
        masked.sort();
        masked.dedup();
        WireChange {
            kind: kind_name(kind),
            path: if kind == ChangeKind::Remove { old.to_string() } else { new.to_string() },
            path_before: (old != new && kind != ChangeKind::Remove).then(|| old.to_string()),
            inside: inside(path),
            display: path_text::display(path, path_text::EMBEDDED),
            before: before.and_then(shown),
            after: after.and_then(shown),
            sensitive: [before, after].into_iter().flatten().any(Node::holds_secret),
            secret,
            masked,
            locations: Locations {
                before: before.map(|node| self.place(node.span)),
                after: after.map(|node| self.place(node.span)),
            },
            cause,
            group: None,
        }
    }

    fn accepted(&mut self, report: &'a Report) -> Vec<WireAccepted<'a>> {
        let found = identified(report.allowed.iter().map(|allowed| &allowed.finding), &report.sources);
        let accepted = found.into_iter().zip(&report.allowed).map(|(found, allowed)| WireAccepted {
            finding: self.finding(found),
            reason: &allowed.reason,
            until: allowed.until.as_deref(),
        });
        accepted.collect()
    }

    fn finding(&mut self, identified: Identified<'a>) -> WireFinding<'a> {
        let Identified { finding, fingerprint } = identified;
        WireFinding {
            rule: finding.rule.id,
            kind: finding.rule.kind.name(),
            severity: finding.severity.name(),
            message: &finding.message,
            place: match &finding.location {
                Location::Span(span) => self.range(*span),
                Location::File { path, revision } => FindingPlace {
                    file: in_file(path),
                    revision: revision.to_string(),
                    line: None,
                    column: None,
                    end_line: None,
                    end_column: None,
                },
            },
            label: &finding.label,
            related: finding
                .related
                .iter()
                .map(|label| WireRelated { label: &label.text, place: self.range(label.span) })
                .collect(),
            help: finding.help.as_deref(),
            resource: finding.resource.as_deref(),
            pointer: finding.pointer.as_ref().filter(|_| finding.resource.is_some()).map(ToString::to_string),
            fingerprint,
        }
    }

    fn range(&mut self, span: Span) -> FindingPlace {
        let start = self.locator.start(span);
        let end = self.locator.end(span);
        FindingPlace {
            file: in_file(&start.text.path),
            revision: start.text.revision.to_string(),
            line: Some(start.line),
            column: Some(start.column),
            end_line: Some(end.line),
            end_column: Some(end.column),
        }
    }

    pub(super) fn place(&mut self, span: Span) -> WirePlace {
        let start = self.locator.start(span);
        WirePlace { file: in_file(&start.text.path), line: start.line, column: start.column }
    }

    fn file(&mut self, side: &Resource) -> WireFile {
        let line = self.locator.start(side.payload.span).line;
        WireFile { file: in_file(&side.file), document: side.position, line, unit: side.unit.as_ref().map(unit) }
    }
}

fn unit(unit: &Unit) -> WireUnit {
    WireUnit { layout: unit.layout.to_string(), name: Home::Unit(unit).to_string() }
}

fn unit_change(change: &UnitChange) -> WireUnitChange {
    let sides = ["before", "after"].into_iter().zip(change.failed);
    let failed = sides.filter(|(_, is_failed)| *is_failed).map(|(side, _)| side).collect();
    let left_out = change.is_left_out;
    WireUnitChange { unit: unit(&change.unit), status: change.status().name(), failed, left_out }
}

fn reach_change(change: &ReachChange) -> WireReachChange<'_> {
    let [before, after] = [0, 1].map(|side| change.layers[side].statements.reaches_below());
    WireReachChange {
        file: in_file(&change.file),
        selector: change.layers[1].selector().map(ToString::to_string).unwrap_or_default(),
        before,
        after,
        form_changed: change.has_other_form(),
        paths: change.paths.iter().map(String::as_str).collect(),
    }
}

fn rollout(rollout: &Rollout) -> WireRollout {
    let because = rollout.because.iter().cloned().collect();
    WireRollout { resource: rollout.identity.to_string(), unit: unit(&rollout.unit), because }
}

fn wire_bump<'a>(bump: &'a Bump, report: &Report) -> WireBump<'a> {
    let version = |side: usize| WireVersion { version: &bump.versions[side], comment: bump.comments[side].as_deref() };
    let use_of = |member: &Member| {
        let of = report.resources.get(member.resource)?;
        let (side, change) = (of.after.as_ref().or(of.before.as_ref())?, of.change(member.change)?);
        Some(WireUse {
            resource: side.identity.to_string(),
            file: in_file(&side.file),
            unit: side.unit.as_ref().map(unit),
            path: diff::pointer(&change.path, DiffSide::After).to_string(),
            display: path_text::display(&change.path, path_text::EMBEDDED),
        })
    };
    WireBump {
        kind: bump.kind.name(),
        name: &bump.name,
        before: version(0),
        after: version(1),
        level: bump.level.name(),
        downgrade: bump.is_downgrade,
        uses: bump.members.iter().filter_map(use_of).collect(),
    }
}

fn source(file: &EditedFile) -> WireSource {
    WireSource { file: in_file(&file.file), edits: file.edits, resources: file.resources }
}

/// A file that was compared as text.
fn text_file(file: &TextFile) -> WireTextFile {
    let hunks = lines::hunks_of(file, &Style::default());
    let diff: Vec<String> = hunks.iter().map(Line::plain).collect();
    WireTextFile {
        path: wire_path(&file.path),
        renamed_from: file.renamed_from.as_ref().map(ToString::to_string),
        kind: file.kind,
        note: lines::note(file),
        diff: (!diff.is_empty()).then(|| diff.join("\n")),
    }
}

/// A file that could not be compared, with its lines where they may be shown.
fn unread(path: &RepoPath, report: &Report) -> WireTextFile {
    let as_text = report.text_files.iter().find(|file| file.path == *path);
    as_text.map(text_file).unwrap_or_else(|| WireTextFile {
        path: wire_path(path),
        renamed_from: None,
        kind: "files with errors",
        note: "could not be compared".to_owned(),
        diff: None,
    })
}

fn summary(report: &Report) -> Summary {
    let counts = SummaryCounts::count(report);
    Summary {
        complete: !report.is_incomplete(),
        only_bumps: report.bumps.is_everything,
        compared_as_text: report.compared_as_text().count(),
        not_compared: report.unread.len(),
        added: counts.added,
        removed: counts.removed,
        changed: counts.changed,
        moved: counts.moved,
        respelled: counts.respelled,
        groups: counts.groups,
        overridden: counts.overridden,
        dead_edits: counts.dead_edits,
        spelling_only: counts.spelling_only,
        order_only: counts.order_only,
        secrets: counts.secrets,
        skipped: counts.skipped,
        suppressed: counts.suppressed,
        switched_off: report.switched_off,
        errors: counts.errors,
        warnings: counts.warnings,
        notes: counts.notes,
    }
}

fn identity(identity: &Identity) -> WireIdentity<'_> {
    match identity {
        Identity::Logical(path) => WireIdentity::Logical { path: path.as_str() },
        Identity::Kubernetes(name) => WireIdentity::Kubernetes {
            group: &name.group,
            kind: &name.kind,
            namespace: &name.namespace,
            name: &name.name,
        },
        Identity::File { path, position } => WireIdentity::File { path: wire_path(path), document: *position },
    }
}

fn wire_path(path: &RepoPath) -> WirePath {
    let bytes = path.as_bytes();
    WirePath {
        path: String::from_utf8_lossy(bytes).into_owned(),
        path_bytes: path.to_str().is_none().then(|| crate::value::base64(bytes)),
    }
}

pub(super) fn in_file(path: &RepoPath) -> InFile {
    let WirePath { path: file, path_bytes } = wire_path(path);
    InFile { file, path_bytes }
}

pub(super) fn kind_name(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Add => "add",
        ChangeKind::Remove => "remove",
        ChangeKind::Value => "value",
        ChangeKind::Type => "type",
        ChangeKind::Text => "text",
        ChangeKind::Reorder => "reorder",
        ChangeKind::Move => "move",
    }
}

fn reason(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::OtherFormat => "other_format",
        SkipReason::ForeignTemplate => "foreign_template",
        SkipReason::JsonWithComments => "json_with_comments",
        SkipReason::Binary => "binary",
        SkipReason::LfsPointer => "lfs_pointer",
        SkipReason::Symlink => "symlink",
        SkipReason::Submodule => "submodule",
    }
}

/// The rest of the path, from each string that contains an embedded document.
fn inside(path: &[PathStep]) -> Vec<WireInside> {
    let mut rest = path;
    let mut documents = Vec::new();
    while let Some(at) = rest.iter().position(|step| matches!(step, PathStep::Embedded(_))) {
        let PathStep::Embedded(format) = rest[at] else { break };
        rest = &rest[at + 1..];
        let path: Pointer = diff::pointer(rest, DiffSide::After);
        documents.push(WireInside { format: format.extension(), path: path.to_string() });
    }
    documents
}
