//! `outcrop doctor`: what is set up, what is read as what, and what is wrong.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::install;
use crate::comparison::{Judged, Options};
use crate::finding::{Finding, Severity};
use crate::names;
use crate::report::{ReadAs, Report, plural};
use crate::sanitize;
use crate::settings::Policy;
use crate::shell::cli::Global;
use crate::shell::environment;
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::git::{Repository, Revision, RevisionPair};
use crate::shell::output;
use crate::shell::session::{Session, open_repository};

pub(in crate::shell) fn run(global: &Global) -> Result<Exit, Failure> {
    let repository = open_repository(global)?;
    let mut page = Page::default();
    page.heading(&format!("outcrop {}", env!("CARGO_PKG_VERSION")));
    about_repository(&mut page, &repository);
    about_integrations(&mut page, &repository);
    // What is known so far helps to understand why the rest fails.
    output::print_lines(&page.0)?;

    let side = if repository.root().is_some() { Revision::Worktree } else { Revision::Tree(repository.head()?) };
    let comparison = RevisionPair { before: side.clone(), after: side };
    let session = Session::new(global, &repository, &comparison, &[], Policy::Head)?;
    let comparison = session.comparison(Options::default());
    let report = comparison.check(Judged::Everything);
    let mut page = Page::default();
    about_files(&mut page, &report, &comparison.dialects());
    output::print_lines(&page.0)?;
    Ok(if report.is_incomplete() { Exit::Incomplete } else { Exit::Clean })
}

/// The text, section by section. What needs attention has a mark at the margin.
#[derive(Default)]
struct Page(String);

impl Page {
    fn heading(&mut self, text: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{}", sanitize::inline(text));
    }

    fn section(&mut self, text: &str) {
        self.0.push('\n');
        self.heading(text);
    }

    fn line(&mut self, name: &str, state: &State) {
        let (mark, text) = match state {
            State::Fine(text) => (' ', text),
            State::Wrong(text) => ('!', text),
        };
        let _ = writeln!(self.0, "{mark} {name:<22} {}", sanitize::inline(text));
    }

    fn count(&mut self, count: usize, what: &str) {
        let _ = writeln!(self.0, "  {count:>7}  {}", sanitize::inline(what));
    }
}

enum State {
    Fine(String),
    Wrong(String),
}

impl State {
    fn fine(text: impl Into<String>) -> Self {
        Self::Fine(text.into())
    }
}

fn about_repository(page: &mut Page, repository: &Repository) {
    page.section("repository");
    let absolute = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string();
    let root = repository.root().map_or_else(|| "none, the repository is bare".to_owned(), absolute);
    page.line("working tree", &State::fine(root));
    let directory = format!("{} ({})", absolute(repository.git_directory()), repository.kind());
    page.line("git directory", &State::fine(directory));
    page.line("object ids", &State::fine(repository.object_format()));
    let references = match repository.has_reftable() {
        true => State::Wrong("reftable, which is not supported: use full commit ids".to_owned()),
        false => State::fine("files"),
    };
    page.line("references", &references);
    let history = match (repository.is_shallow(), repository.is_partial()) {
        (true, _) => {
            State::Wrong("shallow: older commits are missing; `git fetch --unshallow` fetches them".to_owned())
        }
        (_, true) => State::Wrong("partial: some objects are missing until git fetches them".to_owned()),
        _ => State::fine("complete"),
    };
    page.line("clone", &history);
    if repository.root().is_some() {
        let index = match repository.index_entries() {
            Ok(count) => State::Fine(format!("readable, {}", plural(count, "file"))),
            Err(error) => State::Wrong(error.to_string()),
        };
        page.line("index", &index);
    }
}

fn about_integrations(page: &mut Page, repository: &Repository) {
    page.section("integrations (`outcrop install` sets them up)");
    page.line("outcrop", &program());
    for name in ["pre-commit", "pre-merge-commit", "pre-push"] {
        page.line(&format!("{name} hook"), &hook(repository, name));
    }
    page.line("git difftool", &called(repository, install::DIFFTOOL.key, "difftool"));
    page.line("git diff", &diff_driver(repository));
    page.line("git outcrop", &called(repository, install::ALIAS.key, "outcrop"));
    page.line("GitHub workflow", &workflow(repository));
}

/// Whether hooks find the program.
fn program() -> State {
    let path = env::var_os("PATH").unwrap_or_default();
    let name = format!("outcrop{}", env::consts::EXE_SUFFIX);
    match env::split_paths(&path).map(|place| place.join(&name)).find(|program| install::is_executable(program)) {
        Some(program) => State::Fine(program.display().to_string()),
        None => State::Wrong("not on PATH: hooks and git cannot call it unless OUTCROP_BIN names it".to_owned()),
    }
}

/// A command of git's configuration, and whether it calls outcrop.
fn called(repository: &Repository, key: &str, word: &str) -> State {
    match repository.config(key) {
        Some(command) if command.contains(word) => State::Fine(command),
        Some(command) => State::Wrong(format!("{key} does not call outcrop: {command}")),
        None => State::fine("not set up"),
    }
}

/// Whether `git diff` calls outcrop, for which two files must agree.
fn diff_driver(repository: &Repository) -> State {
    let home = environment::text("HOME").ok().flatten().map(PathBuf::from);
    let places = [
        Some(repository.common_directory().join(install::ATTRIBUTES)),
        repository.root().map(|root| root.join(".gitattributes")),
        repository.config("core.attributesFile").map(PathBuf::from),
        home.map(|home| home.join(".config/git/attributes")),
    ];
    let names_driver = |path: &PathBuf| beginning_of(path).is_some_and(|text| text.contains("diff=outcrop"));
    let has_attribute = places.iter().flatten().any(names_driver);
    let trusts = repository.config("diff.outcrop.trustExitCode").is_some_and(|value| value == "true");
    match (called(repository, install::DIFF_DRIVER.key, "outcrop"), has_attribute) {
        (State::Fine(command), _) if command.contains("--exit-code") && !trusts => State::Wrong(format!(
            "git stops at the first difference: remove --exit-code, or set diff.outcrop.trustExitCode (git 2.46): {command}"
        )),
        (State::Fine(command), false) if command != "not set up" => {
            State::Wrong(format!("no file has the attribute diff=outcrop; `outcrop install diff-driver` adds it: {command}"))
        }
        (State::Fine(command), true) if command == "not set up" => State::Wrong(
            "files have the attribute diff=outcrop, but git does not know the driver; run `outcrop install diff-driver`"
                .to_owned(),
        ),
        (state, _) => state,
    }
}

/// Whether a hook is there, can run, and calls outcrop, itself or through a hook manager.
fn hook(repository: &Repository, name: &str) -> State {
    let path = repository.hooks_directory().join(name);
    let husky = format!(".husky/{name}");
    let managed = [".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", &husky].into_iter().find(|file| {
        let settings = repository.root().and_then(|root| beginning_of(&root.join(file)));
        settings.is_some_and(|settings| settings.contains("outcrop"))
    });
    let Some(script) = beginning_of(&path) else {
        return match managed.filter(|_| name == "pre-commit") {
            Some(".pre-commit-config.yaml") => {
                State::Wrong("none, but .pre-commit-config.yaml names outcrop; run `pre-commit install`".to_owned())
            }
            Some(file) => State::Wrong(format!("none, but {file} names outcrop; let its program install the hook")),
            None => State::fine("none"),
        };
    };
    if !install::is_executable(&path) {
        return State::Wrong(format!("not executable, so git skips it; fix it with `chmod +x {}`", path.display()));
    }
    match managed {
        _ if install::is_current(&script) => State::fine("calls outcrop"),
        _ if install::is_ours(&script) => {
            State::Wrong(format!("of another version of outcrop; renew it: `outcrop install hook --hook {name}`"))
        }
        _ if script.contains("outcrop") => State::fine("calls outcrop"),
        Some(file) => State::Fine(format!("calls outcrop through {file}")),
        None => State::fine("installed, but does not call outcrop"),
    }
}

fn workflow(repository: &Repository) -> State {
    let directory = repository.root().map(|root| root.join(".github/workflows"));
    let mut files: Vec<PathBuf> = directory
        .and_then(|directory| fs::read_dir(directory).ok())
        .map(|members| members.filter_map(|member| Some(member.ok()?.path())).collect())
        .unwrap_or_default();
    files.sort();
    let names_outcrop = |path: &&PathBuf| beginning_of(path).is_some_and(|text| text.contains("outcrop"));
    match files.iter().find(names_outcrop).and_then(|path| path.file_name()) {
        Some(name) => State::Fine(format!(".github/workflows/{} uses outcrop", name.to_string_lossy())),
        None => State::fine("none uses outcrop"),
    }
}

/// As much of a file as a script or a workflow may have, unless it is not there.
fn beginning_of(path: &Path) -> Option<String> {
    const ENOUGH: u64 = 1 << 20;
    let file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|metadata| metadata.is_file()))?;
    let mut bytes = Vec::new();
    file.take(ENOUGH).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn about_files(page: &mut Page, report: &Report, dialects: &[String]) {
    page.section("configuration");
    page.line(names::CONFIGURATION, &configuration(report));
    page.line("dialect", &State::Fine(dialect(report, dialects)));
    page.section(&format!("files in {}: {}", report.after, report.compared.files));
    for (read_as, count) in &report.read_as {
        page.count(*count, read_as.describe());
    }
    let mut reasons: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for skipped in &report.skipped {
        reasons.entry(skipped.reason).or_default().push(skipped.path.to_string());
    }
    for (reason, paths) in &reasons {
        page.count(paths.len(), &format!("skipped: {}{}", reason.describe(), examples(paths)));
    }
    let count = |severity| report.findings.iter().filter(|finding| finding.severity == severity).count();
    let counts = [(count(Severity::Error), "error"), (count(Severity::Warning), "warning")];
    let said: Vec<String> =
        counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| plural(count, noun)).collect();
    match said.is_empty() {
        true => page.section("no problems"),
        false => page.section(&format!("problems: {}; `outcrop check --all` shows them", said.join(", "))),
    }
}

/// The dialects that were recognised, without any configuration.
fn dialect(report: &Report, dialects: &[String]) -> String {
    let count = |read_as| report.read_as.get(&read_as).copied().unwrap_or_default();
    let mut found = dialects.to_vec();
    if count(ReadAs::Unfurl) > 0 {
        found.push(format!("Unfurl: {}", plural(count(ReadAs::Unfurl), "file")));
    }
    if count(ReadAs::Kubernetes) > 0 {
        found.push(format!("Kubernetes: {}", plural(count(ReadAs::Kubernetes), "file")));
    }
    if found.is_empty() { "plain files".to_owned() } else { found.join("; ") }
}

/// Whether `outcrop.yaml` is there, and whether it says what it can say.
fn configuration(report: &Report) -> State {
    if !report.read_as.contains_key(&ReadAs::Configuration) {
        return State::fine("none: defaults apply");
    }
    let is_about_it = |finding: &&Finding| finding.path(&report.sources).as_bytes() == names::CONFIGURATION.as_bytes();
    match report.findings.iter().filter(is_about_it).count() {
        0 => State::fine("valid"),
        count => State::Wrong(format!("{}; `outcrop check --all` shows them", plural(count, "mistake"))),
    }
}

/// The first few names, so that a wrong guess about a file is noticed.
fn examples(paths: &[String]) -> String {
    const SHOWN: usize = 3;
    let more = if paths.len() > SHOWN { ", …" } else { "" };
    format!(" ({}{more})", paths[..paths.len().min(SHOWN)].join(", "))
}
