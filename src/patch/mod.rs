//! Stage 7, patches: path expansion, operations, patch specifications and layered patches.

mod expand;
mod operation;
mod path;
mod rfc6902;
mod trouble;

pub use expand::expand;
pub use operation::{Action, Edit, edit};
pub use path::PatchPath;
pub use rfc6902::{JsonOperation, apply_json_patch, read_json_patch};
pub use trouble::Trouble;
