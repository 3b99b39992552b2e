//! The built program, run by tests as a person, git or a runner would run it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use crate::repo::TestRepo;
use crate::required::absent;

/// The program itself, or the one that `OUTCROP_PROGRAM` names: an optimised one answers the canary suite much sooner.
pub(crate) fn binary() -> &'static Path {
    static OTHER: LazyLock<Option<PathBuf>> =
        LazyLock::new(|| std::env::var_os("OUTCROP_PROGRAM").map(PathBuf::from).filter(|path| path.is_file()));
    OTHER.as_deref().unwrap_or(Path::new(env!("CARGO_BIN_EXE_outcrop")))
}

/// A search path on which the program is found first.
pub(crate) fn path_with_binary() -> OsString {
    let directory = binary().parent().expect("a program is in a directory").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(directory).chain(std::env::split_paths(&path))).expect("no path holds a colon")
}

/// The program in a repository.
pub(crate) fn outcrop(repo: &TestRepo, arguments: &[&str]) -> Command {
    let mut command = repo.command(binary());
    command.args(arguments);
    command
}

/// git in a repository, with the program on its path.
pub(crate) fn git(repo: &TestRepo, arguments: &[&str]) -> Command {
    let mut command = repo.command("git");
    command.args(arguments).env("PATH", path_with_binary());
    command
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Ran {
    let Output { status, stdout, stderr } = command.output().expect("the program starts");
    Ran {
        code: status.code().expect("no signal ends it"),
        stdout: String::from_utf8(stdout).expect("it prints text"),
        stderr: String::from_utf8(stderr).expect("it prints text"),
    }
}

/// Runs a command with something on its standard input.
pub(crate) fn run_with_input(command: &mut Command, input: &str) -> Ran {
    use std::io::Write as _;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    // It may end before it has read everything.
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().expect("the program ends");
    Ran {
        code: status.code().expect("no signal ends it"),
        stdout: String::from_utf8_lossy(&stdout).into_owned(),
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    }
}

impl Ran {
    /// Asserts the exit code, and shows everything if it is another.
    #[track_caller]
    pub(crate) fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "\n{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that something was said, on either stream.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(
            self.stdout.contains(text) || self.stderr.contains(text),
            "no `{text}` in\n{}\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Asserts that something was not said.
    #[track_caller]
    pub(crate) fn does_not_say(self, text: &str) -> Self {
        assert!(
            !self.stdout.contains(text) && !self.stderr.contains(text),
            "`{text}` in\n{}\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Asserts that nothing was said at all.
    #[track_caller]
    pub(crate) fn says_nothing(self) -> Self {
        assert_eq!((self.stdout.as_str(), self.stderr.as_str()), ("", ""));
        self
    }
}

/// Where the sources of this project are.
pub(crate) fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A tool, from the project's own environment or from the path; absence is reported.
#[track_caller]
pub(crate) fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = [".venv/bin", ".venv/node_modules/.bin"].map(|place| project().join(place));
    let places = own.into_iter().chain(std::env::split_paths(&path));
    let found = places.map(|place| place.join(name)).find(|tool| tool.is_file());
    if found.is_none() {
        absent(name, "it is not installed; .ci/run installs it into .venv");
    }
    found
}
