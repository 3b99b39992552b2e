//! `outcrop init`: writes an `outcrop.yaml` with comments that records what the files of the repository use.

use std::fmt::Write as _;

use crate::document::write::{JsonWriter, Layout};
use crate::metadata::plan::{EditPlan, FileEdit};
use crate::names;
use crate::path::RepoPath;
use crate::report::plural;
use crate::resource::ReadAs;
use crate::shell::apply;
use crate::shell::cli::{Global, InitArgs};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::one_side::OneSide;
use crate::shell::output;
use crate::shell::replace::WriteLock;
use crate::side::Survey;

pub(in crate::shell) fn run(global: &Global, args: &InitArgs) -> Result<Exit, Failure> {
    let opened = OneSide::tracked(global)?;
    let path = RepoPath::new(names::CONFIGURATION).map_err(|error| Failure::new(error.to_string()))?;
    let root = opened.root().filter(|_| !args.dry_run);
    let _lock = root.map(WriteLock::take).transpose()?;
    if root.is_some_and(|root| root.join(names::CONFIGURATION).symlink_metadata().is_ok()) {
        return Err(Failure::new("there is an outcrop.yaml already")
            .help("`outcrop init --dry-run` prints what would be written"));
    }
    let survey = opened.side(false).survey();
    let text = configuration(&survey);
    match root {
        Some(root) => {
            apply::apply(root, &EditPlan { edits: vec![FileEdit::Write { path, text }], prune: Vec::new() })?;
            let found = found(&survey).join(", ");
            let found = if found.is_empty() { "no YAML or JSON files yet".to_owned() } else { found };
            output::print_lines(&format!(
                "wrote outcrop.yaml ({found})\nit applies once it is staged: git add outcrop.yaml\n"
            ))?;
        }
        None => output::print(text.as_bytes())?,
    }
    if survey.unreadable > 0 {
        let count = plural(survey.unreadable, "file");
        output::note(&format!(
            "note: {count} could not be read and may use more; `outcrop check --all` lists the problems"
        ));
    }
    Ok(Exit::Clean)
}

/// The text of the file. A setting that follows from the files is written, with the reason; every other one is a comment.
fn configuration(survey: &Survey) -> String {
    let mut text = String::from(
        "# Configuration of outcrop. Every key is optional; docs/configuration.md describes all of them.\n",
    );
    let found = found(survey);
    if !found.is_empty() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# Found: {}.", found.join(", "));
    }
    text.push_str(&roots(survey));
    text.push_str(&openapi(survey));
    text.push_str(&switches(survey));
    text.push_str(REST);
    text
}

/// What the files are.
fn found(survey: &Survey) -> Vec<String> {
    let kinds = survey.read_as.iter().filter(|(kind, _)| **kind != ReadAs::Configuration);
    let kinds = kinds.map(|(kind, count)| (*count, format!("of {}", kind.describe())));
    let others = [(survey.templates, "with templates of other tools".to_owned())];
    let files = kinds.chain(others).filter(|(count, _)| *count > 0);
    let kustomizations = (survey.kustomizations > 0).then(|| plural(survey.kustomizations, "kustomization"));
    let components =
        (survey.components > 0).then(|| format!("{} with components of OpenChoreo", plural(survey.components, "file")));
    let files = files.map(|(count, what)| format!("{} {what}", plural(count, "file")));
    files.chain(kustomizations).chain(components).collect()
}

fn roots(survey: &Survey) -> String {
    match &survey.around_resources {
        Some(root) if !root.is_root() => format!(
            "\n# Directory of the resources that are named by their directory: {root}/a/resource.yaml is /a.\nroots:\n  - {}\n",
            scalar(root)
        ),
        _ => "\n# Directories of resources that are named by their directory. Default: the whole repository.\n# roots: [config]\n"
            .to_owned(),
    }
}

fn openapi(survey: &Survey) -> String {
    let about =
        "\n# The OpenAPI document of the server, for `outcrop metadata infer` and for checks of request bodies.\n";
    let has_resources = survey.around_resources.is_some();
    match &survey.openapi[..] {
        [document] if has_resources => format!("{about}openapi: {}\n", scalar(document)),
        [document, ..] if has_resources => {
            format!("{about}# {} found:\n# openapi: {document}\n", plural(survey.openapi.len(), "document"))
        }
        _ => String::new(),
    }
}

/// Mechanisms that files use are switched on, others off: a key that only looks like a directive is data then.
fn switches(survey: &Survey) -> String {
    let switch = |key: &str, what: &str, count: usize| {
        let (value, reason) = match count {
            0 => ("off", format!("no file has {what}; set this to on before you add some")),
            count => ("on", format!("{} {what}", plural_with(count))),
        };
        format!("\n# {}{}.\n{key}: {value}\n", reason[..1].to_uppercase(), &reason[1..])
    };
    let merge = if survey.has_ensembles { "# Lists and null as Unfurl merges them.\nmerge: unfurl\n" } else { "" };
    let directives = switch("directives", "merge directives (docs/merge-directives.md)", survey.directives);
    let expressions = switch("expressions", "expressions (docs/expressions.md)", survey.expressions);
    format!("{directives}{merge}{expressions}{}", layouts(survey))
}

/// Where there is nothing to render and nothing else to follow either, no file but changed ones is ever opened.
fn layouts(survey: &Survey) -> &'static str {
    if survey.kustomizations > 0 || survey.flux > 0 {
        return "";
    }
    "\n# No file is a kustomization; set these to on before you add some (docs/kustomize.md).\nlayouts:\n  kustomize: off\n  flux: off\n"
}

/// A path as a quoted scalar, so that no name is read as a number or a boolean.
fn scalar(path: &RepoPath) -> String {
    let mut writer = JsonWriter::new(Layout::Line);
    writer.text(path.to_str().unwrap_or_default());
    writer.into_text()
}

fn plural_with(count: usize) -> String {
    format!("{} {}", plural(count, "file"), if count == 1 { "has" } else { "have" })
}

const REST: &str = "
# Values that are compared but never printed, in addition to those of Kubernetes Secrets.
# secrets:
#   - /**/password

# Changes that are counted but not shown.
# ignore:
#   - /status

# Keys that identify list items, in addition to the lists that are known.
# lists:
#   - pointer: /spec/hosts
#     keys: [name, port]

# Severities of rules: off, note, warning or error. `outcrop rules` lists them.
# rules:
#   resource/duplicate: error
";
