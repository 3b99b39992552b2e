//! Reports made by hand, for tests and for looking at.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use smol_str::SmolStr;

use super::{Compared, LayerEdit, OverridingResource, Report, SkipReason, Skipped, TextCause, TextContent, TextFile};
use crate::diff::{Change, ChangeKind, Difference, Options, PathStep, ResourceChange, diff};
use crate::document::{Format, parse};
use crate::finding::{self, Finding, Location};
use crate::limits::Limits;
use crate::path::{LogicalPath, RepoPath};
use crate::resource::{Identity, KubernetesName, Resource};
use crate::text::{SourceText, Sources, Span};
use crate::value::{Entry, Key, KeyKind, Node, Number, Secret, StepKind, Value};

pub(super) const CANARY: &str = "hunter2-canary";

pub(super) fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("a path")
}

/// A span in the first text of any report.
pub(super) fn span() -> Span {
    let id = Sources::default().add(SourceText::new(RepoPath::root(), "", ""));
    Span::new(id, 0, 0)
}

pub(super) fn string(text: &str) -> Node {
    Node::new(Value::String(text.into()), span())
}

pub(super) fn number(text: &str) -> Node {
    Node::new(Value::Number(Number::from_yaml(text).expect("a number")), span())
}

pub(super) fn boolean(value: bool) -> Node {
    Node::new(Value::Bool(value), span())
}

pub(super) fn secret(text: &str) -> Node {
    Node::new(Value::Secret(Secret::hide(string(text))), span())
}

pub(super) fn list(items: impl IntoIterator<Item = Node>) -> Node {
    Node::list(items.into_iter().collect(), span())
}

pub(super) fn map<'a>(entries: impl IntoIterator<Item = (&'a str, Node)>) -> Node {
    let entry = |(name, value): (&str, Node)| Entry { key: text_key(name), value };
    Node::map(entries.into_iter().map(entry).collect(), span())
}

pub(super) fn text_key(name: &str) -> Key {
    Key { name: name.into(), kind: KeyKind::Text, span: span() }
}

pub(super) fn key(name: &str) -> PathStep {
    PathStep::Key(text_key(name))
}

pub(super) fn item(label: Option<&str>, index: usize) -> PathStep {
    PathStep::Item { before: Some(index), after: Some(index), label: label.map(SmolStr::from) }
}

pub(super) fn inside(format: Format) -> PathStep {
    PathStep::Embedded(format)
}

pub(super) fn change(
    kind: ChangeKind,
    path: impl IntoIterator<Item = PathStep>,
    before: impl Into<Option<Node>>,
    after: impl Into<Option<Node>>,
) -> Change {
    Change::new(kind, path.into_iter().collect(), before.into(), after.into())
}

pub(super) fn kubernetes(kind: &str, name: &str) -> Identity {
    let group = if kind == "Deployment" { "apps" } else { "" };
    Identity::Kubernetes(KubernetesName {
        group: group.into(),
        kind: kind.into(),
        namespace: "shop".into(),
        name: name.into(),
    })
}

pub(super) fn resource(identity: Identity, file: &str, payload: Node) -> Resource {
    Resource { identity, file: path(file), position: 0, payload, unit: None }
}

pub(super) fn both(before: Resource, after: Resource, changes: Vec<Change>) -> ResourceChange {
    let difference = Difference { changes, ..Difference::default() };
    ResourceChange { before: Some(before), after: Some(after), difference, ..ResourceChange::default() }
}

/// A report over these resources, with one text that spans can point into.
pub(super) fn report(resources: Vec<ResourceChange>) -> Report {
    let sources = Sources::default();
    sources.add(SourceText::new(path("deploy/web.yaml"), "HEAD", "kind: Deployment\nspec:\n  replicas: 2\n"));
    let compared = Compared { files: resources.len(), resources: resources.len() };
    Report {
        before: "HEAD".into(),
        after: "index".into(),
        resources,
        compared,
        sources: Arc::new(sources),
        ..Report::default()
    }
}

/// Text that tries everything: escapes, bidi marks, line breaks, commands of runners, Markdown, HTML.
pub(super) fn hostile() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "\x1b[31m",
        "\x1b]8;;http://x\x07",
        "\r",
        "\n",
        "\t",
        "\u{202e}",
        "\u{9b}1m",
        "\u{200b}",
        "\u{feff}",
        "\u{2028}",
        "::error::x",
        "::set-output name=a::b",
        "##[error]x",
        "##[add-mask]a",
        "\n::stop-commands::abc",
        "\r##[group]",
        " ",
        "a",
        "日本",
        "é",
        "`",
        "```",
        "|",
        "<img src=x>",
        "</details>",
        "@org/team",
        "#1",
        "[x](http://y)",
        "%0A",
        ":",
        ",",
        "\\",
        "\"",
        "'",
        "-",
        "#",
        "*",
        "\0",
        "\u{7f}",
        "\u{e0001}",
        "😀",
        "key: value",
        "...",
        "{",
        "}",
        "x.y/z",
        "https://example.com",
        "www.example.com",
    ]);
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// A report with every kind of change.
pub(super) fn rich() -> Report {
    let mut report = report(Vec::new());
    let made = Made { sources: &report.sources };
    report.resources = vec![
        made.customer(),
        made.changed(kubernetes("ConfigMap", "web-config"), ["deploy/config.yaml"; 2], [CONFIG, CONFIG_AFTER]),
        made.secrets(),
        made.changed(
            kubernetes("Deployment", "web"),
            ["deploy/web.yaml", "apps/web/deployment.yaml"],
            [WEB, WEB_AFTER],
        ),
        made.added(),
        made.removed(),
        made.changed(
            kubernetes("Service", "web"),
            ["deploy/web.yaml", "apps/web/service.yaml"],
            ["kind: Service\n"; 2],
        ),
    ];
    report.findings = findings(&report.sources);
    report.incomplete = true;
    report.compared = Compared { files: 9, resources: 12 };
    let skip = |name: &str, reason| Skipped { path: path(name), reason };
    report.skipped = vec![skip("README.md", SkipReason::OtherFormat), skip("docs/logo.svg", SkipReason::OtherFormat)];
    let text = |port: &str| Some(format!("port: {{{{ .Values.{port} }}}}\n"));
    report.text_files = vec![TextFile {
        path: path("charts/web/templates/service.yaml"),
        renamed_from: None,
        cause: TextCause::NotByContent,
        kind: "Helm templates",
        content: TextContent::Text { before: text("port"), after: text("http") },
    }];
    report.unread = BTreeSet::from([path("deploy/broken.yaml")]);
    report
}

/// A layer edit that affects many resources: most have equal values, two had others before, one has its own.
pub(super) fn grouped() -> Report {
    let mut report = report(Vec::new());
    let made = Made { sources: &report.sources };
    let layer = |revision: &str, version: &str| {
        let text = format!("operationInfo:\n  updateResource:\n    path: /{version}/customers/{{{{.id}}}}\n");
        made.read(revision, "customers/_/metadata.yaml", &text)
    };
    let (old, new) = (layer("HEAD", "v1"), layer("index", "v2"));
    let value = |root: &Node| root.get("operationInfo")?.get("updateResource")?.get("path").cloned();
    let (old, new) = (value(&old).expect("a path"), value(&new).expect("a path"));
    let names: Vec<String> = (0..37).map(|at| format!("customers/c{at:02}")).collect();
    for (at, name) in names.iter().enumerate() {
        let identity = Identity::Logical(LogicalPath::of_directory(&path(name)).expect("text"));
        let file = format!("{name}/resource.yaml");
        let texts = [format!("plan: silver\nkey: {at}\n"), format!("plan: gold\nkey: {at}\n")];
        let texts = if at < 5 { [&*texts[0], &*texts[1]] } else { [&*texts[0]; 2] };
        let mut of = made.changed(identity, [&file; 2], texts);
        let before = match at {
            7 | 8 => Node { value: Value::String("/v0".into()), ..old.clone() },
            9 => Node { value: Value::String("/old".into()), ..old.clone() },
            _ => old.clone(),
        };
        let steps = [PathStep::Metadata, key("operationInfo"), key("updateResource"), key("path")];
        let token = |text: &str| Node { span: old.span, ..secret(text) };
        of.metadata.changes.push(change(
            ChangeKind::Value,
            steps,
            before,
            new.clone().through(StepKind::Layer, new.span),
        ));
        if at < 3 {
            let new = format!("{CANARY}-new");
            of.metadata.changes.push(change(
                ChangeKind::Value,
                [PathStep::Metadata, key("token")],
                token(CANARY),
                token(&new),
            ));
        }
        report.resources.push(of);
    }
    let overriding = |name: &str| OverridingResource {
        resource: Identity::Logical(LogicalPath::of_directory(&path(name)).expect("text")),
        by: made.read("index", &format!("{name}/metadata.yaml"), "path: /own\n").span,
    };
    report.layer_edits.push(LayerEdit {
        file: path("customers/_/metadata.yaml"),
        pointer: ["operationInfo", "updateResource", "path"].map(SmolStr::new).into_iter().collect(),
        before: Some(old.span),
        after: Some(new.span),
        readers: 37,
        overridden: ["customers/mono", "customers/north"].map(overriding).into(),
        is_dead: false,
    });
    report.groups = crate::diff::groups(&report.resources, &report.sources);
    report.edits = crate::diff::edits(&report.resources, &report.sources, &|_| true);
    report.compared = Compared { files: 6, resources: 39 };
    report
}

const CONFIG: &str = r#"kind: ConfigMap
data:
  nginx.conf: |
    server {
      listen 8080;
      workers 4 of 16;
      cache on;
    }
    # end
  app.json: '{"log": {"level": "info"}, "port": 80}'
"#;

const CONFIG_AFTER: &str = r#"kind: ConfigMap
data:
  nginx.conf: |
    server {
      listen 8080;
      workers 8 of 16;
      cache on;
      gzip on;
    }
    # end
  app.json: '{"log": {"level": "debug"}, "port": 80}'
"#;

const WEB: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  annotations: {example.com/owner: a}
  name: web
spec:
  replicas: 2
  template:
    spec:
      affinity: none
      initContainers: [{name: migrate}, {name: warm-up}, {name: certs}]
      containers:
      - name: web
        image: registry.example.com/platform/shop/web:1.4.0
        args: [--verbose, --port=80]
        command:
        - sh
        - --opt-0=value --opt-1=value --opt-2=value --opt-3=value --opt-4=value --opt-5=value --opt-6=value
";

const WEB_AFTER: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  annotations: {example.com/owner: team-shop}
  name: web
spec:
  replicas: 3
  template:
    spec:
      affinity: {nodeAffinity: {}}
      initContainers: [{name: certs}, {name: migrate}, {name: warm-up}]
      containers:
      - name: web
        image: registry.example.com/platform/shop/web:1.5.0
        livenessProbe:
          httpGet: {path: /healthz, port: 8080}
          periodSeconds: 10
        command:
        - sh
        - --opt-0=value --opt-1=value --opt-2=value --opt-3=value --opt-4=other --opt-5=value --opt-6=value
";

/// Resources read from texts that are added to the report.
struct Made<'a> {
    sources: &'a Sources,
}

impl Made<'_> {
    fn read(&self, revision: &str, file: &str, text: &str) -> Node {
        let id = self.sources.add(SourceText::new(path(file), revision, text));
        let documents = parse(text, id, Format::Yaml, &Limits::default()).value;
        documents.into_iter().next().expect("a document").root
    }

    fn side(&self, revision: &str, identity: Identity, file: &str, text: &str) -> Resource {
        resource(identity, file, self.read(revision, file, text))
    }

    fn changed(&self, identity: Identity, files: [&str; 2], texts: [&str; 2]) -> ResourceChange {
        let before = self.side("HEAD", identity.clone(), files[0], texts[0]);
        let after = self.side("index", identity, files[1], texts[1]);
        let difference = diff(&before.payload, &after.payload, &options());
        ResourceChange { before: Some(before), after: Some(after), difference, ..ResourceChange::default() }
    }

    fn customer(&self) -> ResourceChange {
        let identity = Identity::Logical(LogicalPath::of_directory(&path("customers/acme")).expect("text"));
        let texts = ["tier: silver\ntrial: \"true\"\nversion: 1.10\n", "tier: gold\ntrial: true\nversion: 1.1\n"];
        self.changed(identity, ["customers/acme/resource.yaml"; 2], texts)
    }

    fn secrets(&self) -> ResourceChange {
        let with = |revision: &str, data: Node| {
            let file = "deploy/secret.yaml";
            let text = format!("kind: Secret\ndata:\n  password: {CANARY}\n");
            let source = self.read(revision, file, &text).span;
            let Node { value, extra, .. } = map([("kind", string("Secret")), ("data", data)]);
            resource(kubernetes("Secret", "web"), file, Node { value, extra, span: source })
        };
        let new = format!("{CANARY}-new");
        let before = with("HEAD", map([("password", secret(CANARY)), ("user", string("shop"))]));
        let after = with("index", map([("password", secret(&new)), ("user", string("shop")), ("token", secret(&new))]));
        let difference = diff(&before.payload, &after.payload, &options());
        ResourceChange { before: Some(before), after: Some(after), difference, ..ResourceChange::default() }
    }

    fn added(&self) -> ResourceChange {
        let flags: String = (0..30).map(|n| format!("  feature-{n:02}: true\n")).collect();
        let text =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: flags\n  namespace: shop\ndata:\n{flags}");
        let after = self.side("index", kubernetes("ConfigMap", "flags"), "apps/web/flags.yaml", &text);
        ResourceChange {
            before: None,
            after: Some(after),
            difference: Difference::default(),
            ..ResourceChange::default()
        }
    }

    fn removed(&self) -> ResourceChange {
        let file = "config/old.yaml";
        let identity = Identity::File { path: path(file), position: None };
        let before = resource(identity, file, map([("region", string("eu-1")), ("token", secret(CANARY))]));
        ResourceChange {
            before: Some(before),
            after: None,
            difference: Difference::default(),
            ..ResourceChange::default()
        }
    }
}

fn options() -> Options {
    let look = |text: &str, _: crate::text::Span| {
        let outcome = parse(text, span().source, Format::Json, &Limits::default());
        Some((Format::Json, outcome.value.into_iter().next()?.root))
    };
    Options { is_kubernetes: true, embedded_parser: Some(Arc::new(look)), ..Options::default() }
}

fn findings(sources: &Sources) -> Vec<Finding> {
    let text = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  ports: [80]\n  type: ClusterIP\n  ports: [8080]\n";
    let id = sources.add(SourceText::new(path("apps/web/service.yaml"), "index", text));
    let broken = format!("data:\n  password:{CANARY}\n  user: x\n");
    let veiled = sources.add(SourceText::new(path("deploy/broken.yaml"), "index", broken));
    sources.redact(veiled, crate::text::Redaction::Values);
    let mut findings = parse(text, id, Format::Yaml, &Limits::default()).findings;
    findings.push(
        Finding::new(
            &finding::DOCUMENT_SYNTAX,
            Location::Span(Span::new(veiled, 8, 17)),
            "a value is expected after the key",
        )
        .labelled("a blank is missing after the colon")
        .help("write `key: value`"),
    );
    let huge = Location::File { path: path("data/huge.json"), revision: "index".into() };
    findings.push(
        Finding::new(
            &finding::LIMIT_FILE_SIZE,
            huge,
            "90000000 bytes, more than the limit of 67108864 bytes for one file",
        )
        .help("raise `limits.file_bytes` in outcrop.yaml if the file is meant to be this large"),
    );
    findings
}

/// Prints the sample as it would look: `OUTCROP_SAMPLE=terminal,80,color,unicode,0 cargo test --lib report::sample -- --ignored --nocapture`.
#[test]
#[ignore = "for looking at, not for checking"]
fn print() {
    let asked = std::env::var("OUTCROP_SAMPLE").unwrap_or_default();
    let words: Vec<&str> = asked.split(',').collect();
    let has = |word: &str| words.contains(&word);
    let style = super::Style {
        width: words.iter().find_map(|word| word.parse().ok()).unwrap_or(80),
        is_terminal: true,
        color: has("color"),
        ascii: has("ascii"),
        verbosity: u8::from(has("v")),
        in_ci: has("ci"),
        show_suppressed: has("v"),
    };
    let report = if has("grouped") { grouped() } else { rich() };
    let mut out = Vec::new();
    match words[0] {
        "side" => super::side_by_side::write(&report, &style, &mut out),
        "unified" => super::unified::write(&report, &style, &mut out),
        "json" => super::json::write(&report, &mut out),
        "markdown" => {
            super::markdown::write(&report, super::markdown::Comment { budget: style.width, link: None }, &mut out)
        }
        "github" => super::github::write(&report, &mut out),
        "stat" => super::terminal::write_stat(&report, &style, &mut out),
        "names" => super::terminal::write_names(&report, &style, &mut out),
        "diagnostics" => super::diagnostics::write(&report, &style, &mut out),
        _ => super::terminal::write(&report, &style, &mut out),
    }
    .expect("writing to memory works");
    println!("{}", String::from_utf8(out).expect("reports are text"));
}
