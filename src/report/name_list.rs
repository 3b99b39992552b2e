//! Many names in little room: `/customers/{acme, bolt, +34 more}`, `Deployment shop/{api, web}`.

use std::collections::{BTreeMap, BTreeSet};

use super::paint::columns;
use crate::path::RepoPath;
use crate::resource::{Identity, KubernetesName};
use crate::sanitize;

/// Names that differ in one part only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Family {
    /// What they start with.
    start: String,
    /// The part in which the names differ, in order.
    names: Vec<String>,
    /// What they end with.
    end: String,
}

/// The names of resources by what they share, in the order of their first members.
pub(super) fn of_resources<'a>(identities: impl IntoIterator<Item = &'a Identity>) -> Vec<Family> {
    families(identities.into_iter().map(parts).collect())
}

/// The names of files by what they share.
pub(super) fn of_files<'a>(files: impl IntoIterator<Item = &'a RepoPath>) -> Vec<Family> {
    families(files.into_iter().map(file_parts).collect())
}

/// The keys of units, which are mostly paths, by what they share.
pub(super) fn of_paths<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<Family> {
    families(paths.into_iter().map(|path| split_path(sanitize::inline(path).into_owned())).collect())
}

/// A name in parts that may differ one by one, each with its separator.
type Parts = Vec<String>;

fn parts(identity: &Identity) -> Parts {
    match identity {
        Identity::Logical(path) if path.is_root() => vec![path.to_string()],
        Identity::Logical(path) => path.segments().map(|segment| format!("/{}", sanitize::inline(segment))).collect(),
        Identity::Kubernetes(name) => kubernetes_parts(name),
        Identity::File { path, position: None } => file_parts(path),
        Identity::File { .. } => vec![identity.to_string()],
    }
}

fn kubernetes_parts(name: &KubernetesName) -> Parts {
    let whole = name.to_string();
    let own = sanitize::inline(&name.name).into_owned();
    match whole.strip_suffix(own.as_str()) {
        Some(start) => vec![start.to_owned(), own],
        None => vec![whole],
    }
}

fn file_parts(path: &RepoPath) -> Parts {
    let whole = path.to_string();
    // A quoted name is not split into parts.
    if whole.starts_with('"') {
        return vec![whole];
    }
    split_path(whole)
}

fn split_path(whole: String) -> Parts {
    whole.split('/').enumerate().map(|(at, part)| if at == 0 { part.to_owned() } else { format!("/{part}") }).collect()
}

/// What a family has in common: the number of parts, and those before and after the one that differs.
type Shared<'a> = (usize, &'a [String], &'a [String]);

/// Groups names of equally many parts into families by the part that gives the fewest families; the last part on a tie.
fn families(names: Vec<Parts>) -> Vec<Family> {
    let mut by_length: BTreeMap<usize, Vec<&Parts>> = BTreeMap::new();
    names.iter().for_each(|name| by_length.entry(name.len()).or_default().push(name));
    let varying: BTreeMap<usize, usize> = by_length
        .iter()
        .map(|(length, names)| {
            let count = |at: &usize| names.iter().map(|name| without(name, *at)).collect::<BTreeSet<_>>().len();
            (*length, (0..*length).rev().min_by_key(count).unwrap_or_default())
        })
        .collect();
    let mut order: Vec<Shared<'_>> = Vec::new();
    let mut members: BTreeMap<Shared<'_>, Vec<&str>> = BTreeMap::new();
    for name in names.iter().filter(|name| !name.is_empty()) {
        let at = varying.get(&name.len()).copied().unwrap_or_default();
        let (start, end) = without(name, at);
        let key = (name.len(), start, end);
        let family = members.entry(key).or_default();
        if family.is_empty() {
            order.push(key);
        }
        family.push(&name[at]);
    }
    let family = |key: &Shared<'_>| {
        let names = members.get(key).map(Vec::as_slice).unwrap_or_default();
        // The slash belongs to what is shared.
        let has_slash = names.iter().all(|name| name.starts_with('/'));
        let slash = if has_slash { "/" } else { "" };
        let bare = |name: &&str| name.strip_prefix(slash).unwrap_or(name).to_owned();
        Family { start: key.1.concat() + slash, names: names.iter().map(bare).collect(), end: key.2.concat() }
    };
    order.iter().map(family).collect()
}

fn without(name: &[String], at: usize) -> (&[String], &[String]) {
    (&name[..at], name.get(at + 1..).unwrap_or_default())
}

/// How many names there are.
pub(super) fn count(families: &[Family]) -> usize {
    families.iter().map(|family| family.names.len()).sum()
}

/// As many names as fit, and how many others there are.
pub(super) fn fitted(families: &[Family], width: usize) -> String {
    // No terminal shows more names on a line than it has columns.
    let most = count(families).min(width.max(1));
    let fits = |count: &usize| columns(&first(families, *count)) <= width;
    let (mut low, mut high) = (1, most);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(&middle) { low = middle } else { high = middle - 1 }
    }
    first(families, low)
}

/// Every name, in pieces that may be broken between.
pub(super) fn whole(families: &[Family]) -> Vec<String> {
    let mut pieces = Vec::new();
    for (at, family) in families.iter().enumerate() {
        let comma = if at + 1 < families.len() { "," } else { "" };
        let count = family.names.len();
        for (number, name) in family.names.iter().enumerate() {
            let (start, end) = match (number, count) {
                (_, 1) => (family.start.clone(), format!("{}{comma}", family.end)),
                (0, _) => (format!("{}{{", family.start), ",".to_owned()),
                (number, count) if number + 1 == count => (String::new(), format!("}}{}{comma}", family.end)),
                _ => (String::new(), ",".to_owned()),
            };
            pieces.push([start.as_str(), name, &end].concat());
        }
    }
    pieces
}

/// Up to so many names, and how many others there are.
pub(super) fn shortened(names: &[&str], most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let mut words = names[..names.len() - more].join(", ");
    if more > 0 {
        words.push_str(&format!(", +{more} more"));
    }
    words
}

/// The first so many names.
pub(super) fn first(families: &[Family], count: usize) -> String {
    let mut left = count;
    let mut shown: Vec<String> = Vec::new();
    let mut hidden = 0;
    for Family { start, names, end } in families {
        let taken = left.min(names.len());
        left -= taken;
        let rest = names.len() - taken;
        match (taken, names.len()) {
            (0, count) => hidden += count,
            (_, 1) => shown.push([start.as_str(), &names[0], end].concat()),
            _ => {
                let more = if rest > 0 { format!(", +{rest} more") } else { String::new() };
                shown.push(format!("{start}{{{}{more}}}{end}", names[..taken].join(", ")));
            }
        }
    }
    if hidden > 0 {
        shown.push(format!("+{hidden} more"));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::LogicalPath;
    use crate::report::sample::{kubernetes, path};
    use proptest::prelude::*;

    fn logical(paths: &[&str]) -> Vec<Identity> {
        paths.iter().map(|path| Identity::Logical(LogicalPath::parse(path).expect("a path"))).collect()
    }

    fn shown(identities: &[Identity], width: usize) -> String {
        fitted(&of_resources(identities), width)
    }

    #[test]
    fn what_names_share_is_said_once() {
        assert_eq!(shown(&logical(&["/customers/acme", "/customers/bolt"]), 80), "/customers/{acme, bolt}");
        assert_eq!(shown(&logical(&["/c/acme/web", "/c/bolt/web", "/c/cargo/web"]), 80), "/c/{acme, bolt, cargo}/web");
        assert_eq!(shown(&logical(&["/a", "/b/c", "/b/d"]), 80), "/a, /b/{c, d}");
        let names = [kubernetes("Deployment", "api"), kubernetes("Deployment", "web"), kubernetes("Service", "web")];
        assert_eq!(shown(&names, 80), "Deployment shop/{api, web}, Service shop/web");
        let files = ["a/x.yaml", "b/x.yaml"].map(path);
        assert_eq!(fitted(&of_files(&files), 80), "{a, b}/x.yaml");
        assert_eq!(shown(&[], 80), "");
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let many: Vec<String> = (0..37).map(|at| format!("/customers/c{at:02}")).collect();
        let many = logical(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(shown(&many, 36), "/customers/{c00, c01, c02, +34 more}");
        assert_eq!(shown(&many, 3), "/customers/{c00, +36 more}");
        assert_eq!(whole(&of_resources(&many)).len(), 37);
        assert_eq!(shown(&logical(&["/a/b", "/c/d", "/e/f"]), 10), "/a/b, +2 more");
    }

    proptest! {
        #[test]
        fn nobody_is_lost(names in prop::collection::btree_set("/[ab]/[ab]{1,2}(/[ab])?", 0..12), width in 1usize..60) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let families = of_resources(&logical(&names));
            prop_assert_eq!(families.iter().map(|family| family.names.len()).sum::<usize>(), names.len());
            prop_assert_eq!(whole(&families).len(), names.len());
            let mut spelled: Vec<String> = families
                .iter()
                .flat_map(|family| family.names.iter().map(|name| [family.start.as_str(), name, &family.end].concat()))
                .collect();
            spelled.sort();
            prop_assert_eq!(spelled, names);
            let short = fitted(&families, width);
            prop_assert!(columns(&short) <= width || short == first(&families, 1), "{short}");
            prop_assert_eq!(fitted(&families, 10_000), whole(&families).join(" "));
        }
    }
}
