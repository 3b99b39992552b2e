//! Added or removed resources that differ in few values: one is shown, and how the others differ from it.

use std::collections::{BTreeMap, BTreeSet};

use super::additions::{Alike, AlikeVariant, side};
use crate::diff::PathStep;
use crate::report::Report;
use crate::resource::{Identity, Resource};
use crate::value::{Node, Value};

/// Smaller resources are not worth a comparison.
const SMALLEST: u64 = 10;
/// The most paths and the most different values.
const MOST_PATHS: usize = 8;
const MOST_VALUES: usize = 3;
/// The most resources of one kind and size that others are compared with.
const MOST_EXAMPLES: usize = 8;

/// Joins resources of one kind that differ in few values.
pub(super) fn merged(report: &Report, classes: Vec<Alike>) -> Vec<Alike> {
    let mut kept: Vec<Alike> = Vec::with_capacity(classes.len());
    let mut examples: BTreeMap<(String, u64), Vec<usize>> = BTreeMap::new();
    for class in classes {
        let Some(of) = first(report, &class).filter(|of| of.payload.size() >= SMALLEST && !of.is_selector()) else {
            kept.push(class);
            continue;
        };
        let known = examples.entry((kind(of), of.payload.size())).or_default();
        let twin = known.iter().find_map(|&at| {
            let other = first(report, kept.get(at)?)?;
            Some((at, differing_values(&other.payload, &of.payload)?))
        });
        match twin {
            Some((at, values)) => kept[at].variants.push(AlikeVariant { resources: class.resources, values }),
            None => {
                if known.len() < MOST_EXAMPLES {
                    known.push(kept.len());
                }
                kept.push(class);
            }
        }
    }
    kept
}

fn first<'r>(report: &'r Report, class: &Alike) -> Option<&'r Resource> {
    side(report.resources.get(*class.resources.first()?)?)
}

fn kind(of: &Resource) -> String {
    match &of.identity {
        Identity::Kubernetes(name) => format!("{}.{}", name.kind, name.group),
        Identity::Logical(_) => "/".to_owned(),
        Identity::File { .. } => String::new(),
    }
}

/// The values of the second tree that differ from the first; nothing if these are many, or if the trees have other parts.
fn differing_values(this: &Node, that: &Node) -> Option<Vec<(Node, Vec<Vec<PathStep>>)>> {
    let mut found = Vec::new();
    walk(this, that, &mut Vec::new(), &mut found)?;
    let mut values: Vec<(Node, Vec<Vec<PathStep>>)> = Vec::new();
    for (path, node) in found {
        match values.iter_mut().find(|(known, _)| known.is_identical(&node)) {
            Some((_, paths)) => paths.push(path),
            None => values.push((node, vec![path])),
        }
    }
    (values.len() <= MOST_VALUES).then_some(values)
}

fn walk(this: &Node, that: &Node, path: &mut Vec<PathStep>, found: &mut Vec<(Vec<PathStep>, Node)>) -> Option<()> {
    if this.is_identical(that) {
        return Some(());
    }
    match (&this.value, &that.value) {
        (Value::Map(a), Value::Map(b)) if a.len() == b.len() => {
            let names: BTreeSet<_> = a.entries().iter().map(|entry| &entry.key.name).collect();
            for entry in b.entries() {
                let other = a.get(&entry.key.name).filter(|_| names.contains(&entry.key.name))?;
                path.push(PathStep::Key(entry.key.clone()));
                walk(other, &entry.value, path, found)?;
                path.pop();
            }
        }
        (Value::List(_), Value::List(_)) => {
            let (a, b) = (this.as_list()?, that.as_list()?);
            for (at, (this, that)) in a.iter().zip(b).enumerate().filter(|_| a.len() == b.len()) {
                path.push(PathStep::Item { before: None, after: Some(at), label: None });
                walk(this, that, path, found)?;
                path.pop();
            }
            return (a.len() == b.len()).then_some(());
        }
        (a, b) if is_scalar(a) && is_scalar(b) => {
            found.push((path.clone(), that.clone()));
            return (found.len() <= MOST_PATHS).then_some(());
        }
        _ => return None,
    }
    Some(())
}

/// A value that fits on a line and is shown.
fn is_scalar(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => !text.contains('\n'),
        Value::List(_) | Value::Map(_) | Value::Secret(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::path_text;
    use crate::testing::read;

    fn differing(this: &str, that: &str) -> Option<Vec<String>> {
        let values = differing_values(&read(this), &read(that))?;
        let shown = |(node, paths): &(Node, Vec<Vec<PathStep>>)| {
            let paths: Vec<String> = paths.iter().map(|path| path_text::display(path, path_text::EMBEDDED)).collect();
            format!("{} {}", paths.join(" "), node.as_str().unwrap_or_default())
        };
        Some(values.iter().map(shown).collect())
    }

    #[test]
    fn few_scalars_may_differ() {
        let found = differing("{name: a, ref: {name: a}, l: [1, x]}", "{name: b, ref: {name: b}, l: [1, y]}");
        assert_eq!(found, Some(vec![".name .ref.name b".to_owned(), ".l[1] y".to_owned()]));
    }

    #[test]
    fn other_parts_and_many_values_are_other_resources() {
        assert_eq!(differing("{a: 1}", "{b: 1}"), None);
        assert_eq!(differing("{a: [1]}", "{a: [1, 2]}"), None);
        assert_eq!(differing("{a: 1, b: 2, c: 3, d: 4}", "{a: x, b: y, c: z, d: w}"), None);
        assert_eq!(differing("{a: x}", "{a: {b: 1}}"), None);
    }
}
