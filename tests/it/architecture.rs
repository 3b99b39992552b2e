//! The walls of the code base, checked: module order, circles inside folders, homes of foreign crates, purity, secrets, dead
//! public items, file size and plain words.

mod graph;
mod rust;
mod words;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rust::{SourceFile, names, project, public_items, source_root, sources};

/// Where each foreign crate may be named.
const HOMES: &[(&str, &[&str])] = &[
    ("gix", &["shell/git"]),
    ("clap", &["shell/cli.rs", "shell/cli/"]),
    ("clap_complete", &["shell/commands/completions.rs", "shell/cli.rs"]),
    ("clap_mangen", &["shell/commands/man.rs"]),
    ("granit_parser", &["document/yaml"]),
    ("memchr", &["scan.rs", "text.rs", "text/lines.rs", "document/split.rs", "secrets/mention.rs"]),
    ("miette", &["report/diagnostics"]),
    ("similar", &["diff/text", "value/align"]),
    ("serde", &["report/json", "report/html", "shell/event.rs"]),
    ("minijinja", &["report/html"]),
    ("serde_json", &["report/json", "report/html", "shell/event.rs"]),
    ("jaq_core", &["expression/jq"]),
    ("jaq_std", &["expression/jq"]),
    ("cel", &["expression/cel"]),
    ("percent_encoding", &["percent.rs"]),
    ("regex", &["schema", "layout/kustomize"]),
    ("sha2", &["layout/kustomize/generate.rs"]),
    ("foldhash", &["memo.rs", "text.rs", "value/mix.rs"]),
    ("strsim", &["suggest.rs"]),
    ("rayon", &["parallel.rs"]),
    ("signal_hook", &["shell/guard.rs", "shell/pager.rs"]),
    ("terminal_size", &["shell/output.rs"]),
    ("unicode_width", &["report"]),
];

/// Vocabulary that any module may use.
const EVERYWHERE: &[&str] = &["smol_str", "thiserror", "stacker"];

/// Files of one folder that use each other in a circle. The list only shrinks.
const CIRCLES: &[(&str, &[&str])] = &[
    ("comparison", &["compare_rules", "requests", "views"]),
    ("comparison", &["load", "parse_once"]),
    ("document/write", &["plain", "scalar"]),
    ("expression/cel", &["environment", "functions", "metered"]),
    ("expression/cel", &["from_cel", "to_cel"]),
    ("expression/eval", &["datum", "detect", "scope", "secrecy", "session"]),
    ("expression/jq", &["operators", "write"]),
    ("metadata", &["amend", "plan"]),
    ("metadata", &["effective", "identity", "secrets"]),
    ("metadata", &["layers", "load"]),
    ("patch", &["expand", "operation"]),
    ("report/json", &["make", "v1"]),
    ("request", &["render", "scope"]),
    ("value", &["decimal", "number"]),
];

/// Public items that only tests call. The list only shrinks.
const ONLY_FOR_TESTS: &[&str] = &[
    // What impact finds is compared with this.
    "comparison/mod.rs compare_everything",
    "layout/ask.rs subtree",
    // Snapshots in memory get ids as git's have them, so that caches are tested.
    "snapshot/memory.rs with_ids",
];

#[test]
fn a_module_uses_only_modules_declared_above_it() {
    let order = declared_modules();
    let place = |module: &[String]| order.iter().position(|declared| module.first() == Some(declared));
    let wrong: Vec<String> = graph::uses()
        .into_iter()
        .filter_map(|used| {
            let (own, other) = (place(&used.from)?, place(&used.to)?);
            (other > own)
                .then(|| format!("{}: {} uses {}, which is declared below it", used.place, order[own], order[other]))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_of_a_folder_do_not_use_each_other_in_a_circle() {
    let mut expected: Vec<(String, Vec<String>)> = CIRCLES
        .iter()
        .map(|(folder, files)| ((*folder).to_owned(), files.iter().map(|file| (*file).to_owned()).collect()))
        .collect();
    let mut wrong = Vec::new();
    for (folder, files, evidence) in graph::circles() {
        match expected.iter().position(|known| *known == (folder.clone(), files.clone())) {
            Some(at) => drop(expected.remove(at)),
            None => wrong.push(format!("(\"{folder}\", &{files:?}),\n    {}", evidence.join("\n    "))),
        }
    }
    wrong
        .extend(expected.iter().map(|(folder, files)| format!("{folder}: {files:?} is no circle any more: strike it")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_foreign_crate_has_one_home() {
    let mut wrong = Vec::new();
    for file in sources() {
        for (line, path) in file.paths() {
            let Some((krate, homes)) = HOMES.iter().find(|(krate, _)| path[0] == *krate) else { continue };
            let is_home = homes.iter().any(|home| file.path.to_string_lossy().starts_with(home));
            if !is_home {
                wrong.push(format!("{}:{line}: {krate} lives in {homes:?}", file.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_dependency_has_a_home() {
    let manifest = fs::read_to_string(project().join("Cargo.toml")).unwrap();
    let dependencies = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let dependencies = dependencies.take_while(|line| !line.starts_with('['));
    let names: Vec<String> = dependencies
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| Some(line.split_once(" = ")?.0.replace('-', "_")))
        .collect();
    for name in &names {
        let is_listed = EVERYWHERE.contains(&name.as_str()) || HOMES.iter().any(|(krate, _)| krate == name);
        assert!(is_listed, "{name} has no home");
    }
    for krate in EVERYWHERE.iter().chain(HOMES.iter().map(|(krate, _)| krate)) {
        assert!(names.iter().any(|name| name == krate), "{krate} is no dependency any more");
    }
}

#[test]
fn only_the_shell_touches_the_machine() {
    let machine = [
        &["std", "fs"][..],
        &["std", "env"],
        &["std", "process"],
        &["std", "net"],
        &["std", "time", "SystemTime"],
        &["std", "time", "Instant"],
        &["std", "io", "stdin"],
        &["std", "io", "stdout"],
        &["std", "io", "stderr"],
    ];
    let is_pure = |file: &SourceFile| !file.path.starts_with("shell") && file.path != Path::new("main.rs");
    for file in sources().iter().filter(|file| is_pure(file)) {
        for (line, path) in file.paths() {
            let forbidden = machine
                .iter()
                .find(|forbidden| path.iter().zip(**forbidden).filter(|(a, b)| a == b).count() == forbidden.len());
            assert!(forbidden.is_none(), "{}:{line}: {} belongs to the shell", file.path.display(), path.join("::"));
        }
    }
}

#[test]
fn every_file_says_what_it_is_for_and_stays_readable() {
    for SourceFile { path, text, .. } in sources() {
        assert!(text.starts_with("//! "), "{} does not open with its purpose", path.display());
        assert!(text.lines().count() <= 800, "{} is longer than 800 lines", path.display());
    }
}

#[test]
fn only_expressions_look_behind_the_wall_of_secrets() {
    for file in sources() {
        if file.path.starts_with("expression/eval/secrecy.rs") || file.path.starts_with("value/secret.rs") {
            continue;
        }
        for (number, line) in file.lines() {
            assert!(!line.contains(".beneath()"), "{}:{number}: secrets stay hidden here", file.path.display());
        }
    }
}

/// By name: an item whose name occurs only where it is declared, or in `use` declarations, is called by no code.
#[test]
fn the_program_uses_every_public_item() {
    let files = sources();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in files.iter().flat_map(|file| names(&file.code)) {
        *counts.entry(name).or_default() += 1;
    }
    let mut dead: Vec<String> = Vec::new();
    for file in files {
        let items = public_items(&file.code).into_iter().filter(|name| counts.get(name).is_none_or(|count| *count < 2));
        dead.extend(items.map(|name| format!("{} {name}", file.path.display())));
    }
    dead.retain(|item| !ONLY_FOR_TESTS.contains(&item.as_str()));
    assert!(dead.is_empty(), "only tests or nothing at all calls:\n{}", dead.join("\n"));
}

#[test]
fn no_module_is_called_util() {
    for file in sources() {
        let name = file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_vague = ["util", "utils", "common", "helpers", "misc", "core"].contains(&name.as_str());
        assert!(!is_vague, "{}", file.path.display());
    }
}

fn declared_modules() -> Vec<String> {
    let lib = fs::read_to_string(source_root().join("lib.rs")).unwrap();
    let names = lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    names.map(str::to_owned).collect()
}
