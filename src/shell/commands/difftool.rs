//! `outcrop difftool`: two files or two directories, as `git difftool` hands them over.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::diff::{self, Look};
use crate::comparison::{Comparison, Options};
use crate::limits::Budget;
use crate::path::RepoPath;
use crate::report::lines;
use crate::report::{Report, Style};
use crate::settings::{Configuration, Given, Policy};
use crate::shell::cli::{DiffFormat, DifftoolArgs, Global};
use crate::shell::configuration;
use crate::shell::directory::{DirectorySnapshot, Links};
use crate::shell::environment;
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::git::{GitError, Repository, Revision};
use crate::shell::output;
use crate::snapshot::{MemorySnapshot, Snapshot};
use crate::text::Sources;

pub(in crate::shell) fn run(global: &Global, args: &DifftoolArgs) -> Result<Exit, Failure> {
    let sources = Arc::new(Sources::default());
    let mut budget = Budget::default();
    let repository = RepositorySides::open(global, args)?;
    let configuration = configuration::named(global, &sources)?.unwrap_or_else(|| repository.configuration(&sources));
    budget.limits = configuration.limits().clone();
    let (before, after) = sides(args, &budget)?;
    let limits = configuration.limits();
    let declaring = repository.snapshots().into_iter().zip([&configuration.before, &configuration.after]);
    let declaring = declaring.map(|(snapshot, settings)| Given { snapshot, settings, sources: &sources, limits });
    let options = Options { budget, declaring: declaring.collect(), all_files: true, ..Options::default() };
    let comparison = Comparison::new(&*before, &*after, &configuration, &sources, options);
    let report = comparison.compare();
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
    std::mem::forget((comparison, report));
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

/// What applies to both sides: what the repository says now and said last. git hands over nothing but the files that differ,
/// and which of their values are secret is written in other files.
struct RepositorySides {
    /// The last commit, and the working tree if there is one.
    sides: Vec<Box<dyn Snapshot>>,
}

impl RepositorySides {
    fn open(global: &Global, args: &DifftoolArgs) -> Result<Self, Failure> {
        let budget = Budget::default();
        let directory = |path: &Path| DirectorySnapshot::new(path, Links::Keep, budget.clone());
        let place = global.directory.clone().unwrap_or_else(|| PathBuf::from("."));
        let repository = match Repository::open(&place) {
            Ok(repository) => repository,
            Err(GitError::NotARepository { .. }) if are_directories(args) => {
                let (before, after) = (directory(&args.local), directory(&args.remote));
                return Ok(Self { sides: vec![Box::new(before), Box::new(after)] });
            }
            Err(GitError::NotARepository { .. }) => return Ok(Self { sides: Vec::new() }),
            Err(error) => return Err(error.into()),
        };
        let mut sides: Vec<Box<dyn Snapshot>> =
            vec![Box::new(repository.snapshot(&Revision::Tree(repository.head()?), &budget)?)];
        if let Some(root) = repository.root() {
            sides.push(Box::new(directory(root).labelled("working tree")));
        }
        Ok(Self { sides })
    }

    fn snapshots(&self) -> Vec<&dyn Snapshot> {
        self.sides.iter().map(|side| &**side).collect()
    }

    fn configuration(&self, sources: &Sources) -> Configuration {
        match &self.snapshots()[..] {
            [before, after] => Configuration::read(*before, *after, Policy::Base, sources),
            [only] => Configuration::read(*only, *only, Policy::Base, sources),
            _ => Configuration::default(),
        }
    }
}

fn are_directories(args: &DifftoolArgs) -> bool {
    args.local.is_dir() && args.remote.is_dir()
}

type Sides = (Box<dyn Snapshot>, Box<dyn Snapshot>);

fn sides(args: &DifftoolArgs, budget: &Budget) -> Result<Sides, Failure> {
    if are_directories(args) {
        // `git difftool --dir-diff` links the newer side to the files of the working tree.
        let open =
            |path: &Path, label| DirectorySnapshot::new(path, Links::FollowToFiles, budget.clone()).labelled(label);
        return Ok((Box::new(open(&args.local, "local")), Box::new(open(&args.remote, "remote"))));
    }
    let name = name_of(args)?;
    let side = |path: &Path, label| one_file(path, &name, label, budget).map(Box::new);
    Ok((side(&args.local, "local")?, side(&args.remote, "remote")?))
}

/// What the file is called in the repository: its name says how to read it. The temporary names of git end alike.
fn name_of(args: &DifftoolArgs) -> Result<RepoPath, Failure> {
    let is_given = args.path.as_ref().filter(|path| !path.is_empty());
    let on_disk = if is_nothing(&args.remote) { &args.local } else { &args.remote };
    name_on_disk(is_given.map_or(on_disk.as_path(), Path::new))
}

/// A path of this machine as a name in a tree.
pub(super) fn name_on_disk(path: &Path) -> Result<RepoPath, Failure> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.as_encoded_bytes()),
        _ => None,
    });
    let names: Vec<&[u8]> = names.collect();
    // Where a file lies on this machine says nothing about it.
    let names = if path.is_absolute() { &names[names.len().saturating_sub(1)..] } else { &names };
    RepoPath::new(names.join(&b'/')).map_err(|error| Failure::new(error.to_string()))
}

fn is_nothing(path: &Path) -> bool {
    path == Path::new("/dev/null") || cfg!(windows) && path == Path::new("nul")
}

/// A snapshot that holds this file alone, or nothing if the side does not have it.
fn one_file(path: &Path, name: &RepoPath, label: &str, budget: &Budget) -> Result<MemorySnapshot, Failure> {
    let snapshot = MemorySnapshot::new(label);
    if is_nothing(path) {
        return Ok(snapshot);
    }
    let failed = |error: io::Error| Failure::new(format!("{} cannot be read: {error}", path.display()));
    let limit = budget.limits.file_bytes;
    let mut content = Vec::new();
    // A shell may pass a pipe, whose size is unknown.
    File::open(path).map_err(failed)?.take(limit.saturating_add(1)).read_to_end(&mut content).map_err(failed)?;
    if content.len() as u64 > limit {
        return Err(Failure::new(format!("{} has more than {limit} bytes, the limit for one file", path.display()))
            .help("raise `limits.file_bytes` in outcrop.yaml if the file is meant to be this large"));
    }
    Ok(snapshot.with(name.clone(), content))
}
