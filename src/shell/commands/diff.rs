//! `outcrop diff`: what changes in effect between two revisions.

use std::io::{self, IsTerminal, Write};

use smol_str::SmolStr;

use super::no_index;
use crate::comparison::{ComparedViews, Options, SelectedResources};
use crate::glob::Pattern;
use crate::layout::{FILE_LAYOUTS, LAYOUTS};
use crate::path::RepoPath;
use crate::report::markdown::Comment;
use crate::report::{self, Report, Style};
use crate::shell::cli::{DiffArgs, DiffFormat, Global, ShownArgs, View};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::session::Session;
use crate::shell::timings::Timings;
use crate::shell::{environment, output, pager};

pub(in crate::shell) fn run(global: &Global, args: &DiffArgs) -> Result<Exit, Failure> {
    if args.no_index {
        return outside(global, args);
    }
    let mut timings = Timings::start(global);
    let session = Session::open(global, &args.range)?;
    timings.mark("opened");
    let comparison = session.comparison(asked(global, args)?);
    let mut report = session.working(|| comparison.compare());
    timings.mark("compared");
    show(&mut report, global, &args.shown, session.user_pager())?;
    timings.mark("written");
    let exit = exit_of(&report, args.shown.exit_code);
    // The process ends now, and gives everything back at once: faster than piece by piece.
    std::mem::forget((comparison, report));
    std::mem::forget(session);
    Ok(exit)
}

/// What the command line asks of the comparison.
fn asked(global: &Global, args: &DiffArgs) -> Result<Options<'static>, Failure> {
    Ok(Options {
        views: views(&args.only),
        layouts: if args.only.contains(&View::Sources) { FILE_LAYOUTS } else { LAYOUTS },
        keeps_resources: shows_whole_resources(&args.shown),
        all_selectors: shows_all_selectors(global, &args.shown),
        ..shown_options(&args.shown)?
    })
}

/// What the flags about reports ask of a comparison.
pub(super) fn shown_options(args: &ShownArgs) -> Result<Options<'static>, Failure> {
    Ok(Options {
        ignored: read_pointers(&args.ignore)?,
        neat: args.neat,
        reveal: may_reveal(args.reveal)?,
        all_files: args.all_files,
        selected: selected(args)?,
        ..Options::default()
    })
}

/// Compares two files or directories instead of two revisions.
fn outside(global: &Global, args: &DiffArgs) -> Result<Exit, Failure> {
    let mut report = no_index::compare(global, args, asked(global, args)?)?;
    show(&mut report, global, &args.shown, None)?;
    let differs = report.text_files.iter().any(|file| !file.content.is_same());
    Ok(match exit_of(&report, args.shown.exit_code) {
        Exit::Clean if args.shown.exit_code && differs => Exit::Found,
        exit => exit,
    })
}

/// Writes the report as the user wants to see it, through a pager where that makes sense.
pub(super) fn show(report: &mut Report, global: &Global, args: &ShownArgs, user_pager: Option<&str>) -> io::Result<()> {
    // Programs get everything, and choose for themselves.
    if args.no_group && args.format != DiffFormat::Json {
        report.ungroup();
    }
    let look = match (args.stat, args.summary, args.name_only) {
        (true, ..) => Look::Stat,
        (_, true, _) => Look::Summary,
        (_, _, true) => Look::Names,
        _ => Look::Format(args.format),
    };
    let style = Style { show_suppressed: args.show_suppressed, ..output::style(global) };
    let pager = if args.no_pager { None } else { pager::choose(user_pager.map(str::to_owned)) };
    pager::through(pager, |out| write(report, look, args.link.as_deref(), &style, out))
}

/// Everything, unless only some views are asked for. Files as they are written have all views.
fn views(only: &[View]) -> ComparedViews {
    let is_everything = only.iter().all(|view| *view == View::Sources);
    let has = |view| is_everything || only.contains(&view);
    ComparedViews { payload: has(View::Payload), metadata: has(View::Metadata), requests: has(View::Requests) }
}

/// Whether the report is made of whole resources, and not of changes alone.
fn shows_whole_resources(args: &ShownArgs) -> bool {
    matches!(args.format, DiffFormat::Unified | DiffFormat::JsonPatch)
}

/// Programs get the selectors that no resource matches, and people who ask for everything.
fn shows_all_selectors(global: &Global, args: &ShownArgs) -> bool {
    args.format == DiffFormat::Json || global.verbose > 0
}

/// Which resources are shown.
fn selected(args: &ShownArgs) -> Result<SelectedResources, Failure> {
    let root = |text: &String| {
        let trimmed = text.trim_start_matches("./").trim_end_matches('/');
        let path = if trimmed == "." { Ok(RepoPath::root()) } else { RepoPath::new(trimmed) };
        path.map_err(|error| Failure::new(format!("--root {text}: {error}")).help("name a directory of the repository"))
    };
    let roots = args.root.iter().map(root).collect::<Result<Vec<_>, _>>()?;
    Ok(SelectedResources { kinds: args.kind.iter().map(SmolStr::new).collect(), roots })
}

fn read_pointers(texts: &[String]) -> Result<Vec<SmolStr>, Failure> {
    let check = |text: &String| match Pattern::of_pointer(text) {
        Ok(_) => Ok(SmolStr::new(text)),
        Err(reason) => {
            Err(Failure::new(format!("--ignore {text}: {reason}")).help("for example --ignore '/**/checksum'"))
        }
    };
    texts.iter().map(check).collect()
}

/// Secrets are for a person who looks at a terminal, not for logs and files.
pub(super) fn may_reveal(wanted: bool) -> Result<bool, Failure> {
    if wanted && (environment::is_set("CI") || !io::stdout().is_terminal()) {
        let failure = Failure::new("--reveal works only on a terminal, never in CI");
        return Err(failure.help("run it by hand, without a pipe and with CI unset"));
    }
    Ok(wanted)
}

/// The size limit of a comment on a pull request, with a little room for a wrapper.
const COMMENT_BUDGET: usize = 65_000;

/// How a diff is shown.
#[derive(Clone, Copy)]
pub(in crate::shell) enum Look {
    Format(DiffFormat),
    Stat,
    Summary,
    Names,
}

/// Writes a report of differences.
pub(in crate::shell) fn write(
    report: &Report,
    look: Look,
    link: Option<&str>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match look {
        Look::Stat => report::terminal::write_stat(report, style, out),
        Look::Summary => report::terminal::write_summary(report, style, out),
        Look::Names => report::terminal::write_names(report, style, out),
        Look::Format(DiffFormat::Terminal) => report::terminal::write(report, style, out),
        Look::Format(DiffFormat::SideBySide) => report::side_by_side::write(report, style, out),
        Look::Format(DiffFormat::Unified) => report::unified::write(report, style, out),
        Look::Format(DiffFormat::Json) => report::json::write(report, out),
        Look::Format(DiffFormat::JsonPatch) => report::json::write_patches(report, out),
        Look::Format(DiffFormat::Html) => report::html::write(report, link, out),
        Look::Format(DiffFormat::Markdown) => {
            report::markdown::write(report, Comment { budget: COMMENT_BUDGET, link }, out)
        }
    }
}

/// 2 if something could not be compared, 1 if differences were found and asked about, 0 otherwise.
pub(in crate::shell) fn exit_of(report: &Report, asks_for_differences: bool) -> Exit {
    if report.is_incomplete() {
        Exit::Incomplete
    } else if asks_for_differences && report.has_differences() {
        Exit::Found
    } else {
        Exit::Clean
    }
}
