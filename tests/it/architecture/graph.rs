//! Which files of a folder use which others, and which of them use each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use super::rust::{SourceFile, sources};

type Module = Vec<String>;

/// A use of one module by another, with the place that shows it.
#[derive(Debug, Clone)]
pub(super) struct Use {
    pub(super) place: String,
    pub(super) from: Module,
    pub(super) to: Module,
}

/// Every use of a module of this crate by another one; what a folder's `mod.rs` passes on is a use of the file it comes from.
pub(super) fn uses() -> Vec<Use> {
    let files = sources();
    let modules: BTreeSet<Module> = files.iter().map(SourceFile::module).collect();
    let passed_on: BTreeMap<Module, BTreeMap<String, Module>> =
        files.iter().map(|file| (file.module(), passed_on(file, &modules))).collect();
    let mut found = Vec::new();
    for file in files {
        let from = file.module();
        for (line, path) in file.paths() {
            let Some(absolute) = absolute(&from, &path) else { continue };
            let to = home(absolute, &modules, &passed_on);
            if to != from {
                found.push(Use { place: format!("{}:{line}", file.path.display()), from: from.clone(), to });
            }
        }
    }
    found
}

/// The circles inside folders: the folder, the files and folders in it that use each other, and uses that show it.
pub(super) fn circles() -> Vec<(String, Vec<String>, Vec<String>)> {
    let mut folders: BTreeMap<Module, BTreeMap<String, BTreeMap<String, String>>> = BTreeMap::new();
    for Use { place, from, to } in uses() {
        let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        // A file that uses its own folder's `mod.rs`, or the other way round, is the shape of every folder.
        if let (Some(user), Some(used)) = (from.get(shared), to.get(shared)) {
            let folder = folders.entry(from[..shared].to_vec()).or_default();
            folder.entry(user.clone()).or_default().entry(used.clone()).or_insert(place);
        }
    }
    let mut found = Vec::new();
    for (folder, edges) in folders.iter().filter(|(folder, _)| !folder.is_empty()) {
        let mut left: BTreeSet<&String> = edges.keys().collect();
        while let Some(first) = left.pop_first() {
            let reach = reachable(edges, first);
            let mut circle: Vec<String> =
                reach.iter().filter(|it| reachable(edges, it).contains(first)).map(|it| (*it).clone()).collect();
            circle.retain(|it| it != first);
            left.retain(|it| !circle.contains(it));
            if !circle.is_empty() {
                circle.push(first.clone());
                circle.sort();
                let inside = |from: &String, to: &String| circle.contains(from) && circle.contains(to);
                let evidence = edges.iter().flat_map(|(from, to)| to.iter().map(move |(to, place)| (from, to, place)));
                let evidence = evidence.filter(|(from, to, _)| inside(from, to));
                let evidence = evidence.map(|(from, to, place)| format!("{from} uses {to} at {place}")).collect();
                found.push((folder.join("/"), circle, evidence));
            }
        }
    }
    found
}

fn reachable<'a>(edges: &'a BTreeMap<String, BTreeMap<String, String>>, from: &'a str) -> BTreeSet<&'a String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        for to in edges.get(next).into_iter().flat_map(BTreeMap::keys) {
            if found.insert(to) {
                open.push(to);
            }
        }
    }
    found
}

/// The path from the root of the crate, if it is one of this crate.
fn absolute(module: &Module, path: &[String]) -> Option<Module> {
    let mut base = module.clone();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => {
            base.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|name| name == "super") {
                base.pop()?;
                rest = &rest[1..];
            }
        }
        _ => return None,
    }
    Some(base.into_iter().chain(rest.iter().cloned()).collect())
}

/// The module that an absolute path leads to, through what modules pass on.
fn home(
    mut path: Module,
    modules: &BTreeSet<Module>,
    passed_on: &BTreeMap<Module, BTreeMap<String, Module>>,
) -> Module {
    for _ in 0..8 {
        let depth = (0..=path.len()).rev().find(|depth| modules.contains(&path[..*depth])).unwrap_or_default();
        let target = path.get(depth).and_then(|name| passed_on.get(&path[..depth])?.get(name));
        match target {
            Some(target) => path = target.iter().chain(&path[depth + 1..]).cloned().collect(),
            None => return path[..depth].to_vec(),
        }
    }
    path
}

/// The names that a module passes on from its children, with their absolute paths.
fn passed_on(file: &SourceFile, modules: &BTreeSet<Module>) -> BTreeMap<String, Module> {
    let module = file.module();
    let child = |name: &String| modules.contains(&module.iter().chain([name]).cloned().collect::<Module>());
    let paths = file.paths().into_iter().map(|(_, path)| path);
    let paths = paths.filter_map(|path| match path.first()?.as_str() {
        "self" => Some(path[1..].to_vec()),
        _ => Some(path),
    });
    let below = paths.filter(|path| path.len() > 1 && child(&path[0]));
    below.filter_map(|path| Some((path.last()?.clone(), module.iter().chain(&path).cloned().collect()))).collect()
}
