//! Where values come from: for each a ladder, from the weakest word up to the one that counts.

mod data;
mod requests;
mod terminal;

use smol_str::SmolStr;

pub use data::to_node;
pub use terminal::write;

use super::path_text;
use super::style::Style;
use crate::diff::PathStep;
use crate::path::Pointer;
use crate::request::Request;
use crate::text::Span;
use crate::value::{Node, Step, StepKind};

/// Everything there is to say about where the values of one resource, or of one path, come from.
#[derive(Debug)]
pub struct Explanation {
    /// What is explained, as people call it.
    pub name: String,
    /// The revision it was looked up in.
    pub revision: SmolStr,
    /// What it consists of, in the order of the flow.
    pub parts: Vec<Part>,
    /// How its requests come to be.
    pub requests: Stories,
    /// The place that was meant, if nothing stands where somebody asked.
    pub nearest: Option<Pointer>,
    /// The operation of a patch that took away what somebody asked about.
    pub taken_away: Option<Span>,
    /// A place for what nobody wrote.
    pub nowhere: Span,
}

/// One of the documents that a resource consists of.
#[derive(Debug)]
pub struct Part {
    /// Which.
    pub subject: Subject,
    /// The files it comes from, weakest first.
    pub origins: Vec<Origin>,
    /// One for each value.
    pub ladders: Vec<Ladder>,
    /// How many values have no ladder, because there is nothing to tell about them.
    pub untold: usize,
}

/// The requests of a resource, each with what it is made of.
#[derive(Debug, Default)]
pub struct Stories {
    /// Those that have something to tell, in the order of operations.
    pub told: Vec<Story>,
    /// How many go by the defaults alone.
    pub untold: usize,
}

/// How one request comes to be.
#[derive(Debug)]
pub struct Story {
    /// What would be sent, with the template of every part.
    pub request: Request,
    /// What becomes of its payload on the way, in order: what it is called and what it says.
    pub transforms: Vec<(SmolStr, Node)>,
}

impl Explanation {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.requests.told.is_empty()
    }
}

/// What can be explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// What the resource says.
    Payload,
    /// What its layers say about it.
    Metadata,
}

/// A file and what it has to do with the matter.
#[derive(Debug)]
pub struct Origin {
    /// What it is.
    pub role: Role,
    /// Where it stands.
    pub file: String,
}

/// What a file has to do with a resource.
#[derive(Debug)]
pub enum Role {
    /// The resource is written in it.
    Document,
    /// A directive brings it in, or part of it.
    Included,
    /// Patches in it mean the resource.
    Patches,
    /// Something in it drops the resource.
    Drops,
    /// It speaks for many.
    Collection {
        /// For whom.
        selector: String,
    },
    /// It speaks for the resource alone.
    Own {
        /// For whom.
        selector: String,
    },
}

/// What is said about one value.
#[derive(Debug)]
pub struct Ladder {
    /// What it is, dotted.
    pub name: SmolStr,
    /// Its place in the effective document.
    pub pointer: Pointer,
    /// What is said, weakest first; the last one counts.
    pub rungs: Vec<Rung>,
}

/// What is said about a value at one place.
#[derive(Debug)]
pub struct Rung {
    /// Whom the layer speaks for; nobody in particular where there is no layer.
    pub origin: Option<String>,
    /// Where it is written; defaults are written nowhere.
    pub at: Option<Span>,
    /// What brought it from there.
    pub way: Way,
    /// What is said.
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

/// The steps a value took from where it is written to where it counts.
#[derive(Debug, Default)]
pub struct Way {
    /// What brought it, and where that is written.
    pub steps: Vec<(StepKind, Span)>,
    /// How many more there are; nobody reads a hundred.
    pub left_out: usize,
}

/// A place in a document as ladders name it: `.spec.containers[0].image`.
pub fn place_name(path: &[PathStep]) -> SmolStr {
    path_text::display(path, Style::default().symbols()).into()
}

/// More steps than these are counted, not kept.
const LONGEST_WAY: usize = 20;

impl Way {
    /// The way of a value: its own steps first, then those of the parts it stands in, from the inside out.
    pub fn of<'a>(steps: impl IntoIterator<Item = &'a Step>) -> Self {
        let mut way = Self::default();
        for step in steps.into_iter().flat_map(Step::chain) {
            match way.steps.len() < LONGEST_WAY {
                true => way.steps.push((step.kind, step.at)),
                false => way.left_out += 1,
            }
        }
        way
    }
}

impl Subject {
    /// As people and programs read it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Payload => "payload",
            Self::Metadata => "metadata",
        }
    }
}
