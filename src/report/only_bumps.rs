//! The phrase of headlines for a change of nothing but versions.

use std::collections::BTreeMap;

use super::Report;
use super::summary_counts::plural;
use crate::diff::{Bump, BumpKind, Level};

/// `only version bumps: 3 images, 1 chart`, if nothing else differs.
pub(super) fn only_bumps(report: &Report) -> Option<String> {
    if !report.bumps.is_everything {
        return None;
    }
    let mut counts: BTreeMap<BumpKind, usize> = BTreeMap::new();
    for bump in &report.bumps.rows {
        *counts.entry(bump.kind).or_default() += 1;
    }
    let counts: Vec<String> = counts.into_iter().map(|(kind, count)| plural(count, kind.name())).collect();
    let of = |is_meant: fn(&Bump) -> bool| report.bumps.rows.iter().filter(|bump| is_meant(bump)).count();
    let (major, older) = (of(|bump| bump.level == Level::Major && !bump.is_downgrade), of(|bump| bump.is_downgrade));
    let remarks: Vec<String> = [(major, "major".to_owned()), (older, plural(older, "downgrade"))]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| if word == "major" { format!("{count} major") } else { word })
        .collect();
    let remarks = if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join(", ")) };
    let listed = if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
    Some(format!("only version bumps{listed}{remarks}"))
}
