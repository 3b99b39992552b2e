//! Renders a template by walking its syntax tree; every step is counted, so that rendering ends.

use smol_str::SmolStr;

use super::functions::{LONGEST_TEXT, call, is_true};
use super::print::scalar_text;
use super::syntax::{Command, Operand, OperandKind, Pipeline, Slot, Syntax, TemplateNode};
use super::{Purpose, Rendered, Scope, Use, limit, refuse};
use crate::finding::Refusal;
use crate::sanitize;
use crate::text::Span;
use crate::value::{Entry, Node, Number, Value, list_index};

/// Steps of one rendering: one for every node, round and function, and more for long texts.
pub(super) const MOST_STEPS: u64 = 200_000;
/// Rounds that `range` makes over one value.
const MOST_ROUNDS: usize = 10_000;

/// One rendering.
pub(super) struct Run<'a> {
    /// The template's text, for messages.
    text: &'a str,
    scope: &'a Scope,
    purpose: Purpose,
    /// The value of `.`; none while it is the root.
    dot: Option<Node>,
    variables: Vec<Option<Node>>,
    rendered: Rendered,
    steps: u64,
}

/// Renders a template; gives also how many steps it took.
pub(super) fn run(text: &str, syntax: &Syntax, scope: &Scope, purpose: Purpose) -> (Result<Rendered, Refusal>, u64) {
    let variables = vec![None; syntax.slots];
    let mut run = Run { text, scope, purpose, dot: None, variables, rendered: Rendered::default(), steps: 0 };
    let result = run.nodes(&syntax.nodes);
    (result.map(|()| run.rendered), run.steps)
}

impl Run<'_> {
    fn nodes(&mut self, nodes: &[TemplateNode]) -> Result<(), Refusal> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &TemplateNode) -> Result<(), Refusal> {
        self.spend(1)?;
        match node {
            TemplateNode::Text(text) => self.write(text, None),
            TemplateNode::Print(pipeline) => {
                let value = self.pipeline(pipeline)?;
                let text = self.printed(pipeline, &value)?;
                self.write(&text, Some(pipeline))
            }
            TemplateNode::Assign(slot, pipeline) => {
                let value = self.pipeline(pipeline)?;
                self.assign(Some(*slot), &value);
                Ok(())
            }
            TemplateNode::If(branches, otherwise) => {
                for (condition, body) in branches {
                    if is_true(&self.pipeline(condition)?) {
                        return self.nodes(body);
                    }
                }
                self.nodes(otherwise)
            }
            TemplateNode::With(slot, pipeline, body, otherwise) => {
                let value = self.pipeline(pipeline)?;
                self.assign(*slot, &value);
                if is_true(&value) { self.with_dot(value, body) } else { self.nodes(otherwise) }
            }
            TemplateNode::Range([key, value], pipeline, body, otherwise) => {
                let rounds = self.rounds(pipeline)?;
                if rounds.is_empty() {
                    return self.nodes(otherwise);
                }
                for (position, item) in rounds {
                    self.spend(1)?;
                    self.assign(*key, &position);
                    self.assign(*value, &item);
                    self.with_dot(item, body)?;
                }
                Ok(())
            }
        }
    }

    fn with_dot(&mut self, dot: Node, body: &[TemplateNode]) -> Result<(), Refusal> {
        let outer = self.dot.replace(dot);
        let result = self.nodes(body);
        self.dot = outer;
        result
    }

    fn assign(&mut self, slot: Option<Slot>, value: &Node) {
        if let Some(slot) = slot {
            self.variables[slot] = Some(value.clone());
        }
    }

    fn spend(&mut self, steps: usize) -> Result<(), Refusal> {
        self.steps += steps as u64;
        if self.steps > MOST_STEPS {
            return Err(limit(0..self.text.len(), "the template takes too many steps"));
        }
        Ok(())
    }

    /// The text of a value; in a path it must not be blank.
    fn printed(&self, pipeline: &Pipeline, value: &Node) -> Result<String, Refusal> {
        let unfit = |reason: &str| {
            let shown = sanitize::inline(&self.text[pipeline.at.clone()]).into_owned();
            refuse(pipeline.at.clone(), format!("`{shown}` cannot be written here: {reason}"))
        };
        let text = scalar_text(value).map_err(|reason| unfit(&reason))?;
        if self.purpose == Purpose::Path && text.trim_matches(|c: char| c == '/' || c.is_whitespace()).is_empty() {
            let help = "a blank would turn a request of one resource into one of its collection";
            return Err(unfit("it is blank").help(help));
        }
        Ok(text)
    }

    fn write(&mut self, text: &str, from: Option<&Pipeline>) -> Result<(), Refusal> {
        let from = from.map(|pipeline| pipeline.at.clone());
        let start = self.rendered.text.len();
        if start + text.len() > LONGEST_TEXT {
            return Err(limit(from.unwrap_or(0..self.text.len()), "the rendered text is too long"));
        }
        self.spend(text.len() / 32)?;
        self.rendered.text.push_str(text);
        self.rendered.values.extend(from.map(|from| (start..start + text.len(), from)));
        Ok(())
    }

    /// What `range` iterates over, with keys: items, members in the order of their names, or the numbers below a number.
    fn rounds(&mut self, pipeline: &Pipeline) -> Result<Vec<(Node, Node)>, Refusal> {
        let value = self.pipeline(pipeline)?;
        let generated = value.span.start_only();
        let number = |position: usize| {
            let number = Number::from_json(&position.to_string()).expect("a position is a number");
            Node::new(Value::Number(number), generated)
        };
        let rounds: Vec<(Node, Node)> = match &value.value {
            Value::Null => Vec::new(),
            Value::List(list) => {
                let items = list.items().iter().take(MOST_ROUNDS + 1).enumerate();
                items.map(|(position, item)| (number(position), item.clone())).collect()
            }
            Value::Map(map) => {
                let mut entries: Vec<&Entry> = map.entries().iter().collect();
                entries.sort_by(|a, b| a.key.name.cmp(&b.key.name));
                let pair = |entry: &Entry| (Node::text(entry.key.name.clone(), entry.key.span), entry.value.clone());
                entries.into_iter().map(pair).collect()
            }
            Value::Number(count) => {
                let count = count.to_json().and_then(|text| text.parse::<usize>().ok()).unwrap_or(usize::MAX);
                (0..count.min(MOST_ROUNDS + 1)).map(|position| (number(position), number(position))).collect()
            }
            _ => {
                let message = format!("`range` cannot iterate over a {}", value.type_of());
                return Err(refuse(pipeline.at.clone(), message));
            }
        };
        if rounds.len() > MOST_ROUNDS {
            return Err(limit(pipeline.at.clone(), "`range` iterates over too much"));
        }
        Ok(rounds)
    }

    /// The value of a pipeline: that of its last command.
    fn pipeline(&mut self, pipeline: &Pipeline) -> Result<Node, Refusal> {
        let mut value = None;
        for command in &pipeline.commands {
            value = Some(self.command(command, value)?);
        }
        Ok(value.unwrap_or_else(|| self.generated(Value::Null)))
    }

    fn command(&mut self, command: &Command, piped: Option<Node>) -> Result<Node, Refusal> {
        let (first, rest) = command.words.split_first().expect("a command has words");
        let OperandKind::Function(name) = &first.kind else { return self.operand(first) };
        if let "and" | "or" = name.as_str() {
            return self.first_that_decides(name == "or", rest, piped, command);
        }
        let mut arguments = Vec::with_capacity(rest.len() + 1);
        for operand in rest {
            arguments.push(self.operand(operand)?);
        }
        arguments.extend(piped);
        let bytes: usize = arguments.iter().filter_map(Node::as_str).map(str::len).sum();
        self.spend(1 + bytes / 256)?;
        call(name, &arguments, self.scope, self.generated_span())
            .map_err(|reason| refuse(command.at.clone(), format!("{}: {reason}", self.quoted(command.at.clone()))))
    }

    /// The first argument that is true (for `or`) or false (for `and`), or the last one; the rest is not evaluated.
    fn first_that_decides(
        &mut self,
        wanted: bool,
        operands: &[Operand],
        piped: Option<Node>,
        command: &Command,
    ) -> Result<Node, Refusal> {
        let mut last = None;
        for operand in operands {
            let value = self.operand(operand)?;
            if is_true(&value) == wanted {
                return Ok(value);
            }
            last = Some(value);
        }
        piped.or(last).ok_or_else(|| refuse(command.at.clone(), "`and` and `or` take arguments"))
    }

    fn operand(&mut self, operand: &Operand) -> Result<Node, Refusal> {
        let base = match &operand.kind {
            OperandKind::Dot => match &self.dot {
                Some(dot) => dot.clone(),
                None => self.read_root(operand),
            },
            OperandKind::Root => self.read_root(operand),
            OperandKind::Ancestor(levels) => {
                let ancestor = self.scope.ancestors.get(levels - 1).cloned();
                let ancestor = ancestor.ok_or_else(|| self.no_ancestor(operand))?;
                self.note_use(operand, *levels);
                ancestor
            }
            OperandKind::Variable(slot) => {
                let value = self.variables[*slot].clone();
                value.ok_or_else(|| refuse(operand.at.clone(), "the variable has no value here"))?
            }
            OperandKind::Function(name) => return Err(refuse(operand.at.clone(), format!("`{name}` alone"))),
            OperandKind::Text(text) => self.generated(Value::String(text.clone())),
            OperandKind::Number(number) => self.generated(Value::Number(number.clone())),
            OperandKind::Bool(value) => self.generated(Value::Bool(*value)),
            OperandKind::Null => self.generated(Value::Null),
            OperandKind::Group(pipeline) => self.pipeline(pipeline)?,
        };
        operand.path.iter().try_fold(base, |value, key| self.field(&value, key, operand))
    }

    fn read_root(&mut self, operand: &Operand) -> Node {
        self.note_use(operand, 0);
        self.scope.root.clone()
    }

    fn note_use(&mut self, operand: &Operand, level: usize) {
        if !operand.path.is_empty() {
            self.rendered.uses.push(Use { at: operand.at.clone(), level, path: operand.path.clone() });
        }
    }

    fn field(&self, value: &Node, key: &SmolStr, operand: &Operand) -> Result<Node, Refusal> {
        if let Some(value) = value.get(key) {
            return Ok(value.clone());
        }
        if let (Some(items), Some(at)) = (value.as_list(), list_index(key))
            && let Some(item) = items.get(at)
        {
            return Ok(item.clone());
        }
        let (shown, key) = (self.quoted(operand.at.clone()), sanitize::inline(key));
        let reason = match &value.value {
            Value::Map(_) if operand.path.len() == 1 => format!("{shown} is not there"),
            Value::Map(_) => format!("{shown} is not there: there is no `{key}`"),
            _ => format!("{shown} is not there: `{key}` cannot be a field of a {}", value.type_of()),
        };
        Err(refuse(operand.at.clone(), reason))
    }

    fn no_ancestor(&self, operand: &Operand) -> Refusal {
        let above = match self.scope.ancestors.len() {
            0 => "there is no resource above this one".to_owned(),
            1 => "there is only 1 resource above this one".to_owned(),
            count => format!("there are only {count} resources above this one"),
        };
        refuse(operand.at.clone(), format!("{} leads too far up: {above}", self.quoted(operand.at.clone())))
    }

    fn quoted(&self, range: std::ops::Range<usize>) -> String {
        let text: String = self.text[range].chars().take(80).collect();
        format!("`{}`", sanitize::inline(&text))
    }

    fn generated(&self, value: Value) -> Node {
        Node::new(value, self.generated_span())
    }

    /// The span of values that are not written in any file.
    fn generated_span(&self) -> Span {
        self.scope.root.span.start_only()
    }
}
