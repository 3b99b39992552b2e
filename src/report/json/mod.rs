//! Reports for programs. Each version of the format has its own file, and once released it only grows.

mod affected;
mod ascii;
pub mod gitlab;
mod group;
mod make;
mod patch;
pub mod sarif;
pub mod v1;
mod value;

pub use affected::{matrix, write_affected};
use ascii::Visible;
pub use patch::write_patches;
pub use v1::{schema, write};

#[cfg(test)]
mod tests;
