//! What a person sees: every `console` block of the README, the docs and `tests/cmd/` is run and compared.
//!
//! A comment `<!-- repository: examples/shop -->` names the folder whose numbered sub-folders become the commits of the repository
//! that the following blocks run in. `$ outcrop …` lines are run; what follows them is the expected output, standard error last,
//! and `[exit 2]` the expected exit code if it is not 0. `OUTCROP_BLESS=1 cargo test --test it transcripts` writes what is printed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::repo::TestRepo;

#[test]
fn transcripts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![root.join("README.md")];
    files.extend(markdown_in(&root.join("docs")));
    files.extend(markdown_in(&root.join("tests/cmd")));
    let bless = std::env::var_os("OUTCROP_BLESS").is_some();
    let mut wrong = Vec::new();
    for file in files {
        let expected = fs::read_to_string(&file).unwrap();
        let actual = replay(&expected);
        if bless {
            fs::write(&file, &actual).unwrap();
        } else if expected != actual {
            let name = file.strip_prefix(root).unwrap().display().to_string();
            wrong.push(format!("{name}:\n{}", difference(&expected, &actual)));
        }
    }
    assert!(wrong.is_empty(), "transcripts differ from what is printed:\n{}", wrong.join("\n"));
}

fn markdown_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    files
}

/// The text with every expected output replaced by the actual one.
fn replay(text: &str) -> String {
    let mut repository: Option<TestRepo> = None;
    let mut replayed = String::new();
    let mut lines = text.lines().peekable();
    let mut in_console = false;
    while let Some(line) = lines.next() {
        replayed.push_str(line);
        replayed.push('\n');
        if let Some(name) = line.strip_prefix("<!-- repository: ").and_then(|rest| rest.strip_suffix(" -->")) {
            repository = Some(TestRepo::from_folders(name));
        }
        in_console = if in_console { line != "```" } else { line == "```console" };
        if let (true, Some(command), Some(repository)) = (in_console, line.strip_prefix("$ outcrop "), &repository) {
            while lines.next_if(|line| !line.starts_with("$ ") && *line != "```").is_some() {}
            replayed.push_str(&run(repository, command));
        }
    }
    replayed
}

fn run(repository: &TestRepo, command: &str) -> String {
    let mut outcrop = repository.command(env!("CARGO_BIN_EXE_outcrop"));
    let output = outcrop.args(words(command)).env("OUTCROP_WIDTH", "80").output().unwrap();
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    text = text.replace(&repository.root().display().to_string(), "REPOSITORY");
    match output.status.code() {
        Some(0) => {}
        Some(code) => text.push_str(&format!("[exit {code}]\n")),
        None => text.push_str("[killed]\n"),
    }
    text
}

/// Words between blanks; single quotes hold a word together.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in command.split('\'').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// The first lines that differ, which is enough to see what happened.
fn difference(expected: &str, actual: &str) -> String {
    let (expected, actual): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), actual.lines().collect());
    let from = expected.iter().zip(&actual).position(|(a, b)| a != b).unwrap_or(expected.len().min(actual.len()));
    let part = |lines: &[&str], mark: &str| {
        lines.iter().skip(from).take(8).map(|line| format!("{mark} {line}\n")).collect::<String>()
    };
    format!("line {}\n{}{}", from + 1, part(&expected, "-"), part(&actual, "+"))
}
