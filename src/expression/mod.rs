//! The four expression languages, one folder each. All are pure: whatever they read is passed to them.

mod part_span;

pub mod cel;
pub mod jq;
pub mod eval;
pub mod template;

pub use part_span::part_span;
