//! OpenAPI documents: metadata proposed from them, and request bodies checked against their schemas.
//!
//! [`infer`] proposes metadata, [`check_body`] checks bodies. Both walk the document as it was parsed, so that versions 2.0, 3.0 and
//! 3.1 share their code and every result has a span.

mod api;
mod body;
mod bundle;
mod compact;
mod document;
mod draft;
mod fallback;
mod identity;
mod infer;
mod schema;
mod template;

#[cfg(test)]
mod tests;

pub use body::{Body, check_body};
pub use bundle::{bundle, referenced_files};
pub use document::{ApiDocument, KnownRequest};
pub use infer::{Inference, Inferred, infer, target};
