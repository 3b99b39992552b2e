//! Stage 10: what is compared is not always what is shown; secrets go behind their wall before anything is diffed.

mod history;
mod mask;
mod positional;
mod transform;

pub use mask::{Masks, hide_places, is_sensitive_text};
pub use positional::{Positional, positional};
pub use transform::transform;
