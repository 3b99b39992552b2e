//! Marked blocks in files that belong to others: attributes, and the configuration of the pre-commit framework.

use std::io;
use std::path::{Path, PathBuf};

use super::MOST_BYTES;
use super::config::{ATTRIBUTES, Config};
use super::plan::Plan;
use crate::shell::directory::read_regular;
use crate::shell::environment;
use crate::shell::error::Failure;
use crate::shell::git::Repository;

const BEGIN: &str = "# outcrop: begin";
const END: &str = "# outcrop: end";

/// Which files git shows through outcrop.
pub(super) fn attributes(plan: &mut Plan, config: &Config<'_>, uninstall: bool) -> Result<(), Failure> {
    let path = match config.repository.filter(|_| !config.is_global) {
        Some(repository) => repository.common_directory().join(ATTRIBUTES),
        None => user_attributes(config)?,
    };
    let text = existing(&path)?;
    let block: String =
        crate::names::EXTENSIONS.iter().map(|extension| format!("*.{extension} diff=outcrop\n")).collect();
    change(plan, path, &text, &block, uninstall);
    Ok(())
}

/// The attributes of a user: `core.attributesFile`, or where git looks by default.
fn user_attributes(config: &Config<'_>) -> Result<PathBuf, Failure> {
    let home = environment::text("HOME")?.map(PathBuf::from);
    let at_home = |path: &str| home.as_ref().map(|home| home.join(path));
    let configured = config.value("core.attributesFile")?.and_then(|path| match path.strip_prefix("~/") {
        Some(below) => at_home(below),
        None => Some(PathBuf::from(path)),
    });
    let default = match environment::text("XDG_CONFIG_HOME")? {
        Some(directory) => Some(Path::new(&directory).join("git/attributes")),
        None => at_home(".config/git/attributes"),
    };
    configured.or(default).ok_or_else(|| Failure::new("HOME is not set, so the user's attributes cannot be found"))
}

/// The hook in the configuration of the pre-commit framework.
pub(super) fn pre_commit(plan: &mut Plan, repository: &Repository, uninstall: bool) -> Result<(), Failure> {
    let path = super::root(repository)?.join(".pre-commit-config.yaml");
    let text = existing(&path)?;
    if !text.contains(BEGIN) && text.contains("outcrop") {
        plan.note(".pre-commit-config.yaml names outcrop already; it is left as it is".to_owned());
        return Ok(());
    }
    let indent = match text.is_empty() {
        true => "  ".to_owned(),
        false => list_indent(&text).unwrap_or_default().to_owned(),
    };
    if !text.is_empty() && !uninstall && !text.contains(BEGIN) && list_indent(&text).is_none() {
        return Err(Failure::new("the list `repos` in .pre-commit-config.yaml is not at the end of the file")
            .help(format!("add this entry to the list yourself:\n{}", entry(""))));
    }
    let heading = if text.is_empty() { "repos:\n" } else { "" };
    let text = if uninstall { text } else { format!("{text}{heading}") };
    change(plan, path, &text, &entry(&indent), uninstall);
    Ok(())
}

fn entry(indent: &str) -> String {
    let lines = [
        "- repo: local",
        "  hooks:",
        "    - id: outcrop",
        "      name: outcrop",
        "      entry: outcrop hook pre-commit",
        "      language: system",
        "      pass_filenames: false # deleted files matter too",
        "      always_run: true",
        "      require_serial: true",
        "      stages: [pre-commit, pre-merge-commit, manual]",
    ];
    lines.iter().map(|line| format!("{indent}{line}\n")).collect()
}

/// The indent of the last top-level list of a file, if it is `repos` and nothing follows it.
fn list_indent(text: &str) -> Option<&str> {
    let is_content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let is_key = |line: &&str| is_content(line) && !line.starts_with([' ', '-']);
    let last = text.lines().rfind(is_key)?;
    if last.trim_end() != "repos:" {
        return None;
    }
    let item = text.lines().rfind(|line| line.trim_start().starts_with("- repo:"))?;
    Some(&item[..item.len() - item.trim_start().len()])
}

/// Adds a block at the end of a file, renews it, or takes it out. A file that held nothing else is removed.
fn change(plan: &mut Plan, path: PathBuf, text: &str, block: &str, uninstall: bool) {
    let without = without_block(text);
    let has_block = without != text;
    if uninstall {
        match without.trim() {
            _ if !has_block => {}
            "" | "repos:" => plan.remove(path),
            _ => plan.write(path, without),
        }
        return;
    }
    let end = if without.is_empty() || without.ends_with('\n') { "" } else { "\n" };
    let renewed = format!("{without}{end}{BEGIN}\n{block}{END}\n");
    if renewed != text {
        plan.write(path, renewed);
    }
}

fn without_block(text: &str) -> String {
    let mut kept = String::new();
    let mut is_ours = false;
    for line in text.split_inclusive('\n') {
        is_ours |= line.trim_end() == BEGIN;
        if !is_ours {
            kept.push_str(line);
        }
        is_ours &= line.trim_end() != END;
    }
    // A block that does not end was edited by somebody; it is not ours any more.
    if is_ours { text.to_owned() } else { kept }
}

fn existing(path: &Path) -> Result<String, Failure> {
    match read_regular(path, MOST_BYTES).and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other)) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Failure::new(format!("{} cannot be read: {error}", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_taken_out_as_it_was_put_in() {
        let text = "a\n";
        let with = format!("{text}{BEGIN}\nb\n{END}\n");
        assert_eq!(without_block(&with), text);
        assert_eq!(without_block(text), text);
        let open = format!("{text}{BEGIN}\nb\n");
        assert_eq!(without_block(&open), open);
    }

    #[test]
    fn an_entry_goes_to_the_end_of_the_list_only() {
        assert_eq!(list_indent("repos:\n- repo: x\n  hooks: []\n"), Some(""));
        assert_eq!(list_indent("fail_fast: true\nrepos:\n  - repo: x\n    hooks: []\n# end\n"), Some("  "));
        assert_eq!(list_indent("repos:\n  - repo: x\nfail_fast: true\n"), None);
        assert_eq!(list_indent("repos: []\n"), None);
    }
}
