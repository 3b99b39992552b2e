//! Writes where values come from: for each value its history, from the weakest statement to the one that applies.

mod data;
mod requests;
mod terminal;

pub use data::to_node;
pub use terminal::write;
