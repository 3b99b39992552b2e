//! `outcrop check`: what is wrong with the files that change.

use std::io::{self, Write};

use crate::comparison::{Judged, Options};
use crate::finding::Severity;
use crate::report::{self, Report, Style};
use crate::shell::cli::{CheckArgs, CheckFormat, FailOn, Global};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::session::Session;
use crate::shell::{output, pager};

pub(in crate::shell) fn run(global: &Global, args: &CheckArgs) -> Result<Exit, Failure> {
    let session =
        if args.all { Session::open_whole(global, &args.range)? } else { Session::open(global, &args.range)? };
    // Against the working tree a finding that is staged already is still the author's to fix.
    let new_only = args.new_only.unwrap_or(!args.no_new_only && !session.ends_in_working_tree());
    let judged = match (args.all, new_only) {
        (true, _) => Judged::Everything,
        (_, true) => Judged::New,
        _ => Judged::Changed,
    };
    let comparison = session.comparison(Options::default());
    let report = session.working(|| comparison.check(judged));
    let is_paged = args.format == CheckFormat::Terminal && !args.no_pager;
    let pager = if is_paged { pager::choose(session.user_pager().map(str::to_owned)) } else { None };
    let style = output::style(global);
    pager::through(pager, |out| write(&report, args.format, &style, out))?;
    Ok(exit_of(&report, args.fail_on))
}

/// Writes findings in a format.
fn write(report: &Report, format: CheckFormat, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    match format {
        CheckFormat::Terminal => report::diagnostics::write(report, style, out),
        CheckFormat::Json => report::json::write(report, out),
        CheckFormat::Sarif => report::json::sarif::write(report, out),
        CheckFormat::Github => report::github::write(report, out),
        CheckFormat::Gitlab => report::json::gitlab::write(report, out),
    }
}

/// 2 if something could not be read at all, 1 if a finding reaches the threshold, 0 otherwise.
pub(in crate::shell) fn exit_of(report: &Report, fail_on: FailOn) -> Exit {
    let threshold = match fail_on {
        FailOn::Error => Some(Severity::Error),
        FailOn::Warning => Some(Severity::Warning),
        FailOn::Never => None,
    };
    let fails = |severity| threshold.is_some_and(|threshold| severity >= threshold);
    if report.is_incomplete() {
        Exit::Incomplete
    } else if report.findings.iter().any(|finding| fails(finding.severity)) {
        Exit::Found
    } else {
        Exit::Clean
    }
}
