//! Where values come from: for each a ladder of layers, from the weakest up to the one that has the last word.

use std::io;

use smol_str::SmolStr;

use super::locate::Locator;
use super::paint::{Line, Role, Screen, columns, cut_middle};
use super::style::Style;
use super::tally::plural;
use super::token::Tokens;
use crate::document::write::to_inline;
use crate::path::Pointer;
use crate::text::{Sources, Span};
use crate::value::{Entry, Node, Number, Value};

/// Everything there is to say about where the values of a path come from.
#[derive(Debug)]
pub struct Explanation {
    /// The path, as people call it.
    pub path: String,
    /// The revision it was looked up in.
    pub revision: SmolStr,
    /// The layers that speak for it, weakest first.
    pub layers: Vec<LayerName>,
    /// One for each value.
    pub ladders: Vec<Ladder>,
    /// How many values hold only because nobody says anything about them.
    pub only_defaults: usize,
    /// A place for what nobody wrote.
    pub nowhere: Span,
}

/// A layer and its file.
#[derive(Debug)]
pub struct LayerName {
    /// Whom it speaks for.
    pub selector: String,
    /// Where it is written.
    pub file: String,
    /// Whether it speaks for all below, not for the resource alone.
    pub is_collection: bool,
}

/// What the layers say about one value.
#[derive(Debug)]
pub struct Ladder {
    /// What it is, dotted.
    pub name: SmolStr,
    /// Its place in a canonical document.
    pub pointer: Pointer,
    /// What is said, weakest first; the last one counts.
    pub rungs: Vec<Rung>,
}

/// What one layer says about a value.
#[derive(Debug)]
pub struct Rung {
    /// Whom the layer speaks for; nobody in particular for defaults.
    pub origin: Option<String>,
    /// Where it is written; defaults are written nowhere.
    pub at: Option<Span>,
    /// What it says.
    pub spoken: Spoken,
}

/// What can be said about a value.
#[derive(Debug)]
pub enum Spoken {
    /// This is it.
    Value(Node),
    /// What was said before does not count.
    Cleared,
    /// What was said before does not count, because the map around it is empty here.
    Emptied,
}

/// Columns before a value.
const INDENT: usize = 4;

/// Writes it for people.
pub fn write(explanation: &Explanation, sources: &Sources, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut screen = Screen::new(out, style);
    let heading = Line::default().with(Role::Heading, &explanation.path);
    screen.line(heading.with(Role::Dim, &format!("  metadata, {}", explanation.revision)))?;
    write_layers(explanation, style, &mut screen)?;
    let mut drawer = Drawer { locator: Locator::new(sources), tokens: Tokens::default(), style };
    for ladder in &explanation.ladders {
        screen.blank()?;
        screen.line(Line::default().with(Role::Path, &ladder.name))?;
        for line in drawer.rungs(ladder) {
            screen.line(line)?;
        }
    }
    if explanation.ladders.is_empty() && explanation.only_defaults == 0 {
        screen.blank()?;
        screen.line(Line::default().with(Role::Dim, "no layer says anything about this"))?;
    }
    if explanation.only_defaults > 0 {
        let values = plural(explanation.only_defaults, "more value");
        screen.blank()?;
        let hint = format!("{values} nobody sets; name a POINTER to see the defaults");
        screen.line(Line::default().with(Role::Dim, &hint))?;
    }
    Ok(())
}

fn write_layers(explanation: &Explanation, style: &Style, screen: &mut Screen<'_>) -> io::Result<()> {
    if explanation.layers.is_empty() {
        return screen.line(Line::indented(2).with(Role::Dim, "no layer speaks for it"));
    }
    let widest = explanation.layers.iter().map(|layer| columns(&layer.selector)).max().unwrap_or(0);
    let widest = widest.min(style.columns() / 2);
    for layer in &explanation.layers {
        let line = Line::indented(2).with(Role::Plain, &layer.selector).padded(2 + widest);
        let what = if layer.is_collection { "" } else { "  (itself)" };
        screen.line(line.with(Role::Dim, &format!("  {}{what}", layer.file)))?;
    }
    Ok(())
}

struct Drawer<'a> {
    locator: Locator<'a>,
    tokens: Tokens,
    style: &'a Style,
}

impl Drawer<'_> {
    fn rungs(&mut self, ladder: &Ladder) -> Vec<Line> {
        let last = ladder.rungs.len().saturating_sub(1);
        let rungs = ladder.rungs.iter().enumerate();
        let values: Vec<String> = rungs.map(|(at, rung)| self.value(rung, at == last)).collect();
        let room = self.style.columns();
        let widest = values.iter().map(|value| columns(value)).max().unwrap_or(0).min(room * 3 / 5);
        let mut lines = Vec::new();
        for (at, (rung, value)) in ladder.rungs.iter().zip(values).enumerate() {
            let wins = at == last;
            let shown = cut_middle(&value, widest, self.style.symbols().ellipsis).filter(|_| !self.style.is_verbose());
            let indent = Line::indented(INDENT - 2);
            let (line, role) = match wins {
                true => (indent.with(Role::Added, self.style.symbols().winner), Role::Heading),
                false => (indent, Role::Struck),
            };
            let value = line.padded(INDENT).with(role, &shown.unwrap_or(value));
            let place = self.place(rung);
            let value = value.padded(INDENT + widest + 2);
            if value.width() + columns(&place) <= room || self.style.is_verbose() {
                lines.push(value.with(Role::Dim, &place));
            } else {
                lines.push(value);
                lines.push(Line::indented(INDENT + 2).with(Role::Dim, &place));
            }
        }
        lines
    }

    /// The value on one line; one that does not count is struck through, with characters where there is no colour.
    fn value(&mut self, rung: &Rung, wins: bool) -> String {
        let value = match &rung.spoken {
            Spoken::Value(node) => to_inline(&self.tokens.masked(node)),
            Spoken::Cleared => "null".to_owned(),
            Spoken::Emptied => "(empty)".to_owned(),
        };
        if wins || self.style.color { value } else { format!("~~{value}~~") }
    }

    fn place(&mut self, rung: &Rung) -> String {
        let note = match rung.spoken {
            Spoken::Value(_) => "",
            Spoken::Cleared | Spoken::Emptied => "  (clears it)",
        };
        match rung.at {
            Some(span) => {
                let place = self.locator.start(span);
                format!("{}:{}{note}", place.text.path, place.line)
            }
            None => format!("default{note}"),
        }
    }
}

/// The same for programs.
pub fn to_node(explanation: &Explanation, sources: &Sources) -> Node {
    let nowhere = explanation.nowhere;
    let text = |text: &str| Node::text(text, nowhere);
    let map = |entries: Vec<(&str, Node)>| {
        Node::map(entries.into_iter().map(|(name, node)| Entry::named(name, nowhere, node)).collect(), nowhere)
    };
    let mut tokens = Tokens::default();
    let mut locator = Locator::new(sources);
    let layers = explanation
        .layers
        .iter()
        .map(|layer| map(vec![("selector", text(&layer.selector)), ("file", text(&layer.file))]));
    let layers = layers.collect();
    let mut values = Vec::new();
    for ladder in &explanation.ladders {
        let mut rungs = Vec::new();
        for rung in &ladder.rungs {
            let mut entries = vec![("layer", text(rung.origin.as_deref().unwrap_or("defaults")))];
            if let Some(span) = rung.at {
                let place = locator.start(span);
                let line = Number::from_json(&place.line.to_string()).map_or(Value::Null, Value::Number);
                entries.push(("file", text(&place.text.path.to_string())));
                entries.push(("line", Node::new(line, nowhere)));
            }
            match &rung.spoken {
                Spoken::Value(node) => entries.push(("value", tokens.masked(node))),
                Spoken::Cleared | Spoken::Emptied => {
                    entries.push(("cleared", Node::new(Value::Bool(true), nowhere)));
                }
            }
            rungs.push(map(entries));
        }
        values.push(map(vec![("pointer", text(&ladder.pointer.to_string())), ("rungs", Node::list(rungs, nowhere))]));
    }
    map(vec![
        ("path", text(&explanation.path)),
        ("revision", text(&explanation.revision)),
        ("layers", Node::list(layers, nowhere)),
        ("values", Node::list(values, nowhere)),
    ])
}
