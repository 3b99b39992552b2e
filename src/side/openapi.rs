//! Reads the OpenAPI document that the configuration of a snapshot names, and the files that it refers to.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::finding::{self, Finding, Location, Outcome};
use crate::memo::Memo;
use crate::metadata::openapi::{ApiDocument, bundle, referenced_files};
use crate::path::RepoPath;
use crate::resource::{Content, parse};
use crate::settings::Given;
use crate::snapshot::{Entry, EntryKind, ObjectId};
use crate::value::Node;

/// Files of OpenAPI documents by their ids, and documents by those of all their files: each is read and put together once.
#[derive(Default)]
pub(super) struct Documents {
    files: Memo<(RepoPath, ObjectId), ReadFile>,
    documents: Memo<Vec<(RepoPath, ObjectId)>, Arc<ApiDocument>>,
}

/// The one document of a file, or what is wrong with it.
type ReadFile = Result<(Node, Vec<Finding>), Vec<Finding>>;

/// The document that `openapi` in `outcrop.yaml` names. It is read as it is written: merge directives in it are data.
pub(super) fn read(given: Given<'_>, known: &Documents) -> Outcome<Option<Arc<ApiDocument>>> {
    let Some(path) = &given.settings.openapi else { return Outcome::clean(None) };
    let broken = |findings| Outcome { value: None, findings };
    let entry = match given.snapshot.entry(path) {
        Ok(entry) => entry.filter(|entry| entry.kind == EntryKind::File),
        Err(error) => return broken(vec![error.into_finding()]),
    };
    let Some(entry) = entry else {
        return broken(vec![refused(given, path, &finding::OPENAPI_MISSING, format!("there is no file {path}"))]);
    };
    let (root, mut findings) = match file(given, &entry, known) {
        Ok(read) => read,
        Err(findings) => return broken(findings),
    };
    let mut ids = vec![entry.id.map(|id| (path.clone(), id))];
    let mut documents = BTreeMap::from([(path.clone(), root)]);
    let mut waiting: Vec<RepoPath> = referenced(&documents, path);
    while let Some(other) = waiting.pop() {
        if documents.contains_key(&other) || documents.len() > given.limits.includes as usize {
            continue;
        }
        let entry = given.snapshot.entry(&other).ok().flatten().filter(|entry| entry.kind == EntryKind::File);
        // A reference to a file that is not there, or cannot be read, is reported where it is used.
        let Some((entry, Ok((node, found)))) = entry.map(|entry| (entry.clone(), file(given, &entry, known))) else {
            continue;
        };
        findings.extend(found);
        ids.push(entry.id.map(|id| (other.clone(), id)));
        documents.insert(other.clone(), node);
        waiting.extend(referenced(&documents, &other));
    }
    let make = || {
        let root = bundle(path, &documents).unwrap_or_else(|| documents[path].clone());
        Arc::new(ApiDocument::new(root, documents.keys().cloned().collect()))
    };
    let document = match ids.into_iter().collect::<Option<Vec<_>>>() {
        Some(ids) => known.documents.get(&ids, make),
        None => make(),
    };
    Outcome { value: Some(document), findings }
}

fn referenced(documents: &BTreeMap<RepoPath, Node>, path: &RepoPath) -> Vec<RepoPath> {
    documents.get(path).map(|node| referenced_files(node, path).into_iter().collect()).unwrap_or_default()
}

/// One file, read once per id.
fn file(given: Given<'_>, entry: &Entry, known: &Documents) -> ReadFile {
    match entry.id {
        Some(id) => known.files.get(&(entry.path.clone(), id), || read_file(given, entry)),
        None => read_file(given, entry),
    }
}

fn read_file(given: Given<'_>, entry: &Entry) -> ReadFile {
    let path = &entry.path;
    let bytes = given.snapshot.read(entry).map_err(|error| vec![error.into_finding()])?;
    let content = Content { bytes: &bytes, path, revision: given.snapshot.label() };
    let mut parsed = parse(content, given.sources, given.limits);
    match (parsed.documents.len(), parsed.is_broken) {
        (1, false) => Ok((parsed.documents.remove(0).root, parsed.findings)),
        (_, true) => Err(parsed.findings),
        (count, false) => {
            let message = format!("{path} holds {count} documents, and an OpenAPI document is one");
            parsed.findings.push(refused(given, path, &finding::OPENAPI_INVALID, message));
            Err(parsed.findings)
        }
    }
}

fn refused(given: Given<'_>, path: &RepoPath, rule: &'static finding::Rule, message: String) -> Finding {
    let location = Location::File { path: path.clone(), revision: given.snapshot.label().into() };
    Finding::new(rule, location, message).help("`openapi` in outcrop.yaml names the file")
}
