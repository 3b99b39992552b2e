//! `outcrop expand`: a file with its merge directives applied, and where every value comes from.

use std::sync::Arc;

use super::one_file::OneFile;
use crate::directive::{self, Expanded};
use crate::document::write::{to_json, to_yaml};
use crate::report::{self, Report};
use crate::shell::cli::{ExpandArgs, Global, OutputFormat};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::output;

pub(in crate::shell) fn run(global: &Global, args: &ExpandArgs) -> Result<Exit, Failure> {
    let file = OneFile::open(global, &args.file, args.at.as_deref())?;
    let parsed = file.parse(&args.file)?;
    let mut findings = parsed.findings;
    let mut expanded = None;
    if !parsed.is_broken {
        match directive::only_document(&parsed.documents, &file.path, file.snapshot.label()) {
            Err(finding) => findings.push(*finding),
            Ok(document) => {
                let mut outcome = directive::expand(document, &file.path, &file.context());
                findings.append(&mut outcome.findings);
                expanded = Some(outcome.value);
            }
        }
    }
    let style = output::style(global);
    if !findings.is_empty() {
        let report = Report { findings, sources: Arc::clone(&file.sources), ..Report::default() };
        output::write_message(|out| report::diagnostics::write(&report, &output::message_style(global), out))?;
        return Ok(Exit::Found);
    }
    let Some(Expanded { root, reads }) = expanded else { return Ok(Exit::Found) };
    let inspection = file.inspection();
    let is_revealed = super::diff::may_reveal(args.reveal)?;
    let shown = if is_revealed { root.clone() } else { inspection.shown_document(root.clone(), &file.path) };
    if !shown.is_identical(&root) {
        output::note("note: secret values are hidden (--reveal shows them on a terminal)");
    }
    let why = || inspection.explain_document(shown.clone(), &file.path, &reads);
    output::write(|out| match (args.why, args.format) {
        (true, _) => report::explain::write(&[why()], &file.sources, &style, out),
        (false, OutputFormat::Yaml) => out.write_all(to_yaml(&shown).as_bytes()),
        (false, OutputFormat::Json) => out.write_all(to_json(&shown).as_bytes()),
    })?;
    Ok(Exit::Clean)
}
