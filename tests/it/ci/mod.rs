//! `outcrop ci github` in clones as `actions/checkout` makes them, for every event that says what to compare.

mod composite;
mod events;
mod runner;
mod written;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{self, Ran, outcrop, run};
use crate::repo::TestRepo;

const BAD: &str = "a: 1\na: 2\n";

/// A repository with a pull request: an old mistake on `main`, a new one on `feature`, and `main` has moved on since.
struct Project {
    repo: TestRepo,
    /// Where the two branches parted.
    base: String,
    /// The last commit of `feature`.
    feature: String,
    /// The last commit of `main`.
    main: String,
    /// The trial merge of both.
    merge: String,
}

impl Project {
    fn new() -> Self {
        let repo = TestRepo::new();
        repo.write("old.yaml", BAD);
        repo.write("app.yaml", "replicas: 1\n");
        let base = repo.commit_all("base");
        repo.git(&["switch", "-q", "-c", "feature"]);
        repo.write("app.yaml", "replicas: 5\n");
        repo.write("new.yaml", "x: [1\n");
        let feature = repo.commit_all("feature");
        repo.git(&["switch", "-q", "main"]);
        repo.write("other.yaml", "somebody: else\n");
        let main = repo.commit_all("main moved on");
        repo.git(&["switch", "-q", "--detach"]);
        repo.git(&["merge", "-q", "--no-ff", "-m", "trial merge", "feature"]);
        let merge = repo.git(&["rev-parse", "HEAD"]);
        repo.git(&["update-ref", "refs/pull/7/merge", &merge]);
        repo.git(&["switch", "-q", "main"]);
        Self { repo, base, feature, main, merge }
    }

    /// Makes a clone as the checkout action does: one commit, and as much history as asked for.
    fn checkout(&self, name: &str, commit: &str, depth: Option<u32>) -> Clone<'_> {
        let directory = self.repo.beside(name);
        let origin = format!("file://{}", self.repo.root().display());
        self.repo.git(&["init", "-q", &directory.to_string_lossy()]);
        let place = directory.to_string_lossy().into_owned();
        let git = |arguments: &[&str]| self.repo.git(&[&["-C", &place], arguments].concat());
        git(&["remote", "add", "origin", &origin]);
        match depth {
            Some(depth) => {
                let (depth, refspec) = (format!("--depth={depth}"), format!("+{commit}:refs/remotes/checked/out"));
                git(&["fetch", "-q", "--no-tags", &depth, "origin", &refspec]);
            }
            None => {
                let branches = "+refs/heads/*:refs/remotes/origin/*";
                git(&["fetch", "-q", "origin", branches, "+refs/pull/*:refs/remotes/pull/*"]);
            }
        }
        git(&["checkout", "-q", "--detach", commit]);
        Clone { project: self, directory }
    }

    fn event(&self, name: &str, base: &str, head: &str) -> String {
        let fixture = program::project().join("fixtures/events").join(format!("{name}.json"));
        let text = fs::read_to_string(fixture).expect("the fixture is there");
        text.replace("\"BASE\"", &format!("{base:?}")).replace("\"HEAD\"", &format!("{head:?}"))
    }

    fn pull_request(&self) -> String {
        self.event("pull_request", &self.base, &self.feature)
    }
}

/// A clone in which a step runs.
struct Clone<'a> {
    project: &'a Project,
    directory: PathBuf,
}

/// What a step left behind.
struct Step {
    ran: Ran,
    summary: String,
    outputs: String,
}

impl Clone<'_> {
    /// A step of a workflow that runs for an event.
    fn step(&self, event: &str, payload: &str) -> Command {
        let path = self.directory.with_extension("event.json");
        fs::write(&path, payload).expect("the event can be written");
        let temporary = self.directory.with_extension("temp");
        fs::create_dir_all(&temporary).expect("directories can be made");
        let mut command = outcrop(&self.project.repo, &["ci", "github"]);
        command.current_dir(&self.directory).env("GITHUB_ACTIONS", "true").env("CI", "true");
        command.env("GITHUB_EVENT_NAME", event).env("GITHUB_EVENT_PATH", path);
        command.env("RUNNER_TEMP", &temporary);
        command.env("GITHUB_STEP_SUMMARY", temporary.join("summary")).env("GITHUB_OUTPUT", temporary.join("output"));
        command
    }

    /// A step for a pull request whose trial merge is checked out.
    fn pull_request_step(&self) -> Command {
        let mut command = self.step("pull_request", &self.project.pull_request());
        command.env("GITHUB_REF", "refs/pull/7/merge").env("GITHUB_SHA", &self.project.merge);
        command
    }

    fn run(&self, command: &mut Command) -> Step {
        let ran = run(command);
        let read = |name| fs::read_to_string(self.directory.with_extension("temp").join(name)).unwrap_or_default();
        Step { ran, summary: read("summary"), outputs: read("output") }
    }
}
