//! Requests that would be sent: as people read them, as data for programs, and as lines for a shell.
//!
//! Secrets are values that no writer can print; they are replaced before a request is rendered.

use std::io;

use super::Style;
use super::locate::Locator;
use super::paint::{Line, Role, Screen, columns};
use super::summary_counts::plural;
use crate::document::write::{to_inline, to_json, to_yaml};
use crate::metadata::{LayerOrigin, Operation};
use crate::names::Format;
use crate::request::{ExpectedResponse, ListItem, NamedUse, RenderedPart, Request, ScopeOrigin};
use crate::sanitize;
use crate::side::RenderedRequest;
use crate::text::{Sources, Span};
use crate::value::{Entry, Node, Number, Value};

/// Writes requests for people: first line, headers, body, answer. With more to say, each part is followed by what it was made of.
pub fn write(
    all: &[RenderedRequest],
    format: Format,
    sources: &Sources,
    style: &Style,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut page = Page { locator: Locator::new(sources), screen: Screen::new(out, style), style };
    for (at, rendered) in all.iter().enumerate() {
        if at > 0 {
            page.screen.blank()?;
        }
        if all.len() > 1 {
            page.screen.line(Line::default().with(Role::Dim, rendered.request.operation.name()))?;
        }
        page.request(&rendered.request, format)?;
        if let Some(answer) = &rendered.answer {
            page.answer(answer, rendered.request.operation, format)?;
        }
    }
    Ok(())
}
struct Page<'a> {
    locator: Locator<'a>,
    screen: Screen<'a>,
    style: &'a Style,
}

/// Items of a list that are named; the rest is counted.
const MOST_ITEMS: usize = 20;

impl Page<'_> {
    fn request(&mut self, request: &Request, format: Format) -> io::Result<()> {
        self.first_line(request)?;
        for (name, part) in &request.headers {
            self.screen.line(Line::default().with(Role::Path, name).with(Role::Plain, &format!(": {}", part.text)))?;
            self.way("from", part)?;
        }
        match &request.body {
            Some(body) => self.document(body, format),
            None => Ok(()),
        }
    }

    fn document(&mut self, node: &Node, format: Format) -> io::Result<()> {
        self.screen.blank()?;
        for line in body_text(node, format).lines() {
            self.screen.line(Line::default().with(Role::Plain, line))?;
        }
        Ok(())
    }

    fn answer(&mut self, answer: &ExpectedResponse, operation: Operation, format: Format) -> io::Result<()> {
        self.screen.blank()?;
        match answer {
            ExpectedResponse::Payload(payload) => {
                let what = if operation == Operation::Compare { "compared" } else { "read from the response" };
                self.screen.line(Line::default().with(Role::Dim, what))?;
                self.document(payload, format)
            }
            ExpectedResponse::Items(items) => self.items(items),
        }
    }

    fn items(&mut self, items: &[ListItem]) -> io::Result<()> {
        let heading = format!("{} in this snapshot", plural(items.len(), "resource"));
        self.screen.line(Line::default().with(Role::Dim, &heading))?;
        let most = if self.style.is_verbose() { items.len() } else { MOST_ITEMS };
        let shown = &items[..items.len().min(most)];
        let widest = shown.iter().map(|item| columns(item.path.as_str())).max().unwrap_or(0);
        for ListItem { path, identity, .. } in shown {
            let line =
                Line::indented(2).with(Role::Path, path.as_str()).padded(2 + widest.min(self.style.columns() / 2));
            self.screen.line(line.with(Role::Dim, &format!("  {}", identity.remote_id)))?;
        }
        match items.len().saturating_sub(most) {
            0 => Ok(()),
            more => self.screen.line(Line::indented(2).with(Role::Dim, &format!("and {more} more (-v lists them)"))),
        }
    }

    fn first_line(&mut self, request: &Request) -> io::Result<()> {
        let line = Line::default().with(Role::Heading, &request.method.text);
        self.screen.line(line.with(Role::Plain, &format!(" {}", request.path.text)))?;
        self.way("from", &request.method)?;
        self.way("from", &request.path)?;
        // Only a relative path starts from the collection.
        if request.path.template.trim_start().starts_with('.') {
            self.way("in", &request.collection)?;
        }
        for (at, (name, part)) in request.query.iter().enumerate() {
            let mark = if at == 0 { "?" } else { "&" };
            self.screen.line(Line::indented(2).with(Role::Plain, &format!("{mark}{name}={}", part.text)))?;
            self.way("from", part)?;
        }
        Ok(())
    }

    /// The template of a part and the values that went into it.
    fn way(&mut self, word: &str, part: &RenderedPart) -> io::Result<()> {
        if !self.style.is_verbose() || (part.at.is_none() && part.uses.is_empty()) {
            return Ok(());
        }
        let place = part.at.map_or_else(|| "default".to_owned(), |span| self.place(span));
        self.screen.line(Line::indented(4).with(Role::Dim, &format!("{word} {}  {place}", part.template)))?;
        for (at, read) in part.uses.iter().enumerate() {
            if part.uses[..at].iter().any(|known| known.name == read.name) {
                continue;
            }
            let origin = read.origin.as_ref().map_or_else(String::new, |origin| self.origin(origin));
            let text = format!("{} = {}  {origin}", read.name, to_inline(&read.value));
            self.screen.line(Line::indented(6).with(Role::Dim, text.trim_end()))?;
        }
        Ok(())
    }

    fn origin(&mut self, origin: &ScopeOrigin) -> String {
        match origin {
            ScopeOrigin::Payload(span) => self.place(*span),
            ScopeOrigin::Context => "the resource".to_owned(),
            ScopeOrigin::Path(Some(span)) => format!("the path, as defined at {}", self.place(*span)),
            ScopeOrigin::Path(None) => "the path, by the name of its collection".to_owned(),
            ScopeOrigin::Ancestor { path, origin } => format!("{path}, {}", self.origin(origin)),
        }
    }

    fn place(&mut self, span: Span) -> String {
        let start = self.locator.start(span);
        format!("{}:{}", start.text.path, start.line)
    }
}

fn body_text(body: &Node, format: Format) -> String {
    match format {
        Format::Json => to_json(body),
        Format::Yaml => to_yaml(body),
    }
}

/// Requests as a list, for programs.
pub fn to_node(rendered: &RenderedRequest, sources: &Sources) -> Node {
    let nowhere = rendered.request.nowhere;
    let mut wire = Wire { nowhere, locator: Locator::new(sources) };
    wire.rendered(rendered)
}

/// Several of them.
pub fn to_list(all: &[RenderedRequest], sources: &Sources) -> Option<Node> {
    let first = all.first()?;
    Some(Node::list(all.iter().map(|rendered| to_node(rendered, sources)).collect(), first.request.nowhere))
}

struct Wire<'a> {
    nowhere: Span,
    locator: Locator<'a>,
}

impl Wire<'_> {
    fn rendered(&mut self, rendered: &RenderedRequest) -> Node {
        let mut entries = self.request(&rendered.request);
        match &rendered.answer {
            None => {}
            Some(ExpectedResponse::Payload(payload)) => entries.push(self.entry("answer", payload.clone())),
            Some(ExpectedResponse::Items(items)) => {
                let items = items.iter().map(|item| self.item(item)).collect();
                entries.push(self.entry("items", Node::list(items, self.nowhere)));
            }
        }
        Node::map(entries, self.nowhere)
    }

    fn item(&self, item: &ListItem) -> Node {
        let entries = vec![
            self.entry("resource", self.text(item.path.as_str())),
            self.entry("alias", self.text(&item.identity.alias)),
            self.entry("id", self.text(&item.identity.remote_id)),
        ];
        Node::map(entries, self.nowhere)
    }

    fn request(&mut self, request: &Request) -> Vec<Entry> {
        let texts = |wire: &Self, parts: &[(smol_str::SmolStr, RenderedPart)]| {
            let entries = parts.iter().map(|(name, part)| wire.entry(name, wire.text(&part.text)));
            Node::map(entries.collect(), wire.nowhere)
        };
        let mut entries = vec![
            self.entry("operation", self.text(request.operation.name())),
            self.entry("resource", self.text(request.target.as_str())),
            self.entry("rendered", Node::new(Value::Bool(request.is_filled_in), self.nowhere)),
            self.entry("method", self.text(&request.method.text)),
            self.entry("path", self.text(&request.path.text)),
            self.entry("query", texts(self, &request.query)),
            self.entry("headers", texts(self, &request.headers)),
        ];
        if let Some(body) = &request.body {
            entries.push(self.entry("body", body.clone()));
        }
        let mut parts = vec![
            self.named_part("collectionPath", &request.collection),
            self.named_part("method", &request.method),
            self.named_part("path", &request.path),
        ];
        for (kind, keyed) in [("query", &request.query), ("headers", &request.headers)] {
            for (name, part) in keyed {
                parts.push(self.named_part(&format!("{kind}.{name}"), part));
            }
        }
        entries.push(self.entry("parts", Node::list(parts, self.nowhere)));
        entries
    }

    fn named_part(&mut self, field: &str, part: &RenderedPart) -> Node {
        let mut entries = vec![
            self.entry("field", self.text(field)),
            self.entry("template", self.text(&part.template)),
            self.entry("text", self.text(&part.text)),
        ];
        if let Some(LayerOrigin::File { path, .. }) = part.by.as_ref().map(|layer| &layer.origin) {
            entries.push(self.entry("layer", self.text(&path.to_string())));
        }
        if let Some(span) = part.at {
            let place = self.place(span);
            entries.push(self.entry("at", place));
        }
        let uses = part.uses.iter().map(|read| self.read(read)).collect();
        entries.push(self.entry("uses", Node::list(uses, self.nowhere)));
        Node::map(entries, self.nowhere)
    }

    fn read(&mut self, read: &NamedUse) -> Node {
        let mut entries = vec![self.entry("name", self.text(&read.name)), self.entry("value", read.value.clone())];
        if let Some(origin) = &read.origin {
            entries.extend(self.origin(origin));
        }
        Node::map(entries, self.nowhere)
    }

    fn origin(&mut self, origin: &ScopeOrigin) -> Vec<Entry> {
        let (kind, span) = match origin {
            ScopeOrigin::Payload(span) => ("payload", Some(*span)),
            ScopeOrigin::Context => ("resource", None),
            ScopeOrigin::Path(span) => ("path", *span),
            ScopeOrigin::Ancestor { path, origin } => {
                let mut entries = self.origin(origin);
                entries.insert(0, self.entry("ancestor", self.text(path.as_str())));
                return entries;
            }
        };
        let mut entries = vec![self.entry("from", self.text(kind))];
        if let Some(span) = span {
            let place = self.place(span);
            entries.push(self.entry("at", place));
        }
        entries
    }

    fn place(&mut self, span: Span) -> Node {
        let start = self.locator.start(span);
        let line = Number::from_json(&start.line.to_string()).map_or(Value::Null, Value::Number);
        let entries = vec![
            self.entry("file", self.text(&start.text.path.to_string())),
            self.entry("line", Node::new(line, self.nowhere)),
        ];
        Node::map(entries, self.nowhere)
    }

    fn entry(&self, name: &str, value: Node) -> Entry {
        Entry::named(name, self.nowhere, value)
    }

    fn text(&self, text: &str) -> Node {
        Node::text(text, self.nowhere)
    }
}

/// A request as one command for a POSIX shell; the server is in the variable `SERVER`.
pub fn curl(request: &Request, format: Format) -> String {
    let mut words = vec!["curl".to_owned(), "-X".to_owned(), request.method.text.clone()];
    words.push(format!("\"$SERVER\"{}", quoted(&request.url())));
    for (name, part) in &request.headers {
        words.push("-H".to_owned());
        words.push(quoted(&format!("{name}: {}", part.text)));
    }
    if let Some(body) = &request.body {
        words.push("--data-binary".to_owned());
        words.push(quoted(body_text(body, format).trim_end()));
    }
    words.join(" ")
}

/// A word that the shell takes as it is. What steers a terminal is spelt out, which takes the other kind of quotes.
fn quoted(text: &str) -> String {
    let is_hidden = |c: char| c != '\n' && (c == '\t' || sanitize::is_hidden(c));
    if !text.chars().any(is_hidden) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    let mut word = String::from("$'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => word.extend(['\\', c]),
            c if is_hidden(c) => {
                c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| word.push_str(&format!("\\x{byte:02x}")));
            }
            c => word.push(c),
        }
    }
    word.push('\'');
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_safe_in_a_shell_and_on_a_terminal() {
        assert_eq!(quoted("/a b"), "'/a b'");
        assert_eq!(quoted("it's $x"), "'it'\\''s $x'");
        assert_eq!(quoted("a\u{1b}[31m'"), "$'a\\x1b[31m\\''");
    }
}
