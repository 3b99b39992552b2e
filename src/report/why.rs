//! Where every value of a document comes from: the place it is written at, what brought it here, and what it overrides.

use std::io;

use super::Style;
use super::locate::Locator;
use super::paint::{Line, Role, Screen};
use super::place;
use crate::diff::PathStep;
use crate::document::write::to_inline;
use crate::text::{Sources, Span};
use crate::value::{Node, Step, Value};

/// Writes one entry per value that is not a map or a list, in the order of the document.
pub fn write(root: &Node, sources: &Sources, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut page = Page { locator: Locator::new(sources), screen: Screen::new(out, style), style };
    page.node(root, &mut Vec::new(), &mut Vec::new())
}

struct Page<'a> {
    locator: Locator<'a>,
    screen: Screen<'a>,
    style: &'a Style,
}

impl<'a> Page<'a> {
    fn node(&mut self, node: &'a Node, path: &mut Vec<PathStep>, steps: &mut Vec<&'a Step>) -> io::Result<()> {
        let known = steps.len();
        // Steps are kept where a part was grafted, so the way of a deep value is the sum of those on the way down.
        steps.extend(node.step().map(Step::chain).unwrap_or_default());
        match &node.value {
            Value::Map(map) if !map.is_empty() => {
                for entry in map.entries() {
                    path.push(PathStep::Key(entry.key.clone()));
                    self.node(&entry.value, path, steps)?;
                    path.pop();
                }
            }
            Value::List(list) if !list.items().is_empty() => {
                for (index, item) in list.items().iter().enumerate() {
                    path.push(PathStep::Item { before: None, after: Some(index), label: None });
                    self.node(item, path, steps)?;
                    path.pop();
                }
            }
            _ => self.value(node, path, steps)?,
        }
        steps.truncate(known);
        Ok(())
    }

    fn value(&mut self, node: &Node, path: &[PathStep], steps: &[&Step]) -> io::Result<()> {
        let symbols = self.style.symbols();
        let name = if path.is_empty() { ".".to_owned() } else { place::display(path, symbols) };
        let at = self.place(node.span);
        let line = Line::default().with(Role::Heading, &name).with(Role::Plain, "  ");
        self.screen.line(line.with(Role::Plain, &to_inline(node)).with(Role::Dim, &format!("  {at}")))?;
        for step in steps {
            let text = format!("through {} at {}", step.kind.name(), self.place(step.at));
            self.screen.line(Line::indented(4).with(Role::Dim, &text))?;
        }
        let overridden = std::iter::successors(node.overridden(), |node| node.overridden());
        for loser in overridden {
            let text = format!("overrides {} at {}", to_inline(loser), self.place(loser.span));
            self.screen.line(Line::indented(4).with(Role::Dim, &text))?;
        }
        Ok(())
    }

    fn place(&mut self, span: Span) -> String {
        let start = self.locator.start(span);
        format!("{}:{}:{}", start.text.path, start.line, start.column)
    }
}
