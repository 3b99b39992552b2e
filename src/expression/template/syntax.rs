//! The syntax tree of a template; every part knows its range in the text.

use std::ops::Range;

use smol_str::SmolStr;

use crate::value::Number;

/// A whole template.
#[derive(Debug)]
pub(super) struct Syntax {
    pub(super) nodes: Vec<TemplateNode>,
    /// How many slots its variables need.
    pub(super) slots: usize,
}

/// A text, an action or a block of a template.
#[derive(Debug, Clone)]
pub(super) enum TemplateNode {
    /// Literal text.
    Text(String),
    /// `{{ pipeline }}`: its value is written.
    Print(Pipeline),
    /// `{{ $x := pipeline }}` and `{{ $x = pipeline }}`: its value is kept in a variable.
    Assign(Slot, Pipeline),
    /// `{{ if }} … {{ else if }} … {{ else }} … {{ end }}`.
    If(Vec<(Pipeline, Vec<TemplateNode>)>, Vec<TemplateNode>),
    /// `{{ with }} … {{ else }} … {{ end }}`: the dot is the value, unless it counts as false.
    With(Option<Slot>, Pipeline, Vec<TemplateNode>, Vec<TemplateNode>),
    /// `{{ range $key, $value := pipeline }} … {{ else }} … {{ end }}`: the dot is each item.
    Range([Option<Slot>; 2], Pipeline, Vec<TemplateNode>, Vec<TemplateNode>),
}

/// The number of a variable; two variables of one name have two slots.
pub(super) type Slot = usize;

/// Commands, each given the value of the one before as its last argument.
#[derive(Debug, Clone)]
pub(super) struct Pipeline {
    pub(super) commands: Vec<Command>,
    pub(super) at: Range<usize>,
}

/// A value, or a function and its arguments.
#[derive(Debug, Clone)]
pub(super) struct Command {
    pub(super) words: Vec<Operand>,
    pub(super) at: Range<usize>,
}

/// Something with a value.
#[derive(Debug, Clone)]
pub(super) struct Operand {
    pub(super) kind: OperandKind,
    /// Fields that are read from it: `.a.b`.
    pub(super) path: Vec<SmolStr>,
    pub(super) at: Range<usize>,
}

/// Where an operand's value comes from.
#[derive(Debug, Clone)]
pub(super) enum OperandKind {
    /// `.`: the root, or what the innermost `with` or `range` set it to.
    Dot,
    /// `$`, `/pointer` and bare names: what the template was given.
    Root,
    /// `../`, that many levels up.
    Ancestor(usize),
    /// `$x`.
    Variable(Slot),
    /// A function's name.
    Function(SmolStr),
    Text(SmolStr),
    Number(Number),
    Bool(bool),
    Null,
    /// `( pipeline )`.
    Group(Box<Pipeline>),
}
