//! Every way to call the program about a placement.

use std::path::Path;
use std::process::Command;

use super::PARTS;
use super::placements::Placement;
use crate::program::binary;
use crate::repo::TestRepo;

/// One call of the program.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// The command, with the command below it: `metadata get`.
    pub(super) command: &'static str,
    /// The value of `--format`, if the command has one.
    pub(super) format: Option<&'static str>,
    arguments: Vec<String>,
    /// Whether it runs outside the repository.
    is_outside: bool,
    input: Option<String>,
}

impl Call {
    /// Whether it compares files as they are written.
    pub(super) fn leaves_units_out(&self) -> bool {
        self.arguments.iter().any(|argument| argument == "sources")
    }
}

/// The formats of a difference.
const DIFF: [&str; 7] = ["terminal", "side-by-side", "unified", "json", "json-patch", "markdown", "html"];
/// The formats of a document.
const DOCUMENT: [&str; 2] = ["yaml", "json"];
/// So many files of a placement are asked about one by one.
const MOST_FILES: usize = 4;

impl Call {
    pub(super) fn command(&self, repo: &TestRepo) -> Command {
        let mut command = repo.command(binary());
        let summary = repo.beside("summary");
        command.args(&self.arguments).env("GITHUB_STEP_SUMMARY", summary).env("GITHUB_OUTPUT", repo.beside("output"));
        command.env("RUNNER_TEMP", repo.beside("home"));
        if self.is_outside {
            command.current_dir(repo.beside("outside"));
        }
        command
    }

    pub(super) fn input(&self) -> Option<&str> {
        self.input.as_deref()
    }

    pub(super) fn line(&self) -> String {
        let place = if self.is_outside { "(outside) " } else { "" };
        format!("{place}outcrop {}", self.arguments.join(" "))
    }
}

/// Collects calls.
struct Calls<'a> {
    calls: Vec<Call>,
    placement: &'a Placement,
    old: String,
    new: String,
}

/// All calls about a placement. The newer side is committed and in the working tree.
pub(super) fn all(placement: &Placement, repo: &TestRepo) -> Vec<Call> {
    let place = |name: &str| repo.beside(name).to_string_lossy().into_owned();
    let mut calls = Calls { calls: Vec::new(), placement, old: place("old"), new: place("new") };
    calls.differences();
    calls.checks();
    calls.one_side();
    calls.metadata();
    calls.files(repo);
    calls.parts();
    calls.calls
}

/// The calls of hooks: what is staged is the newer side, and the last commit is the older one.
pub(super) fn staged() -> Vec<Call> {
    let hook = |name: &str| plain_call("hook", None, &["hook", name]);
    vec![
        hook("pre-commit"),
        hook("pre-merge-commit"),
        plain_call("diff", Some("json"), &["diff", "--staged", "--format", "json", "-v"]),
        plain_call("check", Some("terminal"), &["check", "--staged", "--no-new-only"]),
    ]
}

/// The calls that write to the working tree; they come last.
pub(super) fn writing(placement: &Placement) -> Vec<Call> {
    let path = placement.path.as_str();
    vec![
        plain_call("metadata set", None, &["metadata", "set", path, "/resourceInfo/idFromAttribute", "id"]),
        plain_call("metadata unset", None, &["metadata", "unset", path, "/resourceInfo/idFromAttribute"]),
        plain_call("metadata infer", Some("yaml"), &["metadata", "infer", path, "--apply"]),
    ]
}

/// The push of the newer commit.
pub(super) fn push(old: &str, new: &str) -> Call {
    let input = format!("refs/heads/main {new} refs/heads/main {old}\n");
    Call { input: Some(input), ..plain_call("hook", None, &["hook", "pre-push", "origin", "url"]) }
}

fn plain_call(command: &'static str, format: Option<&'static str>, arguments: &[&str]) -> Call {
    let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
    Call { command, format, arguments, is_outside: false, input: None }
}

impl Calls<'_> {
    fn add(&mut self, command: &'static str, format: Option<&'static str>, arguments: &[&str]) {
        let mut call = plain_call(command, format, &command.split(' ').collect::<Vec<_>>());
        if let Some(format) = format {
            call.arguments.extend(["--format".to_owned(), format.to_owned()]);
        }
        call.arguments.extend(arguments.iter().map(|word| (*word).to_owned()));
        self.calls.push(call);
    }

    fn outside(&mut self) {
        if let Some(call) = self.calls.last_mut() {
            call.is_outside = true;
        }
    }

    fn differences(&mut self) {
        const PAIR: [&str; 2] = ["HEAD~1", "HEAD"];
        for format in DIFF {
            self.add("diff", Some(format), &PAIR);
            self.add("diff", Some(format), &["--only", "sources", "--all-files", "-v", "HEAD", "HEAD~1"]);
        }
        for flags in [
            "--stat",
            "--summary",
            "--name-only",
            "-vv --no-cache",
            "--no-group --show-suppressed -v",
            "--all-files -v",
            "--only metadata -v",
            "--only requests -v",
            "--color always --width 50",
            "--ascii --width 30",
            "--kind Secret",
            "--ignore /**",
        ] {
            let flags: Vec<&str> = flags.split(' ').chain(PAIR).collect();
            self.add("diff", None, &flags);
        }
        self.add("diff", Some("side-by-side"), &["--width", "200", "--no-group", "HEAD", "HEAD~1"]);
        self.add("diff", Some("json"), &["--all-files", "--show-suppressed", "HEAD", "HEAD~1"]);
        self.add("diff", Some("unified"), &["HEAD~1", "--all-files"]);
        for format in ["text", "json", "matrix"] {
            self.add("affected", Some(format), &["--reached", "HEAD~1", "HEAD"]);
        }
        let (old, new) = (self.old.clone(), self.new.clone());
        for format in DIFF {
            self.add("difftool", Some(format), &[&old, &new]);
        }
        self.add("diff", Some("json"), &["--no-index", &old, &new]);
        self.outside();
        self.add("diff", Some("terminal"), &["--no-index", "-v", &new, &old]);
        self.outside();
        self.add("diff", Some("unified"), &["--no-index", &old, &new]);
    }

    /// The calls that compare parts of one revision: the directories of both sides, each of their files, and files of one side.
    fn parts(&mut self) {
        // A configuration that names directories is not about those of the parts, and two files are not one that is used otherwise.
        let is_at_home =
            |text: &[u8]| !["within", "oot"].iter().any(|word| String::from_utf8_lossy(text).contains(word));
        let mut configurations = self.placement.sides.iter().flatten().filter(|(path, _)| path == "outcrop.yaml");
        let is_new_use = self.placement.name == "rules/generator-file-dropped";
        // An object of Flux names a directory from the root of the repository: in a part, it reads nothing.
        let names_root = |text: &[u8]| {
            String::from_utf8_lossy(text).contains("substitute: {PW")
                || String::from_utf8_lossy(text).contains("{kind: ConfigMap, name: vars}")
        };
        let reads_nothing = self.placement.sides.iter().flatten().any(|(_, text)| names_root(text));
        let has_parts = configurations.all(|(_, text)| is_at_home(text)) && !is_new_use && !reads_nothing;
        for format in DIFF.into_iter().filter(|_| has_parts) {
            self.add("compare", Some(format), &["old", "new", "--at", PARTS]);
        }
        if has_parts {
            self.add("compare", Some("terminal"), &["-v", "new", "old", "--at", PARTS]);
        }
        // In one revision no rule changes, and nothing moves.
        let has_file_parts = has_parts && !self.placement.name.starts_with("rules/");
        let files: Vec<String> = self.placement.files().into_iter().take(MOST_FILES).map(str::to_owned).collect();
        let is_there = |side: usize, file: &&String| self.placement.has(side, file);
        let [old, new] =
            [0, 1].map(|side| files.iter().filter(|file| is_there(side, file)).cloned().collect::<Vec<_>>());
        for file in new.iter().filter(|file| has_file_parts && old.contains(file)) {
            let [old, new] = ["old", "new"].map(|side| format!("{side}/{file}"));
            self.add("compare", Some("json"), &[&old, &new, "--at", PARTS]);
            self.add("compare", Some("unified"), &[&new, &old, "--at", PARTS]);
        }
        for pair in new.windows(2) {
            self.add("compare", Some("terminal"), &[&pair[0], &pair[1], "-v"]);
            self.add("compare", Some("json"), &[&pair[1], &pair[0], "--at", "HEAD"]);
        }
    }

    fn checks(&mut self) {
        for format in ["terminal", "json", "sarif", "github", "gitlab"] {
            self.add("check", Some(format), &["HEAD~1", "HEAD"]);
            self.add("check", Some(format), &["--all", "-v"]);
        }
        self.add("check", Some("json"), &["--no-new-only", "HEAD", "HEAD~1"]);
        self.add("check", Some("terminal"), &["--no-new-only", "--color", "always", "HEAD~1", "HEAD"]);
        self.add("ci github", None, &["--base", "HEAD~1", "--head", "HEAD"]);
        self.add("ci github", None, &["--base", "HEAD", "--head", "HEAD~1"]);
        self.add("doctor", None, &["-v"]);
        self.add("init", None, &["--dry-run"]);
    }

    fn one_side(&mut self) {
        for format in DOCUMENT {
            self.add("render", Some(format), &[]);
            self.add("render", Some(format), &["--at", "HEAD~1"]);
            self.add("render", Some(format), &["--steps", "--at", "HEAD"]);
        }
        self.add("render", Some("yaml"), &["--steps", "--at", "HEAD~1"]);
        let path = self.placement.path.clone();
        if path.contains('@') {
            for format in DOCUMENT {
                self.add("render", Some(format), &[&path]);
                self.add("render", Some(format), &[&path, "--at", "HEAD~1"]);
            }
        }
        for expression in ["*", ".", ".children::*", "apiKey", ".::*::*", "{concat: [x, {eval: apiKey}, {eval: note}]}"]
        {
            self.add("eval", Some("json"), &[expression, "--path", &path, "--trace", "--all"]);
        }
        self.add("eval", Some("yaml"), &["*", "--path", &path, "--at", "HEAD~1"]);
        for format in ["terminal", "yaml", "json"] {
            self.add("explain", Some(format), &[&path, "-v"]);
        }
        let files = self.placement.files();
        let roots = files.iter().filter(|file| Path::new(file).file_stem().is_some_and(|stem| stem == "kustomization"));
        let roots: Vec<String> = roots
            .map(|file| Path::new(file).parent().map(|root| root.to_string_lossy().into_owned()).unwrap_or_default())
            .map(|root| if root.is_empty() { ".".to_owned() } else { root })
            .collect();
        for root in &roots {
            for format in DOCUMENT {
                self.add("render", Some(format), &["--root", root]);
                self.add("render", Some(format), &["--root", root, "--at", "HEAD~1"]);
            }
            for format in ["terminal", "yaml", "json"] {
                self.add("explain", Some(format), &[root, "-v"]);
            }
        }
    }

    fn metadata(&mut self) {
        let path = self.placement.path.clone();
        for format in DOCUMENT {
            self.add("metadata get", Some(format), &[&path]);
            self.add("metadata resolve", Some(format), &[&path, "--layers"]);
            self.add("metadata infer", Some(format), &[&path, "--complete"]);
        }
        self.add("metadata get", Some("yaml"), &[&path, "--overrides-only", "--at", "HEAD~1"]);
        self.add("metadata resolve", Some("yaml"), &[&path, "--at", "HEAD~1"]);
        for format in ["terminal", "json", "curl"] {
            self.add("metadata render", Some(format), &[&path, "--all"]);
            self.add("metadata render", Some(format), &[&path, "create"]);
        }
        self.add("metadata render", Some("json"), &[&path, "update", "--at", "HEAD~1"]);
    }

    /// The calls about single files.
    fn files(&mut self, repo: &TestRepo) {
        let files: Vec<String> = self.placement.files().into_iter().take(MOST_FILES).map(str::to_owned).collect();
        let spec = repo.beside("outside/spec.yaml").to_string_lossy().into_owned();
        let wrong = repo.beside("outside/wrong.yaml").to_string_lossy().into_owned();
        for file in &files {
            let [is_old, is_new] = [0, 1].map(|side| self.placement.has(side, file));
            let at =
                |is_there: bool, root: &str| if is_there { format!("{root}/{file}") } else { "/dev/null".to_owned() };
            let (old, new) = (at(is_old, &self.old), at(is_new, &self.new));
            if is_new {
                self.file(file, &spec, &wrong);
            }
            if is_old {
                self.add("expand", Some("yaml"), &[file, "--at", "HEAD~1"]);
                self.add("explain", Some("json"), &[file, "--at", "HEAD~1"]);
            }
            for format in DIFF {
                self.add("difftool", Some(format), &[&old, &new, "--path", file]);
                let call = [file, &old, ID, MODE, &new, ID, MODE].map(str::to_owned);
                self.add("diff-driver", Some(format), &call.each_ref().map(String::as_str));
            }
            self.add("difftool", Some("terminal"), &[&old, &new]);
            self.add("diff", Some("json"), &["--no-index", &old, &new]);
            // Outside the repository nothing is known but the file itself.
            if files.len() == 1 {
                self.add("difftool", Some("unified"), &[&new, &old]);
                self.outside();
                self.add("diff", Some("terminal"), &["--no-index", "-v", &old, &new]);
                self.outside();
            }
            self.add("diff-driver", None, &["--textconv", &if is_new { new } else { old }]);
        }
        let patches = files.iter().filter(|file| file.ends_with("patches.yaml")).cloned().collect::<Vec<_>>();
        for (patch, file) in patches.iter().flat_map(|patch| files.iter().map(move |file| (patch, file))) {
            if file.ends_with("resource.yaml") || file.ends_with("app.yaml") {
                self.add("patch", Some("yaml"), &[patch, file]);
            }
        }
    }

    fn file(&mut self, file: &str, spec: &str, wrong: &str) {
        for format in DOCUMENT {
            self.add("expand", Some(format), &[file]);
            self.add("patch", Some(format), &[spec, file]);
        }
        self.add("expand", None, &[file, "--why", "-v"]);
        self.add("patch", None, &[spec, file, "--diff"]);
        self.add("patch", None, &[wrong, file, "--diff"]);
        for format in ["terminal", "yaml", "json"] {
            self.add("explain", Some(format), &[file, "-v"]);
        }
        self.add("render", Some("yaml"), &[file]);
        self.add("eval", Some("yaml"), &["*", "--path", file, "--trace"]);
        self.add("diff-driver", None, &["--textconv", file]);
    }
}

/// What git passes for a file of the working tree.
const ID: &str = "0000000000000000000000000000000000000000";
const MODE: &str = "100644";
