//! Git hooks: written where git looks for them, never over a hook of somebody else.

use std::fs;
use std::path::{Path, PathBuf};

use super::MOST_BYTES;
use super::plan::Plan;
use crate::shell::cli::{HookName, InstallArgs};
use crate::shell::directory::read_regular;
use crate::shell::error::Failure;
use crate::shell::git::Repository;

const PRE_COMMIT: &str = include_str!("../../../../hooks/pre-commit");
const PRE_MERGE_COMMIT: &str = include_str!("../../../../hooks/pre-merge-commit");
const PRE_PUSH: &str = include_str!("../../../../hooks/pre-push");

/// The words by which a hook of any version is known to be ours.
const MARK: &str = "# outcrop-hook v";
/// The suffix of a hook that is run before ours; the scripts name it too.
const CHAINED: &str = "before-outcrop";

/// Whether a script is one that outcrop installed.
pub(in crate::shell) fn is_ours(script: &str) -> bool {
    script.contains(MARK)
}

/// Whether a script is the one that this version installs.
pub(in crate::shell) fn is_current(script: &str) -> bool {
    [PRE_COMMIT, PRE_MERGE_COMMIT, PRE_PUSH].contains(&script)
}

pub(super) fn plan(plan: &mut Plan, repository: &Repository, args: &InstallArgs) -> Result<(), Failure> {
    let directory = repository.hooks_directory();
    check_directory(repository, &directory, args)?;
    let names = match (&args.hook[..], args.uninstall) {
        ([], false) => &[HookName::PreCommit, HookName::PreMergeCommit][..],
        ([], true) => &[HookName::PreCommit, HookName::PreMergeCommit, HookName::PrePush],
        (names, _) => names,
    };
    for name in names {
        let hook = Hook { name: *name, path: directory.join(file_name(*name)) };
        match args.uninstall {
            true => hook.uninstall(plan),
            false => hook.install(plan, repository, args.chain)?,
        }
    }
    Ok(())
}

/// Hooks that other repositories use too are not changed by accident.
fn check_directory(repository: &Repository, directory: &Path, args: &InstallArgs) -> Result<(), Failure> {
    let hooks = absolute(directory);
    let own = [repository.root(), Some(repository.common_directory())];
    if args.global || own.into_iter().flatten().any(|place| hooks.starts_with(absolute(place))) {
        return Ok(());
    }
    Err(Failure::new(format!("core.hooksPath is {}, which other repositories may use too", directory.display()))
        .help("--global installs the hook there, for all of them; or set core.hooksPath for this repository"))
}

/// The place of a path without links, whether or not it exists yet.
fn absolute(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|place| {
        let place = if place.as_os_str().is_empty() { Path::new(".") } else { place };
        Some((place.canonicalize().ok()?, path.strip_prefix(place).unwrap_or(path)))
    });
    existing.map_or_else(|| path.to_owned(), |(place, rest)| place.join(rest))
}

struct Hook {
    name: HookName,
    path: PathBuf,
}

impl Hook {
    fn script(&self) -> &'static str {
        match self.name {
            HookName::PreCommit => PRE_COMMIT,
            HookName::PreMergeCommit => PRE_MERGE_COMMIT,
            HookName::PrePush => PRE_PUSH,
        }
    }

    fn chained(&self) -> PathBuf {
        self.path.with_file_name(format!("{}.{CHAINED}", file_name(self.name)))
    }

    fn install(&self, plan: &mut Plan, repository: &Repository, chain: bool) -> Result<(), Failure> {
        let existing =
            read_regular(&self.path, MOST_BYTES).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let Some(existing) = existing else {
            plan.write_program(self.path.clone(), self.script().to_owned());
            return Ok(());
        };
        if existing == self.script() && is_executable(&self.path) {
            return Ok(());
        }
        if !is_ours(&existing) {
            self.make_room(plan, repository, &existing, chain)?;
        }
        plan.write_program(self.path.clone(), self.script().to_owned());
        Ok(())
    }

    /// Keeps a hook of somebody else, if that is wanted; otherwise says what to add to it.
    fn make_room(&self, plan: &mut Plan, repository: &Repository, script: &str, chain: bool) -> Result<(), Failure> {
        let name = file_name(self.name);
        let manager = Manager::of(script, &self.path);
        let foreign = format!("{} is not a hook of outcrop, and is kept as it is", self.path.display());
        if let Some(manager) = manager {
            let there = manager.file(repository, name);
            return Err(Failure::new(format!("{foreign}: {} manages it", manager.name())).help(format!(
                "{}:\n{}",
                there,
                manager.snippet(name)
            )));
        }
        if !chain {
            return Err(Failure::new(foreign).help(format!(
                "--chain keeps it and runs it first; or add this line to it:\noutcrop hook {name}{} || exit $?",
                if name == "pre-push" { " -- \"$@\"" } else { "" }
            )));
        }
        if self.chained().exists() {
            return Err(Failure::new(format!("{} exists already", self.chained().display()))
                .help("move it away, or merge the two hooks"));
        }
        plan.rename(self.path.clone(), self.chained());
        Ok(())
    }

    fn uninstall(&self, plan: &mut Plan) {
        let is_there =
            read_regular(&self.path, MOST_BYTES).is_ok_and(|bytes| is_ours(&String::from_utf8_lossy(&bytes)));
        if !is_there {
            return;
        }
        match self.chained() {
            // Renaming replaces ours.
            chained if chained.exists() => plan.rename(chained, self.path.clone()),
            _ => plan.remove(self.path.clone()),
        }
    }
}

/// A program that writes hooks itself, and would overwrite ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manager {
    PreCommit,
    Lefthook,
    Husky,
}

impl Manager {
    /// The program that wrote a hook, if it is a known one.
    fn of(script: &str, path: &Path) -> Option<Self> {
        let is_husky = path.parent().is_some_and(|directory| directory.ends_with(".husky/_"));
        match () {
            () if is_husky => Some(Self::Husky),
            () if script.contains("pre-commit.com") || script.contains("generated by prek") => Some(Self::PreCommit),
            () if script.contains("lefthook") => Some(Self::Lefthook),
            () => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::PreCommit => "the pre-commit framework",
            Self::Lefthook => "lefthook",
            Self::Husky => "husky",
        }
    }

    fn file(self, repository: &Repository, name: &str) -> String {
        match self {
            Self::PreCommit => "`outcrop install pre-commit` adds this to .pre-commit-config.yaml".to_owned(),
            Self::Lefthook => {
                let is_long = repository.root().is_some_and(|root| root.join("lefthook.yaml").exists());
                format!("add this to {}", if is_long { "lefthook.yaml" } else { "lefthook.yml" })
            }
            Self::Husky => format!("add this line to .husky/{name}"),
        }
    }

    fn snippet(self, name: &str) -> String {
        let arguments = if name == "pre-push" { " \"$@\"" } else { "" };
        match self {
            Self::PreCommit => format!("outcrop hook {name}"),
            Self::Husky => format!("outcrop hook {name}{arguments}"),
            Self::Lefthook if name == "pre-push" => {
                "pre-push:\n  jobs:\n    - name: outcrop\n      run: outcrop hook pre-push {1} {2}\n      use_stdin: true".to_owned()
            }
            Self::Lefthook => format!("{name}:\n  jobs:\n    - name: outcrop\n      run: outcrop hook {name}"),
        }
    }
}

fn file_name(name: HookName) -> &'static str {
    match name {
        HookName::PreCommit => "pre-commit",
        HookName::PreMergeCommit => "pre-merge-commit",
        HookName::PrePush => "pre-push",
    }
}

#[cfg(unix)]
pub(in crate::shell) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(in crate::shell) fn is_executable(path: &Path) -> bool {
    path.exists()
}
