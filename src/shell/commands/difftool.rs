//! `outcrop difftool`: two files or two directories, as `git difftool` and `jj diff` pass them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::diff::{self, Look};
use crate::comparison::Options;
use crate::limits::{Limits, Spent};
use crate::path::RepoPath;
use crate::report::lines;
use crate::report::{Report, Style};
use crate::sanitize;
use crate::shell::cli::{DiffFormat, DifftoolArgs, Global};
use crate::shell::content::ByContent;
use crate::shell::directory::{DirectorySnapshot, Links, read_regular};
use crate::shell::environment;
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::git::Repository;
use crate::shell::inferred::{self, Known, KnownFile};
use crate::shell::output;
use crate::shell::outside::{Outside, Rules, common_name, is_nothing, name_on_disk, one_file, read};
use crate::snapshot::{Scope, Snapshot, files_below};

pub(in crate::shell) fn run(global: &Global, args: &DifftoolArgs) -> Result<Exit, Failure> {
    let (rules, repository) = Rules::of_repository(global)?;
    let report = match args.local.is_dir() && args.remote.is_dir() {
        true => directories(args, rules, repository.as_ref())?,
        false => files(args, rules, repository.as_ref())?,
    };
    write(&report, args.format, &output::style(global))?;
    // git uses the exit code only if it is configured to.
    let is_asked =
        args.exit_code || environment::text("GIT_DIFFTOOL_TRUST_EXIT_CODE")?.is_some_and(|trust| trust == "true");
    let differs = report.has_differences() || report.text_files.iter().any(|file| !file.content.is_same());
    let exit = match (report.is_incomplete(), is_asked && differs) {
        (true, _) => Exit::Incomplete,
        (_, true) => Exit::Found,
        _ => Exit::Clean,
    };
    // The process ends now, and gives everything back at once: faster than piece by piece.
    std::mem::forget(report);
    Ok(exit)
}

fn write(report: &Report, format: DiffFormat, style: &Style) -> io::Result<()> {
    // git calls once per file and says which this is; nothing else would keep them apart.
    let is_first = environment::text("GIT_DIFF_PATH_COUNTER").ok().flatten().is_none_or(|counter| counter == "1");
    if !is_first && format == DiffFormat::Terminal {
        output::print(b"\n")?;
    }
    let is_for_people = matches!(format, DiffFormat::Terminal | DiffFormat::SideBySide);
    let is_only_text = report.examined == 0 && report.findings.is_empty() && !report.is_incomplete();
    output::write(|out| {
        if is_for_people && is_only_text && !report.text_files.is_empty() {
            lines::write(&report.text_files, style, out)
        } else {
            diff::write(report, Look::Format(format), None, style, out)
        }
    })
}

/// Compares two directories that hold the files that differ, and nothing else.
fn directories(args: &DifftoolArgs, rules: Rules, repository: Option<&Repository>) -> Result<Report, Failure> {
    let rules = rules.or_of_directories(&args.local, &args.remote);
    let outside = Outside::directories(rules, |budget| {
        // `git difftool --dir-diff` links the newer side to the files of the working tree.
        let open = |path: &Path| DirectorySnapshot::new(path, Links::FollowToFiles, budget.clone());
        let (before, after) = (open(&args.local), open(&args.remote));
        let labels = repository.and_then(|repository| labels_of_directories(repository, &before, &after));
        let [old, new] = labels.unwrap_or_else(|| [shown(&args.local), shown(&args.remote)]);
        Ok([Box::new(ByContent(before.labelled(old))), Box::new(ByContent(after.labelled(new)))])
    })?;
    Ok(outside.compare(Options::default()))
}

/// As many files say where directories come from.
const SAMPLE: usize = 8;

fn labels_of_directories(
    repository: &Repository,
    before: &DirectorySnapshot,
    after: &DirectorySnapshot,
) -> Option<[String; 2]> {
    let mut paths: Vec<RepoPath> = Vec::new();
    for side in [before, after] {
        let files = files_below(side, &Scope::everything(), &Limits::default(), &Spent::default()).0;
        paths.extend(files.into_iter().take(SAMPLE).map(|entry| entry.path));
    }
    paths.sort();
    paths.dedup();
    let known = |side: &DirectorySnapshot, path: &RepoPath| match side.entry(path).ok().flatten() {
        Some(entry) => {
            let content = side.read(&entry).ok()?;
            known_content(repository, path, &content)
        }
        None => Some(Known::Absent),
    };
    let files: Option<Vec<KnownFile>> = paths
        .into_iter()
        .map(|path| {
            let (before, after) = (known(before, &path)?, known(after, &path)?);
            Some(KnownFile { before: (path.clone(), before), after: (path, after) })
        })
        .collect();
    labels(repository, &files?)
}

/// The object of a content; that of a file which is the same in the working tree is what is on disk.
fn known_content(repository: &Repository, path: &RepoPath, content: &[u8]) -> Option<Known> {
    let id = repository.blob_id(content)?;
    let on_disk = repository.root().and_then(|root| Some(root.join(path.to_str()?)));
    let is_on_disk =
        on_disk.is_some_and(|file| read_regular(&file, content.len() as u64).is_ok_and(|bytes| bytes == content));
    let is_staged = !repository.staged_paths(1, |staged, other| staged == path.as_bytes() && other == id).is_empty();
    // A file that is as it is staged may come from any revision that has it.
    Some(if is_on_disk && !is_staged { Known::OnDisk } else { Known::Object(id) })
}

fn labels(repository: &Repository, files: &[KnownFile]) -> Option<[String; 2]> {
    let pair = inferred::revisions(repository, files)?;
    Some([pair.before.label().to_owned(), pair.after.label().to_owned()])
}

/// Compares two files under the name that git gives, or else under the name of the newer one.
fn files(args: &DifftoolArgs, rules: Rules, repository: Option<&Repository>) -> Result<Report, Failure> {
    let paths = [args.local.as_path(), args.remote.as_path()];
    let mut name = None;
    let outside = Outside::files(rules, |budget| {
        let contents = [read(paths[0], budget)?, read(paths[1], budget)?];
        let given = args.path.as_ref().filter(|path| !path.is_empty());
        let file = match given {
            Some(path) => name_on_disk(Path::new(path))?,
            None => common_name(paths, [contents[0].as_deref(), contents[1].as_deref()])?,
        };
        let labels = repository.filter(|_| given.is_some()).and_then(|repository| {
            let known = |content: &Option<Arc<[u8]>>| match content {
                Some(content) => known_content(repository, &file, content),
                None => Some(Known::Absent),
            };
            let [before, after] = [known(&contents[0])?, known(&contents[1])?];
            labels(repository, &[KnownFile { before: (file.clone(), before), after: (file.clone(), after) }])
        });
        let [old, new] = labels.unwrap_or_else(|| paths.map(shown));
        name = Some(file.clone());
        let [before, after] = contents;
        Ok([one_file(file.clone(), before, &old), one_file(file, after, &new)])
    })?;
    let name = name.unwrap_or_default();
    Ok(outside.compare_file(&name, &name, Options::default()))
}

fn shown(path: &Path) -> String {
    let path = if is_nothing(path) { PathBuf::from("nothing") } else { side_of_copy(path).unwrap_or(path.to_owned()) };
    sanitize::inline(&path.to_string_lossy()).into_owned()
}

/// `left` or `right`: the name of the temporary directory that git and jj copy a side into says nothing.
fn side_of_copy(path: &Path) -> Option<PathBuf> {
    let above = path.parent()?.file_name()?.to_str()?;
    let is_copy = COPIES.iter().any(|start| above.starts_with(start));
    is_copy.then(|| path.file_name().map(PathBuf::from)).flatten()
}

/// What the names of such directories start with.
const COPIES: [&str; 2] = ["git-difftool.", "jj-diff-"];
