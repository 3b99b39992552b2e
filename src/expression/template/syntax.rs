//! What a template is made of, once it is read; everything knows its place in the text.

use std::ops::Range;

use smol_str::SmolStr;

use crate::value::Number;

/// A part of a template.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// Text that stands for itself.
    Text(String),
    /// `{{ pipe }}`: its value is written.
    Put(Pipe),
    /// `{{ $x := pipe }}` and `{{ $x = pipe }}`: its value is kept.
    Keep(Slot, Pipe),
    /// `{{ if }} … {{ else if }} … {{ else }} … {{ end }}`.
    If(Vec<(Pipe, Vec<Part>)>, Vec<Part>),
    /// `{{ with }} … {{ else }} … {{ end }}`: the dot is the value, where there is one.
    With(Option<Slot>, Pipe, Vec<Part>, Vec<Part>),
    /// `{{ range $key, $value := pipe }} … {{ else }} … {{ end }}`: the dot is each item.
    Range([Option<Slot>; 2], Pipe, Vec<Part>, Vec<Part>),
}

/// Where a variable keeps its value; two variables of one name have two slots.
pub(super) type Slot = usize;

/// Commands, each given the value of the one before as its last argument.
#[derive(Debug, Clone)]
pub(super) struct Pipe {
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
    /// `.`, wherever it points at the moment.
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
    /// `( pipe )`.
    Group(Box<Pipe>),
}
