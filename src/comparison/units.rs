//! Adds what units render. Expressions, patches and layers do not apply to it; what is secret is hidden like everywhere else.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::load::Loaded;
use super::{Comparison, Gap};
use crate::finding::Finding;
use crate::layout::Rendered;
use crate::parallel::few_or_many;
use crate::path::RepoPath;
use crate::resource::{Resource, Unit};
use crate::side::Side;

/// A unit that could not be rendered, so that its resources were not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedUnit {
    /// Which.
    pub unit: Unit,
    /// Whether it failed on the older and on the newer side.
    pub sides: [bool; 2],
}

/// Fewer units than this are rendered on one thread.
const FEW: usize = 4;

impl Comparison<'_> {
    /// Adds the resources of units, each on the sides that have it.
    pub(super) fn with_units(&self, mut loaded: Loaded, units: &BTreeMap<Unit, [bool; 2]>) -> Loaded {
        let units: Vec<(&Unit, &[bool; 2])> = units.iter().collect();
        let both = few_or_many(units.as_slice(), FEW, |(unit, [in_before, in_after])| {
            (*unit, [rendered(&self.before, unit, *in_before), rendered(&self.after, unit, *in_after)])
        });
        let mut known = [HashSet::new(), HashSet::new()];
        for (unit, [before, after]) in both {
            let [known_before, known_after] = &mut known;
            loaded.findings.before.extend(new_findings(&before, known_before));
            loaded.findings.after.extend(new_findings(&after, known_after));
            // A unit that cannot be rendered on one side must not look added or removed.
            if before.is_broken || after.is_broken {
                loaded.gap = loaded.gap.max(Gap::Unparsed);
                loaded.failed.push(FailedUnit { unit: unit.clone(), sides: [before.is_broken, after.is_broken] });
                continue;
            }
            loaded.before.extend(self.wanted(unit, &before));
            loaded.after.extend(self.wanted(unit, &after));
        }
        loaded
    }

    /// The resources of a unit that are of interest: by their own file, or because the unit is.
    fn wanted(&self, unit: &Unit, rendered: &Rendered) -> Vec<Resource> {
        let scope = &self.options.scope;
        let is_wanted = scope.is_everything() || RepoPath::new(unit.key.as_str()).is_ok_and(|path| scope.wants(&path));
        let all = rendered.resources.iter().chain(&rendered.opaque);
        all.filter(|resource| is_wanted || scope.wants(&resource.file)).cloned().collect()
    }
}

/// The findings that no other unit of this side has: units share their files, and what is wrong with these is said once.
fn new_findings(rendered: &Rendered, known: &mut HashSet<String>) -> Vec<Finding> {
    let is_new = |finding: &&Finding| known.insert(format!("{:?} {}", finding.location, finding.message));
    rendered.findings.iter().filter(is_new).cloned().collect()
}

fn rendered(side: &Side<'_>, unit: &Unit, is_there: bool) -> Arc<Rendered> {
    if is_there { side.units().rendered(unit) } else { Arc::default() }
}
