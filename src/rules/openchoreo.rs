//! Documents of OpenChoreo: what is wrong with each, with references between them, and with a change of them.

use crate::finding::Finding;
use crate::layout::openchoreo::{check_change, check_objects};
use crate::side::Side;

/// Everything that is wrong with the objects of both sides.
pub fn openchoreo_objects([before, after]: [&Side<'_>; 2]) -> [Vec<Finding>; 2] {
    let is_off = |side: &Side<'_>| side.settings.layouts_off.iter().any(|layout| layout == "openchoreo");
    let of = |side: &Side<'_>| if is_off(side) { Vec::new() } else { check_objects(side.units()) };
    let [older, mut newer] = [of(before), of(after)];
    if !is_off(before) && !is_off(after) {
        check_change(before.units(), after.units(), &mut newer);
    }
    [older, newer]
}

/// Whether a component that fails to render is explained by what is wrong with its documents.
pub fn is_explained(failed: &Finding, found: &[Finding]) -> bool {
    let component = failed.resource.as_deref().and_then(|unit| unit.split('@').next()).unwrap_or_default();
    let short = component.strip_prefix("default/").unwrap_or(component);
    let is_about = |finding: &Finding| {
        let name = finding.resource.as_deref().and_then(|name| name.rsplit(' ').next()).unwrap_or_default();
        let contains = finding.span().zip(failed.span()).is_some_and(|(outer, inner)| {
            outer.source == inner.source && outer.start <= inner.start && inner.end <= outer.end
        });
        finding.is_error() && (contains || name == component || name == short)
    };
    found.iter().any(is_about)
}
