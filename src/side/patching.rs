//! Documents patched from the command line: the result, as it may be shown.

use super::Side;
use crate::finding::{Finding, Outcome, has_errors};
use crate::layout::Role;
use crate::patch::read_any;
use crate::path::RepoPath;
use crate::resource::{Identity, Resource, kubernetes_name};
use crate::secrets::{differing, disguised, hide_copies_of, secrets_in, without_secrets};
use crate::value::Node;

/// A document to be patched.
#[derive(Debug, Clone)]
pub struct PatchInput {
    /// The file it is written in.
    pub file: RepoPath,
    /// Which document of that file it is, from 0, unless it is the only one.
    pub position: Option<usize>,
    /// What it says.
    pub root: Node,
}

/// Documents before and after a patch, as they may be shown.
#[derive(Debug)]
pub struct PatchedDocuments {
    /// The documents as they were.
    pub before: Vec<Resource>,
    /// The documents that are left.
    pub after: Vec<Resource>,
    /// Whether values were masked.
    pub is_masked: bool,
}

impl Side<'_> {
    /// Applies a patch to documents: to all of them, or, if anything is wrong, to none.
    pub fn patch(&self, patch: &Node, inputs: &Node, documents: &[PatchInput]) -> Outcome<Option<PatchedDocuments>> {
        let limits = self.limits;
        let read = read_any(patch, inputs, self.sources, limits);
        let mut findings = read.findings;
        let roots: Vec<Node> = documents.iter().map(|document| document.root.clone()).collect();
        let applied = match has_errors(&findings) {
            true => Outcome::clean(Vec::new()),
            false => read.value.apply(&roots, inputs, limits),
        };
        let is_applied = !has_errors(&findings) && !has_errors(&applied.findings);
        findings.extend(applied.findings);
        let hide = |root: &Node, file: &RepoPath| self.hide_document(root.clone(), file);
        let shown: Vec<Node> = documents.iter().map(|document| hide(&document.root, &document.file)).collect();
        let secrets = secrets_in(&shown);
        // What comes out different with other secrets was made of them.
        let others: Vec<Node> = roots
            .iter()
            .zip(&shown)
            .map(|(root, shown)| disguised(root, shown).unwrap_or_else(|| root.clone()))
            .collect();
        let others = match is_applied && !secrets.is_empty() {
            true => read.value.apply(&others, inputs, limits).value,
            false => Vec::new(),
        };
        let findings: Vec<Finding> = findings.into_iter().map(|finding| without_secrets(finding, &secrets)).collect();
        if has_errors(&findings) {
            return Outcome { value: None, findings };
        }
        let mut patched = PatchedDocuments { before: Vec::new(), after: Vec::new(), is_masked: false };
        for (at, ((document, shown), after)) in documents.iter().zip(shown).zip(applied.value).enumerate() {
            patched.is_masked |= !shown.is_identical(&document.root);
            if let Some(after) = after {
                let hidden = hide_copies_of(hide(&after, &document.file), &secrets);
                let hidden = match others.get(at) {
                    Some(Some(other)) => differing(&hidden, other, &hidden).unwrap_or(hidden),
                    _ => hidden,
                };
                patched.is_masked |= !hidden.is_identical(&after);
                patched.after.push(document.resource(&after, hidden));
            }
            patched.before.push(document.resource(&document.root, shown));
        }
        Outcome { value: Some(patched), findings }
    }

    /// The only document of a file as it may be shown.
    pub fn hide_document(&self, root: Node, file: &RepoPath) -> Node {
        let role = self.roles().role_of_content(file, kubernetes_name(&root).is_some());
        let identity = match (role, kubernetes_name(&root)) {
            (Role::Resource(path), _) | (Role::LegacyResource(path), None) => Identity::Logical(path),
            (Role::LegacyResource(_) | Role::Documents, Some(name)) => Identity::Kubernetes(name),
            _ => Identity::File { path: file.clone(), position: None },
        };
        self.hidden(Resource { identity, file: file.clone(), position: 0, payload: root, unit: None }).payload
    }
}

impl PatchedDocuments {
    /// The documents that are left, in order.
    pub fn documents(&self) -> impl Iterator<Item = &Node> {
        self.after.iter().map(|resource| &resource.payload)
    }
}

impl PatchInput {
    /// What a document is called is known from what it says, not from what is shown of it.
    fn resource(&self, said: &Node, shown: Node) -> Resource {
        let identity = match kubernetes_name(said) {
            Some(name) => Identity::Kubernetes(name),
            None => Identity::File { path: self.file.clone(), position: self.position },
        };
        Resource {
            identity,
            file: self.file.clone(),
            position: self.position.unwrap_or_default(),
            payload: shown,
            unit: None,
        }
    }
}
