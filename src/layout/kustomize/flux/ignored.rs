//! `.sourceignore`: what Flux leaves out of a repository, in the language of `.gitignore`.

use crate::glob::{Glob, Slashes};
use crate::layout::kustomize::Fatal;
use crate::layout::kustomize::load::Loader;
use crate::path::RepoPath;

/// The name of the files.
const NAME: &[u8] = b".sourceignore";

/// The patterns of all files from the top of the repository down to a directory; the last one that matches decides.
#[derive(Debug, Clone, Default)]
pub(super) struct Ignored {
    patterns: Vec<Pattern>,
}

#[derive(Debug, Clone)]
struct Pattern {
    glob: Glob,
    /// The directory of its file.
    below: RepoPath,
    is_exception: bool,
    only_directories: bool,
    /// Whether it is about paths from the directory of its file, not about names anywhere below.
    is_path: bool,
}

impl Ignored {
    /// What is left out of a directory by the files above it and its own.
    pub(super) fn of(directory: &RepoPath, loader: &Loader<'_>) -> Result<Self, Fatal> {
        let mut way: Vec<RepoPath> = std::iter::successors(Some(directory.clone()), RepoPath::parent).collect();
        way.reverse();
        way.iter().try_fold(Self::default(), |ignored, directory| ignored.with(directory, loader))
    }

    /// The patterns with those of a directory's own file.
    pub(super) fn with(mut self, directory: &RepoPath, loader: &Loader<'_>) -> Result<Self, Fatal> {
        let Ok(file) = directory.join(NAME) else { return Ok(self) };
        if let Some(text) = loader.text(&file)? {
            self.patterns.extend(text.text.lines().filter_map(|line| Pattern::read(line, directory)));
        }
        Ok(self)
    }

    /// Whether a file or directory is left out.
    pub(super) fn leaves_out(&self, path: &RepoPath, is_directory: bool) -> bool {
        let last = self.patterns.iter().rev().find(|pattern| pattern.matches(path, is_directory));
        last.is_some_and(|pattern| !pattern.is_exception)
    }
}

impl Pattern {
    fn read(line: &str, below: &RepoPath) -> Option<Self> {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (is_exception, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let (only_directories, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
        let text = line.strip_prefix('/').unwrap_or(line);
        let glob = Glob::new(text.as_bytes(), Slashes::Separators, false);
        Some(Self { glob, below: below.clone(), is_exception, only_directories, is_path: line.contains('/') })
    }

    fn matches(&self, path: &RepoPath, is_directory: bool) -> bool {
        if self.only_directories && !is_directory || !path.is_within(&self.below) {
            return false;
        }
        let parts: Vec<&[u8]> = path.components().skip(self.below.components().count()).collect();
        let text = if self.is_path { parts.join(&b'/') } else { path.file_name().to_vec() };
        self.glob.matches(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_gitignore() {
        let path = |text: &str| RepoPath::new(text).unwrap();
        let below = path("apps");
        let lines = ["# comment", "*.md", "/tests/", "docs/*.yaml", "!keep.md"];
        let ignored = Ignored { patterns: lines.iter().filter_map(|line| Pattern::read(line, &below)).collect() };
        for (file, is_directory, expected) in [
            ("apps/a.md", false, true),
            ("apps/web/a.md", false, true),
            ("apps/web/keep.md", false, false),
            ("apps/tests", true, true),
            ("apps/tests", false, false),
            ("apps/web/tests", true, false),
            ("apps/docs/a.yaml", false, true),
            ("apps/docs/x/a.yaml", false, false),
            ("other/a.md", false, false),
        ] {
            assert_eq!(ignored.leaves_out(&path(file), is_directory), expected, "{file}");
        }
    }
}
