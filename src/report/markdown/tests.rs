//! The comment as a reader of GitHub Markdown sees it.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::*;
use crate::report::sample::{self, hostile};

fn written(report: &Report, budget: usize) -> String {
    let mut out = Vec::new();
    write(report, Comment { budget, link: None }, &mut out).expect("writing to memory works");
    String::from_utf8(out).expect("Markdown is text")
}

/// Headings, and what a reader would take for HTML, of a text. Fails at links and pictures.
fn seen(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut headings, mut markup, mut in_heading) = (Vec::new(), Vec::new(), false);
    let options = Options::ENABLE_GFM | Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                assert!(dest_url.is_empty(), "{dest_url} in {text}");
            }
            Event::Start(Tag::Heading { .. }) => {
                in_heading = true;
                headings.push(String::new());
            }
            Event::End(TagEnd::Heading(_)) => in_heading = false,
            Event::Text(words) if in_heading => headings.last_mut().expect("a heading").push_str(&words),
            Event::Html(html) | Event::InlineHtml(html) => markup.push(html.trim().to_owned()),
            _ => {}
        }
    }
    (headings, markup)
}

/// The elements of some markup.
fn elements(markup: &[String]) -> Vec<&str> {
    let tags = markup.iter().flat_map(|html| html.match_indices('<').map(|(at, _)| &html[at..]));
    tags.map(|tag| tag.split_inclusive(['>', ' ']).next().unwrap_or(tag)).collect()
}

const OURS: &[&str] =
    &["<details>", "</details>", "<summary>", "</summary>", "<b>", "</b>", "<code>", "</code>", "<!-- "];

fn is_balanced(text: &str) -> bool {
    let (_, markup) = seen(text);
    let count = |tag: &str| elements(&markup).iter().filter(|it| **it == tag).count();
    count("<details>") == count("</details>") && count("<summary>") == count("</summary>")
}

#[test]
fn a_comment_starts_with_a_marker_and_problems_come_first() {
    let shown = written(&sample::rich(), 65_000);
    assert!(shown.starts_with("<!-- outcrop:v1 fp="), "{shown}");
    let order = ["### outcrop: incomplete", "`HEAD` → `index`", "#### Problems", "| | Change |", "workers 8 of 16"];
    let places: Vec<Option<usize>> = order.iter().map(|part| shown.find(part)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} {shown}");
    assert!(!shown.contains(sample::CANARY));
}

#[test]
fn another_commit_with_the_same_changes_has_the_same_marker() {
    let marker = |report: &Report| written(report, 65_000).lines().next().expect("a line").to_owned();
    let (report, mut other) = (sample::rich(), sample::rich());
    other.after = "0123abc".into();
    assert_eq!(marker(&report), marker(&other));
    other.resources.pop();
    assert_ne!(marker(&report), marker(&other));
}

#[test]
fn what_many_share_is_one_row_and_varies_below() {
    let shown = written(&sample::grouped(), 65_000);
    assert!(shown.contains("| **37** | `customers/_/metadata.yaml:3` |\n"), "{shown}");
    assert!(shown.contains("varies  /old → \"/v2/customers/{{.id}}\""), "{shown}");
    assert!(shown.contains("because `customers/_/metadata.yaml:3"), "{shown}");
}

#[test]
fn every_rung_fits_is_balanced_and_says_what_it_left_out() {
    for report in [sample::rich(), sample::grouped()] {
        let whole = written(&report, 1_000_000);
        assert!(!whole.contains("Truncated") && is_balanced(&whole), "{whole}");
        for budget in (0..whole.len()).rev().step_by(61) {
            let shown = written(&report, budget);
            assert!(shown.len() <= budget, "{} of {budget}", shown.len());
            assert!(shown.is_empty() || shown.contains("> Truncated: "), "{budget}: {shown}");
            assert!(is_balanced(&shown), "{budget}: {shown}");
        }
    }
}

#[test]
fn what_new_rules_would_hide_is_named_up_front() {
    let mut report = sample::rich();
    let resource = report.resources.iter().find(|resource| resource.changes().next().is_some()).expect("one changed");
    let hidden = crate::diff::Suppressed {
        rule: "compare rules of `x`".into(),
        identity: resource.after.as_ref().expect("it is still there").identity.clone(),
        change: resource.changes().next().expect("it changed").clone(),
    };
    report.would_hide = vec![hidden; 7];
    report.only = vec!["payload", "metadata"];
    let shown = written(&report, 65_000);
    let phrase = "> **Compare rules change:** 7 changes below would be hidden by the new rules: `";
    assert!(shown.contains(phrase), "{shown}");
    assert!(shown.contains("by `` compare rules of `x` ``, ") && shown.contains(", and 2 more\n"), "{shown}");
    assert!(shown.contains(" Views compared: payload and metadata."), "{shown}");
}

proptest! {
    #[test]
    fn repository_text_means_nothing_to_markdown(name in hostile(), value in hostile(), message in hostile(), budget in 500usize..20_000) {
        use crate::diff::{ChangeKind, ResourceChange};
        use sample::{both, change, key, kubernetes, map, report, resource, string};
        let side = || resource(kubernetes("ConfigMap", &name), "x.yaml", map([]));
        let change = change(ChangeKind::Value, [key(&name)], string(&value), string(&name));
        let other = || resource(kubernetes("ConfigMap", &value), "y.yaml", map([]));
        let new = resource(kubernetes("Pod", &value), "z.yaml", map([("a", string(&name))]));
        let added = ResourceChange { after: Some(new), ..ResourceChange::default() };
        let mut report = report(vec![both(side(), side(), vec![change.clone()]), both(other(), other(), vec![change]), added]);
        report.groups = crate::diff::groups(&report.resources, &report.sources);
        report.edits = crate::diff::edits(&report.resources, &report.sources, &|_| true);
        let location = Location::File { path: sample::path("x.yaml"), revision: "index".into() };
        report.findings = vec![Finding::new(&crate::finding::SOURCE_UNREADABLE, location, message.clone()).help(message)];
        let shown = written(&report, budget);
        let (headings, markup) = seen(&shown);
        prop_assert!(headings.iter().all(|heading| heading.starts_with("outcrop: ") || heading == "Problems"), "{:?}", headings);
        for element in elements(&markup) {
            prop_assert!(OURS.contains(&element), "{} in {}", element, shown);
        }
        prop_assert!(is_balanced(&shown), "{}", shown);
    }
}
