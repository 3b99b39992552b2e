//! Groups, causes and layers in the wire form.

use super::make::{Maker, in_file, kind_name};
use super::v1::*;
use super::value::Written;
use crate::diff::path_text;
use crate::diff::{self, Cause, Causes, DiffSide, FileSpan, Group, Origin, PathStep, SharedCause, Variant};
use crate::path::Pointer;
use crate::report::{LayerEdit, Report, secret_numbers};
use crate::value::Node;

impl<'a> Maker<'a> {
    pub(super) fn group(&mut self, group: &'a Group, report: &'a Report) -> WireGroup<'a> {
        let mut variants: Vec<WireVariant<'a>> =
            group.variants.iter().map(|variant| self.variant(variant, report)).collect();
        let sensitive = variants.iter().any(|variant| variant.sensitive);
        let only = if variants.len() == 1 { variants.pop() } else { None };
        let (before, after, secret) = only.map(|only| (only.before, only.after, only.secret)).unwrap_or_default();
        let (view, operation) = match group.path.first() {
            Some(PathStep::Metadata) => ("metadata", None),
            Some(PathStep::Expression(_)) => ("expression", None),
            Some(PathStep::Request(operation)) => ("request", Some(operation.as_str())),
            _ => ("payload", None),
        };
        let side = if group.after.is_some() { DiffSide::After } else { DiffSide::Before };
        let example = group.example(&report.resources).map(|(_, change)| diff::pointer(&change.path, side));
        WireGroup {
            fingerprint: group.fingerprint.to_string(),
            view,
            operation,
            kind: kind_name(group.kind),
            path: example.unwrap_or_else(Pointer::root).to_string(),
            path_shape: shape(&group.path).to_string(),
            display: path_text::display(&group.path, path_text::EMBEDDED),
            before,
            after,
            sensitive,
            secret,
            variants,
            resources: names(&group.resources(), report),
            cause: WireCauses {
                before: group.before.as_ref().map(|cause| self.shared_cause(cause)),
                after: group.after.as_ref().map(|cause| self.shared_cause(cause)),
            },
        }
    }

    fn variant(&mut self, variant: &'a Variant, report: &'a Report) -> WireVariant<'a> {
        let change = variant.example(&report.resources).map(|(_, change)| change);
        let (before, after) = change.map(|change| (change.before.as_ref(), change.after.as_ref())).unwrap_or_default();
        let secret = self.secret(before, after);
        let secret_numbers = self.secret_numbers;
        let shown = |node: Option<&'a Node>| Some(Written { node: node.filter(|_| secret.is_none())?, secret_numbers });
        WireVariant {
            before: shown(before),
            after: shown(after),
            sensitive: change.is_some_and(secret_numbers::concerns_secret),
            secret,
            resources: names(&variant.resources(), report),
        }
    }

    pub(super) fn causes(&mut self, causes: &Causes) -> WireCauses {
        WireCauses {
            before: causes.before.as_ref().map(|cause| self.cause(cause)),
            after: causes.after.as_ref().map(|cause| self.cause(cause)),
        }
    }

    fn cause(&mut self, cause: &Cause) -> WireCause {
        let via = cause.via.iter().map(|via| WireVia { kind: via.kind.name(), place: Some(self.at(&via.at)) });
        let via = via.collect();
        WireCause { place: Some(self.at(&cause.at)), own: cause.is_own, via }
    }

    fn shared_cause(&mut self, cause: &SharedCause) -> WireCause {
        let (place, own) = match &cause.origin {
            Origin::Own => (None, true),
            Origin::Apart => (None, false),
            Origin::At(place) => (Some(self.at(place)), false),
        };
        let via =
            cause.via.iter().map(|via| WireVia { kind: via.kind.name(), place: via.at.as_ref().map(|at| self.at(at)) });
        let via = via.collect();
        WireCause { place, own, via }
    }

    fn at(&mut self, place: &FileSpan) -> WirePlace {
        let start = self.locator.start(place.span);
        WirePlace { file: in_file(&place.file), line: start.line, column: start.column }
    }

    pub(super) fn layer_edit(&mut self, edit: &LayerEdit) -> WireLayerEdit {
        let start = edit.at().map(|at| self.locator.start(at));
        let overridden = edit
            .overridden
            .iter()
            .map(|resource| WireOverridden { resource: resource.resource.to_string(), by: self.place(resource.by) });
        WireLayerEdit {
            file: in_file(&edit.file),
            line: start.as_ref().map(|start| start.line),
            column: start.as_ref().map(|start| start.column),
            path: edit.pointer.to_string(),
            readers: edit.readers,
            dead: edit.is_dead,
            overridden: overridden.collect(),
        }
    }
}

fn names(resources: &[usize], report: &Report) -> Vec<String> {
    let name = |at: &usize| {
        let of = report.resources.get(*at)?;
        Some(of.after.as_ref().or(of.before.as_ref())?.identity.to_string())
    };
    resources.iter().filter_map(name).collect()
}

/// The path with list items by their labels, and `*` for items without one.
fn shape(path: &[PathStep]) -> Pointer {
    let token = |step: &PathStep| match step {
        PathStep::Key(key) => Some(key.name.clone()),
        PathStep::Item { label, .. } => Some(label.clone().unwrap_or_else(|| "*".into())),
        PathStep::Embedded(_) | PathStep::Metadata | PathStep::Request(_) | PathStep::Expression(_) => None,
    };
    path.iter().filter_map(token).collect()
}
