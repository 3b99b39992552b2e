//! Metadata layers: finds the documents that apply to a path, reads them and merges them.
//!
//! [`resolve`] is the entry point. Everything else follows from the table in [`field`].

mod amend;
mod compose;
mod decode;
mod directory;
mod effective;
pub mod field;
mod identity;
mod layers;
mod load;
mod manual;
pub mod openapi;
pub mod plan;
mod schema;
mod secrets;
mod selector;
mod statement;
mod target;
mod trees;
mod view;

pub use decode::decode;
pub use directory::{is_layer_file, is_metadata_file, is_patch_file};
pub use effective::{
    Effect, EffectiveEntry, EffectiveMetadata, Layer, LayerOrigin, Provenance, canonical, of_document,
};
pub use field::{Field, FieldDefault, FieldPath, Operation, RequestParts, Section};
pub use identity::{RemoteIdentity, Sibling, identify, identify_list_item, look_up, singular};
pub use layers::{Expand, Layers, resolve, resolve_selector};
pub use load::{PatchDocument, is_kubernetes_document};
pub use manual::reference;
pub use schema::schema;
pub use secrets::{PLACEHOLDER, SecretAttributes, is_placeholder};
pub use selector::{MetadataPath, WILDCARD};
pub use statement::{Statement, StatementKind, Statements, TransformOrder};
pub use trees::LayerTrees;
pub use view::{over_defaults, render_format, view};

#[cfg(test)]
mod tests;
