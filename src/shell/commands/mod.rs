//! One file per command, named as the user names it.

pub(super) mod affected;
pub(super) mod check;
pub(super) mod ci;
pub(super) mod compare;
pub(super) mod completions;
pub(super) mod diff;
pub(super) mod diff_driver;
pub(super) mod difftool;
pub(super) mod doctor;
pub(super) mod eval;
pub(super) mod expand;
pub(super) mod explain;
pub(super) mod hook;
pub(super) mod init;
pub(super) mod install;
pub(super) mod man;
pub(super) mod metadata;
mod metadata_render;
mod no_index;
pub(super) mod patch;
pub(super) mod render;
pub(super) mod restore;
pub(super) mod rules;
pub(super) mod schema;
mod textconv;
