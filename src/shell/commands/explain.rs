//! `outcrop explain`: where the effective values of a resource come from.

use crate::document::write;
use crate::path::Pointer;
use crate::report::explain;
use crate::shell::cli::{ExplainArgs, ExplainOutput, Global};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::inspect::{self, Inspected};
use crate::shell::output;

pub(in crate::shell) fn run(global: &Global, args: &ExplainArgs) -> Result<Exit, Failure> {
    let inspected = Inspected::open(global, &args.at)?;
    let within = args.pointer.as_deref().map_or(Ok(Pointer::root()), inspect::pointer)?;
    let (path, tree) = inspected.metadata_path(&args.path)?;
    let explained = inspected.inspection().explain(&path, &tree, &within);
    let sources = &inspected.sources;
    match args.output {
        ExplainOutput::Terminal => {
            let style = output::style(global);
            output::write(|out| explain::write(&explained.value, sources, &style, out))?;
        }
        ExplainOutput::Yaml => output::print(write::to_yaml(&explain::to_node(&explained.value, sources)).as_bytes())?,
        ExplainOutput::Json => output::print(write::to_json(&explain::to_node(&explained.value, sources)).as_bytes())?,
    }
    Ok(inspected.report(explained.findings, global)?)
}
