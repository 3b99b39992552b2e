//! `outcrop diff-driver --textconv`: a file in a normal form, so that `git log -p` and `git blame` skip changes without effect.

use std::path::Path;
use std::sync::Arc;

use crate::comparison::Options;
use crate::path::RepoPath;
use crate::report::{Report, TextContent, unified};
use crate::shell::cli::Global;
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::git::Repository;
use crate::shell::output;
use crate::shell::outside::{Outside, Rules, name_on_disk, one_file, read};

/// Prints a file with keys sorted, aliases written out and secrets masked; as it is if it is not YAML or JSON.
pub(super) fn run(global: &Global, file: &Path) -> Result<Exit, Failure> {
    let (_, repository) = Rules::of_repository(global)?;
    let content = read(file, &crate::limits::Budget::default())?.unwrap_or_default();
    let paths = paths_of(file, &content, repository.as_ref())?;
    // A file that may be at several places is shown only if it holds a secret at none of them.
    let mut shown = None;
    for path in &paths {
        let (rules, _) = Rules::of_repository(global)?;
        let outside = Outside::files(rules, |_| {
            Ok([one_file(path.clone(), None, ""), one_file(path.clone(), Some(Arc::clone(&content)), "")])
        })?;
        let report = outside.compare(Options::default());
        let is_withheld = || {
            let lines = outside.compare_lines(path, path);
            let is_hidden =
                |content: &TextContent| matches!(content, TextContent::Sensitive | TextContent::Bytes { .. });
            lines.text_files.iter().any(|file| is_hidden(&file.content))
        };
        let is_as_written = report.resources.is_empty() || report.is_incomplete();
        if (is_as_written || paths.len() > 1) && is_withheld() {
            output::print(WITHHELD)?;
            return Ok(Exit::Clean);
        }
        shown.get_or_insert(report);
    }
    write(shown.as_ref(), &content)?;
    Ok(Exit::Clean)
}

const WITHHELD: &[u8] = b"# not shown because it may contain secrets\n";

fn write(report: Option<&Report>, content: &[u8]) -> Result<(), Failure> {
    match report.filter(|report| !report.resources.is_empty() && !report.is_incomplete()) {
        Some(report) => output::write(|out| unified::write_documents(report, out))?,
        None => output::print(content)?,
    }
    Ok(())
}

/// As many places of files with the same name are looked at.
const MOST_PLACES: usize = 50;

/// Where the file may be in the repository. git passes a copy that has only the name of the file.
fn paths_of(file: &Path, content: &[u8], repository: Option<&Repository>) -> Result<Vec<RepoPath>, Failure> {
    let name = name_on_disk(Path::new(file.file_name().unwrap_or_default()))?;
    let Some(repository) = repository else { return Ok(vec![name]) };
    let id = repository.blob_id(content);
    let exact = repository.staged_paths(1, |path, other| Some(other) == id && is_named(path, name.as_bytes()));
    if !exact.is_empty() {
        return Ok(exact);
    }
    let mut named = repository.staged_paths(MOST_PLACES, |path, _| is_named(path, name.as_bytes()));
    if named.is_empty() {
        named.push(name);
    }
    Ok(named)
}

fn is_named(path: &[u8], name: &[u8]) -> bool {
    path.rsplit(|&byte| byte == b'/').next() == Some(name)
}
