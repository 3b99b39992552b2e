//! `outcrop expand`: a file with its merge directives applied, and where every value comes from.

use crate::directive::{self, Expanded};
use crate::document::write::{to_json, to_yaml};
use crate::explain::explain_document;
use crate::report;
use crate::shell::cli::{ExpandArgs, Global, OutputFormat};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::one_side::{OneSide, inside};
use crate::shell::output;

pub(in crate::shell) fn run(global: &Global, args: &ExpandArgs) -> Result<Exit, Failure> {
    let opened = OneSide::open_anywhere(global, args.at.as_deref())?;
    let side = opened.side(super::diff::may_reveal(args.reveal)?);
    let path = inside(&opened.prefix(), &args.file)?;
    let parsed = opened.parse(&path, &args.file)?;
    let mut findings = parsed.findings;
    let mut expanded = None;
    if !parsed.is_broken {
        match directive::only_document(&parsed.documents, &path, side.snapshot.label()) {
            Err(finding) => findings.push(*finding),
            Ok(document) => {
                let mut outcome = directive::expand(document, &path, &side.directives());
                findings.append(&mut outcome.findings);
                expanded = Some(outcome.value);
            }
        }
    }
    let style = output::style(global);
    if !findings.is_empty() {
        return opened.refuse(findings, global);
    }
    let Some(Expanded { root, reads }) = expanded else { return Ok(Exit::Found) };
    let shown = side.hide_document(root.clone(), &path);
    if !shown.is_identical(&root) {
        output::note("note: secret values are hidden (--reveal shows them on a terminal)");
    }
    let why = || explain_document(&side, &shown, &path, &reads);
    output::write(|out| match (args.why, args.format) {
        (true, _) => report::explain::write(&[why()], &opened.sources, &style, out),
        (false, OutputFormat::Yaml) => out.write_all(to_yaml(&shown).as_bytes()),
        (false, OutputFormat::Json) => out.write_all(to_json(&shown).as_bytes()),
    })?;
    Ok(Exit::Clean)
}
