//! Stage 8, the effective resource: every stage before composed for one snapshot, each piece made once.
