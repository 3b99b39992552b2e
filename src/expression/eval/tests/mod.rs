//! Every rule of the language, one by one, over a small tree.

mod computing;
mod forms;
mod hostile;
mod memory;
mod page;
mod paths;
mod secrets;

pub(crate) use memory::MemoryTree;

use super::*;
use crate::document::write::to_inline;
use crate::document::{self, Format};
use crate::path::{LogicalPath, RepoPath};
use crate::text::{SourceText, Sources};

const SHOP: &str = r#"
/org: {region: eu, tier: gold, limits: {cpu: 8, mem: 32}}
/org/shop:
  tier: silver
  port: 8080
  debug: false
  ratio: 0.5
  note: null
  blank: ""
  tags: [web, public, eu]
  empty: []
  services:
    - {name: api, replicas: 3, ports: [{n: 80, tls: false}, {n: 443, tls: true}], labels: {env: prod}}
    - {name: worker, replicas: 1, labels: {env: dev}}
    - {name: cron, replicas: 0, ports: [{n: 9090, tls: false}]}
  stores: {main: {kind: pg, size: 10}, cache: {kind: redis, size: 1}}
  grid: [[{v: 1}], [{v: 2}, {v: 3}]]
  codes: {"200": ok, 404: none}
  app.version/major: 2
  $odd: {.dot: 1}
/org/shop/db: {port: 5432, kind: pg, limits: {cpu: 2}}
/org/shop/queue: {kind: rabbit, workers: "4", debug: true}
/org/blog: {port: 80, kind: static}
/org/blog/db: {port: 3306}
"#;

/// A tree from its paths and payloads, all of one text.
pub(super) struct World {
    pub(super) tree: MemoryTree,
    pub(super) sources: Sources,
    pub(super) limits: Limits,
}

impl World {
    pub(super) fn new(text: &str) -> Self {
        let sources = Sources::default();
        let root = parse(text, &sources);
        let mut tree = MemoryTree::default();
        for entry in root.as_map().expect("a tree is a map").entries() {
            tree = tree.with(&LogicalPath::parse(&entry.key.name).expect("a path"), entry.value.clone());
        }
        Self { tree, sources, limits: Limits::default() }
    }

    pub(super) fn shop() -> Self {
        Self::new(SHOP)
    }

    pub(super) fn ask(&self, current: &str, expression: &str, form: Form) -> Answer {
        let current = self.tree.by_path(current).expect("the current resource exists");
        let expression = parse(expression, &self.sources);
        let limits = &self.limits;
        evaluate(&expression, &Question { current, tree: &self.tree, vars: &[], form, tracing: true, limits })
    }

    /// All matches, or the rule that fails.
    pub(super) fn list(&self, current: &str, expression: &str) -> String {
        shown(&self.ask(current, expression, Form::All))
    }

    /// The single value, or the rule that fails.
    pub(super) fn one(&self, current: &str, expression: &str) -> String {
        shown(&self.ask(current, expression, Form::One))
    }

    /// What a resource says with its expressions computed, and the findings.
    pub(super) fn compute(&self, path: &str) -> (Node, Vec<Finding>) {
        let owner = self.tree.by_path(path).expect("the resource exists");
        let Payload::Node(payload) = self.tree.payload(owner) else { panic!("{path} says nothing") };
        let outcome = compute(&payload, &payload, owner, &self.tree, &self.limits);
        (outcome.value, outcome.findings)
    }

    /// The text that a span means.
    pub(super) fn text_at(&self, span: crate::text::Span) -> String {
        self.sources.get(span.source).text[span.range()].to_owned()
    }
}

pub(super) fn parse(text: &str, sources: &Sources) -> Node {
    let source = sources.add(SourceText::new(RepoPath::root(), "", text));
    let mut parsed = document::parse(text, source, Format::Yaml, &Limits::default());
    assert!(parsed.findings.is_empty(), "{text}: {:?}", parsed.findings);
    parsed.value.remove(0).root
}

fn shown(answer: &Answer) -> String {
    match (&answer.value, answer.findings.last()) {
        (Some(value), _) => to_inline(value),
        (None, Some(finding)) => finding.rule.id.to_owned(),
        (None, None) => "nothing".to_owned(),
    }
}
