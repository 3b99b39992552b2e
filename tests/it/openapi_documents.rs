//! OpenAPI documents of version 3.0 as the `openapiv3` crate reads them: every path, method, media type and body schema is ours too.
//!
//! `OUTCROP_OPENAPI` names a folder with further documents, JSON or YAML.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use openapiv3::{OpenAPI, Operation, PathItem, ReferenceOr, RequestBody};
use outcrop::document::{parse, write};
use outcrop::limits::Limits;
use outcrop::metadata::openapi::{ApiDocument, Body, KnownRequest, check_body};
use outcrop::names::Format;
use outcrop::path::RepoPath;
use outcrop::text::{SourceText, Sources};
use outcrop::value::Node;

use crate::program::project;

#[test]
fn documents_are_read_as_an_independent_reader_reads_them() {
    let mut files = documents(&project().join("fixtures/openapi"));
    files.extend(std::env::var_os("OUTCROP_OPENAPI").map(|folder| documents(Path::new(&folder))).unwrap_or_default());
    assert!(!files.is_empty());
    for file in files {
        let text = fs::read_to_string(&file).expect("the document can be read");
        let root =
            read(&text, if file.extension().is_some_and(|it| it == "json") { Format::Json } else { Format::Yaml });
        let json = write::to_json(&root);
        let theirs: OpenAPI = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let ours = ApiDocument::new(root, BTreeSet::new());
        let mut seen = 0;
        for (path, item) in &theirs.paths.paths {
            let ReferenceOr::Item(item) = item else { continue };
            seen += compare(path, item, &theirs, &ours, &file);
        }
        println!("{}: {seen} operations agree", file.display());
        assert!(seen > 0, "{}", file.display());
    }
}

/// Compares the operations of one path, and gives their number.
fn compare(path: &str, item: &PathItem, theirs: &OpenAPI, ours: &ApiDocument, file: &Path) -> usize {
    let concrete = filled_in(path);
    // Two paths may differ in nothing but the names of their variables.
    let twins = theirs.paths.paths.iter().filter(|(other, _)| filled_in(other) == concrete);
    let methods: BTreeSet<&str> =
        twins.filter_map(|(_, it)| it.as_item()).flat_map(|it| it.iter().map(|(method, _)| method)).collect();
    // Another path of the document may be a better match for the same request.
    let is_shadowed = theirs.paths.paths.keys().any(|other| other != path && *other == concrete);
    if methods.is_empty() || is_shadowed {
        return 0;
    }
    if let KnownRequest::OtherMethods(known) = ours.knows("unknown", &concrete) {
        assert_eq!(known.into_iter().collect::<BTreeSet<_>>(), methods, "{} {path}", file.display());
    } else {
        panic!("{}: {path} is not known as {concrete}", file.display());
    }
    for (method, operation) in item.iter() {
        let KnownRequest::Yes { takes, .. } = ours.knows(method, &concrete) else {
            panic!("{}: {method} {path} is not known", file.display());
        };
        let Some((place, body)) = request_body(path, method, operation, theirs) else { continue };
        let media: BTreeSet<&str> = body.content.keys().map(String::as_str).collect();
        assert_eq!(takes.iter().map(|name| name.as_str()).collect::<BTreeSet<_>>(), media, "{method} {path}");
        if let Some((name, _)) =
            body.content.iter().find(|(name, it)| *name == "application/json" && it.schema.is_some())
        {
            let name = name.replace('/', "~1");
            let schema = format!("openapi:#{place}/content/{name}/schema");
            same_schema(&schema, method, &concrete, ours);
        }
    }
    item.iter().count()
}

/// The body of an operation, and its place in the document.
fn request_body<'a>(
    path: &str,
    method: &str,
    operation: &'a Operation,
    theirs: &'a OpenAPI,
) -> Option<(String, &'a RequestBody)> {
    match operation.request_body.as_ref()? {
        ReferenceOr::Item(body) => {
            let path = path.replace('~', "~0").replace('/', "~1").replace('{', "%7B").replace('}', "%7D");
            Some((format!("/paths/{path}/{method}/requestBody"), body))
        }
        ReferenceOr::Reference { reference } => {
            let name = reference.strip_prefix("#/components/requestBodies/")?;
            let body = theirs.components.as_ref()?.request_bodies.get(name)?.as_item()?;
            Some((format!("/components/requestBodies/{name}"), body))
        }
    }
}

/// The schema of the request is the one at that place: both say the same about some bodies.
fn same_schema(schema: &str, method: &str, path: &str, ours: &ApiDocument) {
    for text in ["null", "{}", "[]", "1", "x", "{name: 5, id: 5, tags: 5}"] {
        let value = read(text, Format::Yaml);
        let said = |reference: &str| -> Vec<String> {
            let body = Body { reference, at: value.span, method, path, value: &value, known: &[] };
            let findings = check_body(&body, ours).into_iter();
            findings.map(|finding| finding.message.replace(reference, "")).collect()
        };
        assert_eq!(said("openapi:request-body"), said(schema), "{method} {path}: {text}");
    }
}

/// A path of a request that a template matches.
fn filled_in(template: &str) -> String {
    let mut path = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        path.push_str(before);
        path.push_str("x1y");
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
    }
    path + rest
}

fn documents(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("the folder is there").map(|it| it.unwrap().path()).collect();
    files
        .retain(|file| file.extension().is_some_and(|it| ["json", "yaml", "yml"].contains(&it.to_str().unwrap_or(""))));
    files.sort();
    files
}

fn read(text: &str, format: Format) -> Node {
    let source = Sources::default().add(SourceText::new(RepoPath::root(), "", text));
    let mut parsed = parse(text, source, format, &Limits::default());
    assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
    parsed.value.remove(0).root
}
