//! What a run says when: one test for each row of the tables that decide it.

mod headlines;
