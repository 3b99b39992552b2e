//! Stage 10: what is compared is not always what is shown; secrets go behind their wall before anything is diffed.

mod declared;
mod derived;
mod mask;
mod metadata;
mod overridden;
mod patch_values;

pub use declared::Secrets;
pub use derived::{hide_copies, hide_copies_of, hide_everywhere, secrets_in, without_secrets};
pub use mask::{Masks, hide_places, is_sensitive_text};
pub use patch_values::hide_operations;
