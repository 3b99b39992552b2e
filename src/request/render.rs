//! Fills in the templates of single fields, and remembers for each what it was made of.

use std::sync::Arc;

use smol_str::SmolStr;

use super::Target;
use super::scope::{Origin, Scoped};
use crate::expression::part_span;
use crate::expression::template::{self, Purpose, Rendered};
use crate::finding::{Finding, Location, Refusal};
use crate::metadata::{Directive, EffectiveMetadata, Field, Layer, Operation, PLACEHOLDER, Section};
use crate::path::Pointer;
use crate::sanitize;
use crate::text::Span;
use crate::value::{Node, Value};

/// A part of a request, and how it came to be.
#[derive(Debug, Clone)]
pub struct Part {
    /// What is sent.
    pub text: String,
    /// The template, as it is written; for what nobody wrote, the default.
    pub template: SmolStr,
    /// Where the template is written; nothing for a default.
    pub at: Option<Span>,
    /// The layer that says it; nothing for a default.
    pub by: Option<Arc<Layer>>,
    /// The values that went into it, in order.
    pub uses: Vec<NamedUse>,
}

/// A value that went into a part of a request.
#[derive(Debug, Clone)]
pub struct NamedUse {
    /// As the template writes it.
    pub name: String,
    /// The value.
    pub value: Node,
    /// Where it comes from.
    pub origin: Option<Origin>,
}

/// Fills in one template; the field's name is for messages.
pub fn render(
    field: &str,
    template: &Node,
    target: &Target<'_>,
    scoped: &Scoped<'_>,
    purpose: Purpose,
) -> Result<Part, Box<Finding>> {
    Said { field: field.to_owned(), node: Some(template), default: "", by: None }.render(target, scoped, purpose)
}

/// A template and who says it.
pub(super) struct Said<'m> {
    /// The name of the field, for messages.
    pub(super) field: String,
    pub(super) node: Option<&'m Node>,
    pub(super) default: &'static str,
    pub(super) by: Option<Arc<Layer>>,
}

impl<'m> Said<'m> {
    /// What the layers say about a directive, or the default.
    pub(super) fn of(
        metadata: &'m EffectiveMetadata,
        directive: &Directive,
        field: impl Into<String>,
        default: &'static str,
    ) -> Self {
        let said = metadata.provenance(directive).map(|provenance| provenance.winner);
        let node = said.and_then(|said| said.value());
        // A header's template is its value.
        let node = match directive.field {
            Field::Headers => node.and_then(|header| header.get("value")),
            _ => node,
        };
        let node = node.filter(|node| is_hidden(node) || node.as_str().is_some_and(|text| !text.trim().is_empty()));
        let by = node.and(said).map(|said| Arc::clone(&said.by));
        Self { field: field.into(), node, default, by }
    }

    fn text(&self) -> &str {
        self.node.and_then(Node::as_str).unwrap_or(self.default)
    }

    /// Fills in the template.
    pub(super) fn render(
        &self,
        target: &Target<'_>,
        scoped: &Scoped<'_>,
        purpose: Purpose,
    ) -> Result<Part, Box<Finding>> {
        if let Some(node) = self.node.filter(|node| is_hidden(node)) {
            return Ok(self.masked(node));
        }
        let template = target.memo.template(self.text());
        let template = template.map_err(|refusal| self.finding("is not valid", refusal, target))?;
        let scope = scoped.scope_of(&template);
        let rendered = target.memo.render(&template, &scope, purpose);
        let rendered = rendered.map_err(|refusal| self.finding("cannot be rendered", refusal, target))?;
        Ok(Part {
            text: rendered.text().to_owned(),
            template: self.text().into(),
            at: self.node.map(|node| node.span),
            by: self.by.clone(),
            uses: named(&rendered, self.text(), scoped, &scope),
        })
    }

    /// The template itself.
    pub(super) fn as_written(&self) -> Part {
        match self.node.filter(|node| is_hidden(node)) {
            Some(node) => self.masked(node),
            None => Part {
                text: self.text().to_owned(),
                template: self.text().into(),
                at: self.node.map(|node| node.span),
                by: self.by.clone(),
                uses: Vec::new(),
            },
        }
    }

    /// What stands for a template that nobody may see.
    fn masked(&self, node: &Node) -> Part {
        let hidden = NamedUse { name: self.field.clone(), value: node.clone(), origin: None };
        let mask = SmolStr::new_static(PLACEHOLDER);
        Part { text: mask.to_string(), template: mask, at: Some(node.span), by: self.by.clone(), uses: vec![hidden] }
    }

    fn finding(&self, what: &str, refusal: Refusal, target: &Target<'_>) -> Box<Finding> {
        let span = match (self.node, &refusal.range) {
            (Some(node), Some(range)) => part_span(node.span, self.text(), range.clone(), target.sources),
            (Some(node), None) => node.span,
            (None, _) => target.payload.span.start_only(),
        };
        let field = sanitize::inline(&self.field).into_owned();
        let subject = format!("the template of `{field}` {what} for {}", target.path);
        Box::new(refusal.about(&subject).into_finding(span))
    }

    /// A finding about what the template gave.
    pub(super) fn refused(&self, rule: &'static crate::finding::Rule, target: &Target<'_>, reason: &str) -> Finding {
        let place = self.node.map_or(target.payload.span.start_only(), |node| node.span);
        let field = sanitize::inline(&self.field).into_owned();
        Finding::new(rule, Location::Span(place), format!("`{field}` of {} cannot be sent: {reason}", target.path))
    }
}

fn is_hidden(node: &Node) -> bool {
    matches!(node.value, Value::Secret(_))
}

fn named(rendered: &Rendered, text: &str, scoped: &Scoped<'_>, scope: &template::Scope) -> Vec<NamedUse> {
    let uses = rendered.uses.iter().filter_map(|read| {
        let root = match read.level.checked_sub(1) {
            None => &scope.root,
            Some(above) => scope.ancestors.get(above)?,
        };
        let pointer: Pointer = read.path.iter().cloned().collect();
        let origin = read.path.first().and_then(|name| scoped.origin(read.level, name));
        Some(NamedUse { name: text[read.at.clone()].to_owned(), value: root.at(&pointer)?.clone(), origin })
    });
    uses.collect()
}

/// How many resources up the templates of an operation reach.
pub(super) fn levels(target: &Target<'_>, operation: Operation) -> usize {
    let sections = [Section::Resource, Section::Defaults, Section::Operation(operation)];
    let templates = target.metadata.said().filter(|(directive, _)| {
        sections.contains(&directive.section)
            && matches!(
                directive.field,
                Field::CollectionPath | Field::Method | Field::Path | Field::Query | Field::Headers | Field::Jq
            )
    });
    let texts = templates.filter_map(|(directive, said)| match directive.field {
        Field::Headers => said.value()?.get("value")?.as_str(),
        _ => said.value()?.as_str(),
    });
    let reaching = texts.filter(|text| text.contains("../"));
    reaching
        .filter_map(|text| target.memo.template(text).ok())
        .map(|template| template.reads_ancestors())
        .max()
        .unwrap_or(0)
}
