//! `outcrop affected`: the units that a change affects, such as kustomize roots.

use crate::comparison::Options;
use crate::report::affected::{self, Listed};
use crate::report::json;
use crate::shell::cli::{AffectedArgs, AffectedFormat, Global};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::output;
use crate::shell::session::Session;

pub(in crate::shell) fn run(global: &Global, args: &AffectedArgs) -> Result<Exit, Failure> {
    let session = Session::open(global, &args.range)?;
    let comparison = session.comparison(Options::default());
    let report = session.working(|| comparison.compare());
    let listed = if args.reached { Listed::Reached } else { Listed::Differing };
    output::write(|out| match args.format {
        AffectedFormat::Text => affected::write_text(&report, listed, args.name_only, out),
        AffectedFormat::Json => json::write_affected(&report, listed, out),
        AffectedFormat::Matrix => writeln!(out, "{}", json::matrix(&report, listed)),
    })?;
    let failed = report.units.iter().filter(|unit| unit.is_unjudged()).count();
    Ok(if failed > 0 || report.is_incomplete() { Exit::Incomplete } else { Exit::Clean })
}
