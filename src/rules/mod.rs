//! Rules that judge resources or a change, one per file, and the order in which findings are shown.

mod allowed;
mod dead_edit;
mod duplicate;
mod hidden_change;
mod joined;
mod known;
mod kubernetes;
mod list_keys;
mod lost_secret;
mod moved_index;
mod nothing_left;
mod one_note;
mod openchoreo;
mod plaintext;
mod redundant;
mod removed_reference;
mod requests;
mod rules_change;
mod same_name;
mod settle;
mod subject;
mod unused_file;
mod unused_patch;

pub use allowed::{Allowed, ByAllowance, by_allowance};
pub use dead_edit::dead_edits;
pub use duplicate::duplicates;
pub use hidden_change::hidden_changes;
pub use joined::joined_resources;
pub use known::{ByAge, by_age};
pub use kubernetes::{
    Applied, EditedFiles, RolledOut, Transition, rollout_findings, state_findings, transition_findings,
};
pub use list_keys::unusable_list_keys;
pub use lost_secret::lost_secrets;
pub use moved_index::moved_indexes;
pub use nothing_left::nothing_left;
pub use one_note::one_note_per_file;
pub use openchoreo::{is_explained, openchoreo_objects};
pub use plaintext::plaintext_secrets;
pub use redundant::{redundant_layers, redundant_overrides};
pub use removed_reference::{Referrer, removed_references};
pub use requests::{list_problems, request_problems};
pub use rules_change::rules_change;
pub use same_name::same_names;
pub use settle::{Settled, settle};
pub use subject::name_subjects;
pub use unused_file::unused_files;
pub use unused_patch::unused_patches;
