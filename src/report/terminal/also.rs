//! Resources that are nearly the same as the one shown: what they are called, where they are, and their own values.

use super::Draft;
use super::block::{kind_and_name, subject};
use crate::diff::{PathStep, path_text};
use crate::report::outline::{Alike, AlikeVariant};
use crate::report::places::{Names, text_parts};
use crate::report::{Report, fragment};
use crate::resource::{Identity, Resource};
use crate::value::Node;

/// A value of a resource, and the paths that have it.
type Own = (Node, Vec<Vec<PathStep>>);

impl Draft<'_> {
    /// `also shop/web in apps/web.yaml, with .spec.replicas 3`: what the title says is not said again, nor what the name says.
    pub(in crate::report) fn also(&mut self, report: &Report, alike: &Alike) -> Vec<String> {
        let known = places(report, &alike.resources);
        let shown = first(report, &alike.resources);
        let mut found: Vec<(Vec<usize>, String, String)> = Vec::new();
        for variant in &alike.variants {
            let places = places(report, &variant.resources);
            let place = if places == known { String::new() } else { format!(" in {places}") };
            let values = self.own_values(report, variant);
            match found.last_mut().filter(|last| (&last.1, &last.2) == (&place, &values)) {
                Some((resources, _, _)) => resources.extend(&variant.resources),
                None => found.push((variant.resources.clone(), place, values)),
            }
        }
        let words = |(resources, place, values): (Vec<usize>, String, String)| {
            let with = if values.is_empty() { String::new() } else { format!(", with {values}") };
            format!("also {}{place}{with}", called(report, &resources, shown))
        };
        found.into_iter().map(words).collect()
    }

    /// The values that are not part of the name.
    fn own_values(&mut self, report: &Report, variant: &AlikeVariant) -> String {
        let of = first(report, &variant.resources);
        let value = |(node, paths): &Own| {
            let paths: Vec<Vec<String>> = paths
                .iter()
                .filter(|path| !of.is_some_and(|of| is_said_by_name(path, node, of)))
                .map(|path| path_text::steps(path, self.symbols.embedded))
                .collect();
            let value = fragment::inline(node, &mut self.secret_numbers).unwrap_or_default();
            (!paths.is_empty()).then(|| format!("{} {value}", Names::of_paths(paths).text()))
        };
        variant.values.iter().filter_map(value).collect::<Vec<_>>().join(", ")
    }
}

fn first<'r>(report: &'r Report, resources: &[usize]) -> Option<&'r Resource> {
    let of = report.resources.get(*resources.first()?)?;
    of.after.as_ref().or(of.before.as_ref())
}

fn places(report: &Report, resources: &[usize]) -> String {
    let places: Vec<String> = subject(report, resources).places.iter().map(Names::text).collect();
    places.join(", ")
}

/// The names of resources, without their kind if it is that of the resource shown.
fn called(report: &Report, resources: &[usize], shown: Option<&Resource>) -> String {
    let sides = || resources.iter().filter_map(|at| first(report, &[*at]));
    let kind = shown.and_then(kind_and_name).map(|(kind, _)| kind);
    let names: Option<Vec<(String, String)>> = sides().map(kind_and_name).collect();
    match names.filter(|names| names.iter().all(|(of, _)| Some(of) == kind.as_ref())) {
        Some(names) => {
            let mut names: Vec<_> = names.iter().map(|(_, name)| text_parts(name)).collect();
            names.dedup();
            Names::of_paths(names).text()
        }
        None => {
            let mut names: Vec<&Identity> = sides().map(|side| &side.identity).collect();
            names.dedup();
            Names::of_resources(names).text()
        }
    }
}

/// Whether a value is the name or the namespace that the resource is called by.
fn is_said_by_name(path: &[PathStep], node: &Node, of: &Resource) -> bool {
    let [PathStep::Key(above), PathStep::Key(field)] = path else { return false };
    let Identity::Kubernetes(name) = &of.identity else { return false };
    let said = match &*field.name {
        "name" => &name.name,
        "namespace" => &name.namespace,
        _ => return false,
    };
    above.name == "metadata" && node.as_str() == Some(said)
}
