//! Includes: loading the files they name, and adding them to the document.

mod load;
mod repository;
mod resolve;

pub use load::Includes;
