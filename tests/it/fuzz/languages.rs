//! Single texts: documents, templates, paths and expressions, each read and used by the library alone.

use std::time::{Duration, Instant};

use outcrop::diff::{self, json_patch::Operation};
use outcrop::document::{self, Format, write};
use outcrop::expression::cel::{self, Inputs};
use outcrop::expression::{jq, template::Template};
use outcrop::limits::Limits;
use outcrop::patch::{self, PatchPath};
use outcrop::path::{LogicalPath, Pointer, RepoPath};
use outcrop::sanitize;
use outcrop::text::{SourceId, SourceText, Sources, Span};
use outcrop::value::Node;

use super::mutate::Random;
use super::{Problem, guarded};

const YAML: &[&str] = &[
    "a: 1\nb: [x, {y: z}]\n# c\nd: |\n  text\n  more\ne: >-\n  folded\n  text\n",
    "base: &b {k: 1, l: [2, 3]}\nuse:\n  <<: *b\n  m: *b\nlist:\n- *b\n- <<: [*b, {z: 1}]\n",
    "---\na: 'it''s'\nb: \"tab\\tand \\u00e9\"\n---\n- 1\n- 0x10\n- 1e3\n- .inf\n- ~\n- 2001-01-01\n...\n",
    "? complex\n: - a\n  - b\n? [x, y]\n: z\n!!map {!local tag: !!str 1}\n",
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  password: hunter2\n",
];
const JSON: &[&str] = &[
    "{\"a\": [1, 2.50, -3e7, null, true], \"b\": {\"c\": \"\\u00e9\\n\\\"\"}}",
    "[[[[{\"x\": {}}]]], \"\\ud83d\\ude00\", 12345678901234567890]",
];
const TEMPLATES: &[&str] = &[
    "/v1/{{.id}}/{{../name}}?x={{eq .a \"b\"}}",
    "{{range $i, $e := .items}}{{if $e}}{{$i}}={{$e.name | upper}},{{else}}-{{end}}{{end}}",
    "{{with .a}}{{.b | default \"x\" | printf \"%s-%v\"}}{{end}}{{secret .p}}{{resource_format .}}",
];
const PATHS: &[&str] =
    &["/a/b/0", "/list[?(@.name=='app')]/image", "/x[*]/y/-", "/a~1b/~0c", "/l[-]", "/a/[?(@.m.k==\"x\")]/z"];
const CEL: &[&str] = &[
    "resource.list.map(a, a + 1).filter(b, b > 2).size() == 3",
    "has(resource.x) ? resource.x['y'] : {'a': [1, 2u, 3.5, b'c']}",
    "resource.name.matches('^a+$') && resource.list.exists_one(x, x in [1, 2])",
];
const JQ: &[&str] = &[
    ".items[] | select(.a > 1) | {b: .a, c: (.d // \"x\")}",
    "def f(x): if x > 0 then f(x - 1) else . end; f(3) | [limit(2; .[]?)]",
    "reduce .list[] as $x (0; . + $x) | tostring | ascii_downcase | test(\"^a\")",
    "to_entries | map(.value |= (.. | numbers)) | from_entries | del(.a[0:2]) | @json",
];

fn source() -> (Sources, SourceId) {
    let sources = Sources::default();
    let source = sources.add(SourceText::new(RepoPath::new("a.yaml").unwrap(), "x", ""));
    (sources, source)
}

fn small() -> Limits {
    Limits {
        nodes: 20_000,
        file_bytes: 1 << 20,
        cel_steps: 20_000,
        expression_steps: 20_000,
        request_steps: 2_000_000,
        ..Limits::default()
    }
}

fn parsed(text: &str, format: Format) -> Vec<Node> {
    let (_sources, source) = source();
    let parsed = document::parse(text, source, format, &small());
    for finding in &parsed.findings {
        let inside = finding.span().is_none_or(|span| span.range().end <= text.len());
        assert!(inside, "a finding points outside of the text");
    }
    parsed.value.into_iter().map(|document| document.root).collect()
}

fn mutated(corpus: &[&str], random: &mut Random) -> String {
    let (one, other) = (*random.pick(corpus), *random.pick(corpus));
    let mut bytes = one.as_bytes().to_vec();
    random.damage(&mut bytes, other.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A text in one of the languages, read and used.
pub(super) fn try_one(random: &mut Random) -> Result<(), Problem> {
    let (language, corpus): (&str, &[&str]) = *random.pick(&[
        ("yaml", YAML),
        ("json", JSON),
        ("template", TEMPLATES),
        ("path", PATHS),
        ("cel", CEL),
        ("jq", JQ),
        ("text", YAML),
    ]);
    let text = mutated(corpus, random);
    let start = Instant::now();
    let outcome = guarded(|| use_text(language, &text));
    let problem = |what: String| {
        Problem::new(format!("{language}: {what}"), vec![(format!("{language}.txt"), text.clone().into_bytes())])
    };
    outcome.map_err(&problem)?;
    if start.elapsed() > Duration::from_secs(20) {
        return Err(problem(format!("it takes {:?}", start.elapsed())));
    }
    Ok(())
}

fn use_text(language: &str, text: &str) {
    let (_sources, source) = source();
    let at = Span::new(source, 0, 0);
    let data = &parsed("{name: aab, list: [1, 2, 3], items: [{a: 2, d: x}], x: {y: z}, a: {b: [0]}}", Format::Yaml)[0];
    match language {
        "yaml" => parsed(text, Format::Yaml).iter().for_each(written_is_read_again),
        "json" => parsed(text, Format::Json).iter().for_each(written_is_read_again),
        "template" => drop(Template::parse(text).map(|template| template.reads().len())),
        "path" => {
            if let Ok(path) = PatchPath::compile(text, &small()) {
                let _ = patch::expand(&path, data, &small());
            }
            let _ = (Pointer::parse(text), LogicalPath::parse(text), RepoPath::new(text));
        }
        "cel" => {
            if let Ok(program) = cel::Program::compile(text, &small()) {
                let _ = program.evaluate(&Inputs::default().with("resource", data), at, &small(), &mut 0);
            }
        }
        "jq" => {
            let allowance = outcrop::limits::Allowance::of_requests(&small());
            if let Ok(program) = jq::Program::compile(text) {
                let _ = program.run(&allowance, data, at, None);
            }
        }
        _ => {
            let shown = sanitize::inline(text);
            let is_hidden = |c: char| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c);
            assert!(!shown.chars().any(is_hidden), "{shown:?}");
            assert!(!sanitize::block(text).chars().any(|c| is_hidden(c) && c != '\n' && c != '\t'));
        }
    }
}

fn written_is_read_again(node: &Node) {
    let text = write::to_yaml(node);
    let again = parsed(&text, Format::Yaml);
    assert!(again.len() == 1 && again[0].is_identical(node), "written as {text:?}");
}

/// A document with an anchor on its first line is left to the event parser: both readers must see the same values.
pub(super) fn read_twice(random: &mut Random) -> Result<(), Problem> {
    let text = mutated(&YAML[..1], random);
    let problem = |what: &str| Problem::new(what, vec![("a.yaml".to_owned(), text.clone().into_bytes())]);
    if text.contains("---") || text.contains("...") || text.contains('%') || text.contains('\u{feff}') {
        return Ok(());
    }
    let (fast, slow) = guarded(|| (parsed(&text, Format::Yaml), parsed(&format!("--- &unused\n{text}"), Format::Yaml)))
        .map_err(|what| problem(&what))?;
    // Where the fast reader alone accepts what common readers accept, or the text starts with a scalar of its own line, there is
    // nothing to compare.
    let is_map = |nodes: &[Node]| nodes.len() == 1 && nodes[0].as_map().is_some();
    let is_same = !is_map(&fast) || !is_map(&slow) || fast[0].is_identical(&slow[0]);
    if is_same { Ok(()) } else { Err(problem("the two readers disagree")) }
}

/// The patch between two documents, carried out by us and by the json-patch crate.
pub(super) fn patch_twice(random: &mut Random) -> Result<(), Problem> {
    let texts = [mutated(JSON, random), mutated(JSON, random)];
    let files = || texts.iter().enumerate().map(|(n, text)| (format!("{n}.json"), text.clone().into_bytes())).collect();
    let [before, after] = texts.each_ref().map(|text| parsed(text, Format::Json));
    let ([before], [after]) = (before.as_slice(), after.as_slice()) else { return Ok(()) };
    // The other program holds no numbers beyond those of the processor.
    let is_held = |node: &Node| serde_json::from_str::<serde_json::Value>(&write::to_json(node)).is_ok();
    if !is_held(before) || !is_held(after) {
        return Ok(());
    }
    let operations =
        guarded(|| diff::json_patch::json_patch(before, after)).map_err(|what| Problem::new(what, files()))?;
    let ours = diff::json_patch::apply(before, &operations);
    if !ours.is_ok_and(|ours| ours.is_equal(after)) {
        return Err(Problem::new("our patch does not give the newer document", files()));
    }
    let plain = |node: &Node| serde_json::from_str::<serde_json::Value>(&write::to_json(node)).expect("it is JSON");
    let steps: Vec<serde_json::Value> = operations.iter().map(|operation| step(operation, &plain)).collect();
    let steps: json_patch::Patch = serde_json::from_value(steps.into()).expect("it is a JSON Patch");
    let mut theirs = plain(before);
    let is_applied = json_patch::patch(&mut theirs, &steps).is_ok();
    if is_applied && theirs == plain(after) {
        Ok(())
    } else {
        Err(Problem::new("the other program disagrees", files()))
    }
}

fn step(operation: &Operation, plain: &dyn Fn(&Node) -> serde_json::Value) -> serde_json::Value {
    match operation {
        Operation::Add { path, value } => {
            serde_json::json!({"op": "add", "path": path.to_string(), "value": plain(value)})
        }
        Operation::Remove { path } => serde_json::json!({"op": "remove", "path": path.to_string()}),
        Operation::Replace { path, value } => {
            serde_json::json!({"op": "replace", "path": path.to_string(), "value": plain(value)})
        }
    }
}
