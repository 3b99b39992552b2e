//! How an expression came to its result: every step on a line of its own, what was done for its sake below it.

use std::io;

use super::paint::{Line, Role, Screen, columns, cut_middle};
use super::style::Style;
use super::summary_counts::plural;
use crate::document::write::to_inline;
use crate::expression::eval::{Trace, TraceKind, TraceStep, TraceValue, Verdict};
use crate::value::{Node, Value};

/// Writes it for people.
pub fn write(trace: &Trace, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut page = Page { screen: Screen::new(out, style), style };
    page.steps(&trace.steps, 0)?;
    if trace.is_cut {
        page.screen.line(Line::default().with(Role::Dim, "more steps were taken than are shown"))?;
    }
    Ok(())
}

struct Page<'a> {
    screen: Screen<'a>,
    style: &'a Style,
}

/// Deeper steps are not moved further to the right.
const DEEPEST_INDENT: usize = 12;
/// A value with more parts than this is not spelt out.
const LARGEST_SHOWN: u64 = 40;

impl Page<'_> {
    fn steps(&mut self, steps: &[TraceStep], depth: usize) -> io::Result<()> {
        for step in steps {
            let line = self.line(step, depth);
            self.screen.line(line)?;
            self.steps(&step.below, depth + 1)?;
        }
        Ok(())
    }

    /// `services  of /shop → a list of 3`
    fn line(&self, step: &TraceStep, depth: usize) -> Line {
        let indent = 2 * depth.min(DEEPEST_INDENT);
        let room = self.style.columns().saturating_sub(indent).max(20);
        let mut line = Line::indented(indent);
        match word(step.kind) {
            "" => {}
            word => line.push(Role::Dim, &format!("{word} ")),
        }
        // A path has a line of its own.
        let (role, space) = match step.kind {
            TraceKind::Path => (Role::Heading, room.saturating_sub(14)),
            _ => (Role::Path, room / 3),
        };
        line.push(role, &self.cut(if step.text.is_empty() { "(empty)" } else { &step.text }, space));
        // The expression itself is what the steps below it spell out.
        if let Some(on) = step.on.as_ref().filter(|_| step.kind != TraceKind::Computed) {
            line.push(Role::Dim, &format!("  of {}", self.value(on, room / 3)));
        }
        let left = self.style.columns().saturating_sub(line.width() + 4).max(20);
        line.then(self.verdict(&step.verdict, left))
    }

    fn verdict(&self, verdict: &Verdict, room: usize) -> Line {
        let arrow = format!(" {} ", self.style.symbols().arrow);
        let line = Line::default();
        match verdict {
            Verdict::Gives(value) => line.with(Role::Dim, &arrow).with(Role::Added, &self.value(value, room)),
            Verdict::Matches(0) => line.with(Role::Removed, "  no match"),
            Verdict::Matches(1) => line.with(Role::Added, "  1 match"),
            Verdict::Matches(count) => line.with(Role::Added, &format!("  {count} matches")),
            Verdict::EachItem(count) => {
                line.with(Role::Dim, &arrow).with(Role::Plain, &format!("each of {}", plural(*count, "value")))
            }
            Verdict::Kept => line.with(Role::Added, "  kept"),
            Verdict::Dropped(reason) => line.with(Role::Removed, &format!("  dropped: {reason}")),
            Verdict::Failed => line.with(Role::Alarm, "  failed"),
        }
    }

    fn value(&self, value: &TraceValue, room: usize) -> String {
        match value {
            TraceValue::Node(node) if node.size() > LARGEST_SHOWN => described(node),
            TraceValue::Node(node) => self.cut(&to_inline(node), room),
            TraceValue::Resource(path) => self.cut(path, room),
            TraceValue::List(count) => format!("a list of {count}"),
            TraceValue::Map(count) => format!("a map of {count}"),
            TraceValue::Everything => "all resources".to_owned(),
        }
    }

    fn cut(&self, text: &str, room: usize) -> String {
        let room = room.max(12);
        if columns(text) > room && !self.style.is_verbose() {
            return cut_middle(text, room, self.style.symbols().ellipsis).unwrap_or_else(|| text.to_owned());
        }
        text.to_owned()
    }
}

fn described(node: &Node) -> String {
    match &node.value {
        Value::List(list) => format!("a list of {}", list.items().len()),
        Value::Map(map) => format!("a map of {}", map.len()),
        _ => to_inline(node),
    }
}

/// The kind of step, if the text does not show it.
fn word(kind: TraceKind) -> &'static str {
    match kind {
        TraceKind::Path | TraceKind::Segment | TraceKind::Filter | TraceKind::Test => "",
        TraceKind::Function => "function",
        TraceKind::Variable => "variable",
        TraceKind::Computed => "computed value of",
        TraceKind::Item => "item",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{self, Format};
    use crate::expression::eval::{Form, MemoryTree, Question, Tree, evaluate};
    use crate::limits::Limits;
    use crate::path::{LogicalPath, RepoPath};
    use crate::text::{SourceText, Sources};

    fn traced(payload: &str, expression: &str, style: Style) -> String {
        let sources = Sources::default();
        let parse = |text: &str| {
            let source = sources.add(SourceText::new(RepoPath::root(), "", text));
            document::parse(text, source, Format::Yaml, &Limits::default()).value.remove(0).root
        };
        let tree = MemoryTree::default().with(&LogicalPath::parse("/shop").unwrap(), parse(payload));
        let current = tree.by_path("/shop").unwrap();
        let (expression, limits) = (parse(expression), Limits::default());
        let question = Question { current, tree: &tree, vars: &[], form: Form::All, tracing: true, limits: &limits };
        let answer = evaluate(&expression, &question);
        let mut out = Vec::new();
        write(&answer.trace.unwrap(), &style, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_candidate_says_why_it_stays_or_goes() {
        let shown =
            traced("services: [{name: api, ports: [80]}, {name: cron}]", "services::[ports]::name", Style::default());
        assert_eq!(
            shown,
            "\
services::[ports]::name  1 match
  services  of /shop → [{name: api, ports: [80]}, {name: cron}]
    [ports]  of [{name: api, ports: [80]}, {name: cron}] → each of 2 values
      [ports]  of {name: api, ports: [80]} → {name: api, ports: [80]}
        [ports]  of {name: api, ports: [80]}  kept
          ports  of {name: api, ports: [80]} → [80]
        name  of {name: api, ports: [80]} → api
      [ports]  of {name: cron}  dropped: does not pass
        [ports]  of {name: cron}  dropped: does not hold
          ports  of {name: cron}  dropped: has no such key
"
        );
    }

    #[test]
    fn functions_variables_and_computed_values_are_named() {
        let payload = "{port: 80, url: {eval: {concat: [x, {eval: port}]}}}";
        let style = Style { ascii: true, ..Style::default() };
        let shown = traced(payload, "{eval: '$u', vars: {u: {eval: url}}}", style);
        for part in ["variable u -> x80", "function concat -> x80", "computed value of /shop", "url  of /shop -> x80"] {
            assert!(shown.contains(part), "{part} is not in\n{shown}");
        }
    }

    #[test]
    fn nothing_in_it_steers_a_terminal() {
        let shown = traced("{\"a\\u001b[31m\": \"\\u202e\"}", "\"a\\u001b[31m\"", Style::default());
        assert!(!shown.contains(['\x1b', '\u{202e}']), "{shown:?}");
        let shown = traced("{a: {b: \"\\u001b]0;x\\u0007\"}}", "a::b", Style::default());
        assert!(!shown.contains(['\x1b', '\x07']), "{shown:?}");
    }
}
