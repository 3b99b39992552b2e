//! The counts of a report.

use std::collections::BTreeSet;

use super::{Report, secret_numbers};
use crate::diff::{Change, ChangeKind, ResourceChange, Status};
use crate::finding::{Finding, Severity};

/// The counts of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SummaryCounts {
    /// New resources.
    pub added: usize,
    /// Resources that are gone.
    pub removed: usize,
    /// Resources with changes inside.
    pub changed: usize,
    /// Changed resources that also moved.
    pub changed_and_moved: usize,
    /// Resources that moved without other changes.
    pub moved: usize,
    /// Resources in which only the spelling of numbers differs.
    pub respelled: usize,
    /// Changes that several resources share, each counted once.
    pub groups: usize,
    /// Resources that override an edited value of a layer, counted once for each edit.
    pub overridden: usize,
    /// Edits of layers that affect no resource.
    pub dead_edits: usize,
    /// Numbers that are spelled differently but equal.
    pub spelling_only: usize,
    /// Lists and list items whose order alone changed.
    pub order_only: usize,
    /// Changes of secret values.
    pub secrets: usize,
    /// Changed files that were not compared.
    pub skipped: usize,
    /// Changes hidden by rules of the user.
    pub suppressed: usize,
    /// Findings of severity error.
    pub errors: usize,
    /// Findings of severity warning.
    pub warnings: usize,
    /// Findings of severity note.
    pub notes: usize,
}

impl SummaryCounts {
    /// Counts everything in a report.
    pub fn count(report: &Report) -> Self {
        let mut counts = Self {
            skipped: report.skipped.len(),
            suppressed: report.suppressed.len(),
            groups: report.groups.len(),
            overridden: report.layer_edits.iter().map(|edit| edit.overridden.len()).sum(),
            dead_edits: report.layer_edits.iter().filter(|edit| edit.is_dead).count(),
            ..Self::default()
        };
        for resource in &report.resources {
            counts.add(resource);
        }
        for finding in report.findings.iter().chain(&report.new_problems) {
            *match finding.severity {
                Severity::Error => &mut counts.errors,
                Severity::Warning => &mut counts.warnings,
                Severity::Note => &mut counts.notes,
            } += 1;
        }
        counts
    }

    fn add(&mut self, resource: &ResourceChange) {
        match resource.status() {
            Status::Added => self.added += 1,
            Status::Removed => self.removed += 1,
            Status::Changed => self.changed += 1,
            Status::Moved => self.moved += 1,
            Status::Respelled => self.respelled += 1,
            Status::Same => {}
        }
        let changes: Vec<&Change> = resource.changes().collect();
        let is_order = |change: &&&Change| matches!(change.kind, ChangeKind::Reorder | ChangeKind::Move);
        self.changed_and_moved += usize::from(!changes.is_empty() && resource.is_moved());
        self.spelling_only += resource.spellings().count();
        self.order_only += changes.iter().filter(is_order).count();
        self.secrets += changes.iter().filter(|change| secret_numbers::concerns_secret(change)).count();
        if let (Some(side), None) | (None, Some(side)) = (&resource.before, &resource.after) {
            self.secrets += usize::from(side.payload.holds_secret());
        }
    }

    /// Whether nothing differs in effect.
    pub fn is_unchanged(&self) -> bool {
        self.added + self.removed + self.changed + self.moved == 0
    }
}

/// `2 errors, 1 warning`, or nothing if there are no findings.
pub(super) fn severities(findings: &[&Finding]) -> String {
    let of = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let counts = [(of(Severity::Error), "error"), (of(Severity::Warning), "warning"), (of(Severity::Note), "note")];
    let said: Vec<String> = counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, noun)| plural(n, noun)).collect();
    said.join(", ")
}

/// How many files the findings are in.
pub(super) fn files_with_findings(report: &Report, is_meant: fn(&Finding) -> bool) -> usize {
    let meant = report.findings.iter().filter(|finding| is_meant(finding));
    meant.map(|finding| finding.path(&report.sources)).collect::<BTreeSet<_>>().len()
}

/// `1 file`, `2 files`, `1,204 files`.
pub fn plural(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", grouped(count))
}

/// A number with a comma between every three digits.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Problems that a comparison met and does not list: `2 new problems; outcrop check lists all`.
pub(super) fn other_problems(report: &Report) -> Option<String> {
    let is_problem = |finding: &&Finding| finding.severity != Severity::Note;
    let (new, existing) = (report.new_problems.iter().filter(is_problem).count(), report.existing_problems);
    match (new, existing) {
        (0, 0) => None,
        (0, _) => Some(plural(existing, "existing problem")),
        (_, 0) => Some(format!("{}; outcrop check lists all", plural(new, "new problem"))),
        _ => Some(format!("{}; outcrop check lists all ({existing} existing)", plural(new, "new problem"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(plural(1, "file"), "1 file");
        assert_eq!(plural(0, "file"), "0 files");
        assert_eq!(plural(1_234_567, "file"), "1,234,567 files");
        assert_eq!(grouped(999), "999");
    }
}
