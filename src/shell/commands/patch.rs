//! `outcrop patch`: a patch file applied to documents; nothing is written to disk.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::comparison::patched_report;
use crate::directive;
use crate::document::write::{to_json, to_yaml};
use crate::document::{self, Document, Format};
use crate::finding::{Finding, Outcome, has_errors};
use crate::patch::{Nulls, overlay};
use crate::path::RepoPath;
use crate::report::{self, render};
use crate::resource::{Content, parse};
use crate::shell::cli::{Global, OutputFormat, PatchArgs};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::one_side::{OneSide, inside};
use crate::shell::output;
use crate::side::{PatchInput, Side};
use crate::text::{SourceText, Span};
use crate::value::{Entry, Node, Value};

pub(in crate::shell) fn run(global: &Global, args: &PatchArgs) -> Result<Exit, Failure> {
    let reveal = super::diff::may_reveal(args.reveal)?;
    let opened = OneSide::open_anywhere(global, None)?;
    let side = opened.side(reveal);
    let mut bench = Bench::new(global, &opened, &side);
    let inputs = bench.inputs(args)?;
    let (name, spec) = bench.documents(&args.spec)?;
    let mut patients = Vec::new();
    for file in &args.files {
        let (file, documents) = bench.documents(file)?;
        let is_single = documents.len() == 1;
        let patient = |(position, document): (usize, Document)| {
            let position = (!is_single).then_some(position);
            PatchInput { file: file.clone(), position, root: document.root }
        };
        patients.extend(documents.into_iter().enumerate().map(patient));
    }
    if spec.len() > 1 {
        return Err(Failure::new(format!("{name} contains {} documents, but a patch must be one", spec.len())));
    }
    let patch = spec.first().map_or_else(|| Node::new(Value::Null, inputs.span), |document| document.root.clone());
    if has_errors(&bench.findings) {
        return opened.refuse(bench.findings, global);
    }
    let Outcome { value: patched, findings } = side.patch(&patch, &inputs, &patients);
    let Some(patched) = patched else { return opened.refuse(findings, global) };
    if patched.is_masked {
        output::note("note: secret values are hidden (--reveal shows them on a terminal)");
    }
    match (args.diff, args.format) {
        (true, _) => {
            let report = patched_report(&side, patched);
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
                _ => Node::list(documents, side.nowhere()),
            };
            output::print(to_json(&result).as_bytes())?;
        }
    }
    Ok(Exit::Clean)
}

/// Where documents are read, and what is wrong with them.
struct Bench<'a> {
    side: &'a Side<'a>,
    /// The directory that the user is in: in the tree, and on disk.
    prefix: RepoPath,
    directory: PathBuf,
    findings: Vec<Finding>,
}

impl<'a> Bench<'a> {
    fn new(global: &Global, opened: &OneSide, side: &'a Side<'a>) -> Self {
        let directory = global.directory.clone().unwrap_or_else(|| PathBuf::from("."));
        Self { side, prefix: opened.prefix(), directory, findings: Vec::new() }
    }

    /// The documents of a file with their directives followed, and what the file is called.
    fn documents(&mut self, file: &Path) -> Result<(RepoPath, Vec<Document>), Failure> {
        let name = self.name(file)?;
        let bytes = self.read(file)?;
        let content = Content { bytes: &bytes, path: &name, revision: self.side.snapshot.label() };
        let parsed = parse(content, self.side.sources, self.side.limits);
        if parsed.source.is_none() && parsed.findings.is_empty() {
            let failure = Failure::new(format!("{} has neither a YAML nor a JSON file name", file.display()));
            return Err(failure.help("- reads YAML or JSON from standard input"));
        }
        self.findings.extend(parsed.findings);
        let mut documents = parsed.documents;
        for document in &mut documents {
            if self.side.settings.directives && directive::has_directives(document) {
                let expanded = directive::expand(document, &name, &self.side.directives());
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
        inside(&self.prefix, file).or_else(|_| crate::shell::outside::name_on_disk(file))
    }

    fn read(&self, file: &Path) -> Result<Vec<u8>, Failure> {
        let failed = |error: io::Error| Failure::new(format!("{} cannot be read: {error}", file.display()));
        let source: Box<dyn Read> = match is_standard_input(file) {
            true => Box::new(io::stdin().lock()),
            false => Box::new(File::open(self.directory.join(file)).map_err(failed)?),
        };
        let limit = self.side.limits.file_bytes;
        let mut bytes = Vec::new();
        source.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > limit {
            let failure = Failure::new(format!("{} has more than {limit} bytes", file.display()));
            return Err(failure.help("`limits.file_bytes` in outcrop.yaml sets the limit"));
        }
        Ok(bytes)
    }

    /// Everything that is given by hand, later words over earlier ones.
    fn inputs(&mut self, args: &PatchArgs) -> Result<Node, Failure> {
        let mut inputs = Node::map(Vec::new(), self.side.nowhere());
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
        let source = self.side.sources.add(SourceText::new(RepoPath::root(), "--input", value));
        let span = Span::new(source, 0, value.len());
        let parsed = document::parse(value, source, Format::Yaml, self.side.limits);
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
            _ if has_errors(&self.findings) => Ok(Node::map(Vec::new(), self.side.nowhere())),
            _ => Err(Failure::new(format!("{name} must contain one map of inputs"))
                .help("for example {parameters: {tier: gold}}; a single value is passed as --input tier=gold")),
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
