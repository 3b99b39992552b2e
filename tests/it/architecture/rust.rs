//! Reads Rust text as far as the walls need it: code without comments and strings, comments and strings without code, paths.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// One source file of the program.
pub(super) struct SourceFile {
    /// The path below `src/`.
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// The code with spaces in place of comments, string contents and items for tests, so that offsets and lines stay.
    pub(super) code: String,
}

impl SourceFile {
    pub(super) fn new(path: PathBuf, text: String) -> Self {
        let code = without_test_items(&masked(&text).0);
        Self { path, text, code }
    }

    /// The names of the modules around the file and its own: `["value", "align"]` for `value/align.rs`.
    pub(super) fn module(&self) -> Vec<String> {
        let names = self.path.with_extension("");
        let mut names: Vec<String> = names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
        if names.last().is_some_and(|name| ["mod", "lib", "main"].contains(&name.as_str())) {
            names.pop();
        }
        names
    }

    /// Lines of code with their numbers.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code.lines().enumerate().map(|(at, line)| (at + 1, line))
    }

    /// Every path that the code names, with its line; groups of a `use` are taken apart.
    pub(super) fn paths(&self) -> Vec<(usize, Vec<String>)> {
        paths(&self.code)
    }
}

/// Every file below `src/`; files that only tests are made of are left out.
pub(super) fn sources() -> &'static [SourceFile] {
    static FOUND: OnceLock<Vec<SourceFile>> = OnceLock::new();
    FOUND.get_or_init(read_sources)
}

fn read_sources() -> Vec<SourceFile> {
    let mut found = Vec::new();
    collect(&source_root(), &mut found);
    found.sort();
    let test_only: Vec<PathBuf> = found.iter().flat_map(|(path, text)| test_modules(path, text)).collect();
    found.retain(|(path, _)| !test_only.iter().any(|module| path.with_extension("").starts_with(module)));
    assert!(found.len() > 10, "the sources are not where they should be");
    found.into_iter().map(|(path, text)| SourceFile::new(path, text)).collect()
}

pub(super) fn source_root() -> PathBuf {
    project().join("src")
}

pub(super) fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below a folder of the project, those of tests included, with its path below it.
pub(super) fn collect(directory: &Path, found: &mut Vec<(PathBuf, String)>) {
    collect_below(directory, directory, found);
}

fn collect_below(root: &Path, directory: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_below(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path.strip_prefix(root).unwrap().to_owned(), text));
        }
    }
}

/// The modules that a file declares for tests alone, as paths without extension.
fn test_modules(path: &Path, text: &str) -> Vec<PathBuf> {
    let is_root = path.ends_with("mod.rs") || path == Path::new("lib.rs");
    let folder = if is_root { path.parent().unwrap().to_owned() } else { path.with_extension("") };
    let lines: Vec<&str> = text.lines().collect();
    let declared = lines.windows(2).filter(|pair| pair[0] == "#[cfg(test)]");
    let names = declared.filter_map(|pair| {
        let words: Vec<&str> = pair[1].strip_suffix(';')?.split(' ').collect();
        words.iter().position(|word| *word == "mod").and_then(|at| words.get(at + 1).copied())
    });
    names.map(|name| folder.join(name)).collect()
}

/// What is written for people in a Rust text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prose {
    Doc,
    Comment,
    Literal,
}

/// A comment or a string with its line.
pub(super) struct Passage {
    pub(super) kind: Prose,
    pub(super) line: usize,
    pub(super) text: String,
}

/// Comments and strings of a Rust text, those of tests included.
pub(super) fn prose(text: &str) -> Vec<Passage> {
    masked(text).1
}

/// The text with comments and the contents of strings replaced by spaces, and what was replaced.
fn masked(text: &str) -> (String, Vec<Passage>) {
    let bytes = text.as_bytes();
    let (mut code, mut passages) = (bytes.to_vec(), Vec::new());
    let (mut at, mut line, mut counted) = (0, 1, 0);
    while at < bytes.len() {
        let rest = &text[at..];
        let (kind, start, end) = if rest.starts_with("//") {
            let end = at + rest.find('\n').unwrap_or(rest.len());
            let kind = if rest.starts_with("///") || rest.starts_with("//!") { Prose::Doc } else { Prose::Comment };
            (kind, at, end)
        } else if rest.starts_with("/*") {
            (Prose::Comment, at, at + block_comment(rest))
        } else if let Some(hashes) = raw_string(text, at) {
            let open = at + 1 + hashes + 1;
            let close = format!("\"{}", "#".repeat(hashes));
            (Prose::Literal, open, open + text[open..].find(&close).unwrap())
        } else if let Some(string) = rest.strip_prefix('"') {
            (Prose::Literal, at + 1, at + 1 + string_end(string))
        } else if rest.starts_with('\'') {
            at += character_end(rest);
            continue;
        } else {
            at += rest.chars().next().unwrap().len_utf8();
            continue;
        };
        line += text[counted..start].matches('\n').count();
        counted = start;
        passages.push(Passage { kind, line, text: text[start..end].to_owned() });
        for byte in &mut code[start..end] {
            *byte = if *byte == b'\n' { b'\n' } else { b' ' };
        }
        at = end + usize::from(kind == Prose::Literal);
        // The quote that ends a raw string has hashes behind it; those are no quotes, so nothing more is to be skipped.
    }
    (String::from_utf8(code).unwrap(), passages)
}

/// The number of hashes of a raw string that starts here.
fn raw_string(text: &str, at: usize) -> Option<usize> {
    let before = text[..at].chars().next_back();
    let is_name = before.is_some_and(|c| (c.is_ascii_alphanumeric() && c != 'b') || c == '_');
    let rest = text[at..].strip_prefix('r').filter(|_| !is_name)?;
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    rest[hashes..].starts_with('"').then_some(hashes)
}

fn string_end(rest: &str) -> usize {
    let mut is_escaped = false;
    let end = rest.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.unwrap_or(rest.len())
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    loop {
        match &rest.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            [] => return at,
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
}

/// The length of a character literal, or of the quote of a lifetime.
fn character_end(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some((escaped, _))) => {
            let after = escaped + 1;
            after + rest[after..].find('\'').map_or(0, |quote| quote + 1)
        }
        (Some(_), Some((quote, '\''))) => quote + 1,
        _ => 1,
    }
}

/// Masked code with spaces in place of every item below `#[cfg(test)]`.
fn without_test_items(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut bytes = code.as_bytes().to_vec();
    let mut from = 0;
    while let Some(found) = code[from..].find(MARK) {
        let start = from + found;
        let end = item_end(code, start + MARK.len());
        for byte in &mut bytes[start..end] {
            *byte = if *byte == b'\n' { b'\n' } else { b' ' };
        }
        from = end;
    }
    String::from_utf8(bytes).unwrap()
}

/// Where an item ends, further attributes included: at its semicolon or at its closing brace.
fn item_end(code: &str, from: usize) -> usize {
    let mut depth = 0_usize;
    let mut opened = Vec::new();
    for (at, byte) in code.bytes().enumerate().skip(from) {
        match byte {
            b'(' | b'[' | b'{' => {
                opened.push(byte);
                depth += 1;
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if opened.pop() == Some(b'{') && depth == 0 {
                    return at + 1;
                }
            }
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    PathSeparator,
    Open,
    Close,
    Comma,
    Star,
    Other,
}

fn paths(code: &str) -> Vec<(usize, Vec<String>)> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_start = matches!(tokens[at].1, Token::Name(_))
            && tokens.get(at + 1).is_some_and(|next| next.1 == Token::PathSeparator)
            && (at == 0 || tokens[at - 1].1 != Token::PathSeparator);
        if is_start {
            at = tree(&tokens, at, &[], &mut found);
        } else {
            at += 1;
        }
    }
    found
}

/// Adds the paths of a `use` tree, or the one path of an expression or type, and returns where it ends.
fn tree(tokens: &[(usize, Token)], mut at: usize, prefix: &[String], found: &mut Vec<(usize, Vec<String>)>) -> usize {
    let mut path = prefix.to_vec();
    let line = tokens[at].0;
    loop {
        match tokens.get(at).map(|token| &token.1) {
            Some(Token::Name(name)) => path.push(name.clone()),
            Some(Token::Star) => path.push("*".to_owned()),
            Some(Token::Open) => {
                at += 1;
                while !matches!(tokens.get(at).map(|token| &token.1), Some(Token::Close) | None) {
                    let starts = matches!(tokens[at].1, Token::Name(_) | Token::Star);
                    at = if starts { tree(tokens, at, &path, found) } else { at + 1 };
                }
                return at + 1;
            }
            _ => break,
        }
        at += 1;
        if tokens.get(at).is_none_or(|token| token.1 != Token::PathSeparator) {
            break;
        }
        at += 1;
    }
    // `use a::B as C` names B; what it is called here does not matter.
    if matches!(tokens.get(at).map(|token| &token.1), Some(Token::Name(name)) if name == "as") {
        at += 2;
    }
    found.push((line, path));
    at
}

fn tokens(code: &str) -> Vec<(usize, Token)> {
    let (mut found, mut line, mut rest) = (Vec::new(), 1, code);
    while let Some(first) = rest.chars().next() {
        let name: usize = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let (token, length) = match first {
            _ if name > 0 => (Token::Name(rest[..name].to_owned()), name),
            ':' if rest.starts_with("::") => (Token::PathSeparator, 2),
            '{' => (Token::Open, 1),
            '}' => (Token::Close, 1),
            ',' => (Token::Comma, 1),
            '*' => (Token::Star, 1),
            _ => (Token::Other, first.len_utf8()),
        };
        if !first.is_whitespace() {
            found.push((line, token));
        }
        line += usize::from(first == '\n');
        rest = &rest[length..];
    }
    found
}

/// Every name in masked code, apart from those in `use` declarations.
pub(super) fn names(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_use = false;
    for (_, token) in tokens(code) {
        match token {
            Token::Name(name) if name == "use" => is_use = true,
            Token::Name(name) if !is_use => found.push(name),
            // The semicolon that ends a `use`: inside one there is nothing else of this kind.
            Token::Other => is_use = false,
            _ => {}
        }
    }
    found
}

/// The names of public items that masked code declares.
pub(super) fn public_items(code: &str) -> BTreeSet<String> {
    let kinds = ["fn", "struct", "enum", "trait", "type", "const", "static"];
    let words: Vec<&str> = code.split_whitespace().collect();
    let declared = words.iter().enumerate().filter(|(_, word)| **word == "pub").filter_map(|(at, _)| {
        let kind = (at + 1..at + 4).find(|at| words.get(*at).is_some_and(|word| kinds.contains(word)))?;
        // `pub const fn`: the name follows the last of these words.
        let kind = if words.get(kind + 1) == Some(&"fn") { kind + 1 } else { kind };
        let is_direct = words[at + 1..kind].iter().all(|word| ["const", "async", "unsafe"].contains(word));
        let name = words.get(kind + 1).filter(|_| is_direct)?;
        Some(name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?.to_owned())
    });
    // A name that a macro fills in is none.
    declared.filter(|name| !name.is_empty()).collect()
}

#[test]
fn items_for_tests_are_cut_and_the_rest_stays() {
    let text = "use a::B;\n#[cfg(test)]\nmod tests;\nfn x() {\n    \"#[cfg(test)]\"; // crate::c\n}\n#[cfg(test)]\n#[allow(x)]\nmod y {\n    \
                fn z() { crate::d::E; '}'; '\\''; }\n}\nfn w<'a>(f: &'a F) { crate::g::{H, i::{J as K, self}} }\n";
    let file = SourceFile::new(PathBuf::from("a/mod.rs"), text.to_owned());
    let found: Vec<(usize, String)> = file.paths().into_iter().map(|(line, path)| (line, path.join("::"))).collect();
    let expected = [(1, "a::B"), (12, "crate::g::H"), (12, "crate::g::i::J"), (12, "crate::g::i::self")];
    assert_eq!(found, expected.map(|(line, path)| (line, path.to_owned())));
    assert_eq!(file.module(), ["a"]);
    let passages: Vec<(usize, String)> = prose(text).into_iter().map(|it| (it.line, it.text)).collect();
    assert_eq!(passages, [(5, "#[cfg(test)]".to_owned()), (5, "// crate::c".to_owned())]);
}

#[test]
fn public_items_and_names_are_found() {
    let code = "pub const fn a() {}\npub(crate) fn b() {}\npub struct C;\nuse d::{e, f};\npub fn g<T>() { a() }\n";
    assert_eq!(public_items(code).into_iter().collect::<Vec<_>>(), ["C", "a", "g"]);
    assert!(!names(code).contains(&"e".to_owned()) && names(code).iter().filter(|name| *name == "a").count() == 2);
}
