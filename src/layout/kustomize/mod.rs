//! Kustomize roots, rendered from a snapshot without network, checkout or execution.
//!
//! [`build`] gives what `kustomize build` prints, as a set of documents. What is not in the repository (remote bases, charts,
//! plugins) becomes an opaque [`Leaf`] with everything that the repository says about it.

mod accumulate;
mod configuration;
mod external;
mod fields;
mod file;
mod generate;
mod json_patch;
mod load;
mod patch;
mod reference;
mod replace;
mod resource;
mod scalars;
mod schema;
mod selector;
mod strategic;
mod transform;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::finding::{self, Finding, Location};
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::snapshot::Snapshot;
use crate::text::{Sources, Span};
use crate::value::Node;

pub use external::Leaf;
pub use load::KUSTOMIZATION_FILES;

/// Why a build stopped.
pub(crate) type Fatal = Box<Finding>;

/// What a build reads.
pub struct Input<'a> {
    /// The files.
    pub snapshot: &'a dyn Snapshot,
    /// The texts that are read, for findings to show.
    pub sources: &'a Arc<Sources>,
    /// What is too much.
    pub limits: &'a Limits,
}

/// A rendered root.
#[derive(Debug, Default)]
pub struct Built {
    /// Its resources; none if the build failed.
    pub resources: Vec<BuiltResource>,
    /// What the repository refers to and does not hold.
    pub leaves: Vec<Leaf>,
    /// Why it failed, and notes.
    pub findings: Vec<Finding>,
    /// Every file that was read or looked for.
    pub inputs: BTreeSet<RepoPath>,
    /// Whether it failed.
    pub is_failed: bool,
}

/// A rendered resource.
#[derive(Debug)]
pub struct BuiltResource {
    /// The document.
    pub node: Node,
    /// The name without the suffix that is made of the content.
    pub name: smol_str::SmolStr,
    /// The suffix that is made of the content, if there is one.
    pub hash: Option<smol_str::SmolStr>,
}

/// Renders the kustomization in a directory.
pub fn build(root: &RepoPath, input: &Input<'_>) -> Built {
    let loader = load::Loader::new(input);
    let outcome = accumulate::root(root, &loader);
    let (findings, inputs) = loader.finish();
    match outcome {
        Ok(accumulated) => {
            let built = |resource: resource::Resource| {
                let id = resource.id();
                let name = match &resource.hash {
                    Some(hash) => id.name.strip_suffix(&format!("-{hash}")).unwrap_or(&id.name).into(),
                    None => id.name,
                };
                BuiltResource { node: resource.node, name, hash: resource.hash }
            };
            let resources = accumulated.resources.into_iter().map(built).collect();
            Built { resources, leaves: accumulated.leaves, findings, inputs, is_failed: false }
        }
        Err(failure) => {
            let findings = findings.into_iter().chain([*failure]).collect();
            Built { findings, inputs, is_failed: true, ..Built::default() }
        }
    }
}

/// A failure that ends the build.
pub(crate) fn fatal(span: Span, message: impl Into<String>) -> Fatal {
    Box::new(Finding::new(&finding::KUSTOMIZE_BUILD, Location::Span(span), message))
}

/// Adds another place to a failure.
pub(crate) fn related(failure: Fatal, span: Span, text: &str) -> Fatal {
    Box::new((*failure).related(span, text))
}

#[cfg(test)]
mod scratch {
    use super::*;
    use crate::document::{self, Format};
    use crate::snapshot::MemorySnapshot;
    use crate::text::SourceText;

    #[test]
    fn scratch() {
        let only = std::env::var("ONLY").unwrap_or_default();
        let (mut good, mut bad) = (0, Vec::new());
        let mut files: Vec<_> = std::fs::read_dir("../shared/vectors/kustomize").unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        for file in files {
            if file.extension().is_none_or(|e| e != "json") || !file.to_string_lossy().contains(&only) { continue }
            let text = std::fs::read_to_string(&file).unwrap();
            let case: serde_json::Value = serde_json::from_str(&text).unwrap();
            if case.get("flux").is_some() { continue }
            let mut snapshot = MemorySnapshot::new("test");
            for (path, content) in case["files"].as_object().unwrap() {
                let bytes: Vec<u8> = match content {
                    serde_json::Value::String(text) => text.clone().into_bytes(),
                    other => { let t = other["base64"].as_str().unwrap(); let out = std::process::Command::new("sh").arg("-c").arg(format!("echo '{t}' | base64 -d")).output().unwrap(); out.stdout }
                };
                snapshot = snapshot.with(RepoPath::new(path).unwrap(), bytes);
            }
            let sources = Arc::new(Sources::default());
            let limits = Limits::default();
            let root = case["root"].as_str().unwrap();
            let root = if root == "." { RepoPath::root() } else { RepoPath::new(root.trim_end_matches('/')).unwrap() };
            let built = build(&root, &Input { snapshot: &snapshot, sources: &sources, limits: &limits });
            let messages: Vec<String> = built.findings.iter().map(|f| f.message.clone()).collect();
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            if case.get("error").is_some() {
                if built.is_failed || case.get("strict_only").is_some() { good += 1 } else { bad.push(format!("{name}: should fail: {}", case["error"])) }
                continue;
            }
            if built.is_failed { bad.push(format!("{name}: failed: {messages:?}")); continue }
            let mut expected: Vec<Node> = Vec::new();
            for doc in case["expect"].as_array().unwrap() {
                let text = doc.to_string();
                let source = sources.add(SourceText::new(RepoPath::root(), "", text.as_str()));
                expected.push(document::parse(&text, source, Format::Json, &limits).value[0].root.clone());
            }
            let mut extra = Vec::new();
            for resource in &built.resources {
                match expected.iter().position(|node| node.is_equal(&resource.node)) {
                    Some(at) => { expected.remove(at); }
                    None => extra.push(crate::document::write::to_inline(&resource.node)),
                }
            }
            if extra.is_empty() && expected.is_empty() { good += 1 } else {
                let e: Vec<String> = expected.iter().map(|n| crate::document::write::to_inline(n).to_string()).collect();
                bad.push(format!("{name}: \n   got  {}\n   want {}", extra.join("\n        "), e.join("\n        ")));
            }
        }
        println!("good {good} bad {}", bad.len());
        for line in bad { println!("{line}") }
    }
}
