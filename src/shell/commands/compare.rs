//! `outcrop compare`: two directories, kustomize roots, files or resources of one revision.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::diff::{exit_of, show, shown_options};
use crate::comparison::Part;
use crate::document::{self, Format};
use crate::finding;
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::report::Report;
use crate::sanitize;
use crate::settings::{Expectation, expectations};
use crate::shell::cli::{CompareArgs, Global};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::git::{Repository, Revision};
use crate::shell::select::WordReader;
use crate::shell::session::{Session, open_repository};
use crate::side::{ResourceQuery, Side};
use crate::text::{SourceText, Sources};

pub(in crate::shell) fn run(global: &Global, args: &CompareArgs) -> Result<Exit, Failure> {
    let repository = open_repository(global)?;
    let revision = revision(&repository, args)?;
    let session = Session::of_one(global, &repository, &revision)?;
    let comparison = session.comparison(shown_options(&args.shown)?);
    let reader = WordReader { side: comparison.newer(), prefix: repository.prefix() };
    let parts = [part(&reader, &args.first)?, part(&reader, &args.second)?];
    fit(&parts)?;
    let expected = expected(global, args, comparison.newer().sources)?;
    let report = session.working(|| comparison.compare_parts(&parts, &expected));
    let label = |word: &OsStr| label(word, &revision);
    let mut report = Report { before: label(&args.first).into(), after: label(&args.second).into(), ..report };
    show(&mut report, global, &args.shown, session.user_pager())?;
    let is_unmet = report.findings.iter().any(|it| it.rule.id == finding::COMPARE_EXPECTED.id);
    Ok(match exit_of(&report, args.shown.exit_code) {
        Exit::Clean if args.shown.exit_code && is_unmet => Exit::Found,
        exit => exit,
    })
}

/// The revision that is read: the working tree unless another one is named, and the last commit in a bare repository.
fn revision(repository: &Repository, args: &CompareArgs) -> Result<Revision, Failure> {
    Ok(match &args.at.at {
        Some(word) => Revision::Tree(repository.resolve(word)?),
        None if repository.root().is_none() => Revision::Tree(repository.head()?),
        None => Revision::Worktree,
    })
}

/// `HEAD:overlays/staging`, as git writes a path of a revision.
fn label(word: &OsStr, revision: &Revision) -> String {
    let word = word.to_string_lossy();
    let word = sanitize::inline(&word);
    match revision {
        Revision::Tree(tree) => format!("{}:{word}", tree.label),
        Revision::Index | Revision::Worktree => word.into_owned(),
    }
}

/// What a word names.
fn part(reader: &WordReader<'_>, word: &OsStr) -> Result<Part, Failure> {
    if let Some(directory) = reader.directory(word) {
        let is_root = reader.side.has_kustomization(&directory);
        return Ok(if is_root { Part::Root(directory) } else { Part::Directory(directory) });
    }
    let is_untracked = || reader.side.snapshot.label() == Revision::Worktree.label() && Path::new(word).exists();
    let query = reader.query(word);
    if query.as_ref().map_or(true, |query| matches!(query, ResourceQuery::Path(..))) && is_untracked() {
        return Err(Failure::new(format!("{} is not tracked by git", word.to_string_lossy()))
            .help(format!("git add {}", word.to_string_lossy())));
    }
    match query? {
        ResourceQuery::File(file, None) => Ok(Part::File(file)),
        query => one(reader.side, &query, word),
    }
}

/// The one resource that a query means.
fn one(side: &Side<'_>, query: &ResourceQuery, word: &OsStr) -> Result<Part, Failure> {
    let mut found = side.query(query).value;
    let word = word.to_string_lossy();
    match found.len() {
        1 => Ok(Part::Resource(Box::new(found.remove(0).resource))),
        0 => Err(Failure::new(format!("there is no file, directory or resource {word} in {}", side.snapshot.label()))
            .help("name a directory, a file, FILE#2, a logical path, or a resource such as 'Deployment shop/web'")),
        count => {
            let files: Vec<String> = found
                .iter()
                .take(3)
                .map(|hit| format!("{}#{}", hit.resource.file, hit.resource.position + 1))
                .collect();
            Err(Failure::new(format!("{word} is defined {count} times"))
                .help(format!("name one of its documents, such as {}", files.join(", "))))
        }
    }
}

/// Refuses parts that have nothing in common.
fn fit(parts: &[Part; 2]) -> Result<(), Failure> {
    let is_directory = |part: &Part| matches!(part, Part::Root(_) | Part::Directory(_));
    let is_resource = |part: &Part| matches!(part, Part::Resource(_));
    if is_directory(&parts[0]) != is_directory(&parts[1]) {
        return Err(Failure::new("one is a directory and the other is not").help("give two directories or two files"));
    }
    if is_resource(&parts[0]) != is_resource(&parts[1]) {
        return Err(
            Failure::new("one is a file and the other is a resource").help("FILE#1 is the first document of a file")
        );
    }
    Ok(())
}

/// The differences that are meant, from the file that `--expect` names.
fn expected(global: &Global, args: &CompareArgs, sources: &Sources) -> Result<Vec<Expectation>, Failure> {
    let Some(file) = &args.expect else { return Ok(Vec::new()) };
    let directory = global.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let failed = |reason: &dyn std::fmt::Display| {
        Failure::new(format!("the expected differences in {} cannot be read: {reason}", file.display()))
            .help("docs/compare.md describes the format")
    };
    let bytes = fs::read(directory.join(file)).map_err(|error| failed(&error))?;
    let text = document::decode(&bytes).map_err(|error| failed(&error))?;
    let name = file.file_name().unwrap_or(file.as_os_str()).as_encoded_bytes();
    let path = RepoPath::new(file.as_os_str().as_encoded_bytes()).or_else(|_| RepoPath::new(name));
    let path = path.map_err(|error| failed(&error))?;
    let source = sources.add(SourceText::new(path, "--expect", &*text));
    let parsed = document::parse(&text, source, Format::Yaml, &Limits::default());
    let read = expectations(&parsed.value);
    match parsed.findings.iter().chain(&read.findings).next() {
        Some(finding) => Err(failed(&finding.message)),
        None => Ok(read.value),
    }
}
