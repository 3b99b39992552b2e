//! Adds what units render. Expressions, patches and layers do not apply to it; what is secret is hidden like everywhere else.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::load::Loaded;
use super::{Comparison, Gap};
use crate::layout::Rendered;
use crate::resource::Unit;
use crate::side::Side;

impl Comparison<'_> {
    /// Adds the resources of units, each on the sides that have it.
    pub(super) fn with_units(&self, mut loaded: Loaded, units: &BTreeMap<Unit, [bool; 2]>) -> Loaded {
        for (unit, &[in_before, in_after]) in units {
            let (before, after) = (rendered(&self.before, unit, in_before), rendered(&self.after, unit, in_after));
            loaded.findings.before.extend(before.findings.iter().cloned());
            loaded.findings.after.extend(after.findings.iter().cloned());
            // A unit that cannot be rendered on one side must not look added or removed.
            if before.is_broken || after.is_broken {
                loaded.gap = loaded.gap.max(Gap::Unparsed);
                continue;
            }
            let wanted = |rendered: &Rendered| {
                let of_interest = rendered.resources.iter().filter(|resource| self.options.scope.wants(&resource.file));
                of_interest.cloned().collect::<Vec<_>>()
            };
            loaded.before.extend(wanted(&before));
            loaded.after.extend(wanted(&after));
        }
        loaded
    }
}

fn rendered(side: &Side<'_>, unit: &Unit, is_there: bool) -> Arc<Rendered> {
    if is_there { side.units().rendered(unit) } else { Arc::default() }
}
