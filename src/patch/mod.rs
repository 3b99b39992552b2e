//! Patches: path expansion, operations, patch specifications, JSON Patch, and the patch files of a repository.

mod any;
mod decode;
mod expand;
mod layered;
mod operation;
mod overlay;
mod path;
mod platform;
mod rfc6902;
mod run;
mod spec;
mod template;

pub use any::{AnyPatch, read_any};
pub use decode::PatchFile;
pub use expand::expand;
pub use layered::{CompiledFile, PatchEvent, PatchFiles, PatchSet, PatchSubject, Patched, SpecUse, apply_layers};
pub use overlay::{Nulls, overlay};
pub use path::PatchPath;
pub use platform::{PlacedResource, PlatformPatches, PlatformTarget};
pub use run::elements;
pub use spec::{IndexedPath, PatchSpec, Removal};
pub use template::{
    CelReader, CelScope, CelText, Dialect, Expression, KeyTemplate, TemplateFailure, ValueTemplate, find_expressions,
};

#[cfg(test)]
mod tests;
