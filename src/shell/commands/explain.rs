//! `outcrop explain`: where the effective values of a resource come from.

use crate::document::write;
use crate::finding::Outcome;
use crate::path::Pointer;
use crate::pipeline::{Question, Sought};
use crate::report::explain::{self, Explanation};
use crate::shell::cli::{ExplainArgs, ExplainOutput, Global};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::inspect::{self, Inspected};
use crate::shell::output;
use crate::text::Sources;

pub(in crate::shell) fn run(global: &Global, args: &ExplainArgs) -> Result<Exit, Failure> {
    let inspected = Inspected::open(global, &args.at)?;
    let style = output::style(global);
    let within = args.pointer.as_deref().map_or(Ok(Pointer::root()), inspect::pointer)?;
    let question = Question { within, everything: style.is_verbose() };
    let sought = inspected.sought(&args.path)?;
    let Outcome { value: explanations, findings } = inspected.inspection().explain(&sought, &question);
    if findings.is_empty() && explanations.iter().all(Explanation::is_empty) {
        return Err(nothing_there(&sought, &explanations, &question.within, &inspected.sources));
    }
    let sources = &inspected.sources;
    let data = || explain::to_node(&explanations, sources);
    match args.output {
        ExplainOutput::Terminal => output::write(|out| explain::write(&explanations, sources, &style, out))?,
        ExplainOutput::Yaml => data().map_or(Ok(()), |node| output::print(write::to_yaml(&node).as_bytes()))?,
        ExplainOutput::Json => data().map_or(Ok(()), |node| output::print(write::to_json(&node).as_bytes()))?,
    }
    Ok(inspected.report(findings, global)?)
}

fn nothing_there(sought: &Sought, explanations: &[Explanation], within: &Pointer, sources: &Sources) -> Failure {
    match (sought, explanations) {
        (_, [Explanation { taken_away: Some(at), name, .. }, ..]) => {
            let text = sources.get(at.source);
            let place = format!("{}:{}", text.path, text.line_column(at.range().start).0);
            Failure::new(format!("no value at {within} in {name}: removed by the patch at {place}"))
                .help("`outcrop render --steps` shows what each patch file does")
        }
        (_, [first, ..]) => {
            let failure = Failure::new(format!("no value at {within} in {}", first.name));
            let nearest = explanations.iter().find_map(|explanation| explanation.nearest.as_ref());
            match nearest {
                Some(nearest) => failure.help(format!("did you mean {nearest}?")),
                None => failure.help("`outcrop explain` without a POINTER lists all values"),
            }
        }
        (Sought::Kubernetes(query), []) => Failure::new(format!("there is no {query}"))
            .help("PATH is a logical path such as /customers/acme, a file, or a Kubernetes kind and name: `Deployment shop/web`"),
        (Sought::File(file, Some(position)), []) => Failure::new(format!("{file} has no document {}", position + 1)),
        (Sought::File(file, None), []) => Failure::new(format!("{file} contains no resources")),
        (Sought::Path(path, _), []) => Failure::new(format!("{path} contains no resources")),
    }
}
