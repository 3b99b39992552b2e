//! Whether a text can hold an include directive, found out without parsing it: yes when in doubt.

/// Asked of every file of a tree, so it looks for the letters. Escapes can spell them otherwise, and so can encodings.
pub fn may_include(text: &[u8]) -> bool {
    let is_utf16 = matches!(text, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
    let may_start = |byte, next| (byte == b'+') & ((next == b'i') | (next == b'?')) | (byte == b'\\');
    is_utf16
        || pairs(text, may_start).any(|at| match text[at] {
            b'+' => is_include(&text[at + 1..]),
            _ => is_letter_in_disguise(&text[at + 1..]) || is_broken_off(&text[..at], &text[at + 1..]),
        })
}

/// Where two wanted bytes stand side by side. Many are looked at in one step if it is decided without branches.
pub fn pairs(text: &[u8], is_wanted: impl Fn(u8, u8) -> bool + Copy) -> impl Iterator<Item = usize> {
    const STRIDE: usize = 128;
    let starts = (0..text.len().saturating_sub(1)).step_by(STRIDE);
    starts.flat_map(move |start| {
        let end = (start + STRIDE).min(text.len() - 1);
        let neighbours = move || text[start..end].iter().zip(&text[start + 1..=end]);
        let found = neighbours().fold(0, |found, (&byte, &next)| found | u8::from(is_wanted(byte, next)));
        let wanted = move |(at, (&byte, &next))| is_wanted(byte, next).then_some(start + at);
        (found != 0).then(|| neighbours().enumerate().filter_map(wanted)).into_iter().flatten()
    })
}

const LETTERS: &[u8] = b"include";

fn is_include(rest: &[u8]) -> bool {
    rest.strip_prefix(b"?").unwrap_or(rest).starts_with(LETTERS)
}

/// `\x2b`, `\u002b`, `\U0000002b`: whether an escape stands for a letter that an include directive is written with.
fn is_letter_in_disguise(escape: &[u8]) -> bool {
    let Some((kind, digits)) = escape.split_first() else { return false };
    let length = match kind {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        _ => return false,
    };
    let Some(Ok(digits)) = digits.get(..length).map(std::str::from_utf8) else { return false };
    let letter = u32::from_str_radix(digits, 16).ok().and_then(|code| u8::try_from(code).ok());
    letter.is_some_and(|letter| matches!(letter, b'+' | b'?') || LETTERS.contains(&letter))
}

/// Whether a backslash at the end of a line breaks a directive in two; the next line goes on where this one stopped.
fn is_broken_off(before: &[u8], after: &[u8]) -> bool {
    if !matches!(after.first(), Some(b'\n' | b'\r')) {
        return false;
    }
    (0..=LETTERS.len()).any(|length| {
        let start = before.strip_suffix(&LETTERS[..length]);
        start.is_some_and(|start| start.ends_with(b"+") || start.ends_with(b"+?"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Format, parse};
    use crate::limits::Limits;
    use crate::path::RepoPath;
    use crate::text::{SourceText, Sources};
    use proptest::prelude::*;

    #[test]
    fn directives_are_noticed_however_they_are_spelled() {
        for text in [
            "+include: a",
            "a: {+?include: b}",
            r#"{"\u002binclude": "a"}"#,
            r#""\x2binclude": a"#,
            r#""+\U00000069nclude": a"#,
            "? \"+incl\\\n  ude\"\n: a",
            "? \"+\\\r\n  include\"\n: a",
        ] {
            assert!(may_include(text.as_bytes()), "{text}");
        }
        let utf16: Vec<u8> = "\u{feff}+include: a".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(may_include(&utf16));
    }

    #[test]
    fn files_without_directives_are_not_read_again_and_again() {
        for text in [
            "",
            "include: a",
            "+/x: 1",
            r#"{"a": "b\u003cc\u003e\u0026\n\"", "d": "caf\u00e9"}"#,
            "run: |\n  make \\\n    all\n",
            "a: \"tab\\t \\x1b[0m\\\\\"",
            "a\\",
            "a\\x2",
        ] {
            assert!(!may_include(text.as_bytes()), "{text}");
        }
    }

    proptest! {
        /// No pair is missed or found twice, wherever it stands.
        #[test]
        fn pairs_are_found_at_every_place(text in prop::collection::vec(prop::sample::select(b"ab".to_vec()), 0..400)) {
            let found: Vec<usize> = pairs(&text, |byte, next| (byte == b'a') & (next == b'b')).collect();
            let expected: Vec<usize> =
                text.windows(2).enumerate().filter(|(_, pair)| pair == b"ab").map(|(at, _)| at).collect();
            prop_assert_eq!(found, expected);
        }

        /// Whatever a parser makes a key that starts an include of, it was noticed in the text.
        #[test]
        fn nothing_that_is_read_as_a_directive_is_missed(
            forms in prop::collection::vec(prop::sample::select(vec!['p', 'x', 'u', 'U', 'n']), 9),
            is_optional in any::<bool>(),
        ) {
            let word = if is_optional { "+?include" } else { "+include" };
            let mut text = String::from("? \"");
            for (letter, form) in word.chars().zip(&forms) {
                match form {
                    'x' => text += &format!("\\x{:02x}", u32::from(letter)),
                    'u' => text += &format!("\\u{:04X}", u32::from(letter)),
                    'U' => text += &format!("\\U{:08x}", u32::from(letter)),
                    'n' => text += &format!("\\\n  {letter}"),
                    _ => text.push(letter),
                }
            }
            text += "\"\n: a.yaml\n";
            let source = Sources::default().add(SourceText::new(RepoPath::root(), "", text.as_str()));
            let parsed = parse(&text, source, Format::Yaml, &Limits::default());
            prop_assert!(parsed.findings.is_empty(), "{text}: {:?}", parsed.findings);
            prop_assert!(parsed.value[0].root.get(word).is_some(), "{text}");
            prop_assert!(may_include(text.as_bytes()), "{text}");
        }
    }
}
