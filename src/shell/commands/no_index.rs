//! `outcrop diff --no-index`: two files, two directories, standard input or pipes, inside or outside a repository.

use std::ffi::OsString;
use std::path::Path;

use crate::comparison::Options;
use crate::report::Report;
use crate::shell::cli::{DiffArgs, Global};
use crate::shell::content::ByContent;
use crate::shell::directory::{DirectorySnapshot, Links};
use crate::shell::error::Failure;
use crate::shell::outside::{Outside, Rules, STANDARD_INPUT, common_name, is_nothing, one_file, read};
use crate::snapshot::Snapshot;

/// Compares what the words of the command line name.
pub(super) fn compare(global: &Global, args: &DiffArgs, asked: Options<'_>) -> Result<Report, Failure> {
    let words: Vec<&OsString> = args.range.words.iter().chain(&args.range.paths).collect();
    let [before, after] = words[..] else {
        return Err(Failure::new("--no-index takes two files or two directories")
            .help("for example: outcrop diff --no-index old.yaml new.yaml; - is standard input"));
    };
    if args.range.staged {
        return Err(Failure::new("--no-index and --staged cannot be combined"));
    }
    // Only now is the current directory the one that paths are relative to.
    if let Some(directory) = &global.directory {
        std::env::set_current_dir(directory)
            .map_err(|error| Failure::new(format!("cannot change to {}: {error}", directory.display())))?;
    }
    let here = Global { directory: None, ..global.clone() };
    let paths = [Path::new(before), Path::new(after)];
    let (rules, _) = Rules::of_repository(&here)?;
    if paths.iter().any(|path| path.is_dir()) {
        return directories(rules, paths, asked);
    }
    if paths.iter().all(|path| *path == Path::new(STANDARD_INPUT)) {
        return Err(Failure::new("standard input can be only one of the two sides"));
    }
    let outside = Outside::files(rules, |budget| {
        let [before, after] = [read(paths[0], budget)?, read(paths[1], budget)?];
        let name = common_name(paths, [before.as_deref(), after.as_deref()])?;
        Ok([one_file(name.clone(), before, &label(paths[0])), one_file(name, after, &label(paths[1]))])
    })?;
    Ok(outside.compare(asked))
}

/// Compares two directories; where one side is a file, the file of that name in the directory, as git does.
fn directories(rules: Rules, paths: [&Path; 2], asked: Options<'_>) -> Result<Report, Failure> {
    let is_usable = |path: &&Path| path.is_dir() || is_nothing(path);
    if let Some(file) = paths.iter().find(|path| !is_usable(path)) {
        return Err(Failure::new(format!("{} is not a directory, but the other side is", file.display()))
            .help("give two files or two directories"));
    }
    let outside = Outside::directories(rules.or_of_directories(paths[0], paths[1]), |budget| {
        let open = |path: &Path| -> Box<dyn Snapshot> {
            if is_nothing(path) {
                return Box::new(crate::snapshot::MemorySnapshot::new(label(path)));
            }
            Box::new(ByContent(DirectorySnapshot::new(path, Links::FollowToFiles, budget.clone())))
        };
        Ok([open(paths[0]), open(paths[1])])
    })?;
    Ok(outside.compare(asked))
}

fn label(path: &Path) -> String {
    match path == Path::new(STANDARD_INPUT) {
        true => "standard input".to_owned(),
        false => crate::sanitize::inline(&path.to_string_lossy()).into_owned(),
    }
}
