//! Stage 9, requests: what an operation on a resource would send.
