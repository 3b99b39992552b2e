//! `outcrop/json-patch/v1`: the exact difference of each resource as an RFC 6902 patch.

use std::cell::RefCell;
use std::io;

use serde::{Serialize, Serializer};

use super::ascii::Visible;
use super::value::{Written, secret_places};
use crate::diff::ResourceChange;
use crate::diff::json_patch::{Operation, json_patch};
use crate::path::Pointer;
use crate::report::Report;
use crate::report::secret_numbers::SecretNumbers;
use crate::resource::Resource;
use crate::value::Node;

/// Writes one patch per resource that differs to the letter, spelling of numbers included.
///
/// Effective metadata that differs has a patch of its own, because it is a document of its own.
///
/// Secrets are replaced as in every format, and a patch with replaced secrets is marked as masked: it shows what
/// changes, but does not carry it out.
pub fn write_patches(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let secret_numbers = RefCell::new(SecretNumbers::number_all(report));
    let wire = Patches {
        schema: "outcrop/json-patch/v1",
        before: &report.before,
        after: &report.after,
        resources: Resources { changes: &report.resources, secret_numbers: &secret_numbers },
        incomplete: report.is_incomplete(),
    };
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Visible);
    wire.serialize(&mut serializer)?;
    writeln!(out)
}

/// What changes one resource.
struct Operations {
    payload: Vec<Operation>,
    /// From the older effective metadata to the newer.
    metadata: Vec<Operation>,
}

impl Operations {
    fn of(change: &ResourceChange) -> Self {
        // A resource that is new or gone is a change of the whole document.
        let payload = match (&change.before, &change.after) {
            (Some(before), Some(after)) => json_patch(&before.payload, &after.payload),
            (None, Some(after)) => vec![Operation::Add { path: Pointer::root(), value: after.payload.clone() }],
            (Some(_), None) => vec![Operation::Remove { path: Pointer::root() }],
            (None, None) => Vec::new(),
        };
        let documents = change.metadata.documents.as_ref();
        let metadata = documents.map(|documents| json_patch(&documents.before, &documents.after));
        Self { payload, metadata: metadata.unwrap_or_default() }
    }
}

#[derive(Serialize)]
struct Patches<'a> {
    schema: &'static str,
    before: &'a str,
    after: &'a str,
    resources: Resources<'a>,
    incomplete: bool,
}

/// The patches of resources, each made when it is written: together they may be large.
struct Resources<'a> {
    changes: &'a [ResourceChange],
    secret_numbers: &'a RefCell<SecretNumbers>,
}

impl Serialize for Resources<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.changes.iter().map(|change| OfOne { change, secret_numbers: self.secret_numbers }))
    }
}

/// The patch of one resource.
struct OfOne<'a> {
    change: &'a ResourceChange,
    secret_numbers: &'a RefCell<SecretNumbers>,
}

impl Serialize for OfOne<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        resource_patch(self.change, &Operations::of(self.change), self.secret_numbers).serialize(serializer)
    }
}

#[derive(Serialize)]
struct ResourcePatch<'a> {
    id: String,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    before_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_file: Option<String>,
    masked: bool,
    patch: Vec<WireOperation<'a>>,
    /// For the effective metadata, which is another document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    metadata_patch: Vec<WireOperation<'a>>,
}

#[derive(Serialize)]
struct WireOperation<'a> {
    op: &'static str,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Written<'a>>,
}

fn resource_patch<'a>(
    change: &'a ResourceChange,
    operations: &'a Operations,
    secret_numbers: &'a RefCell<SecretNumbers>,
) -> ResourcePatch<'a> {
    let named = change.after.as_ref().or(change.before.as_ref());
    let file = |resource: &Option<Resource>| resource.as_ref().map(|resource| resource.file.to_string());
    let patch = wire(&operations.payload, secret_numbers);
    let metadata_patch = wire(&operations.metadata, secret_numbers);
    let holds_secret =
        |operation: &WireOperation<'_>| operation.value.is_some_and(|value| !secret_places(value.node).is_empty());
    ResourcePatch {
        id: named.map(|resource| resource.identity.to_string()).unwrap_or_default(),
        status: change.status().name(),
        before_file: file(&change.before),
        after_file: file(&change.after),
        masked: patch.iter().chain(&metadata_patch).any(holds_secret),
        patch,
        metadata_patch,
    }
}

fn wire<'a>(operations: &'a [Operation], secret_numbers: &'a RefCell<SecretNumbers>) -> Vec<WireOperation<'a>> {
    let wire = |op, path: &Pointer, node: Option<&'a Node>| WireOperation {
        op,
        path: path.to_string(),
        value: node.map(|node| Written { node, secret_numbers }),
    };
    let operations = operations.iter().map(|operation| match operation {
        Operation::Add { path, value } => wire("add", path, Some(value)),
        Operation::Remove { path } => wire("remove", path, None),
        Operation::Replace { path, value } => wire("replace", path, Some(value)),
    });
    operations.collect()
}
