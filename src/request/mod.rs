//! Requests: what an operation on a resource would send. Nothing is ever sent.
//!
//! [`request`] is the door; [`transform`], [`validate`] and [`list`] are its parts that others need alone. All of it is pure: what
//! other resources say comes through [`ResourceLookup`].

mod response;
pub mod attribute;
mod compare_transform;
mod derive;
mod list;
mod compiled;
mod lookup;
mod operation;
mod render;
mod scope;
mod server;
mod transform;
mod url;
mod validate;

#[cfg(test)]
mod tests;

pub use compare_transform::transform as compare_transform;
pub use compiled::CompiledTemplates;
pub use derive::{Derived, derive};
pub use list::{ListItem, list, list_response};
pub use lookup::{NoResources, ResourceLookup, Siblings, ancestors, find};
pub use operation::{RenderedParts, Request, parts, request, request_as_written};
pub use render::{NamedUse, RenderedPart, render};
pub use response::{ExpectedResponse, answer};
pub use scope::{ScopeOrigin, Scoped, scope, scope_for};
pub use transform::{Flavour, transform};
pub use validate::validate;

use crate::metadata::{EffectiveMetadata, PayloadType};
use crate::names::Format;
use crate::path::LogicalPath;
use crate::text::Sources;
use crate::value::Node;

/// A resource that something is to be done with, and what is known around it.
#[derive(Clone, Copy)]
pub struct RequestTarget<'a> {
    /// Its path; for a list, that of the collection.
    pub path: &'a LogicalPath,
    /// Its effective payload; null where there is none.
    pub payload: &'a Node,
    /// Its effective metadata.
    pub metadata: &'a EffectiveMetadata,
    /// The format of its repository.
    pub format: Format,
    /// The type of its file, if it has one.
    pub file_type: Option<PayloadType>,
    /// The other resources.
    pub lookup: &'a dyn ResourceLookup,
    /// The texts that spans point into.
    pub sources: &'a Sources,
    /// Templates and programs that are compiled already.
    pub memo: &'a CompiledTemplates,
}

impl RequestTarget<'_> {
    /// The type of the payload: of its file, or of the field `format`.
    pub(crate) fn known_type(&self) -> Option<PayloadType> {
        self.file_type.or_else(|| PayloadType::in_metadata(self.metadata))
    }

    /// The type of the payload, guessed from its value if nothing says what it is.
    pub(crate) fn payload_type(&self) -> PayloadType {
        let guess = if self.payload.as_str().is_some() { "txt" } else { "json" };
        self.known_type().unwrap_or_else(|| PayloadType::of_extension(guess))
    }
}
