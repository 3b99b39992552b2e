//! `config/list-keys`: configured keys that do not tell the items of a list apart.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use crate::diff::{ResourceChange, UnusableKeys, path_text};
use crate::finding::{self, Finding, Location};
use crate::resource::Resource;

/// List rules that could not be used, each reported once, at the first list.
pub fn unusable_list_keys(changes: &[ResourceChange]) -> Vec<Finding> {
    let mut first: BTreeMap<(&str, &[SmolStr]), (&UnusableKeys, &Resource, usize)> = BTreeMap::new();
    for change in changes {
        let Some(resource) = change.after.as_ref().or(change.before.as_ref()) else { continue };
        for unusable in &change.difference.unusable {
            let rule = (unusable.pattern.as_str(), unusable.keys.as_slice());
            first.entry(rule).or_insert((unusable, resource, 0)).2 += 1;
        }
    }
    first.into_values().map(|(unusable, resource, lists)| unusable_keys(unusable, resource, lists)).collect()
}

fn unusable_keys(unusable: &UnusableKeys, resource: &Resource, lists: usize) -> Finding {
    let keys: Vec<String> = unusable.keys.iter().map(|key| format!("`{key}`")).collect();
    let keys = keys.join(", ");
    let place = path_text::display(&unusable.path, path_text::EMBEDDED);
    let (message, label) = match unusable.twin {
        None => (
            format!(
                "the items of {place} in {} are not identified by {keys}, which one of them lacks",
                resource.identity
            ),
            "no such key",
        ),
        Some(_) => (
            format!(
                "the items of {place} in {} are not identified by {keys}, which two of them share",
                resource.identity
            ),
            "the same again",
        ),
    };
    let help = match lists {
        1 => "the list is compared by content".to_owned(),
        _ => format!("{lists} lists are compared by content"),
    };
    let help = format!("{help}; give other keys for `{}` under `lists` in outcrop.yaml", unusable.pattern);
    let finding =
        Finding::new(&finding::CONFIG_LIST_KEYS, Location::Span(unusable.item), message).labelled(label).help(help);
    match unusable.twin {
        Some(twin) => finding.related(twin, "first here"),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::{self, Options};
    use crate::path::RepoPath;
    use crate::resource::Identity;
    use crate::settings::ListRule;
    use crate::testing::read;

    #[test]
    fn a_rule_that_fails_for_two_lists_is_reported_once() {
        let resource = |text: &str| {
            let file = RepoPath::new("a.yaml").unwrap();
            let identity = Identity::File { path: file.clone(), position: None };
            Resource { identity, file, position: 0, payload: read(text), unit: None }
        };
        let rule = ListRule { pointer: "/*".into(), keys: vec!["id".into()], is_unordered: false };
        let before = resource("{a: [{id: 1}, {x: 2}], b: [{id: 1}, {x: 2}]}");
        let after = resource("{a: [{id: 1}, {x: 3}], b: [{id: 1}, {x: 3}]}");
        let changes = diff::compare_resources(vec![(Some(before), Some(after))], &Options::new(&[rule]).unwrap());
        let findings = unusable_list_keys(&changes);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].help.as_deref().is_some_and(|help| help.starts_with("2 lists are compared by content")));
    }
}
