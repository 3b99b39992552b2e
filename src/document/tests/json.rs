//! JSON, rule by rule.

use super::*;
use crate::value::Value;

#[test]
fn values_keep_their_spelling_and_their_place() {
    let text =
        " {\"a\" : [1.10, -0, 1E5, \"\\u00e9\\ud83d\\ude00\\n\\/\", null, true, false],\n\"\\u0061b\": {}, \"\": [] } ";
    let document = only(text, Format::Json);
    assert_eq!(
        write::to_inline(&document.root),
        "{a: [1.10, -0, 1E5, \"é😀\\n/\", null, true, false], ab: {}, \"\": []}"
    );
    let a = document.root.get("a").unwrap();
    let slices: Vec<_> = a.as_list().unwrap().iter().map(|item| &text[item.span.range()]).collect();
    assert_eq!(slices, ["1.10", "-0", "1E5", "\"\\u00e9\\ud83d\\ude00\\n\\/\"", "null", "true", "false"]);
    assert_eq!(&text[document.root.span.range()], text.trim());
    assert_eq!(document.span.range(), 0..text.len());
    let keys: Vec<_> =
        document.root.as_map().unwrap().entries().iter().map(|entry| &text[entry.key.span.range()]).collect();
    assert_eq!(keys, ["\"a\"", "\"\\u0061b\"", "\"\""]);
}

#[test]
fn a_byte_order_mark_is_tolerated_once() {
    assert!(matches!(only("\u{feff}null", Format::Json).root.value, Value::Null));
    let text = "\u{feff}\u{feff}null";
    assert_eq!(complaints(text, &read(text, Format::Json).findings)[0].2, "a byte order mark inside the file");
}

#[test]
fn a_part_is_read_as_if_it_were_all() {
    let text = "xx[1]yy";
    let outcome = parse_part(text, 2..5, source(), Format::Json, &Limits::default());
    assert_eq!(outcome.value[0].root.as_list().unwrap()[0].span.range(), 3..4);
}

#[test]
fn duplicate_keys_are_findings_and_leave_the_document_out() {
    let text = "{\"a\": 1, \"b\": {\"c\": 1, \"\\u0063\": 2}, \"a\": 3}";
    let outcome = read(text, Format::Json);
    assert_eq!(
        complaints(text, &outcome.findings),
        [
            ("document/duplicate-key", "\"\\u0063\"", "the key `c` is written twice in one map"),
            ("document/duplicate-key", "\"a\"", "the key `a` is written twice in one map"),
        ]
    );
    assert!(outcome.value.is_empty());
}

#[test]
fn refusals_are_explained() {
    for (text, at, message, help) in [
        ("[1,]", ",", "a comma with nothing after it", "remove it"),
        ("{\"a\": 1, }", ",", "a comma with nothing after it", "remove it"),
        ("{ // c\n \"a\": 1}", "// c", "a comment", "no comments"),
        ("[1, /* c */ 2]", "/* c */ 2]", "a comment", "no comments"),
        ("[1 # c\n]", "# c", "a comment", "no comments"),
        ("{'a': 1}", "'", "a string in single quotes", "double quotes"),
        ("{a: 1}", "a", "a key is expected here", "double quotes"),
        ("{\"a\" 1}", "1", "a colon is missing after a key", "\"key\": value"),
        ("{\"a\": }", "}", "a value is missing", "null"),
        ("[1 2]", "2", "a comma is missing", "comma"),
        ("{\"a\": 1 \"b\": 2}", "\"", "a comma is missing", "comma"),
        ("[1}", "}", "`[` is closed by the wrong bracket", "`]`"),
        ("[1", "[", "`[` is not closed", "closing bracket"),
        ("{\"a\": {", "{", "`{` is not closed", "closing bracket"),
        ("\"abc", "\"", "this string is not closed", "closing quote"),
        ("\"a\nb\"", "", "a line break inside quotes", "\\n"),
        ("\"a\tb\"", "\t", "a tab inside quotes", "\\t"),
        ("\"\u{1}\"", "\u{1}", "a control character inside quotes", "\\u"),
        ("\"\\x\"", "\\x", "unknown escape", "backslash"),
        ("\"\\u12g4\"", "\\u", "unknown escape", "hexadecimal"),
        ("\"\\ud800x\"", "\\ud800", "half of a surrogate pair is not a character", "both halves"),
        ("\"\\ud800\\u0041\"", "\\ud800", "half of a surrogate pair is not a character", "both halves"),
        ("\"\\udc00\"", "\\udc00", "half of a surrogate pair is not a character", "both halves"),
        ("NaN", "NaN", "unknown word", "true"),
        ("[hunter2]", "hunter2", "a string without quotes", "double quotes"),
        ("01", "01", "not a JSON number", "leading zeros"),
        ("+1", "+1", "not a JSON number", "`+`"),
        (".5", ".5", "not a JSON number", "bare point"),
        ("1.", "1.", "not a JSON number", "decimal"),
        ("-", "-", "not a JSON number", "decimal"),
        ("0x10", "0x10", "not a JSON number", "decimal"),
        ("{} {}", "{", "text after the end of the value", "one value"),
        ("", "", "the file has no value", "empty file"),
        (" \n", "", "the file has no value", "empty file"),
    ] {
        let outcome = read(text, Format::Json);
        assert_eq!(complaints(text, &outcome.findings), [("document/syntax", at, message)], "{text:?}");
        let said = outcome.findings[0].help.as_deref().unwrap_or_default();
        assert!(said.contains(help), "{text:?}: {said:?}");
        assert!(outcome.value.is_empty());
    }
}
