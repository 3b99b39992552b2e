//! The walls of the code base, checked: module order, homes of foreign crates, file size, purity.

use std::fs;
use std::path::{Path, PathBuf};

/// Where each foreign crate may be named. Vocabulary that any module may speak is not listed: `smol_str`, `thiserror`.
const HOMES: &[(&str, &[&str])] = &[
    ("gix", &["shell/git"]),
    ("clap", &["shell/cli.rs"]),
    ("clap_complete", &["shell/commands/completions.rs", "shell/cli.rs"]),
    ("clap_mangen", &["shell/commands/man.rs"]),
    ("granit_parser", &["document/yaml"]),
    ("miette", &["report/diagnostics"]),
    ("similar", &["diff/text", "value/align"]),
    ("serde", &["report/json", "shell/event.rs"]),
    ("serde_json", &["report/json", "shell/event.rs"]),
    ("jaq_core", &["expression/jq"]),
    ("jaq_std", &["expression/jq"]),
    ("cel", &["expression/cel"]),
    ("percent_encoding", &["percent.rs"]),
    ("regex", &["schema"]),
    ("foldhash", &["value/mix.rs"]),
    ("strsim", &["suggest.rs"]),
    ("rayon", &["parallel.rs", "pipeline", "impact", "diff", "shell/git", "document"]),
    ("signal_hook", &["shell/pager.rs"]),
    ("terminal_size", &["shell/output.rs"]),
    ("unicode_width", &["report"]),
];

#[test]
fn a_module_uses_only_modules_declared_above_it() {
    let order = declared_modules();
    for (file, text) in sources() {
        let Some(own) = order.iter().position(|module| *module == module_of(&file)) else { continue };
        for (number, line) in code_lines(&text) {
            for used in line.split("crate::").skip(1) {
                let used: String = used.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                let Some(position) = order.iter().position(|module| *module == used) else { continue };
                assert!(
                    position <= own,
                    "{}:{number}: {} may not use {used}, which is declared below it",
                    file.display(),
                    order[own]
                );
            }
        }
    }
}

#[test]
fn each_foreign_crate_has_one_home() {
    for (file, text) in sources() {
        let path = file.to_string_lossy().into_owned();
        for (krate, homes) in HOMES {
            if homes.iter().any(|home| path.starts_with(home)) {
                continue;
            }
            for (number, line) in code_lines(&text) {
                let named = line
                    .match_indices(&format!("{krate}::"))
                    .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':'));
                assert!(!named, "{path}:{number}: {krate} lives in {homes:?}");
            }
        }
    }
}

#[test]
fn only_the_shell_touches_the_machine() {
    let machine = [
        "std::fs",
        "std::env",
        "std::process",
        "std::time::SystemTime",
        "std::time::Instant",
        "std::net",
        "std::io::std",
    ];
    for (file, text) in sources() {
        if file.starts_with("shell") || file == Path::new("main.rs") {
            continue;
        }
        for (number, line) in code_lines(&text) {
            for forbidden in machine {
                assert!(!line.contains(forbidden), "{}:{number}: {forbidden} belongs to the shell", file.display());
            }
        }
    }
}

#[test]
fn every_file_says_what_it_is_for_and_stays_readable() {
    for (file, text) in sources() {
        assert!(text.starts_with("//! "), "{} does not open with its purpose", file.display());
        assert!(text.lines().count() <= 800, "{} is longer than 800 lines", file.display());
    }
}

#[test]
fn only_expressions_look_behind_the_wall_of_secrets() {
    for (file, text) in sources() {
        if file.starts_with("expression/eval/secrecy.rs") || file.starts_with("value/secret.rs") {
            continue;
        }
        for (number, line) in code_lines(&text) {
            assert!(!line.contains(".beneath()"), "{}:{number}: secrets stay hidden here", file.display());
        }
    }
}

#[test]
fn no_module_is_called_util() {
    for (file, _) in sources() {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        assert!(!["util", "utils", "common", "helpers", "misc", "core"].contains(&name.as_str()), "{}", file.display());
    }
}

fn declared_modules() -> Vec<String> {
    let lib = fs::read_to_string(source_root().join("lib.rs")).unwrap();
    let names = lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    names.map(str::to_owned).collect()
}

fn module_of(file: &Path) -> String {
    let first = file.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

/// Lines of code with their numbers: comments and what follows the tests' `#[cfg(test)]` are left out.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    lines.take_while(|(_, line)| *line != "#[cfg(test)]").filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Every source file with its path below `src/`; files that only tests are made of are left out.
fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    collect(&source_root(), &mut found);
    found.sort();
    let test_only: Vec<PathBuf> = found.iter().flat_map(|(file, text)| test_modules(file, text)).collect();
    found.retain(|(file, _)| !test_only.iter().any(|module| file.with_extension("").starts_with(module)));
    assert!(found.len() > 10, "the sources are not where they should be");
    found
}

/// The modules that a file declares for tests alone, as paths without extension.
fn test_modules(file: &Path, text: &str) -> Vec<PathBuf> {
    let is_root = file.ends_with("mod.rs") || file == Path::new("lib.rs");
    let folder = if is_root { file.parent().unwrap().to_owned() } else { file.with_extension("") };
    let lines: Vec<&str> = text.lines().collect();
    let declared = lines.windows(2).filter(|pair| pair[0] == "#[cfg(test)]");
    let names = declared.filter_map(|pair| pair[1].strip_prefix("mod ")?.strip_suffix(';'));
    names.map(|name| folder.join(name)).collect()
}

fn collect(directory: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path.strip_prefix(source_root()).unwrap().to_owned(), text));
        }
    }
}

fn source_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}
