//! Why a unit cannot be rendered: the stage, the place, and the reason.

use super::object::ObjectName;
use crate::finding::{Finding, Location};
use crate::patch::TemplateFailure;
use crate::sanitize;
use crate::schema::Violation;
use crate::text::Span;

/// A unit that cannot be rendered.
#[derive(Debug, Clone)]
pub struct RenderFailure {
    /// The stage that failed.
    pub stage: Stage,
    /// Why: a lower-case phrase.
    pub message: String,
    /// Where, as near as it is known.
    pub at: Span,
    /// The object that is not in the repository, if that is the reason.
    pub missing: Option<ObjectName>,
}

/// The stages of rendering a component, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// What is rendered is not complete in itself.
    Input,
    /// Something that is referred to is not there, or does not fit.
    Reference,
    /// Values of the component.
    Parameters,
    /// Rules before rendering.
    PreRender,
    /// Templates of the type.
    Resources,
    /// Values that the type gives to its own traits.
    EmbeddedBindings,
    /// Values of a trait.
    TraitParameters,
    /// What a trait creates, patches and removes.
    Trait,
    /// Rules for what was rendered.
    PostRender,
    /// What every resource needs.
    Final,
}

impl Stage {
    /// As messages have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Reference => "reference",
            Self::Parameters => "parameters",
            Self::PreRender => "pre-render",
            Self::Resources => "resources",
            Self::EmbeddedBindings => "embedded-bindings",
            Self::TraitParameters => "trait-parameters",
            Self::Trait => "trait",
            Self::PostRender => "post-render",
            Self::Final => "final",
        }
    }
}

impl RenderFailure {
    pub(super) fn new(stage: Stage, message: impl Into<String>, at: Span) -> Self {
        Self { stage, message: message.into(), at, missing: None }
    }

    pub(super) fn missing(name: ObjectName, at: Span) -> Self {
        let shown = match name.kind.as_str() {
            "Workload" => format!("the Workload of {}", sanitize::inline(&name.name)),
            kind => format!("{} {}", sanitize::inline(kind), sanitize::inline(&name.name)),
        };
        let message = format!("{shown} is not in this repository");
        Self { stage: Stage::Reference, message, at, missing: Some(name) }
    }
}

/// Something that a template, a patch or a rule cannot do.
#[derive(Debug, Clone)]
pub struct TemplateTrouble {
    /// Why: a lower-case phrase.
    pub message: String,
    /// Where.
    pub at: Span,
}

impl TemplateTrouble {
    pub(super) fn new(message: impl Into<String>, at: Span) -> Self {
        Self { message: message.into(), at }
    }

    pub(super) fn of_template(failure: &TemplateFailure) -> Self {
        let text: String = failure.text.chars().take(LONGEST).collect();
        Self::new(format!("`{}` fails: {}", sanitize::inline(&text), failure.failure.message), failure.at)
    }

    pub(super) fn of_finding(finding: Finding) -> Self {
        let Location::Span(at) = finding.location else { unreachable!("a patch is written somewhere") };
        Self::new(finding.message, at)
    }

    pub(super) fn within(self, what: &str) -> Self {
        Self { message: format!("{}: {}", sanitize::inline(what), self.message), ..self }
    }

    pub(super) fn at_stage(self, stage: Stage) -> RenderFailure {
        RenderFailure::new(stage, self.message, self.at)
    }
}

/// The longest part of an expression in a message.
const LONGEST: usize = 80;

/// All violations in one phrase.
pub(super) fn described(found: &[Violation]) -> String {
    let one = |violation: &Violation| match violation.place.strip_prefix("$.").unwrap_or(&violation.place) {
        "$" => violation.reason.clone(),
        place => format!("{place}: {}", violation.reason),
    };
    found.iter().map(one).collect::<Vec<_>>().join("; ")
}
