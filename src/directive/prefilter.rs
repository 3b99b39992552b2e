//! Byte prefilter for include directives: decides without parsing whether a text may hold one, and says yes when in doubt.

use crate::scan::{contains, is_escape_of, positions};

/// Whether a text may hold an include directive. Asked of every file of a tree, so it searches the bytes; escapes and encodings
/// that could spell a directive differently count as one.
pub fn may_include(text: &[u8]) -> bool {
    let is_utf16 = matches!(text, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
    is_utf16
        || contains(text, b"+include")
        || contains(text, b"+?include")
        || positions(text, b'\\').any(|at| {
            is_escape_of(b"+?include", &text[at + 1..]) || is_split_by_line_break(&text[..at], &text[at + 1..])
        })
}

const LETTERS: &[u8] = b"include";

/// Whether a backslash at the end of a line splits a directive, which continues on the next line.
fn is_split_by_line_break(before: &[u8], after: &[u8]) -> bool {
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
        /// Every key that a parser reads as an include is noticed in the text.
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
