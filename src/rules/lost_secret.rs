//! A layer that reaches less far than before, and declares secrets that some paths lose by that.

use crate::finding::{self, Finding, Location};
use crate::impact::ReachChange;
use crate::metadata::{Field, FieldPath, Section};

/// A warning for each changed layer that no longer reaches a path for which it declared a secret attribute.
pub fn lost_secrets(changes: &[ReachChange]) -> Vec<Finding> {
    let secrets = FieldPath::new(Section::Resource, Field::SecretInAttributes);
    let declares = |change: &&ReachChange| change.layers[0].statements.about(&secrets).is_some();
    changes.iter().filter(|change| !change.is_gained()).filter(declares).filter_map(finding).collect()
}

fn finding(change: &ReachChange) -> Option<Finding> {
    let first = change.paths.first()?;
    let others = match change.paths.len() {
        1 => " loses".to_owned(),
        2 => " and 1 other lose".to_owned(),
        count => format!(" and {} others lose", count - 1),
    };
    let reason = if change.has_other_form() { "it has the new form now" } else { "it has no `descendants` any more" };
    let message = format!("{first}{others} secret attributes that this layer declared: {reason}");
    let location = Location::Span(change.layers[1].span.start_only());
    let finding = Finding::new(&finding::METADATA_SECRET_LOST, location, message);
    Some(finding.help("write `selector: {descendants: true}`, or declare them again below"))
}
