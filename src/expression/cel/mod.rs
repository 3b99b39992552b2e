//! CEL, the language of patch specifications.
