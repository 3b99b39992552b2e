//! What the OpenAPI document of a server says about a request: defaults where metadata is silent, and what it does not know.

use smol_str::SmolStr;

use super::RequestTarget;
use super::render::RenderedPart;
use crate::finding::{self, Finding, Location};
use crate::metadata::openapi::{ApiDocument, KnownRequest};
use crate::metadata::{Field, FieldPath, Operation, Section};
use crate::sanitize;
use crate::text::Span;

/// A method and media types that metadata does not set and the document knows.
#[derive(Debug, Default)]
pub(super) struct ServerDefaults {
    pub(super) method: Option<&'static str>,
    accept: Option<SmolStr>,
    content_type: Option<SmolStr>,
}

impl ServerDefaults {
    /// What the document says about an operation at a path; the method is the one that metadata sets, if it does.
    pub(super) fn find(document: &ApiDocument, operation: Operation, path: &str, method: Option<String>) -> Self {
        let method_of_document = match method {
            Some(_) => None,
            None => document.first_method(path, methods(operation)),
        };
        let Some(used) = method.as_deref().or(method_of_document) else { return Self::default() };
        match document.knows(used, path) {
            KnownRequest::Yes { takes, gives } => Self {
                method: method_of_document,
                accept: gives.into_iter().find(|media| is_plain(media)),
                content_type: takes.into_iter().find(|media| is_plain(media)),
            },
            _ => Self::default(),
        }
    }

    /// A header that metadata does not set, as the document has it.
    pub(super) fn header(&self, name: &str, part: RenderedPart) -> RenderedPart {
        let known = match name {
            "Accept" => self.accept.as_ref(),
            "Content-Type" => self.content_type.as_ref(),
            _ => None,
        };
        match known {
            Some(media) => RenderedPart { text: media.to_string(), template: media.clone(), ..part },
            None => part,
        }
    }
}

/// The methods that can do what an operation is for, the usual one first.
fn methods(operation: Operation) -> &'static [&'static str] {
    match operation {
        Operation::Create => &["post", "put"],
        Operation::Update => &["put", "patch", "post"],
        Operation::Delete => &["delete"],
        Operation::Get | Operation::List | Operation::Compare => &["get"],
    }
}

/// Whether a media type is one, and not a pattern for many.
fn is_plain(media: &str) -> bool {
    !media.contains('*')
}

/// The parts of a request that a document can know.
pub(super) struct SentParts<'a> {
    pub(super) operation: Operation,
    pub(super) method: &'a RenderedPart,
    pub(super) path: &'a RenderedPart,
    pub(super) headers: &'a [(SmolStr, RenderedPart)],
    pub(super) has_body: bool,
    /// An empty span for values that are not written anywhere.
    pub(super) nowhere: Span,
}

/// The parts of a request that the document of its server does not know. Without a document nothing is said; comparing sends what
/// getting does.
pub(super) fn unknown_parts(request: &SentParts<'_>, target: &RequestTarget<'_>) -> Vec<Finding> {
    if request.operation == Operation::Compare {
        return Vec::new();
    }
    let Some(document) = target.lookup.openapi().value.filter(|document| document.has_paths()) else {
        return Vec::new();
    };
    let (method, path) = (&request.method.text, &request.path.text);
    let nowhere = request.nowhere;
    let at = |part: &RenderedPart| Location::Span(part.at.unwrap_or(nowhere));
    // A body that is checked against the schema of its request says so already, as an error.
    let schema = FieldPath::new(Section::Operation(request.operation), Field::SchemaRef);
    let is_checked = request.has_body
        && target
            .metadata
            .get(&schema)
            .is_some_and(|node| node.as_str().is_some_and(|text| text.contains("request-body")));
    let unknown = |part: &RenderedPart, what: String| {
        let message =
            format!("{} of {} is unknown to the OpenAPI document: {what}", request.operation.name(), target.path);
        Finding::new(&finding::REQUEST_UNKNOWN, at(part), message)
            .help("correct the path or the method in metadata, or bring the document up to date")
    };
    match document.knows(method, path) {
        KnownRequest::No | KnownRequest::OtherMethods(_) if is_checked => Vec::new(),
        KnownRequest::No => vec![unknown(request.path, format!("it has no path {}", sanitize::inline(path)))],
        KnownRequest::OtherMethods(known) => {
            let known = known.join(", ").to_uppercase();
            let part = if request.method.at.is_some() { request.method } else { request.path };
            vec![unknown(part, format!("{} has no {method}, only {known}", sanitize::inline(path)))]
        }
        KnownRequest::Yes { takes, gives } => {
            let sent = request.has_body.then_some(("Content-Type", takes));
            let wanted = sent.into_iter().chain([("Accept", gives)]);
            wanted.filter_map(|(name, known)| other_media(request, target, name, &known)).collect()
        }
    }
}

/// A media type that metadata sets and the document does not know.
fn other_media(request: &SentParts<'_>, target: &RequestTarget<'_>, name: &str, known: &[SmolStr]) -> Option<Finding> {
    let (_, part) = request.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name))?;
    let at = part.at?;
    let plain = |text: &str| text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let fits = |known: &SmolStr, sent: &str| match plain(known).split_once('*') {
        Some((start, _)) => sent.starts_with(start),
        None => plain(known) == sent,
    };
    let is_known = |sent: String| sent.contains('*') || known.iter().any(|known| fits(known, &sent));
    if known.is_empty() || part.text.split(',').map(plain).any(is_known) {
        return None;
    }
    let message = format!(
        "`{name}: {}` of {} for {} is unknown to the OpenAPI document",
        sanitize::inline(&part.text),
        request.operation.name(),
        target.path
    );
    let known: Vec<String> = known.iter().map(|known| sanitize::inline(known).into_owned()).collect();
    let help = format!("{} {} has {}", request.method.text, sanitize::inline(&request.path.text), known.join(", "));
    Some(Finding::new(&finding::REQUEST_MEDIA_TYPE, Location::Span(at), message).help(help))
}
