//! What commands on a single file share: the snapshot it is in, its path there, and the configuration that applies.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::directive::{Context, Includes};
use crate::limits::{Budget, Limits};
use crate::path::RepoPath;
use crate::pipeline::{Configuration, Inspection, Policy};
use crate::resource::{Content, Parsed, parse};
use crate::settings::Settings;
use crate::shell::cli::Global;
use crate::shell::directory::{DirectorySnapshot, Links};
use crate::shell::error::Failure;
use crate::shell::git::{GitError, Repository, Revision};
use crate::snapshot::{EntryKind, Snapshot};
use crate::text::Sources;

/// A file of a snapshot.
pub(super) struct OneFile {
    pub(super) snapshot: Box<dyn Snapshot>,
    pub(super) path: RepoPath,
    pub(super) settings: Settings,
    pub(super) sources: Arc<Sources>,
    includes: Includes,
    limits: Limits,
}

impl OneFile {
    /// The file in the working tree, tracked or not, or at a revision. Outside a repository the current directory is the tree.
    pub(super) fn open(global: &Global, file: &Path, at: Option<&str>) -> Result<Self, Failure> {
        let here = global.directory.clone().unwrap_or_else(|| PathBuf::from("."));
        let budget = Budget::default();
        let (snapshot, prefix): (Box<dyn Snapshot>, RepoPath) = match (Repository::open(&here), at) {
            (Ok(repository), Some(revision)) => {
                let tree = Revision::Tree(repository.resolve(revision)?);
                (Box::new(repository.snapshot(&tree, &budget)?), repository.prefix().clone())
            }
            (Ok(repository), None) => match repository.root() {
                Some(root) => {
                    let directory = DirectorySnapshot::new(root, Links::Keep, budget.clone()).labelled("working tree");
                    (Box::new(directory), repository.prefix().clone())
                }
                None => {
                    let head = Revision::Tree(repository.head()?);
                    (Box::new(repository.snapshot(&head, &budget)?), RepoPath::root())
                }
            },
            (Err(GitError::NotARepository { .. }), None) => {
                (Box::new(DirectorySnapshot::new(&here, Links::Keep, budget.clone())), RepoPath::root())
            }
            (Err(error), _) => return Err(error.into()),
        };
        let sources = Arc::new(Sources::default());
        let configuration = Configuration::read(&*snapshot, &*snapshot, Policy::Head, &sources);
        let settings = configuration.policy().clone();
        let path = inside(&prefix, file)?;
        let limits = settings.limits.clone();
        Ok(Self { snapshot, path, settings, sources, includes: Includes::default(), limits })
    }

    /// Reads and parses it.
    pub(super) fn parse(&self, given: &Path) -> Result<Parsed, Failure> {
        let missing = || {
            let message = format!("there is no file {} in {}", given.display(), self.snapshot.label());
            Failure::new(message).help("paths are relative to the current directory and must be inside the repository")
        };
        let entry = self.snapshot.entry(&self.path).map_err(|error| Failure::new(error.to_string()))?;
        let entry = entry.filter(|entry| entry.kind == EntryKind::File).ok_or_else(missing)?;
        let bytes = self.snapshot.read(&entry).map_err(|error| Failure::new(error.to_string()))?;
        let content = Content { bytes: &bytes, path: &self.path, revision: self.snapshot.label() };
        let parsed = parse(content, &self.sources, &self.limits);
        match parsed.source {
            Some(_) => Ok(parsed),
            None if parsed.findings.is_empty() => {
                Err(Failure::new(format!("{} is neither YAML nor JSON", given.display())))
            }
            None => Ok(parsed),
        }
    }

    /// The snapshot to look into.
    pub(super) fn inspection(&self) -> Inspection<'_> {
        let Self { snapshot, settings, sources, includes, .. } = self;
        Inspection { snapshot: &**snapshot, settings, sources, includes }
    }

    /// What expanding needs.
    pub(super) fn context(&self) -> Context<'_> {
        Context {
            snapshot: &*self.snapshot,
            includes: &self.includes,
            sources: &self.sources,
            limits: &self.limits,
            profile: self.settings.merge,
        }
    }
}

/// Where a path of the command line stands in the tree; `..` is followed as long as it stays inside.
pub(super) fn inside(prefix: &RepoPath, file: &Path) -> Result<RepoPath, Failure> {
    let outside = || Failure::new(format!("{} is outside the repository", file.display()));
    let mut path = prefix.clone();
    for part in file.components() {
        path = match part {
            std::path::Component::CurDir => path,
            std::path::Component::ParentDir => path.parent().ok_or_else(outside)?,
            std::path::Component::Normal(name) => path.join(name.as_encoded_bytes()).map_err(|_| outside())?,
            _ => return Err(outside()),
        };
    }
    Ok(path)
}
