//! One revision opened for a command: its files, its configuration, and where findings about it are written.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cli::{At, Global};
use super::configuration;
use super::directory::{DirectorySnapshot, Links};
use super::error::Failure;
use super::exit::Exit;
use super::git::{GitError, Repository, Revision};
use super::older::{self, Older};
use super::on_disk::OnDisk;
use super::output;
use super::replace::WriteLock;
use super::session::open_repository;
use crate::finding::{Finding, has_errors};
use crate::limits::Budget;
use crate::path::RepoPath;
use crate::report::{self, Report};
use crate::resource::{Content, Parsed, parse};
use crate::rules;
use crate::settings::{Configuration, Given, Settings};
use crate::side::Side;
use crate::snapshot::{EntryKind, Snapshot};
use crate::text::Sources;

/// Everything a command needs to look at one revision.
pub(super) struct OneSide {
    repository: Option<Repository>,
    snapshot: Box<dyn Snapshot>,
    configuration: Configuration,
    /// What it replaces, with its settings: secrets that are declared there stay hidden.
    older: Older,
    pub(super) sources: Arc<Sources>,
    /// Held while files are read that are to be changed, and until they are.
    lock: Option<WriteLock>,
}

impl OneSide {
    /// Opens a revision; without one the files on disk, or, in a bare repository, the last commit.
    pub(super) fn open(global: &Global, at: &At) -> Result<Self, Failure> {
        let repository = open_repository(global)?;
        let tree = match &at.at {
            Some(revision) => Some(repository.resolve(revision)?),
            None if repository.root().is_none() => Some(repository.head()?),
            None => None,
        };
        let Some(tree) = tree else { return Self::on_disk(global, repository) };
        let mut snapshot = repository.snapshot(&Revision::Tree(tree.clone()), &Budget::default())?;
        let sources = Arc::new(Sources::default());
        let configuration = configuration::for_one(global, &snapshot, &sources)?.with_remotes(&repository.remotes());
        configuration::note_ignored(global, &repository, &snapshot);
        snapshot.set_limits(configuration.limits().clone());
        let older = older::than(global, &repository, &tree, &sources)?;
        Ok(Self {
            repository: Some(repository),
            snapshot: Box::new(snapshot),
            configuration,
            older,
            sources,
            lock: None,
        })
    }

    /// Opens the files on disk, to change them.
    pub(super) fn for_writing(global: &Global) -> Result<Self, Failure> {
        let repository = open_repository(global)?;
        if repository.root().is_none() {
            let failure = Failure::new("a bare repository has no working tree to write to");
            return Err(failure.help("run this in a clone or a worktree"));
        }
        let lock = WriteLock::take(repository.root().unwrap_or(Path::new(".")))?;
        Ok(Self { lock, ..Self::on_disk(global, repository)? })
    }

    /// Lets no other process write until this is dropped; to be called before anything is read that is to be changed.
    pub(super) fn locked(mut self, root: &Path) -> Result<Self, Failure> {
        self.lock = WriteLock::take(root)?;
        Ok(self)
    }

    /// Opens the files that git tracks, as they are on disk; in a bare repository the last commit.
    pub(super) fn tracked(global: &Global) -> Result<Self, Failure> {
        let repository = open_repository(global)?;
        let bare = repository.root().is_none();
        let revision = if bare { Revision::Tree(repository.head()?) } else { Revision::Worktree };
        let snapshot = repository.snapshot(&revision, &Budget::default())?;
        let (configuration, sources) = (Configuration::default(), Arc::new(Sources::default()));
        let older = Vec::new();
        Ok(Self {
            repository: Some(repository),
            snapshot: Box::new(snapshot),
            configuration,
            older,
            sources,
            lock: None,
        })
    }

    fn on_disk(global: &Global, repository: Repository) -> Result<Self, Failure> {
        let budget = Budget::default();
        let tracked = repository.snapshot(&Revision::Worktree, &budget)?;
        let root = repository.root().unwrap_or(Path::new("."));
        let mut snapshot = OnDisk::new(tracked, root, &budget);
        let sources = Arc::new(Sources::default());
        let configuration = configuration::for_one(global, &snapshot, &sources)?.with_remotes(&repository.remotes());
        snapshot.set_limits(configuration.limits());
        let older = older::than_disk(global, &repository, &sources)?;
        Ok(Self {
            repository: Some(repository),
            snapshot: Box::new(snapshot),
            configuration,
            older,
            sources,
            lock: None,
        })
    }

    /// Opens a revision, or the files on disk whether git tracks them or not. Outside a repository the current directory is the
    /// tree.
    pub(super) fn open_anywhere(global: &Global, at: Option<&str>) -> Result<Self, Failure> {
        let here = global.directory.clone().unwrap_or_else(|| PathBuf::from("."));
        let budget = Budget::default();
        let directory = |path: &Path| DirectorySnapshot::new(path, Links::Keep, budget.clone());
        let (sources, mut older) = (Arc::new(Sources::default()), Vec::new());
        let (snapshot, repository): (Box<dyn Snapshot>, _) = match (Repository::open(&here), at) {
            (Ok(repository), Some(revision)) => {
                let tree = repository.resolve(revision)?;
                older = older::than(global, &repository, &tree, &sources)?;
                (Box::new(repository.snapshot(&Revision::Tree(tree), &budget)?), Some(repository))
            }
            (Ok(repository), None) => match repository.root() {
                Some(root) => {
                    older = older::than_disk(global, &repository, &sources)?;
                    (Box::new(directory(root).labelled("working tree")), Some(repository))
                }
                None => {
                    let head = Revision::Tree(repository.head()?);
                    (Box::new(repository.snapshot(&head, &budget)?), None)
                }
            },
            (Err(GitError::NotARepository { .. }), None) => (Box::new(directory(&here)), None),
            (Err(error), _) => return Err(error.into()),
        };
        let remotes = repository.as_ref().map(Repository::remotes).unwrap_or_default();
        let configuration = configuration::for_one(global, &*snapshot, &sources)?.with_remotes(&remotes);
        Ok(Self { repository, snapshot, configuration, older, sources, lock: None })
    }

    /// The side to ask; with `reveal`, secrets are shown.
    pub(super) fn side(&self, reveal: bool) -> Side<'_> {
        let (settings, limits) = (self.settings(), self.configuration.limits());
        let sources = &self.sources;
        let older =
            self.older.iter().map(|(snapshot, settings)| Given { snapshot: &**snapshot, settings, sources, limits });
        let older: Vec<Given<'_>> = older.collect();
        Side::new(Given { snapshot: &*self.snapshot, settings, sources, limits }, &older, reveal)
    }

    /// What its `outcrop.yaml` says.
    pub(super) fn settings(&self) -> &Settings {
        self.configuration.policy()
    }

    /// The directory that the user is in, below the root of the tree.
    pub(super) fn prefix(&self) -> RepoPath {
        self.repository.as_ref().map(|repository| repository.prefix().clone()).unwrap_or_default()
    }

    /// The directory of the working tree.
    pub(super) fn root(&self) -> Option<&Path> {
        self.repository.as_ref()?.root()
    }

    /// Reads and parses a file.
    pub(super) fn parse(&self, path: &RepoPath, given: &Path) -> Result<Parsed, Failure> {
        let label = self.snapshot.label();
        let missing = || {
            let message = format!("there is no file {} in {label}", given.display());
            Failure::new(message).help("paths are relative to the current directory and must be inside the repository")
        };
        let entry = self.snapshot.entry(path).map_err(|error| Failure::new(error.to_string()))?;
        let entry = entry.filter(|entry| entry.kind == EntryKind::File).ok_or_else(missing)?;
        let bytes = self.snapshot.read(&entry).map_err(|error| Failure::new(error.to_string()))?;
        let parsed =
            parse(Content { bytes: &bytes, path, revision: label }, &self.sources, self.configuration.limits());
        if parsed.source.is_none() && parsed.findings.is_empty() {
            return Err(Failure::new(format!("{} is neither YAML nor JSON", given.display())));
        }
        Ok(parsed)
    }

    /// Findings as they are shown: with configured severities, in order, with the texts that they point into redacted.
    pub(super) fn settle(&self, side: &Side<'_>, findings: Vec<Finding>) -> Vec<Finding> {
        let findings = side
            .secrets()
            .redact(findings, &self.sources, &|file| side.becomes_secret(file) || !side.given_from(file).is_empty());
        rules::settle(findings, self.settings(), &self.sources).findings
    }

    /// Shows what was found beside the answer; with errors the answer is not complete.
    pub(super) fn report(&self, side: &Side<'_>, mut findings: Vec<Finding>, global: &Global) -> io::Result<Exit> {
        findings.splice(0..0, self.configuration.findings().iter().cloned());
        findings.extend(self.configuration.limits().left_out(self.snapshot.label()));
        let findings = self.settle(side, findings);
        if findings.is_empty() {
            return Ok(Exit::Clean);
        }
        let (is_wrong, after) = (has_errors(&findings), self.snapshot.label().into());
        self.write(Report { after, findings, incomplete: is_wrong, ..Report::default() }, global)?;
        Ok(if is_wrong { Exit::Incomplete } else { Exit::Clean })
    }

    /// Shows why nothing was done.
    pub(super) fn refuse(&self, findings: Vec<Finding>, global: &Global) -> Result<Exit, Failure> {
        let findings = self.settle(&self.side(false), findings);
        self.write(Report { findings, ..Report::default() }, global)?;
        Ok(Exit::Found)
    }

    fn write(&self, report: Report, global: &Global) -> io::Result<()> {
        let report = Report { sources: Arc::clone(&self.sources), ..report };
        output::write_message(|out| report::diagnostics::write(&report, &output::message_style(global), out))
    }
}

/// A path of the command line in the tree; `..` is followed as long as it stays inside.
pub(super) fn inside(prefix: &RepoPath, file: &Path) -> Result<RepoPath, Failure> {
    let outside = || Failure::new(format!("{} is outside the repository", file.display()));
    let mut path = prefix.clone();
    for part in file.components() {
        path = match part {
            std::path::Component::CurDir => path,
            std::path::Component::ParentDir => path.parent().ok_or_else(outside)?,
            std::path::Component::Normal(name) => path.join(name.as_encoded_bytes()).map_err(|_| outside())?,
            _ => return Err(outside()),
        };
    }
    Ok(path)
}
