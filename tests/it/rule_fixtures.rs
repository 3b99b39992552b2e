//! Every rule has a change that it reports and one that it does not: `fixtures/rules/<id>/{fires,silent}/{before,after}`.
//!
//! A case is checked with `outcrop check HEAD~1 HEAD`, or with the command in its file `command`. The files of `fixtures/rules/<area>/base`
//! are part of both sides of every case of that area, unless a case has a file of the same name.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use outcrop::finding::RULES;

use crate::program::{self, outcrop, run};
use crate::repo::TestRepo;

/// Rules that no change of plain files can break, and why.
const WITHOUT: [(&str, &str); 10] = [
    ("merge/merge-forbidden", "reported by `outcrop expand` for a mark that only some profiles have"),
    ("merge/not-restorable", "reported by `outcrop restore` alone"),
    ("metadata/clears", "reported by `outcrop metadata set` alone"),
    ("metadata/not-found", "reported by `outcrop metadata` alone"),
    ("metadata/path", "reported by `outcrop metadata` alone: no file has such a path"),
    ("patch/test-failed", "reported by `outcrop patch` alone: patch files have no `test`"),
    ("source/conflict", "needs an index with a conflict"),
    ("source/missing-object", "needs a partial clone"),
    ("source/unreadable", "needs a damaged object"),
    ("source/unsafe-name", "needs a tree that git does not write"),
];

/// The folder of a rule.
pub(crate) fn folder(rule: &str) -> PathBuf {
    program::project().join("fixtures/rules").join(rule)
}

/// The folder with the files that all cases of a rule's area share, which need not be there.
pub(crate) fn base(rule: &str) -> PathBuf {
    folder(rule.split('/').next().unwrap_or_default()).join("base")
}

/// Whether a rule has no fixtures, for a reason.
pub(crate) fn is_without(rule: &str) -> bool {
    WITHOUT.iter().any(|(id, _)| *id == rule)
}

#[test]
fn every_rule_fires_and_stays_silent() {
    let waiting: Mutex<Vec<&str>> = Mutex::new(RULES.iter().map(|rule| rule.id).filter(|id| !is_without(id)).collect());
    let problems: Mutex<Vec<String>> = Mutex::default();
    let work = || {
        loop {
            let Some(rule) = waiting.lock().unwrap().pop() else { return };
            let found = [("fires", true), ("silent", false)].map(|(case, fires)| judge(rule, case, fires));
            problems.lock().unwrap().extend(found.into_iter().flatten());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(work);
        }
    });
    let mut problems = problems.into_inner().unwrap();
    problems.sort();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_folder_belongs_to_a_rule() {
    let known: BTreeSet<PathBuf> = RULES.iter().flat_map(|rule| [folder(rule.id), base(rule.id)]).collect();
    let areas = fs::read_dir(folder("")).expect("the folder is there").map(|area| area.unwrap().path());
    let folders = areas.flat_map(|area| fs::read_dir(area).unwrap().map(|rule| rule.unwrap().path()));
    let unknown: Vec<PathBuf> = folders.filter(|folder| !known.contains(folder)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(WITHOUT.iter().all(|(id, _)| !folder(id).exists()));
}

/// What is wrong with a case.
fn judge(rule: &str, case: &str, fires: bool) -> Option<String> {
    let folder = folder(rule).join(case);
    if !folder.join("after").is_dir() {
        return Some(format!("{rule} has no fixture {case}/after"));
    }
    let repo = TestRepo::new();
    copy(&base(rule), repo.root());
    copy(&folder.join("before"), repo.root());
    repo.commit_all("before");
    repo.clear();
    copy(&base(rule), repo.root());
    copy(&folder.join("after"), repo.root());
    repo.commit_all("after");
    let command = fs::read_to_string(folder.join("command")).unwrap_or("check HEAD~1 HEAD --format json".to_owned());
    let arguments: Vec<&str> = command.split_whitespace().collect();
    let ran = run(&mut outcrop(&repo, &arguments));
    let said = if command.contains("--format json") { format!("\"rule\":\"{rule}\"") } else { rule.to_owned() };
    let has_fired = ran.stdout.contains(&said) || ran.stderr.contains(&said);
    (has_fired != fires).then(|| {
        let rules: BTreeSet<&str> =
            ran.stdout.split("\"rule\":\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        format!("{rule} {case}: has fired: {has_fired} (exit {}, {rules:?}) {}", ran.code, ran.stderr.trim())
    })
}

/// Copies files and links.
fn copy(from: &Path, to: &Path) {
    let Ok(members) = fs::read_dir(from) else { return };
    for member in members.map(|member| member.expect("it can be listed")) {
        let target = to.join(member.file_name());
        let kind = member.file_type().expect("it has a type");
        if kind.is_dir() {
            fs::create_dir_all(&target).expect("directories can be made");
            copy(&member.path(), &target);
        } else if kind.is_symlink() {
            let link = fs::read_link(member.path()).expect("it is a link");
            std::os::unix::fs::symlink(link, &target).expect("links can be made");
        } else {
            fs::copy(member.path(), &target).expect("files can be copied");
        }
    }
}
