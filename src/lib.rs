//! outcrop shows what a commit really changes in a git repository of declarative configuration.
//!
//! The modules stand in the order the data flows, and that order is the law: a module uses only modules declared above it.
//! Everything above [`shell`] is pure: bytes come in through a [`source::Snapshot`], text goes out through a `Write`.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use the machine"))]

// Nouns: what every stage may speak of.
pub mod visible;
pub mod path;
pub mod pattern;
pub mod suggest;
pub mod text;
pub mod value;
pub mod finding;
pub mod limits;
pub mod memo;
pub mod settings;
pub mod shape;

// Stages, in the order the data flows.
pub mod source;
pub mod document;
pub mod config;
pub mod merge;
pub mod layer;
pub mod openapi;
pub mod expression;
pub mod patch;
pub mod resource;
pub mod request;
pub mod compare;
pub mod effective;
pub mod impact;
pub mod diff;
pub mod report;

// Wiring.
pub mod pipeline;
pub mod shell;
