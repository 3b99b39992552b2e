//! `outcrop metadata`: what layers say about resources, and how to make them say something else.

mod infer;

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use crate::document::{self, write};
use crate::explain::layers_node;
use crate::finding::has_errors;
use crate::limits::Limits;
use crate::metadata::{self, plan};
use crate::path::RepoPath;
use crate::settings::Root;
use crate::shell::apply::apply;
use crate::shell::cli::{DocumentOutput, Global, MetadataCommand, MetadataTarget};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::one_side::OneSide;
use crate::shell::output;
use crate::shell::select::{self, WordReader};
use crate::side::Side;
use crate::text::{SourceText, Sources};
use crate::value::Node;

pub(in crate::shell) fn run(global: &Global, command: &MetadataCommand) -> Result<Exit, Failure> {
    match command {
        MetadataCommand::Get { target, overrides_only } => get(global, target, *overrides_only),
        MetadataCommand::Resolve { target, layers } => resolve(global, target, *layers),
        MetadataCommand::Render(args) => super::metadata_render::run(global, args),
        MetadataCommand::Infer { target, openapi, apply, complete, recursive } => {
            let asked = infer::Asked { openapi: openapi.as_deref(), apply: *apply, complete: *complete };
            infer::run(global, target, &asked, *recursive)
        }
        MetadataCommand::Set { path, pointer, value, file } => {
            set(global, path, pointer.as_deref().zip(value.as_deref()), file.as_deref())
        }
        MetadataCommand::Unset { path, pointer } => unset(global, path, pointer.as_deref()),
    }
}

fn get(global: &Global, target: &MetadataTarget, overrides_only: bool) -> Result<Exit, Failure> {
    let opened = OneSide::open(global, &target.at)?;
    let (side, prefix) = (opened.side(false), opened.prefix());
    let reader = WordReader { side: &side, prefix: &prefix };
    let (path, root) = reader.metadata_path(&target.path)?;
    reader.refuse_absent(&path, &root, true)?;
    let stored = side.stored_metadata(&path, &root);
    let shown = match overrides_only {
        true if stored.value.is_empty() && stored.findings.is_empty() => {
            return infer::in_place_of_stored(global, &opened, &side, target, &path, &root);
        }
        true => metadata::render_format(&stored.value, root.format),
        false => metadata::view(&stored.value, root.format, &opened.sources),
    };
    print(&side.secrets().hide_metadata(shown.to_node(), &path), target.output)?;
    Ok(opened.report(&side, stored.findings, global)?)
}

fn resolve(global: &Global, target: &MetadataTarget, layers: bool) -> Result<Exit, Failure> {
    let opened = OneSide::open(global, &target.at)?;
    let (side, prefix) = (opened.side(false), opened.prefix());
    let reader = WordReader { side: &side, prefix: &prefix };
    let (path, root) = reader.metadata_path(&target.path)?;
    reader.refuse_absent(&path, &root, true)?;
    let stored = side.stored_metadata(&path, &root);
    let shown = match layers {
        true => layers_node(&side, &stored.value, &path),
        false => side.secrets().hide_metadata(stored.value.to_node(), &path),
    };
    print(&shown, target.output)?;
    Ok(opened.report(&side, stored.findings, global)?)
}

fn print(node: &Node, format: DocumentOutput) -> io::Result<()> {
    output::print(
        match format {
            DocumentOutput::Yaml => write::to_yaml(node),
            DocumentOutput::Json => write::to_json(node),
        }
        .as_bytes(),
    )
}

fn set(global: &Global, path: &OsStr, field: Option<(&str, &str)>, file: Option<&Path>) -> Result<Exit, Failure> {
    let opened = OneSide::for_writing(global)?;
    let (side, prefix) = (opened.side(false), opened.prefix());
    let (path, root) = WordReader { side: &side, prefix: &prefix }.metadata_path(path)?;
    let layers = layers_at(&side, &root)?;
    let planned = match (field, file) {
        (Some((pointer, value)), _) => {
            let pointer = select::pointer(pointer)?;
            plan::set_field(&path, &pointer, value, layers, root.format)
        }
        (None, Some(file)) => {
            let document = read_document(file, "metadata", &opened.sources)?;
            match document {
                Ok(document) => plan::replace(&path, &document, layers, root.format),
                Err(findings) => Err(findings),
            }
        }
        (None, None) => return Err(Failure::new("name a field and its value, or a file with -f")),
    };
    carry_out(&opened, &side, planned, global)
}

fn unset(global: &Global, path: &OsStr, pointer: Option<&str>) -> Result<Exit, Failure> {
    let opened = OneSide::for_writing(global)?;
    let (side, prefix) = (opened.side(false), opened.prefix());
    let (path, root) = WordReader { side: &side, prefix: &prefix }.metadata_path(path)?;
    let layers = layers_at(&side, &root)?;
    let planned = match pointer {
        Some(pointer) => {
            let pointer = select::pointer(pointer)?;
            plan::unset_field(&path, &pointer, layers)
        }
        None => plan::remove(&path, layers),
    };
    carry_out(&opened, &side, planned, global)
}

/// The layers that are changed.
fn layers_at<'l, 'a>(side: &'l Side<'a>, root: &Root) -> Result<&'l metadata::Layers<'a>, Failure> {
    side.layers().layers_at(&root.path).ok_or_else(|| Failure::new(format!("there are no layers at {}", root.path)))
}

/// Applies the planned edits and prints what was written; if there are errors, they are shown and nothing is written.
fn carry_out(opened: &OneSide, side: &Side<'_>, planned: plan::Planned, global: &Global) -> Result<Exit, Failure> {
    let plan = match planned {
        Ok(plan) => plan,
        Err(findings) => {
            opened.report(side, findings, global)?;
            return Ok(Exit::Incomplete);
        }
    };
    let root = opened.root().ok_or_else(|| Failure::new("there is no working tree"))?;
    apply(root, &plan)?;
    let mut said = String::new();
    for edit in &plan.edits {
        match edit {
            plan::FileEdit::Write { path, .. } => said.push_str(&format!("wrote {path}\n")),
            plan::FileEdit::Remove { path } => said.push_str(&format!("removed {path}\n")),
        }
    }
    output::print_lines(&said)?;
    Ok(Exit::Clean)
}

type Read = Result<Node, Vec<crate::finding::Finding>>;

/// The one document of a file outside the repository's control.
fn read_document(file: &Path, what: &str, sources: &Sources) -> Result<Read, Failure> {
    let limits = Limits::default();
    let name = file.display().to_string();
    let failed = |error: io::Error| Failure::new(format!("{name}: {error}"));
    let mut bytes = Vec::new();
    let most = limits.file_bytes + 1;
    match file == Path::new("-") {
        true => io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(failed)?,
        false => fs::File::open(file).map_err(failed)?.take(most).read_to_end(&mut bytes).map_err(failed)?,
    };
    if bytes.len() as u64 > limits.file_bytes {
        return Err(Failure::new(format!("{name}: more than the limit of {} bytes", limits.file_bytes)));
    }
    let text = document::decode(&bytes).map_err(|error| Failure::new(format!("{name}: {error}")))?;
    let format = document::Format::of_file_name(name.as_bytes()).unwrap_or(document::Format::Yaml);
    let shown = RepoPath::new(name.trim_start_matches(['/', '.'])).unwrap_or_default();
    let source = sources.add(SourceText::new(shown, "input", &*text));
    let parsed = document::parse(&text, source, format, &limits);
    if has_errors(&parsed.findings) {
        return Ok(Err(parsed.findings));
    }
    match <[document::Document; 1]>::try_from(parsed.value) {
        Ok([only]) => Ok(Ok(only.root)),
        Err(documents) => Err(Failure::new(format!("{name}: {what} must be one document, found {}", documents.len()))),
    }
}
