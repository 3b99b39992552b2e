//! Secrets: which values are secret, what is derived from them, and how both are hidden before anything is compared or printed.
//!
//! [`Secrets`] is asked by every stage. Its parts: rules (`mask`), what metadata declares (`declared`, `metadata`), copies and values
//! made of secrets (`derived`), values that secrets override (`overridden`), values of patch files (`patch_values`), texts that could
//! not be parsed (`redact`), what templates put into Secrets (`templates`), and everything that may be secret because what would say so could not be read (`withhold`).

mod alike;
mod declared;
mod dependent;
mod derived;
mod elsewhere;
mod embedded;
mod given;
mod hidden_metadata;
mod mask;
mod mention;
mod message;
mod metadata;
mod moved;
mod object;
mod origin;
mod overridden;
mod patch_values;
mod redact;
mod templates;
mod withhold;

pub use alike::{hide_alike, hide_same_places};
pub use declared::Secrets;
pub use dependent::{differing, disguised};
pub use derived::{hide_copies_of, secrets_in, without_secrets};
pub use elsewhere::DeclaredElsewhere;
pub use moved::MovedSecrets;
pub use object::may_be_secret_kind;
pub use origin::Origins;
pub use redact::{redact_request_values, redact_values};
pub use templates::{TemplateInputs, is_of_openchoreo};
pub use withhold::withhold_value;

use derived::{hide_copies, hide_everywhere};
use mask::{Masks, hide_places, hide_values};
use patch_values::{hide_operations, is_field_of_patches};
