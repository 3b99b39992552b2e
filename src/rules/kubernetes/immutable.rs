//! `kubernetes/immutable`: a change of a field that the API server does not let anyone change.

use std::cmp::Ordering;

use smol_str::SmolStr;

use super::immutable_fields::{Absent, IMMUTABLE, ImmutableField, ImmutableKind};
use super::quantity;
use super::recreated::{Update, update};
use super::transition::{Problem, Transition, below, is_empty, is_placeholder, is_true, pointer, scalar, written};
use crate::finding::{self, Severity};
use crate::path::Pointer;
use crate::value::{Node, Value};

/// The fields of an object that cannot be changed and are.
pub(super) fn immutable(transition: &Transition<'_>) -> Vec<Problem> {
    let Some((old, new)) = transition.both() else { return Vec::new() };
    let update = update(transition);
    if update == Update::Harmless {
        return Vec::new();
    }
    let mut problems = frozen_data(transition, old, new);
    problems.extend(service_address(transition, old, new));
    for kind in IMMUTABLE.iter().filter(|kind| transition.is(kind.group, kind.kind)) {
        if kind.kind == "Job" {
            problems.extend(job_completions(old, new));
            // Before it has run, a Job may still be changed.
            if is_true(old.at(&pointer("/spec/suspend"))) {
                continue;
            }
        }
        problems.extend(kind.fields.iter().filter_map(|field| changed_field(kind, field, old, new)));
    }
    problems.into_iter().map(|problem| if update == Update::Recreated { recreated(problem) } else { problem }).collect()
}

fn changed_field(kind: &ImmutableKind, field: &ImmutableField, old: &Node, new: &Node) -> Option<Problem> {
    let place = pointer(field.at);
    let (was, is) = (written(old, &place), written(new, &place));
    let is_default = |node: &Node, default: &str| scalar(node).is_some_and(|text| text == default);
    let is_changed = match (was, is, field.absent) {
        (None, None, _) => false,
        (Some(was), Some(is), _) => return Some(refused(kind, field, differing(was, is, place, field.except)?)),
        (None, Some(_), Absent::SetOnce) | (_, _, Absent::Unknown) => false,
        (Some(node), None, Absent::Default(default)) | (None, Some(node), Absent::Default(default)) => {
            !is_default(node, default)
        }
        (_, _, Absent::NoValue | Absent::SetOnce) => true,
    };
    let is_known = was.or(is).is_some_and(|node| !is_placeholder(node));
    (is_changed && is_known).then(|| refused(kind, field, place))
}

fn refused(kind: &ImmutableKind, field: &ImmutableField, place: Pointer) -> Problem {
    says(field.at, place, &format!("{}\nsee {}", kind.instead, kind.link))
}

fn says(field: &str, place: Pointer, help: &str) -> Problem {
    let field = field.trim_start_matches('/').replace('/', ".");
    Problem::new(&finding::KUBERNETES_IMMUTABLE, place, " cannot be changed: the API server refuses it")
        .head(format!("`{field}` of "))
        .help(help)
}

/// What happens to an object that is replaced because someone asked for it.
fn recreated(problem: Problem) -> Problem {
    Problem { tail: " cannot be changed, so that the object is deleted and created again".to_owned(), ..problem }
        .severity(Severity::Note)
        .help("it is applied with force; what it serves is interrupted")
}

/// The place of what differs between two values, as deep as there is only one; nothing if they are equal to the API server.
fn differing(old: &Node, new: &Node, place: Pointer, except: &[&str]) -> Option<Pointer> {
    if old.is_equal(new) || is_placeholder(old) || is_placeholder(new) || is_same_quantity(old, new) {
        return None;
    }
    let places: Vec<Pointer> = match (&old.value, &new.value) {
        (Value::Map(was), Value::Map(is)) => {
            let own = was.entries().iter().chain(is.entries().iter().filter(|it| was.get(&it.key.name).is_none()));
            let names = own.map(|entry| &entry.key.name).filter(|name| !except.contains(&name.as_str()));
            let differs = |name: &SmolStr| {
                let place = below(&place, name.clone());
                match (was.get(name).filter(|it| !is_empty(it)), is.get(name).filter(|it| !is_empty(it))) {
                    (Some(was), Some(is)) => differing(was, is, place, except),
                    (None, None) => None,
                    (Some(only), None) | (None, Some(only)) => (!is_default(name, only)).then_some(place),
                }
            };
            names.filter_map(differs).collect()
        }
        (Value::List(was), Value::List(is)) if was.items().len() == is.items().len() => {
            let items = was.items().iter().zip(is.items()).enumerate();
            items.filter_map(|(at, (was, is))| differing(was, is, below(&place, at.to_string()), except)).collect()
        }
        _ => return Some(place),
    };
    match places.len() {
        0 => None,
        1 => places.into_iter().next(),
        _ => Some(place),
    }
}

/// What the API server adds to claims and pods where nothing is written.
fn is_default(name: &str, node: &Node) -> bool {
    const DEFAULTS: [(&str, &str); 6] = [
        ("volumeMode", "Filesystem"),
        ("restartPolicy", "Always"),
        ("dnsPolicy", "ClusterFirst"),
        ("schedulerName", "default-scheduler"),
        ("terminationMessagePath", "/dev/termination-log"),
        ("terminationMessagePolicy", "File"),
    ];
    DEFAULTS.iter().any(|(key, default)| *key == name && node.as_str() == Some(default))
}

/// `1Gi` and `1024Mi`; two texts of digits are not quantities, but names.
fn is_same_quantity(old: &Node, new: &Node) -> bool {
    let is_plain = |node: &Node| node.as_str().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    !(is_plain(old) && is_plain(new)) && quantity::compare(old, new) == Some(Ordering::Equal)
}

/// The data of a ConfigMap or a Secret that is marked as immutable, and the mark itself.
fn frozen_data(transition: &Transition<'_>, old: &Node, new: &Node) -> Vec<Problem> {
    let mark = pointer("/immutable");
    let is_meant = transition.is("", "ConfigMap") || transition.is("", "Secret");
    // What is encrypted as a whole is written anew each time, whether it says something else or not.
    if !is_meant || !is_true(old.at(&mark)) || new.get("sops").is_some() {
        return Vec::new();
    }
    let help = "give it another name and refer to that, or delete the object first\nsee \
                https://kubernetes.io/docs/concepts/configuration/configmap/#configmap-immutable";
    let places = ["/data", "/binaryData", "/stringData"].into_iter().filter_map(|field| {
        let place = pointer(field);
        match (written(old, &place), written(new, &place)) {
            (Some(was), Some(is)) => Some(says(field, differing(was, is, place, &[])?, help)),
            (None, None) => None,
            _ => Some(says(field, place, help)),
        }
    });
    let unmarked = (!is_true(new.at(&mark))).then(|| says("/immutable", mark.clone(), help));
    places.chain(unmarked).collect()
}

/// The address of a Service: it is given once, and kept if it is no longer written.
fn service_address(transition: &Transition<'_>, old: &Node, new: &Node) -> Option<Problem> {
    let place = pointer("/spec/clusterIP");
    let kind = pointer("/spec/type");
    let is_external = |node: &Node| node.at(&kind).and_then(Node::as_str) == Some("ExternalName");
    if !transition.is("", "Service") || is_external(old) || is_external(new) {
        return None;
    }
    let is = written(new, &place).filter(|is| !is_placeholder(is))?;
    let is_refused = match written(old, &place) {
        Some(was) => !is_placeholder(was) && !was.is_equal(is),
        // The cluster gave it an address, which is another one than none.
        None => is.as_str() == Some("None"),
    };
    let help = "delete the Service and let it be created again, or give it another name\nsee \
                https://kubernetes.io/docs/concepts/services-networking/service/#choosing-your-own-ip-address";
    is_refused.then(|| says("/spec/clusterIP", place, help))
}

/// The number of completions; that of an indexed Job may change together with its parallelism.
fn job_completions(old: &Node, new: &Node) -> Option<Problem> {
    let place = pointer("/spec/completions");
    let (was, is) = (old.at(&place)?, new.at(&place)?);
    let is_indexed = |node: &Node| {
        let spec = |key: &str| node.get("spec").and_then(|spec| spec.get(key));
        let is_even = spec("parallelism").zip(spec("completions")).is_some_and(|(one, other)| one.is_equal(other));
        is_even && spec("completionMode").and_then(Node::as_str) == Some("Indexed")
    };
    let help = "give the Job another name\nsee https://kubernetes.io/docs/concepts/workloads/controllers/job/";
    let is_allowed = was.is_equal(is) || is_indexed(old) && is_indexed(new);
    (!is_allowed).then(|| says("/spec/completions", place, help))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read;

    fn differs(old: &str, new: &str) -> Option<String> {
        differing(&read(old), &read(new), Pointer::root(), &["status"]).map(|place| place.to_string())
    }

    #[test]
    fn what_the_api_server_takes_for_equal_does_not_differ() {
        assert_eq!(differs("{a: 1Gi, status: {}}", "{a: 1024Mi, b: null}"), None);
        assert_eq!(differs("{a: {x: 1, volumeMode: Filesystem}}", "{a: {x: 1}}"), None);
        assert_eq!(differs("{a: '${SIZE}'}", "{a: 1Gi}"), None);
    }

    #[test]
    fn the_place_is_as_deep_as_there_is_one_difference() {
        assert_eq!(differs("{a: {b: [{c: 1}, 2]}}", "{a: {b: [{c: 3}, 2]}}").as_deref(), Some("/a/b/0/c"));
        assert_eq!(differs("{a: {b: 1, c: 1}}", "{a: {b: 2, c: 2}}").as_deref(), Some("/a"));
        assert_eq!(differs("{a: '1'}", "{a: '01'}").as_deref(), Some("/a"));
    }

    #[test]
    fn every_pointer_of_the_table_is_well_formed() {
        for kind in IMMUTABLE {
            assert!(kind.fields.iter().all(|field| Pointer::parse(field.at).is_ok()), "{}", kind.kind);
            assert!(kind.link.starts_with("https://kubernetes.io/docs/"), "{}", kind.kind);
        }
    }
}
