//! The outcrop binary: everything is in the library's shell.

use std::process::ExitCode;

fn main() -> ExitCode {
    outcrop::shell::run()
}
