//! What a run says when: one module per topic, one test per rule.

mod findings;
