//! OpenChoreo: components rendered as its platform renders them, from the documents of a repository.
//!
//! `units.rs` finds the units, `unit.rs` collects what one of them is made of, and `pipeline.rs` renders it. `definition.rs` has the
//! types and traits, `schema.rs` and `shorthand.rs` their values, `context.rs` and `derived.rs` what expressions see.
//! `check/` looks at documents without rendering them.

mod build;
mod cache;
mod check;
mod context;
mod definition;
mod dependencies;
mod derived;
mod endpoint_schema;
mod failure;
mod layout;
mod names;
mod object;
mod objects;
mod pipeline;
mod schema;
mod shorthand;
mod unit;
mod units;

pub use check::{check_change, check_objects};
pub use definition::{DATA_PLANE, Definition};
pub use failure::{RenderFailure, Stage, TemplateTrouble};
pub use layout::OpenChoreo;
pub use object::{KINDS, Object, ObjectName};
pub use pipeline::{RenderInput, render};
pub use schema::{Section, SectionError, SectionPart};
pub use shorthand::{ShorthandError, ShorthandOptions, expand_shorthand};

/// The kinds of objects that hold templates.
pub const DEFINITIONS: [&str; 5] =
    ["ComponentType", "ClusterComponentType", "Trait", "ClusterTrait", "ComponentRelease"];

/// The name of the layout.
const NAME: &str = "openchoreo";

/// Whose rules a rendering follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    /// To about February 2026: schemas in shorthand, several containers.
    First,
    /// Since then.
    Second,
}
