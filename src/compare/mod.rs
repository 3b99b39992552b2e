//! Stage 10: what is compared is not always what is shown; secrets go behind their wall before anything is diffed.

mod copies;
mod history;
mod mask;
mod operations;
mod positional;
mod transform;

pub use copies::{hide_copies, hide_copies_of, hide_everywhere, secrets_in, without_secrets};
pub use mask::{Masks, hide_places, is_sensitive_text};
pub use operations::hide_operations;
pub use positional::{Positional, positional};
pub use transform::transform;
