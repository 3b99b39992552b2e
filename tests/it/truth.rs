//! What a run says when: a test for each rule.

mod findings;
mod headlines;
mod secrets;
