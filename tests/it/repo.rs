//! Repositories built by the real git, in an environment that no setting of the machine can reach.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use outcrop::shell::git::Repository;
use tempfile::TempDir;

/// A repository in a temporary directory, with a home of its own.
pub(crate) struct TestRepo {
    sandbox: TempDir,
    root: PathBuf,
    clock: Cell<u64>,
}

/// The settings of every git in these tests, in place of the machine's.
const CONFIG: &str = "[user]\n\tname = outcrop tests\n\temail = tests@example.invalid\n[init]\n\tdefaultBranch = main\n\
    [commit]\n\tgpgSign = false\n[tag]\n\tgpgSign = false\n[core]\n\tautocrlf = false\n[gc]\n\tauto = 0\n\
    [protocol \"file\"]\n\tallow = always\n[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n\
    [advice]\n\tdetachedHead = false\n[maintenance]\n\tauto = false\n";

impl TestRepo {
    /// An empty repository on the branch `main`.
    pub(crate) fn new() -> Self {
        Self::init(&["init", "-q"])
    }

    /// An empty repository made by the given git command, which runs in the repository's directory.
    pub(crate) fn init(arguments: &[&str]) -> Self {
        let sandbox = TempDir::new().expect("a temporary directory can be made");
        let root = sandbox.path().join("repo");
        fs::create_dir(&root).expect("the directory is new");
        fs::create_dir(sandbox.path().join("home")).expect("the directory is new");
        fs::write(sandbox.path().join("home/.gitconfig"), CONFIG).expect("the file is new");
        let repo = Self { sandbox, root, clock: Cell::new(1_600_000_000) };
        repo.git(arguments);
        repo
    }

    /// A repository whose commits are the numbered folders of a directory of this project, such as `examples/shop`: each is the
    /// complete tree of a commit.
    pub(crate) fn from_folders(name: &str) -> Self {
        let repo = Self::new();
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        for number in 1.. {
            let folder = fixture.join(number.to_string());
            if !folder.is_dir() {
                assert!(number > 1, "{} holds no folder `1`", fixture.display());
                return repo;
            }
            repo.clear();
            copy_tree(&folder, &repo.root);
            repo.commit_all(&format!("{name} {number}"));
        }
        repo
    }

    /// The working tree, or the git directory of a bare repository.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Another place in the same sandbox, for clones and worktrees.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.sandbox.path().join(name)
    }

    /// Another repository in this sandbox.
    pub(crate) fn at(self, name: &str) -> Self {
        let root = self.beside(name);
        Self { root, ..self }
    }

    /// A program that sees nothing of the machine but its path, with fixed dates and a home in the sandbox.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        let home = self.sandbox.path().join("home");
        let date = format!("{} +0000", self.clock.get());
        command.env_clear().current_dir(&self.root).stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &home).env("XDG_CONFIG_HOME", home.join(".config"));
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("LC_ALL", "C").env("TZ", "UTC");
        command.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
        command
    }

    /// Runs git and gives what it prints, without the last line break; git must succeed.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let printed = String::from_utf8(self.git_bytes(arguments)).expect("git prints text here");
        printed.trim_end_matches('\n').to_owned()
    }

    /// Like [`git`](Self::git), for output that may not be text.
    pub(crate) fn git_bytes(&self, arguments: &[&str]) -> Vec<u8> {
        let output = self.try_git(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {} failed: {said}", arguments.join(" "));
        output.stdout
    }

    /// Runs git, whatever becomes of it.
    pub(crate) fn try_git(&self, arguments: &[&str]) -> Output {
        self.command("git").args(arguments).output().expect("git is installed")
    }

    /// Runs git with something on its standard input.
    pub(crate) fn git_with_input(&self, arguments: &[&str], input: &[u8]) -> String {
        use std::io::Write as _;
        let mut command = self.command("git");
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("git is installed");
        let mut stdin = child.stdin.take().expect("it is piped");
        stdin.write_all(input).expect("git reads its input");
        drop(stdin);
        let output = child.wait_with_output().expect("git ends");
        assert!(output.status.success(), "git {} failed", arguments.join(" "));
        String::from_utf8(output.stdout).expect("git prints text here").trim_end().to_owned()
    }

    /// Writes a file, and the directories it needs.
    pub(crate) fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("a file has a directory")).expect("directories can be made");
        fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Gives a file another time of its last change, some seconds from now or, with a negative number, ago.
    pub(crate) fn set_time(&self, path: impl AsRef<Path>, seconds: i64) {
        let file = fs::File::options().write(true).open(self.root.join(path)).expect("the file is there");
        let distance = std::time::Duration::from_secs(seconds.unsigned_abs());
        let now = std::time::SystemTime::now();
        let time = if seconds < 0 { now - distance } else { now + distance };
        file.set_modified(time).expect("the time can be set");
    }

    /// Removes a file or a directory.
    pub(crate) fn remove(&self, path: impl AsRef<Path>) {
        let path = self.root.join(path);
        let is_directory = path.symlink_metadata().expect("it is there").is_dir();
        if is_directory { fs::remove_dir_all(path) } else { fs::remove_file(path) }.expect("it can be removed");
    }

    /// Removes everything but the repository itself.
    pub(crate) fn clear(&self) {
        for member in fs::read_dir(&self.root).expect("the directory is there") {
            let name = member.expect("it can be listed").file_name();
            if name != ".git" {
                self.remove(name);
            }
        }
    }

    /// Commits all that is in the working tree, and gives the commit's id.
    pub(crate) fn commit_all(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.commit(message)
    }

    /// Commits what is staged, a minute after the commit before, and gives the commit's id.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.clock.set(self.clock.get() + 60);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Opens it as the program does.
    pub(crate) fn open(&self) -> Repository {
        let is_clean = std::env::var_os("GIT_DIR").is_none() && std::env::var_os("GIT_INDEX_FILE").is_none();
        assert!(is_clean, "the tests cannot run inside a git hook: its variables name another repository");
        Repository::open(&self.root).unwrap_or_else(|error| panic!("{error}"))
    }
}

fn copy_tree(from: &Path, to: &Path) {
    for member in fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let member = member.expect("it can be listed");
        let target = to.join(member.file_name());
        if member.file_type().expect("it has a type").is_dir() {
            fs::create_dir_all(&target).expect("directories can be made");
            copy_tree(&member.path(), &target);
        } else {
            fs::copy(member.path(), &target).expect("files can be copied");
        }
    }
}
