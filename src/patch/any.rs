//! A patch from the command line, in any of its forms, and the documents it is applied to.

use smol_str::SmolStr;

use super::decode::{PatchContext, PatchFile, read_patch_file};
use super::overlay::{Nulls, overlay};
use super::rfc6902::{JsonOperation, apply_json_patch, read_json_patch};
use super::run::apply_file;
use crate::expression::cel::Inputs;
use crate::finding::{Finding, Outcome};
use crate::limits::Limits;
use crate::text::{Sources, Span};
use crate::value::{Entry, Node};

/// A patch in one of its forms.
#[derive(Debug)]
pub enum AnyPatch {
    /// A list of patches, or a document with them.
    File(Box<PatchFile>),
    /// A JSON Patch document, which applies to every document.
    Json(Vec<JsonOperation>),
}

/// Reads a patch: a list of operations is a JSON Patch, everything else a patch file. `inputs` is a map of variables.
pub fn read_any(root: &Node, inputs: &Node, sources: &Sources, limits: &Limits) -> Outcome<AnyPatch> {
    if is_json_patch(root) {
        let Outcome { value, findings } = read_json_patch(root);
        return Outcome { value: AnyPatch::Json(value), findings };
    }
    let mut variables: Vec<&str> = vec!["parameters"];
    variables.extend(inputs.as_map().into_iter().flat_map(|map| map.entries()).map(|entry| entry.key.name.as_str()));
    let context = PatchContext { sources, limits, variables: &variables };
    let Outcome { value, findings } = read_patch_file(root, &context);
    Outcome { value: AnyPatch::File(Box::new(value)), findings }
}

/// Whether the items of a list are operations; a patch has them in its key `operations`.
fn is_json_patch(root: &Node) -> bool {
    let first = root.as_list().and_then(<[Node]>::first);
    first.is_some_and(|item| item.get("op").is_some() && item.get("operations").is_none())
}

impl AnyPatch {
    /// The documents after the patch, none for those that it removes; if anything fails, as they were.
    pub fn apply(&self, documents: &[Node], inputs: &Node, limits: &Limits) -> Outcome<Vec<Option<Node>>> {
        match self {
            Self::File(file) => {
                let variables = variables(file, inputs);
                let bound = variables.iter().fold(Inputs::default(), |bound, (name, node)| bound.with(name, node));
                apply_file(documents, file, &bound, limits)
            }
            Self::Json(operations) => {
                let mut all = Outcome::clean(Vec::new());
                for (number, document) in documents.iter().enumerate() {
                    let outcome = apply_json_patch(document, operations, limits);
                    all.value.push(Some(outcome.value));
                    let locate = |mut finding: Finding| {
                        if documents.len() > 1 {
                            finding.message = format!("{} (document {})", finding.message, number + 1);
                        }
                        finding.related(beginning(document), "in this document")
                    };
                    all.findings.extend(outcome.findings.into_iter().map(locate));
                }
                if !all.findings.is_empty() {
                    all.value = documents.iter().cloned().map(Some).collect();
                }
                all
            }
        }
    }
}

/// What a finding about a document points at: its first key, or all of it.
fn beginning(document: &Node) -> Span {
    let first = document.as_map().and_then(|map| map.entries().first());
    first.map_or(document.span, |entry| entry.key.span)
}

/// The variables of a run: inputs override the parameters of the file.
fn variables(file: &PatchFile, inputs: &Node) -> Vec<(SmolStr, Node)> {
    let nothing = Node::map(Vec::new(), inputs.span);
    let parameters = file.parameters.clone().unwrap_or(nothing);
    let given = Node::map(vec![Entry::named("parameters", parameters.span, parameters)], inputs.span);
    let all = overlay(Some(&given), inputs, Nulls::Keep);
    let entries = all.as_map().into_iter().flat_map(|map| map.entries());
    entries.map(|entry| (entry.key.name.clone(), entry.value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{self, Format, write::to_inline};
    use crate::path::RepoPath;
    use crate::text::SourceText;

    fn patched(patch: &str, inputs: &str, documents: &[&str]) -> Result<Vec<String>, Vec<String>> {
        let (sources, limits) = (Sources::default(), Limits::default());
        let read = |text: &str| {
            let source = sources.add(SourceText::new(RepoPath::root(), "test", text));
            document::parse(text, source, Format::Yaml, &limits).value.remove(0).root
        };
        let messages = |findings: Vec<Finding>| findings.into_iter().map(|it| it.message).collect();
        let inputs = read(inputs);
        let patch = read_any(&read(patch), &inputs, &sources, &limits);
        if !patch.findings.is_empty() {
            return Err(messages(patch.findings));
        }
        let documents: Vec<Node> = documents.iter().map(|text| read(text)).collect();
        let outcome = patch.value.apply(&documents, &inputs, &limits);
        if !outcome.findings.is_empty() {
            return Err(messages(outcome.findings));
        }
        Ok(outcome.value.iter().flatten().map(to_inline).collect())
    }

    #[test]
    fn every_form_is_recognized() {
        let json = "[{op: test, path: /a, value: 1}, {op: move, from: /a, path: /b}]";
        assert_eq!(patched(json, "{}", &["{a: 1.0}", "{a: 1, c: 2}"]).unwrap(), ["{b: 1.0}", "{c: 2, b: 1}"]);
        let list = "[{target: {kind: B}, operations: [{op: add, path: /x/y, value: 1}]}]";
        assert_eq!(
            patched(list, "{}", &["{kind: A}", "{kind: B}"]).unwrap(),
            ["{kind: A}", "{kind: B, x: {\"y\": 1}}"]
        );
        let document = "{patches: [], removes: [{target: {kind: A}}]}";
        assert_eq!(patched(document, "{}", &["{kind: A}", "{kind: B}"]).unwrap(), ["{kind: B}"]);
        assert_eq!(patched("[]", "{}", &["1"]).unwrap(), ["1"]);
    }

    #[test]
    fn what_is_given_counts_more_than_parameters() {
        let patch = "{parameters: {a: 1, m: {x: 1, z: 2}}, patches: [{operations: [\
                     {op: add, path: /r, value: \"${[parameters.a, parameters.m.x, parameters.m.z, env]}\"}]}]}";
        let inputs = "{env: prod, parameters: {a: 5, m: {x: 7}}}";
        assert_eq!(patched(patch, inputs, &["{}"]).unwrap(), ["{r: [5, 7, 2, prod]}"]);
        let missing = patched(patch, "{}", &["{}"]).unwrap_err();
        assert!(missing[0].contains("env"), "{missing:?}");
    }

    #[test]
    fn one_failure_leaves_all_documents_alone_and_all_failures_are_reported() {
        let json = "[{op: remove, path: /a}]";
        let failures = patched(json, "{}", &["{a: 1}", "{}", "[]"]).unwrap_err();
        assert_eq!(failures.len(), 2, "{failures:?}");
        let (sources, limits) = (Sources::default(), Limits::default());
        let source = sources.add(SourceText::new(RepoPath::root(), "test", ""));
        let nothing = Node::map(Vec::new(), Span::new(source, 0, 0));
        let one = Node::map(vec![Entry::named("a", nothing.span, nothing.clone())], nothing.span);
        let operation = Node::map(
            vec![
                Entry::named("op", nothing.span, Node::text("remove", nothing.span)),
                Entry::named("path", nothing.span, Node::text("/a", nothing.span)),
            ],
            nothing.span,
        );
        let patch = read_any(&Node::list(vec![operation], nothing.span), &nothing, &sources, &limits).value;
        let left = patch.apply(&[one.clone(), nothing.clone()], &nothing, &limits).value;
        assert!(left[0].as_ref().unwrap().is_identical(&one));
    }
}
