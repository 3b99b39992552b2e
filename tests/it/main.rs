//! Everything that needs more than one module: one binary, so that the library is linked once.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on says why, and tests use the machine"
)]

mod action;
mod architecture;
mod bumps;
mod canary;
mod causes;
mod checking;
mod ci;
mod comparing;
mod computed;
mod corpora;
mod damaged_cache;
mod dialects;
mod diff_driver;
mod difftool;
mod directives;
mod dropped_texts;
mod doctor;
mod effective;
mod explain;
mod flux_units;
mod fuzz;
mod help;
mod hook_managers;
mod hooks;
mod install;
mod kustomize_layout;
mod kustomize_units;
mod list_rules;
mod metadata;
mod neat;
mod no_index;
mod openapi_documents;
mod openchoreo_layout;
mod openchoreo_units;
mod page;
mod parts;
mod patch_command;
mod patch_examples;
mod patch_layers;
mod pre_commit_framework;
mod program;
mod push;
mod reading;
mod render;
mod render_root;
mod repo;
mod requests;
mod rule_fixtures;
mod rule_pages;
mod required;
mod schema_suite;
mod safety;
mod screen;
mod snapshots;
mod stack_layout;
mod threads;
mod transcripts;
mod transitions;
mod truth;
mod vectors;
