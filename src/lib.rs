//! outcrop shows what a commit really changes in a git repository of declarative configuration.
//!
//! The modules stand in the order the data flows, and that order is the law: a module uses only modules declared above it.
//! Everything above [`shell`] is pure: bytes come in through a [`source::Snapshot`], text goes out through a `Write`.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use the machine"))]

// Nouns: what every stage may speak of.
pub mod sanitize;
pub mod path;
pub mod names;
pub mod glob;
pub mod suggest;
pub mod text;
pub mod percent;
pub mod scan;
pub mod memo;
pub mod parallel;
pub mod value;
pub mod finding;
pub mod limits;
pub mod schema;

// Stages, for one snapshot.
pub mod snapshot;
pub mod document;
pub mod edit;
pub mod decode;
pub mod settings;
pub mod directive;
pub mod metadata;
pub mod expression;
pub mod patch;
pub mod resource;
pub mod secrets;
pub mod request;
pub mod layout;
pub mod side;

// Stages, for two snapshots.
pub mod impact;
pub mod diff;
pub mod rules;
pub mod comparison;
pub mod explain;

// Out.
pub mod report;
pub mod shell;

#[cfg(test)]
mod testing;
