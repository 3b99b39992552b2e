//! `outcrop hook`: what git and hook managers call before a commit and before a push. It reads, and changes nothing.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Read};

use super::check::exit_of;
use crate::comparison::{Judged, Options, Review};
use crate::report::{self, Reach, Report, plural};
use crate::sanitize;
use crate::settings::Policy;
use crate::shell::cli::{Global, HookArgs, HookName};
use crate::shell::environment;
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::git::{GitError, Repository, Revision, RevisionPair, Tree};
use crate::shell::output;
use crate::shell::pushed::{self, Pushed};
use crate::shell::session::{Session, open_repository};

pub(in crate::shell) fn run(global: &Global, args: &HookArgs) -> Result<Exit, Failure> {
    if environment::hooks_are_off() {
        return Ok(Exit::Clean);
    }
    let repository = open_repository(global)?;
    let hook = Hook { global, args, repository: &repository };
    let outcome = match args.name {
        HookName::PreCommit | HookName::PreMergeCommit => hook.before_commit(),
        HookName::PrePush => hook.before_push(),
    };
    let exit = outcome.unwrap_or_else(|failure| {
        output::note(&failure.to_string());
        Exit::Incomplete
    });
    if exit != Exit::Clean {
        hook.tell_how_to_skip();
    }
    Ok(exit)
}

/// One run of a hook.
struct Hook<'a> {
    global: &'a Global,
    args: &'a HookArgs,
    repository: &'a Repository,
}

/// What is checked.
struct Subject {
    comparison: RevisionPair,
    judged: Judged,
    /// What to call it, where there may be several.
    name: Option<String>,
}

/// What came out.
struct Checked {
    /// What is wrong.
    verdict: Report,
    /// How far the change reaches, if there is one.
    reach: Option<Reach>,
}

impl Hook<'_> {
    fn before_commit(&self) -> Result<Exit, Failure> {
        if !self.args.arguments.is_empty() {
            return Err(Failure::new("a pre-commit hook takes no arguments").help(
                "it reads the staged files itself, deletions included; with the pre-commit framework, keep `pass_filenames: false`",
            ));
        }
        if let Some(range) = self.range_of_hook_manager()? {
            return self.check_all(vec![range]);
        }
        if self.repository.root().is_none() {
            return Err(GitError::Bare { what: "index" }.into());
        }
        let comparison = RevisionPair { before: Revision::Tree(self.repository.head()?), after: Revision::Index };
        let staged = Subject { comparison, judged: Judged::New, name: None };
        let checked = self.check(&staged)?;
        // git names the index it commits. Without it, and without anything staged, this is somebody who wants to know about
        // all files: `pre-commit run --all-files` does not pass this on.
        let is_commit = environment::is_set("GIT_INDEX_FILE");
        if is_commit || checked.verdict.compared.files > 0 || checked.verdict.is_incomplete() {
            return self.tell(&staged, &checked);
        }
        output::note("note: nothing is staged, so all files of the index are checked");
        let everything = Subject { judged: Judged::Everything, ..staged };
        self.tell(&everything, &self.check(&everything)?)
    }

    fn before_push(&self) -> Result<Exit, Failure> {
        let pushed = pushed::parse(&standard_input()?)?;
        if !pushed.is_empty() {
            let remote = self.args.arguments.first().map(|name| name.to_string_lossy().into_owned());
            let subjects: Result<Vec<_>, _> =
                pushed.iter().map(|pushed| self.pushed(pushed, remote.as_deref())).collect();
            return self.check_all(subjects?.into_iter().flatten().collect());
        }
        if let Some(range) = self.range_of_hook_manager()? {
            return self.check_all(vec![range]);
        }
        // The framework passes no lines on, and no range when the first commit is among what is pushed. git itself passes
        // nothing only if there is nothing to push.
        if !environment::is_set("PRE_COMMIT") {
            if self.global.verbose > 0 || io::stdin().is_terminal() {
                output::note("note: no refs to push on standard input, so nothing is checked");
            }
            return Ok(Exit::Clean);
        }
        let tip = environment::text("PRE_COMMIT_LOCAL_BRANCH")?.unwrap_or_else(|| "HEAD".to_owned());
        output::note(&format!("note: the remote's state is unknown, so all files of {tip} are checked"));
        let after = Revision::Tree(self.repository.resolve(&tip)?);
        let comparison = RevisionPair { before: Revision::Tree(self.repository.nothing()), after };
        self.check_all(vec![Subject { comparison, judged: Judged::Everything, name: None }])
    }

    /// What the pre-commit framework and its kin say: from where to where. The newer end alone is also heard of.
    fn range_of_hook_manager(&self) -> Result<Option<Subject>, Failure> {
        let Some(to) = environment::text("PRE_COMMIT_TO_REF")? else { return Ok(None) };
        let after = self.repository.resolve(&to)?;
        let before = match environment::text("PRE_COMMIT_FROM_REF")? {
            Some(from) => self.base_of(&self.repository.resolve(&from)?, &after)?,
            None => self.base_on(environment::text("PRE_COMMIT_REMOTE_NAME")?.as_deref(), &after),
        };
        let comparison = RevisionPair { before: Revision::Tree(before), after: Revision::Tree(after) };
        Ok(Some(Subject { comparison, judged: Judged::New, name: None }))
    }

    /// Where two histories parted; without such a place, all that differs counts.
    fn base_of(&self, from: &Tree, to: &Tree) -> Result<Tree, GitError> {
        match self.repository.merge_base(from, to) {
            Err(GitError::NoMergeBase { ours, theirs, .. }) => {
                output::note(&format!(
                    "note: {ours} and {theirs} have no common ancestor, so all differing files are checked"
                ));
                Ok(from.clone())
            }
            base => base,
        }
    }

    /// What the remote has of a history, as far as we know; nothing if we know of none.
    fn base_on(&self, remote: Option<&str>, tip: &Tree) -> Tree {
        let base = remote.and_then(|remote| self.repository.base_on_remote(tip, remote));
        base.unwrap_or_else(|| self.repository.nothing())
    }

    fn pushed(&self, pushed: &Pushed, remote: Option<&str>) -> Result<Option<Subject>, Failure> {
        let name = sanitize::inline(&pushed.reference).into_owned();
        let after = match self.repository.resolve(&pushed.tip) {
            Ok(tree) => tree,
            Err(GitError::NotATree { kind, .. }) => {
                output::note(&format!("note: {name} is a {kind}, which contains no configuration to check"));
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        // What the remote has may never have been fetched.
        let known = pushed.known.as_deref().and_then(|id| self.repository.resolve(id).ok());
        let before = known.unwrap_or_else(|| self.base_on(remote, &after));
        let comparison = RevisionPair { before: Revision::Tree(before), after: Revision::Tree(after) };
        Ok(Some(Subject { comparison, judged: Judged::New, name: Some(name) }))
    }

    /// Checks each subject once, and answers with the worst that came out.
    fn check_all(&self, subjects: Vec<Subject>) -> Result<Exit, Failure> {
        let mut seen = BTreeSet::new();
        let mut worst = Exit::Clean;
        for subject in subjects {
            if let (Revision::Tree(before), Revision::Tree(after)) =
                (&subject.comparison.before, &subject.comparison.after)
                && (!seen.insert((before.id, after.id)) || before.id == after.id)
            {
                continue;
            }
            let checked = self.check(&subject)?;
            worst = worst.max(self.tell(&subject, &checked)?);
        }
        Ok(worst)
    }

    fn check(&self, subject: &Subject) -> Result<Checked, Failure> {
        let session = Session::new(self.global, self.repository, &subject.comparison, &[], Policy::Base)?;
        let comparison = session.comparison(Options::default());
        Ok(session.working(|| match subject.judged {
            Judged::New => {
                let Review { difference, verdict } = comparison.review();
                Checked { verdict, reach: Some(Reach::of(&difference)) }
            }
            judged => Checked { verdict: comparison.check(judged), reach: None },
        }))
    }

    /// Nothing if all is well and nothing but the edited files is affected: a hook that talks is a hook that gets switched off.
    fn tell(&self, subject: &Subject, checked: &Checked) -> Result<Exit, Failure> {
        let report = &checked.verdict;
        let (before, after) = (subject.comparison.before.label(), subject.comparison.after.label());
        let name = subject.name.as_deref().map(|name| format!("{name}: ")).unwrap_or_default();
        let what = match subject.judged {
            Judged::Everything => format!("{name}all files of {after}"),
            _ => format!("{name}{before}..{after}"),
        };
        let reach = checked.reach.as_ref().filter(|reach| reach.is_indirect).map(Reach::phrase);
        if report.findings.is_empty() && !report.is_incomplete() {
            if let Some(reach) = reach {
                output::note(&format!("outcrop: {name}{reach}; no new problems"));
            } else if self.global.verbose > 0 {
                let resources = plural(report.compared.resources, "resource");
                let files = plural(report.compared.files, "file");
                output::note(&format!("outcrop: {what}: no problems in {resources} in {files}"));
            }
            return Ok(Exit::Clean);
        }
        if subject.name.is_some() {
            output::note(&format!("outcrop: {what}"));
        }
        // Standard output may be read by a program: `git push --porcelain` writes there.
        let style = output::message_style(self.global);
        output::write_message(|out| report::diagnostics::write(report, &style, out))?;
        if let Some(reach) = reach {
            output::note(&format!("outcrop: {name}{reach}"));
        }
        Ok(exit_of(report, self.args.fail_on))
    }

    fn tell_how_to_skip(&self) {
        let command = match self.args.name {
            HookName::PreCommit => "git commit",
            HookName::PreMergeCommit => "git merge",
            HookName::PrePush => "git push",
        };
        output::note(&format!(
            " help: to skip this check: `OUTCROP=0 {command} …`; to skip all hooks: `{command} --no-verify …`"
        ));
    }
}

/// What git says about a push. A person at a terminal says nothing, and is not waited for.
fn standard_input() -> Result<Vec<u8>, Failure> {
    /// A push of a hundred thousand references says less.
    const MOST_BYTES: u64 = 64 << 20;
    let stdin = io::stdin();
    let mut input = Vec::new();
    if !stdin.is_terminal() {
        let failed = |error: io::Error| Failure::new(format!("standard input cannot be read: {error}"));
        stdin.lock().take(MOST_BYTES + 1).read_to_end(&mut input).map_err(failed)?;
    }
    if input.len() as u64 > MOST_BYTES {
        return Err(Failure::new("standard input is too long for a list of pushed refs"));
    }
    Ok(input)
}
