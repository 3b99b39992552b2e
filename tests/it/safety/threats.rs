//! The controls of `docs/threats.md` that no other test holds, and the page itself: every test that it names exists.

use std::fs;

use crate::program::{self, binary, outcrop, run};
use crate::repo::TestRepo;

/// Crates that open connections. `gix-transport` is there without any of its clients, which would bring one of these.
const NETWORK: [&str; 21] = [
    "async-std",
    "attohttpc",
    "curl",
    "curl-sys",
    "h2",
    "hyper",
    "isahc",
    "mio",
    "minreq",
    "native-tls",
    "openssl",
    "openssl-sys",
    "quinn",
    "reqwest",
    "rustls",
    "smol",
    "socket2",
    "surf",
    "tokio",
    "tungstenite",
    "ureq",
];

#[test]
fn no_network_crate_is_in_the_dependency_graph() {
    let lock = fs::read_to_string(program::project().join("Cargo.lock")).unwrap();
    let packages: Vec<&str> =
        lock.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"')).collect();
    assert!(packages.len() > 100 && packages.contains(&"gix"), "the lock file is read");
    let found: Vec<&&str> = packages.iter().filter(|name| NETWORK.contains(name)).collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn unsafe_code_is_forbidden() {
    let manifest = fs::read_to_string(program::project().join("Cargo.toml")).unwrap();
    assert!(manifest.contains("unsafe_code = \"forbid\""));
    let is_loosened = |text: &str| text.contains("relocation-model") || text.contains("no-pie");
    assert!(!is_loosened(&manifest) && !program::project().join(".cargo/config.toml").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn the_program_is_position_independent() {
    let header = fs::read(binary()).unwrap();
    assert_eq!(&header[..4], b"\x7fELF");
    let kind = u16::from_le_bytes([header[16], header[17]]);
    assert_eq!(kind, 3, "the type of the ELF file is DYN");
}

/// Every command that reads, on a repository with two commits.
const READING: [&[&str]; 14] = [
    &["diff", "HEAD~1", "HEAD"],
    &["diff", "HEAD~1", "HEAD", "--format", "html"],
    &["diff"],
    &["diff", "--staged"],
    &["check", "HEAD~1", "HEAD"],
    &["check", "HEAD", "--all"],
    &["affected", "HEAD~1", "HEAD"],
    &["render"],
    &["explain", "a.yaml"],
    &["eval", "a"],
    &["expand", "a.yaml"],
    &["metadata", "get", "/"],
    &["hook", "pre-commit"],
    &["doctor"],
];

fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\n");
    repo.commit_all("first");
    repo.write("a.yaml", "a: 2\n");
    repo.commit_all("second");
    repo.write("a.yaml", "a: 3\n");
    repo
}

#[test]
fn nothing_of_a_repository_is_executed_and_git_is_not_needed() {
    let repo = repository();
    let mark = repo.beside("executed");
    let touch = format!("touch {}", mark.display());
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.gitProxy",
        "diff.external",
        "diff.x.command",
        "diff.x.textconv",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "gpg.program",
        "pager.diff",
        "credential.helper",
        "alias.outcrop",
        "interactive.diffFilter",
        "uploadpack.packObjectsHook",
        "sequence.editor",
        "core.askPass",
        "core.alternateRefsCommand",
    ] {
        repo.git(&["config", key, &touch]);
    }
    repo.git(&["config", "core.hooksPath", "hooks"]);
    for hook in ["pre-commit", "post-index-change", "fsmonitor-watchman", "reference-transaction"] {
        repo.write(format!("hooks/{hook}"), format!("#!/bin/sh\n{touch}\n"));
    }
    repo.write(".gitattributes", "*.yaml diff=x filter=x\n");
    let empty = repo.beside("no-programs");
    fs::create_dir(&empty).unwrap();
    let _ = fs::remove_file(&mark);
    for arguments in READING {
        let ran = run(outcrop(&repo, arguments).env("PATH", &empty));
        assert!(matches!(ran.code, 0..=2), "{arguments:?}");
        assert!(!ran.stderr.contains("crashed"), "{arguments:?}: {}", ran.stderr);
        assert!(!mark.exists(), "{arguments:?} executed something");
    }
    run(outcrop(&repo, READING[0]).env("PATH", &empty)).ends_with(0).says("1 → 2");
}

#[test]
fn words_that_look_like_options_or_commands_are_only_words() {
    let repo = repository();
    for word in [
        "--output=x",
        "-x",
        "--upload-pack=touch x",
        "HEAD;touch x",
        "$(touch x)",
        "HEAD:a.yaml",
        "@{u}",
        ":/first",
        "^{/x}",
    ] {
        let ran = run(&mut outcrop(&repo, &["diff", word, "HEAD"]));
        assert!(matches!(ran.code, 0 | 2), "{word}: {ran:?}");
        let ran = run(&mut outcrop(&repo, &["render", "--at", word]));
        assert!(matches!(ran.code, 0 | 2), "{word}: {ran:?}");
    }
    assert!(!repo.root().join("x").exists());
    repo.git(&["update-ref", "refs/heads/--output=y", "HEAD~1"]);
    let ran = run(&mut outcrop(&repo, &["diff", "refs/heads/--output=y", "HEAD"]));
    assert!(ran.code == 0 && ran.stdout.contains("1 → 2"), "{ran:?}");
    assert!(!repo.root().join("y").exists());
}

#[test]
fn variables_of_the_environment_reach_no_expression() {
    let repo = TestRepo::new();
    repo.write("c/r/resource.yaml", "id: r\nv: {eval: {env: CANARY}}\nw: {eval: '$CANARY'}\n");
    repo.write(
        "c/_/metadata.yaml",
        "operationInfo:\n  updateResource:\n    path: '/x/{{env \"CANARY\"}}'\n    transforms:\n    - jqExpression: 'env.CANARY, $ENV'\n",
    );
    repo.write("_/patches.yaml", "patches:\n- operations:\n  - {op: add, path: /e, value: \"${env.CANARY}\"}\n");
    repo.commit_all("first");
    for arguments in
        [&["render"][..], &["check", "HEAD", "--all"], &["explain", "/c/r"], &["metadata", "render", "/c/r", "--all"]]
    {
        let ran = run(outcrop(&repo, arguments).env("CANARY", "canary-of-the-environment"));
        assert!(!ran.stdout.contains("canary-of-the-environment") && !ran.stderr.contains("canary-of-the-environment"));
    }
}

#[test]
fn every_test_of_the_page_of_threats_exists() {
    let page = fs::read_to_string(program::project().join("docs/threats.md")).unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| T")).collect();
    let numbers: Vec<String> = (1..=24).map(|number| format!("| T{number} |")).collect();
    for (row, number) in rows.iter().zip(&numbers) {
        assert!(row.starts_with(number.as_str()), "{number} is missing or out of order");
    }
    assert_eq!(rows.len(), numbers.len());
    let mut count = 0;
    for cited in page.split('`').skip(1).step_by(2).filter(|text| text.contains(".rs::")) {
        let (file, function) = cited.split_once("::").unwrap();
        let text = fs::read_to_string(program::project().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(text.contains(&format!("fn {function}(")), "{cited} does not exist");
        count += 1;
    }
    assert!(count > 60, "{count} tests are named");
    let without = rows.iter().filter(|row| !row.contains(".rs::") && !row.contains("not a test"));
    assert_eq!(without.count(), 0, "a row names its tests, or says why there is none");
}
