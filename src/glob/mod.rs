//! Globs, one form per need.
//!
//! - [`glob_matches`]: one name against one glob, in the grammar of Go's `path.Match`; selectors of metadata use it directly.
//! - [`Pattern`]: a path of names, with `**` for any number of them. Rules about places in documents, files and resources.
//! - [`Glob`]: the bytes of a whole path, as git matches the pathspecs of the command line.

mod component;
mod pathspec;

pub use component::{Pattern, Progress, check_glob, glob_matches, is_glob};
pub use pathspec::{Glob, Slashes};
