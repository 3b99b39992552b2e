//! `outcrop/report/v1`: the wire form of a report. A frozen copy of what the domain types mean; fields are only ever added.

use std::cell::RefCell;
use std::io;

use serde::Serialize;

use super::ascii::Visible;
use super::make::Maker;
use super::value::Written;
use crate::report::Report;
use crate::report::secret_numbers::SecretNumbers;

/// The JSON Schema of this format.
pub fn schema() -> &'static str {
    include_str!("../../../docs/schema/report-v1.json")
}

/// Writes the report as one line of JSON.
pub fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let secret_numbers = RefCell::new(SecretNumbers::number_all(report));
    let wire = Maker::new(report, &secret_numbers).report(report);
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Visible);
    wire.serialize(&mut serializer)?;
    writeln!(out)
}

#[derive(Serialize)]
pub(super) struct WireReport<'a> {
    pub schema: &'static str,
    pub tool: Tool,
    pub before: SideLabel<'a>,
    pub after: SideLabel<'a>,
    pub compared: ComparedCounts,
    pub summary: Summary,
    pub resources: Vec<WireResource<'a>>,
    pub groups: Vec<WireGroup<'a>>,
    /// Left out if empty; older versions of the format do not have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bumps: Vec<WireBump<'a>>,
    pub sources: Vec<WireSource>,
    pub layer_edits: Vec<WireLayerEdit>,
    /// Left out if empty; older versions of the format do not have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reach: Vec<WireReachChange<'a>>,
    pub findings: Vec<WireFinding<'a>>,
    /// Left out if empty; older versions of the format do not have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<WireAccepted<'a>>,
    pub compared_as_text: Vec<WireTextFile>,
    pub not_compared: Vec<WireTextFile>,
    pub skipped: Vec<WireSkipped>,
    pub suppressed: Vec<WireSuppressed<'a>>,
    /// Left out if empty; older versions of the format do not have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub would_hide: Vec<WireSuppressed<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub only: &'a [&'static str],
    /// Left out if empty; older versions of the format do not have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<WireUnitChange>,
    /// Left out if empty; older versions of the format do not have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rollouts: Vec<WireRollout>,
    pub incomplete: bool,
}

/// Something whose version changed.
#[derive(Serialize)]
pub(super) struct WireBump<'a> {
    pub kind: &'static str,
    pub name: &'a str,
    pub before: WireVersion<'a>,
    pub after: WireVersion<'a>,
    pub level: &'static str,
    pub downgrade: bool,
    pub uses: Vec<WireUse>,
}

#[derive(Serialize)]
pub(super) struct WireVersion<'a> {
    pub version: &'a str,
    /// The version that a comment beside it names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<&'a str>,
}

/// A value that says the version.
#[derive(Serialize)]
pub(super) struct WireUse {
    pub resource: String,
    #[serde(flatten)]
    pub file: InFile,
    /// Left out for what is written in the file as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<WireUnit>,
    pub path: String,
    pub display: String,
}

#[derive(Serialize)]
pub(super) struct WireReachChange<'a> {
    #[serde(flatten)]
    pub file: InFile,
    pub selector: String,
    pub before: bool,
    pub after: bool,
    pub form_changed: bool,
    pub paths: Vec<&'a str>,
}

#[derive(Serialize)]
pub(super) struct WireSuppressed<'a> {
    pub rule: &'a str,
    pub resource: String,
    pub change: WireChange<'a>,
}

#[derive(Serialize)]
pub(super) struct Tool {
    pub name: &'static str,
    pub version: &'static str,
}

#[derive(Serialize)]
pub(super) struct SideLabel<'a> {
    pub label: &'a str,
}

#[derive(Serialize)]
pub(super) struct ComparedCounts {
    pub files: usize,
    pub resources: usize,
    pub examined: usize,
}

#[derive(Serialize)]
pub(super) struct Summary {
    pub complete: bool,
    pub only_bumps: bool,
    pub compared_as_text: usize,
    pub not_compared: usize,
    pub added: usize,
    pub removed: usize,
    pub changed: usize,
    pub moved: usize,
    pub respelled: usize,
    pub groups: usize,
    pub overridden: usize,
    pub dead_edits: usize,
    pub spelling_only: usize,
    pub order_only: usize,
    pub secrets: usize,
    pub skipped: usize,
    pub suppressed: usize,
    pub switched_off: usize,
    pub errors: usize,
    pub warnings: usize,
    pub notes: usize,
}

#[derive(Serialize)]
pub(super) struct WireResource<'a> {
    pub id: String,
    pub identity: WireIdentity<'a>,
    /// `selector` for the effective metadata of a selector; left out for resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<&'static str>,
    pub status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<WireFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<WireFile>,
    pub changes: Vec<WireChange<'a>>,
    pub spelling_only: Vec<WireChange<'a>>,
    /// Left out if empty; older versions of the format do not have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metadata: Vec<WireChange<'a>>,
    /// Left out if empty; older versions of the format do not have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<WireChange<'a>>,
    /// Expressions whose text was edited and whose value did not change. Left out if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expressions: Vec<WireChange<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum WireIdentity<'a> {
    Logical {
        path: &'a str,
    },
    Kubernetes {
        group: &'a str,
        kind: &'a str,
        namespace: &'a str,
        name: &'a str,
    },
    File {
        #[serde(flatten)]
        path: WirePath,
        #[serde(skip_serializing_if = "Option::is_none")]
        document: Option<usize>,
    },
}

/// A path as text; the exact bytes too, in base64, where they are not text.
#[derive(Serialize)]
pub(super) struct WirePath {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_bytes: Option<String>,
}

/// A path as text, and its exact bytes if they are not text, in an object with other members.
#[derive(Serialize)]
pub(super) struct InFile {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_bytes: Option<String>,
}

#[derive(Serialize)]
pub(super) struct WireFile {
    #[serde(flatten)]
    pub file: InFile,
    pub document: usize,
    pub line: usize,
    /// Left out for what is written in the file as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<WireUnit>,
}

/// What renders a resource: a kustomize root.
#[derive(Serialize)]
pub(super) struct WireUnit {
    pub layout: String,
    pub name: String,
}

/// A unit whose inputs changed.
#[derive(Serialize)]
pub(super) struct WireUnitChange {
    #[serde(flatten)]
    pub unit: WireUnit,
    pub status: &'static str,
    /// The sides on which it does not build. Left out if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<&'static str>,
    /// Whether it was not compared, because the run was about to use up its memory or time. Left out if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
}

/// A resource that is rolled out because others have a new content.
#[derive(Serialize)]
pub(super) struct WireRollout {
    pub resource: String,
    pub unit: WireUnit,
    pub because: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct WireChange<'a> {
    pub kind: &'static str,
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_before: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<WireInside>,
    pub display: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Written<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Written<'a>>,
    pub sensitive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<WireSecret>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<String>,
    pub locations: Locations,
    pub cause: WireCauses,
    /// The group it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// The causes of a change, or of the changes of a group.
#[derive(Serialize)]
pub(super) struct WireCauses {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<WireCause>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<WireCause>,
}

#[derive(Serialize)]
pub(super) struct WireCause {
    /// Absent for a group whose values are defined in different files.
    #[serde(flatten)]
    pub place: Option<WirePlace>,
    pub own: bool,
    pub via: Vec<WireVia>,
}

#[derive(Serialize)]
pub(super) struct WireVia {
    pub kind: &'static str,
    #[serde(flatten)]
    pub place: Option<WirePlace>,
}

#[derive(Serialize)]
pub(super) struct WireGroup<'a> {
    pub fingerprint: String,
    pub view: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<&'a str>,
    pub kind: &'static str,
    pub path: String,
    pub path_shape: String,
    pub display: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Written<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Written<'a>>,
    pub sensitive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<WireSecret>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<WireVariant<'a>>,
    pub resources: Vec<String>,
    pub cause: WireCauses,
}

#[derive(Serialize)]
pub(super) struct WireVariant<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Written<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Written<'a>>,
    pub sensitive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<WireSecret>,
    pub resources: Vec<String>,
}

/// An edited file, and how many resources it affects.
#[derive(Serialize)]
pub(super) struct WireSource {
    #[serde(flatten)]
    pub file: InFile,
    pub edits: usize,
    pub resources: usize,
}

#[derive(Serialize)]
pub(super) struct WireLayerEdit {
    #[serde(flatten)]
    pub file: InFile,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    pub path: String,
    pub readers: usize,
    pub dead: bool,
    pub overridden: Vec<WireOverridden>,
}

#[derive(Serialize)]
pub(super) struct WireOverridden {
    pub resource: String,
    pub by: WirePlace,
}

/// The path of a change inside an embedded document.
#[derive(Serialize)]
pub(super) struct WireInside {
    pub format: &'static str,
    pub path: String,
}

#[derive(Serialize)]
pub(super) struct WireSecret {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<usize>,
}

#[derive(Serialize)]
pub(super) struct Locations {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<WirePlace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<WirePlace>,
}

#[derive(Serialize)]
pub(super) struct WirePlace {
    #[serde(flatten)]
    pub file: InFile,
    pub line: usize,
    pub column: usize,
}

#[derive(Serialize)]
pub(super) struct WireFinding<'a> {
    pub rule: &'static str,
    pub kind: &'static str,
    pub severity: &'static str,
    pub message: &'a str,
    #[serde(flatten)]
    pub place: FindingPlace,
    pub label: &'a str,
    pub related: Vec<WireRelated<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'a str>,
    /// Left out if it is about no resource; older versions of the format do not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    pub fingerprint: String,
}

#[derive(Serialize)]
pub(super) struct WireAccepted<'a> {
    #[serde(flatten)]
    pub finding: WireFinding<'a>,
    pub reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct WireRelated<'a> {
    pub label: &'a str,
    #[serde(flatten)]
    pub place: FindingPlace,
}

#[derive(Serialize)]
pub(super) struct FindingPlace {
    #[serde(flatten)]
    pub file: InFile,
    pub revision: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_column: Option<usize>,
}

#[derive(Serialize)]
pub(super) struct WireTextFile {
    #[serde(flatten)]
    pub path: WirePath,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    pub kind: &'static str,
    /// How it was compared.
    pub note: String,
    /// The lines that differ, in hunks; left out where they are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

#[derive(Serialize)]
pub(super) struct WireSkipped {
    #[serde(flatten)]
    pub path: WirePath,
    pub reason: &'static str,
}
