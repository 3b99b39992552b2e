//! What a snapshot says about the secrets of a file that is seen alone, as diff programs get it.

use super::Side;
use crate::limits::Spent;
use crate::metadata::{SecretAttributes, is_metadata_file};
use crate::path::RepoPath;
use crate::snapshot::{EntryKind, Scope, files_below};
use crate::value::Secret;

/// So many places of files with the same name are looked at.
const MOST_PLACES: usize = 50;

impl Side<'_> {
    /// The attributes that layers declare as secret for a file, and whether the file becomes part of a Secret. If it is not where it
    /// says, every file of that name is meant; if there is none, every layer may apply.
    pub fn declared_for(&self, file: &RepoPath) -> (SecretAttributes, bool) {
        let places = self.places_of(file);
        let attributes = match places.is_empty() {
            true => self.all_layers(),
            false => places.iter().map(|place| self.layers.secrets_near(place)).collect(),
        };
        let attributes = attributes.iter().fold(SecretAttributes::default(), |all, some| all.and(some));
        (attributes, places.iter().any(|place| self.becomes_secret(place)))
    }

    /// The secrets that a file has because tools put its values into Secrets; if it is not where it says, those of every file of
    /// that name.
    pub fn given_in_namesakes_of(&self, file: &RepoPath) -> Vec<Secret> {
        self.places_of(file).iter().flat_map(|place| self.secrets_given_by(place)).collect()
    }

    /// Whether a file is where it says.
    pub fn has_file(&self, file: &RepoPath) -> bool {
        matches!(self.snapshot.entry(file), Ok(Some(entry)) if entry.kind == EntryKind::File)
    }

    fn places_of(&self, file: &RepoPath) -> Vec<RepoPath> {
        if self.has_file(file) {
            return vec![file.clone()];
        }
        self.files_named(|path| path.file_name() == file.file_name()).into_iter().take(MOST_PLACES).collect()
    }

    fn all_layers(&self) -> Vec<SecretAttributes> {
        let files = self.files_named(|path| is_metadata_file(path.file_name()));
        files.iter().map(|file| self.layers.secrets_near(file)).collect()
    }

    fn files_named(&self, is_meant: impl Fn(&RepoPath) -> bool) -> Vec<RepoPath> {
        let (entries, _) = files_below(self.snapshot, &Scope::everything(), self.limits, &Spent::default());
        entries.into_iter().map(|entry| entry.path).filter(is_meant).collect()
    }
}
