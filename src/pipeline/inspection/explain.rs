//! Everything about where the values of a resource come from, put together.

use super::Inspection;
use super::find::{Found, Sought};
use super::payload_ladders::{ladders, nearest};
use crate::directive::{Read, Reads};
use crate::finding::{Finding, Outcome};
use crate::metadata::{EffectiveMetadata, MetadataPath};
use crate::path::{Pointer, RepoPath};
use crate::report::explain::{Explanation, Origin, Part, Role, Stories, Subject};
use crate::text::{SourceText, Span};
use crate::value::Node;

/// Which values are to be explained.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// Only those at or below this place.
    pub within: Pointer,
    /// Also those about which there is nothing to tell.
    pub everything: bool,
}

impl Inspection<'_> {
    /// Where the values of what is sought come from: one explanation for each resource, or one for a path without any.
    pub fn explain(&self, sought: &Sought, question: &Question) -> Outcome<Vec<Explanation>> {
        let Outcome { value: found, mut findings } = self.find(sought);
        let mut explanations = Vec::new();
        if let (Sought::Path(path, tree), true) = (sought, found.is_empty()) {
            let stored = self.resolve(path, tree);
            findings.extend(stored.findings);
            let metadata = self.metadata_part(&stored.value, path, &question.within);
            let nobody = Part { subject: Subject::Payload, origins: Vec::new(), ladders: Vec::new(), untold: 0 };
            let is_nobodys = metadata.origins.is_empty();
            let mut parts = vec![nobody, metadata];
            parts.retain(|part| match question.within.tokens().is_empty() {
                true => part.subject == Subject::Metadata || is_nobodys,
                false => !part.ladders.is_empty(),
            });
            let requests = self.collection_stories(path, tree, question).gather(&mut findings);
            explanations.push(Explanation { requests, ..self.explanation(path.to_string(), parts, None) });
        }
        for mut found in found {
            let taken_away = self.put_into_effect(&mut found, question, &mut findings);
            let mut metadata = self.metadata_of(&found.resource);
            if let Some((_, outcome)) = &mut metadata {
                findings.append(&mut outcome.findings);
            }
            let metadata = metadata.as_ref().map(|(path, outcome)| (path, &outcome.value));
            let name = found.resource.identity.to_string();
            let nearest = nearest(&found.resource.payload, &question.within);
            let requests = self.resource_stories(&found.resource, question).gather(&mut findings);
            let parts = self.parts(found, metadata, question);
            explanations.push(Explanation { requests, taken_away, ..self.explanation(name, parts, nearest) });
        }
        Outcome { value: explanations, findings: self.finished(findings) }
    }

    /// Takes a resource through its expressions and patches. Gives the operation that took away what is asked about, if one did.
    fn put_into_effect(&self, found: &mut Found, question: &Question, findings: &mut Vec<Finding>) -> Option<Span> {
        self.with_world(false, |world, _| {
            let resource = &found.resource;
            let effective = world.effective(resource);
            findings.extend(effective.findings.iter().cloned());
            let used = effective.patches.iter().filter(|patch| patch.is_used).map(|patch| patch.at);
            let mut patched_by: Vec<RepoPath> = used.map(|at| self.sources.get(at.source).path.clone()).collect();
            patched_by.dedup();
            let dropped_by = effective.removed_by.map(|at| {
                let text = self.sources.get(at.source);
                format!("{}:{}", text.path, text.line_column(at.range().start).0)
            });
            let payload = effective.payload.as_ref().unwrap_or(&effective.computed).clone();
            let is_gone = payload.at(&question.within).is_none();
            let taken_away = if is_gone { world.taken_away(resource, &question.within) } else { None };
            (found.patched_by, found.dropped_by, found.resource.payload) = (patched_by, dropped_by, payload);
            taken_away
        })
    }

    /// The same for every value of one document, as it may be shown.
    pub fn explain_document(&self, shown: Node, file: &RepoPath, reads: &Reads) -> Explanation {
        let question = Question { everything: true, ..Question::default() };
        let (ladders, untold) = ladders(&shown, &question);
        let part = Part { subject: Subject::Payload, origins: origins(file, &included(reads)), ladders, untold };
        self.explanation(file.to_string(), vec![part], None)
    }

    fn parts(
        &self,
        found: Found,
        metadata: Option<(&MetadataPath, &EffectiveMetadata)>,
        question: &Question,
    ) -> Vec<Part> {
        let is_whole = question.within.tokens().is_empty();
        let mut parts = vec![self.payload_part(found, metadata.map(|(_, stored)| stored), question)];
        parts.extend(metadata.map(|(path, stored)| self.metadata_part(stored, path, &question.within)));
        // Whoever asks for a place asks for what is there; and defaults alone are worth a word only where somebody asks.
        parts.retain(|part| match (is_whole, part.subject) {
            (true, Subject::Payload) => true,
            (true, Subject::Metadata) => !part.origins.is_empty(),
            (false, _) => !part.ladders.is_empty(),
        });
        parts
    }

    fn payload_part(&self, found: Found, metadata: Option<&EffectiveMetadata>, question: &Question) -> Part {
        let shown = self.shown_resource(found.resource, metadata);
        let (ladders, untold) = ladders(&shown.payload, question);
        let mut origins = origins(&shown.file, &found.includes);
        let patches = found.patched_by.iter().map(|file| Origin { role: Role::Patches, file: file.to_string() });
        origins.extend(patches);
        origins.extend(found.dropped_by.map(|file| Origin { role: Role::Drops, file }));
        Part { subject: Subject::Payload, origins, ladders, untold }
    }

    fn explanation(&self, name: String, parts: Vec<Part>, nearest: Option<Pointer>) -> Explanation {
        let revision = self.snapshot.label();
        Explanation {
            name,
            revision: revision.into(),
            parts,
            requests: Stories::default(),
            nearest,
            taken_away: None,
            nowhere: self.nowhere(),
        }
    }

    /// A place for what nobody wrote.
    pub fn nowhere(&self) -> Span {
        let source = self.sources.add(SourceText::new(RepoPath::root(), self.snapshot.label(), ""));
        Span::new(source, 0, 0)
    }
}

/// The files that a document includes.
pub(super) fn included(reads: &Reads) -> Vec<RepoPath> {
    reads.iter().filter(|(_, read)| **read != Read::Absent).map(|(file, _)| file.clone()).collect()
}

/// What is written in a file counts more than what it includes.
fn origins(file: &RepoPath, includes: &[RepoPath]) -> Vec<Origin> {
    let included = includes.iter().map(|file| Origin { role: Role::Included, file: file.to_string() });
    included.chain([Origin { role: Role::Document, file: file.to_string() }]).collect()
}
