//! Which resource a finding is about, and where in it: known by the place of the finding.

use std::collections::BTreeMap;

use smol_str::ToSmolStr;

use crate::finding::Finding;
use crate::path::{Pointer, RepoPath};
use crate::resource::Resource;
use crate::text::{Sources, Span};
use crate::value::{Child, Node};

/// Names the resource of every finding that is inside of one, and the place in it.
pub fn name_subjects(findings: &mut [Finding], resources: &[Resource], sources: &Sources) {
    let mut by_file: BTreeMap<&RepoPath, Vec<&Resource>> = BTreeMap::new();
    if !findings.is_empty() {
        resources.iter().for_each(|resource| by_file.entry(&resource.file).or_default().push(resource));
    }
    for finding in findings.iter_mut() {
        let Some(span) = finding.span() else { continue };
        let path = sources.get(span.source).path.clone();
        let holds = |resource: &&&Resource| contains(resource.payload.span, span);
        let Some(resource) = by_file.get(&path).and_then(|resources| resources.iter().find(holds)) else { continue };
        if finding.resource.is_none() {
            finding.resource = Some(resource.identity.to_smolstr());
        }
        if finding.pointer.is_none() {
            finding.pointer = Some(pointer_at(&resource.payload, span));
        }
    }
}

/// The pointer to the smallest part of a document that holds a place.
fn pointer_at(root: &Node, place: Span) -> Pointer {
    let mut tokens = Vec::new();
    let mut node = root;
    let holds =
        |child: &Child<'_>| contains(child.node.span, place) || child.key.is_some_and(|key| contains(key.span, place));
    while let Some(child) = node.children().find(holds) {
        tokens.push(child.token());
        node = child.node;
    }
    tokens.into_iter().collect()
}

/// Whether a part holds a place; a place without length is held by the part that starts there.
fn contains(part: Span, place: Span) -> bool {
    part.source == place.source && part.start <= place.start && place.end <= part.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read;

    #[test]
    fn a_place_has_the_pointer_of_the_smallest_part_around_it() {
        let root = read("a:\n  - x: 1\n    y: [2, 3]\n");
        let at = |start: usize, end: usize| pointer_at(&root, Span::new(root.span.source, start, end)).to_string();
        assert_eq!((at(10, 11), at(20, 21)), ("/a/0/x".to_owned(), "/a/0/y/0".to_owned()));
        assert_eq!(at(7, 22), "/a/0");
    }
}
