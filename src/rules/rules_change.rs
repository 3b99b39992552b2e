//! `config/rules-change`: a change of the rules is judged by the old ones.

use crate::finding::{self, Finding, Location};
use crate::names;
use crate::path::RepoPath;
use crate::settings::{Configuration, Roots, Settings};

/// Says that this change also changes how changes are judged, if it does and the older side decides.
pub fn rules_change(configuration: &Configuration, revision: &str) -> Option<Finding> {
    // Secrets and roots are not among the rules: those of both sides apply at once. Nor is the document of a server.
    let rules = |settings: &Settings| Settings {
        roots: Roots::default(),
        secrets: Vec::new(),
        openapi: None,
        ..settings.clone()
    };
    if !configuration.is_older_side_policy() || rules(&configuration.before) == rules(&configuration.after) {
        return None;
    }
    let location = Location::File { path: RepoPath::new(names::CONFIGURATION).ok()?, revision: revision.into() };
    let message = "the rules change too, and this change is judged by the old ones";
    let help = "the new rules apply once it is merged; `--policy head` judges by them now";
    Some(Finding::new(&finding::CONFIG_RULES_CHANGE, location, message).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Policy;
    use crate::snapshot::MemorySnapshot;
    use crate::text::Sources;

    #[test]
    fn only_a_change_of_rules_under_the_older_policy_is_reported() {
        let is_reported = |before: &str, after: &str, policy| {
            let side = |text: &str| {
                MemorySnapshot::new("x").with(RepoPath::new(names::CONFIGURATION).unwrap(), text.as_bytes())
            };
            let configuration = Configuration::read(&side(before), &side(after), policy, &Sources::default());
            rules_change(&configuration, "x").is_some()
        };
        assert!(is_reported("ignore: [/a]", "ignore: [/b]", Policy::Base));
        assert!(!is_reported("ignore: [/a]", "ignore: [/b]", Policy::Head));
        assert!(!is_reported("secrets: [/a]", "secrets: [/b]", Policy::Base));
    }
}
