//! `outcrop diff-driver`: what git calls for each file of a diff (`GIT_EXTERNAL_DIFF`, `diff.<driver>.command`), and `textconv`.
//!
//! git stops at the first file for which its diff program fails, so this command shows what it can and ends with 0.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use super::diff::{self, Look};
use super::textconv;
use crate::comparison::Options;
use crate::limits::Budget;
use crate::path::RepoPath;
use crate::report::terminal::{FileHeading, write_file};
use crate::report::{Report, TextCause, TextFile, plural};
use crate::sanitize;
use crate::settings::Policy;
use crate::shell::cli::{DiffDriverArgs, DiffFormat, Global};
use crate::shell::environment;
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::git::{Repository, RevisionPair};
use crate::shell::inferred::{self, Known, KnownFile};
use crate::shell::output;
use crate::shell::outside::{Outside, Rules, is_nothing, one_file, read};
use crate::shell::session::Session;
use crate::snapshot::ObjectId;

pub(in crate::shell) fn run(global: &Global, args: &DiffDriverArgs) -> Result<Exit, Failure> {
    if let Some(file) = &args.textconv {
        return textconv::run(global, file);
    }
    if let Some(program) = other_program()? {
        return delegate(&program, &args.arguments);
    }
    // git calls once per file and says which this is; nothing else would keep them apart.
    if environment::text("GIT_DIFF_PATH_COUNTER")?.is_some_and(|counter| counter != "1") {
        output::print(b"\n")?;
    }
    let outcome = match Call::parse(&args.arguments)? {
        Call::Unmerged(path) => unmerged(&path),
        Call::Changed(file) => Driver { global, args, file: &file }.show(),
    };
    // What happened to one file must not hide the others.
    let differs = outcome.unwrap_or_else(|failure| {
        output::note(&failure.to_string());
        true
    });
    Ok(if differs && args.exit_code { Exit::Found } else { Exit::Clean })
}

/// The program that the user asked for instead, for instance with `git difftool`: git prefers the driver of an attribute to it.
fn other_program() -> Result<Option<String>, Failure> {
    let program = environment::text("GIT_EXTERNAL_DIFF")?;
    Ok(program.filter(|program| !program.contains("outcrop") && environment::is_set("GIT_DIFF_PATH_COUNTER")))
}

/// Lets another program show the file, as git would have called it.
fn delegate(program: &str, arguments: &[OsString]) -> Result<Exit, Failure> {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{program} \"$@\""), program]).args(arguments);
    let failed = |error: io::Error| Failure::new(format!("{program} cannot be started: {error}"));
    Ok(match command.status().map_err(failed)?.code() {
        Some(0) => Exit::Clean,
        Some(1) => Exit::Found,
        _ => Exit::Incomplete,
    })
}

fn unmerged(path: &OsString) -> Result<bool, Failure> {
    let name = sanitize::quoted_path(path.as_encoded_bytes());
    output::print_lines(&format!("{name}\n  unmerged: the path has a conflict; resolve it, then `git add` it"))?;
    Ok(true)
}

/// What git says when it calls.
enum Call {
    /// A path with a merge conflict.
    Unmerged(OsString),
    /// A file with two versions.
    Changed(ChangedFile),
}

struct ChangedFile {
    before: Version,
    after: Version,
}

/// A version of a file: where git put its content, and what git knows about it.
struct Version {
    path: OsString,
    file: PathBuf,
    /// The object id; none for the file of the working tree, and where there is no file.
    id: Option<ObjectId>,
    /// The mode as git writes it, `.` where there is no file.
    mode: String,
}

impl Call {
    fn parse(words: &[OsString]) -> Result<Self, Failure> {
        match words {
            [path] => Ok(Self::Unmerged(path.clone())),
            [path, old_file, old_id, old_mode, new_file, new_id, new_mode, rest @ ..] if rest.len() <= 2 => {
                let new_path = rest.first().unwrap_or(path);
                let before = Version::new(path, old_file, old_id, old_mode);
                Ok(Self::Changed(ChangedFile { before, after: Version::new(new_path, new_file, new_id, new_mode) }))
            }
            _ => Err(Failure::new(format!("git passes 1, 7 or 9 arguments to a diff program, not {}", words.len()))
                .help(
                    "set it up with `outcrop install diff-driver`; to compare two files: outcrop diff --no-index A B",
                )),
        }
    }
}

impl Version {
    fn new(path: &OsString, file: &OsString, id: &OsString, mode: &OsString) -> Self {
        let id = id.to_str().and_then(object_id);
        Self { path: path.clone(), file: file.into(), id, mode: mode.to_string_lossy().into_owned() }
    }

    fn is_absent(&self) -> bool {
        is_nothing(&self.file)
    }

    fn is_regular(&self) -> bool {
        self.is_absent() || self.mode.starts_with("100")
    }

    /// The content: of the object, because git may pass the file of the working tree in its place; else of the file.
    fn content(&self, repository: Option<&Repository>, budget: &Budget) -> Result<Option<Arc<[u8]>>, Failure> {
        if self.is_absent() {
            return Ok(None);
        }
        let object = repository.zip(self.id).filter(|_| self.mode != SUBMODULE);
        if let Some(content) = object.and_then(|(repository, id)| repository.blob(id, budget).ok()) {
            return Ok(Some(content));
        }
        // A submodule is a directory, and a link on disk is not followed.
        if self.file.is_dir() || self.mode == SUBMODULE {
            let id = self.id.map_or_else(|| "working tree".to_owned(), |id| id.to_string());
            return Ok(Some(format!("Subproject commit {id}\n").into_bytes().into()));
        }
        if let Ok(target) = std::fs::read_link(&self.file) {
            return Ok(Some(target.into_os_string().as_encoded_bytes().into()));
        }
        read(&self.file, budget)
    }

    fn known(&self) -> Known {
        match self.id {
            _ if self.is_absent() => Known::Absent,
            Some(id) => Known::Object(id),
            None => Known::OnDisk,
        }
    }
}

/// The mode of a submodule.
const SUBMODULE: &str = "160000";

/// An object id in hexadecimal digits; zeros are none.
fn object_id(text: &str) -> Option<ObjectId> {
    let digit = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(digit).collect();
    ObjectId::new(&bytes?).filter(|id| id.as_bytes().iter().any(|&byte| byte != 0))
}

/// One file of a diff.
struct Driver<'a> {
    global: &'a Global,
    args: &'a DiffDriverArgs,
    file: &'a ChangedFile,
}

impl Driver<'_> {
    /// Shows the file, and returns whether it differs.
    fn show(&self) -> Result<bool, Failure> {
        let ChangedFile { before, after } = self.file;
        let (rules, repository) = Rules::of_repository(self.global)?;
        let repository = repository.as_ref();
        let paths = [path(&before.path)?, path(&after.path)?];
        let pair = repository.and_then(|repository| self.revisions(repository, &paths));
        let labels = pair.as_ref().map(|pair| (pair.before.label().to_owned(), pair.after.label().to_owned()));
        let alone = self.alone(rules, repository, &paths, labels.clone())?;
        let is_for_outcrop = before.is_regular() && after.is_regular() && !environment::hooks_are_off();
        if !is_for_outcrop || alone.is_same {
            let mut report = alone.outside.compare_lines(&paths[0], &paths[1]);
            report.text_files.retain(|_| !alone.is_same);
            report.text_files.iter_mut().for_each(|file| describe_text(file, before, after));
            self.write(&report, labels, &self.notes(alone.is_same, None))?;
            return Ok(true);
        }
        let revisions = repository.zip(pair.as_ref());
        let effect = revisions.and_then(|(repository, pair)| Effect::of(self.global, repository, pair, &paths));
        let Effect { report, reach } = effect.unwrap_or_default();
        let report = match report.resources.is_empty() && report.text_files.is_empty() {
            true => alone.outside.compare_file(&paths[0], &paths[1], Options::default()),
            false => report,
        };
        self.write(&report, labels, &self.notes(false, reach))?;
        Ok(true)
    }

    /// The revisions that have both versions; unknown where the versions are equal, because then most revisions have them.
    fn revisions(&self, repository: &Repository, paths: &[RepoPath; 2]) -> Option<RevisionPair> {
        let ChangedFile { before, after } = self.file;
        if before.id.is_some() && before.id == after.id && before.path == after.path {
            return None;
        }
        let (old, new) = ((paths[0].clone(), before.known()), (paths[1].clone(), after.known()));
        inferred::revisions(repository, &[KnownFile { before: old, after: new }])
    }

    /// Opens both versions of the file without anything around them.
    fn alone(
        &self,
        rules: Rules,
        repository: Option<&Repository>,
        paths: &[RepoPath; 2],
        labels: Option<(String, String)>,
    ) -> Result<Alone, Failure> {
        let ChangedFile { before, after } = self.file;
        let (old_label, new_label) = labels.unwrap_or_else(|| ("before".to_owned(), "after".to_owned()));
        let mut is_same = false;
        let outside = Outside::files(rules, |budget| {
            let contents = [before.content(repository, budget)?, after.content(repository, budget)?];
            let contents = with_same_line_ends(contents, [before, after]);
            is_same = contents[0] == contents[1];
            let [older, newer] = contents;
            Ok([one_file(paths[0].clone(), older, &old_label), one_file(paths[1].clone(), newer, &new_label)])
        })?;
        Ok(Alone { outside, is_same })
    }

    /// What git knows about the file beside its content, and what it does to others.
    fn notes(&self, is_same: bool, reach: Option<String>) -> Vec<String> {
        let ChangedFile { before, after } = self.file;
        let mut notes = Vec::new();
        if before.path != after.path {
            notes.push(format!("renamed from {}", sanitize::quoted_path(before.path.as_encoded_bytes())));
        }
        if !before.is_absent() && !after.is_absent() && before.mode != after.mode {
            notes.push(format!("mode {} → {}", before.mode, after.mode));
        }
        if is_same {
            notes.push("the content is the same".to_owned());
        }
        notes.extend(reach);
        notes
    }

    fn write(&self, report: &Report, labels: Option<(String, String)>, notes: &[String]) -> io::Result<()> {
        let style = output::style(self.global);
        let name = sanitize::quoted_path(self.file.after.path.as_encoded_bytes());
        let sides = labels.as_ref().map(|(before, after)| (before.as_str(), after.as_str()));
        let heading = FileHeading { path: &name, sides, notes };
        output::write(|out| match self.args.format {
            DiffFormat::Terminal => write_file(report, &heading, &style, out),
            format => diff::write(report, Look::Format(format), None, &style, out),
        })
    }
}

/// Links and submodules are no configuration.
fn describe_text(file: &mut TextFile, before: &Version, after: &Version) {
    let is_any = |mode: &str| before.mode == mode || after.mode == mode;
    file.cause = TextCause::NotByContent;
    file.kind = match () {
        () if is_any("120000") => "symbolic link",
        () if is_any(SUBMODULE) => "submodule",
        () => "as written",
    };
}

fn path(path: &OsString) -> Result<RepoPath, Failure> {
    let bytes = path.as_encoded_bytes();
    let file_name = || Path::new(path).file_name().map(|name| name.as_encoded_bytes().to_vec()).unwrap_or_default();
    RepoPath::new(bytes).or_else(|_| RepoPath::new(file_name())).map_err(|error| Failure::new(error.to_string()))
}

/// Files of the working tree may have the line ends of another system, which git would not show as a difference.
fn with_same_line_ends(contents: [Option<Arc<[u8]>>; 2], versions: [&Version; 2]) -> [Option<Arc<[u8]>>; 2] {
    let has_returns = |content: &Option<Arc<[u8]>>| content.as_ref().is_some_and(|bytes| bytes.contains(&b'\r'));
    let [before, after] = contents;
    let is_foreign = versions[1].id.is_none() && has_returns(&after) && before.is_some() && !has_returns(&before);
    let after = if is_foreign { after.map(|bytes| without_returns(&bytes).into()) } else { after };
    [before, after]
}

fn without_returns(bytes: &[u8]) -> Vec<u8> {
    let is_end = |at: usize| bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n');
    (0..bytes.len()).filter(|at| !is_end(*at)).map(|at| bytes[at]).collect()
}

/// Both versions of a file, and whether they have the same content.
struct Alone {
    outside: Outside,
    is_same: bool,
}

/// What an edit of a file does, as far as both revisions are known.
#[derive(Default)]
struct Effect {
    /// The changes of the resources in the file.
    report: Report,
    /// How many resources the file affects beside its own.
    reach: Option<String>,
}

/// In a diff of more files than this, resources that a file affects elsewhere are not counted: every answer compares both revisions.
const MOST_REACHING: usize = 40;

impl Effect {
    fn of(global: &Global, repository: &Repository, pair: &RevisionPair, paths: &[RepoPath; 2]) -> Option<Self> {
        let total = environment::text("GIT_DIFF_PATH_TOTAL").ok().flatten();
        let is_large = total.and_then(|total| total.parse::<usize>().ok()).is_some_and(|total| total > MOST_REACHING);
        let literal = |path: &RepoPath| [b":(top,literal)", path.as_bytes()].concat();
        let scope: Vec<Vec<u8>> = if is_large { paths.iter().map(literal).collect() } else { Vec::new() };
        let session = Session::new(global, repository, pair, &scope, Policy::Base).ok()?;
        let mut report = session.comparison(Options::default()).compare();
        let edited = report.edits.files.iter().find(|edited| edited.file == paths[1]);
        let reach = edited.map(|edited| {
            let (edits, resources) = (plural(edited.edits, "edit"), plural(edited.resources, "resource"));
            format!("{edits} here → {resources}; `outcrop diff` shows them")
        });
        keep_only(&mut report, paths);
        Some(Self { report, reach })
    }
}

/// Leaves what a report says about one file.
fn keep_only(report: &mut Report, paths: &[RepoPath; 2]) {
    let is_here = |path: &RepoPath| paths.contains(path);
    report.ungroup();
    report.resources.retain(|change| {
        let sides = [&change.before, &change.after].into_iter().flatten();
        sides.into_iter().any(|side| side.unit.is_none() && is_here(&side.file))
    });
    let sources = Arc::clone(&report.sources);
    report.findings.retain(|finding| is_here(&finding.path(&sources)));
    report.text_files.retain(|file| is_here(&file.path));
    report.unread.retain(is_here);
    report.incomplete = !report.unread.is_empty();
    report.skipped.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_zeros_is_none() {
        assert_eq!(object_id(&"0".repeat(40)), None);
        assert_eq!(object_id("."), None);
        assert_eq!(object_id("xy"), None);
        assert_eq!(object_id(&"ab".repeat(20)).map(|id| id.to_string()), Some("ab".repeat(20)));
        assert_eq!(object_id(&"ab".repeat(32)).map(|id| id.to_string()), Some("ab".repeat(32)));
    }

    #[test]
    fn only_the_returns_before_line_feeds_go() {
        assert_eq!(without_returns(b"a\r\nb\rc\r\n\r"), b"a\nb\rc\n\r");
    }
}
