//! CEL, the language of patch specifications: compiled once, evaluated many times, with a budget and nothing but its inputs.
//!
//! [`Program::compile`] reads an expression and [`Program::evaluate`] runs it. No type of the foreign crate leaves this folder.

mod bounded;
mod budget;
mod environment;
mod failure;
mod functions;
mod given;
mod guard;
mod made;
mod names;
mod program;
mod two_variables;
mod uses;

pub use failure::{Failure, FailureKind};
pub use program::{Computed, Inputs, Program};

#[cfg(test)]
mod tests;
