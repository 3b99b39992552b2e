//! Two files or directories that are not revisions of a repository: opened as sides, and compared under the rules of the repository
//! around them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::cli::Global;
use super::configuration;
use super::content::{self, Strictness};
use super::directory::{DirectorySnapshot, Links};
use super::error::Failure;
use super::git::{GitError, Repository, Revision};
use crate::comparison::{Comparison, Options, Report};
use crate::limits::{Budget, Spent};
use crate::names::Format;
use crate::path::RepoPath;
use crate::secrets::{DeclaredElsewhere, MovedSecrets};
use crate::settings::{Configuration, Given, Policy, Settings};
use crate::side::Side;
use crate::snapshot::{MemorySnapshot, Scope, Snapshot, files_below};
use crate::text::Sources;

/// Two sides outside the object database, and the snapshots that say how to read them and which of their values are secret.
pub(super) struct Outside {
    before: Box<dyn Snapshot>,
    after: Box<dyn Snapshot>,
    rules: Rules,
    budget: Budget,
    sources: Arc<Sources>,
    configuration: Configuration,
    /// The settings of the rules as they are written.
    settings: [Settings; 2],
    /// Those of the commit before.
    oldest: Option<Settings>,
}

/// The snapshots whose `outcrop.yaml` and layers apply to both sides: a file alone does not say which of its values are secret.
#[derive(Default)]
pub(super) struct Rules {
    /// The older and the newer one, or a single one, or none.
    snapshots: Vec<Box<dyn Snapshot>>,
    /// The commit before them: what it declares stays hidden.
    before: Option<Box<dyn Snapshot>>,
    /// The flags that may name another configuration.
    global: Option<Global>,
}

impl Rules {
    /// The last commit and the working tree of the repository around a directory; none outside a repository.
    pub(super) fn of_repository(global: &Global) -> Result<(Self, Option<Repository>), Failure> {
        let place = global.directory.clone().unwrap_or_else(|| PathBuf::from("."));
        let repository = match Repository::open(&place) {
            Ok(repository) => repository,
            Err(GitError::NotARepository { .. }) => {
                return Ok((Self { global: Some(global.clone()), ..Self::default() }, None));
            }
            Err(error) => return Err(error.into()),
        };
        let budget = Budget::default();
        let head = Revision::Tree(repository.head()?);
        let mut snapshots: Vec<Box<dyn Snapshot>> = vec![Box::new(repository.snapshot(&head, &budget)?)];
        let before = repository.head().and_then(|head| repository.first_parent(&head)).ok();
        let before = before.filter(|before| before.commit.is_some()).map(Revision::Tree);
        let before = before.and_then(|before| repository.snapshot(&before, &budget).ok());
        if let Some(root) = repository.root() {
            let on_disk = DirectorySnapshot::new(root, Links::Keep, budget).labelled("working tree");
            snapshots.push(Box::new(on_disk));
        }
        let before = before.map(|before| -> Box<dyn Snapshot> { Box::new(before) });
        Ok((Self { snapshots, before, global: Some(global.clone()) }, Some(repository)))
    }

    /// Two directories that bring their own rules, unless a repository has some.
    pub(super) fn or_of_directories(self, before: &Path, after: &Path) -> Self {
        if !self.snapshots.is_empty() || !before.is_dir() || !after.is_dir() {
            return self;
        }
        let open = |path: &Path| -> Box<dyn Snapshot> {
            Box::new(DirectorySnapshot::new(path, Links::Keep, Budget::default()))
        };
        Self { snapshots: vec![open(before), open(after)], ..self }
    }

    fn configuration(&self, sources: &Sources) -> Result<Configuration, Failure> {
        if let Some(global) = &self.global
            && let Some(named) = configuration::named(global, sources)?
        {
            return Ok(named);
        }
        let mut configuration = match &self.snapshots[..] {
            [before, after] => Configuration::read(&**before, &**after, Policy::Base, sources),
            [only] => Configuration::read(&**only, &**only, Policy::Base, sources),
            _ => Configuration::default(),
        };
        if let Some(before) = &self.before {
            let older = Configuration::of_one(&**before, sources).after;
            configuration.before.may_miss_secrets |= older.may_miss_secrets;
            configuration.before.secrets.extend(older.secrets.iter().cloned());
        }
        Ok(configuration)
    }
}

impl Outside {
    /// Opens two directories under the limits of the rules.
    pub(super) fn directories(
        rules: Rules,
        open: impl FnOnce(&Budget) -> Result<[Box<dyn Snapshot>; 2], Failure>,
    ) -> Result<Self, Failure> {
        let sources = Arc::new(Sources::default());
        let configuration = rules.configuration(&sources)?;
        let settings = [configuration.before.clone(), configuration.after.clone()];
        Self::open(rules, sources, configuration, settings, open)
    }

    /// Opens two single files under the limits of the rules. They are compared as written: what they include or refer to is elsewhere.
    pub(super) fn files(
        rules: Rules,
        open: impl FnOnce(&Budget) -> Result<[Box<dyn Snapshot>; 2], Failure>,
    ) -> Result<Self, Failure> {
        let sources = Arc::new(Sources::default());
        let mut configuration = rules.configuration(&sources)?;
        let whole = [configuration.before.clone(), configuration.after.clone()];
        for settings in [&mut configuration.before, &mut configuration.after] {
            (settings.directives, settings.expressions) = (false, false);
        }
        Self::open(rules, sources, configuration, whole, open)
    }

    fn open(
        rules: Rules,
        sources: Arc<Sources>,
        configuration: Configuration,
        settings: [Settings; 2],
        open: impl FnOnce(&Budget) -> Result<[Box<dyn Snapshot>; 2], Failure>,
    ) -> Result<Self, Failure> {
        let budget = Budget { limits: configuration.limits().clone(), ..Budget::default() };
        let [before, after] = open(&budget)?;
        let oldest = rules.before.as_deref().map(|before| Configuration::of_one(before, &sources).after);
        Ok(Self { before, after, rules, budget, sources, configuration, settings, oldest })
    }

    /// Compares both sides. Files that are no configuration are compared as text.
    pub(super) fn compare(&self, asked: Options<'_>) -> Report {
        self.comparison(asked).compare()
    }

    /// Compares one file; if it is no resource, such as a layer, as text.
    pub(super) fn compare_file(&self, old: &RepoPath, path: &RepoPath, asked: Options<'_>) -> Report {
        let comparison = self.comparison(asked);
        let mut report = comparison.compare();
        if report.resources.is_empty() && report.text_files.is_empty() && report.examined == 0 {
            report.text_files.extend(comparison.as_text(old, path).ok().filter(|file| !file.content.is_same()));
        }
        report
    }

    /// Compares one file line by line, whatever it is.
    pub(super) fn compare_lines(&self, old: &RepoPath, path: &RepoPath) -> Report {
        let (before, after) = (self.before.label().into(), self.after.label().into());
        let text_files = self.comparison(Options::default()).as_text(old, path).into_iter().collect();
        Report { before, after, text_files, sources: Arc::clone(&self.sources), ..Report::default() }
    }

    fn comparison<'s>(&'s self, asked: Options<'s>) -> Comparison<'s> {
        let (sources, limits) = (&self.sources, self.configuration.limits());
        let settings = [&self.configuration.before, &self.configuration.after];
        let declaring = self.rules.snapshots.iter().zip(settings);
        let declaring =
            declaring.map(|(snapshot, settings)| Given { snapshot: &**snapshot, settings, sources, limits });
        let oldest = self.rules.before.as_deref().zip(self.oldest.as_ref());
        let oldest = oldest.map(|(snapshot, settings)| Given { snapshot, settings, sources, limits });
        let declaring: Vec<Given<'_>> = oldest.into_iter().chain(declaring).collect();
        let budget = self.budget.clone();
        let settings = self.settings.each_ref();
        let whole = self.rules.snapshots.iter().zip(settings);
        let whole = whole.map(|(snapshot, settings)| Given { snapshot: &**snapshot, settings, sources, limits });
        let elsewhere = self.elsewhere(&oldest.into_iter().chain(whole).collect::<Vec<_>>());
        let options = Options { budget, declaring, elsewhere, all_files: true, ..asked };
        Comparison::new(&*self.before, &*self.after, &self.configuration, sources, options)
    }
}

/// So many files are looked up in the repository.
const MOST_FILES: usize = 1000;

impl Outside {
    /// What the repository says about these files.
    fn elsewhere(&self, declaring: &[Given<'_>]) -> DeclaredElsewhere {
        let mut elsewhere = DeclaredElsewhere::default();
        let mut files: BTreeSet<RepoPath> = BTreeSet::new();
        for side in [&*self.before, &*self.after] {
            let (entries, _) = files_below(side, &Scope::everything(), &self.budget.limits, &Spent::default());
            files.extend(entries.into_iter().map(|entry| entry.path).take(MOST_FILES));
        }
        elsewhere.is_anywhere = !declaring.is_empty();
        if let Some((newest, older)) = declaring.split_last() {
            let side = Side::new(*newest, older, false);
            elsewhere.moved.extend(side.moved().iter().flat_map(MovedSecrets::secrets));
        }
        for given in declaring {
            let side = Side::new(*given, &[], false);
            elsewhere.inputs.extend(&side.template_inputs());
            for file in &files {
                elsewhere.is_anywhere &= !side.has_file(file);
                elsewhere.moved.extend(side.given_in_namesakes_of(file));
                let (attributes, is_secret) = side.declared_for(file);
                // In directories, paths are those of the repository.
                if files.len() == 1 {
                    elsewhere.attributes = elsewhere.attributes.and(&attributes);
                }
                if is_secret {
                    elsewhere.secret_files.insert(file.clone());
                }
            }
        }
        elsewhere
    }
}

/// A snapshot of one file, or of nothing.
pub(super) fn one_file(name: RepoPath, content: Option<Arc<[u8]>>, label: &str) -> Box<dyn Snapshot> {
    let snapshot = MemorySnapshot::new(label);
    Box::new(match content {
        Some(content) => snapshot.with(name, content),
        None => snapshot,
    })
}

/// The content of a file on disk, `-` for standard input; nothing where a side does not have the file.
pub(super) fn read(path: &Path, budget: &Budget) -> Result<Option<Arc<[u8]>>, Failure> {
    if is_nothing(path) {
        return Ok(None);
    }
    let failed = |error: io::Error| Failure::new(format!("{} cannot be read: {error}", path.display()));
    let limit = budget.limits.file_bytes;
    let mut content = Vec::new();
    // A shell may pass a pipe, whose size is unknown.
    let most = limit.saturating_add(1);
    match path == Path::new(STANDARD_INPUT) {
        true => io::stdin().lock().take(most).read_to_end(&mut content).map_err(failed)?,
        false => File::open(path).map_err(failed)?.take(most).read_to_end(&mut content).map_err(failed)?,
    };
    if content.len() as u64 > limit {
        return Err(Failure::new(format!("{} has more than {limit} bytes, the limit for one file", path.display()))
            .help("raise `limits.file_bytes` in outcrop.yaml if the file is meant to be this large"));
    }
    Ok(Some(content.into()))
}

/// What standard input is called on a command line.
pub(super) const STANDARD_INPUT: &str = "-";

/// Whether a path means that a side does not have the file.
pub(super) fn is_nothing(path: &Path) -> bool {
    path == Path::new("/dev/null") || cfg!(windows) && path == Path::new("nul")
}

/// The name under which two files are compared: the newer one's, if both can be read as it says. Names without a known extension get
/// the one that the content has.
pub(super) fn common_name(paths: [&Path; 2], contents: [Option<&[u8]>; 2]) -> Result<RepoPath, Failure> {
    let guess = |bytes: Option<&[u8]>| content::format(bytes?, Strictness::AnyDocument);
    let formats = [0, 1].map(|side| content::format_of_name(paths[side]).or_else(|| guess(contents[side])));
    // Everything that is JSON can be read as YAML.
    let format = formats.into_iter().flatten().reduce(|a, b| if a == b { a } else { Format::Yaml });
    let fits = |path: &&Path| content::format_of_name(path) == format;
    if let Some(named) = paths.iter().rev().find(|path| fits(path) && !is_nothing(path)) {
        return name_on_disk(named);
    }
    let newest = if is_nothing(paths[1]) { paths[0] } else { paths[1] };
    // What comes through a pipe has no name of its own.
    let is_pipe = ["/dev/fd", "/proc", STANDARD_INPUT].iter().any(|place| newest.starts_with(place));
    let name = name_on_disk(if is_pipe { Path::new("input") } else { newest })?;
    format.map_or(Ok(name.clone()), |format| content::with_extension(&name, format))
}

/// A path of this machine as a name in a tree.
pub(super) fn name_on_disk(path: &Path) -> Result<RepoPath, Failure> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.as_encoded_bytes()),
        _ => None,
    });
    let names: Vec<&[u8]> = names.collect();
    // Where a file lies on this machine says nothing about it.
    let names = if path.is_absolute() { &names[names.len().saturating_sub(1)..] } else { &names };
    RepoPath::new(names.join(&b'/')).map_err(|error| Failure::new(error.to_string()))
}
