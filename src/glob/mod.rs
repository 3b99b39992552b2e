//! Globs: over path components, over whole paths as git pathspecs.

mod component;
mod pathspec;

pub use component::{Pattern, check_glob, glob_matches, is_glob};
pub use pathspec::{Glob, Slashes};
