//! Renders the templates of single fields, with the values that each one used.

use std::sync::Arc;

use smol_str::SmolStr;

use super::RequestTarget;
use super::scope::{ScopeOrigin, Scoped};
use crate::expression::part_span;
use crate::expression::template::{self, Purpose, Rendered};
use crate::finding::{Finding, Location, Refusal};
use crate::metadata::{EffectiveMetadata, Field, FieldPath, Layer, Operation, PLACEHOLDER, Section, TransformStep};
use crate::path::Pointer;
use crate::sanitize;
use crate::text::Span;
use crate::value::{Node, Value};

/// A rendered part of a request, with its provenance.
#[derive(Debug, Clone)]
pub struct RenderedPart {
    /// What is sent.
    pub text: String,
    /// The template as it is written, or the default.
    pub template: SmolStr,
    /// Where the template is written; `None` for a default.
    pub at: Option<Span>,
    /// The layer that sets it; `None` for a default.
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
    pub origin: Option<ScopeOrigin>,
}

/// Fills in one template; the field's name is for messages.
pub fn render(
    field: &str,
    template: &Node,
    target: &RequestTarget<'_>,
    scoped: &Scoped<'_>,
    purpose: Purpose,
) -> Result<RenderedPart, Box<Finding>> {
    FieldTemplate { field: field.to_owned(), node: Some(template), default: "", by: None }
        .render(target, scoped, purpose)
}

/// The template of a field, and the layer that sets it.
pub(super) struct FieldTemplate<'m> {
    /// The name of the field, for messages.
    pub(super) field: String,
    pub(super) node: Option<&'m Node>,
    pub(super) default: &'static str,
    pub(super) by: Option<Arc<Layer>>,
}

impl<'m> FieldTemplate<'m> {
    /// The template that the layers set, or the default.
    pub(super) fn of(
        metadata: &'m EffectiveMetadata,
        field_path: &FieldPath,
        field: impl Into<String>,
        default: &'static str,
    ) -> Self {
        let template = metadata.provenance(field_path).map(|provenance| provenance.winner);
        let node = template.and_then(|template| template.value());
        // A header's template is its value.
        let node = match field_path.field {
            Field::Headers => node.and_then(|header| header.get("value")),
            _ => node,
        };
        let node = node.filter(|node| is_hidden(node) || node.as_str().is_some_and(|text| !text.trim().is_empty()));
        let by = node.and(template).map(|template| Arc::clone(&template.by));
        Self { field: field.into(), node, default, by }
    }

    /// The template of a step of jq.
    pub(super) fn of_step(step: &TransformStep<'m>) -> Self {
        let node = Some(step.node);
        let node = node.filter(|node| is_hidden(node) || node.as_str().is_some_and(|text| !text.trim().is_empty()));
        Self { field: "jq".to_owned(), node, default: ".", by: node.map(|_| Arc::clone(step.by)) }
    }

    fn text(&self) -> &str {
        self.node.and_then(Node::as_str).unwrap_or(self.default)
    }

    /// Fills in the template.
    pub(super) fn render(
        &self,
        target: &RequestTarget<'_>,
        scoped: &Scoped<'_>,
        purpose: Purpose,
    ) -> Result<RenderedPart, Box<Finding>> {
        if let Some(node) = self.node.filter(|node| is_hidden(node)) {
            return Ok(self.masked(node));
        }
        let template = target.memo.template(self.text());
        let template = template.map_err(|refusal| self.finding("is not valid", refusal, target))?;
        let scope = scoped.scope_of(&template);
        let rendered = target.memo.render(&template, &scope, purpose);
        let rendered = rendered.map_err(|refusal| self.finding("cannot be rendered", refusal, target))?;
        Ok(RenderedPart {
            text: rendered.text().to_owned(),
            template: self.text().into(),
            at: self.node.map(|node| node.span),
            by: self.by.clone(),
            uses: named(&rendered, self.text(), scoped, &scope),
        })
    }

    /// The template itself.
    pub(super) fn as_written(&self) -> RenderedPart {
        match self.node.filter(|node| is_hidden(node)) {
            Some(node) => self.masked(node),
            None => RenderedPart {
                text: self.text().to_owned(),
                template: self.text().into(),
                at: self.node.map(|node| node.span),
                by: self.by.clone(),
                uses: Vec::new(),
            },
        }
    }

    /// A placeholder for a template that is secret.
    fn masked(&self, node: &Node) -> RenderedPart {
        let hidden = NamedUse { name: self.field.clone(), value: node.clone(), origin: None };
        let mask = SmolStr::new_static(PLACEHOLDER);
        RenderedPart {
            text: mask.to_string(),
            template: mask,
            at: Some(node.span),
            by: self.by.clone(),
            uses: vec![hidden],
        }
    }

    fn finding(&self, what: &str, refusal: Refusal, target: &RequestTarget<'_>) -> Box<Finding> {
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
    pub(super) fn refused(
        &self,
        rule: &'static crate::finding::Rule,
        target: &RequestTarget<'_>,
        reason: &str,
    ) -> Finding {
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
pub(super) fn levels(target: &RequestTarget<'_>, operation: Operation) -> usize {
    let sections = [Section::Resource, Section::Defaults, Section::Operation(operation)];
    let templates = target.metadata.entries().filter(|(field_path, _)| {
        sections.contains(&field_path.section)
            && matches!(
                field_path.field,
                Field::CollectionPath | Field::Method | Field::Path | Field::Query | Field::Headers | Field::Jq
            )
    });
    let texts = templates.filter_map(|(field_path, template)| match field_path.field {
        Field::Headers => template.value()?.get("value")?.as_str(),
        _ => template.value()?.as_str(),
    });
    let steps = target.metadata.transforms(operation);
    let steps = steps.iter().filter(|step| step.kind == Field::Jq).filter_map(|step| step.node.as_str());
    let reaching = texts.chain(steps).filter(|text| text.contains("../"));
    reaching
        .filter_map(|text| target.memo.template(text).ok())
        .map(|template| template.reads_ancestors())
        .max()
        .unwrap_or(0)
}
