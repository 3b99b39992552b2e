//! Two revisions of large repositories against git itself, as ratios of one run: `cargo bench --bench revisions`.
//!
//! `OUTCROP_BENCH_FILES` sets the size of the smaller repository (50,000 files by default; the larger has ten times as many).

#![allow(clippy::disallowed_methods, reason = "measuring needs the machine")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 51;
const CHANGED: usize = 20;
/// Equal files change in both repositories: one here, one there.
const STRIDE: usize = 2_500;

fn main() {
    let files: usize = std::env::var("OUTCROP_BENCH_FILES").ok().and_then(|text| text.parse().ok()).unwrap_or(50_000);
    let scratch = std::env::temp_dir().join(format!("outcrop-bench-{}", std::process::id()));
    let small = make_repository(&scratch.join("small"), files);
    let large = make_repository(&scratch.join("large"), files * 10);

    // As it is installed: what a linker writes lies scattered in the page cache, and starts more slowly than a copy of it.
    let program = scratch.join("outcrop");
    std::fs::copy(env!("CARGO_BIN_EXE_outcrop"), &program).expect("the scratch directory is ours");
    let outcrop = || Command::new(&program);
    let git = || Command::new("git");
    let pair = ["diff", "HEAD~1", "HEAD"];

    say(&format!("{CHANGED} of {files} files changed; median of {ROUNDS} alternating runs"));
    let [ours, theirs, ours_large, theirs_large] =
        race([(outcrop(), &pair, &small), (git(), &pair, &small), (outcrop(), &pair, &large), (git(), &pair, &large)]);
    verdict("outcrop diff / git diff", ours, theirs, 1.5);
    verdict(&format!("outcrop diff, {} files / {files} files", files * 10), ours_large, ours, 1.1);
    let growth = theirs_large.as_secs_f64() / theirs.as_secs_f64();
    say(&format!("  the same of git diff: {growth:.2}"));

    let [ours, theirs] = race([(outcrop(), &["diff", "--exit-code"], &small), (git(), &["diff", "--quiet"], &small)]);
    verdict("nothing changed: outcrop diff / git diff --quiet", ours, theirs, 2.0);
    let [ours, theirs] = race([
        (outcrop(), &["diff", "--staged", "--exit-code"], &small),
        (git(), &["diff", "--cached", "--quiet"], &small),
    ]);
    verdict("nothing staged: outcrop diff --staged / git diff --cached --quiet", ours, theirs, 2.0);

    let staged = make_repository(&scratch.join("staged"), RESOURCES);
    stage_an_edit(&staged);
    say(&format!("one line staged in {RESOURCES} resources"));
    let [ours, theirs] =
        race([(outcrop(), &["hook", "pre-commit"], &staged), (git(), &["diff", "--cached", "--stat"], &staged)]);
    verdict("outcrop hook pre-commit / git diff --cached --stat", ours, theirs, 3.0);

    std::fs::remove_dir_all(&scratch).expect("the scratch directory is ours");
}

/// As many resources does a repository have in which a commit is checked.
const RESOURCES: usize = 10_000;

fn stage_an_edit(repository: &Path) {
    let edited = "region-0/team-1/app-100.yaml";
    let text = std::fs::read_to_string(repository.join(edited)).expect("the file is checked out");
    std::fs::write(repository.join(edited), text.replace("replicas: 1", "replicas: 7")).expect("it can be written");
    let status = Command::new("git").args(["add", edited]).current_dir(repository).status();
    assert!(status.expect("git is installed").success(), "git add failed");
}

type Contender<'a> = (Command, &'a [&'a str], &'a PathBuf);

/// The median wall time of each, run in turns so that noise meets all alike.
fn race<const N: usize>(contenders: [Contender<'_>; N]) -> [Duration; N] {
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::new());
    let mut commands = contenders.map(|(mut command, arguments, directory)| {
        command
            .args(arguments)
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .env("GIT_PAGER", "cat");
        command
    });
    for round in 0..=ROUNDS {
        for (command, times) in commands.iter_mut().zip(&mut times) {
            let start = Instant::now();
            let status = command.status().expect("the contender starts");
            let elapsed = start.elapsed();
            assert!(status.code().is_some_and(|code| code < 2), "{command:?} failed");
            // The first round warms the caches.
            if round > 0 {
                times.push(elapsed);
            }
        }
    }
    times.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    })
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

/// Two commits through `git fast-import`, checked out, so that the working tree can be compared too.
fn make_repository(path: &Path, files: usize) -> PathBuf {
    std::fs::create_dir_all(path).expect("the scratch directory is ours");
    let git = |arguments: &[&str]| {
        let status = Command::new("git").args(arguments).current_dir(path).stdout(Stdio::null()).status();
        assert!(status.expect("git is installed").success(), "git {arguments:?} failed");
    };
    git(&["-c", "init.defaultBranch=main", "init", "--quiet"]);
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
    commit("before", &(0..files).map(|at| file(at, 1)).collect::<String>());
    commit("after", &(0..CHANGED).map(|at| file(at * STRIDE % files, 2)).collect::<String>());
    drop(stream);
    assert!(import.wait().expect("git was started").success(), "git fast-import failed");
    // As git's own maintenance leaves it.
    git(&["repack", "--quiet", "-a", "-d"]);
    git(&["reset", "--quiet", "--hard"]);
    // A racily clean index makes git and us read files; a moment later it is settled.
    std::thread::sleep(Duration::from_millis(1100));
    git(&["update-index", "--refresh"]);
    path.to_owned()
}

fn file(at: usize, replicas: usize) -> String {
    let mut text = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-{at}\n  namespace: team-{}\nspec:\n  replicas: {replicas}\n",
        at % 40
    );
    for variable in 0..12 {
        writeln!(text, "  var{variable}: value-{at}-{variable}").expect("a String takes it");
    }
    let (region, team) = (at / 10_000, at / 100 % 100);
    format!("M 644 inline region-{region}/team-{team}/app-{at}.yaml\ndata {}\n{text}\n", text.len())
}
