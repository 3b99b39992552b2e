//! `outcrop eval`: what an expression gives at a resource, and how.

use super::diff::may_reveal;
use crate::document::write::{to_json, to_yaml};
use crate::expression::eval::Form;
use crate::report::trace;
use crate::shell::cli::{DocumentOutput, EvalArgs, Global};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::one_side::OneSide;
use crate::shell::output;
use crate::shell::select::WordReader;
use crate::side::{EvalQuestion, Evaluated, NoStart, ResourceQuery};

pub(in crate::shell) fn run(global: &Global, args: &EvalArgs) -> Result<Exit, Failure> {
    let reveal = may_reveal(args.reveal)?;
    let vars = args.vars.iter().map(|word| variable(word)).collect::<Result<Vec<_>, _>>()?;
    let opened = OneSide::open(global, &args.at)?;
    let (side, prefix) = (opened.side(reveal), opened.prefix());
    let words = WordReader { side: &side, prefix: &prefix };
    let query = args.path.as_deref().map(|path| words.query(path)).transpose()?;
    let form = if args.all { Form::All } else { Form::One };
    let typed = EvalQuestion { expression: &args.expression, vars: &vars, form, tracing: args.trace };
    let evaluated = side.evaluate(&typed, query.as_ref());
    let Evaluated { value, findings, trace, hides } = evaluated.map_err(|nowhere| failure(&nowhere, query.as_ref()))?;
    if hides {
        output::note("note: secret values are hidden (--reveal shows them on a terminal)");
    }
    let style = output::style(global);
    output::write(|out| {
        if let Some(trace) = &trace {
            trace::write(trace, &style, out)?;
        }
        let Some(value) = &value else { return Ok(()) };
        if trace.is_some() {
            writeln!(out)?;
        }
        match args.output {
            DocumentOutput::Yaml => out.write_all(to_yaml(value).as_bytes()),
            DocumentOutput::Json => out.write_all(to_json(value).as_bytes()),
        }
    })?;
    Ok(opened.report(&side, findings, global)?)
}

/// `name=value`.
fn variable(word: &str) -> Result<(&str, &str), Failure> {
    let is_named = |(name, _): &(&str, &str)| !name.is_empty();
    word.split_once('=').filter(is_named).ok_or_else(|| {
        Failure::new(format!("{word} is not a variable assignment"))
            .help("write --var NAME=VALUE, such as --var size=3")
    })
}

fn failure(nowhere: &NoStart, query: Option<&ResourceQuery>) -> Failure {
    let place = match query {
        Some(ResourceQuery::Path(path, _)) => path.to_string(),
        Some(ResourceQuery::File(file, None)) => file.to_string(),
        Some(ResourceQuery::File(file, Some(position))) => format!("{file}#{}", position + 1),
        Some(ResourceQuery::Kubernetes(query)) => query.to_string(),
        Some(ResourceQuery::Root(root, _)) => root.to_string(),
        None => "/".to_owned(),
    };
    match nowhere {
        NoStart::Nothing => Failure::new(format!("there is no resource {place}"))
            .help("--path takes a logical path such as /customers/acme, a file, or a Kubernetes kind and name: `Deployment shop/web`"),
        NoStart::Several(names) => {
            Failure::new(format!("{place} holds several resources")).help(format!("name one of {}", names.join(", ")))
        }
        NoStart::Unnamed(name) => Failure::new(format!("{name} has no logical path, so expressions cannot start there")),
    }
}
