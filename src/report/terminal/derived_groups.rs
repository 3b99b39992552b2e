//! Groups that follow from others: a metadata change also changes requests, with the same cause and the same resources.

use std::collections::BTreeMap;

use super::Draft;
use crate::diff::path_text;
use crate::diff::{Group, Origin, SharedCause};
use crate::path::RepoPath;
use crate::report::Report;
use crate::report::paint::{Line, Role, columns};

/// The positions of the groups to show, each with those of the groups derived from it.
pub(super) fn in_order(report: &Report, draft: &mut Draft<'_>) -> Vec<(usize, Vec<usize>)> {
    let mut order: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut leaders: BTreeMap<Reason, usize> = BTreeMap::new();
    for (at, group) in report.groups.iter().enumerate() {
        let reason = reason(group);
        let leader = reason.as_ref().and_then(|reason| leaders.get(reason).copied());
        match leader.filter(|_| draft.group_values(report, group).is_some()) {
            Some(leader) => order[leader].1.push(at),
            None => {
                leaders.extend(reason.map(|reason| (reason, order.len())));
                order.push((at, Vec::new()));
            }
        }
    }
    order
}

/// The locations of the definitions, and the resources.
type Reason = ([Option<(RepoPath, u32)>; 2], Vec<usize>);

/// `None` if the values are not all defined at one location.
fn reason(group: &Group) -> Option<Reason> {
    let place = |cause: &Option<SharedCause>| match cause.as_ref().map(|cause| &cause.origin) {
        None => Some(None),
        Some(Origin::At(place)) => Some(Some((place.file.clone(), place.span.start))),
        Some(Origin::Own | Origin::Apart) => None,
    };
    Some(([place(&group.before)?, place(&group.after)?], group.resources()))
}

impl Draft<'_> {
    /// `also [2] ~ update request › .path  /v1/… → /v2/…  705d74bcd117`.
    pub(super) fn also(&mut self, report: &Report, at: usize, indent: usize) -> Vec<Line> {
        let group = &report.groups[at];
        let Some((_, example)) = group.example(&report.resources) else { return Vec::new() };
        let (symbol, role) = self.change_symbol(example);
        let values = self.group_values(report, group).unwrap_or_default();
        let fingerprint = group.fingerprint.to_string();
        let lead = Line::indented(indent).with(Role::Dim, "also ").with(Role::Heading, &format!("[{}] ", at + 1));
        let lead = lead.with(role, &symbol).with(Role::Plain, " ");
        let path = path_text::display(&group.path, self.symbols.embedded);
        let room = self.style.columns();
        let mut lines = Vec::new();
        if lead.width() + columns(&path) + 2 + values.width() + 2 + fingerprint.len() <= room {
            let line = lead.with(Role::Path, &path).with(Role::Plain, "  ").then(values);
            lines.push(line.with(Role::Dim, &format!("  {fingerprint}")));
        } else {
            let left = room.saturating_sub(lead.width() + 2 + fingerprint.len()).max(8);
            let path = self.fitted(&path, left);
            lines.push(lead.with(Role::Path, &path).with(Role::Dim, &format!("  {fingerprint}")));
            let values = match indent + 5 + values.width() <= room {
                true => values,
                false => {
                    Line::default().with(Role::Plain, &self.fitted(&values.plain(), room.saturating_sub(indent + 5)))
                }
            };
            lines.push(Line::indented(indent + 5).then(values));
        }
        let (_, mut others) = self.usual(report, group);
        if self.style.is_verbose() && others.len() + 1 < group.variants.len() {
            others = group.variants.iter().collect();
        }
        lines.extend(self.variants(report, &others, indent + 5));
        lines
    }
}
