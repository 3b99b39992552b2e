//! How far a change reaches, in one phrase: for hooks, comments and job outputs.

use std::collections::BTreeSet;

use super::Report;
use super::summary_counts::plural;
use crate::diff::ResourceChange;
use crate::resource::Resource;

/// What a change affects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reach {
    /// The roots and other units that render something else than before, by name.
    pub roots: BTreeSet<String>,
    /// The number of resources that differ; one that several roots render counts once.
    pub resources: usize,
    /// Whether it affects more than the resources whose own files were edited.
    pub is_indirect: bool,
}

impl Reach {
    /// The reach of the change that a report is about.
    pub fn of(report: &Report) -> Self {
        let changed = || report.resources.iter().filter(|resource| resource.is_difference());
        let sides =
            |change: &ResourceChange| -> Vec<Resource> { change.before.iter().chain(&change.after).cloned().collect() };
        let roots: BTreeSet<String> =
            changed().flat_map(sides).filter_map(|side| side.unit.map(|unit| unit.key.to_string())).collect();
        let units = report.units.iter().filter(|unit| unit.is_difference()).map(|unit| unit.unit.key.to_string());
        let roots: BTreeSet<String> = roots.into_iter().chain(units).collect();
        let names: BTreeSet<String> =
            changed().filter_map(|change| sides(change).pop()).map(|side| side.identity.to_string()).collect();
        let is_indirect = !roots.is_empty() || !report.edits.files.is_empty();
        Self { roots, resources: names.len(), is_indirect }
    }

    /// `reaches 9 roots, 3 resources`.
    pub fn phrase(&self) -> String {
        let roots = (!self.roots.is_empty()).then(|| plural(self.roots.len(), "root"));
        let counts: Vec<String> = roots.into_iter().chain([plural(self.resources, "resource")]).collect();
        format!("reaches {}", counts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::rich;

    #[test]
    fn what_differs_is_counted_once_for_all_roots() {
        let mut report = rich();
        let differing = report.resources.iter().filter(|resource| resource.is_difference()).count();
        let plain = Reach::of(&report);
        assert_eq!((plain.resources, plain.roots.len()), (differing, 0));
        assert_eq!(plain.phrase(), format!("reaches {differing} resources"));
        let mut twin = report.resources.iter().find(|resource| resource.is_difference()).expect("one differs").clone();
        for side in twin.before.iter_mut().chain(&mut twin.after) {
            side.unit = Some(crate::resource::Unit { layout: "kustomize".into(), key: "overlays/prod".into() });
        }
        report.resources.push(twin);
        let rendered = Reach::of(&report);
        assert_eq!((rendered.resources, rendered.is_indirect), (differing, true));
        assert_eq!(rendered.phrase(), format!("reaches 1 root, {differing} resources"));
    }
}
