//! Transforms of a payload, in the order they are written: keep attributes, leave attributes out, run jq.

use super::RequestTarget;
use super::attribute::AttributePaths;
use super::render::FieldTemplate;
use super::scope::Scoped;
use crate::expression::jq::Resolver;
use crate::expression::part_span;
use crate::expression::template::Purpose;
use crate::finding::{self, Finding, Location};
use crate::metadata::{DocumentForm, Field, Operation, TransformStep};
use crate::text::Span;
use crate::value::{Node, Value};

/// For what a payload is transformed; the two differ in small things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// To be sent, or as it was received: an empty `filterAttributes` keeps nothing, and only maps have attributes.
    Request,
    /// To be compared: an empty `filterAttributes` says nothing, and a blank attribute is the whole document.
    Compare,
}

/// A payload after the transforms of an operation. Null passes through: there is nothing to transform.
pub fn transform(
    payload: &Node,
    target: &RequestTarget<'_>,
    operation: Operation,
    scoped: &Scoped<'_>,
    flavour: Flavour,
) -> Result<Node, Box<Finding>> {
    let mut value = payload.clone();
    for step in target.metadata.transforms(operation) {
        if matches!(value.value, Value::Null) && flavour == Flavour::Compare {
            return Ok(value);
        }
        value = match step.kind {
            Field::Jq => {
                let mut results = jq(&value, &step, target, operation, scoped, None)?;
                match results.len() {
                    0 => Node::new(Value::Null, step.node.span),
                    1 => results.remove(0),
                    _ => Node::list(results, step.node.span),
                }
            }
            _ => attributes(&value, &step, target, operation, flavour)?,
        };
    }
    Ok(value)
}

fn attributes(
    value: &Node,
    step: &TransformStep<'_>,
    target: &RequestTarget<'_>,
    operation: Operation,
    flavour: Flavour,
) -> Result<Node, Box<Finding>> {
    let (field, names) = (step.kind, step.node);
    let items = names.as_list().unwrap_or_default();
    if matches!(value.value, Value::Null) || (items.is_empty() && (field, flavour) != (Field::Filter, Flavour::Request))
    {
        return Ok(value.clone());
    }
    let what = if field == Field::Filter { "filterAttributes" } else { "suppressAttributes" };
    let refused = |at: Span, reason: &str| {
        let message = format!("`{what}` of {} does not fit {}: {reason}", operation.name(), target.path);
        Box::new(Finding::new(&finding::REQUEST_PAYLOAD, Location::Span(at), message))
    };
    // Steps of the new form take what they find in any value.
    let is_strict = step.by.statements.form != Some(DocumentForm::New);
    if flavour == Flavour::Request && is_strict && value.as_map().is_none() {
        return Err(refused(
            names.span,
            &format!("the payload is a {}, and only a map has attributes", value.type_of()),
        ));
    }
    let mut attributes = AttributePaths::default();
    for item in items {
        let name = item.as_str().unwrap_or_default();
        let parsed = match flavour {
            Flavour::Compare if name.trim().is_empty() => Ok(AttributePaths::whole()),
            _ => AttributePaths::parse([name]),
        };
        attributes = attributes.or(parsed.map_err(|reason| refused(item.span, &reason))?);
    }
    Ok(if field == Field::Filter { attributes.keep(value) } else { attributes.remove(value) })
}

/// The results of a step of jq, whose text is a template.
pub(super) fn jq(
    input: &Node,
    step: &TransformStep<'_>,
    target: &RequestTarget<'_>,
    operation: Operation,
    scoped: &Scoped<'_>,
    resolver: Option<Resolver<'_>>,
) -> Result<Vec<Node>, Box<Finding>> {
    let template = FieldTemplate::of_step(step);
    let part = template.render(target, scoped, Purpose::Text)?;
    let whole = part.at.unwrap_or(input.span);
    let what = format!("the jq of {} for {}", operation.name(), target.path);
    let result = target.memo.run(&part.text, input, whole, resolver);
    result.map_err(|refusal| {
        // Rendered text has other places than the written one.
        let is_written = template.node.and_then(Node::as_str) == Some(part.text.as_str());
        let span = match &refusal.range {
            Some(range) if is_written => part_span(whole, &part.text, range.clone(), target.sources),
            _ => whole,
        };
        Box::new(refusal.about(&what).into_finding(span))
    })
}
