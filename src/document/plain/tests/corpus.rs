//! The cases of the YAML test suite and what becomes of them by small accidents.

use proptest::prelude::*;
use proptest::sample::Index;

use super::{compare, many};
use crate::limits::Limits;

/// What can happen to a text.
#[derive(Debug, Clone)]
enum Accident {
    Replace(Index, &'static str),
    Insert(Index, &'static str),
    SwapLines(Index, Index),
    Indent(Index, usize),
    Dedent(Index),
    Cut(Index),
}

fn accident() -> impl Strategy<Value = Accident> {
    let bit = prop::sample::select(vec![
        " ", "  ", "\n", "\n\n", "\t", "\r", ":", ": ", "- ", "-", "#", " #", "'", "\"", "\\", "|", ">", "+", "[", "]",
        "{", "}", ",", "?", "&", "*", "!", "%", "@", "a", "1", "~", "é", "\u{85}", "\u{feff}", "---", "...", "<<",
    ]);
    prop_oneof![
        (any::<Index>(), bit.clone()).prop_map(|(at, bit)| Accident::Replace(at, bit)),
        (any::<Index>(), bit).prop_map(|(at, bit)| Accident::Insert(at, bit)),
        (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Accident::SwapLines(a, b)),
        (any::<Index>(), 1..4_usize).prop_map(|(at, spaces)| Accident::Indent(at, spaces)),
        any::<Index>().prop_map(Accident::Dedent),
        any::<Index>().prop_map(Accident::Cut),
    ]
}

fn befall(text: &str, accident: &Accident) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    if lines.is_empty() {
        return text.to_owned();
    }
    let join = |before: &[char], bit: &str, after: &[char]| {
        before.iter().copied().chain(bit.chars()).chain(after.iter().copied()).collect()
    };
    match accident {
        Accident::Replace(at, bit) => {
            let at = at.index(characters.len());
            return join(&characters[..at], bit, &characters[at + 1..]);
        }
        Accident::Insert(at, bit) => {
            let at = at.index(characters.len() + 1);
            return join(&characters[..at], bit, &characters[at..]);
        }
        Accident::Cut(at) => return characters[..at.index(characters.len())].iter().collect(),
        Accident::SwapLines(a, b) => {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            lines.swap(a, b);
        }
        Accident::Indent(at, spaces) => {
            let at = at.index(lines.len());
            lines[at].insert_str(0, &" ".repeat(*spaces));
        }
        Accident::Dedent(at) => {
            let at = at.index(lines.len());
            lines[at] = lines[at].strip_prefix(' ').unwrap_or(&lines[at]).to_owned();
        }
    }
    lines.concat()
}

/// What people really write, in small.
const CONFIGURATION: &str = "\
# A comment first
apiVersion: apps/v1
metadata:
  name: web   # and one behind
  labels: {app: web, tier: \"front end\"}
  annotations:
    \"quoted/key\": 'it''s'
    empty:
    folded: 'one

      two
      three'
spec:
  args:
  - --port=80
  - \"\\\"x\\\"\\n\"
  - - nested
    - [a, 'b', {}]
  -
    name: below

    # between
    value: null
  script: |-
    #!/bin/sh
    set -e

      indented
  keep: |+
    a

  last: |
    end
";

/// The cases of the suite, if it lies beside the repository or in the folder that `OUTCROP_CORPORA` names, and our own.
fn texts() -> Vec<String> {
    let beside = || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora");
    let folder = std::env::var_os("OUTCROP_CORPORA").map_or_else(beside, Into::into);
    let suite = std::fs::read_to_string(folder.join("yaml-test-suite.json")).unwrap_or_else(|_| "[]".to_owned());
    let cases: Vec<serde_json::Value> = serde_json::from_str(&suite).unwrap();
    let decoded = cases.iter().map(|case| decode(case["yaml_base64"].as_str().unwrap()));
    let mut texts: Vec<String> = decoded.filter_map(|bytes| String::from_utf8(bytes).ok()).collect();
    // As often as everything else together: it is what the fast way is for.
    texts.extend(std::iter::repeat_n(CONFIGURATION.to_owned(), texts.len() + 1));
    texts
}

fn decode(base64: &str) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let values: Vec<u32> = base64
        .bytes()
        .filter_map(|byte| digits.iter().position(|&digit| digit == byte))
        .map(|value| value as u32)
        .collect();
    let group = |values: &[u32]| {
        let bits = (0..4).fold(0, |bits, at| bits << 6 | values.get(at).copied().unwrap_or(0));
        bits.to_be_bytes()[1..values.len()].to_vec()
    };
    values.chunks(4).flat_map(group).collect()
}

#[test]
fn the_suite_reads_the_same_both_ways() {
    let texts = texts();
    let plain = texts.iter().filter(|text| compare(text, &Limits::default()) > 0).count();
    assert!(plain > texts.len() / 2, "{plain} of {}", texts.len());
}

#[test]
fn damaged_texts_read_the_same_both_ways() {
    let texts = texts();
    let accidents = proptest::collection::vec(accident(), 1..4);
    proptest!(many(), |(text in prop::sample::select(texts), accidents in accidents)| {
        let damaged = accidents.iter().fold(text, |text, accident| befall(&text, accident));
        compare(&damaged, &Limits::default());
    });
}
