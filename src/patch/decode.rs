//! Reads patch files into patch specifications: strict about keys, with expressions compiled and fixed paths parsed.

use smol_str::SmolStr;

use super::operation::Action;
use super::path::PatchPath;
use super::spec::{PatchSpec, PatchTarget, PathTemplate, Removal, Selection, SpecOperation};
use super::template::{CelReader, CelText, TemplateFailure, ValueTemplate};
use crate::decode::{StrictReader, StrictRules};
use crate::expression::cel::FailureKind;
use crate::expression::part_span;
use crate::finding::{self, Finding, Location, Outcome, Refusal, Rule, sort_by_span};
use crate::limits::Limits;
use crate::sanitize;
use crate::text::Sources;
use crate::value::{Entry, Map, Node, Value};

pub(super) const RULES: StrictRules =
    StrictRules { unknown_key: &finding::PATCH_UNKNOWN_KEY, invalid: &finding::PATCH_INVALID };

/// What reading a patch file needs.
#[derive(Clone, Copy)]
pub(super) struct PatchContext<'a> {
    /// The texts of the run, so that expressions are reported where they are written.
    pub sources: &'a Sources,
    /// The limits on expressions and paths.
    pub limits: &'a Limits,
    /// The variables that expressions can read beside `resource` and the loop variable.
    pub variables: &'a [&'a str],
}

impl<'a> PatchContext<'a> {
    fn reader(&self) -> CelReader<'a> {
        CelReader { sources: self.sources, limits: self.limits, programs: None, is_deferred: false }
    }
}

/// The content of a patch file.
#[derive(Debug, Default)]
pub struct PatchFile {
    /// Values that expressions read as `parameters`.
    pub parameters: Option<Node>,
    /// Whether the patches of shallower files apply too.
    pub inherits: bool,
    /// The patches, in order.
    pub specs: Vec<PatchSpec>,
    /// The resources that are removed after them.
    pub removes: Vec<Removal>,
}

/// Reads a patch file: a list of patches, or a document.
pub(super) fn read_patch_file(root: &Node, context: &PatchContext<'_>) -> Outcome<PatchFile> {
    let mut reader = PatchReader { context: *context, shape: StrictReader::new(RULES), findings: Vec::new() };
    let mut file = PatchFile { inherits: true, ..PatchFile::default() };
    match &root.value {
        Value::Null => {}
        Value::List(_) => file.specs = reader.specs(root, "patches"),
        Value::Map(_) => {
            for entry in reader.shape.entries(root, "patches", &["inherit", "parameters", "patches", "removes"]) {
                reader.member(entry, &mut file);
            }
        }
        _ => reader.shape.wrong(root, "patches", "a list of patches or a map"),
    }
    reader.finish(file)
}

struct PatchReader<'a> {
    context: PatchContext<'a>,
    shape: StrictReader,
    findings: Vec<Finding>,
}

const SPEC_KEYS: [&str; 5] = ["forEach", "operations", "target", "targetPlane", "var"];
const REMOVAL_KEYS: [&str; 4] = ["forEach", "target", "targetPlane", "var"];
const TARGET_KEYS: [&str; 5] = ["group", "kind", "name", "version", "where"];
const PLANES: [(&str, ()); 2] = [("dataplane", ()), ("observabilityplane", ())];
/// The reserved words of CEL: a variable of such a name could never be read.
const RESERVED: &[&str] = &[
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "while",
];

impl PatchReader<'_> {
    fn finish<T>(self, value: T) -> Outcome<T> {
        let mut findings = self.shape.into_findings();
        findings.extend(self.findings);
        sort_by_span(&mut findings);
        Outcome { value, findings }
    }

    fn member(&mut self, entry: &Entry, file: &mut PatchFile) {
        let value = &entry.value;
        match entry.key.name.as_str() {
            "inherit" => file.inherits = self.shape.flag(value, "inherit").unwrap_or(true),
            "patches" if is_set(value) => file.specs = self.specs(value, "patches"),
            "removes" if is_set(value) => {
                let items = self.shape.items(value, "removes");
                file.removes = items.iter().filter_map(|item| self.removal(item)).collect();
            }
            "parameters" if is_set(value) && value.as_map().is_none() => self.shape.wrong(value, "parameters", "a map"),
            "parameters" if is_set(value) => file.parameters = Some(value.clone()),
            _ => {}
        }
    }

    fn specs(&mut self, list: &Node, what: &str) -> Vec<PatchSpec> {
        let items = self.shape.items(list, what);
        items.iter().filter_map(|item| self.spec(item)).collect()
    }

    fn spec(&mut self, node: &Node) -> Option<PatchSpec> {
        let entries = self.known(node, "patch", &SPEC_KEYS)?;
        let selection = self.selection(node, &entries);
        let operations = match entries.iter().find(|entry| entry.key.name == "operations") {
            Some(entry) => self.operations(&entry.value),
            None => {
                self.shape.invalid(node, "a patch needs `operations`");
                Vec::new()
            }
        };
        let spec = PatchSpec { selection, operations };
        self.check_variables(&spec);
        Some(spec)
    }

    fn removal(&mut self, node: &Node) -> Option<Removal> {
        let entries = self.known(node, "removes", &REMOVAL_KEYS)?;
        let selection = self.selection(node, &entries);
        self.check_selection(&selection);
        Some(Removal { selection })
    }

    fn known<'n>(&mut self, node: &'n Node, what: &str, keys: &[&str]) -> Option<Vec<&'n Entry>> {
        let is_map = node.as_map().is_some();
        let entries = self.shape.entries(node, what, keys);
        is_map.then_some(entries)
    }

    fn selection(&mut self, node: &Node, entries: &[&Entry]) -> Selection {
        let mut selection = Selection {
            target: PatchTarget::default(),
            for_each: None,
            variable: SmolStr::new_static("item"),
            at: node.span,
        };
        for entry in entries.iter().filter(|entry| is_set(&entry.value)) {
            match entry.key.name.as_str() {
                "target" => selection.target = self.target(&entry.value),
                "forEach" => {
                    selection.for_each = self.only_expression(&entry.value, "forEach", &finding::PATCH_FOR_EACH)
                }
                "var" => selection.variable = self.variable(&entry.value).unwrap_or(selection.variable),
                "targetPlane" => drop(self.shape.choice(&entry.value, "targetPlane", &PLANES)),
                _ => {}
            }
        }
        selection
    }

    fn target(&mut self, node: &Node) -> PatchTarget {
        let mut target = PatchTarget::default();
        for entry in self.shape.entries(node, "target", &TARGET_KEYS) {
            let name = entry.key.name.as_str();
            if name == "where" {
                if is_set(&entry.value) {
                    target.condition = self.only_expression(&entry.value, "where", &finding::PATCH_WHERE);
                }
                continue;
            }
            let field = match name {
                "group" => &mut target.group,
                "version" => &mut target.version,
                "kind" => &mut target.kind,
                _ => &mut target.name,
            };
            match &entry.value.value {
                Value::String(text) => *field = text.clone(),
                Value::Null => {}
                _ => self.shape.wrong(&entry.value, &format!("target.{name}"), "a text"),
            }
        }
        target
    }

    fn variable(&mut self, node: &Node) -> Option<SmolStr> {
        let name = self.shape.text(node, "var")?;
        let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
        let is_identifier = name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit());
        let problem = match name.as_str() {
            "resource" => Some("`resource` is the resource itself, and cannot be a loop variable".to_owned()),
            word if RESERVED.contains(&word) => Some(format!("`{word}` is a word of CEL, and cannot be a variable")),
            _ if !is_identifier => Some(format!("`{}` is no name of a variable", sanitize::inline(&name))),
            _ => None,
        };
        if let Some(problem) = problem {
            self.shape.invalid(node, problem);
            return None;
        }
        Some(name)
    }

    /// `where` and `forEach` are one expression and nothing else.
    fn only_expression(&mut self, node: &Node, what: &str, rule: &'static Rule) -> Option<ValueTemplate> {
        let Some(text) = node.as_str() else {
            self.shape.wrong(node, what, "an expression `${…}`");
            return None;
        };
        match CelText::compile(node.span, text, &self.context.reader()) {
            Ok(Some(template)) if template.standalone().is_some() => Some(ValueTemplate::Text(template)),
            Ok(_) => {
                let wanted = if what == "where" { "a boolean" } else { "a list or a map" };
                let message = format!(
                    "`{what}` is one expression `${{…}}` that gives {wanted}, and `{}` is text",
                    sanitize::inline(text)
                );
                self.findings.push(Finding::new(rule, Location::Span(node.span), message));
                None
            }
            Err(failure) => {
                self.findings.push(template_finding(&failure, rule, what));
                None
            }
        }
    }

    fn operations(&mut self, list: &Node) -> Vec<SpecOperation> {
        let items = self.shape.items(list, "operations");
        if list.as_list().is_some_and(<[Node]>::is_empty) {
            self.shape.invalid(list, "`operations` needs at least one operation");
        }
        items.iter().filter_map(|item| self.operation(item)).collect()
    }

    fn operation(&mut self, node: &Node) -> Option<SpecOperation> {
        if node.as_map().is_none() {
            self.shape.wrong(node, "operation", "a map");
            return None;
        }
        let action = self.action(node)?;
        self.shape.entries(node, "operation", &["op", "path", "value"]);
        let Some(path_node) = node.get("path") else {
            self.shape.invalid(node, "an operation needs a `path`");
            return None;
        };
        let path = self.path(path_node)?;
        let value = (action != Action::Remove).then(|| node.get("value")).flatten();
        if value.is_none() && action != Action::Remove {
            let shown = path_node.as_str().map(sanitize::inline).unwrap_or_default();
            let message = format!("`{}` at `{shown}` has no value", action.name());
            let finding = Finding::new(&finding::PATCH_BAD_VALUE, Location::Span(node.span), message);
            self.findings.push(finding.help("write `value: null` if null is meant"));
            return None;
        }
        let value = value.map(|value| self.value(value));
        Some(SpecOperation { action, path, value, at: node.span, path_at: path_node.span })
    }

    fn action(&mut self, node: &Node) -> Option<Action> {
        let Some(op) = node.get("op") else {
            self.shape.invalid(node, "an operation needs `op`");
            return None;
        };
        let Some(name) = op.as_str() else {
            self.shape.wrong(op, "op", "a text");
            return None;
        };
        Action::parse(name).map_err(|refusal| self.findings.push(refusal.into_finding(op.span))).ok()
    }

    fn path(&mut self, node: &Node) -> Option<PathTemplate> {
        let Some(text) = node.as_str() else {
            self.shape.wrong(node, "path", "a text");
            return None;
        };
        match CelText::compile(node.span, text, &self.context.reader()) {
            Ok(Some(template)) => return Some(PathTemplate::Computed(template)),
            Ok(None) => {}
            Err(failure) => {
                self.findings.push(template_finding(&failure, &finding::PATCH_TEMPLATE, "path"));
                return None;
            }
        }
        let refused = |refusal: Refusal| {
            let range = refusal.range.clone().unwrap_or(0..text.len());
            self.findings.push(refusal.into_finding(part_span(node.span, text, range, self.context.sources)));
        };
        PatchPath::compile(text, self.context.limits).map(PathTemplate::Fixed).map_err(refused).ok()
    }

    fn value(&mut self, node: &Node) -> ValueTemplate {
        self.warn_about_eval(node);
        let mut failures = Vec::new();
        let value = ValueTemplate::compile(node, &self.context.reader(), &mut failures);
        let findings = failures.iter().map(|failure| template_finding(failure, &finding::PATCH_TEMPLATE, "value"));
        self.findings.extend(findings);
        value
    }

    /// Warns about maps that would be expressions in a resource and are data in a patch.
    fn warn_about_eval(&mut self, node: &Node) {
        const MEMBERS: [&str; 6] = ["eval", "vars", "select", "foreach", "strict", "trace"];
        let is_member = |entry: &Entry| MEMBERS.contains(&entry.key.name.as_str());
        let is_eval = |map: &Map| map.get("eval").is_some() && map.entries().iter().all(is_member);
        if node.as_map().is_some_and(is_eval) {
            let message = "this `eval` map is written into the resource as it is, and not evaluated";
            let finding = Finding::new(&finding::PATCH_EVAL_IS_DATA, Location::Span(node.span), message);
            self.findings.push(finding.help("use `${…}` to compute a value in a patch"));
        }
        node.children().for_each(|child| self.warn_about_eval(child.node));
    }

    fn check_variables(&mut self, spec: &PatchSpec) {
        let known = self.check_selection(&spec.selection);
        let known: Vec<&str> = known.iter().map(SmolStr::as_str).collect();
        let mut failures: Vec<(TemplateFailure, &str)> = Vec::new();
        for operation in &spec.operations {
            if let PathTemplate::Computed(template) = &operation.path {
                let checked = template.expressions().filter_map(|expression| expression.check(&known).err());
                failures.extend(checked.map(|failure| (failure, "path")));
            }
            if let Some(value) = &operation.value {
                value.for_each_expression(&mut |expression| {
                    failures.extend(expression.check(&known).err().map(|failure| (failure, "value")));
                });
            }
        }
        let findings = failures.iter().map(|(failure, what)| template_finding(failure, &finding::PATCH_TEMPLATE, what));
        self.findings.extend(findings);
    }

    /// Checks `forEach` and `where`; gives the variables that operations may use.
    fn check_selection(&mut self, selection: &Selection) -> Vec<SmolStr> {
        let mut known: Vec<SmolStr> = self.context.variables.iter().map(SmolStr::new).collect();
        if let Some(for_each) = &selection.for_each {
            let names: Vec<&str> = known.iter().map(SmolStr::as_str).collect();
            self.check_expression(for_each, &names, &finding::PATCH_FOR_EACH, "forEach");
            known.push(selection.variable.clone());
        }
        known.push(SmolStr::new_static("resource"));
        if let Some(condition) = &selection.target.condition {
            let names: Vec<&str> = known.iter().map(SmolStr::as_str).collect();
            self.check_expression(condition, &names, &finding::PATCH_WHERE, "where");
        }
        known
    }

    fn check_expression(&mut self, template: &ValueTemplate, known: &[&str], rule: &'static Rule, what: &str) {
        let failure = template.standalone().and_then(|expression| expression.check(known).err());
        self.findings.extend(failure.map(|failure| template_finding(&failure, rule, what)));
    }
}

fn is_set(node: &Node) -> bool {
    !matches!(node.value, Value::Null)
}

/// The finding about an expression, where it is written.
pub(super) fn template_finding(failure: &TemplateFailure, rule: &'static Rule, what: &str) -> Finding {
    let rule = if failure.failure.kind == FailureKind::Limit { &finding::LIMIT_EXPRESSION } else { rule };
    let text: String = failure.text.chars().take(80).collect();
    let message = format!("`{}` in `{what}` fails: {}", sanitize::inline(&text), failure.failure.message);
    Finding::new(rule, Location::Span(failure.at), message)
}
