//! `outcrop render`: resources as they are in effect, and what each stage makes of them.

use std::cell::RefCell;

use crate::limits::Progress;
use crate::path::{LogicalPath, RepoPath};
use crate::report::render;
use crate::sanitize;
use crate::shell::cli::{Global, OutputFormat, RenderArgs};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::one_side::{OneSide, inside};
use crate::shell::select::WordReader;
use crate::shell::{output, progress};
use crate::side::{RenderedResource, Rendering, Side};

pub(in crate::shell) fn run(global: &Global, args: &RenderArgs) -> Result<Exit, Failure> {
    let reveal = super::diff::may_reveal(args.reveal)?;
    let opened = OneSide::open(global, &args.at)?;
    let (side, prefix) = (opened.side(reveal), opened.prefix());
    if let Some(directory) = &args.root {
        return root(global, args.format, &opened, &side, &inside(&prefix, directory)?);
    }
    if let ([word], false) = (args.paths.as_slice(), args.steps)
        && let Some(directory) = (WordReader { side: &side, prefix: &prefix }).root(word)
    {
        return root(global, args.format, &opened, &side, &directory);
    }
    let (selection, words) = WordReader { side: &side, prefix: &prefix }.selection(&args.paths)?;
    let nowhere = side.nowhere();
    let write = |rendered: &RenderedResource| match args.format {
        OutputFormat::Yaml => render::yaml(rendered),
        OutputFormat::Json => render::json(rendered, nowhere),
    };
    let waiting = Progress::default();
    let asked = Rendering { selection: &selection, has_steps: args.steps, write: &write, progress: &waiting };
    let summary = RefCell::new(None);
    progress::while_working(&waiting, || {
        output::write(|out| {
            let mut frame = Frame { format: args.format, is_first: true };
            let rendered = side.render(&asked, &mut |text| {
                out.write_all(frame.before().as_bytes())?;
                out.write_all(text.as_bytes())
            });
            out.write_all(frame.end().as_bytes())?;
            *summary.borrow_mut() = Some(rendered?);
            Ok(())
        })
    })?;
    // A reader that has seen enough has cut it short.
    let Some(summary) = summary.into_inner() else { return Ok(Exit::Clean) };
    if summary.is_masked {
        output::note(MASKED);
    }
    for name in &summary.dropped {
        if !args.paths.is_empty() || global.verbose > 0 {
            output::note(&format!("note: removed by a patch: {}", sanitize::inline(name)));
        }
    }
    let exit = opened.report(&side, summary.findings, global)?;
    match unknown(&side, &words, &summary.unknown) {
        Some(failure) => Err(failure),
        None if summary.is_incomplete => Ok(Exit::Incomplete),
        None => Ok(exit),
    }
}

const MASKED: &str = "note: secret values are hidden (--reveal shows them on a terminal)";

/// Renders one kustomization.
fn root(
    global: &Global,
    format: OutputFormat,
    opened: &OneSide,
    side: &Side<'_>,
    directory: &RepoPath,
) -> Result<Exit, Failure> {
    let rendered = side.kustomization(directory);
    let nowhere = side.nowhere();
    output::write(|out| {
        let mut frame = Frame { format, is_first: true };
        for resource in &rendered.resources {
            out.write_all(frame.before().as_bytes())?;
            let text = match format {
                OutputFormat::Yaml => render::yaml(resource),
                OutputFormat::Json => render::json(resource, nowhere),
            };
            out.write_all(text.as_bytes())?;
        }
        out.write_all(frame.end().as_bytes())
    })?;
    if rendered.is_masked {
        output::note(MASKED);
    }
    let exit = opened.report(side, rendered.findings, global)?;
    Ok(if rendered.is_failed { Exit::Incomplete } else { exit })
}

fn unknown(side: &Side<'_>, words: &[String], unknown: &[usize]) -> Option<Failure> {
    let words: Vec<&str> = unknown.iter().filter_map(|number| words.get(*number)).map(String::as_str).collect();
    (!words.is_empty()).then(|| {
        let failure = Failure::new(format!("no resource matches {}", words.join(", ")));
        let paths = words.iter().filter_map(|word| LogicalPath::parse(word).ok());
        let nearest: Vec<String> =
            paths.filter_map(|path| side.nearest_path(&path)).map(|path| path.to_string()).collect();
        if !nearest.is_empty() {
            return failure.help(format!("did you mean {}?", nearest.join(", ")));
        }
        failure.help("PATH is a logical path such as /customers/acme, a file, directory or glob, or a kind and name: 'Deployment shop/web'")
    })
}

/// The text around and between resources.
struct Frame {
    format: OutputFormat,
    is_first: bool,
}

impl Frame {
    fn before(&mut self) -> &'static str {
        match (self.format, std::mem::replace(&mut self.is_first, false)) {
            (OutputFormat::Yaml, true) => "",
            (OutputFormat::Yaml, false) => render::SEPARATOR,
            (OutputFormat::Json, true) => "[\n",
            (OutputFormat::Json, false) => ",\n",
        }
    }

    fn end(&self) -> &'static str {
        match (self.format, self.is_first) {
            (OutputFormat::Yaml, _) => "",
            (OutputFormat::Json, true) => "[]\n",
            (OutputFormat::Json, false) => "\n]\n",
        }
    }
}
