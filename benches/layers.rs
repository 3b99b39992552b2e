//! All metadata of a large repository against reading the same blobs, as ratios of one run: `cargo bench --bench layers`.
//!
//! `OUTCROP_BENCH_RESOURCES` sets the number of resources (50,000 by default) under 200 collections, 5 layers deep. Once every
//! resource has a layer of its own, so that nothing can be shared; once none has, as in most repositories.

#![allow(clippy::disallowed_methods, reason = "measuring needs the machine")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use outcrop::limits::{Budget, Limits};
use outcrop::metadata::{Layers, resolve};
use outcrop::path::{LogicalPath, RepoPath};
use outcrop::shell::git::{GitSnapshot, Repository, Revision};
use outcrop::snapshot::{Entry, Scope, Snapshot, files_below};
use outcrop::text::Sources;

const ROUNDS: usize = 9;
const COLLECTIONS: usize = 200;

fn main() {
    let resources: usize =
        std::env::var("OUTCROP_BENCH_RESOURCES").ok().and_then(|text| text.parse().ok()).unwrap_or(50_000);
    let scratch = std::env::temp_dir().join(format!("outcrop-bench-layers-{}", std::process::id()));
    for (name, own_layers) in [("every resource has its own layer", true), ("no resource has its own layer", false)] {
        let repository = make_repository(&scratch.join(own_layers.to_string()), resources, own_layers);
        let (mut ours, mut reading, mut layers) = (Vec::new(), Vec::new(), 0);
        for round in 0..=ROUNDS {
            let (resolved, count) = resolve_all(&repository, resources);
            let (read, blobs) = read_all(&repository, own_layers);
            layers = count;
            // The first round warms the caches.
            if round > 0 {
                ours.push(resolved);
                reading.push(read);
            }
            assert!(blobs >= COLLECTIONS, "the layers are where they should be");
        }
        say(&format!("{resources} resources, {COLLECTIONS} collections, {name}: {layers} layers applied in all"));
        verdict("resolve all / read the same blobs", median(ours), median(reading), 3.0);
    }
    std::fs::remove_dir_all(&scratch).expect("the scratch directory is ours");
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

/// Every resource's metadata, from nothing.
fn resolve_all(repository: &Path, resources: usize) -> (Duration, usize) {
    let start = Instant::now();
    let snapshot = open(repository);
    let (sources, limits) = (Sources::default(), Limits::default());
    let layers = Layers::new(&snapshot, RepoPath::root(), &sources, &limits);
    let mut applied = 0;
    let mut paths: Vec<String> = (0..resources).map(|at| format!("/{}", directory_of(at))).collect();
    paths.sort_unstable();
    for path in paths {
        let path = LogicalPath::parse(&path).expect("a logical path");
        let outcome = resolve(&path, &layers);
        assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
        applied += outcome.value.layers().len();
    }
    (start.elapsed(), applied)
}

/// Every metadata file and, where they have none, every resource, found by walking the trees and read one by one.
fn read_all(repository: &Path, only_metadata: bool) -> (Duration, usize) {
    let start = Instant::now();
    let snapshot = open(repository);
    let budget = unlimited();
    let (mut entries, _) = files_below(&snapshot, &Scope::everything(), &budget.limits, &budget.spent);
    let is_metadata = |entry: &Entry| entry.path.file_name() == b"metadata.yaml";
    entries.retain(|entry| !only_metadata || is_metadata(entry));
    snapshot.sort_for_reading(&mut entries);
    let bytes: usize = entries.iter().map(|entry| snapshot.read(entry).expect("a blob").len()).sum();
    assert!(bytes > 0, "something was read");
    (start.elapsed(), entries.len())
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

/// The directory of a resource: two realms deep, then its collection.
fn directory_of(at: usize) -> String {
    let collection = at % COLLECTIONS;
    format!("realms/r{}/c{collection}/item-{at}", collection % 20)
}

fn make_repository(path: &Path, resources: usize, own_layers: bool) -> PathBuf {
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
    let identity = "committer bench <bench@example.invalid> 1700000000 +0000";
    write!(stream, "commit refs/heads/main\n{identity}\ndata 3\nall\n").expect("git reads");
    let mut file = |path: &str, text: &str| {
        write!(stream, "M 644 inline {path}\ndata {}\n{text}\n", text.len()).expect("git reads");
    };
    let layer = |of: &str| {
        format!(
            "# applies to {of}\nresourceInfo:\n  idFromAttribute: id\n  aliasFromAttribute: name\noperationInfo:\n  getResource:\n    \
             path: /api/{of}/{{{{.id}}}}\n    httpHeaders:\n    - name: X-Layer\n      value: {of}\n    query:\n      from: {of}\n"
        )
    };
    file("_/metadata.yaml", &layer("all"));
    file("realms/_/metadata.yaml", &layer("realms"));
    file("realms/_/_/_/metadata.yaml", &layer("collections"));
    for collection in 0..COLLECTIONS {
        file(&format!("realms/r{}/c{collection}/_/metadata.yaml", collection % 20), &layer(&format!("c{collection}")));
    }
    for at in 0..resources {
        let directory = directory_of(at);
        file(&format!("{directory}/resource.yaml"), &format!("id: {at}\nname: item-{at}\nsize: 3\n"));
        if own_layers {
            file(
                &format!("{directory}/metadata.yaml"),
                &format!("operationInfo:\n  getResource:\n    query:\n      item: i{at}\n"),
            );
        }
    }
    drop(stream);
    assert!(import.wait().expect("git was started").success(), "git fast-import failed");
    git(&["gc", "--quiet"]);
    path.to_owned()
}
