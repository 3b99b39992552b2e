//! The outcrop binary: everything is in the library's shell.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    outcrop::shell::run()
}
