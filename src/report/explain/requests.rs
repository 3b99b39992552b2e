//! Writes where requests come from: the template of each part, its layer, and its inputs.

use std::io;

use super::terminal::Page;
use crate::explain::{Explanation, RequestTrace};
use crate::report::paint::{Line, Role, cut_middle};
use crate::report::summary_counts::plural;
use crate::request::{NamedUse, RenderedPart, ScopeOrigin};

impl Page<'_> {
    pub(super) fn requests(&mut self, explanation: &Explanation) -> io::Result<()> {
        let requests = &explanation.requests;
        if requests.traces.is_empty() {
            return Ok(());
        }
        self.screen.blank()?;
        self.screen.line(Line::default().with(Role::Heading, "requests"))?;
        for trace in &requests.traces {
            self.screen.blank()?;
            self.trace(trace)?;
        }
        if requests.by_defaults == 0 {
            return Ok(());
        }
        self.screen.blank()?;
        let hint = "not defined by any layer; `outcrop metadata render PATH --all` shows them";
        let line = format!("{} {hint}", plural(requests.by_defaults, "more operation"));
        self.screen.line(Line::default().with(Role::Dim, &line))
    }

    fn trace(&mut self, trace: &RequestTrace) -> io::Result<()> {
        let request = &trace.request;
        let line = Line::default().with(Role::Path, request.operation.name()).with(Role::Plain, "  ");
        self.screen.line(line.with(Role::Heading, &format!("{} {}", request.method.text, request.path.text)))?;
        let mut rows = Vec::new();
        // Only a relative path starts from the collection.
        if request.path.template.trim_start().starts_with('.') {
            self.part_rows("collectionPath", &request.collection, &mut rows);
        }
        self.part_rows("method", &request.method, &mut rows);
        self.part_rows("path", &request.path, &mut rows);
        for (kind, parts) in [("query", &request.query), ("header", &request.headers)] {
            for (name, part) in parts {
                self.part_rows(&format!("{kind} {name}"), part, &mut rows);
            }
        }
        for (name, node) in &trace.transforms {
            let value = self.inline(node);
            let place = self.place(node.span);
            let value = self.short(value);
            rows.push([format!("  {name}"), value, place]);
        }
        self.table(&rows)
    }

    /// The rows of a part that a layer defines or that has inputs; constant defaults are left out.
    fn part_rows(&mut self, name: &str, part: &RenderedPart, rows: &mut Vec<[String; 3]>) {
        if part.at.is_none() && part.uses.is_empty() {
            return;
        }
        let place = part.at.map_or_else(|| "default".to_owned(), |at| self.place(at));
        rows.push([format!("  {name}"), self.short(part.template.to_string()), place]);
        for (at, NamedUse { name, value, origin }) in part.uses.iter().enumerate() {
            if part.uses[..at].iter().any(|read| read.name == *name) {
                continue;
            }
            let value = self.inline(value);
            let origin = origin.as_ref().map_or_else(String::new, |origin| self.origin(origin));
            rows.push([format!("    {name}"), self.short(value), origin]);
        }
    }

    fn origin(&mut self, origin: &ScopeOrigin) -> String {
        match origin {
            ScopeOrigin::Payload(span) => self.place(*span),
            ScopeOrigin::Context => "the resource itself".to_owned(),
            ScopeOrigin::Path(Some(span)) => format!("its path, as defined at {}", self.place(*span)),
            ScopeOrigin::Path(None) => "its path, by the name of a collection".to_owned(),
            ScopeOrigin::Ancestor { path, origin } => format!("{path}: {}", self.origin(origin)),
        }
    }

    fn short(&self, text: String) -> String {
        let cut = cut_middle(&text, self.style.columns() / 2, self.style.symbols().ellipsis);
        cut.filter(|_| !self.style.is_verbose()).unwrap_or(text)
    }
}
