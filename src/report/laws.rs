//! What every report promises, whatever is in it.

use proptest::prelude::*;

use super::github::tests::{runner_command, runner_lines};
use super::sample::{
    CANARY, both, change, hostile, inside, key, kubernetes, list, map, number, path, report, resource, rich, secret,
    string,
};
use super::{
    LayerEdit, OverridingResource, Report, SkipReason, Skipped, Style, diagnostics, json, markdown, paint,
    side_by_side, terminal, unified,
};
use crate::diff::{self, Change, ChangeKind, Difference, PathStep, ResourceChange};
use crate::document::Format;
use crate::finding::{self, Finding, Location};
use crate::path::RepoPath;
use crate::resource::Identity;
use crate::sanitize;
use crate::text::{SourceText, Span};
use crate::value::Node;

type Writer = fn(&Report, &Style, &mut dyn std::io::Write) -> std::io::Result<()>;

/// Everything people read, by name.
const FOR_PEOPLE: [(&str, Writer); 7] = [
    ("terminal", terminal::write),
    ("stat", terminal::write_stat),
    ("names", terminal::write_names),
    ("side by side", side_by_side::write),
    ("unified", unified::write),
    ("diagnostics", diagnostics::write),
    ("markdown", |report, _, out| markdown::write(report, markdown::Comment { budget: 65_000, link: None }, out)),
];

fn written(writer: Writer, report: &Report, style: &Style) -> String {
    let mut out = Vec::new();
    writer(report, style, &mut out).expect("writing to memory works");
    String::from_utf8(out).expect("reports are text")
}

fn json_of(report: &Report) -> String {
    let mut out = Vec::new();
    json::write(report, &mut out).expect("writing to memory works");
    String::from_utf8(out).expect("JSON is text")
}

fn styles() -> impl Strategy<Value = Style> {
    let width = prop::sample::select(vec![0, 1, 20, 40, 60, 80, 140]);
    (width, any::<bool>(), any::<bool>(), 0u8..2, any::<bool>()).prop_map(|(width, color, ascii, verbosity, in_ci)| {
        Style { width, is_terminal: true, color, ascii, verbosity, in_ci, show_suppressed: verbosity > 0 }
    })
}

/// Values with hostile texts and keys, secrets among them.
fn values() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        hostile().prop_map(|text| string(&text)),
        Just(secret(CANARY)),
        Just(number("1.10")),
        "[a-z\\n ]{0,60}".prop_map(|text| string(&text)),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(list),
            prop::collection::btree_map(hostile(), inner, 0..4)
                .prop_map(|entries| map(entries.iter().map(|(name, value)| (name.as_str(), value.clone())))),
        ]
    })
}

fn kinds() -> impl Strategy<Value = ChangeKind> {
    prop::sample::select(vec![
        ChangeKind::Add,
        ChangeKind::Remove,
        ChangeKind::Value,
        ChangeKind::Type,
        ChangeKind::Text,
        ChangeKind::Reorder,
        ChangeKind::Move,
    ])
}

fn steps() -> impl Strategy<Value = PathStep> {
    prop_oneof![
        hostile().prop_map(|name| key(&name)),
        (0usize..20, prop::option::of(hostile())).prop_map(|(index, label)| PathStep::Item {
            before: Some(index),
            after: None,
            label: label.map(Into::into),
        }),
        Just(inside(Format::Json)),
    ]
}

fn changes() -> impl Strategy<Value = Change> {
    (kinds(), prop::collection::vec(steps(), 0..5), values(), values()).prop_map(|(kind, path, before, after)| {
        let before = (kind != ChangeKind::Add).then_some(before);
        let after = (kind != ChangeKind::Remove).then_some(after);
        change(kind, path, before, after)
    })
}

fn paths() -> impl Strategy<Value = RepoPath> {
    hostile().prop_map(|name| RepoPath::new(name.replace(['/', '\0'], "_")).unwrap_or_else(|_| path("x")))
}

fn resources() -> impl Strategy<Value = ResourceChange> {
    let whole = (hostile(), paths(), values(), any::<bool>()).prop_map(|(name, file, payload, is_new)| {
        let mut side = resource(kubernetes("ConfigMap", &name), "x", payload);
        side.file = file;
        let (before, after) = if is_new { (None, Some(side)) } else { (Some(side), None) };
        ResourceChange { before, after, difference: Difference::default(), ..ResourceChange::default() }
    });
    let changed = (paths(), paths(), prop::collection::vec(changes(), 0..4), changes(), values(), values()).prop_map(
        |(from, to, changes, spelling, old, new)| {
            let identity = || Identity::File { path: from.clone(), position: None };
            let (mut before, mut after) = (resource(identity(), "x", old), resource(identity(), "x", new));
            (before.file, after.file) = (from.clone(), to);
            let mut change = both(before, after, changes);
            change.difference.spelling_only.push(spelling);
            change
        },
    );
    prop_oneof![whole, changed]
}

/// A resource and two more with the same changes, all of which are written in one other file.
fn shared(of: &ResourceChange, at: Span) -> Vec<ResourceChange> {
    let mut first = of.clone();
    for change in &mut first.difference.changes {
        change.before.iter_mut().chain(&mut change.after).for_each(|node| node.span = at);
    }
    let named = |number: usize| {
        let mut twin = first.clone();
        for side in twin.before.iter_mut().chain(&mut twin.after) {
            side.identity = match &side.identity {
                Identity::File { path, .. } => Identity::File { path: path.clone(), position: Some(number) },
                _ => kubernetes("ConfigMap", &format!("{}{number}", side.identity)),
            };
        }
        // One of them had something else before.
        if let (2, Some(change)) = (number, twin.difference.changes.first_mut()) {
            change.before = change.before.as_ref().map(|node| Node { span: node.span, ..secret(CANARY) });
        }
        twin
    };
    (0..3).map(named).collect()
}

/// A report in which every text was chosen by an enemy.
fn reports() -> impl Strategy<Value = Report> {
    let texts = (hostile(), hostile(), hostile(), hostile(), hostile());
    let place = (0usize..60, 0usize..60, any::<bool>());
    let resources = (prop::collection::vec(resources(), 0..4), any::<bool>());
    (resources, texts, place, paths()).prop_map(|((resources, are_shared), texts, place, file)| {
        let mut report = report(resources);
        let (message, label, help, source, side) = texts;
        let (start, length, is_sensitive) = place;
        let id = report.sources.add(SourceText::new(file.clone(), side.as_str(), source));
        if are_shared {
            report.resources = report.resources.iter().flat_map(|of| shared(of, Span::new(id, start, start))).collect();
        }
        report.groups = diff::groups(&report.resources, &report.sources);
        report.edits = diff::edits(&report.resources, &report.sources, &|_| true);
        let names = report.resources.iter().filter_map(|of| Some(of.after.as_ref()?.identity.clone()));
        let by = Span::new(id, start / 2, start);
        report.layer_edits = vec![LayerEdit {
            file: file.clone(),
            pointer: [label.as_str().into()].into_iter().collect(),
            before: Some(Span::new(id, start, start)),
            after: Some(Span::new(id, start, start)),
            readers: 1,
            overridden: names.map(|resource| OverridingResource { resource, by }).collect(),
            is_dead: false,
        }];
        if is_sensitive {
            report.sources.redact(id, crate::text::Redaction::Values);
        }
        let at = Span::new(id, start, start + length);
        let there = Location::File { path: file.clone(), revision: side.as_str().into() };
        report.findings = vec![
            Finding::new(&finding::DOCUMENT_SYNTAX, Location::Span(at), message.clone())
                .labelled(label.clone())
                .related(Span::new(id, start / 2, start), help.clone())
                .help(help.clone()),
            Finding::new(&finding::RESOURCE_DUPLICATE, there, message).help(help),
        ];
        report.skipped = vec![Skipped { path: file, reason: SkipReason::Binary }];
        report.before = side.into();
        report.after = label.into();
        report
    })
}

/// The text without our own colour sequences.
fn bleached(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[") {
        let end = rest[at + 2..].find(|c: char| !c.is_ascii_digit() && c != ';').map_or(rest.len(), |end| at + 2 + end);
        let is_color = rest[end..].starts_with('m');
        shown.push_str(&rest[..if is_color { at } else { at + 2 }]);
        rest = &rest[if is_color { end + 1 } else { at + 2 }..];
    }
    shown + rest
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn nothing_steers_a_terminal(report in reports(), style in styles()) {
        for (name, writer) in FOR_PEOPLE {
            let shown = written(writer, &report, &style);
            if !style.color {
                prop_assert!(!shown.contains('\x1b'), "{name}");
            }
            let hidden = bleached(&shown).chars().find(|&c| c == '\t' || sanitize::is_hidden(c));
            prop_assert_eq!(hidden, None, "{}:\n{}", name, shown);
        }
        prop_assert!(!json_of(&report).chars().any(sanitize::is_hidden));
    }

    #[test]
    fn nothing_commands_a_runner(report in reports(), style in styles()) {
        let style = Style { in_ci: true, ..style };
        for (name, writer) in FOR_PEOPLE {
            let shown = written(writer, &report, &style);
            for text in [bleached(&shown), shown] {
                let command = runner_lines(&text).into_iter().find_map(runner_command);
                prop_assert_eq!(command, None, "{}:\n{}", name, text);
            }
        }
        let json = json_of(&report);
        prop_assert_eq!(runner_lines(&json).into_iter().find_map(runner_command), None);
    }

    #[test]
    fn secrets_stay_hidden_and_bytes_stay_the_same(report in reports(), style in styles()) {
        for (name, writer) in FOR_PEOPLE {
            let shown = written(writer, &report, &style);
            prop_assert!(!shown.contains(CANARY), "{}", name);
            prop_assert_eq!(shown, written(writer, &report, &style), "{}", name);
        }
        let json = json_of(&report);
        prop_assert!(!json.contains(CANARY));
        prop_assert_eq!(&json, &json_of(&report));
        prop_assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok());
    }

    #[test]
    fn lines_fit_the_width(report in reports(), width in 40usize..150, ascii in any::<bool>()) {
        let report = Report { findings: Vec::new(), ..report };
        let style = Style { width, ascii, ..Style::default() };
        for (name, writer) in &FOR_PEOPLE[..4] {
            // A list of names is for programs and never cut.
            let shown = if *name == "names" { String::new() } else { written(*writer, &report, &style) };
            for line in shown.lines() {
                prop_assert!(paint::columns(line) <= width, "{}, {} columns:\n{}", name, paint::columns(line), line);
            }
        }
    }

    #[test]
    fn a_markdown_report_keeps_to_its_budget(report in reports(), budget in 0usize..6_000) {
        let mut out = Vec::new();
        markdown::write(&report, markdown::Comment { budget, link: None }, &mut out).expect("writing to memory works");
        prop_assert!(out.len() <= budget);
    }
}

#[test]
fn ascii_stays_ascii() {
    for verbosity in 0..2 {
        for (name, writer) in &FOR_PEOPLE[..6] {
            let style = Style { ascii: true, verbosity, width: 80, ..Style::default() };
            let shown = written(*writer, &rich(), &style);
            let foreign: String = shown.chars().filter(|c| !c.is_ascii()).collect();
            assert_eq!(foreign, "", "{name}");
        }
    }
}

#[test]
fn nothing_of_the_sample_leaks() {
    for verbosity in 0..2 {
        let style = Style { verbosity, width: 80, ..Style::default() };
        for (name, writer) in FOR_PEOPLE {
            assert!(!written(writer, &rich(), &style).contains(CANARY), "{name}");
        }
    }
    assert!(!json_of(&rich()).contains(CANARY));
}
