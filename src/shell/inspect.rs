//! A repository opened to look at one revision, and at paths in it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::cli::{At, Global};
use super::error::Failure;
use super::exit::Exit;
use super::git::{Repository, Revision};
use super::on_disk::OnDisk;
use super::output;
use super::session::open_repository;
use crate::directive::Includes;
use crate::finding::{Finding, has_errors};
use crate::layout::{Role, Roles};
use crate::limits::Budget;
use crate::metadata::{MetadataPath, is_metadata_file};
use crate::names;
use crate::path::{LogicalPath, Pointer, RepoPath};
use crate::pipeline::{Configuration, Inspection, MetadataTree, Name, Named, Sought};
use crate::report::{self, Report};
use crate::resource::KubernetesQuery;
use crate::snapshot::{EntryKind, Scope, Snapshot};
use crate::text::Sources;

/// Everything a command needs to look at one revision.
pub(super) struct Inspected {
    pub(super) repository: Repository,
    snapshot: Box<dyn Snapshot>,
    pub(super) configuration: Configuration,
    pub(super) sources: Arc<Sources>,
    includes: Includes,
}

impl Inspected {
    /// Opens a revision; without one the files on disk, or, in a bare repository, the last commit.
    pub(super) fn open(global: &Global, at: &At) -> Result<Self, Failure> {
        let repository = open_repository(global)?;
        match (&at.at, repository.root().is_some()) {
            (Some(revision), _) => {
                let tree = repository.resolve(revision)?;
                Self::of_tree(repository, &Revision::Tree(tree))
            }
            (None, false) => {
                let head = repository.head()?;
                Self::of_tree(repository, &Revision::Tree(head))
            }
            (None, true) => Self::on_disk(repository),
        }
    }

    /// Opens the files on disk, to change them.
    pub(super) fn for_writing(global: &Global) -> Result<Self, Failure> {
        let repository = open_repository(global)?;
        if repository.root().is_none() {
            let failure = Failure::new("a bare repository has no working tree to write to");
            return Err(failure.help("run this in a clone or a worktree"));
        }
        Self::on_disk(repository)
    }

    fn of_tree(repository: Repository, revision: &Revision) -> Result<Self, Failure> {
        let mut snapshot = repository.snapshot(revision, &Budget::default())?;
        let sources = Arc::new(Sources::default());
        let configuration = Configuration::of_one(&snapshot, &sources);
        snapshot.set_limits(configuration.limits().clone());
        let includes = Includes::default();
        Ok(Self { repository, snapshot: Box::new(snapshot), configuration, sources, includes })
    }

    fn on_disk(repository: Repository) -> Result<Self, Failure> {
        let budget = Budget::default();
        let tracked = repository.snapshot(&Revision::Worktree, &budget)?;
        let root = repository.root().unwrap_or(Path::new("."));
        let mut snapshot = OnDisk::new(tracked, root, &budget);
        let sources = Arc::new(Sources::default());
        let configuration = Configuration::of_one(&snapshot, &sources);
        snapshot.set_limits(configuration.limits());
        let includes = Includes::default();
        Ok(Self { repository, snapshot: Box::new(snapshot), configuration, sources, includes })
    }

    pub(super) fn inspection(&self) -> Inspection<'_> {
        Inspection {
            snapshot: &*self.snapshot,
            settings: self.configuration.policy(),
            sources: &self.sources,
            includes: &self.includes,
        }
    }

    /// What a word of the command line means: a logical path, or a place in the repository that has one.
    pub(super) fn metadata_path(&self, word: &OsStr) -> Result<(MetadataPath, MetadataTree), Failure> {
        let text = word.to_str().ok_or_else(|| Failure::new("the path is not text"))?;
        if !text.trim_start().starts_with('/') {
            return self.place_in_repository(text);
        }
        let path = MetadataPath::parse(text).map_err(|error| Failure::new(error.to_string()))?;
        let mut trees = self.inspection().trees_with(&path);
        match trees.len() {
            1 => Ok((path, trees.remove(0))),
            0 => {
                let roots: Vec<String> = self.inspection().trees().iter().map(|tree| tree.base.to_string()).collect();
                let failure = Failure::new(format!("{path} stands in none of the roots {}", roots.join(", ")));
                Err(failure
                    .help(format!("name a directory, such as {}{path}", roots.first().map_or("", String::as_str))))
            }
            _ => {
                let places: Vec<String> = trees.iter().map(|tree| format!("{}{path}", tree.base)).collect();
                let failure = Failure::new(format!("{path} stands in several roots"));
                Err(failure.help(format!("name one of the directories {}", places.join(", "))))
            }
        }
    }

    /// What a word of the command line means where resources are asked for too: a logical path, a file or one of its documents,
    /// a directory, or the name of a Kubernetes document.
    pub(super) fn sought(&self, word: &OsStr) -> Result<Sought, Failure> {
        let text = word.to_str().ok_or_else(|| Failure::new("the path is not text"))?;
        if text.trim_start().starts_with('/') {
            let (path, tree) = self.metadata_path(word)?;
            return Ok(Sought::Path(path, tree));
        }
        let place = self.place(text);
        let entry = |place: &RepoPath| self.snapshot.entry(place).ok().flatten();
        if let Ok(file) = &place
            && entry(file).is_some_and(|entry| entry.kind == EntryKind::File)
        {
            let is_layer = Roles::new(&*self.snapshot, self.configuration.policy()).of(file) == Role::Layer;
            let is_metadata = is_layer && is_metadata_file(file.file_name());
            return match is_metadata {
                true => self.place_in_repository(text).map(|(path, tree)| Sought::Path(path, tree)),
                false => Ok(Sought::File(file.clone(), None)),
            };
        }
        if let Some((file, position)) = self.document(text) {
            return Ok(Sought::File(file, Some(position)));
        }
        let is_there = place.as_ref().is_ok_and(|place| entry(place).is_some());
        match KubernetesQuery::parse(text) {
            Some(query) if !is_there => Ok(Sought::Kubernetes(query)),
            _ => self.place_in_repository(text).map(|(path, tree)| Sought::Path(path, tree)),
        }
    }

    /// What words of the command line mean where any number of resources is asked for, and the words that are names.
    pub(super) fn named(&self, words: &[OsString]) -> Result<(Named, Vec<String>), Failure> {
        let (prefix, roots) = (self.repository.prefix(), self.configuration.roots());
        let scope = |words: &[&[u8]]| Scope::new(words, prefix, &roots);
        let (mut names, mut shown) = (Vec::new(), Vec::new());
        let (mut places, mut left_out): (Vec<Vec<u8>>, Vec<&[u8]>) = (Vec::new(), Vec::new());
        let mut is_anywhere = false;
        for word in words {
            let bytes = word.as_encoded_bytes();
            if [&b":!"[..], b":^", b":(exclude"].iter().any(|magic| bytes.starts_with(magic)) {
                left_out.push(bytes);
                continue;
            }
            let name = self.name(word, scope(&[bytes])?)?;
            match &name {
                Name::Place(_) => places.push(bytes.to_vec()),
                Name::Logical(_, path) => {
                    // A document that names itself stands in a file of the directory above.
                    let above = path.parent().unwrap_or_else(LogicalPath::root);
                    places.extend([bytes.to_vec(), above.as_str().as_bytes().to_vec()]);
                }
                Name::Document(file, _) => places.push([b":(top,literal)", file.as_bytes()].concat()),
                Name::Kubernetes(_) => is_anywhere = true,
            }
            names.push(name);
            shown.push(word.to_string_lossy().into_owned());
        }
        let places: Vec<&[u8]> = places.iter().map(Vec::as_slice).filter(|_| !is_anywhere).collect();
        Ok((Named::new(names, scope(&places)?, scope(&left_out)?), shown))
    }

    fn name(&self, word: &OsStr, scope: Scope) -> Result<Name, Failure> {
        let Some(text) = word.to_str() else { return Ok(Name::Place(scope)) };
        if text.starts_with(':') || text.contains(['*', '?', '[']) {
            return Ok(Name::Place(scope));
        }
        if text.starts_with('/') {
            let path = LogicalPath::parse(text.trim_end_matches('/'));
            return Ok(path.map_or(Name::Place(scope.clone()), |path| Name::Logical(scope, path)));
        }
        if self.place(text).is_ok_and(|place| self.snapshot.entry(&place).is_ok_and(|entry| entry.is_some())) {
            return Ok(Name::Place(scope));
        }
        if let Some((file, position)) = self.document(text) {
            return Ok(Name::Document(file, position));
        }
        Ok(KubernetesQuery::parse(text).map_or(Name::Place(scope), Name::Kubernetes))
    }

    /// `FILE#2` is the second document of a file.
    fn document(&self, text: &str) -> Option<(RepoPath, usize)> {
        let (file, number) = text.rsplit_once('#')?;
        Some((self.place(file).ok()?, number.parse::<usize>().ok()?.checked_sub(1)?))
    }

    /// Where a file or directory stands, from where the user stands.
    fn place(&self, text: &str) -> Result<RepoPath, Failure> {
        let refused = |error: &dyn std::fmt::Display| Failure::new(format!("{text}: {error}"));
        let mut place = self.repository.prefix().clone();
        for name in text.split('/').filter(|name| !matches!(*name, "" | ".")) {
            place = match name {
                ".." => place.parent().ok_or_else(|| refused(&"it is outside the repository"))?,
                name => place.join(name.as_bytes()).map_err(|error| refused(&error))?,
            };
        }
        Ok(place)
    }

    /// A file or directory, from where the user stands.
    fn place_in_repository(&self, text: &str) -> Result<(MetadataPath, MetadataTree), Failure> {
        let refused = |error: &dyn std::fmt::Display| Failure::new(format!("{text}: {error}"));
        let is_collection = text.ends_with('/');
        let mut place = self.place(text)?;
        let file_name = place.stem_and_extension().map(|(stem, extension)| (stem.to_owned(), extension.to_owned()));
        if let Some((stem, _)) =
            file_name.as_ref().filter(|(_, extension)| names::EXTENSIONS.contains(&extension.as_str()))
        {
            let parent = place.parent().unwrap_or_default();
            let is_named_by_directory = [names::RESOURCE, names::METADATA].contains(&stem.as_str());
            place = if is_named_by_directory {
                parent
            } else {
                parent.join(stem.as_bytes()).map_err(|error| refused(&error))?
            };
        }
        let trees = self.inspection().trees();
        let around = trees.into_iter().filter(|tree| place.is_within(&tree.base));
        let Some(tree) = around.max_by_key(|tree| tree.base.as_bytes().len()) else {
            return Err(
                refused(&"it stands in no root of resources").help("`roots` in outcrop.yaml says where they are")
            );
        };
        let below = place.as_bytes().get(tree.base.as_bytes().len()..).unwrap_or_default();
        let below = RepoPath::new(below.strip_prefix(b"/").unwrap_or(below)).unwrap_or_default();
        let marker = if is_collection { "/" } else { "" };
        let path = MetadataPath::parse(&format!("/{}{marker}", below.to_str().unwrap_or_default()));
        Ok((path.map_err(|error| refused(&error))?, tree))
    }

    /// Shows what was found beside the answer; with errors the answer is not complete.
    pub(super) fn report(&self, mut findings: Vec<Finding>, global: &Global) -> io::Result<Exit> {
        findings.splice(0..0, self.configuration.findings().iter().cloned());
        if findings.is_empty() {
            return Ok(Exit::Clean);
        }
        self.inspection().veil(&findings);
        let is_wrong = has_errors(&findings);
        let report = Report {
            after: self.snapshot.label().into(),
            findings,
            incomplete: is_wrong,
            sources: Arc::clone(&self.sources),
            ..Report::default()
        };
        output::write_message(|out| report::diagnostics::write(&report, &output::message_style(global), out))?;
        Ok(if is_wrong { Exit::Incomplete } else { Exit::Clean })
    }
}

/// A JSON Pointer from the command line.
pub(super) fn pointer(text: &str) -> Result<Pointer, Failure> {
    let help = "for example /operationInfo/getResource/path";
    Pointer::parse(text).map_err(|reason| Failure::new(format!("{text}: {reason}")).help(help))
}
