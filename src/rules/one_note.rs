//! Notes about what stays as it is written: a file has one of them, whatever the reasons are.

use std::collections::BTreeMap;

use crate::finding::{EXPRESSION_NEEDS_RUN, Finding, INCLUDE_ELSEWHERE, INCLUDE_ENVIRONMENT, INCLUDE_PYTHON, Severity};
use crate::path::RepoPath;
use crate::text::Sources;

/// Findings in their order, with the notes about what stays as written joined for each file.
pub fn one_note_per_file(findings: Vec<Finding>, sources: &Sources) -> Vec<Finding> {
    let mut joined: Vec<Finding> = Vec::with_capacity(findings.len());
    let mut notes: BTreeMap<RepoPath, usize> = BTreeMap::new();
    for finding in findings {
        if !is_as_written(&finding) {
            joined.push(finding);
            continue;
        }
        let file = finding.path(sources);
        match notes.get(&file) {
            Some(at) => {
                let note = &mut joined[*at];
                if !note.message.contains(finding.message.as_str()) {
                    note.message = format!("{}; {}", note.message, finding.message);
                }
            }
            None => {
                notes.insert(file, joined.len());
                joined.push(finding);
            }
        }
    }
    joined
}

fn is_as_written(finding: &Finding) -> bool {
    let rules = [&EXPRESSION_NEEDS_RUN, &INCLUDE_ELSEWHERE, &INCLUDE_ENVIRONMENT, &INCLUDE_PYTHON];
    finding.severity == Severity::Note && rules.iter().any(|rule| rule.id == finding.rule.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Location, PATCH_DEAD};

    #[test]
    fn a_file_has_one_note_about_what_stays_as_written() {
        let about = |rule, file: &str, message: &str| {
            let location = Location::File { path: RepoPath::new(file).unwrap(), revision: "x".into() };
            Finding::new(rule, location, message)
        };
        let found = vec![
            about(&INCLUDE_ELSEWHERE, "a.yaml", "1 include leads to other repositories (cloud)"),
            about(&PATCH_DEAD, "a.yaml", "dead"),
            about(&EXPRESSION_NEEDS_RUN, "a.yaml", "2 expressions need a running deployment"),
            about(&EXPRESSION_NEEDS_RUN, "b.yaml", "2 expressions need a running deployment"),
        ];
        let joined = one_note_per_file(found, &Sources::default());
        let messages: Vec<&str> = joined.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "1 include leads to other repositories (cloud); 2 expressions need a running deployment",
                "dead",
                "2 expressions need a running deployment"
            ]
        );
    }
}
