//! Reports that show nothing but changes are the same whether or not everything else is kept.

use outcrop::comparison::Comparison;
use outcrop::report::markdown::Comment;
use outcrop::report::{Report, Style, json, markdown, side_by_side, terminal};

use crate::comparing::{Comparing, snapshot};

/// Values with comments, lists with names, texts, secrets, moves, spellings, and columns that are not bytes.
const BEFORE: &[(&str, &str)] = &[
    (
        "plain.yaml",
        "a: 1 # one\nb: [x, y]\nc:\n  d: 1.10\n  e: |\n    first\n    second\nkeep: {z: 1}\n# renovate: depName=example/app\ntag: v1.2.3\n",
    ),
    ("wide.yaml", "é: {ß: 1}\nf: ü\n"),
    ("deep/app.yaml", APP),
    ("secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: old, q: same}\n"),
    ("list.json", "{\"items\": [{\"name\": \"a\", \"v\": 1}, {\"name\": \"b\", \"v\": 2}]}\n"),
    ("gone.yaml", "was: here\n"),
    ("broken.yaml", "a: [1\n"),
];
const APP: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 2\n---\nother: 1\n";
const AFTER: &[(&str, &str)] = &[
    (
        "plain.yaml",
        "# a comment moves everything\na: 2 # two\nb: [y, x]\nc:\n  d: 1.1\n  e: |\n    first\n    third\nkeep: {z: 1}\n# renovate: depName=example/app\ntag: v1.3.0\n",
    ),
    ("wide.yaml", "é: {ß: 2}\nf: üü\n"),
    (
        "deep/app.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 3\n---\nother: 1\n",
    ),
    ("secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: new, q: same}\n"),
    ("list.json", "{\"items\": [{\"name\": \"b\", \"v\": 2}, {\"name\": \"a\", \"v\": 3}]}\n"),
    ("new.yaml", "is: here\n"),
    ("broken.yaml", "a: [1, 2]\n"),
];

fn shown(keeps_resources: bool) -> Vec<String> {
    let side = |label: &str, files: &[(&'static str, &'static str)]| snapshot(label, files.iter().copied()).with_ids();
    let comparing = Comparing { keeps_resources, ..Comparing::new(side("before", BEFORE), side("after", AFTER)) };
    comparing.run(|comparison: &Comparison<'_>| {
        let report: Report = comparison.compare();
        let style = Style { verbosity: 1, ..Style::default() };
        let mut out = [(); 4].map(|()| Vec::new());
        terminal::write(&report, &style, &mut out[0]).unwrap();
        side_by_side::write(&report, &style, &mut out[1]).unwrap();
        json::write(&report, &mut out[2]).unwrap();
        markdown::write(&report, Comment { budget: 60_000, link: None }, &mut out[3]).unwrap();
        out.map(|bytes| String::from_utf8(bytes).unwrap()).to_vec()
    })
}

#[test]
fn reports_of_changes_need_nothing_else() {
    let (whole, reduced) = (shown(true), shown(false));
    assert!(whole[0].contains("# one") && whole[0].contains("replicas"), "{}", whole[0]);
    for (whole, reduced) in whole.iter().zip(&reduced) {
        assert_eq!(whole, reduced);
    }
}
