//! outcrop shows what a commit really changes in a git repository of declarative configuration.
//!
//! The modules are listed in the order the data flows, and that order is the law: a module uses only modules declared above it.
//! Everything above [`shell`] is pure: bytes come in through a [`snapshot::Snapshot`], text goes out through a `Write`.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use the machine"))]

// ----- Nouns: what every stage may use.

// Makes text from repositories safe to print.
pub mod sanitize;
// Paths in a repository, logical paths of resources, pointers into documents.
pub mod path;
// The names of files that mean something, and their formats.
pub mod names;
// Patterns over path components, pathspecs and pointers.
pub mod glob;
// The nearest known word, for "did you mean".
pub mod suggest;
// Sources, spans, lines and columns.
pub mod text;
// The words of templates: keywords and functions.
pub mod template_words;
// Percent escapes in URLs.
pub mod percent;
// Searches in bytes that are not parsed yet.
pub mod scan;
// Caches that threads share.
pub mod memo;
// Few items on one thread, many on all cores.
pub mod parallel;
// The tree of values: numbers as written, spans, provenance, secrets, walks, alignment.
pub mod value;
// Findings, refusals, outcomes, and the table of rules.
pub mod finding;
// What is too much, and how much of it a run has used.
pub mod limits;
// The JSON Schema checker.
pub mod schema;

// ----- Stages, for one snapshot.

// The files of one revision, and which files differ between two.
pub mod snapshot;
// Bytes become documents, and documents become text.
pub mod document;
// Edits of files that keep comments and layout.
pub mod edit;
// Strict decoding of maps from files.
pub mod decode;
// `outcrop.yaml`: settings, roots, and which side decides.
pub mod settings;
// Merge directives: expansion, and restoring them.
pub mod directive;
// Layers of metadata: fields, selectors, precedence, OpenAPI inference.
pub mod metadata;
// The expression languages: eval, jq, CEL and templates.
pub mod expression;
// Patch files: paths, operations, specifications, layers.
pub mod patch;
// Resources and their identities.
pub mod resource;
// What is secret, what is derived from a secret, and how both are hidden.
pub mod secrets;
// What an operation on a resource would send.
pub mod request;
// How files become resources, one file per kind of repository.
pub mod layout;
// One snapshot with its settings and caches: every command asks it.
pub mod side;

// ----- Stages, for two snapshots.

// From edits to every file that they can affect.
pub mod impact;
// Differences of trees and resources, their causes and groups.
pub mod diff;
// Rules that judge resources or a change, one per file.
pub mod rules;
// Two sides compared in six steps: the whole run.
pub mod comparison;
// Where values and requests come from, as data.
pub mod explain;

// ----- Out.

// Writers: terminal, Markdown, JSON, annotations.
pub mod report;
// The command line, git, files and processes.
pub mod shell;

#[cfg(test)]
mod testing;
