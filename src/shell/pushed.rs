//! Parses the standard input of a pre-push hook: the pushed references, and the remote's state.

use super::error::Failure;
use crate::sanitize;

/// One reference that is pushed and not deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pushed {
    /// What the reference is called on the remote.
    pub(super) reference: String,
    /// The object that is pushed.
    pub(super) tip: String,
    /// The object the remote has under this name, if it has one.
    pub(super) known: Option<String>,
}

/// Reads lines of `<local-ref> <local-oid> <remote-ref> <remote-oid>`; those that delete a reference push nothing.
pub(super) fn parse(input: &[u8]) -> Result<Vec<Pushed>, Failure> {
    let lines = input.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.filter_map(|line| parse_line(line).transpose()).collect()
}

fn parse_line(line: &[u8]) -> Result<Option<Pushed>, Failure> {
    let malformed = || {
        Failure::new(format!("cannot read this line of git's list of pushed refs: {}", sanitize::quoted_path(line)))
            .help("a pre-push hook expects lines of `<local-ref> <local-oid> <remote-ref> <remote-oid>` on standard input")
    };
    let text = std::str::from_utf8(line).map_err(|_| malformed())?;
    // What is pushed is named as the user wrote it, and `HEAD^{/two words}` is a name too: only the end of the line is fixed.
    let mut fields = text.rsplitn(4, ' ');
    let (Some(known), Some(reference), Some(tip), Some(_)) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return Err(malformed());
    };
    if !is_id(tip) || !is_id(known) || tip.len() != known.len() || reference.is_empty() {
        return Err(malformed());
    }
    let known = Some(known).filter(|id| !is_zero(id)).map(str::to_owned);
    Ok((!is_zero(tip)).then(|| Pushed { reference: reference.to_owned(), tip: tip.to_owned(), known }))
}

/// Whether a text is a full object id, of SHA-1 or of SHA-256.
pub(super) fn is_id(text: &str) -> bool {
    [40, 64].contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether an id is all zeros, which means no object.
pub(super) fn is_zero(id: &str) -> bool {
    id.bytes().all(|byte| byte == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    const ZERO: &str = "0000000000000000000000000000000000000000";

    fn pushed(reference: &str, tip: &str, known: Option<&str>) -> Pushed {
        Pushed { reference: reference.to_owned(), tip: tip.to_owned(), known: known.map(str::to_owned) }
    }

    #[test]
    fn lines_of_every_kind_are_read() {
        let (long, long_zero) = ("c".repeat(64), "0".repeat(64));
        let cases: &[(String, Vec<Pushed>)] = &[
            (String::new(), vec![]),
            (format!("refs/heads/x {A} refs/heads/x {B}\n"), vec![pushed("refs/heads/x", A, Some(B))]),
            (format!("refs/heads/x {A} refs/heads/x {B}"), vec![pushed("refs/heads/x", A, Some(B))]),
            (format!("HEAD {A} refs/heads/new {ZERO}\n"), vec![pushed("refs/heads/new", A, None)]),
            (format!("refs/tags/v1 {A} refs/tags/v1 {ZERO}\n"), vec![pushed("refs/tags/v1", A, None)]),
            (format!("(delete) {ZERO} refs/heads/gone {B}\n"), vec![]),
            (format!("HEAD^{{/two words}} {A} refs/heads/x {ZERO}\n"), vec![pushed("refs/heads/x", A, None)]),
            (format!("refs/heads/x {long} refs/heads/x {long_zero}\n"), vec![pushed("refs/heads/x", &long, None)]),
            (format!("(delete) {long_zero} refs/heads/x {long}\n"), vec![]),
            (
                format!("a {A} refs/heads/a {ZERO}\n(delete) {ZERO} refs/heads/b {B}\nc {B} refs/heads/c {A}\n"),
                vec![pushed("refs/heads/a", A, None), pushed("refs/heads/c", B, Some(A))],
            ),
        ];
        for (input, expected) in cases {
            let found = parse(input.as_bytes()).unwrap_or_else(|error| panic!("{input:?}: {error}"));
            assert_eq!(&found, expected, "{input:?}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let mixed = format!("x {A} refs/heads/x {}", "0".repeat(64));
        let short = format!("x {} refs/heads/x {B}", &A[1..]);
        let words = format!("{A} refs/heads/x {B}");
        let not_hex = format!("x {} refs/heads/x {B}", "g".repeat(40));
        let second = format!("x {A} refs/heads/x {B}\nrubbish\n");
        for input in [mixed, short, words, not_hex, second, "rubbish".to_owned(), " ".to_owned(), "\r\n".to_owned()] {
            assert!(parse(input.as_bytes()).is_err(), "{input:?}");
        }
        assert!(parse(b"\xff\xfe").is_err());
    }
}
