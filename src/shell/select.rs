//! What words of the command line mean in a side: paths, files, documents, and names of Kubernetes documents.

use std::ffi::{OsStr, OsString};

use super::error::Failure;
use crate::layout::Role;
use crate::metadata::{MetadataPath, is_metadata_file};
use crate::names;
use crate::path::{LogicalPath, Pointer, RepoPath};
use crate::resource::KubernetesQuery;
use crate::settings::Root;
use crate::side::{ResourceName, ResourceQuery, ResourceSelection, Side};
use crate::snapshot::{EntryKind, Scope};

/// Reads words of the command line, relative to a directory of the repository.
pub(super) struct WordReader<'a> {
    pub(super) side: &'a Side<'a>,
    /// The directory that the user is in.
    pub(super) prefix: &'a RepoPath,
}

impl WordReader<'_> {
    /// A logical path, or a file or directory that has one, and the root of its layers.
    pub(super) fn metadata_path(&self, word: &OsStr) -> Result<(MetadataPath, Root), Failure> {
        let text = word.to_str().ok_or_else(|| Failure::new("the path is not text"))?;
        if !text.trim_start().starts_with('/') {
            return self.place_in_repository(text);
        }
        let path = MetadataPath::parse(text).map_err(|error| Failure::new(error.to_string()))?;
        let mut found = self.side.layer_roots_with(&path);
        match found.len() {
            1 => Ok((path, found.remove(0))),
            0 => {
                let roots: Vec<String> = self.side.settings.layer_roots().paths().map(ToString::to_string).collect();
                let failure = Failure::new(format!("{path} is in none of the roots {}", roots.join(", ")));
                Err(failure
                    .help(format!("name a directory, such as {}{path}", roots.first().map_or("", String::as_str))))
            }
            _ => {
                let places: Vec<String> = found.iter().map(|root| format!("{}{path}", root.path)).collect();
                let failure = Failure::new(format!("{path} is in several roots"));
                Err(failure.help(format!("name one of the directories {}", places.join(", "))))
            }
        }
    }

    /// The directory that a word names, if there is one.
    pub(super) fn directory(&self, word: &OsStr) -> Option<RepoPath> {
        let text = word.to_str().filter(|text| !text.starts_with('/'))?;
        let place = self.place(text).ok()?;
        let entry = self.side.snapshot.entry(&place).ok().flatten();
        (place.is_root() || entry.is_some_and(|entry| entry.kind == EntryKind::Directory)).then_some(place)
    }

    /// The directory of a kustomization, or the name of a component in an environment, if a word names one.
    pub(super) fn root(&self, word: &OsStr) -> Option<RepoPath> {
        let text = word.to_str().filter(|text| !text.starts_with('/'))?;
        let component = || RepoPath::new(text).ok().filter(|name| self.side.has_component(name));
        self.place(text).ok().filter(|place| self.side.has_kustomization(place)).or_else(component)
    }

    /// Refuses a path at which there is nothing. For a path that may be new, only one that looks like a mistake is refused: an
    /// existing path is nearly the same, or there is no collection that it could belong to.
    pub(super) fn refuse_absent(&self, path: &MetadataPath, root: &Root, may_be_new: bool) -> Result<(), Failure> {
        let Some(logical) = path.to_logical().filter(|_| !path.is_collection()) else { return Ok(()) };
        let is_known = |path: &LogicalPath| {
            self.side.exists_at(path) || self.side.has_place(&MetadataPath::of_resource(path), &root.path)
        };
        let nearest = self.side.nearest_path(&logical);
        let parent = logical.parent().unwrap_or_else(LogicalPath::root);
        let is_plausible = may_be_new && nearest.is_none() && is_known(&parent);
        if is_known(&logical) || is_plausible {
            return Ok(());
        }
        let failure = Failure::new(format!("there is no resource or collection at {path}"));
        if let Some(nearest) = nearest {
            return Err(failure.help(format!("did you mean {nearest}?")));
        }
        let around = std::iter::successors(Some(parent), LogicalPath::parent).find(|around| is_known(around));
        let children = self.side.children(&around.clone().unwrap_or_else(LogicalPath::root));
        let names: Vec<&str> = children.iter().take(5).map(LogicalPath::as_str).collect();
        let more = if children.len() > names.len() { ", …" } else { "" };
        Err(match (around, names.is_empty()) {
            (Some(around), false) => failure.help(format!("in {around} there are {}{more}", names.join(", "))),
            _ => failure.help("PATH is a logical path such as /customers/acme, or a file or directory"),
        })
    }

    /// What a word means where one resource is asked for: a logical path, a file or one of its documents, a directory, or the name
    /// of a Kubernetes document.
    pub(super) fn query(&self, word: &OsStr) -> Result<ResourceQuery, Failure> {
        let text = word.to_str().ok_or_else(|| Failure::new("the path is not text"))?;
        let of_path = |(path, root)| ResourceQuery::Path(path, root);
        if text.trim_start().starts_with('/') {
            return self.metadata_path(word).map(of_path);
        }
        let place = self.place(text);
        let entry = |place: &RepoPath| self.side.snapshot.entry(place).ok().flatten();
        if let Ok(file) = &place
            && entry(file).is_some_and(|entry| entry.kind == EntryKind::File)
        {
            let is_layer = self.side.roles().role(file) == Role::Layer;
            if is_layer && is_metadata_file(file.file_name()) {
                return self.place_in_repository(text).map(of_path);
            }
            return Ok(ResourceQuery::File(file.clone(), None));
        }
        if let Some((file, position)) = self.document(text) {
            return Ok(ResourceQuery::File(file, Some(position)));
        }
        let is_there = place.as_ref().is_ok_and(|place| entry(place).is_some());
        match KubernetesQuery::parse(text) {
            Some(query) if !is_there => Ok(ResourceQuery::Kubernetes(query)),
            _ => self.place_in_repository(text).map(of_path),
        }
    }

    /// What words of the command line mean where any number of resources is asked for, and the words that are names.
    pub(super) fn selection(&self, words: &[OsString]) -> Result<(ResourceSelection, Vec<String>), Failure> {
        let roots: Vec<RepoPath> = self.side.settings.roots.paths().cloned().collect();
        let scope = |words: &[&[u8]]| Scope::new(words, self.prefix, &roots);
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
                ResourceName::Place(_) => places.push(bytes.to_vec()),
                ResourceName::Logical(_, path) => {
                    // A document that names itself is in a file of the directory above.
                    let above = path.parent().unwrap_or_else(LogicalPath::root);
                    places.extend([bytes.to_vec(), above.as_str().as_bytes().to_vec()]);
                }
                ResourceName::Document(file, _) => places.push([b":(top,literal)", file.as_bytes()].concat()),
                ResourceName::Kubernetes(_) => is_anywhere = true,
            }
            names.push(name);
            shown.push(word.to_string_lossy().into_owned());
        }
        let places: Vec<&[u8]> = places.iter().map(Vec::as_slice).filter(|_| !is_anywhere).collect();
        Ok((ResourceSelection::new(names, scope(&places)?, scope(&left_out)?), shown))
    }

    fn name(&self, word: &OsStr, scope: Scope) -> Result<ResourceName, Failure> {
        let Some(text) = word.to_str() else { return Ok(ResourceName::Place(scope)) };
        if text.starts_with(':') || text.contains(['*', '?', '[']) {
            return Ok(ResourceName::Place(scope));
        }
        if text.starts_with('/') {
            let path = LogicalPath::parse(text.trim_end_matches('/'));
            return Ok(path.map_or(ResourceName::Place(scope.clone()), |path| ResourceName::Logical(scope, path)));
        }
        if self.place(text).is_ok_and(|place| self.side.snapshot.entry(&place).is_ok_and(|entry| entry.is_some())) {
            return Ok(ResourceName::Place(scope));
        }
        if let Some((file, position)) = self.document(text) {
            return Ok(ResourceName::Document(file, position));
        }
        Ok(KubernetesQuery::parse(text).map_or(ResourceName::Place(scope), ResourceName::Kubernetes))
    }

    /// `FILE#2` is the second document of a file.
    fn document(&self, text: &str) -> Option<(RepoPath, usize)> {
        let (file, number) = text.rsplit_once('#')?;
        Some((self.place(file).ok()?, number.parse::<usize>().ok()?.checked_sub(1)?))
    }

    /// The path of a file or directory that is named relative to the current directory.
    fn place(&self, text: &str) -> Result<RepoPath, Failure> {
        let refused = |error: &dyn std::fmt::Display| Failure::new(format!("{text}: {error}"));
        let mut place = self.prefix.clone();
        for name in text.split('/').filter(|name| !matches!(*name, "" | ".")) {
            place = match name {
                ".." => place.parent().ok_or_else(|| refused(&"it is outside the repository"))?,
                name => place.join(name.as_bytes()).map_err(|error| refused(&error))?,
            };
        }
        Ok(place)
    }

    /// The metadata path of a file or directory.
    fn place_in_repository(&self, text: &str) -> Result<(MetadataPath, Root), Failure> {
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
        let roots = self.side.settings.layer_roots();
        let Some(root) = roots.around(&place) else {
            return Err(refused(&"it is not in any root of resources").help("`roots` in outcrop.yaml lists them"));
        };
        let below = place.below(&root.path).unwrap_or_default();
        let marker = if is_collection { "/" } else { "" };
        let path = MetadataPath::parse(&format!("/{}{marker}", below.to_str().unwrap_or_default()));
        Ok((path.map_err(|error| refused(&error))?, root.clone()))
    }
}

/// A JSON Pointer from the command line, or a path as reports print it.
pub(super) fn pointer(text: &str) -> Result<Pointer, Failure> {
    let help = "for example /operationInfo/getResource/path, or .spec.containers[web].image";
    Pointer::read(text).map_err(|reason| Failure::new(format!("{text}: {reason}")).help(help))
}
