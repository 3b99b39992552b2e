//! Whole repositories: files of the fixtures, damaged, compared, checked, and written in every format.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use outcrop::comparison::{Judged, Report};
use outcrop::path::RepoPath;
use outcrop::report::markdown::Comment;
use outcrop::report::{self, Style};
use outcrop::snapshot::MemorySnapshot;

use super::mutate::Random;
use super::{Problem, guarded};
use crate::comparing::Comparing;
use crate::program::project;

/// The files of a revision.
pub(super) type Files = Vec<(String, Vec<u8>)>;

/// Both sides of every rule's fixtures: they use every mechanism there is.
pub(super) fn cases() -> Vec<[Files; 2]> {
    let mut folders = Vec::new();
    find(&project().join("fixtures/rules"), &mut folders);
    folders.sort();
    folders.iter().map(|folder| ["before", "after"].map(|side| files_below(&folder.join(side)))).collect()
}

fn find(directory: &Path, found: &mut Vec<PathBuf>) {
    if directory.join("after").is_dir() {
        found.push(directory.to_owned());
        return;
    }
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            find(&entry.path(), found);
        }
    }
}

/// All files below a directory; none if there is none.
pub(super) fn files_below(directory: &Path) -> Files {
    let mut files = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for path in fs::read_dir(&next).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
            } else if let (Ok(name), Ok(bytes)) = (path.strip_prefix(directory), fs::read(&path)) {
                files.push((name.to_string_lossy().into_owned(), bytes));
            }
        }
    }
    files.sort();
    files
}

/// One repository with damage on one or both sides.
pub(super) fn try_one(cases: &[[Files; 2]], random: &mut Random) -> Result<(), Problem> {
    let mut sides = random.pick(cases).clone();
    let other = random.pick(cases)[1].first().map(|(_, bytes)| bytes.clone()).unwrap_or_default();
    for side in &mut sides {
        for _ in 0..=random.below(2) {
            let at = random.below(side.len());
            if let Some((_, bytes)) = side.get_mut(at) {
                random.damage(bytes, &other);
            }
        }
    }
    let files = || {
        let named = |side: &'static str, files: &Files| {
            files.iter().map(move |(path, bytes)| (format!("{side}/{path}"), bytes.clone())).collect::<Vec<_>>()
        };
        [named("before", &sides[0]), named("after", &sides[1])].concat()
    };
    try_pair(&sides).map_err(|what| Problem::new(what, files()))
}

/// Compares and checks two sides, and writes everything.
pub(super) fn try_pair(sides: &[Files; 2]) -> Result<(), String> {
    let start = Instant::now();
    let snapshot = |label: &str, files: &Files| {
        let add = |snapshot: MemorySnapshot, (path, bytes): &(String, Vec<u8>)| match RepoPath::new(path.as_str()) {
            Ok(path) => snapshot.with(path, bytes.as_slice()),
            Err(_) => snapshot,
        };
        files.iter().fold(MemorySnapshot::new(label), add)
    };
    guarded(|| {
        let comparing = Comparing::new(snapshot("before", &sides[0]), snapshot("after", &sides[1]));
        comparing.run(|comparison| {
            difference(&comparison.compare());
            verdict(&comparison.check(Judged::New));
            verdict(&comparison.check(Judged::Everything));
        });
    })?;
    // The machine may be busy, and the program is not optimised.
    if start.elapsed() > Duration::from_secs(60) { Err(format!("it takes {:?}", start.elapsed())) } else { Ok(()) }
}

fn difference(report: &Report) {
    let styles = [
        Style::default(),
        Style { width: 40, is_terminal: true, ascii: true, ..Style::default() },
        Style { verbosity: 1, in_ci: true, ..Style::default() },
    ];
    for style in &styles {
        shown(|out| report::terminal::write(report, style, out), style.in_ci);
        shown(|out| report::side_by_side::write(report, style, out), style.in_ci);
        shown(|out| report::terminal::write_stat(report, style, out), style.in_ci);
    }
    shown(|out| report::unified::write(report, &Style::default(), out), false);
    for text in
        [written(|out| report::json::write(report, out)), written(|out| report::json::write_patches(report, out))]
    {
        serde_json::from_str::<serde_json::Value>(&text).expect("the report is JSON");
    }
    written(|out| report::html::write(report, None, out));
    let markdown = written(|out| report::markdown::write(report, Comment { budget: 3000, link: None }, out));
    assert!(markdown.len() <= 3000 && !has_hidden(&markdown), "{markdown}");
    means_nothing(&markdown);
}

fn verdict(report: &Report) {
    shown(|out| report::diagnostics::write(report, &Style::default(), out), false);
    shown(|out| report::github::write(report, out), false);
    let check = written(|out| report::markdown::write_check(report, 3000, out));
    means_nothing(&check);
    for text in
        [written(|out| report::json::write(report, out)), written(|out| report::json::sarif::write(report, out))]
    {
        serde_json::from_str::<serde_json::Value>(&text).expect("the report is JSON");
    }
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory can be written to");
    String::from_utf8(out).expect("reports are text")
}

fn shown(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>, is_for_a_runner: bool) {
    let text = written(write);
    assert!(!has_hidden(&text), "{text:?}");
    let commands = |line: &str| line.trim_start().starts_with("::") || line.contains("##[");
    assert!(!is_for_a_runner || !text.lines().any(commands), "{text}");
}

/// Whether something is there that a terminal would obey or not show.
fn has_hidden(text: &str) -> bool {
    text.chars().any(|c| {
        let is_bidi = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}');
        c.is_control() && c != '\n' && c != '\t' || is_bidi
    })
}

/// Whatever comes from a repository is text: no image, and no link but our own.
fn means_nothing(markdown: &str) {
    use pulldown_cmark::{Event, Options, Parser, Tag};
    for event in Parser::new_ext(markdown, Options::all()) {
        assert!(!matches!(event, Event::Start(Tag::Image { .. })), "{markdown}");
        if let Event::Start(Tag::Link { dest_url, .. }) = event {
            assert!(dest_url.is_empty() || dest_url.starts_with("https://"), "{dest_url}");
        }
    }
}
