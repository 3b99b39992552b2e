//! Explanations as data, for programs.

use smol_str::SmolStr;

use super::{Explanation, Ladder, Origin, Part, Role, Rung, Spoken, Story, Subject, Way};
use crate::report::locate::Locator;
use crate::report::request::{self, Rendered};
use crate::report::secret_numbers::SecretNumbers;
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
        if !explanation.requests.told.is_empty() {
            let requests = explanation.requests.told.iter().map(|story| self.story(story)).collect();
            entries.push(("requests", self.list(requests)));
        }
        self.map(entries)
    }

    fn story(&mut self, story: &Story) -> Node {
        let request = request::to_node(&Rendered::alone(story.request.clone()), self.sources);
        let request = self.secret_numbers.masked(&request);
        let mut entries = request.as_map().map(|map| map.entries().to_vec()).unwrap_or_default();
        if !story.transforms.is_empty() {
            let transform = |(name, node): &(SmolStr, Node)| {
                let value = self.secret_numbers.masked(node);
                let mut entries = vec![("name", self.text(name.clone())), ("value", value)];
                entries.extend(self.place(node.span));
                self.map(entries)
            };
            let transforms = story.transforms.iter().map(transform).collect();
            entries.push(Entry::named("transforms", self.nowhere, self.list(transforms)));
        }
        Node::map(entries, self.nowhere)
    }

    fn part(&mut self, part: &Part) -> Node {
        let origins: Vec<Node> = part.origins.iter().map(|origin| self.origin(origin)).collect();
        let ladders: Vec<Node> = part.ladders.iter().map(|ladder| self.ladder(ladder)).collect();
        let files = match part.subject {
            Subject::Payload => "files",
            Subject::Metadata => "layers",
        };
        let mut entries = vec![(files, self.list(origins)), ("values", self.list(ladders))];
        if part.untold > 0 {
            entries.push(("untold", self.count(part.untold)));
        }
        self.map(entries)
    }

    fn origin(&self, origin: &Origin) -> Node {
        let (key, role) = match &origin.role {
            Role::Document => ("role", "document"),
            Role::Included => ("role", "included"),
            Role::Patches => ("role", "patches"),
            Role::Drops => ("role", "drops"),
            Role::Collection { selector } | Role::Own { selector } => ("selector", selector.as_str()),
        };
        self.map(vec![(key, self.text(role)), ("file", self.text(origin.file.as_str()))])
    }

    fn ladder(&mut self, ladder: &Ladder) -> Node {
        let rungs: Vec<Node> = ladder.rungs.iter().map(|rung| self.rung(rung)).collect();
        self.map(vec![("pointer", self.text(ladder.pointer.to_string())), ("rungs", self.list(rungs))])
    }

    fn rung(&mut self, rung: &Rung) -> Node {
        let mut entries = Entries::new();
        match (&rung.origin, rung.at) {
            (Some(origin), _) => entries.push(("layer", self.text(origin.as_str()))),
            (None, None) => entries.push(("layer", self.text("defaults"))),
            (None, Some(_)) => {}
        }
        if let Some(at) = rung.at {
            entries.extend(self.place(at));
        }
        let Way { steps, left_out } = &rung.way;
        if !steps.is_empty() {
            let mut through = Vec::with_capacity(steps.len());
            for (kind, at) in steps {
                let mut step = vec![("by", self.text(kind.name()))];
                step.extend(self.place(*at));
                through.push(self.map(step));
            }
            entries.push(("through", self.list(through)));
        }
        if *left_out > 0 {
            entries.push(("steps_left_out", self.count(*left_out)));
        }
        entries.push(match &rung.spoken {
            Spoken::Value(node) if node.size() > LARGEST => {
                ("size", self.count(usize::try_from(node.size()).unwrap_or(usize::MAX)))
            }
            Spoken::Value(node) => ("value", self.secret_numbers.masked(node)),
            Spoken::Cleared | Spoken::Emptied => ("cleared", Node::new(Value::Bool(true), self.nowhere)),
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
