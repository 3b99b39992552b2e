//! Metadata layers: finds the documents that apply to a path, reads them and merges them.
//!
//! [`resolve`] is the entry point. Everything else follows from the table in [`field`].

mod amend;
mod compared;
mod compose;
mod decode;
mod directory;
mod effective;
pub mod field;
mod field_default;
mod identity;
mod identity_template;
mod layers;
mod load;
mod manual;
mod native;
mod operation;
pub mod openapi;
mod path_template;
mod payload_type;
pub mod plan;
mod schema;
mod secrets;
mod selector;
mod spelling;
mod statement;
mod target;
mod trees;
mod view;

pub use compared::compared;
pub use decode::decode;
pub use directory::{is_layer_file, is_metadata_file, is_patch_file};
pub use effective::{
    Effect, EffectiveEntry, EffectiveMetadata, Layer, LayerOrigin, Provenance, TransformStep, canonical, of_document,
};
pub use field::{DocumentForm, Field, FieldDefault, FieldPath, Operation, RequestParts, Section};
pub use identity::{RemoteIdentity, Sibling, identify, identify_list_item, look_up, required_attributes, singular};
pub use layers::{Expand, Layers, resolve, resolve_collection, resolve_selector, resolve_text};
pub use load::{PatchDocument, is_kubernetes_document};
pub use manual::reference;
pub use native::native;
pub use path_template::PathTemplate;
pub use payload_type::PayloadType;
pub use schema::schema;
pub use secrets::{InLists, PLACEHOLDER, SecretAttributes, is_placeholder};
pub use selector::{MetadataPath, WILDCARD};
pub use spelling::comparable;
pub use statement::{Statement, StatementKind, Statements, TransformOrder};
pub use trees::LayerTrees;
pub use view::{over_defaults, render_format, view};

#[cfg(test)]
mod tests;
