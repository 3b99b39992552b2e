//! What a run says when: a test for each rule.

mod configuration;
mod failures;
mod findings;
mod headlines;
mod metadata;
mod secrets;
