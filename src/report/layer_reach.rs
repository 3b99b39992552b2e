//! Layers that paths lose or gain, in words.

use super::summary_counts::plural;
use super::{ReachChange, Report};

/// The most paths that are named.
const MOST_PATHS: usize = 3;

/// One phrase for each layer: `a/_/metadata.yaml: selector.descendants true → false (the file has the new form now): 2 paths lose it`.
pub(super) fn phrases(report: &Report, arrow: &str) -> Vec<String> {
    report.reach_changes.iter().map(|change| phrase(change, arrow)).collect()
}

fn phrase(change: &ReachChange, arrow: &str) -> String {
    let is_gained = change.is_gained();
    let form = match (change.has_other_form(), is_gained) {
        (false, _) => "",
        (true, false) => " (the file has the new form now)",
        (true, true) => " (the file has the old form now)",
    };
    let mut names: Vec<&str> = change.paths.iter().take(MOST_PATHS).map(String::as_str).collect();
    if change.paths.len() > MOST_PATHS {
        names.push("…");
    }
    let count = change.paths.len();
    let verb = match (is_gained, count) {
        (true, 1) => "gains",
        (true, _) => "gain",
        (false, 1) => "loses",
        (false, _) => "lose",
    };
    let (file, names) = (&change.file, names.join(", "));
    let sides = format!("{} {arrow} {is_gained}", !is_gained);
    format!("{file}: selector.descendants {sides}{form}: {} below {verb} this layer ({names})", plural(count, "path"))
}
