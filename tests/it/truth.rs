//! What a run says when: a test for each rule.

mod failures;
mod headlines;
mod secrets;
