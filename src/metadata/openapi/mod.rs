//! Stage 5, OpenAPI documents: what one says about a collection or a resource, proposed as metadata, and the schemas of bodies.
//!
//! [`infer`] is the door for metadata, [`check_body`] the one for bodies. Both walk the tree of the document as it was read, so
//! versions 2.0, 3.0 and 3.1 take the same way and every answer knows its place.

mod api;
mod body;
mod compact;
mod draft;
mod fallback;
mod identity;
mod infer;
mod schema;
mod template;

#[cfg(test)]
mod tests;

pub use body::{Body, check_body};
pub use infer::{Inference, Inferred, infer, target};
