//! Plans changes of metadata: which files to write and remove. Nothing is changed here.

use std::sync::Arc;

use smol_str::SmolStr;

use super::decode::decode;
use super::directory::{Directory, Likeness};
use super::effective::{Effect, EffectiveMetadata, Layer};
use super::field::{DocumentForm, FieldPath};
use super::layers::Layers;
use super::native;
use super::selector::{MetadataPath, WILDCARD, segment_fits};
use super::statement::{Statement, StatementKind, Statements};
use super::{compose, effective::LayerOrigin};
use crate::document::write;
use crate::finding::{self, Finding, Location};
use crate::glob::is_glob;
use crate::names::{self, Format};
use crate::path::{PathError, RepoPath};
use crate::snapshot::EntryKind;
use crate::value::Node;

pub use super::amend::{set_field, supplement, unset_field};

/// What to do to the files of a working tree, in this order; all of it or nothing.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct EditPlan {
    /// The files.
    pub edits: Vec<FileEdit>,
    /// Directories that are left empty, the deepest first.
    pub prune: Vec<RepoPath>,
}

/// One change to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileEdit {
    /// The file has this text afterwards.
    Write {
        /// Which.
        path: RepoPath,
        /// All of it.
        text: String,
    },
    /// The file is gone afterwards.
    Remove {
        /// Which.
        path: RepoPath,
    },
}

/// A plan, or the findings that prevent it.
pub type Planned = Result<EditPlan, Vec<Finding>>;

/// Replaces the metadata of a path by a document, which is written in canonical form.
///
/// A file that exists keeps its name, and with it its format. Refused where a `null` that switches off an inherited value would
/// be lost, because documents are written without nulls.
pub fn replace(path: &MetadataPath, document: &Node, layers: &Layers<'_>, format: Format) -> Planned {
    let statements = decode(document);
    if !statements.is_sound() {
        return Err(statements.findings);
    }
    let place = MetadataFiles::of(path, layers, format)?;
    place.keep_cleared(&statements, path, layers)?;
    let written = match statements.form {
        Some(DocumentForm::New) => native::document(&statements, document.span),
        _ => compose::statements(&statements, document.span),
    };
    Ok(place.write(text_of(&written, &place.file)))
}

/// Removes the metadata of a path and the directories that are left empty.
pub fn remove(path: &MetadataPath, layers: &Layers<'_>) -> Planned {
    let place = MetadataFiles::of(path, layers, Format::default())?;
    if place.files.is_empty() {
        return Err(vec![not_found(path, &place.directory, layers)]);
    }
    let edits = place.files.iter().map(|file| FileEdit::Remove { path: file.clone() }).collect();
    Ok(EditPlan { edits, prune: left_empty(&place, layers) })
}

/// The canonical text of a document in the format that a file's name promises.
pub(super) fn text_of(canonical: &Node, file: &RepoPath) -> String {
    match Format::of_file_name(file.file_name()) {
        Some(Format::Json) => write::to_json(canonical),
        _ => write::to_yaml(canonical),
    }
}

pub(super) fn not_found(path: &MetadataPath, directory: &RepoPath, layers: &Layers<'_>) -> Finding {
    let location = Location::File { path: directory.clone(), revision: layers.label() };
    Finding::new(&finding::METADATA_NOT_FOUND, location, format!("no metadata is stored for {path}"))
        .help(format!("`outcrop metadata resolve {path} --layers` lists the files that apply to it"))
}

/// The form and the extension that a new document takes from the layers around it: of the nearest above, or else of most of them.
/// Over a weaker source, a tree without layers begins with the new form in YAML.
#[derive(Default)]
pub(super) struct Surroundings {
    pub(super) form: Option<DocumentForm>,
    extension: Option<SmolStr>,
}

impl Surroundings {
    pub(super) fn of(directory: &RepoPath, layers: &Layers<'_>) -> Self {
        let stored: Vec<Arc<Layer>> = layers.stored();
        if stored.is_empty() {
            return match layers.weaker() {
                Some(_) => Self { form: Some(DocumentForm::New), extension: Some("yaml".into()) },
                None => Self::default(),
            };
        }
        let file = |layer: &Arc<Layer>| match &layer.origin {
            LayerOrigin::File { path, .. } => Some(path.clone()),
            _ => None,
        };
        let is_above = |layer: &&Arc<Layer>| {
            let collection = file(layer).and_then(|file| file.parent()?.parent());
            let is_collection = layer.selector().is_some_and(MetadataPath::is_collection);
            is_collection && collection.is_some_and(|collection| directory.is_within(&collection))
        };
        let depth = |layer: &&Arc<Layer>| layer.selector().map_or(0, |selector| selector.segments().len());
        let nearest = stored.iter().filter(is_above).max_by_key(depth);
        let extension_of = |layer: &Arc<Layer>| {
            let file = file(layer)?;
            file.stem_and_extension().map(|(_, extension)| SmolStr::new(extension))
        };
        let form = nearest.and_then(|layer| layer.statements.form);
        let extension = nearest.and_then(extension_of);
        Self {
            form: form.or_else(|| most(stored.iter().filter_map(|layer| layer.statements.form))),
            extension: extension.or_else(|| most(stored.iter().filter_map(extension_of))),
        }
    }
}

/// What occurs most often; of several, the one that occurs first.
fn most<T: PartialEq>(items: impl Iterator<Item = T>) -> Option<T> {
    let mut counted: Vec<(T, usize)> = Vec::new();
    for item in items {
        match counted.iter_mut().find(|(known, _)| *known == item) {
            Some((_, count)) => *count += 1,
            None => counted.push((item, 1)),
        }
    }
    let highest = counted.iter().map(|(_, count)| *count).max()?;
    counted.into_iter().find(|(_, count)| *count == highest).map(|(item, _)| item)
}

/// Where the metadata of a path is, or would be.
pub(super) struct MetadataFiles {
    pub(super) directory: RepoPath,
    /// The file that is read, or the one to make.
    pub(super) file: RepoPath,
    /// All metadata files that are there, the one that is read first.
    pub(super) files: Vec<RepoPath>,
    /// What is there.
    pub(super) layer: Option<Arc<Layer>>,
}

impl MetadataFiles {
    pub(super) fn of(path: &MetadataPath, layers: &Layers<'_>, format: Format) -> Result<Self, Vec<Finding>> {
        let refused = |message: String| {
            let location = Location::File { path: layers.base.clone(), revision: layers.label() };
            vec![Finding::new(&finding::METADATA_PATH, location, message)]
        };
        let no_name = |error: PathError| refused(error.to_string());
        let directory = path.directory(&layers.base).map_err(no_name)?;
        if directory.components().any(is_git_directory) {
            return Err(refused(format!("{directory} leads into git's own directory")));
        }
        if let Some(obstacle) = obstacle(&directory, layers)? {
            return Err(refused(format!("{obstacle} is not a directory, so nothing can be stored below it")));
        }
        let listed = Directory::list(layers.snapshot, &directory);
        if let Some(entry) = listed.metadata.iter().find(|entry| entry.kind != EntryKind::File) {
            return Err(refused(format!("{} is a link or has a conflict, and is not touched", entry.path)));
        }
        let files: Vec<RepoPath> = listed.metadata.iter().map(|entry| entry.path.clone()).collect();
        let file = match files.first() {
            Some(file) => file.clone(),
            None => match Surroundings::of(&directory, layers).extension {
                Some(extension) => {
                    directory.join(format!("{}.{extension}", names::METADATA).as_bytes()).map_err(no_name)?
                }
                None => path.file(&layers.base, format).map_err(no_name)?,
            },
        };
        let layer = layers.layer_in(&listed);
        Ok(Self { directory, file, files, layer })
    }

    pub(super) fn write(&self, text: String) -> EditPlan {
        EditPlan { edits: vec![FileEdit::Write { path: self.file.clone(), text }], prune: Vec::new() }
    }

    /// Refuses a document without nulls where a null, in it or in the one it replaces, switches off an inherited value.
    fn keep_cleared(&self, new: &Statements, path: &MetadataPath, layers: &Layers<'_>) -> Result<(), Vec<Finding>> {
        let old = self.layer.iter().flat_map(|layer| &layer.statements.all);
        let nulls: Vec<&Statement> =
            new.all.iter().chain(old).filter(|statement| matches!(statement.kind, StatementKind::Null)).collect();
        if nulls.is_empty() {
            return Ok(());
        }
        let inherited = inherited(path, layers);
        let is_set_anew = |field_path: &FieldPath| {
            new.all.iter().any(|statement| match &statement.kind {
                StatementKind::Value(_) => statement.field_path == *field_path,
                StatementKind::Empty(_) => statement.field_path.covers(field_path),
                StatementKind::Null | StatementKind::Present(_) => false,
            })
        };
        let findings: Vec<Finding> = nulls
            .into_iter()
            .filter_map(|null| {
                let lost = inherited.entries().find_map(|(field_path, entry)| {
                    let is_lost = null.field_path.covers(field_path) && !is_set_anew(field_path);
                    let set = std::iter::successors(Some(entry), |entry| entry.over.as_deref());
                    let mut set = set.filter(|entry| matches!(entry.effect, Effect::Set(_)));
                    set.next().filter(|_| is_lost).map(|entry| (field_path, entry))
                })?;
                Some(would_return(null, lost.0, lost.1))
            })
            .collect();
        if findings.is_empty() { Ok(()) } else { Err(findings) }
    }
}

fn would_return(null: &Statement, field_path: &FieldPath, inherited: &super::effective::EffectiveEntry) -> Finding {
    let message =
        format!("`{}` is cleared here, and writing the document without nulls would bring it back", field_path);
    let by = match &inherited.by.origin {
        LayerOrigin::File { path, .. } => format!("{path} sets it"),
        _ => "inherited from here".to_owned(),
    };
    Finding::new(&finding::METADATA_CLEARS, Location::Span(null.at), crate::sanitize::inline(&message))
        .labelled("this null would be lost")
        .related(inherited.at, by)
        .help("change single fields with `outcrop metadata set PATH POINTER VALUE`, which leaves the rest as it is")
}

/// Everything that could be inherited at a place: from every layer that is weaker for at least one path that it applies to.
fn inherited(path: &MetadataPath, layers: &Layers<'_>) -> EffectiveMetadata {
    let mut found = EffectiveMetadata::empty(layers.nowhere);
    let mut level = vec![layers.directory(&layers.base)];
    let own = path.directory(&layers.base).ok().filter(|_| path.is_collection()).and_then(|marked| marked.parent());
    if own.as_ref() != Some(&layers.base) {
        found = with_collection(found, &level[0], layers);
    }
    for segment in path.segments() {
        let mut next: Vec<(Likeness, RepoPath)> = Vec::new();
        for parent in &level {
            // What cannot be listed cannot be written below either, and writing will say so.
            layers.snapshot.visit(&parent.path, &mut |member| {
                let name = std::str::from_utf8(member.name).unwrap_or_default();
                if member.kind == EntryKind::Directory && overlaps(segment, name) {
                    let is_pattern = name == WILDCARD || is_glob(name);
                    let likeness = if is_pattern { Likeness::Wildcard } else { Likeness::Literal };
                    next.push((likeness, member.path()));
                }
            });
        }
        next.sort_unstable();
        level.clear();
        for (_, candidate) in next {
            if Some(&candidate) == own.as_ref() {
                return found;
            }
            let directory = layers.directory(&candidate);
            found = with_collection(found, &directory, layers);
            level.push(directory);
        }
    }
    found
}

fn with_collection(found: EffectiveMetadata, directory: &Directory, layers: &Layers<'_>) -> EffectiveMetadata {
    match layers.collection_layer(directory) {
        Some(layer) => found.under(&layer),
        None => found,
    }
}

/// Whether some segment is meant by both a segment of a selector and the name of a directory; in doubt it is.
fn overlaps(own: &str, name: &str) -> bool {
    let both_patterns = is_glob(own) && (name == WILDCARD || is_glob(name));
    both_patterns || segment_fits(own, name) || segment_fits(name, own)
}

/// The first parent of a directory that is not a directory.
fn obstacle(directory: &RepoPath, layers: &Layers<'_>) -> Result<Option<RepoPath>, Vec<Finding>> {
    let mut on_the_way = Some(directory.clone());
    while let Some(path) = on_the_way.filter(|path| !path.is_root()) {
        match layers.snapshot.entry(&path) {
            Ok(Some(entry)) if entry.kind == EntryKind::Directory => return Ok(None),
            Ok(Some(_)) => return Ok(Some(path)),
            Ok(None) => {}
            Err(unreadable) => return Err(vec![unreadable.into_finding()]),
        }
        on_the_way = path.parent();
    }
    Ok(None)
}

/// The directories that hold nothing once the metadata is gone, deepest first; the root of all metadata stays.
fn left_empty(place: &MetadataFiles, layers: &Layers<'_>) -> Vec<RepoPath> {
    let mut gone: Vec<RepoPath> = place.files.clone();
    let mut empty = Vec::new();
    let mut directory = place.directory.clone();
    while directory != layers.base {
        let listing = layers.snapshot.list(&directory);
        let stays = !listing.unreadable.is_empty() || listing.entries.iter().any(|entry| !gone.contains(&entry.path));
        let Some(parent) = directory.parent().filter(|_| !stays) else { break };
        empty.push(directory.clone());
        gone = vec![directory];
        directory = parent;
    }
    empty
}

/// `.git`, in any case, and the name that old file systems give it.
fn is_git_directory(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b".git") || name.eq_ignore_ascii_case(b"git~1")
}
