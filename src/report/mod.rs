//! Writes the result of a comparison, as text for people and as data for programs.

pub mod affected;
mod cause;
mod consequences;
pub mod diagnostics;
pub mod explain;
mod edit_pattern;
mod fragment;
mod finding_groups;
pub mod github;
pub mod html;
mod identified;
mod layer_reach;
pub mod json;
#[cfg(test)]
mod laws;
pub mod lines;
mod locate;
pub mod markdown;
mod only_bumps;
mod outline;
mod paint;
mod places;
mod reach;
mod text_diff;
pub mod render;
pub mod request;
#[cfg(test)]
mod sample;
pub mod side_by_side;
mod snippet;
mod style;
mod summary_counts;
pub mod terminal;
mod secret_numbers;
pub mod trace;
pub mod unified;

pub use reach::Reach;
pub use style::Style;
pub use summary_counts::{SummaryCounts, plural};

pub use crate::comparison::{Compared, Copied, Report, TextCause, TextContent, TextFile};
pub use crate::impact::{LayerEdit, OverridingResource, ReachChange};
pub use crate::resource::{ReadAs, SkipReason, Skipped};
