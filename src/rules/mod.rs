//! Rules that judge resources or a change, one per file, and the order in which findings are shown.

mod dead_edit;
mod duplicate;
mod known;
mod list_keys;
mod lost_secret;
mod rules_change;
mod settle;
mod unused_patch;

pub use dead_edit::dead_edits;
pub use duplicate::duplicates;
pub use known::{ByAge, by_age};
pub use list_keys::unusable_list_keys;
pub use lost_secret::lost_secrets;
pub use rules_change::rules_change;
pub use settle::{Settled, settle};
pub use unused_patch::unused_patches;
