//! `outcrop restore`: puts merge directives back into a document that was edited in its expanded form.

use std::fs;
use std::path::{Path, PathBuf};

use crate::directive::{self, Original};
use crate::document::{self, Format};
use crate::finding::has_errors;
use crate::resource::{Content, parse};
use crate::shell::cli::{Global, RestoreArgs};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::one_side::{OneSide, inside};
use crate::shell::output;

pub(in crate::shell) fn run(global: &Global, args: &RestoreArgs) -> Result<Exit, Failure> {
    let opened = OneSide::open_anywhere(global, None)?;
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
    let saved = [mark, restored.value.text.as_bytes()].concat();
    for target in &restored.value.put_back {
        output::note(&format!("note: `{target}` was deleted, but directives still refer to it: it is kept"));
    }
    match args.write {
        true => replace(&original_file, &saved)?,
        false => output::print(&saved)?,
    }
    Ok(Exit::Clean)
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Where a path of the command line lies, seen from the directory that `-C` names.
fn on_disk(global: &Global, path: &Path) -> PathBuf {
    global.directory.as_ref().map_or_else(|| path.to_owned(), |directory| directory.join(path))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

/// Written beside the file and renamed: either the old text is there or the new one, never half of it.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::new(format!("{}: {error}", path.display()));
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".outcrop-{}", std::process::id()));
    let aside = path.with_file_name(name);
    let permissions = fs::metadata(path).map_err(failed)?.permissions();
    let written = fs::write(&aside, bytes)
        .and_then(|()| fs::set_permissions(&aside, permissions))
        .and_then(|()| fs::rename(&aside, path));
    written.map_err(|error| {
        // The original is as it was; what was written beside it is of no use to anybody.
        let _ = fs::remove_file(&aside);
        failed(error)
    })
}
