//! Stage 7, patches: path expansion, operations, patch specifications and layered patches.

mod any;
mod decode;
mod expand;
mod layered;
mod operation;
mod path;
mod rfc6902;
mod run;
mod spec;
mod template;
mod trouble;

pub use any::{AnyPatch, laid_over, read_any};
pub use decode::{PatchFile, Reading, read_operations, read_patch_file, read_specs};
pub use expand::expand;
pub use layered::{
    CompiledFile, PatchFiles, PatchSet, Patched, Seen, SpecUse, Subject, apply_layers, apply_layers_watched,
};
pub use operation::{Action, Edit, edit};
pub use path::PatchPath;
pub use rfc6902::{JsonOperation, apply_json_patch, read_json_patch};
pub use run::{apply_file, apply_specs};
pub use spec::{PatchSpec, Removal};
pub use trouble::Trouble;

#[cfg(test)]
mod tests;
