//! Layered patches: the payload of one resource after all patch files that apply to it.

use std::path::Path;

use outcrop::directive::{self, Context, Includes, MergeProfile};
use outcrop::document::{self, Document, Format};
use outcrop::finding::Outcome;
use outcrop::limits::Limits;
use outcrop::metadata::{self, Layers};
use outcrop::patch::{self, PatchFiles, PatchSubject};
use outcrop::path::{LogicalPath, RepoPath};
use outcrop::snapshot::MemorySnapshot;
use outcrop::text::{SourceText, Sources};
use outcrop::value::Node;
use serde_json::{Value, json};

use super::patch::{Answer, check, sound, to_json};
use super::{CaseResult, cases, name_of};

pub(super) fn run(folder: &Path) -> Vec<CaseResult> {
    cases(folder).iter().map(|case| (name_of(case), run_case(case))).collect()
}

fn run_case(case: &Value) -> Result<(), String> {
    let given = &case["given"];
    let path = LogicalPath::parse(given["path"].as_str().unwrap_or_default()).expect("a logical path");
    let expected = match &case["expect"]["removed"] {
        Value::Bool(true) => &json!("removed"),
        _ => &case["expect"]["payload"],
    };
    check(&rendered(given, &path), expected, case.get("error"))
}

fn rendered(given: &Value, path: &LogicalPath) -> Answer {
    let files: Vec<(RepoPath, String)> = given["files"].as_object().into_iter().flatten().map(file).collect();
    let snapshot = files
        .iter()
        .fold(MemorySnapshot::new("vectors"), |snapshot, (path, text)| snapshot.with(path.clone(), text.as_bytes()));
    let (sources, limits, includes) = (Sources::default(), Limits::default(), Includes::default());
    let context = Context {
        snapshot: &snapshot,
        includes: &includes,
        sources: &sources,
        limits: &limits,
        profile: MergeProfile::Plain,
        unfurl: true,
        is_unfurl: false,
        remotes: &[],
    };
    let expand = |document: &Document, file: &RepoPath| {
        let expanded = directive::expand(document, file, &context);
        Outcome { value: expanded.value.root, findings: expanded.findings }
    };
    let layers = Layers::new(&snapshot, RepoPath::root(), &sources, &limits).expanding(Box::new(expand));
    let (payload, alias) = find(&files, path, &sources).expect("the resource is among the files");
    let metadata = sound(metadata::resolve(path, &layers))?.to_node();
    let attributes = Node::map(Vec::new(), payload.span);
    let set = PatchFiles::default().files_for(path, &layers, &sources, &limits);
    let subject = PatchSubject { path, alias: &alias, attributes: &attributes, metadata: &metadata };
    let outcome = patch::apply_layers(&payload, &set, &subject, &limits, &mut |_| {});
    let is_kept = outcome.value.payload.as_ref().is_some_and(|kept| kept.is_identical(&payload));
    assert!(outcome.value.is_complete || is_kept, "a failed run changes nothing");
    sound(outcome).map(|patched| patched.payload.as_ref().map_or_else(|| json!("removed"), to_json))
}

fn file((path, content): (&String, &Value)) -> (RepoPath, String) {
    let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
    (RepoPath::new(path).expect("a file's path"), text)
}

/// The payload of a resource: in its own directory, or a Kubernetes document beside others.
fn find(files: &[(RepoPath, String)], path: &LogicalPath, sources: &Sources) -> Option<(Node, String)> {
    let documents = files.iter().flat_map(|(file, text)| {
        let source = sources.add(SourceText::new(file.clone(), "vectors", text.as_str()));
        let format = Format::of_file_name(file.file_name()).unwrap_or(Format::Yaml);
        let parsed = document::parse(text, source, format, &Limits::default());
        parsed.value.into_iter().map(move |document| (file.clone(), document.root))
    });
    documents.into_iter().find_map(|(file, root)| {
        let directory = LogicalPath::of_directory(&file.parent()?)?;
        let (stem, _) = file.stem_and_extension()?;
        if stem == "resource" && directory == *path {
            return Some((root, path.last()?.to_owned()));
        }
        let kind = root.get("kind")?.as_str()?;
        let name = root.get("metadata")?.get("name")?.as_str()?;
        (directory.child(&format!("{kind}.{name}")) == *path).then(|| (root.clone(), name.to_owned()))
    })
}
