//! CEL, the language of patch specifications: compiled once, evaluated many times, with a budget and nothing but its inputs.
//!
//! [`Program::compile`] reads an expression and [`Program::evaluate`] runs it. No type of the foreign crate leaves this folder.

mod budget;
mod environment;
mod failure;
mod free_variables;
mod from_cel;
mod functions;
mod guard;
mod known_functions;
mod metered;
mod names;
mod program;
mod receiver_macros;
mod static_type;
mod to_cel;
mod two_variables;
mod typing;

pub use failure::{Failure, FailureKind};
pub use names::{LABEL, NAME, generate, generate_with, short_hash};
pub use program::{Computed, Inputs, Program, Programs};
pub use receiver_macros::HELPERS;
pub use static_type::StaticType;
pub use typing::{Inferred, TypeProblem, TypeProblemKind, TypeScope, infer};

#[cfg(test)]
mod tests;
