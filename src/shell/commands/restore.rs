//! `outcrop restore`: puts merge directives back into a document that was edited in its expanded form.

use std::path::{Path, PathBuf};

use crate::directive::{self, Original};
use crate::document::{self, Format};
use crate::finding::has_errors;
use crate::limits::Limits;
use crate::metadata::plan::{EditPlan, FileEdit};
use crate::resource::{Content, parse};
use crate::shell::apply;
use crate::shell::cli::{Global, RestoreArgs};
use crate::shell::directory::read_regular;
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::one_side::{OneSide, inside};
use crate::shell::output;

pub(in crate::shell) fn run(global: &Global, args: &RestoreArgs) -> Result<Exit, Failure> {
    let opened = OneSide::open_anywhere(global, None)?;
    let root = opened.root().map_or_else(|| on_disk(global, Path::new(".")), Path::to_owned);
    let opened = if args.write { opened.locked(&root)? } else { opened };
    let side = opened.side(false);
    let path = inside(&opened.prefix(), &args.original)?;
    let original = opened.parse(&path, &args.original)?;
    let (original_file, changed_file) = (on_disk(global, &args.original), on_disk(global, &args.changed));
    let changed_bytes = read(&changed_file)?;
    let changed_path = crate::shell::outside::name_on_disk(&args.changed)?;
    let content = Content { bytes: &changed_bytes, path: &changed_path, revision: "changed" };
    let changed = parse(content, side.sources, side.limits);
    let mut findings = original.findings.clone();
    findings.extend(changed.findings.clone());
    if original.is_broken || changed.is_broken {
        return opened.refuse(findings, global);
    }
    let original_document = directive::only_document(&original.documents, &path, side.snapshot.label());
    let changed_document = directive::only_document(&changed.documents, &changed_path, "changed");
    let (original_document, changed_document) = match (original_document, changed_document) {
        (Ok(original), Ok(changed)) => (original, changed),
        (original, changed) => {
            findings.extend([original.err(), changed.err()].into_iter().flatten().map(|finding| *finding));
            return opened.refuse(findings, global);
        }
    };
    let bytes = read(&original_file)?;
    let text = document::decode(&bytes).map_err(|error| Failure::new(error.to_string()))?;
    let format = Format::of_file_name(path.file_name()).unwrap_or(Format::Yaml);
    let source = Original { text: &text, document: original_document, format, file: &path };
    let mut restored = directive::restore(&source, &changed_document.root, &side.directives());
    findings.append(&mut restored.findings);
    if has_errors(&findings) {
        return opened.refuse(findings, global);
    }
    let mark: &[u8] = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK } else { b"" };
    for target in &restored.value.put_back {
        output::note(&format!("note: `{target}` was deleted, but directives still refer to it: it is kept"));
    }
    match args.write {
        true => {
            let edits = vec![FileEdit::Write { path, text: restored.value.text }];
            apply::apply(&root, &EditPlan { edits, prune: Vec::new() })?;
        }
        false => output::print(&[mark, restored.value.text.as_bytes()].concat())?,
    }
    Ok(Exit::Clean)
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Where a path of the command line lies, seen from the directory that `-C` names.
fn on_disk(global: &Global, path: &Path) -> PathBuf {
    global.directory.as_ref().map_or_else(|| path.to_owned(), |directory| directory.join(path))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    read_regular(path, Limits::default().file_bytes)
        .map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}
