//! Variables and the current resource, as an expression sees them.

use std::cell::RefCell;
use std::rc::Rc;

use smol_str::SmolStr;

use super::datum::Datum;
use super::tree::ResourceId;
use crate::value::Node;

/// What an expression sees beside the tree.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    /// The innermost variables.
    pub(super) frame: Option<Rc<Frame>>,
    pub(super) current: Current,
}

/// What paths start from.
#[derive(Debug, Clone)]
pub(super) struct Current {
    pub(super) datum: Datum,
    /// Whether the ancestors of a resource are searched too; not for the items of a loop.
    pub(super) climbs: bool,
}

/// Variables that were introduced together; they may use each other.
#[derive(Debug)]
pub(super) struct Frame {
    variables: Vec<(SmolStr, RefCell<Variable>)>,
    /// What is current where they are written.
    current: Current,
    outer: Option<Rc<Frame>>,
}

/// A variable is computed when it is first used.
#[derive(Debug, Clone)]
pub(super) enum Variable {
    /// As it is written.
    Written(Node),
    /// In evaluation: reading it now would be a cycle.
    Busy,
    /// Computed.
    Known(Datum),
}

impl Scope {
    /// No variables, and a resource to start from.
    pub(super) fn of(resource: ResourceId) -> Self {
        Self { frame: None, current: Current { datum: Datum::Resource(resource), climbs: true } }
    }

    /// The scope with more variables, which hide others of the same name.
    pub(super) fn with(&self, variables: impl IntoIterator<Item = (SmolStr, Variable)>) -> Self {
        let variables = variables.into_iter().map(|(name, variable)| (name, RefCell::new(variable))).collect();
        let frame = Frame { variables, current: self.current.clone(), outer: self.frame.clone() };
        Self { frame: Some(Rc::new(frame)), current: self.current.clone() }
    }

    /// The scope with another starting value.
    pub(super) fn starting(&self, datum: Datum, climbs: bool) -> Self {
        Self { frame: self.frame.clone(), current: Current { datum, climbs } }
    }

    /// The frame that defines a variable, and its place there.
    pub(super) fn find(&self, name: &str) -> Option<(Rc<Frame>, usize)> {
        let frames = std::iter::successors(self.frame.as_ref(), |frame| frame.outer.as_ref());
        frames.into_iter().find_map(|frame| {
            let at = frame.variables.iter().position(|(own, _)| own == name)?;
            Some((Rc::clone(frame), at))
        })
    }
}

impl Frame {
    /// What the frame's own variables see: each other, and what is current where they are written.
    pub(super) fn scope(self: &Rc<Self>) -> Scope {
        Scope { frame: Some(Rc::clone(self)), current: self.current.clone() }
    }

    /// What is known of a variable.
    pub(super) fn get(&self, at: usize) -> Variable {
        self.variables[at].1.borrow().clone()
    }

    pub(super) fn set(&self, at: usize, variable: Variable) {
        *self.variables[at].1.borrow_mut() = variable;
    }
}
