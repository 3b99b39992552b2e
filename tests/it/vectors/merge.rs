//! Merge directives: expanding and restoring, in both profiles.

use std::path::Path;

use outcrop::directive::{self, Context, Includes, MergeProfile, Original};
use outcrop::document::{self, Format};
use outcrop::finding::{Finding, Location, has_errors};
use outcrop::limits::Limits;
use outcrop::path::RepoPath;
use outcrop::snapshot::MemorySnapshot;
use outcrop::text::{SourceText, Sources};
use outcrop::value::{Node, Value};

use super::{CaseResult, node_cases};

pub(super) fn run(folder: &Path) -> Vec<CaseResult> {
    node_cases(folder).iter().map(|case| (text_of(case, "name"), run_case(case))).collect()
}

/// What a stage answers: a value, or the findings that stand in its way.
type Answer = Result<Node, Vec<Finding>>;

fn run_case(case: &Node) -> Result<(), String> {
    let given = case.get("given").expect("a case has something given");
    let world = World::new(given);
    let answer = match text_of(case, "kind").as_str() {
        "expand" => world.expand(&world.text),
        "restore" => world.restore(given.get("changed").expect("something to restore")),
        kind => return Err(format!("unknown kind {kind}")),
    };
    if let Some(error) = case.get("error") {
        return check_error(&answer, &text_of(error, "kind"), &text_of(error, "contains"), &world.sources);
    }
    let expected = case.get("expect").expect("a case expects something");
    check_value(&answer, expected)?;
    let has_law = case.get("roundtrip").is_none_or(|law| matches!(law.value, Value::Bool(true)));
    if let (Some(changed), true) = (given.get("changed"), has_law) {
        let saved = document::write::to_yaml(expected);
        check_value(&world.expand(&saved), changed).map_err(|reason| format!("expanding what was saved: {reason}"))?;
    }
    Ok(())
}

fn check_value(answer: &Answer, expected: &Node) -> Result<(), String> {
    match answer {
        Ok(node) if node.is_identical(expected) => Ok(()),
        Ok(node) => {
            let (is, should) = (document::write::to_json(node), document::write::to_json(expected));
            Err(format!("is\n{is}\nbut should be\n{should}"))
        }
        Err(findings) => Err(format!("failed with {}", describe(findings))),
    }
}

fn check_error(answer: &Answer, kind: &str, contains: &str, sources: &Sources) -> Result<(), String> {
    let findings = match answer {
        Ok(node) => return Err(format!("is {} but should fail with {kind}", document::write::to_json(node))),
        Err(findings) => findings,
    };
    let is_expected = |finding: &Finding| kind_of(finding) == kind && is_shown(finding, contains, sources);
    match findings.iter().any(is_expected) {
        true => Ok(()),
        false => Err(format!("failed with {}, but should fail with {kind} and `{contains}`", describe(findings))),
    }
}

/// Whether a text is shown with a finding: in its message, or as the file it is in.
fn is_shown(finding: &Finding, text: &str, sources: &Sources) -> bool {
    let file = match &finding.location {
        Location::Span(span) => sources.get(span.source).path.to_string(),
        Location::File { path, .. } => path.to_string(),
    };
    finding.message.contains(text) || file.contains(text)
}

/// The vectors' name for a rule.
fn kind_of(finding: &Finding) -> &str {
    match finding.rule.id {
        "document/syntax" => "yaml-syntax",
        id => id.rsplit('/').next().unwrap_or(id),
    }
}

fn describe(findings: &[Finding]) -> String {
    findings.iter().map(|it| format!("[{}] {}", it.rule.id, it.message)).collect::<Vec<_>>().join("; ")
}

/// The files of a case and how they are read.
struct World {
    path: RepoPath,
    text: String,
    snapshot: MemorySnapshot,
    sources: Sources,
    includes: Includes,
    limits: Limits,
    profile: MergeProfile,
}

impl World {
    fn new(given: &Node) -> Self {
        let path = given.get("path").and_then(Node::as_str).unwrap_or("main.yaml");
        let mut snapshot = MemorySnapshot::new("vectors");
        for file in given.get("files").and_then(Node::as_map).map_or(&[][..], |files| files.entries()) {
            let content = file.value.as_str().unwrap_or_default().as_bytes();
            snapshot = snapshot.with(RepoPath::new(file.key.name.as_str()).expect("a file's path"), content);
        }
        let compat = given.get("options").and_then(|options| options.get("compat"));
        let is_compat = compat.is_some_and(|compat| matches!(compat.value, Value::Bool(true)));
        Self {
            path: RepoPath::new(path).expect("the path of the main file"),
            text: text_of(given, "yaml"),
            snapshot,
            sources: Sources::default(),
            includes: Includes::default(),
            limits: Limits::default(),
            profile: if is_compat { MergeProfile::Unfurl } else { MergeProfile::Plain },
        }
    }

    fn context(&self) -> Context<'_> {
        Context {
            snapshot: &self.snapshot,
            includes: &self.includes,
            sources: &self.sources,
            limits: &self.limits,
            profile: self.profile,
            unfurl: true,
            is_unfurl: false,
            remotes: &[],
        }
    }

    fn expand(&self, text: &str) -> Answer {
        let source = self.sources.add(SourceText::new(self.path.clone(), "vectors", text));
        let parsed = document::parse(text, source, Format::Yaml, &self.limits);
        refuse_errors(parsed.findings)?;
        let document =
            directive::only_document(&parsed.value, &self.path, "vectors").map_err(|finding| vec![*finding])?;
        let expanded = directive::expand(document, &self.path, &self.context());
        refuse_errors(expanded.findings)?;
        Ok(expanded.value.root)
    }

    /// Restores, and reads what was saved as plain data.
    fn restore(&self, changed: &Node) -> Answer {
        let source = self.sources.add(SourceText::new(self.path.clone(), "vectors", self.text.as_str()));
        let parsed = document::parse(&self.text, source, Format::Yaml, &self.limits);
        refuse_errors(parsed.findings)?;
        let document =
            directive::only_document(&parsed.value, &self.path, "vectors").map_err(|finding| vec![*finding])?;
        let original = Original { text: &self.text, document, format: Format::Yaml, file: &self.path };
        let restored = directive::restore(&original, changed, &self.context());
        refuse_errors(restored.findings)?;
        let saved = document::parse(&restored.value.text, source, Format::Yaml, &self.limits);
        refuse_errors(saved.findings)?;
        Ok(saved.value[0].root.clone())
    }
}

fn refuse_errors(findings: Vec<Finding>) -> Result<(), Vec<Finding>> {
    match has_errors(&findings) {
        true => Err(findings),
        false => Ok(()),
    }
}

fn text_of(node: &Node, key: &str) -> String {
    node.get(key).and_then(Node::as_str).unwrap_or_default().to_owned()
}
