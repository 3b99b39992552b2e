//! What a change costs by what it reaches, as ratios of one run: `cargo bench --bench impact`.
//!
//! A repository of REST resources under collections with metadata layers. `OUTCROP_BENCH_SCALE` divides every size, for a quick
//! look (`OUTCROP_BENCH_SCALE=10`).

#![allow(clippy::disallowed_methods, reason = "measuring needs the machine")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use outcrop::limits::{Budget, Limits};
use outcrop::shell::git::{GitSnapshot, Repository, Revision};
use outcrop::snapshot::{Scope, Snapshot, files_below};

const ROUNDS: usize = 9;

/// The program that is measured.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

fn outcrop() -> Command {
    Command::new(PROGRAM.get().expect("it is set at the start"))
}

fn main() {
    let scale: usize = std::env::var("OUTCROP_BENCH_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let scratch = std::env::temp_dir().join(format!("outcrop-bench-impact-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).expect("the scratch directory is ours");
    // As it is installed: what a linker writes lies scattered in the page cache, and starts more slowly than a copy of it.
    let program = scratch.join("outcrop");
    std::fs::copy(env!("CARGO_BIN_EXE_outcrop"), &program).expect("the scratch directory is ours");
    PROGRAM.set(program).expect("it is set once");
    layers(&scratch, scale);
    one_of_many(&scratch, scale);
    recipe(&scratch, scale);
    economy(&scratch);
    std::fs::remove_dir_all(&scratch).expect("the scratch directory is ours");
}

/// A layer edit that reaches few and many: the time for each affected resource stays the same.
fn layers(scratch: &Path, scale: usize) {
    say("A layer edit that reaches so many resources");
    let mut each: Vec<(usize, f64)> = Vec::new();
    for reached in [37, 5_000 / scale, 50_000 / scale] {
        let repository =
            make_repository(&scratch.join(format!("layer-{reached}")), &[("reached", reached)], Edit::Layer);
        let [ours] = race([(&["diff", "HEAD~1", "HEAD"], &repository)]);
        let nothing = race([(&["diff", "HEAD", "HEAD"], &repository)])[0];
        let spent = ours.saturating_sub(nothing).as_secs_f64();
        each.push((reached, spent / reached as f64));
        say(&format!("  {reached}: {:.1} ms, {:.1} µs each", ours.as_secs_f64() * 1e3, spent / reached as f64 * 1e6));
        if reached == 50_000 / scale {
            let reading = median((0..3).map(|_| read_all(&repository)).collect());
            verdict(&format!("{reached} reached / reading their blobs"), ours, reading, 4.0);
        }
    }
    let (middle, last) = (each[1].1, each[2].1);
    say(&format!("  each of {} / each of {}: {:.2} (constant is 1)", each[2].0, each[1].0, last / middle));
}

/// One changed resource among many, with what is remembered about the tree.
fn one_of_many(scratch: &Path, scale: usize) {
    let many = 100_000 / scale;
    say(&format!("One changed resource among {many}"));
    let repository = make_repository(&scratch.join("one"), &[("many", many)], Edit::Resource);
    let cold = {
        let start = Instant::now();
        run(&["diff", "--no-cache", "HEAD~1", "HEAD"], &repository);
        start.elapsed()
    };
    let reading = median((0..3).map(|_| read_all(&repository)).collect());
    verdict("cold: outcrop diff / reading the tree once", cold, reading, 1.5);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=3 * ROUNDS {
        let mine = timed(outcrop().args(["diff", "HEAD~1", "HEAD"]), &repository);
        let git = timed(Command::new("git").args(["diff", "--stat", "HEAD~1", "HEAD"]), &repository);
        // The first round warms the caches.
        if round > 0 {
            ours.push(mine);
            theirs.push(git);
        }
    }
    verdict("warm: outcrop diff / git diff --stat", median(ours), median(theirs), 2.0);
}

/// What people do today: check both sides out, render everything, compare the text.
fn recipe(scratch: &Path, scale: usize) {
    let all = 10_000 / scale;
    say(&format!("A layer that reaches 37 of {all}, and the recipe: two worktrees, render everything, diff"));
    let repository = make_repository(&scratch.join("recipe"), &[("reached", 37), ("others", all - 37)], Edit::Layer);
    let ours = race([(&["diff", "HEAD~1", "HEAD"], &repository)])[0];
    let start = Instant::now();
    let mut rendered = Vec::new();
    for (name, revision) in [("before", "HEAD~1"), ("after", "HEAD")] {
        let tree = scratch.join(format!("recipe-{name}"));
        git(&["worktree", "add", "--quiet", "--detach", &tree.to_string_lossy(), revision], &repository);
        let output = outcrop().args(["render"]).current_dir(&tree).output();
        let text = scratch.join(format!("recipe-{name}.yaml"));
        std::fs::write(&text, output.expect("outcrop starts").stdout).expect("the scratch directory is ours");
        rendered.push(text);
    }
    let differ = Command::new("diff").arg("-u").args(&rendered).stdout(Stdio::null()).status();
    assert!(differ.expect("diff is installed").code().is_some_and(|code| code < 2), "diff failed");
    let theirs = start.elapsed();
    let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
    let mark = if ratio >= 20.0 { "ok" } else { "TOO CLOSE" };
    say(&format!(
        "  recipe / outcrop diff: {:.0} ms / {:.1} ms = {ratio:.0} (at least 20) {mark}",
        theirs.as_secs_f64() * 1e3,
        ours.as_secs_f64() * 1e3
    ));
}

/// Two edited lines that reach 37 resources.
fn economy(scratch: &Path) {
    let repository = make_repository(&scratch.join("economy"), &[("reached", 37)], Edit::TwoLines);
    let output = outcrop().args(["diff", "HEAD~1", "HEAD"]).current_dir(&repository).output().expect("outcrop starts");
    let lines = String::from_utf8_lossy(&output.stdout).lines().count();
    let mark = if lines <= 20 { "ok" } else { "TOO LONG" };
    say(&format!("Two edited lines that reach 37 resources print {lines} lines (at most 20) {mark}"));
}

fn read_all(repository: &Path) -> Duration {
    let snapshot = open(repository);
    let limits = unlimited();
    let start = Instant::now();
    let (mut entries, _) = files_below(&snapshot, &Scope::everything(), &limits.limits, &limits.spent);
    snapshot.sort_for_reading(&mut entries);
    let bytes: usize = entries.iter().map(|entry| snapshot.read(entry).expect("a blob").len()).sum();
    assert!(bytes > 0);
    start.elapsed()
}

fn open(repository: &Path) -> GitSnapshot {
    let repository = Repository::open(repository).expect("a repository");
    let head = repository.resolve("HEAD").expect("a commit");
    repository.snapshot(&Revision::Tree(head), &unlimited()).expect("its files")
}

fn unlimited() -> Budget {
    let limits = Limits { run_bytes: u64::MAX, entries: u64::MAX, ..Limits::default() };
    Budget { limits, ..Budget::default() }
}

fn run(arguments: &[&str], repository: &Path) {
    timed(outcrop().args(arguments), repository);
}

fn timed(command: &mut Command, directory: &Path) -> Duration {
    command.current_dir(directory).stdin(Stdio::null()).stdout(Stdio::null());
    let start = Instant::now();
    let status = command.status().expect("the contender starts");
    assert!(status.code().is_some_and(|code| code < 2), "{command:?} failed");
    start.elapsed()
}

/// The median wall time of each, run in turns; the first round warms the caches.
fn race<const N: usize>(contenders: [(&[&str], &Path); N]) -> [Duration; N] {
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::new());
    for round in 0..=ROUNDS {
        for ((arguments, directory), times) in contenders.iter().zip(&mut times) {
            let elapsed = timed(outcrop().args(*arguments), directory);
            if round > 0 {
                times.push(elapsed);
            }
        }
    }
    times.map(median)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn verdict(what: &str, ours: Duration, theirs: Duration, allowed: f64) {
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    let mark = if ratio <= allowed { "ok" } else { "TOO SLOW" };
    let (ours, theirs) = (ours.as_secs_f64() * 1e3, theirs.as_secs_f64() * 1e3);
    say(&format!("  {what}: {ours:.1} ms / {theirs:.1} ms = {ratio:.2} (allowed {allowed}) {mark}"));
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("standard output is open");
}

/// What the second commit edits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edit {
    /// One line of the first group's layer.
    Layer,
    /// Two lines of it.
    TwoLines,
    /// One resource.
    Resource,
}

fn git(arguments: &[&str], repository: &Path) {
    let status = Command::new("git").args(arguments).current_dir(repository).stdout(Stdio::null()).status();
    assert!(status.expect("git is installed").success(), "git {arguments:?} failed");
}

/// Groups of resources, each below a layer of its own, in two commits.
fn make_repository(path: &Path, groups: &[(&str, usize)], edit: Edit) -> PathBuf {
    std::fs::create_dir_all(path).expect("the scratch directory is ours");
    git(&["-c", "init.defaultBranch=main", "init", "--quiet", "--bare"], path);
    let mut import = Command::new("git")
        .args(["fast-import", "--quiet"])
        .current_dir(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("git is installed");
    let mut stream = std::io::BufWriter::new(import.stdin.take().expect("standard input is piped"));
    let mut commit = |message: &str, changes: &str| {
        let identity = "committer bench <bench@example.invalid> 1700000000 +0000";
        write!(stream, "commit refs/heads/main\n{identity}\ndata {}\n{message}\n{changes}\n", message.len())
            .expect("git reads");
    };
    let mut first = String::new();
    for (name, count) in groups {
        first.push_str(&layer(name, "v1", "60"));
        (0..*count).for_each(|at| first.push_str(&resource(name, at, 1)));
    }
    commit("before", &first);
    let name = groups[0].0;
    let second = match edit {
        Edit::Layer => layer(name, "v2", "60"),
        Edit::TwoLines => layer(name, "v2", "90"),
        Edit::Resource => resource(name, groups[0].1 / 2, 2),
    };
    commit("after", &second);
    drop(stream);
    assert!(import.wait().expect("git was started").success(), "git fast-import failed");
    git(&["repack", "--quiet", "-a", "-d"], path);
    path.to_owned()
}

fn layer(group: &str, version: &str, timeout: &str) -> String {
    let text = format!(
        "resourceInfo:\n  idFromAttribute: id\noperationInfo:\n  updateResource:\n    path: \"/{version}/{group}/{{{{.id}}}}\"\n    \
         httpHeaders:\n      - {{name: X-Timeout, value: \"{timeout}\"}}\n"
    );
    format!("M 644 inline {group}/_/metadata.yaml\ndata {}\n{text}\n", text.len())
}

/// Collections of a hundred, so that directories are of a usual size.
fn resource(group: &str, at: usize, plan: usize) -> String {
    let mut text = format!("id: {at}\nname: item-{at}\nplan: {plan}\nlimits:\n  rate: {}\n", at % 7);
    for field in 0..8 {
        writeln!(text, "field{field}: value-{at}-{field}").expect("a String takes it");
    }
    format!("M 644 inline {group}/{}/{at}/resource.yaml\ndata {}\n{text}\n", at / 100, text.len())
}
