//! Values of components and bindings against the schemas of their types and traits, after defaults.

use smol_str::SmolStr;

use super::Checker;
use super::report::Findings;
use crate::finding::{self, Rule};
use crate::layout::openchoreo::failure::described;
use crate::layout::openchoreo::schema::{Section, SectionPart};
use crate::value::{Node, Value};

/// Values and what they are judged by.
pub(super) struct JudgedValues<'n> {
    /// The specification of the type or trait.
    pub(super) spec: &'n Node,
    pub(super) part: SectionPart,
    pub(super) values: Option<&'n Node>,
    /// The type or trait, for messages.
    pub(super) of: String,
}

impl Checker<'_, '_, '_, '_> {
    /// Reports values that their schema does not allow, or that nothing reads.
    pub(super) fn values(
        &self,
        judged: &JudgedValues<'_>,
        rule: &'static Rule,
        at: &[SmolStr],
        found: &mut Findings<'_>,
    ) {
        let JudgedValues { spec, part, values, of } = judged;
        // A schema that cannot be read is reported where it is written.
        let Ok(section) = Section::read(spec, *part) else { return };
        let Some(section) = section else {
            let is_given = values.and_then(Node::as_map).is_some_and(|map| !map.is_empty());
            if is_given {
                let message = format!("{of} has no schema for them, so that these values are ignored by the platform");
                found.add(&finding::OPENCHOREO_PARAMS_IGNORED, at, message);
            }
            return;
        };
        let nowhere = spec.span.start_only();
        let values = values.filter(|values| !matches!(values.value, Value::Null));
        let (_, violations) = section.apply(values, nowhere, self.limits.request_steps);
        if !violations.is_empty() {
            found.add(rule, at, format!("{of} does not allow this: {}", described(&violations)));
            found.relate(violations.iter().map(|it| it.schema).take(3), "required here");
        }
    }
}
