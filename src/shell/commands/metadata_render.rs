//! `outcrop metadata render`: what would be sent for a resource, without sending it.

use crate::document::write;
use crate::finding::{Outcome, has_errors};
use crate::metadata::{MetadataPath, Operation};
use crate::report::request;
use crate::shell::cli::{Global, RequestArgs, RequestOutput};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::one_side::OneSide;
use crate::shell::output;
use crate::shell::select::WordReader;
use crate::side::{RenderedRequest, RenderedRequests, WantedRequests};
use crate::text::Sources;

pub(in crate::shell) fn run(global: &Global, args: &RequestArgs) -> Result<Exit, Failure> {
    let opened = OneSide::open(global, &args.at)?;
    let (side, prefix) = (opened.side(super::diff::may_reveal(args.reveal)?), opened.prefix());
    let reader = WordReader { side: &side, prefix: &prefix };
    let (path, root) = reader.metadata_path(&args.path)?;
    let wanted = match args.operation {
        Some(operation) => WantedRequests::One(operation.into()),
        None if args.all => WantedRequests::All,
        None => WantedRequests::Usual,
    };
    let Outcome { value: rendering, findings } = side.requests(&path, &root, wanted);
    let is_wrong = has_errors(&findings);
    if !rendering.has_resource && !is_wrong {
        reader.refuse_absent(&path, &root, true)?;
    }
    if let (Some(operation), false) = (rendering.impossible.first(), is_wrong) {
        return Err(nothing_to_send(&path, *operation));
    }
    if args.output == RequestOutput::Curl
        && let Some(rendered) = rendering.requests.iter().find(|rendered| !rendered.request.is_filled_in)
    {
        return Err(many_at_once(&path, rendered.request.operation));
    }
    show(&rendering, args, &opened.sources, global)?;
    if !is_wrong {
        for note in notes(&rendering, &path) {
            output::note(&note);
        }
    }
    Ok(opened.report(&side, findings, global)?)
}

/// What must not be sent is shown to people alone: programs and shells would send it.
fn show(rendering: &RenderedRequests, args: &RequestArgs, sources: &Sources, global: &Global) -> std::io::Result<()> {
    let RenderedRequests { requests, format, .. } = rendering;
    let is_sound = requests.iter().all(|rendered| rendered.is_sound);
    match args.output {
        RequestOutput::Terminal => {
            let style = output::style(global);
            output::write(|out| request::write(requests, *format, sources, &style, out))
        }
        _ if !is_sound => Ok(()),
        RequestOutput::Json => {
            let node = match &requests[..] {
                [only] if !args.all => Some(request::to_node(only, sources)),
                all => request::to_list(all, sources),
            };
            node.map_or(Ok(()), |node| output::print(write::to_json(&node).as_bytes()))
        }
        RequestOutput::Curl => {
            let lines = requests.iter().map(|rendered| request::curl(&rendered.request, *format) + "\n");
            output::print(lines.collect::<String>().as_bytes())
        }
    }
}

fn notes(rendering: &RenderedRequests, path: &MetadataPath) -> Vec<String> {
    let requests = &rendering.requests;
    let is_about_one =
        |rendered: &RenderedRequest| rendered.request.is_filled_in && rendered.request.operation != Operation::List;
    let mut notes = Vec::new();
    if requests.iter().any(|rendered| !rendered.request.is_filled_in) {
        notes.push(format!("note: {path} matches many resources: templates are shown unrendered"));
    }
    if rendering.is_listed_instead {
        notes.push(format!("note: {path} has no id to get it by; showing the list request instead"));
    } else if !rendering.has_resource && requests.iter().any(is_about_one) {
        notes.push(format!("note: there is no resource at {path}; only its path is known"));
    }
    if requests.iter().any(RenderedRequest::hides_secrets) {
        notes.push("note: secret values are hidden (--reveal shows them on a terminal)".to_owned());
    }
    notes
}

fn nothing_to_send(path: &MetadataPath, operation: Operation) -> Failure {
    let failure = Failure::new(format!("there is no resource at {path}, so {} has nothing to send", operation.name()));
    failure.help("name a resource, or a collection such as /customers/_ to see its templates")
}

fn many_at_once(path: &MetadataPath, operation: Operation) -> Failure {
    let message = format!("{path} matches many resources, so there is no single command for {}", operation.name());
    Failure::new(message).help("name a resource, or leave out `-o curl` to see the templates")
}
