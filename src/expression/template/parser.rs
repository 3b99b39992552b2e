//! Reads the words of a template into its parts, and gives every variable a slot of its own.

use std::ops::Range;

use smol_str::SmolStr;

use super::functions;
use super::lexer::{Chunk, Token, TokenKind, chunks};
use super::refuse;
use super::syntax::{Command, Operand, OperandKind, Pipeline, Slot, Syntax, TemplateNode};
use crate::finding::Refusal;
use crate::sanitize;
use crate::suggest;
use crate::template_words::KEYWORDS;

/// Levels of nesting of blocks and brackets.
const DEEPEST: usize = 40;

/// Reads a template.
pub(super) fn parse(text: &str) -> Result<Syntax, Refusal> {
    let chunks = chunks(text)?;
    let mut parser = Parser { text, chunks: chunks.into_iter(), names: Vec::new(), slots: 0, depth: 0 };
    let (nodes, end) = parser.nodes()?;
    match end {
        None => Ok(Syntax { nodes, slots: parser.slots }),
        Some(end) => Err(refuse(end.at, "this closes nothing").help("remove it, or open a block before it")),
    }
}

struct Parser<'t> {
    text: &'t str,
    chunks: std::vec::IntoIter<Chunk>,
    /// Variables in reach, the latest last.
    names: Vec<(SmolStr, Slot)>,
    slots: usize,
    depth: usize,
}

/// The action that ended a sequence of parts: `else`, `else if …` or `end`.
struct End {
    words: Vec<Token>,
    at: Range<usize>,
}

impl Parser<'_> {
    /// Nodes up to an `else`, an `end` or the end of the text.
    fn nodes(&mut self) -> Result<(Vec<TemplateNode>, Option<End>), Refusal> {
        let mut nodes = Vec::new();
        while let Some(chunk) = self.chunks.next() {
            let (words, at) = match chunk {
                Chunk::Text(text) => {
                    nodes.push(TemplateNode::Text(text));
                    continue;
                }
                Chunk::Action(words, at) => (words, at),
            };
            match keyword(&words) {
                Some("else" | "end") => return Ok((nodes, Some(End { words, at }))),
                Some("if") => nodes.push(self.block(at.clone(), |parser| parser.conditional(&words[1..], at))?),
                Some("with") => nodes.push(self.block(at.clone(), |parser| parser.with(&words[1..], at))?),
                Some("range") => nodes.push(self.block(at.clone(), |parser| parser.range(&words[1..], at))?),
                Some(other) => {
                    let message = format!("`{other}` is not supported");
                    return Err(refuse(at, message).help("templates here have no parts of their own to call"));
                }
                None => nodes.push(self.action(&words, at)?),
            }
        }
        Ok((nodes, None))
    }

    /// A block: its variables are forgotten at its end.
    fn block<T>(&mut self, at: Range<usize>, read: impl FnOnce(&mut Self) -> Result<T, Refusal>) -> Result<T, Refusal> {
        if self.depth == DEEPEST {
            return Err(refuse(at, "blocks are nested too deeply"));
        }
        self.depth += 1;
        let known = self.names.len();
        let block = read(self);
        self.names.truncate(known);
        self.depth -= 1;
        block
    }

    fn conditional(&mut self, words: &[Token], at: Range<usize>) -> Result<TemplateNode, Refusal> {
        let mut branches = Vec::new();
        let mut words = words.to_vec();
        let mut place = at.clone();
        loop {
            let known = self.names.len();
            let (slot, pipe) = self.declared(&words, &place)?;
            let (mut body, end) = self.nodes()?;
            self.names.truncate(known);
            // The condition's variable holds its value within the branch.
            if let Some(slot) = slot {
                body.insert(0, TemplateNode::Assign(slot, pipe.clone()));
            }
            branches.push((pipe, body));
            let end = end.ok_or_else(|| not_ended(&at))?;
            match continuation(&end)? {
                Next::End => return Ok(TemplateNode::If(branches, Vec::new())),
                Next::Else => return Ok(TemplateNode::If(branches, self.last_branch(&at)?)),
                Next::ElseIf => (words, place) = (end.words[2..].to_vec(), end.at),
            }
        }
    }

    fn with(&mut self, words: &[Token], at: Range<usize>) -> Result<TemplateNode, Refusal> {
        let known = self.names.len();
        let (slot, pipe) = self.declared(words, &at)?;
        let (body, end) = self.nodes()?;
        self.names.truncate(known);
        let otherwise = self.otherwise(end, &at)?;
        Ok(TemplateNode::With(slot, pipe, body, otherwise))
    }

    fn range(&mut self, words: &[Token], at: Range<usize>) -> Result<TemplateNode, Refusal> {
        let (names, rest) = match words {
            [first, comma, second, declare, rest @ ..]
                if matches!(comma.kind, TokenKind::Comma) && matches!(declare.kind, TokenKind::Declare) =>
            {
                ([Some(first), Some(second)], rest)
            }
            [only, declare, rest @ ..] if matches!(declare.kind, TokenKind::Declare) => ([None, Some(only)], rest),
            rest => ([None, None], rest),
        };
        let pipe = self.pipe(rest, &at)?;
        let mut slots = [None, None];
        for (slot, name) in slots.iter_mut().zip(names) {
            *slot = name.map(|token| self.declare(token)).transpose()?;
        }
        let (body, end) = self.nodes()?;
        let otherwise = self.otherwise(end, &at)?;
        Ok(TemplateNode::Range(slots, pipe, body, otherwise))
    }

    /// The nodes between `else` and `end`, after the first part of a block.
    fn otherwise(&mut self, end: Option<End>, at: &Range<usize>) -> Result<Vec<TemplateNode>, Refusal> {
        let end = end.ok_or_else(|| not_ended(at))?;
        match continuation(&end)? {
            Next::End => Ok(Vec::new()),
            Next::Else => self.last_branch(at),
            Next::ElseIf => Err(refuse(end.at, "`else if` belongs to an `if`")),
        }
    }

    fn last_branch(&mut self, at: &Range<usize>) -> Result<Vec<TemplateNode>, Refusal> {
        let (nodes, end) = self.nodes()?;
        let end = end.ok_or_else(|| not_ended(at))?;
        match continuation(&end)? {
            Next::End => Ok(nodes),
            _ => Err(refuse(end.at, "a second `else`")),
        }
    }

    /// A value that is written, or a variable that is set.
    fn action(&mut self, words: &[Token], at: Range<usize>) -> Result<TemplateNode, Refusal> {
        match words {
            [Token { kind: TokenKind::Variable(name, fields), at: place }, assign, rest @ ..]
                if matches!(assign.kind, TokenKind::Assign) && fields.is_empty() =>
            {
                let pipe = self.pipe(rest, &at)?;
                Ok(TemplateNode::Assign(self.slot_of(name, place)?, pipe))
            }
            [_, declare, ..] if matches!(declare.kind, TokenKind::Declare) => {
                let (slot, pipe) = self.declared(words, &at)?;
                Ok(slot.map_or(TemplateNode::Print(pipe.clone()), |slot| TemplateNode::Assign(slot, pipe)))
            }
            _ => Ok(TemplateNode::Print(self.pipe(words, &at)?)),
        }
    }

    /// `$x := pipe`, or a pipe alone.
    fn declared(&mut self, words: &[Token], at: &Range<usize>) -> Result<(Option<Slot>, Pipeline), Refusal> {
        match words {
            [name, declare, rest @ ..] if matches!(declare.kind, TokenKind::Declare) => {
                let pipe = self.pipe(rest, at)?;
                Ok((Some(self.declare(name)?), pipe))
            }
            _ => Ok((None, self.pipe(words, at)?)),
        }
    }

    fn declare(&mut self, token: &Token) -> Result<Slot, Refusal> {
        match &token.kind {
            TokenKind::Variable(name, fields) if !name.is_empty() && fields.is_empty() => {
                self.names.push((name.clone(), self.slots));
                self.slots += 1;
                Ok(self.slots - 1)
            }
            _ => Err(refuse(token.at.clone(), "only a variable such as `$x` can be set")),
        }
    }

    fn slot_of(&self, name: &SmolStr, at: &Range<usize>) -> Result<Slot, Refusal> {
        let known = self.names.iter().rev().find(|(known, _)| known == name);
        known.map(|(_, slot)| *slot).ok_or_else(|| refuse(at.clone(), format!("there is no variable `${name}` here")))
    }

    fn pipe(&mut self, words: &[Token], at: &Range<usize>) -> Result<Pipeline, Refusal> {
        let mut rest = words.iter().cloned().peekable();
        let pipe = self.commands(&mut rest, at)?;
        match rest.next() {
            None => Ok(pipe),
            Some(token) => Err(refuse(token.at, "a bracket that opens nowhere")),
        }
    }

    /// Commands up to a closing bracket or the end.
    fn commands(&mut self, words: &mut Words<'_>, at: &Range<usize>) -> Result<Pipeline, Refusal> {
        let mut commands = vec![self.command(words, at)?];
        while words.next_if(|token| matches!(token.kind, TokenKind::Pipe)).is_some() {
            commands.push(self.command(words, at)?);
        }
        for command in &commands[1..] {
            if !matches!(command.words[0].kind, OperandKind::Function(_)) {
                let message = "a function that takes the value before it must follow `|`";
                return Err(refuse(command.at.clone(), message));
            }
        }
        let place = commands[0].at.start..commands[commands.len() - 1].at.end;
        Ok(Pipeline { commands, at: place })
    }

    fn command(&mut self, words: &mut Words<'_>, at: &Range<usize>) -> Result<Command, Refusal> {
        let mut operands: Vec<Operand> = Vec::new();
        while let Some(token) = words.next_if(|token| !matches!(token.kind, TokenKind::Pipe | TokenKind::Close)) {
            let operand = self.operand(token, words, operands.is_empty())?;
            operands.push(operand);
        }
        let (Some(first), Some(last)) = (operands.first(), operands.last()) else {
            return Err(refuse(at.clone(), "a value is missing"));
        };
        let place = first.at.start..last.at.end;
        if operands.len() > 1 && !matches!(first.kind, OperandKind::Function(_)) {
            return Err(if is_bare_name(self.text, first) {
                unknown_function(&self.text[first.at.clone()], &first.at)
            } else {
                refuse(operands[1].at.clone(), "two values without a function before them")
            });
        }
        Ok(Command { words: operands, at: place })
    }

    fn operand(&mut self, token: Token, words: &mut Words<'_>, is_first: bool) -> Result<Operand, Refusal> {
        let at = token.at;
        let operand = |kind, path| Operand { kind, path, at: at.clone() };
        Ok(match token.kind {
            TokenKind::Field(path) => operand(OperandKind::Dot, path),
            TokenKind::Variable(name, path) if name.is_empty() => operand(OperandKind::Root, path),
            TokenKind::Variable(name, path) => operand(OperandKind::Variable(self.slot_of(&name, &at)?), path),
            TokenKind::Ancestor(levels, path) => operand(OperandKind::Ancestor(levels), path),
            TokenKind::Pointer(path) => operand(OperandKind::Root, path),
            TokenKind::Text(text) => operand(OperandKind::Text(text), Vec::new()),
            TokenKind::Number(number) => operand(OperandKind::Number(number), Vec::new()),
            TokenKind::Name(name) => match name.as_str() {
                "true" => operand(OperandKind::Bool(true), Vec::new()),
                "false" => operand(OperandKind::Bool(false), Vec::new()),
                "nil" | "null" => operand(OperandKind::Null, Vec::new()),
                name if functions::is_known(name) && is_first => {
                    operand(OperandKind::Function(name.into()), Vec::new())
                }
                // A bare name is a field of what the template was given.
                name => operand(OperandKind::Root, vec![name.into()]),
            },
            TokenKind::Open => self.group(at, words)?,
            TokenKind::Declare | TokenKind::Assign | TokenKind::Comma | TokenKind::Pipe | TokenKind::Close => {
                return Err(refuse(at, "this does not belong here"));
            }
        })
    }

    fn group(&mut self, open: Range<usize>, words: &mut Words<'_>) -> Result<Operand, Refusal> {
        let pipe = self.block(open.clone(), |parser| parser.commands(words, &open))?;
        let Some(close) = words.next_if(|token| matches!(token.kind, TokenKind::Close)) else {
            return Err(refuse(open, "a bracket is not closed"));
        };
        let mut end = close.at.end;
        let mut path = Vec::new();
        // Fields belong to the bracket if they touch it.
        if let Some(Token { kind: TokenKind::Field(fields), at }) = words
            .next_if(|token| token.at.start == end && matches!(&token.kind, TokenKind::Field(path) if !path.is_empty()))
        {
            (path, end) = (fields, at.end);
        }
        Ok(Operand { kind: OperandKind::Group(Box::new(pipe)), path, at: open.start..end })
    }
}

type Words<'w> = std::iter::Peekable<std::iter::Cloned<std::slice::Iter<'w, Token>>>;

enum Next {
    End,
    Else,
    ElseIf,
}

fn continuation(end: &End) -> Result<Next, Refusal> {
    let names: Vec<Option<&str>> = end.words.iter().take(2).map(name_of).collect();
    match (&names[..], end.words.len()) {
        ([Some("end")], 1) => Ok(Next::End),
        ([Some("else")], 1) => Ok(Next::Else),
        ([Some("else"), Some("if")], 3..) => Ok(Next::ElseIf),
        _ => Err(refuse(end.at.clone(), "neither `end` nor `else` takes a value")),
    }
}

fn not_ended(at: &Range<usize>) -> Refusal {
    refuse(at.clone(), "a block is not ended").help("end it with `{{end}}`")
}

/// The keyword that an action begins with.
fn keyword(words: &[Token]) -> Option<&str> {
    let name = name_of(words.first()?)?;
    // Alone, `template` or `block` can only be a field.
    let is_field = words.len() == 1 && matches!(name, "template" | "block" | "define");
    KEYWORDS.contains(&name).then_some(name).filter(|_| !is_field)
}

fn name_of(token: &Token) -> Option<&str> {
    match &token.kind {
        TokenKind::Name(name) => Some(name),
        _ => None,
    }
}

fn is_bare_name(text: &str, operand: &Operand) -> bool {
    matches!(operand.kind, OperandKind::Root)
        && text[operand.at.clone()].starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn unknown_function(name: &str, at: &Range<usize>) -> Refusal {
    let refusal = refuse(at.clone(), format!("there is no function `{}`", sanitize::inline(name)));
    match suggest::nearest(name, functions::names()) {
        Some(near) => refusal.help(format!("did you mean `{near}`?")),
        None => refusal,
    }
}
