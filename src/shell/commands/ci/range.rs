//! Which commits a workflow is about, from its event and from what is checked out.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use smol_str::format_smolstr;

use crate::sanitize;
use crate::shell::cli::GithubArgs;
use crate::shell::environment;
use crate::shell::error::Failure;
use crate::shell::event::{self, Event};
use crate::shell::git::{GitError, Repository, Revision, RevisionPair, Tree};

/// What to review, and what the user should know about it.
pub(super) struct Assignment {
    pub(super) subject: Subject,
    pub(super) warnings: Vec<String>,
}

pub(super) enum Subject {
    /// There is nothing to look at.
    Nothing { why: String },
    /// One state became another.
    Change(RevisionPair),
    /// There is nothing to compare with.
    State { tree: Tree, why: String },
}

/// How much history a checkout must bring.
#[derive(Clone, Copy)]
enum Depth {
    /// A commit and its parents.
    Parents,
    /// All of it.
    Everything,
}

pub(super) fn assignment(repository: &Repository, args: &GithubArgs) -> Result<Assignment, Failure> {
    // An action passes an input that was not given as an empty text.
    let given = |revision: &Option<String>| revision.clone().filter(|revision| !revision.is_empty());
    let (base, head) = (given(&args.base), given(&args.head));
    if let Some(base) = base {
        let after = repository.resolve(head.as_deref().unwrap_or("HEAD"))?;
        return Ok(Assignment { subject: change(repository.resolve(&base)?, after), warnings: Vec::new() });
    }
    let workflow = Workflow { repository, reference: environment::text("GITHUB_REF")?.unwrap_or_default() };
    let name = environment::text("GITHUB_EVENT_NAME")?.ok_or_else(|| {
        Failure::new("GITHUB_EVENT_NAME is not set, so the change to review is unknown")
            .help("this command is for GitHub workflows; elsewhere set `--base` and `--head`")
    })?;
    let event = event::read(&name, &payload()?)?;
    let warnings = workflow.warnings(&name, &event)?;
    let subject = match (workflow.subject(event)?, head) {
        (subject, None) | (subject @ Subject::Nothing { .. }, _) => subject,
        (Subject::Change(comparison), Some(head)) => {
            Subject::Change(RevisionPair { after: Revision::Tree(repository.resolve(&head)?), ..comparison })
        }
        (Subject::State { why, .. }, Some(head)) => Subject::State { tree: repository.resolve(&head)?, why },
    };
    Ok(Assignment { subject, warnings })
}

fn change(before: Tree, after: Tree) -> Subject {
    Subject::Change(RevisionPair { before: Revision::Tree(before), after: Revision::Tree(after) })
}

/// What GitHub wrote about the event; it never writes more than 25 MB.
fn payload() -> Result<Vec<u8>, Failure> {
    const MOST_BYTES: u64 = 32 << 20;
    let path = environment::text("GITHUB_EVENT_PATH")?
        .ok_or_else(|| Failure::new("GITHUB_EVENT_PATH is not set, so the change to review is unknown"))?;
    let failed = |error: std::io::Error| Failure::new(format!("the event in {path} cannot be read: {error}"));
    let mut payload = Vec::new();
    File::open(Path::new(&path)).map_err(failed)?.take(MOST_BYTES).read_to_end(&mut payload).map_err(failed)?;
    Ok(payload)
}

/// A clone in a workflow.
struct Workflow<'a> {
    repository: &'a Repository,
    /// The reference the workflow runs for.
    reference: String,
}

impl Workflow<'_> {
    fn subject(&self, event: Event) -> Result<Subject, Failure> {
        match event {
            Event::PullRequest { number, target, base, head } => {
                let (mut before, mut after) = self.pull_request(&base, &head)?;
                before.label = sanitize::inline(&target).into();
                after.label = format_smolstr!("pull/{number}");
                Ok(change(before, after))
            }
            Event::Push { reference, before, after, default_branch } => {
                let name = sanitize::inline(&reference).into_owned();
                let Some(after) = after else { return Ok(Subject::Nothing { why: format!("{name} was deleted") }) };
                let tip = self.need(&after, "the pushed commit", Depth::Everything)?;
                let default = default_branch.filter(|branch| reference != format!("refs/heads/{branch}"));
                self.pushed(before.as_deref(), tip, &name, default.as_deref())
            }
            Event::MergeGroup { base, head } => Ok(change(
                self.need(&base, "the base of the merge group", Depth::Everything)?,
                self.need(&head, "the head of the merge group", Depth::Everything)?,
            )),
            Event::Started { base: None, head } => Ok(Subject::State {
                tree: self.repository.resolve(head.as_deref().unwrap_or("HEAD"))?,
                why: "no base to compare with".to_owned(),
            }),
            Event::Started { base: Some(base), head } => Ok(change(
                self.need(&base, "the input `base`", Depth::Everything)?,
                self.need(head.as_deref().unwrap_or("HEAD"), "the input `head`", Depth::Everything)?,
            )),
        }
    }

    /// GitHub checks out the pull request as if it were merged; the other side is then what it would be merged into. The
    /// base that the event names is older, and what others have merged since would look like part of the change.
    fn pull_request(&self, base: &str, head: &str) -> Result<(Tree, Tree), Failure> {
        let checked_out = self.repository.head()?;
        if self.is_trial_merge(&checked_out, head)? {
            return Ok((self.need("HEAD^1", "the commit before the change", Depth::Parents)?, checked_out));
        }
        let tip = self.need(head, "the last commit of the pull request", Depth::Everything)?;
        let base = self.need(base, "the base of the pull request", Depth::Everything)?;
        Ok((self.merge_base(&base, &tip)?, tip))
    }

    fn is_trial_merge(&self, checked_out: &Tree, head: &str) -> Result<bool, Failure> {
        let is_merge_reference = self.reference.starts_with("refs/pull/") && self.reference.ends_with("/merge");
        let parents = self.repository.parents(checked_out)?;
        // A pull request whose own last commit is a merge has two parents as well.
        let is_head = checked_out.commit.is_some_and(|commit| commit.to_string() == head);
        let is_sha = || -> Result<bool, Failure> {
            let sha = environment::text("GITHUB_SHA")?;
            Ok(checked_out.commit.is_some_and(|commit| Some(commit.to_string()) == sha))
        };
        let [_, merged] = parents.as_slice() else { return Ok(false) };
        Ok(is_merge_reference && !is_head && (merged.to_string() == head || is_sha()?))
    }

    fn pushed(
        &self,
        before: Option<&str>,
        tip: Tree,
        name: &str,
        default_branch: Option<&str>,
    ) -> Result<Subject, Failure> {
        match before {
            Some(id) if self.repository.is_shallow() => {
                return Ok(change(self.need(id, "the commit before the push", Depth::Everything)?, tip));
            }
            Some(id) => {
                if let Ok(before) = self.repository.resolve(id) {
                    return Ok(change(before, tip));
                }
            }
            None => {}
        }
        let Some(branch) = default_branch else {
            let why = match before {
                Some(_) => format!("{name} was force-pushed, and its previous commit is not in this clone"),
                None => format!("{name} is new"),
            };
            return Ok(Subject::State { tree: tip, why });
        };
        let branches = [format!("refs/remotes/origin/{branch}"), format!("refs/heads/{branch}")];
        match branches.iter().find_map(|branch| self.repository.resolve(branch).ok()) {
            Some(other) => Ok(change(self.merge_base(&other, &tip)?, tip)),
            None if self.repository.is_shallow() => Err(Failure::new(format!(
                "{name} is new, and {} to compare it with is not in this clone",
                sanitize::inline(branch)
            ))
            .help(checkout(Depth::Everything))),
            None => Ok(Subject::State { tree: tip, why: format!("{name} is new, and {branch} is not in this clone") }),
        }
    }

    fn merge_base(&self, ours: &Tree, theirs: &Tree) -> Result<Tree, Failure> {
        self.repository.merge_base(ours, theirs).map_err(|error| match error {
            GitError::NoMergeBase { .. } if self.repository.is_shallow() => {
                Failure::new(error.to_string()).help(checkout(Depth::Everything))
            }
            error => error.into(),
        })
    }

    /// A commit without which there is nothing to compare.
    fn need(&self, revision: &str, what: &str, depth: Depth) -> Result<Tree, Failure> {
        self.repository.resolve(revision).map_err(|error| match self.repository.is_shallow() {
            true => Failure::new(format!("{what} ({}) is not in this clone", sanitize::inline(revision)))
                .help(checkout(depth)),
            false => Failure::from(error),
        })
    }

    fn warnings(&self, name: &str, event: &Event) -> Result<Vec<String>, Failure> {
        let Event::PullRequest { head, .. } = event else { return Ok(Vec::new()) };
        let checked_out = self.repository.head()?;
        let is = |id: &crate::snapshot::ObjectId| id.to_string() == *head;
        let holds_head = checked_out.commit.iter().any(is) || self.repository.parents(&checked_out)?.iter().any(is);
        let warning = "this workflow runs on pull_request_target and has checked out the pull request: outcrop executes nothing \
                       of it, but any other step that does would give it this workflow's secrets; use pull_request instead";
        Ok((name == "pull_request_target" && holds_head).then(|| warning.to_owned()).into_iter().collect())
    }
}

/// What to write in the workflow.
fn checkout(depth: Depth) -> String {
    let depth = match depth {
        Depth::Parents => 2,
        Depth::Everything => 0,
    };
    format!("let the checkout step fetch more history:\n- uses: actions/checkout@v4\n  with:\n    fetch-depth: {depth}")
}
