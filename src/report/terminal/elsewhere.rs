//! Removed resources that are added with the same name and the same content in another place, such as a root that another one includes now.

use std::collections::BTreeMap;

use crate::diff::Status;
use crate::report::Report;
use crate::report::outline::Alike;
use crate::report::places::{Names, text_parts};
use crate::resource::{Identity, Resource};

/// The removed resources that are added elsewhere, by the places they come from and go to, and the others. The content of the former is
/// shown where they are added.
pub(super) fn split<'a>(report: &Report, removed: &'a [Alike]) -> (Vec<(String, Vec<usize>)>, Vec<&'a Alike>) {
    let mut added: BTreeMap<&Identity, Vec<&Resource>> = BTreeMap::new();
    for of in report.resources.iter().filter(|of| of.status() == Status::Added) {
        of.after.iter().for_each(|side| added.entry(&side.identity).or_default().push(side));
    }
    let mut found: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    let mut rest = Vec::new();
    for alike in removed {
        let all = alike.all();
        let pairs: Option<Vec<(usize, String, String)>> = all.iter().map(|&at| twin(report, &added, at)).collect();
        match pairs {
            Some(pairs) => {
                pairs.into_iter().for_each(|(at, from, to)| found.entry((from, to)).or_default().push(at));
            }
            None => rest.push(alike),
        }
    }
    let named = |((_, to), mut resources): ((String, String), Vec<usize>)| {
        resources.sort_unstable();
        (to, resources)
    };
    (found.into_iter().map(named).collect(), rest)
}

/// A removed resource, where it was, and where it is added.
fn twin(report: &Report, added: &BTreeMap<&Identity, Vec<&Resource>>, at: usize) -> Option<(usize, String, String)> {
    let side = report.resources.get(at)?.before.as_ref()?;
    let is_same = |other: &&&Resource| other.home() != side.home() && other.payload.is_identical(&side.payload);
    let same: Vec<&&Resource> = added.get(&side.identity)?.iter().filter(is_same).collect();
    let places = same.iter().map(|other| text_parts(&other.home().to_string())).collect();
    (!same.is_empty()).then(|| (at, side.home().to_string(), Names::of_paths(places).text()))
}
