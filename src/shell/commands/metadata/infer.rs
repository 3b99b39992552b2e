//! `outcrop metadata infer`: metadata proposed from an OpenAPI document, shown or stored.

use std::path::Path;
use std::sync::Arc;

use super::{carry_out, print, read_document};
use crate::finding::{Finding, has_errors};
use crate::metadata::{MetadataPath, plan};
use crate::pipeline::MetadataTree;
use crate::shell::cli::{Global, MetadataTarget};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::inspect::Inspected;
use crate::shell::output;
use crate::value::Node;

/// What somebody wants of the proposal.
pub(super) struct Asked<'a> {
    pub(super) openapi: Option<&'a Path>,
    pub(super) apply: bool,
    pub(super) complete: bool,
}

pub(super) fn run(
    global: &Global,
    target: &MetadataTarget,
    asked: &Asked<'_>,
    recursive: bool,
) -> Result<Exit, Failure> {
    if recursive {
        let failure = Failure::new("recursive inference is not available, so nothing was inferred or stored");
        return Err(failure.help("infer the metadata of one path at a time"));
    }
    let inspected = match asked.apply {
        true => Inspected::for_writing(global)?,
        false => Inspected::open(global, &target.at)?,
    };
    let (path, tree) = inspected.metadata_path(&target.path)?;
    let inspection = inspected.inspection();
    let (openapi, mut findings) = document(&inspected, asked.openapi)?;
    let outcome = inspection.infer(&path, &tree, openapi.as_ref());
    findings.extend(outcome.findings);
    let inferred = outcome.value;
    if !asked.apply {
        let shown = if asked.complete { inferred.inferred } else { inferred.compact };
        print(&inspection.shown_metadata(shown, &inferred.path), target.output)?;
        return Ok(inspected.report(findings, global)?);
    }
    if has_errors(&findings) {
        return carry_out(&inspected, Err(findings), global);
    }
    let planned =
        inspection.plan(&tree, |layers| plan::supplement(&inferred.path, &inferred.compact, layers, tree.format));
    if planned.as_ref().is_ok_and(|plan| plan.edits.is_empty()) {
        output::print_lines(&format!("nothing to add: the metadata of {} says all of it\n", inferred.path))?;
        return Ok(inspected.report(findings, global)?);
    }
    let exit = carry_out(&inspected, planned, global)?;
    inspected.report(findings, global)?;
    Ok(exit)
}

/// What is shown where nothing is stored: the proposal, if the configured OpenAPI document knows the path.
pub(super) fn in_place_of_stored(
    global: &Global,
    inspected: &Inspected,
    target: &MetadataTarget,
    path: &MetadataPath,
    tree: &MetadataTree,
) -> Result<Exit, Failure> {
    let (openapi, mut findings) = document(inspected, None)?;
    let inspection = inspected.inspection();
    let known =
        openapi.map(|openapi| inspection.infer(path, tree, Some(&openapi))).filter(|known| known.value.is_known);
    let Some(known) = known else {
        inspected.report(findings, global)?;
        let failure = Failure::new(format!("no metadata is stored for {path}"));
        return Err(failure.help(format!("`outcrop metadata get {path}` shows the defaults")));
    };
    findings.extend(known.findings);
    print(&inspection.shown_metadata(known.value.compact, path), target.output)?;
    Ok(inspected.report(findings, global)?)
}

/// The OpenAPI document to go by, if there is one, and what is wrong with it.
fn document(inspected: &Inspected, file: Option<&Path>) -> Result<(Option<Node>, Vec<Finding>), Failure> {
    let Some(file) = file else {
        let configured = inspected.inspection().openapi();
        return Ok((configured.value.map(Arc::unwrap_or_clone), configured.findings));
    };
    Ok(match read_document(file, "an OpenAPI document", &inspected.sources)? {
        Ok(document) => (Some(document), Vec::new()),
        Err(findings) => (None, findings),
    })
}
