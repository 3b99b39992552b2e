//! `outcrop schema`: the JSON Schema of a machine format.

use crate::metadata;
use crate::report;
use crate::shell::cli::SchemaName;
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::output;

pub(in crate::shell) fn run(name: SchemaName) -> Result<Exit, Failure> {
    let schema = match name {
        SchemaName::Report => report::json::schema().to_owned(),
        SchemaName::Metadata => metadata::schema(),
    };
    output::print(schema.as_bytes())?;
    Ok(Exit::Clean)
}
