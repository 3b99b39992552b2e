//! `outcrop explain`: where the effective values of a resource come from.

use crate::document::write;
use crate::explain::{ExplainQuestion, Explanation, explain};
use crate::path::{Pointer, RepoPath};
use crate::report::explain as write_explanation;
use crate::resource::KubernetesQuery;
use crate::shell::cli::{ExplainArgs, ExplainOutput, Global};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::one_side::OneSide;
use crate::shell::output;
use crate::shell::select::{WordReader, pointer};
use crate::side::ResourceQuery;
use crate::text::Sources;

pub(in crate::shell) fn run(global: &Global, args: &ExplainArgs) -> Result<Exit, Failure> {
    let opened = OneSide::open(global, &args.at)?;
    let (side, prefix) = (opened.side(false), opened.prefix());
    let style = output::style(global);
    let words = WordReader { side: &side, prefix: &prefix };
    let (query, place) = match words.root(&args.path) {
        Some(root) => in_root(root, args)?,
        None => (words.query(&args.path)?, args.pointer.as_deref()),
    };
    if let Some(extra) = args.pointer_in_root.as_deref().filter(|_| !matches!(query, ResourceQuery::Root(..))) {
        return Err(Failure::new(format!("unexpected argument {extra}: {} is not a root", args.path.display())));
    }
    let within = place.map_or(Ok(Pointer::root()), pointer)?;
    let question = ExplainQuestion { within, everything: style.is_verbose() };
    if let ResourceQuery::Path(path, root) = &query {
        words.refuse_absent(path, root, false)?;
    }
    let explained = explain(&side, &query, &question);
    let (explanations, findings) = (explained.value, opened.settle(&side, explained.findings));
    if findings.is_empty() && explanations.iter().all(Explanation::is_empty) {
        let word = args.path.to_string_lossy();
        return Err(nothing_there(&word, &query, &explanations, &question.within, &opened.sources));
    }
    let sources = &opened.sources;
    let data = || write_explanation::to_node(&explanations, sources);
    match args.output {
        ExplainOutput::Terminal => output::write(|out| write_explanation::write(&explanations, sources, &style, out))?,
        ExplainOutput::Yaml => data().map_or(Ok(()), |node| output::print(write::to_yaml(&node).as_bytes()))?,
        ExplainOutput::Json => data().map_or(Ok(()), |node| output::print(write::to_json(&node).as_bytes()))?,
    }
    Ok(opened.report(&side, findings, global)?)
}

/// `ROOT [RESOURCE] [POINTER]`.
fn in_root(root: RepoPath, args: &ExplainArgs) -> Result<(ResourceQuery, Option<&str>), Failure> {
    let name = match args.pointer.as_deref() {
        None => None,
        Some(word) => Some(KubernetesQuery::parse(word).ok_or_else(|| {
            Failure::new(format!("{word} is not a kind and a name")).help("for example 'Deployment shop/web'")
        })?),
    };
    Ok((ResourceQuery::Root(root, name), args.pointer_in_root.as_deref()))
}

fn nothing_there(
    word: &str,
    query: &ResourceQuery,
    explanations: &[Explanation],
    within: &Pointer,
    sources: &Sources,
) -> Failure {
    match (query, explanations) {
        (_, [Explanation { removed_by: Some(at), name, .. }, ..]) => {
            let text = sources.get(at.source);
            let place = format!("{}:{}", text.path, text.lines().line_of(at.range().start) + 1);
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
        (ResourceQuery::Kubernetes(_), []) if is_file_name(word) => Failure::new(format!("there is no file {word}"))
            .help("paths are relative to the current directory"),
        (ResourceQuery::Kubernetes(query), []) => Failure::new(format!("there is no {query}"))
            .help("PATH is a logical path such as /customers/acme, a file, or a Kubernetes kind and name: `Deployment shop/web`"),
        (ResourceQuery::Root(root, Some(query)), []) => Failure::new(format!("{root} renders no {query}"))
            .help(format!("`outcrop render --root {root}` prints everything that it renders")),
        (ResourceQuery::Root(root, None), []) => Failure::new(format!("{root} renders nothing")),
        (ResourceQuery::File(file, Some(position)), []) => Failure::new(format!("{file} has no document {}", position + 1)),
        (ResourceQuery::File(file, None), []) => Failure::new(format!("{file} contains no resources")),
        (ResourceQuery::Path(path, _), []) => Failure::new(format!("{path} contains no resources")),
    }
}

/// Whether a word that could be a kind and a name is more likely a file: `manifests/web.yaml`.
fn is_file_name(word: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|end| word.ends_with(end))
}
