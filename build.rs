//! Links the program for a fixed address on Linux: it starts once for every hook and prompt, and moving its tables to a random
//! address first takes longer than comparing two commits. The heap, the stack and the libraries stay at random addresses.

#![allow(clippy::disallowed_methods, reason = "cargo tells build scripts about the target in this way")]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
