//! `outcrop metadata infer`: metadata proposed from an OpenAPI document, shown or stored.

use std::path::Path;

use super::{carry_out, print, read_document};
use crate::finding::{Finding, has_errors};
use crate::metadata::{MetadataPath, plan};
use crate::settings::Root;
use crate::shell::cli::{Global, MetadataTarget};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::one_side::OneSide;
use crate::shell::output;
use crate::shell::select::WordReader;
use crate::side::Side;
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
        let failure = Failure::new("recursive inference is not supported; nothing was inferred or stored");
        return Err(failure.help("infer the metadata of one path at a time"));
    }
    let opened = if asked.apply { OneSide::for_writing(global)? } else { OneSide::open(global, &target.at)? };
    let (side, prefix) = (opened.side(false), opened.prefix());
    let (path, root) = WordReader { side: &side, prefix: &prefix }.metadata_path(&target.path)?;
    let (openapi, mut findings) = document(&side, asked.openapi)?;
    let outcome = side.infer(&path, &root, openapi.as_ref());
    findings.extend(outcome.findings);
    let inferred = outcome.value;
    if !asked.apply {
        let shown = if asked.complete { inferred.inferred } else { inferred.compact };
        print(&side.secrets().hide_metadata(shown, &inferred.path), target.output)?;
        return Ok(opened.report(&side, findings, global)?);
    }
    if has_errors(&findings) {
        return carry_out(&opened, &side, Err(findings), global);
    }
    let layers = super::layers_at(&side, &root)?;
    let planned = plan::supplement(&inferred.path, &inferred.compact, layers, root.format);
    if planned.as_ref().is_ok_and(|plan| plan.edits.is_empty()) {
        output::print_lines(&format!("nothing to add: the metadata of {} is complete\n", inferred.path))?;
        return Ok(opened.report(&side, findings, global)?);
    }
    let exit = carry_out(&opened, &side, planned, global)?;
    opened.report(&side, findings, global)?;
    Ok(exit)
}

/// What is shown where nothing is stored: the proposal, if the configured OpenAPI document knows the path.
pub(super) fn in_place_of_stored(
    global: &Global,
    opened: &OneSide,
    side: &Side<'_>,
    target: &MetadataTarget,
    path: &MetadataPath,
    root: &Root,
) -> Result<Exit, Failure> {
    let (openapi, mut findings) = document(side, None)?;
    let known = openapi.map(|openapi| side.infer(path, root, Some(&openapi))).filter(|known| known.value.is_known);
    let Some(known) = known else {
        opened.report(side, findings, global)?;
        let failure = Failure::new(format!("no metadata is stored for {path}"));
        return Err(failure.help(format!("`outcrop metadata get {path}` shows the defaults")));
    };
    findings.extend(known.findings);
    print(&side.secrets().hide_metadata(known.value.compact, path), target.output)?;
    Ok(opened.report(side, findings, global)?)
}

/// The OpenAPI document to go by, if there is one, and what is wrong with it.
fn document(side: &Side<'_>, file: Option<&Path>) -> Result<(Option<Node>, Vec<Finding>), Failure> {
    let Some(file) = file else {
        let configured = side.openapi();
        return Ok((configured.value.map(|document| document.root().clone()), configured.findings));
    };
    Ok(match read_document(file, "an OpenAPI document", side.sources)? {
        Ok(document) => (Some(document), Vec::new()),
        Err(findings) => (None, findings),
    })
}
