//! The effective request of an operation: method, path, query, headers and body, each with its provenance.

use std::sync::Arc;

use smol_str::SmolStr;

use super::render::{FieldTemplate, RenderedPart};
use super::scope::{Scoped, logical_collection, scope_for};
use super::server::{self, SentParts, ServerDefaults};
use super::transform::{Flavour, transform};
use super::validate::{SchemaCheck, lacking, validate};
use super::{RequestTarget, url};
use crate::expression::template::Purpose;
use crate::finding::{self, Finding, Outcome, Rule, sort_by_span};
use crate::metadata::{Field, FieldDefault, FieldPath, Operation, RequestParts, Section, StatementKind};
use crate::path::LogicalPath;
use crate::text::Span;
use crate::value::Node;

/// A request that would be sent.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is done.
    pub operation: Operation,
    /// With which resource or collection.
    pub target: LogicalPath,
    /// The method, in upper case.
    pub method: RenderedPart,
    /// The path, absolute and clean.
    pub path: RenderedPart,
    /// The path of the collection that a relative path starts from.
    pub collection: RenderedPart,
    /// Query parameters by name.
    pub query: Vec<(SmolStr, RenderedPart)>,
    /// Headers by name.
    pub headers: Vec<(SmolStr, RenderedPart)>,
    /// The body after its transforms; only what creates or updates has one.
    pub body: Option<Node>,
    /// An empty span for values that are not written anywhere.
    pub nowhere: Span,
    /// Whether its templates are rendered; a request of a selector, which matches many resources, shows them as written.
    pub is_filled_in: bool,
}

/// The parts of a request that were asked for; a part that cannot be rendered is missing.
#[derive(Debug, Clone)]
pub struct RenderedParts {
    /// The method.
    pub method: Option<RenderedPart>,
    /// The path.
    pub path: Option<RenderedPart>,
    /// Query parameters by name.
    pub query: Vec<(SmolStr, Option<RenderedPart>)>,
    /// Headers by name.
    pub headers: Vec<(SmolStr, Option<RenderedPart>)>,
    /// The body.
    pub body: Option<Node>,
    /// An empty span for values that are not written anywhere.
    pub nowhere: Span,
    collection: Option<RenderedPart>,
}

/// Renders parts of the request of an operation.
pub fn parts(target: &RequestTarget<'_>, operation: Operation, wanted: RequestParts) -> Outcome<RenderedParts> {
    let mut findings = Vec::new();
    let value = RequestBuilder { target, operation, is_filled_in: true, findings: &mut findings }.parts(wanted);
    Outcome { value, findings: in_order(findings) }
}

/// The request of an operation. Everything that is wrong is reported, in the order of the files; a request comes back if it could
/// be made, and is to be sent only without errors.
pub fn request(target: &RequestTarget<'_>, operation: Operation) -> Outcome<Option<Request>> {
    made(target, operation, true)
}

/// The request of an operation on any resource that a selector matches, or on some resource of a collection: templates stay as they are
/// written. The target's path is that of the collection.
pub fn request_as_written(target: &RequestTarget<'_>, operation: Operation) -> Outcome<Option<Request>> {
    made(target, operation, false)
}

fn made(target: &RequestTarget<'_>, operation: Operation, is_filled_in: bool) -> Outcome<Option<Request>> {
    let mut findings = Vec::new();
    let value = RequestBuilder { target, operation, is_filled_in, findings: &mut findings }.request();
    Outcome { value, findings: in_order(findings) }
}

fn in_order(mut findings: Vec<Finding>) -> Vec<Finding> {
    sort_by_span(&mut findings);
    findings
}

struct RequestBuilder<'a, 'f> {
    target: &'a RequestTarget<'a>,
    operation: Operation,
    is_filled_in: bool,
    findings: &'f mut Vec<Finding>,
}

impl<'a> RequestBuilder<'a, '_> {
    fn request(&mut self) -> Option<Request> {
        let RenderedParts { method, path, query, headers, body, nowhere, collection } = self.parts(RequestParts::ALL);
        if body.is_none() && self.has_body() && self.is_filled_in {
            return None;
        }
        let all = |parts: Vec<(SmolStr, Option<RenderedPart>)>| -> Option<Vec<(SmolStr, RenderedPart)>> {
            parts.into_iter().map(|(name, part)| Some((name, part?))).collect()
        };
        let request = Request {
            operation: self.operation,
            target: self.target.path.clone(),
            method: method?,
            path: path?,
            collection: collection?,
            query: all(query)?,
            headers: all(headers)?,
            body,
            nowhere,
            is_filled_in: self.is_filled_in,
        };
        if self.is_filled_in {
            self.findings.extend(server::unknown_parts(&request.sent_parts(), self.target));
        }
        Some(request)
    }

    fn parts(&mut self, wanted: RequestParts) -> RenderedParts {
        let scoped = scope_for(self.target, self.operation);
        if self.is_filled_in {
            self.findings.extend(scoped.identity_findings());
        }
        let collection = self.collection(&scoped);
        // Without a collection, what does not need it is still looked at, so that all that is wrong is said at once.
        let scoped = match &collection {
            Some(collection) => scoped.with_collection_path(&collection.text),
            None => scoped,
        };
        let path = wanted.path.then(|| self.path(&scoped, collection.as_ref())).flatten();
        let server = self.server(wanted, path.as_ref(), &scoped, collection.as_ref());
        let parts = RenderedParts {
            method: wanted.method.then(|| self.method(&scoped, &server)).flatten(),
            path,
            query: if wanted.query { self.query(&scoped) } else { Vec::new() },
            headers: if wanted.headers { self.headers(&scoped, &server) } else { Vec::new() },
            body: wanted.body.then(|| self.body(&scoped)).flatten(),
            nowhere: self.target.payload.span.start_only(),
            collection,
        };
        self.check_schema(&parts, &scoped);
        parts
    }

    /// Checks the body against the schema that `validate.schemaRef` names.
    fn check_schema(&mut self, parts: &RenderedParts, scoped: &Scoped<'_>) {
        let Some(body) = parts.body.as_ref().filter(|_| self.is_filled_in) else { return };
        let Some(check) = SchemaCheck::find(self.target, self.operation) else { return };
        // What is wrong with parts that were not asked for is not reported here.
        let mut unreported = Vec::new();
        let mut quiet = RequestBuilder { findings: &mut unreported, ..*self };
        let path = parts.path.clone().or_else(|| quiet.path(scoped, parts.collection.as_ref()));
        let server = quiet.server(RequestParts::ALL, path.as_ref(), scoped, parts.collection.as_ref());
        let method = parts.method.clone().or_else(|| quiet.method(scoped, &server));
        if let (Some(method), Some(path)) = (method, path) {
            self.findings.extend(check.run(body, &method.text, &path.text, self.target, scoped));
        }
    }

    fn has_body(&self) -> bool {
        matches!(self.operation, Operation::Create | Operation::Update)
    }

    fn collection(&mut self, scoped: &Scoped<'_>) -> Option<RenderedPart> {
        let field_path = FieldPath::new(Section::Resource, Field::CollectionPath);
        let template = FieldTemplate::of(self.target.metadata, &field_path, "collectionPath", "");
        if template.node.is_none() {
            let logical = if self.is_filled_in {
                logical_collection(self.target.path, self.operation)
            } else {
                self.target.path.clone()
            };
            let text = logical.as_str().to_owned();
            let template = text.as_str().into();
            return Some(RenderedPart { text, template, at: None, by: None, uses: Vec::new() });
        }
        let part = self.fill_in(&template, scoped, Purpose::Path)?;
        if part.text.trim().is_empty() {
            self.findings.push(template.refused(&finding::REQUEST_PATH, self.target, "it is blank"));
            return None;
        }
        Some(RenderedPart { text: self.clean()(part.text.trim()), ..part })
    }

    fn path(&mut self, scoped: &Scoped<'_>, collection: Option<&RenderedPart>) -> Option<RenderedPart> {
        let template = self.template(Field::Path, "path");
        let part = self.fill_in(&template, scoped, Purpose::Path)?;
        // The root is in no collection, unless its metadata names one.
        let in_none = |collection: &&RenderedPart| {
            self.is_filled_in
                && self.target.path.is_root()
                && self.operation != Operation::List
                && collection.at.is_none()
        };
        let base = collection.filter(|collection| !in_none(collection)).map(|collection| collection.text.as_str());
        if collection.is_none() && part.text.trim().starts_with('.') {
            return None;
        }
        match url::resolved(&part.text, base, self.clean()) {
            Ok(text) => Some(RenderedPart { text, ..part }),
            Err(reason) => {
                self.findings.push(template.refused(&finding::REQUEST_PATH, self.target, reason));
                None
            }
        }
    }

    /// What the OpenAPI document says where metadata is silent, as far as it is needed.
    fn server(
        &mut self,
        wanted: RequestParts,
        path: Option<&RenderedPart>,
        scoped: &Scoped<'_>,
        collection: Option<&RenderedPart>,
    ) -> ServerDefaults {
        if !self.is_filled_in || !(wanted.method || wanted.headers) {
            return ServerDefaults::default();
        }
        let Some(document) = self.target.lookup.openapi().value else { return ServerDefaults::default() };
        // What is wrong with a path that was not asked for is not reported here.
        let mut unreported = Vec::new();
        let mut quiet = RequestBuilder { findings: &mut unreported, ..*self };
        let path = path.cloned().or_else(|| quiet.path(scoped, collection));
        let written = quiet.method(scoped, &ServerDefaults::default()).filter(|method| method.at.is_some());
        match path {
            Some(path) => ServerDefaults::find(&document, self.operation, &path.text, written.map(|part| part.text)),
            None => ServerDefaults::default(),
        }
    }

    fn method(&mut self, scoped: &Scoped<'_>, server: &ServerDefaults) -> Option<RenderedPart> {
        let mut template = self.template(Field::Method, "method");
        template.default = server.method.unwrap_or(template.default);
        let part = self.fill_in(&template, scoped, Purpose::Text)?;
        if !self.is_filled_in && part.text.contains("{{") {
            return Some(part);
        }
        let text = match part.text.trim() {
            "" => Field::Method.default_text(self.operation).to_owned(),
            method => method.to_uppercase(),
        };
        if !is_token(&text) {
            return self.refuse(&template, &finding::REQUEST_HEADER, "a method is one word");
        }
        Some(RenderedPart { text, ..part })
    }

    fn query(&mut self, scoped: &Scoped<'_>) -> Vec<(SmolStr, Option<RenderedPart>)> {
        let target = self.target;
        let parts = target.metadata.query(self.operation).into_iter().map(|(name, _)| {
            let field_path = FieldPath::keyed(Section::Operation(self.operation), Field::Query, name.clone());
            let template = FieldTemplate::of(target.metadata, &field_path, format!("query.{name}"), "");
            (name.clone(), self.fill_in(&template, scoped, Purpose::Text))
        });
        parts.collect()
    }

    fn headers(&mut self, scoped: &Scoped<'_>, server: &ServerDefaults) -> Vec<(SmolStr, Option<RenderedPart>)> {
        let mut wanted: Vec<(SmolStr, &'static str)> =
            self.target.metadata.headers(self.operation).iter().map(|(name, _)| (SmolStr::new(name), "")).collect();
        if let FieldDefault::Headers(defaults) = Field::Headers.default(self.operation) {
            for (name, value) in defaults {
                let is_known = wanted.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
                if !is_known && !self.is_cleared(name) {
                    wanted.push((SmolStr::new_static(name), value));
                }
            }
        }
        wanted.sort();
        let header = |(name, default): (SmolStr, &'static str)| {
            let part = self.header(&name, default, scoped);
            let part = part.map(|part| if part.at.is_none() { server.header(&name, part) } else { part });
            (name, part)
        };
        wanted.into_iter().map(header).collect()
    }

    fn header(&mut self, name: &str, default: &'static str, scoped: &Scoped<'_>) -> Option<RenderedPart> {
        let field_path =
            FieldPath::keyed(Section::Operation(self.operation), Field::Headers, name.to_ascii_lowercase());
        let field = match name {
            "Accept" => "accept".to_owned(),
            "Content-Type" => "contentType".to_owned(),
            name => format!("headers.{name}"),
        };
        let default = if default.is_empty() { default } else { self.media_type().unwrap_or(default) };
        let template = FieldTemplate::of(self.target.metadata, &field_path, field, default);
        let part = self.fill_in(&template, scoped, Purpose::Text)?;
        if !is_token(name) {
            return self.refuse(&template, &finding::REQUEST_HEADER, "the name of a header is one word");
        }
        if part.text.chars().any(|c| c.is_control() && c != '\t') {
            return self.refuse(&template, &finding::REQUEST_HEADER, "the value of a header is one line of text");
        }
        let text = part.text.trim().to_owned();
        Some(RenderedPart { text, ..part })
    }

    /// The media type of a payload whose format is not that of the repository.
    fn media_type(&self) -> Option<&'static str> {
        let known = self.target.known_type()?;
        let has_format = self.target.metadata.text(Section::Resource, Field::Format).is_some();
        (has_format || !matches!(known.name, "json" | "yaml")).then_some(known.media)
    }

    /// Whether the strongest layer that sets or clears a header clears it.
    fn is_cleared(&self, name: &str) -> bool {
        let section = Section::Operation(self.operation);
        let field_path = FieldPath::keyed(section, Field::Headers, name.to_ascii_lowercase());
        let mut layers = self.target.metadata.layers().iter().rev();
        let template = layers.find_map(|layer| layer.statements.about(&field_path));
        template.is_some_and(|statement| matches!(statement.kind, StatementKind::Null))
    }

    fn body(&mut self, scoped: &Scoped<'_>) -> Option<Node> {
        if !self.has_body() {
            return None;
        }
        let explicit = self.explicit_body();
        if !self.is_filled_in {
            return explicit.cloned();
        }
        self.findings.extend(lacking(self.target, self.operation));
        let payload = explicit.unwrap_or(self.target.payload);
        let body = self.kept(transform(payload, self.target, self.operation, scoped, Flavour::Request))?;
        self.findings.extend(validate(&body, self.target, self.operation, scoped));
        Some(body)
    }

    fn clean(&self) -> fn(&str) -> String {
        if self.is_filled_in { url::cleaned } else { url::cleaned_template }
    }

    fn explicit_body(&self) -> Option<&'a Node> {
        self.target.metadata.get(&FieldPath::new(Section::Operation(self.operation), Field::Body))
    }

    fn fill_in(&mut self, template: &FieldTemplate<'_>, scoped: &Scoped<'_>, purpose: Purpose) -> Option<RenderedPart> {
        if !self.is_filled_in {
            return Some(template.as_written());
        }
        self.kept(template.render(self.target, scoped, purpose))
    }

    fn template(&self, field: Field, name: &str) -> FieldTemplate<'a> {
        let default = field.default_text(self.operation);
        FieldTemplate::of(
            self.target.metadata,
            &FieldPath::new(Section::Operation(self.operation), field),
            name,
            default,
        )
    }

    fn kept<T>(&mut self, result: Result<T, Box<Finding>>) -> Option<T> {
        result.map_err(|finding| self.findings.push(*finding)).ok()
    }

    fn refuse<T>(&mut self, template: &FieldTemplate<'_>, rule: &'static Rule, reason: &str) -> Option<T> {
        self.findings.push(template.refused(rule, self.target, reason));
        None
    }
}

/// What HTTP calls a token: letters, digits and some marks.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

impl Request {
    fn sent_parts(&self) -> SentParts<'_> {
        let Self { operation, method, path, headers, body, nowhere, .. } = self;
        SentParts { operation: *operation, method, path, headers, has_body: body.is_some(), nowhere: *nowhere }
    }

    /// Path and query as they are written in a URL.
    pub fn url(&self) -> String {
        let pairs = self.query.iter();
        let pairs =
            pairs.map(|(name, part)| format!("{}={}", url::query_escaped(name), url::query_escaped(&part.text)));
        let query: Vec<String> = pairs.collect();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{}{mark}{}", url::path_escaped(&self.path.text), query.join("&"))
    }

    /// Every layer that has a say in it, weakest first as they were met.
    pub fn layers(&self) -> Vec<Arc<crate::metadata::Layer>> {
        let parts = [&self.collection, &self.method, &self.path].into_iter();
        let keyed = self.query.iter().chain(&self.headers).map(|(_, part)| part);
        let mut layers: Vec<Arc<crate::metadata::Layer>> = Vec::new();
        for layer in parts.chain(keyed).filter_map(|part| part.by.as_ref()) {
            if !layers.iter().any(|known| Arc::ptr_eq(known, layer)) {
                layers.push(Arc::clone(layer));
            }
        }
        layers
    }
}
