//! Every kustomization of a repository, built in one run and compared with `kubectl kustomize`: `cargo bench --bench kustomize -- CHECKOUT`.
//!
//! The checkout must be clean: HEAD is read from the object database here, and kubectl reads the files. What kubectl prints, its exit
//! code and its CPU time are kept in the folder that `OUTCROP_BENCH_BUILDS` names, and used again from there. Roots that kubectl cannot
//! build (without network, charts and plugins) count as unsupported, and are only built for the time.

#![allow(clippy::disallowed_methods, reason = "measuring needs the machine")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

use outcrop::document::{self, Format};
use outcrop::layout::kustomize::{Built, Cache, KUSTOMIZATION_FILES, build};
use outcrop::limits::{Budget, Limits};
use outcrop::path::RepoPath;
use outcrop::settings::{Given, Settings};
use outcrop::shell::git::{Repository, Revision};
use outcrop::snapshot::{Scope, Snapshot, files_below};
use outcrop::text::{SourceText, Sources};
use outcrop::value::Node;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let Some(checkout) = arguments.next_back().map(PathBuf::from) else {
        say("usage: cargo bench --bench kustomize -- CHECKOUT");
        return ExitCode::SUCCESS;
    };
    let limits = Limits { run_bytes: u64::MAX, entries: u64::MAX, ..Limits::default() };
    let budget = Budget { limits: limits.clone(), ..Budget::default() };
    let repository = Repository::open(&checkout).expect("a repository");
    let head = repository.resolve("HEAD").expect("a commit");
    let snapshot = repository.snapshot(&Revision::Tree(head), &budget).expect("its files");
    let before = cpu_seconds(Whose::Own);
    let (sources, settings) = (Arc::new(Sources::default()), Settings::default());
    let given = Given { snapshot: &snapshot, settings: &settings, sources: &sources, limits: &limits };
    let cache = Cache::default();
    let roots = roots(&snapshot, &budget);
    let built: Vec<(RepoPath, Built)> =
        roots.into_iter().map(|root| (root.clone(), build(&root, given, &cache))).collect();
    let ours = cpu_seconds(Whose::Own) - before;
    say(&format!("{} kustomizations built in one run: {ours:.2} CPU s, {} MB at most", built.len(), peak_megabytes()));
    compare(&built, &checkout, ours)
}

/// The directories of kustomizations that are no components.
fn roots(snapshot: &dyn Snapshot, budget: &Budget) -> Vec<RepoPath> {
    let (entries, _) = files_below(snapshot, &Scope::everything(), &budget.limits, &budget.spent);
    let is_kustomization = |path: &RepoPath| KUSTOMIZATION_FILES.iter().any(|name| path.file_name() == name.as_bytes());
    let is_component = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.lines().any(|line| line.strip_prefix("kind:").is_some_and(|kind| kind.trim() == "Component"))
    };
    let files = entries.iter().filter(|entry| is_kustomization(&entry.path));
    let files = files.filter(|entry| snapshot.read(entry).is_ok_and(|bytes| !is_component(&bytes)));
    files.map(|entry| entry.path.parent().unwrap_or_else(RepoPath::root)).collect()
}

fn compare(built: &[(RepoPath, Built)], checkout: &Path, ours: f64) -> ExitCode {
    let kept = std::env::var_os("OUTCROP_BENCH_BUILDS").map(PathBuf::from);
    let (mut agree, mut differ, mut unsupported, mut failed_by_both) = (0, 0, 0, 0);
    let mut theirs = 0.0;
    for (root, built) in built {
        let (code, seconds, printed) = kubectl(root, checkout, kept.as_deref());
        theirs += seconds;
        match (code == 0, built.is_failed) {
            (true, false) => match first_difference(built, &printed) {
                None => agree += 1,
                Some(difference) => {
                    differ += 1;
                    say(&format!("differs: {root}: {difference}"));
                }
            },
            (true, true) => {
                differ += 1;
                let reason = built.findings.last().map_or("", |finding| finding.message.as_str());
                say(&format!("fails here only: {root}: {reason}"));
            }
            (false, true) => failed_by_both += 1,
            (false, false) if built.leaves.is_empty() => {
                differ += 1;
                say(&format!("fails there only: {root}"));
            }
            (false, false) => unsupported += 1,
        }
    }
    say(&format!(
        "{agree} agree, {differ} differ, {failed_by_both} fail in both, {unsupported} need what is not in the repository"
    ));
    say(&format!("kubectl kustomize: {theirs:.1} CPU s, {:.0} times as much", theirs / ours.max(0.001)));
    if differ == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn first_difference(built: &Built, printed: &str) -> Option<String> {
    let source = Sources::default().add(SourceText::new(RepoPath::root(), "kubectl", printed));
    let parsed = document::parse(printed, source, Format::Yaml, &Limits::default());
    let mut expected: Vec<Node> = parsed.value.into_iter().map(|document| document.root).collect();
    let named = |node: &Node| {
        let name = node.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Node::as_str);
        format!("{} {}", node.get("kind").and_then(Node::as_str).unwrap_or("?"), name.unwrap_or("?"))
    };
    for resource in &built.resources {
        match expected.iter().position(|node| node.is_equal(&resource.node)) {
            Some(at) => drop(expected.swap_remove(at)),
            None => return Some(named(&resource.node)),
        }
    }
    expected.first().map(|missing| format!("{} is missing", named(missing)))
}

/// The exit code, the CPU time and the output of kubectl.
fn kubectl(root: &RepoPath, checkout: &Path, kept: Option<&Path>) -> (i32, f64, String) {
    let name = if root.is_root() { ".".to_owned() } else { root.to_string() };
    let files = kept.map(|kept| kept.join(name.replace('/', "__")));
    let extended = |file: &Path, extension: &str| PathBuf::from(format!("{}.{extension}", file.display()));
    if let Some(file) = &files
        && let Ok(status) = fs::read_to_string(extended(file, "status"))
        && let Some((code, seconds)) = status.trim().split_once(' ')
    {
        let printed = fs::read_to_string(extended(file, "yaml")).unwrap_or_default();
        return (code.parse().unwrap_or(1), seconds.parse().unwrap_or(0.0), printed);
    }
    let before = cpu_seconds(Whose::Children);
    let mut command = Command::new("kubectl");
    command.args(["kustomize", "--load-restrictor", "LoadRestrictionsNone", &name]).current_dir(checkout);
    // Nothing is fetched: a proxy that does not exist, and no protocol that git may use.
    command.env("HTTPS_PROXY", "http://127.0.0.1:1").env("HTTP_PROXY", "http://127.0.0.1:1");
    command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "protocol.allow").env("GIT_CONFIG_VALUE_0", "never");
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().expect("kubectl is installed");
    let seconds = cpu_seconds(Whose::Children) - before;
    let (code, printed) = (output.status.code().unwrap_or(1), String::from_utf8_lossy(&output.stdout).into_owned());
    if let Some(file) = &files {
        fs::write(extended(file, "yaml"), &printed).expect("the folder is there");
        fs::write(extended(file, "status"), format!("{code} {seconds}")).expect("the folder is there");
    }
    (code, seconds, printed)
}

#[derive(Clone, Copy)]
enum Whose {
    Own,
    Children,
}

/// CPU time, in hundredths of seconds as Linux counts it.
fn cpu_seconds(whose: Whose) -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().filter_map(|field| field.parse().ok()).collect();
    // Behind the name and the state: utime and stime are the 11th and 12th number, those of children follow.
    let first = match whose {
        Whose::Own => 10,
        Whose::Children => 12,
    };
    fields.get(first..first + 2).map_or(0.0, |times| times.iter().sum::<f64>() / 100.0)
}

fn peak_megabytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse::<u64>().ok());
    peak.unwrap_or(0) / 1024
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("standard output is open");
}
