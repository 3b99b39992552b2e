//! Findings about an object, each with its place in it.

use smol_str::SmolStr;

use crate::finding::{Finding, Location, Rule, Severity};
use crate::layout::openchoreo::object::Object;
use crate::path::Pointer;
use crate::text::Span;

/// Findings about one object.
pub(super) struct Findings<'o> {
    object: &'o Object,
    pub(super) all: Vec<Finding>,
}

impl<'o> Findings<'o> {
    pub(super) fn new(object: &'o Object) -> Self {
        Self { object, all: Vec::new() }
    }

    /// Adds a finding at a place; a place that does not exist is shown where it would be.
    pub(super) fn add(&mut self, rule: &'static Rule, place: &[SmolStr], message: impl Into<String>) {
        let mut finding =
            Finding::new(rule, Location::Span(self.span(place)), message).about(self.object.subject.clone());
        finding.pointer = (!place.is_empty()).then(|| place.iter().cloned().collect());
        // What is wrong with a place in one way is said once.
        let is_said = |it: &Finding| it.rule.id == rule.id && it.pointer == finding.pointer;
        if !self.all.iter().any(is_said) {
            self.all.push(finding);
        }
    }

    /// Adds a finding of another severity than its rule has.
    pub(super) fn add_as(
        &mut self,
        rule: &'static Rule,
        severity: Severity,
        place: &[SmolStr],
        message: impl Into<String>,
    ) {
        let known = self.all.len();
        self.add(rule, place, message);
        self.all[known..].iter_mut().for_each(|finding| finding.severity = severity);
    }

    /// Says what to do about the last finding.
    pub(super) fn help(&mut self, help: impl Into<String>) {
        if let Some(finding) = self.all.last_mut() {
            finding.help = Some(help.into());
        }
    }

    /// Says what the last finding is about.
    pub(super) fn label(&mut self, label: String) {
        if let Some(finding) = self.all.last_mut() {
            finding.label = label;
        }
    }

    /// Points the last finding at other places.
    pub(super) fn relate(&mut self, spans: impl Iterator<Item = Span>, text: &str) {
        for span in spans {
            if let Some(finding) = self.all.pop() {
                self.all.push(finding.related(span, text));
            }
        }
    }

    /// Where a place is written, or the nearest place around it.
    fn span(&self, place: &[SmolStr]) -> Span {
        let found = (0..=place.len()).rev().find_map(|length| {
            let pointer: Pointer = place[..length].iter().cloned().collect();
            self.object.node.at(&pointer).map(|node| (node.span, length == place.len()))
        });
        match found {
            Some((span, true)) if place.is_empty() => first_line(span, self.object),
            Some((span, _)) => span,
            None => self.object.node.span,
        }
    }
}

/// The beginning of an object: its first key.
fn first_line(span: Span, object: &Object) -> Span {
    let first = object.node.as_map().and_then(|map| map.entries().first());
    first.map_or(span.start_only(), |entry| entry.key.span)
}

/// A place below another one.
pub(super) fn below(place: &[SmolStr], steps: &[&str]) -> Vec<SmolStr> {
    place.iter().cloned().chain(steps.iter().map(SmolStr::new)).collect()
}

/// A place from its steps.
pub(super) fn place(steps: &[&str]) -> Vec<SmolStr> {
    below(&[], steps)
}
