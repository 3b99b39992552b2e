//! `outcrop patch`: a patch file applied to documents; nothing is written to disk.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::one_file::{OneFile, inside};
use crate::directive;
use crate::document::write::{to_json, to_yaml};
use crate::document::{self, Document, Format};
use crate::finding::{Finding, Outcome, has_errors};
use crate::patch::{Nulls, overlay};
use crate::path::RepoPath;
use crate::pipeline::Patient;
use crate::report::{self, Report, render};
use crate::resource::{Content, parse};
use crate::shell::cli::{Global, OutputFormat, PatchArgs};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::output;
use crate::text::{SourceText, Span};
use crate::value::{Entry, Node, Value};

pub(in crate::shell) fn run(global: &Global, args: &PatchArgs) -> Result<Exit, Failure> {
    let reveal = super::diff::may_reveal(args.reveal)?;
    let mut bench = Bench::open(global)?;
    let inputs = bench.inputs(args)?;
    let (name, spec) = bench.documents(&args.spec)?;
    let mut patients = Vec::new();
    for file in &args.files {
        let (file, documents) = bench.documents(file)?;
        let is_single = documents.len() == 1;
        let patient = |(position, document): (usize, Document)| {
            let position = (!is_single).then_some(position);
            Patient { file: file.clone(), position, root: document.root }
        };
        patients.extend(documents.into_iter().enumerate().map(patient));
    }
    if spec.len() > 1 {
        return Err(Failure::new(format!("{name} holds {} documents, and a patch is one", spec.len())));
    }
    let patch = spec.first().map_or_else(|| Node::new(Value::Null, inputs.span), |document| document.root.clone());
    let inspection = bench.here.inspection();
    if bench.has_errors() {
        return refuse(global, &bench.here, inspection.finished(bench.findings.clone()));
    }
    let Outcome { value: patched, findings } = inspection.patch(&patch, &inputs, &patients, reveal);
    let Some(patched) = patched else { return refuse(global, &bench.here, findings) };
    if patched.is_masked {
        output::note("note: values of secrets are not shown (--reveal shows them on a terminal)");
    }
    match (args.diff, args.format) {
        (true, _) => {
            let report = inspection.patched_report(patched);
            output::write(|out| report::terminal::write(&report, &output::style(global), out))?;
        }
        (false, OutputFormat::Yaml) => {
            let documents: Vec<String> = patched.documents().map(to_yaml).collect();
            output::print(documents.join(render::SEPARATOR).as_bytes())?;
        }
        (false, OutputFormat::Json) => {
            let documents: Vec<Node> = patched.documents().cloned().collect();
            let result = match &documents[..] {
                [only] => only.clone(),
                _ => Node::list(documents, inspection.nowhere()),
            };
            output::print(to_json(&result).as_bytes())?;
        }
    }
    Ok(Exit::Clean)
}

/// Shows everything that is wrong; nothing was patched.
fn refuse(global: &Global, here: &OneFile, findings: Vec<Finding>) -> Result<Exit, Failure> {
    let report = Report { findings, sources: Arc::clone(&here.sources), ..Report::default() };
    output::write_message(|out| report::diagnostics::write(&report, &output::message_style(global), out))?;
    Ok(Exit::Found)
}

/// Where documents are read, and what is wrong with them.
struct Bench {
    /// The directory the user stands in.
    here: OneFile,
    directory: PathBuf,
    findings: Vec<Finding>,
}

impl Bench {
    fn open(global: &Global) -> Result<Self, Failure> {
        let directory = global.directory.clone().unwrap_or_else(|| PathBuf::from("."));
        Ok(Self { here: OneFile::open(global, Path::new("."), None)?, directory, findings: Vec::new() })
    }

    fn has_errors(&self) -> bool {
        has_errors(&self.findings)
    }

    /// The documents of a file with their directives followed, and what the file is called.
    fn documents(&mut self, file: &Path) -> Result<(RepoPath, Vec<Document>), Failure> {
        let name = self.name(file)?;
        let bytes = self.read(file)?;
        let content = Content { bytes: &bytes, path: &name, revision: self.here.snapshot.label() };
        let parsed = parse(content, &self.here.sources, &self.here.settings.limits);
        if parsed.source.is_none() && parsed.findings.is_empty() {
            let failure = Failure::new(format!("{} is neither YAML nor JSON by its name", file.display()));
            return Err(failure.help("- reads YAML or JSON from standard input"));
        }
        self.findings.extend(parsed.findings);
        let mut documents = parsed.documents;
        for document in &mut documents {
            if self.here.settings.directives && directive::has_directives(document) {
                let expanded = directive::expand(document, &name, &self.here.context());
                self.findings.extend(expanded.findings);
                document.root = expanded.value.root;
            }
        }
        Ok((name, documents))
    }

    fn name(&self, file: &Path) -> Result<RepoPath, Failure> {
        if is_standard_input(file) {
            return RepoPath::new("stdin.yaml").map_err(|error| Failure::new(error.to_string()));
        }
        inside(&self.here.path, file).or_else(|_| super::difftool::name_on_disk(file))
    }

    fn read(&self, file: &Path) -> Result<Vec<u8>, Failure> {
        let failed = |error: io::Error| Failure::new(format!("{} cannot be read: {error}", file.display()));
        let source: Box<dyn Read> = match is_standard_input(file) {
            true => Box::new(io::stdin().lock()),
            false => Box::new(File::open(self.directory.join(file)).map_err(failed)?),
        };
        let limit = self.here.settings.limits.file_bytes;
        let mut bytes = Vec::new();
        source.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > limit {
            let failure = Failure::new(format!("{} has more than {limit} bytes", file.display()));
            return Err(failure.help("`limits.file_bytes` in outcrop.yaml says how large a file may be"));
        }
        Ok(bytes)
    }

    /// Everything that is given by hand, later words over earlier ones.
    fn inputs(&mut self, args: &PatchArgs) -> Result<Node, Failure> {
        let mut inputs = Node::map(Vec::new(), self.here.inspection().nowhere());
        for word in &args.input {
            let given = match word.to_str().and_then(assignment) {
                Some((names, value)) => self.assigned(&names, value),
                None => self.input_file(Path::new(word))?,
            };
            inputs = overlay(Some(&inputs), &given, Nulls::Keep);
        }
        for reserved in ["resource", "item"] {
            if inputs.get(reserved).is_some() {
                let failure = Failure::new(format!("`{reserved}` cannot be given as an input"));
                return Err(failure.help("`resource` is the document itself, and `item` the element of `forEach`"));
            }
        }
        Ok(inputs)
    }

    /// A value is YAML where it can be read as such, and text otherwise.
    fn assigned(&self, names: &[&str], value: &str) -> Node {
        let source = self.here.sources.add(SourceText::new(RepoPath::root(), "--input", value));
        let span = Span::new(source, 0, value.len());
        let parsed = document::parse(value, source, Format::Yaml, &self.here.settings.limits);
        let node = match &parsed.value[..] {
            [only] if parsed.findings.is_empty() && !value.trim().is_empty() => only.root.clone(),
            _ => Node::text(value, span),
        };
        names.iter().rev().fold(node, |inner, name| Node::map(vec![Entry::named(*name, span, inner)], span))
    }

    fn input_file(&mut self, file: &Path) -> Result<Node, Failure> {
        let (name, documents) = self.documents(file)?;
        match &documents[..] {
            [only] if only.root.as_map().is_some() => Ok(only.root.clone()),
            _ if self.has_errors() => Ok(Node::map(Vec::new(), self.here.inspection().nowhere())),
            _ => Err(Failure::new(format!("{name} must hold one map of inputs"))
                .help("for example {parameters: {tier: gold}}; one value is given as --input tier=gold")),
        }
    }
}

fn is_standard_input(file: &Path) -> bool {
    file == Path::new("-")
}

/// `a.b=c`: the names and the value.
fn assignment(word: &str) -> Option<(Vec<&str>, &str)> {
    let (key, value) = word.split_once('=')?;
    let names: Vec<&str> = key.split('.').collect();
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name =
        |name: &&str| name.starts_with(is_first) && name.chars().all(|c| is_first(c) || c.is_ascii_digit() || c == '-');
    names.iter().all(is_name).then_some((names, value))
}
