//! A repository opened for one command: two sides, the paths of interest, and the configuration that applies.

use std::path::PathBuf;
use std::sync::Arc;

use smol_str::SmolStr;

use super::cli::{Global, PolicyName, Range};
use super::configuration;
use super::day;
use super::error::Failure;
use super::git::{self, GitSnapshot, Repository, Revision, RevisionPair, Words};
use super::memory::TreeMemory;
use super::older::{self, Older};
use super::{output, progress};
use crate::comparison::{Comparison, Options};
use crate::limits::Budget;
use crate::settings::{Configuration, Given, Policy};
use crate::snapshot::Scope;
use crate::text::Sources;

/// Everything a command needs to compare two sides.
pub(super) struct Session {
    before: GitSnapshot,
    after: GitSnapshot,
    scope: Scope,
    configuration: Configuration,
    budget: Budget,
    sources: Arc<Sources>,
    user_pager: Option<String>,
    /// The day by which waivers are judged.
    day: SmolStr,
    memory: TreeMemory,
    /// What the one revision replaces that both sides are, with its settings: secrets that are declared there stay hidden.
    older: Older,
}

impl Session {
    /// Opens what the command line asks for.
    pub(super) fn open(global: &Global, range: &Range) -> Result<Self, Failure> {
        Self::open_for(global, range, false)
    }

    /// Opens what the command line asks for, to look at the whole newer side. What that side replaces counts as in commands that look at
    /// one revision.
    pub(super) fn open_whole(global: &Global, range: &Range) -> Result<Self, Failure> {
        Self::open_for(global, range, true)
    }

    fn open_for(global: &Global, range: &Range, is_whole: bool) -> Result<Self, Failure> {
        let repository = open_repository(global)?;
        let paths = (!range.paths.is_empty() || has_separator()).then_some(range.paths.as_slice());
        let words =
            Words { is_staged: range.staged, is_from_merge_base: range.merge_base, arguments: &range.words, paths };
        let selection = repository.select(words)?;
        let policy = match range.policy {
            PolicyName::Base => Policy::Base,
            PolicyName::Head => Policy::Head,
        };
        let mut session = Self::new(global, &repository, &selection.comparison, &selection.paths, policy)?;
        if is_whole {
            session.declare_older(global, &repository, &selection.comparison.after)?;
        }
        Ok(session)
    }

    /// Opens two sides that were decided elsewhere.
    pub(super) fn new(
        global: &Global,
        repository: &Repository,
        comparison: &git::RevisionPair,
        paths: &[Vec<u8>],
        policy: Policy,
    ) -> Result<Self, Failure> {
        let sources = Arc::new(Sources::default());
        let mut budget = Budget::default();
        let mut before = repository.snapshot(&comparison.before, &budget)?;
        let mut after = repository.snapshot(&comparison.after, &budget)?;
        let configuration = configuration::for_pair(global, &before, &after, policy, &sources)?;
        let configuration = configuration.with_remotes(&repository.remotes());
        configuration::note_ignored(global, repository, &after);
        // The limits are known only now, from a file that was itself read under the default ones.
        before.set_limits(configuration.limits().clone());
        after.set_limits(configuration.limits().clone());
        budget.limits = configuration.limits().clone();
        let memory = TreeMemory::of(repository, global);
        let user_pager = repository.user_config("core.pager");
        let scope = Scope::new(paths, repository.prefix(), &configuration.roots())?;
        let day = match comparison.after.commit().and_then(|commit| repository.committed_on(commit)) {
            Some(seconds) => day::of_seconds(seconds),
            None => day::today(),
        };
        Ok(Self { before, after, scope, configuration, budget, sources, user_pager, day, memory, older: Older::new() })
    }

    /// Opens one revision as both sides.
    pub(super) fn of_one(global: &Global, repository: &Repository, revision: &Revision) -> Result<Self, Failure> {
        let pair = RevisionPair { before: revision.clone(), after: revision.clone() };
        let mut session = Self::new(global, repository, &pair, &[], Policy::Base)?;
        session.declare_older(global, repository, revision)?;
        Ok(session)
    }

    /// Hides also what is declared as secret in what a revision replaces.
    fn declare_older(&mut self, global: &Global, repository: &Repository, revision: &Revision) -> Result<(), Failure> {
        self.older = older::replaced_by(global, repository, revision, &self.sources)?;
        for (_, older) in &self.older {
            self.configuration.before.may_miss_secrets |= older.may_miss_secrets;
            self.configuration.before.secrets.extend(older.secrets.iter().cloned());
        }
        Ok(())
    }

    /// What the revision replaces.
    fn older(&self) -> Vec<Given<'_>> {
        let (sources, limits) = (&self.sources, self.configuration.limits());
        let older = self.older.iter();
        older.map(|(snapshot, settings)| Given { snapshot: &**snapshot, settings, sources, limits }).collect()
    }

    /// The comparison of both sides, as the command line asks for it; what a repository decides is set here.
    pub(super) fn comparison<'s>(&'s self, asked: Options<'s>) -> Comparison<'s> {
        let options = Options {
            scope: self.scope.clone(),
            budget: self.budget.clone(),
            memory: &self.memory,
            day: self.day.clone(),
            declaring: self.older(),
            replaced: self.older(),
            ..asked
        };
        Comparison::new(&self.before, &self.after, &self.configuration, &self.sources, options)
    }

    /// Does the work of a comparison: shows how far it is, and says what took long and can be avoided.
    pub(super) fn working<T>(&self, work: impl FnOnce() -> T) -> T {
        let result = progress::while_working(&self.budget.progress, work);
        self.memory.note_slow_look();
        result
    }

    /// The pager of the user's own git configuration.
    pub(super) fn user_pager(&self) -> Option<&str> {
        self.user_pager.as_deref()
    }

    /// Whether the newer side is what is on disk.
    pub(super) fn ends_in_working_tree(&self) -> bool {
        matches!(self.after, GitSnapshot::Worktree(_))
    }
}

/// Whether the user wrote `--`, after which nothing is a revision; the parser of the command line does not tell.
fn has_separator() -> bool {
    std::env::args_os().any(|word| word == "--")
}

/// The repository of the current directory, with notes on how it was opened.
pub(super) fn open_repository(global: &Global) -> Result<Repository, Failure> {
    let directory = global.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let repository = Repository::open(&directory)?;
    repository.notes().iter().for_each(|note| output::note(&format!("note: {note}")));
    Ok(repository)
}
