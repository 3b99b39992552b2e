//! Merge directives at scale, as ratios of one run: `cargo bench --bench directives`.
//!
//! A chain of directives must cost in proportion to its length, and many documents that include one file must read it once.

#![allow(clippy::disallowed_methods, reason = "measuring needs the machine")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use outcrop::directive::{self, Context, Includes, MergeProfile};
use outcrop::document::{self, Document, Format};
use outcrop::limits::Limits;
use outcrop::path::RepoPath;
use outcrop::snapshot::{MemorySnapshot, Snapshot as _};
use outcrop::text::{SourceText, Sources};

const ROUNDS: usize = 11;

fn main() {
    let chain = |links: usize| {
        let mut text = "l0: {x: 1, y: {z: 2}}\n".to_owned();
        for link in 1..=links {
            write!(text, "l{link}:\n  +/l{}:\n  y: {{own: {link}}}\n", link - 1).expect("a String takes it");
        }
        text
    };
    let short = median(|| expand_all(&[chain(500)], ""));
    let long = median(|| expand_all(&[chain(1000)], ""));
    // Each link takes all of the link before it, and says one thing of its own.
    report("chain of 1,000 directives / 500", long, short, 2.5);

    let common: String = (0..2000).map(|line| format!("key{line}: value {line}\n")).collect();
    let documents = |count: usize| -> Vec<String> {
        (0..count).map(|at| format!("+include: common.yaml\nname: doc-{at}\n")).collect()
    };
    let few = median(|| expand_all(&documents(500), &common));
    let many = median(|| expand_all(&documents(1000), &common));
    report("1,000 documents that include 2,000 lines / 500", many, few, 2.5);
}

/// Parses and expands every document in a snapshot that holds the common file.
fn expand_all(texts: &[String], common: &str) {
    let path = |name: &str| RepoPath::new(name).expect("a plain name");
    let snapshot = MemorySnapshot::new("bench").with(path("common.yaml"), common.as_bytes());
    let limits = Limits { run_nodes: u64::MAX, ..Limits::default() };
    let (sources, includes) = (Sources::default(), Includes::default());
    let context = Context {
        snapshot: &snapshot,
        includes: &includes,
        sources: &sources,
        limits: &limits,
        profile: MergeProfile::default(),
        unfurl: true,
        is_unfurl: false,
        remotes: &[],
    };
    let file = path("main.yaml");
    for text in texts {
        let source = sources.add(SourceText::new(file.clone(), snapshot.label(), text.as_str()));
        let parsed = document::parse(text, source, Format::Yaml, &limits);
        let documents: Vec<Document> = parsed.value;
        let outcome = directive::expand(&documents[0], &file, &context);
        assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
    }
}

fn median(work: impl Fn()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}

fn report(what: &str, more: Duration, less: Duration, allowed: f64) {
    let ratio = more.as_secs_f64() / less.as_secs_f64();
    let mark = if ratio <= allowed { "ok" } else { "TOO SLOW" };
    let (more, less) = (more.as_secs_f64() * 1e3, less.as_secs_f64() * 1e3);
    writeln!(std::io::stdout(), "{what}: {more:.1} ms / {less:.1} ms = {ratio:.2} (allowed {allowed}) {mark}")
        .expect("standard output is open");
}
