//! No command prints a secret, in any format, wherever the secret is: placements × commands × formats, nothing found.
//!
//! `cargo test` runs every placement with a part of the calls, another part for each placement. `OUTCROP_CANARY=all` runs all of them,
//! `OUTCROP_CANARY=NAME` those of the placements whose names contain it, such as `given/`, or of the command that is called so.

mod calls;
mod placements;
mod search;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use calls::Call;
use placements::Placement;
use search::Search;

use crate::program::Ran;
use crate::repo::TestRepo;

/// Of so many calls one is made by default.
const SAMPLE: usize = 8;
/// Threads that run placements.
const THREADS: usize = 2;

/// Which calls are made.
enum Wanted {
    Sample,
    All,
    Named(String),
}

impl Wanted {
    fn read() -> Self {
        match std::env::var("OUTCROP_CANARY") {
            Err(_) => Self::Sample,
            Ok(word) if word == "all" => Self::All,
            Ok(word) => Self::Named(word),
        }
    }

    /// Whether a word means other placements, by their names.
    fn skips(&self, placement: &Placement) -> bool {
        matches!(self, Self::Named(word) if word.contains('/') && !placement.name.contains(word))
    }
}

#[test]
fn no_placement_of_a_secret_is_printed_by_any_command_in_any_format() {
    let (placements, wanted, search) = (placements::all(), Wanted::read(), Search::new());
    let (next, made) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let leaks: Mutex<Vec<String>> = Mutex::default();
    let work = || {
        while let Some((at, placement)) = next_of(&placements, &next) {
            if wanted.skips(placement) {
                continue;
            }
            let is_wanted = |number: usize, call: &Call| match &wanted {
                Wanted::Sample => (number + at).is_multiple_of(SAMPLE),
                Wanted::All => true,
                Wanted::Named(name) => placement.name.contains(name) || call.command == name,
            };
            let (count, found) = attempt(placement, &search, is_wanted);
            made.fetch_add(count, Ordering::Relaxed);
            leaks.lock().unwrap().extend(found);
        }
    };
    thread::scope(|scope| (0..THREADS).for_each(|_| drop(scope.spawn(work))));
    let leaks = leaks.into_inner().unwrap();
    let leaking: BTreeSet<&str> = leaks.iter().filter_map(|leak| leak.split(": ").next()).collect();
    eprintln!("{} placements, {} calls", placements.len(), made.into_inner());
    assert!(leaks.is_empty(), "{} leaks of {} placements\n{}", leaks.len(), leaking.len(), leaks.join("\n"));
}

fn next_of<'p>(placements: &'p [Placement], next: &AtomicUsize) -> Option<(usize, &'p Placement)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    Some((at, placements.get(at)?))
}

/// Makes the wanted calls about a placement: how many there were, and what is wrong.
fn attempt(placement: &Placement, search: &Search, is_wanted: impl Fn(usize, &Call) -> bool) -> (usize, Vec<String>) {
    let (repo, commits) = repository(placement);
    let mut wrong = Vec::new();
    let (mut count, mut made) = (0, 0);
    let mut make = |calls: Vec<Call>| {
        for call in calls {
            count += 1;
            // What roots put into Secrets is not known where they are not built.
            let is_unknown = placement.is_about_units() && call.leaves_units_out();
            if is_wanted(count, &call) && !is_unknown {
                made += 1;
                wrong.extend(judge(placement, &call, &run(&call, &repo), search));
            }
        }
    };
    make(calls::all(placement, &repo));
    make(vec![calls::push(&commits[0], &commits[1])]);
    repo.git(&["reset", "-q", "--soft", "HEAD~1"]);
    make(calls::staged());
    make(calls::writing(placement));
    for file in ["summary", "output"] {
        let text = fs::read(repo.beside(file)).unwrap_or_default();
        let leak = search.find(&String::from_utf8_lossy(&text));
        wrong.extend(leak.map(|around| format!("{}: the {file} of ci github: …{around}…", placement.name)));
    }
    let mut kept = Vec::new();
    read_all(&repo.root().join(".git/outcrop"), &mut kept);
    // What was asked for is remembered, also the names of files that are not there.
    let is_name_of_file = placement.name.contains("/include-path-");
    if let Some(around) = search.find(&String::from_utf8_lossy(&kept)).filter(|_| !is_name_of_file) {
        wrong.push(format!("{}: the cache: …{around}…", placement.name));
    }
    wrong.extend(missing(placement, &repo));
    (made, wrong)
}

/// The plain values that are not shown.
fn missing(placement: &Placement, repo: &TestRepo) -> Vec<String> {
    if placement.visible.is_empty() {
        return Vec::new();
    }
    repo.git(&["commit", "-q", "--allow-empty", "-m", "again"]);
    let shown = [&["diff", "--format", "json", "HEAD~1", "HEAD"][..], &["diff", "--all-files", "HEAD~1", "HEAD"]]
        .map(|arguments| crate::program::run(&mut crate::program::outcrop(repo, arguments)).stdout)
        .concat();
    let is_missing = |text: &&String| !shown.contains(text.as_str());
    placement.visible.iter().filter(is_missing).map(|text| format!("{}: {text} is hidden", placement.name)).collect()
}

fn run(call: &Call, repo: &TestRepo) -> Ran {
    crate::program::run_with_input(&mut call.command(repo), call.input().unwrap_or_default())
}

fn judge(placement: &Placement, call: &Call, ran: &Ran, search: &Search) -> Option<String> {
    let printed = [ran.stdout.as_str(), &ran.stderr].join("\n");
    if printed.contains("outcrop crashed") {
        return Some(format!("{}: {} crashed", placement.name, call.line()));
    }
    let around = search.find(&printed)?;
    Some(format!("{}: {}: …{around}…", placement.name, call.line()))
}

/// A repository whose last commit is the placement, with copies of both sides beside it.
fn repository(placement: &Placement) -> (TestRepo, [String; 2]) {
    let repo = TestRepo::new();
    for name in ["old", "new", "outside"] {
        fs::create_dir(repo.beside(name)).unwrap();
    }
    let spec = "- op: add\n  path: /outcrop\n  value: 1\n- op: copy\n  from: ''\n  path: /outcrop\n";
    fs::write(repo.beside("outside/spec.yaml"), spec).unwrap();
    let wrong = "- operations: [{op: add, path: '/a', value: '${resource}'}, {op: add, path: '/b', value: '${string(resource)}'}]\n";
    fs::write(repo.beside("outside/wrong.yaml"), wrong).unwrap();
    let commits = [("old", 0), ("new", 1)].map(|(name, side)| {
        repo.clear();
        for (path, content) in &placement.sides[side] {
            repo.write(path, content);
            let copy = repo.beside(name).join(path);
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::write(copy, content).unwrap();
        }
        repo.commit_all(name)
    });
    add_parts(placement, &repo);
    (repo, commits)
}

/// The branch whose tree holds both sides of a placement, below `old` and `new`.
const PARTS: &str = "parts";

fn add_parts(placement: &Placement, repo: &TestRepo) {
    repo.git(&["checkout", "-q", "-b", PARTS]);
    repo.clear();
    for (name, side) in [("new", 1), ("old", 0)] {
        for (path, content) in &placement.sides[side] {
            repo.write(format!("{name}/{path}"), content);
            // The configuration of a repository is at its root.
            if path == "outcrop.yaml" {
                repo.write(path, content);
            }
        }
    }
    repo.commit_all(PARTS);
    repo.git(&["checkout", "-q", "-"]);
}

fn read_all(folder: &Path, bytes: &mut Vec<u8>) {
    for member in fs::read_dir(folder).into_iter().flatten().flatten() {
        match member.path() {
            path if path.is_dir() => read_all(&path, bytes),
            path => bytes.extend(fs::read(path).unwrap_or_default()),
        }
    }
}

/// Commands that read no configuration of the repository, or whose answer is the file itself, with the reason.
const EXEMPT: [(&str, &str); 6] = [
    ("rules", "prints the table of rules"),
    ("schema", "prints a schema of this program"),
    ("completions", "prints a script made of the command line"),
    ("man", "prints the manual"),
    ("install", "writes settings of git, and reads no configuration"),
    ("restore", "its output is the file that its user edits, to be saved in place of it"),
];

#[test]
fn every_command_and_every_format_is_called() {
    let placement = &placements::all()[0];
    let (repo, commits) = repository(placement);
    let mut calls = calls::all(placement, &repo);
    calls.extend(calls::staged());
    calls.extend(calls::writing(placement));
    calls.push(calls::push(&commits[0], &commits[1]));
    let mut called: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for call in &calls {
        called.entry(call.command).or_default().extend(call.format);
    }
    let mut missing = Vec::new();
    each_command(&outcrop::shell::definition(), "", &mut |name, formats| {
        if EXEMPT.iter().any(|(exempt, _)| *exempt == name) {
            return;
        }
        match called.get(name) {
            None => missing.push(name.to_owned()),
            Some(known) => {
                let unknown = formats.iter().filter(|format| !known.contains(format.as_str()));
                missing.extend(unknown.map(|format| format!("{name} --format {format}")));
            }
        }
    });
    assert_eq!(missing, Vec::<String>::new(), "add them to tests/it/canary/calls.rs");
}

/// Calls a function with the name of every command that does something, and its formats.
fn each_command(command: &clap::Command, name: &str, visit: &mut dyn FnMut(&str, &[String])) {
    if command.get_subcommands().next().is_none() {
        let formats =
            command.get_arguments().filter(|argument| argument.get_id() == "format" || argument.get_id() == "output");
        let values = formats.flat_map(clap::Arg::get_possible_values).map(|value| value.get_name().to_owned());
        visit(name, &values.collect::<Vec<_>>());
    }
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        let path = if name.is_empty() { below.get_name().to_owned() } else { format!("{name} {}", below.get_name()) };
        each_command(below, &path, visit);
    }
}
