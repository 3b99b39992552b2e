//! Explanations as data, for programs.

use smol_str::SmolStr;

use super::terminal::reach_of;
use crate::explain::{
    ExplainedFile, ExplainedPart, ExplainedSubject, Explanation, FileRole, HistoryEffect, HistoryEntry, RequestTrace,
    Route, ValueHistory,
};
use crate::report::locate::Locator;
use crate::report::request;
use crate::report::secret_numbers::SecretNumbers;
use crate::side::RenderedRequest;
use crate::text::{Sources, Span};
use crate::value::{Entry, Node, Number, Value};

/// A value larger than that is counted instead of written.
const LARGEST: u64 = 10_000;

/// Everything as one document: the revision, and what is explained in it.
pub fn to_node(all: &[Explanation], sources: &Sources) -> Option<Node> {
    let first = all.first()?;
    let (locator, secret_numbers) = (Locator::new(sources), SecretNumbers::default());
    let mut writer = Writer { locator, sources, secret_numbers, nowhere: first.nowhere };
    let resources = all.iter().map(|explanation| writer.explanation(explanation)).collect();
    let revision = writer.text(first.revision.clone());
    let resources = Node::list(resources, first.nowhere);
    Some(writer.map(vec![("revision", revision), ("resources", resources)]))
}

struct Writer<'a> {
    locator: Locator<'a>,
    sources: &'a Sources,
    secret_numbers: SecretNumbers,
    nowhere: Span,
}

type Entries = Vec<(&'static str, Node)>;

impl Writer<'_> {
    fn explanation(&mut self, explanation: &Explanation) -> Node {
        let mut entries = vec![("name", self.text(explanation.name.as_str()))];
        for part in &explanation.parts {
            entries.push((part.subject.name(), self.part(part)));
        }
        if !explanation.requests.traces.is_empty() {
            let requests = explanation.requests.traces.iter().map(|trace| self.trace(trace)).collect();
            entries.push(("requests", self.list(requests)));
        }
        self.map(entries)
    }

    fn trace(&mut self, trace: &RequestTrace) -> Node {
        let request = request::to_node(&RenderedRequest::alone(trace.request.clone()), self.sources);
        let request = self.secret_numbers.masked(&request);
        let mut entries = request.as_map().map(|map| map.entries().to_vec()).unwrap_or_default();
        if !trace.transforms.is_empty() {
            let transform = |(name, node): &(SmolStr, Node)| {
                let value = self.secret_numbers.masked(node);
                let mut entries = vec![("name", self.text(name.clone())), ("value", value)];
                entries.extend(self.place(node.span));
                self.map(entries)
            };
            let transforms = trace.transforms.iter().map(transform).collect();
            entries.push(Entry::named("transforms", self.nowhere, self.list(transforms)));
        }
        Node::map(entries, self.nowhere)
    }

    fn part(&mut self, part: &ExplainedPart) -> Node {
        let origins: Vec<Node> = part.files.iter().map(|origin| self.origin(origin)).collect();
        let histories: Vec<Node> = part.values.iter().map(|history| self.history(history)).collect();
        let files = match part.subject {
            ExplainedSubject::Payload => "files",
            ExplainedSubject::Metadata => "layers",
        };
        let mut entries = vec![(files, self.list(origins)), ("values", self.list(histories))];
        if !part.skipped.is_empty() {
            let skipped = part.skipped.iter().map(|origin| self.origin(origin)).collect();
            entries.push(("skipped", self.list(skipped)));
        }
        if part.omitted > 0 {
            entries.push(("omitted", self.count(part.omitted)));
        }
        self.map(entries)
    }

    fn origin(&self, origin: &ExplainedFile) -> Node {
        let (key, role) = match &origin.role {
            FileRole::Document => ("role", "document"),
            FileRole::Included => ("role", "included"),
            FileRole::Patches => ("role", "patches"),
            FileRole::Drops => ("role", "drops"),
            FileRole::Collection { selector, .. } | FileRole::Own { selector } => ("selector", selector.as_str()),
        };
        let mut entries = vec![(key, self.text(role)), ("file", self.text(origin.file.as_str()))];
        entries.extend(reach_of(origin).map(|reach| ("reach", self.text(reach))));
        self.map(entries)
    }

    fn history(&mut self, history: &ValueHistory) -> Node {
        let entries: Vec<Node> = history.entries.iter().map(|entry| self.entry(entry)).collect();
        let mut fields = vec![("pointer", self.text(history.pointer.to_string()))];
        fields.extend(history.written.as_ref().map(|written| ("written", self.text(written.clone()))));
        fields.push(("rungs", self.list(entries)));
        self.map(fields)
    }

    fn entry(&mut self, entry: &HistoryEntry) -> Node {
        let mut entries = Entries::new();
        match (&entry.selector, entry.at) {
            (Some(origin), _) => entries.push(("layer", self.text(origin.as_str()))),
            (None, None) => entries.push(("layer", self.text("defaults"))),
            (None, Some(_)) => {}
        }
        if let Some(at) = entry.at {
            entries.extend(self.place(at));
        }
        let Route { steps, left_out } = &entry.route;
        if !steps.is_empty() {
            let mut through = Vec::with_capacity(steps.len());
            for (kind, at) in steps {
                let mut step = vec![("by", self.text(kind.name()))];
                step.extend(self.place(*at));
                through.push(self.map(step));
            }
            entries.push(("via", self.list(through)));
        }
        if *left_out > 0 {
            entries.push(("steps_left_out", self.count(*left_out)));
        }
        entries.push(match &entry.effect {
            HistoryEffect::Value(node) if node.size() > LARGEST => {
                ("size", self.count(usize::try_from(node.size()).unwrap_or(usize::MAX)))
            }
            HistoryEffect::Value(node) => ("value", self.secret_numbers.masked(node)),
            HistoryEffect::Cleared | HistoryEffect::Emptied => ("cleared", Node::new(Value::Bool(true), self.nowhere)),
        });
        self.map(entries)
    }

    fn place(&mut self, at: Span) -> Entries {
        let place = self.locator.start(at);
        vec![("file", self.text(place.text.path.to_string())), ("line", self.count(place.line))]
    }

    fn text(&self, text: impl Into<SmolStr>) -> Node {
        Node::text(text, self.nowhere)
    }

    fn count(&self, count: usize) -> Node {
        let number = Number::from_json(&count.to_string()).map_or(Value::Null, Value::Number);
        Node::new(number, self.nowhere)
    }

    fn list(&self, items: Vec<Node>) -> Node {
        Node::list(items, self.nowhere)
    }

    fn map(&self, entries: Entries) -> Node {
        let entries = entries.into_iter().map(|(name, node)| Entry::named(name, self.nowhere, node));
        Node::map(entries.collect(), self.nowhere)
    }
}
