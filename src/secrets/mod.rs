//! Secrets: which values are secret, what is derived from them, and how both are hidden before anything is compared or printed.
//!
//! [`Secrets`] is asked by every stage. Its parts: rules (`mask`), what metadata declares (`declared`, `metadata`), copies and values
//! made of secrets (`derived`), values that secrets override (`overridden`), values of patch files (`patch_values`), and texts that
//! could not be parsed (`redact`).

mod declared;
mod derived;
mod mask;
mod metadata;
mod overridden;
mod patch_values;
mod redact;

pub use declared::Secrets;
pub use derived::{hide_copies_of, secrets_in, without_secrets};
pub use redact::redact_values;

use derived::{hide_copies, hide_everywhere};
use mask::{Masks, hide_places};
use patch_values::hide_operations;
