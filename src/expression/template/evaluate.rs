//! The values of pipes, over what the template was given.

use smol_str::SmolStr;

use super::functions::{call, is_true};
use super::syntax::{Command, Operand, OperandKind, Pipe};
use super::{Scope, Trouble, Use};
use crate::sanitize;
use crate::text::Span;
use crate::value::{Node, Value};

/// What a pipe can see.
pub(super) struct Sight<'a> {
    /// The template's text, for messages.
    pub(super) text: &'a str,
    pub(super) scope: &'a Scope,
    pub(super) dot: &'a Node,
    /// Whether the dot is what the template was given.
    pub(super) is_root: bool,
    pub(super) slots: &'a [Option<Node>],
    /// What was read so far.
    pub(super) uses: &'a mut Vec<Use>,
}

impl Sight<'_> {
    /// The value of a pipe: that of its last command.
    pub(super) fn pipe(&mut self, pipe: &Pipe) -> Result<Node, Trouble> {
        let mut value = None;
        for command in &pipe.commands {
            value = Some(self.command(command, value)?);
        }
        Ok(value.unwrap_or_else(|| self.null()))
    }

    fn command(&mut self, command: &Command, piped: Option<Node>) -> Result<Node, Trouble> {
        let (first, rest) = command.words.split_first().expect("a command has words");
        let OperandKind::Function(name) = &first.kind else { return self.operand(first) };
        if let "and" | "or" = name.as_str() {
            return self.until(name == "or", rest, piped, command);
        }
        let mut arguments = Vec::with_capacity(rest.len() + 1);
        for operand in rest {
            arguments.push(self.operand(operand)?);
        }
        arguments.extend(piped);
        call(name, &arguments, &self.scope.format, self.place())
            .map_err(|reason| Trouble::value(command.at.clone(), format!("{}: {reason}", self.shown(&command.at))))
    }

    /// The first argument that is as wanted, or the last; the rest is not even looked at.
    fn until(
        &mut self,
        wanted: bool,
        operands: &[Operand],
        piped: Option<Node>,
        command: &Command,
    ) -> Result<Node, Trouble> {
        let mut last = None;
        for operand in operands {
            let value = self.operand(operand)?;
            if is_true(&value) == wanted {
                return Ok(value);
            }
            last = Some(value);
        }
        piped.or(last).ok_or_else(|| Trouble::value(command.at.clone(), "`and` and `or` take arguments"))
    }

    fn operand(&mut self, operand: &Operand) -> Result<Node, Trouble> {
        let base = match &operand.kind {
            OperandKind::Dot => {
                if self.is_root {
                    self.read(operand, 0);
                }
                self.dot.clone()
            }
            OperandKind::Root => {
                self.read(operand, 0);
                self.scope.root.clone()
            }
            OperandKind::Ancestor(levels) => {
                let above = self.scope.ancestors.get(levels - 1).cloned();
                let Some(above) = above else { return Err(self.no_ancestor(operand)) };
                self.read(operand, *levels);
                above
            }
            OperandKind::Variable(slot) => {
                let value = self.slots.get(*slot).cloned().flatten();
                value.ok_or_else(|| Trouble::value(operand.at.clone(), "the variable has no value here"))?
            }
            OperandKind::Function(name) => return Err(Trouble::value(operand.at.clone(), format!("`{name}` alone"))),
            OperandKind::Text(text) => Node::text(text.clone(), self.place()),
            OperandKind::Number(number) => Node::new(Value::Number(number.clone()), self.place()),
            OperandKind::Bool(value) => Node::new(Value::Bool(*value), self.place()),
            OperandKind::Null => self.null(),
            OperandKind::Group(pipe) => self.pipe(pipe)?,
        };
        operand.path.iter().try_fold(base, |value, key| self.field(&value, key, operand))
    }

    fn field(&self, value: &Node, key: &SmolStr, operand: &Operand) -> Result<Node, Trouble> {
        if let Value::Map(map) = &value.value
            && let Some(value) = map.get(key)
        {
            return Ok(value.clone());
        }
        let (shown, key) = (self.shown(&operand.at), sanitize::inline(key));
        let reason = match &value.value {
            Value::Map(_) if operand.path.len() == 1 => format!("{shown} is not there"),
            Value::Map(_) => format!("{shown} is not there: there is no `{key}`"),
            _ => format!("{shown} is not there: `{key}` cannot be a field of a {}", value.type_of()),
        };
        Err(Trouble::value(operand.at.clone(), reason))
    }

    fn no_ancestor(&self, operand: &Operand) -> Trouble {
        let count = self.scope.ancestors.len();
        let above = match count {
            0 => "no resource stands above this one".to_owned(),
            1 => "only 1 resource stands above this one".to_owned(),
            _ => format!("only {count} resources stand above this one"),
        };
        Trouble::value(operand.at.clone(), format!("{} leads too far up: {above}", self.shown(&operand.at)))
    }

    fn read(&mut self, operand: &Operand, level: usize) {
        if !operand.path.is_empty() {
            self.uses.push(Use { at: operand.at.clone(), level, path: operand.path.clone() });
        }
    }

    fn shown(&self, at: &std::ops::Range<usize>) -> String {
        let text: String = self.text[at.clone()].chars().take(80).collect();
        format!("`{}`", sanitize::inline(&text))
    }

    fn null(&self) -> Node {
        Node::new(Value::Null, self.place())
    }

    /// Where values stand that nobody wrote.
    fn place(&self) -> Span {
        self.scope.root.span.start_only()
    }
}
