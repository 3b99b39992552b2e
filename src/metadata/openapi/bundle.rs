//! One document from several files: references to other files of the repository become references within it.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use crate::path::{Pointer, RepoPath};
use crate::percent;
use crate::value::{Entry, Node};

/// The key below which the other files are kept.
const FILES: &str = "x-outcrop-files";

/// The files that the references of a document name, beside itself. What leads out of the repository names none.
pub fn referenced_files(document: &Node, path: &RepoPath) -> BTreeSet<RepoPath> {
    let mut files = BTreeSet::new();
    document.any(|node| {
        let named = node.get("$ref").and_then(Node::as_str).and_then(|text| named_file(text, path));
        files.extend(named.filter(|file| file != path));
        false
    });
    files
}

/// The first document with all others in it, and every reference to one of them leading there.
pub fn bundle(first: &RepoPath, documents: &BTreeMap<RepoPath, Node>) -> Option<Node> {
    let root = documents.get(first)?;
    if documents.len() == 1 {
        return Some(root.clone());
    }
    let others = documents.iter().filter(|(path, _)| *path != first).map(|(path, document)| {
        let node = redirected(document, path, first, documents).unwrap_or_else(|| document.clone());
        Entry::named(name_of(path), document.span.start_only(), node)
    });
    let others = Node::map(others.collect(), root.span.start_only());
    let own = redirected(root, first, first, documents).unwrap_or_else(|| root.clone());
    let mut entries = own.as_map()?.entries().to_vec();
    entries.push(Entry::named(FILES, root.span.start_only(), others));
    Some(Node { extra: own.extra.clone(), ..Node::map(entries, own.span) })
}

/// A part of a document with its references changed; nothing if there are none to change.
fn redirected(node: &Node, path: &RepoPath, first: &RepoPath, documents: &BTreeMap<RepoPath, Node>) -> Option<Node> {
    node.map_children(|child| match (child.key, child.node.as_str()) {
        (Some(key), Some(text)) if key.name == "$ref" => {
            let file = named_file(text, path).filter(|file| documents.contains_key(file))?;
            if file == *first && path == first && text.starts_with('#') {
                return None;
            }
            let fragment = text.split_once('#').map_or("", |(_, fragment)| fragment);
            Some(Node::text(reference(&file, first, fragment), child.node.span))
        }
        _ => redirected(child.node, path, first, documents),
    })
}

/// A reference to a place in one of the files, within the first.
fn reference(file: &RepoPath, first: &RepoPath, fragment: &str) -> String {
    if file == first {
        return format!("#{fragment}");
    }
    let place: Pointer = [SmolStr::new_static(FILES), name_of(file)].into_iter().collect();
    format!("#{}{fragment}", percent::escape_query(&place.to_string()))
}

fn name_of(path: &RepoPath) -> SmolStr {
    path.to_string().into()
}

/// The file that a reference of a document names: the document itself, or another by its relative path.
fn named_file(reference: &str, path: &RepoPath) -> Option<RepoPath> {
    let name = reference.split_once('#').map_or(reference, |(name, _)| name);
    if name.is_empty() {
        return Some(path.clone());
    }
    let name = percent::unescape(name)?;
    if name.starts_with('/') || name.contains(':') || name.contains('\\') {
        return None;
    }
    name.split('/').try_fold(path.parent()?, |place, step| match step {
        "." | "" => Some(place),
        ".." => place.parent(),
        step => place.join(step.as_bytes()).ok(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::write::to_inline;
    use crate::testing::read;

    #[test]
    fn references_lead_into_the_one_document() {
        let path = |text: &str| RepoPath::new(text).unwrap();
        let first = path("api/openapi.yaml");
        let root =
            "{a: {$ref: 'schemas/c.yaml#/C'}, b: {$ref: '#/a'}, c: {$ref: ../../out.yaml}, d: {$ref: 'https://x/y'}}";
        let other = "{C: {$ref: '#/D'}, D: {$ref: '../openapi.yaml#/b'}, E: {$ref: ./more.yaml}}";
        let documents = BTreeMap::from([(first.clone(), read(root)), (path("api/schemas/c.yaml"), read(other))]);
        assert_eq!(referenced_files(&documents[&first], &first), BTreeSet::from([path("api/schemas/c.yaml")]));
        assert_eq!(
            to_inline(&bundle(&first, &documents).unwrap()),
            "{a: {$ref: \"#/x-outcrop-files/api~1schemas~1c.yaml/C\"}, b: {$ref: \"#/a\"}, c: {$ref: ../../out.yaml}, d: \
             {$ref: https://x/y}, x-outcrop-files: {api/schemas/c.yaml: {C: {$ref: \
             \"#/x-outcrop-files/api~1schemas~1c.yaml/D\"}, D: {$ref: \"#/b\"}, E: {$ref: ./more.yaml}}}}"
        );
    }
}
