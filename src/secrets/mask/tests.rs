//! Secrets are hidden in what counts and in what it overrides.

use super::*;
use crate::directive::{self, Context, Includes, MergeProfile};
use crate::document::{self, Format};
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::resource::Identity;
use crate::snapshot::MemorySnapshot;
use crate::text::{SourceText, Sources};

/// A document with its directives followed.
fn expanded(text: &str) -> Node {
    let (sources, limits) = (Sources::default(), Limits::default());
    let path = RepoPath::new("a.yaml").unwrap();
    let source = sources.add(SourceText::new(path.clone(), "test", text));
    let parsed = document::parse(text, source, Format::Yaml, &limits);
    assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
    let snapshot = MemorySnapshot::new("test");
    let (includes, profile) = (Includes::default(), MergeProfile::default());
    let context = Context {
        snapshot: &snapshot,
        includes: &includes,
        sources: &sources,
        limits: &limits,
        profile,
        unfurl: true,
        is_unfurl: false,
        remotes: &[],
    };
    let outcome = directive::expand(&parsed.value[0], &path, &context);
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
    outcome.value.root
}

fn masked(text: &str, rules: &[&str]) -> Node {
    let rule = |pointer: &&str| PlaceRule { within: None, pointer: (*pointer).into() };
    let rules: Vec<PlaceRule> = rules.iter().map(rule).collect();
    let file = RepoPath::new("a.yaml").unwrap();
    let identity = Identity::File { path: file.clone(), position: None };
    Masks::new(&rules).hide(Resource { identity, file, position: 0, payload: expanded(text), unit: None }).payload
}

/// Everything that anybody could print: what secrets hide is not part of it.
fn all(node: &Node) -> String {
    format!("{node:?}")
}

#[test]
fn what_a_secret_overrides_is_a_secret() {
    let text = "a: {+/b: , apiKey: winner}\nb: {apiKey: hunter1}\n";
    assert!(all(&expanded(text)).contains("hunter1"));
    let root = masked(text, &["/**/apiKey"]);
    let key = root.at(&Pointer::parse("/a/apiKey").unwrap()).unwrap();
    assert!(matches!(key.overridden().map(|node| &node.value), Some(Value::Secret(_))), "{key:?}");
    for text in [
        text,
        "a: {+/b: , apiKey: {+%: replace, x: winner}}\nb: {apiKey: {x: hunter2}}\n",
        "a: {+/b: , apiKey: {+%: nullout}}\nb: {apiKey: hunter3}\n",
        "a: {+/b: , x: 1}\nb: {x: {apiKey: hunter4}}\n",
        "a: {+/b: , l: [1]}\nb: {l: [{apiKey: hunter5}]}\n",
        "a: {+/b: , apiKey: 1}\nb: {+/c: , apiKey: hunter6}\nc: {apiKey: hunter7}\n",
    ] {
        assert!(all(&expanded(text)).contains("hunter"));
        let shown = all(&masked(text, &["/**/apiKey"]));
        assert!(!shown.contains("hunter"), "{shown}");
    }
}

#[test]
fn what_a_kubernetes_secret_is_made_of_is_a_secret() {
    let head = "apiVersion: v1\nkind: Secret\ntype: Opaque\n";
    for rest in [
        "stringData: {+/base: , password: winner}\nbase: {password: hunter1}\n",
        "stringData: {+/base: }\nbase: {password: hunter2}\n",
        "metadata: {+/m: , annotations: 1}\nm: {annotations: {x: hunter3}}\ndata: {a: b}\n",
        "data: {+/l: , x: {+%: whiteout}, y: z}\nl: {x: hunter4}\n",
    ] {
        let shown = all(&masked(&format!("{head}{rest}"), &[]));
        assert!(!shown.contains("hunter"), "{shown}");
        assert!(shown.contains("Opaque"));
    }
    let list = "o: {+/p: , s: {+%: replace, kind: ConfigMap}}\np: {s: {kind: Secret, data: {x: hunter5}}}\n";
    assert!(!all(&masked(list, &[])).contains("hunter"));
}

#[test]
fn annotations_that_configure_tools_are_shown_and_others_are_not() {
    let shown = |annotations: &str| {
        let head = "apiVersion: v1\nkind: Secret\nmetadata:\n  annotations:";
        all(&masked(&format!("{head} {annotations}\ndata: {{a: b}}\n"), &[]))
    };
    assert!(shown("{argocd.argoproj.io/sync-wave: hunter1}").contains("hunter1"));
    assert!(shown("{kubernetes.io/service-account.name: hunter2, x: 1}").contains("hunter2"));
    for hidden in [
        "{kubectl.kubernetes.io/last-applied-configuration: hunter3, helm.sh/hook: x}",
        "{note: hunter4}",
        "{helm.sh/hook: {x: hunter5}}",
        "{argocd.argoproj.io.example/x: hunter6}",
        "hunter7",
    ] {
        assert!(!shown(hidden).contains("hunter"), "{hidden}");
    }
}

#[test]
fn declared_places_are_hidden_in_histories_too() {
    let places = |node: &Node| {
        let pointers = ["/a/db/pass", "/b/db/pass", "/a/l/1/pass"].map(|text| Pointer::parse(text).unwrap());
        pointers.into_iter().filter(|pointer| node.at(pointer).is_some()).collect()
    };
    for text in [
        "a: {+/b: , db: {pass: winner}}\nb: {db: {pass: hunter1}}\n",
        "a: {+/b: , db: none}\nb: {db: {pass: hunter2}}\n",
        "a: {+/b: , db: {pass: {+%: nullout}}}\nb: {db: {pass: hunter3}}\n",
    ] {
        let identity = Identity::File { path: RepoPath::root(), position: None };
        let resource = Resource { identity, file: RepoPath::root(), position: 0, payload: expanded(text), unit: None };
        let hidden = hide_places(resource, places).payload;
        assert!(!all(&hidden).contains("hunter"), "{hidden:?}");
    }
}

#[test]
fn histories_that_have_no_end_are_forgotten() {
    // Each step doubles the document and triples what it overrides.
    let mut text = "k0: {l: [1, 2]}\n".to_owned();
    for at in 1..16 {
        let last = at - 1;
        text += &format!("k{at}: {{+/k{last}: , l: [{{+/k{last}: }}, {{+/k{last}: }}]}}\n");
    }
    let root = masked(&text, &["/**/none"]);
    assert!(root.is_identical(&expanded(&text)));
}
