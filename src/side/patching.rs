//! Documents patched from the command line: the result, as it may be shown.

use super::Side;
use crate::expression::cel::Inputs;
use crate::finding::{self, Finding, Location, Outcome, has_errors};
use crate::layout::Role;
use crate::layout::openchoreo::{DATA_PLANE, Definition};
use crate::patch::{CelReader, PlacedResource, read_any};
use crate::path::RepoPath;
use crate::resource::{Identity, Resource, kubernetes_name};
use crate::secrets::{differing, disguised, hide_copies_of, secrets_in, without_secrets};
use crate::text::Span;
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
        let roots: Vec<Node> = documents.iter().map(|document| document.root.clone()).collect();
        let apply = |roots: &[Node]| match is_trait(patch) {
            true => self.apply_trait(patch, inputs, roots),
            false => self.apply_patch(patch, inputs, roots),
        };
        let Outcome { value: (applied, created), findings } = apply(&roots);
        let hide = |root: &Node, file: &RepoPath| self.hide_document(root.clone(), file);
        let shown: Vec<Node> = documents.iter().map(|document| hide(&document.root, &document.file)).collect();
        let secrets = secrets_in(&shown);
        // What comes out different with other secrets was made of them.
        let others: Vec<Node> = roots
            .iter()
            .zip(&shown)
            .map(|(root, shown)| disguised(root, shown).unwrap_or_else(|| root.clone()))
            .collect();
        let (others, other_created) = match !has_errors(&findings) && !secrets.is_empty() {
            true => apply(&others).value,
            false => Default::default(),
        };
        let findings: Vec<Finding> = findings.into_iter().map(|finding| without_secrets(finding, &secrets)).collect();
        if has_errors(&findings) {
            return Outcome { value: None, findings };
        }
        let mut patched = PatchedDocuments { before: Vec::new(), after: Vec::new(), is_masked: false };
        for (at, ((document, shown), after)) in documents.iter().zip(shown).zip(applied).enumerate() {
            patched.is_masked |= !shown.is_identical(&document.root);
            if let Some(after) = after {
                let hidden = hide_copies_of(hide(&after, &document.file), &secrets);
                let hidden = without_dependent(hidden, others.get(at).and_then(Option::as_ref));
                patched.is_masked |= !hidden.is_identical(&after);
                patched.after.push(document.resource(&after, hidden));
            }
            patched.before.push(document.resource(&document.root, shown));
        }
        for (at, root) in created.into_iter().enumerate() {
            let file = self.sources.get(root.span.source).path.clone();
            let hidden = without_dependent(hide_copies_of(hide(&root, &file), &secrets), other_created.get(at));
            patched.is_masked |= !hidden.is_identical(&root);
            patched.after.push(PatchInput { file, position: None, root: root.clone() }.resource(&root, hidden));
        }
        Outcome { value: Some(patched), findings }
    }

    /// The documents after a patch, and none that it creates.
    fn apply_patch(&self, patch: &Node, inputs: &Node, roots: &[Node]) -> Outcome<AppliedPatch> {
        let read = read_any(patch, inputs, self.sources, self.limits);
        let mut findings = read.findings;
        let applied = match has_errors(&findings) {
            true => Outcome::clean(Vec::new()),
            false => read.value.apply(roots, inputs, self.limits),
        };
        findings.extend(applied.findings);
        Outcome { value: (applied.value, Vec::new()), findings }
    }

    /// The documents after a trait of OpenChoreo, and those that it creates. Its parameters have their defaults.
    fn apply_trait(&self, patch: &Node, inputs: &Node, roots: &[Node]) -> Outcome<AppliedPatch> {
        let nothing = || (Vec::new(), Vec::new());
        let fail = |message: String, at: Span| {
            let finding = Finding::new(&finding::OPENCHOREO_UNIT_FAILED, Location::Span(at), message);
            Outcome { value: nothing(), findings: vec![finding] }
        };
        let spec = patch.get("spec").unwrap_or(patch);
        let kind = patch.get("kind").and_then(Node::as_str).unwrap_or_default();
        let name = patch.get("metadata").and_then(|it| it.get("name")).and_then(Node::as_str).unwrap_or_default();
        let reader = CelReader { sources: self.sources, limits: self.limits, programs: None, is_deferred: true };
        let definition = Definition::read(kind, name, spec, DATA_PLANE, &reader);
        let variables = match definition.trait_variables(inputs, self.limits) {
            Ok(variables) => variables,
            Err(trouble) => return fail(trouble.message, trouble.at),
        };
        let bound = variables.iter().fold(Inputs::default(), |bound, (name, node)| bound.with(name, node));
        let placed = roots.iter().enumerate().map(|(number, root)| PlacedResource {
            plane: DATA_PLANE.into(),
            node: root.clone(),
            origin: smol_str::format_smolstr!("#{number}"),
        });
        let applied = match definition.apply_trait(placed.collect(), name, &bound, self.limits) {
            Ok(applied) => applied,
            Err(trouble) => return fail(trouble.message, trouble.at),
        };
        let given =
            |number: usize| applied.iter().find(|it| it.origin == format!("#{number}")).map(|it| it.node.clone());
        let left = (0..roots.len()).map(given).collect();
        let created = applied.iter().filter(|it| !it.origin.starts_with('#')).map(|it| it.node.clone()).collect();
        Outcome::clean((left, created))
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

/// Documents after a patch, none for those that it removes, and documents that it creates.
type AppliedPatch = (Vec<Option<Node>>, Vec<Node>);

/// Whether a document is a trait of OpenChoreo.
fn is_trait(patch: &Node) -> bool {
    let text = |key: &str| patch.get(key).and_then(Node::as_str).unwrap_or_default();
    text("apiVersion").starts_with("openchoreo.dev/") && ["Trait", "ClusterTrait"].contains(&text("kind"))
}

/// A hidden document, also without what was made otherwise of other secrets.
fn without_dependent(hidden: Node, other: Option<&Node>) -> Node {
    other.and_then(|other| differing(&hidden, other, &hidden)).unwrap_or(hidden)
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
