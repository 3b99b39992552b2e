//! What is plain and what is not, shape by shape.

use super::compare;
use crate::limits::Limits;

#[test]
fn plain_texts_take_the_fast_way() {
    for text in [
        "a: 1",
        "a: 1\n",
        "a:",
        "a: \n",
        "a: # nothing\n",
        "a:\n  b:\n  c:\n",
        "a:\n  b:\nc:",
        "---\na: 1\n",
        "# head\n\n---  # c\n\na: 1\n",
        "- 1\n- 2",
        "-\n-\n- x\n-",
        "- # c\n- x\n",
        "- - 1\n  - 2\n- - - 3\n-\n  - 4\n",
        "a:\n- 1\n- 2\nb:\n  - 3\n",
        "- a:\n  - 1\n  b: 2\n-   c: 3\n    d: 4\n",
        "- a: 1\n# at the margin\n    # and far inside\n\n  b: 2\n",
        "  a: 1\n  b: 2\n",
        "a:\n  x\nb:\n  'y'\n",
        "a b: c d  # e\nf#g: h#i\n",
        "'a': 'it''s'\n\"b\": \"x # y: z\"\n",
        "a: \"one \\\"two\\\"\\n\\tthree\\\\\"\n",
        "a: 'one\n\n  two\n  three'\nb: \"x\n y\"",
        "1: a\ntrue: b\n~: c\n'2': d\n",
        "a: {}\nb: []\nc: [x, 'y', \"z\", 1, {k: v, l: []}]\nd: {a: b, 'c': [d]}\n",
        "- {a: b}\n- []\n",
        "a: |\n  x\n\n    y\nb: |-\n  x\nc: |+\n  x\n\nd: |  # c\n  x\n  \ty\n",
        "a: >\n  x\n  y\n\n  z\n\n   w\n  v\nb: >-\n\n  x\n\nc: >+\n  x\n\n",
        "a: one\n  two\n\n  'three' [four]  # c\nb:\n  five\n  six\n",
        "a : b\n'c' : d\ne :\n",
        "a: \"one\\\n  \\ two\\\n\n  three\"\n",
        "a: [b,c, d,]\n",
        "a: |\n  x\n    \n  y\n",
        "a: |\n  x",
        "a: |-\n  x",
        "a: |+\n  x",
        "a: |\n  x\n\n\n",
        "a: |-\n  x\n\n\n",
        "a: |+\n  x\n\n\n",
        "a: |+\n\n  x\n\n\nb: c",
        "- |\n x\n- |-\n  y\n- - |\n   z\n",
        "a:\n- |\n  x\n# c\n- y\n",
        "a: http://x:80/y?z=1&b\nb: -x\nc: --y=z\nd: a, b [c] {d}\n",
        "é: ü\nb: 😀\n",
        "a: 0x1F\nb: 1.50\nc: .inf\nd: ~\ne: 2001-12-14\n",
    ] {
        assert_eq!(compare(text, &Limits::default()), 1, "{text:?}");
    }
}

#[test]
fn everything_else_is_left_to_the_event_parser() {
    for text in [
        "",
        "# c\n",
        "x\n",
        "'x'\n",
        "{}\n",
        "|\n x\n",
        "--- a\n",
        "--- {}\n",
        "%YAML 1.2\n---\na: 1\n",
        "a: 1\n...\n",
        "a: b\n  c: d\n",
        "a: b\n c: d\n",
        "a: b: c\n",
        "a: - b\n",
        "a:b\n",
        "- a\nb: c\n",
        "a: 1\n- b\n",
        "a:\n  b: 1\n c: 2\n",
        "a: 1\na: 2\n",
        "&a b: c\n",
        "a: *b\n",
        "a: !t b\n",
        "? a\n: b\n",
        "a: >2\n  b\n",
        "a: |2\n   b\n",
        "a: |\nb: c\n",
        "a: |\n   \n  b\n",
        "\ta: b\n",
        "a:\tb\n",
        "a: b\t\n",
        "a: b\r\n",
        "a: @b\n",
        "a: `b\n",
        "a: %b\n",
        "a: \"\\x41\"\n",
        "a: 'b' c\n",
        "a: 'b'#c\n",
        "a: 'b\nc'\n",
        "'a\n b': c\n",
        "a: [b,\n  c]\n",
        "a: [b: c]\n",
        "a: {b}\n",
        "a: [,]\n",
        "[a]: b\n",
        "a: \u{85}\n",
        "a: \u{feff}b\n",
        "# \u{7}\na: b\n",
        "---a: b\n",
        "...a: b\n",
    ] {
        assert_eq!(compare(text, &Limits::default()), 0, "{text:?}");
    }
    assert_eq!(compare(&format!("{}: a\n", "k".repeat(1100)), &Limits::default()), 0);
    assert_eq!(compare(&format!("-\n#{}\n-\n", "c".repeat(5000)), &Limits::default()), 0);
    assert_eq!(compare(&format!("- a\n#{}\n- b\n", "c".repeat(5000)), &Limits::default()), 1);
    assert_eq!(compare(&format!("{}a\n", "- ".repeat(100)), &Limits::default()), 0);
}

#[test]
fn limits_hold_on_the_fast_way_too() {
    let limits = Limits { depth: 3, nodes: 4, ..Limits::default() };
    assert_eq!(compare("a:\n  b: 1\n  c: 2\n", &limits), 1);
    assert_eq!(compare("a:\n  b: 1\n  c: 2\n  d: 3\n", &limits), 0);
    assert_eq!(compare("a:\n  b:\n    c: 1\n", &limits), 0);
}
