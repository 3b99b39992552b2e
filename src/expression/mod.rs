//! Stage 6, the four small languages behind one door each. All are pure: what they may read is handed to them.

pub mod cel;
pub mod jq;
pub mod eval;
pub mod template;
