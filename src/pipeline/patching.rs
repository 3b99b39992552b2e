//! Documents patched by hand: the result, or what it changes, as it may be shown.

use std::sync::Arc;

use super::inspection::Inspection;
use super::{judging, read_string};
use crate::diff::{self, OtherChanges};
use crate::finding::{Finding, Outcome, has_errors};
use crate::patch::read_any;
use crate::path::RepoPath;
use crate::report::{Compared, Report};
use crate::resource::{Identity, Resource, kubernetes_name};
use crate::secrets::{Masks, hide_copies_of, secrets_in, without_secrets};
use crate::value::Node;

/// A document to be patched.
#[derive(Debug, Clone)]
pub struct Patient {
    /// The file it stands in.
    pub file: RepoPath,
    /// Which document of that file it is, from 0, unless it is the only one.
    pub position: Option<usize>,
    /// What it says.
    pub root: Node,
}

/// Documents before and after a patch, as they may be shown.
#[derive(Debug)]
pub struct PatchedDocuments {
    before: Vec<Resource>,
    after: Vec<Resource>,
    /// Whether values were masked.
    pub is_masked: bool,
}

impl Inspection<'_> {
    /// Applies a patch to documents: to all of them, or, if anything is wrong, to none.
    pub fn patch(
        &self,
        patch: &Node,
        inputs: &Node,
        documents: &[Patient],
        reveal: bool,
    ) -> Outcome<Option<PatchedDocuments>> {
        let limits = &self.settings.limits;
        let read = read_any(patch, inputs, self.sources, limits);
        let mut findings = read.findings;
        let roots: Vec<Node> = documents.iter().map(|document| document.root.clone()).collect();
        let applied = match has_errors(&findings) {
            true => Outcome::clean(Vec::new()),
            false => read.value.apply(&roots, inputs, limits),
        };
        findings.extend(applied.findings);
        let hide =
            |root: &Node, file: &RepoPath| if reveal { root.clone() } else { self.shown_document(root.clone(), file) };
        let shown: Vec<Node> = documents.iter().map(|document| hide(&document.root, &document.file)).collect();
        let secrets = secrets_in(&shown);
        let findings: Vec<Finding> = findings.into_iter().map(|finding| without_secrets(finding, &secrets)).collect();
        if has_errors(&findings) {
            return Outcome { value: None, findings: self.finished(findings) };
        }
        let mut patched = PatchedDocuments { before: Vec::new(), after: Vec::new(), is_masked: false };
        for ((document, shown), after) in documents.iter().zip(shown).zip(applied.value) {
            patched.is_masked |= !shown.is_identical(&document.root);
            if let Some(after) = after {
                let hidden = hide_copies_of(hide(&after, &document.file), &secrets);
                patched.is_masked |= !hidden.is_identical(&after);
                patched.after.push(document.resource(&after, hidden));
            }
            patched.before.push(document.resource(&document.root, shown));
        }
        Outcome { value: Some(patched), findings: self.finished(findings) }
    }

    /// Findings in order, with configured severities, so that they can be shown.
    pub fn finished(&self, mut findings: Vec<Finding>) -> Vec<Finding> {
        let masks = Masks::new(&self.settings.secrets);
        self.with_world(false, |world, _| judging::finish_findings(&mut findings, world, &masks));
        findings
    }

    /// What a patch changes.
    pub fn patched_report(&self, patched: PatchedDocuments) -> Report {
        let mut options =
            diff::Options::new(&self.settings.lists).expect("patterns are checked when the configuration is read");
        options.embedded_parser = Some(Arc::new(read_string));
        let files: std::collections::BTreeSet<&RepoPath> =
            patched.before.iter().map(|resource| &resource.file).collect();
        let compared = Compared { files: files.len(), resources: patched.before.len() };
        let pairs = diff::pair(patched.before, patched.after);
        Report {
            before: "as written".into(),
            after: "patched".into(),
            resources: diff::compare_resources(pairs, &options, &|_, _, _| OtherChanges::default()),
            compared,
            sources: Arc::clone(self.sources),
            ..Report::default()
        }
    }
}

impl PatchedDocuments {
    /// The documents that are left, in order.
    pub fn documents(&self) -> impl Iterator<Item = &Node> {
        self.after.iter().map(|resource| &resource.payload)
    }
}

impl Patient {
    /// What a document is called is known from what it says, not from what is shown of it.
    fn resource(&self, said: &Node, shown: Node) -> Resource {
        let identity = match kubernetes_name(said) {
            Some(name) => Identity::Kubernetes(name),
            None => Identity::File { path: self.file.clone(), position: self.position },
        };
        Resource { identity, file: self.file.clone(), position: self.position.unwrap_or_default(), payload: shown }
    }
}
