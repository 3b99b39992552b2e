//! Files made to exhaust a reader: each must end at once, with a finding.

use std::time::{Duration, Instant};

use super::*;

/// Far more than any of them needs, even unoptimised on a busy machine; far less than a reader that falls for it.
const AT_ONCE: Duration = Duration::from_secs(30);

fn rules_at_once(text: &str, format: Format, limits: &Limits) -> Vec<&'static str> {
    let start = Instant::now();
    let outcome = parse(text, source(), format, limits);
    let rules = outcome.findings.iter().map(|finding| finding.rule.id).collect();
    drop(outcome);
    assert!(start.elapsed() < AT_ONCE, "took {:?}", start.elapsed());
    rules
}

fn assert_refused(text: &str, format: Format, rule: &str) {
    let shown: String = text.chars().take(20).collect();
    assert_eq!(rules_at_once(text, format, &Limits::default()), [rule], "{shown}…");
}

#[test]
fn nesting_without_end() {
    for text in ["[", "{a: ", "- ", "? ", "[a: ", "[? ", "{? ", "!t [", "&a [", "- ? "] {
        assert_refused(&text.repeat(200_000 / text.len()), Format::Yaml, "limit/depth");
    }
    for text in ["[", "{\"a\":", "[{\"\":"] {
        assert_refused(&text.repeat(200_000), Format::Json, "limit/depth");
    }
    let stairs: String = (0..500).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    assert_refused(&stairs, Format::Yaml, "limit/depth");
}

#[test]
fn the_limit_of_depth_is_exact() {
    let limits = Limits { depth: 10, ..Limits::default() };
    let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    for format in [Format::Yaml, Format::Json] {
        let height = |text: &str| parse(text, source(), format, &limits).value.first().map(|doc| doc.root.height());
        assert_eq!(height(&nested(9)), Some(10));
        assert_eq!(height(&nested(10)), None);
        assert_eq!(rules_at_once(&nested(10), format, &limits), ["limit/depth"]);
    }
    let through_alias = "- &a [[[[1]]]]\n- [[[[*a]]]]\n";
    assert!(rules_at_once(through_alias, Format::Yaml, &limits).is_empty());
    assert_eq!(rules_at_once(&through_alias.replace("*a", "[*a]"), Format::Yaml, &limits), ["limit/depth"]);
}

#[test]
fn the_limit_of_values_is_exact() {
    let limits = Limits { nodes: 5, ..Limits::default() };
    for format in [Format::Yaml, Format::Json] {
        assert!(rules_at_once("[1, 2, 3, 4]", format, &limits).is_empty());
        assert_eq!(rules_at_once("[1, 2, 3, 4, 5]", format, &limits), ["limit/nodes"]);
        assert!(rules_at_once("{\"a\": 1, \"b\": 2, \"c\": 3, \"d\": 4}", format, &limits).is_empty());
    }
    assert!(rules_at_once("[&a [1], *a]", Format::Yaml, &limits).is_empty());
    assert_eq!(rules_at_once("[&a [1], *a, 1]", Format::Yaml, &limits), ["limit/nodes"]);
    assert_eq!(rules_at_once("--- 1\n".repeat(7).as_str(), Format::Yaml, &limits), ["limit/nodes"]);
}

#[test]
fn aliases_of_aliases() {
    let mut laughs = "a0: &a0 [lol, lol]\n".to_owned();
    for level in 1..60 {
        laughs += &format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 10].join(", "));
    }
    assert_refused(&laughs, Format::Yaml, "limit/nodes");
    let mut chain = "- &a0 [x]\n".to_owned();
    for level in 1..10_000 {
        chain += &format!("- &a{level} [*a{}]\n", level - 1);
    }
    assert_refused(&chain, Format::Yaml, "limit/depth");
}

#[test]
fn long_texts_under_many_aliases() {
    let text = format!("- &a {}\n{}", "x".repeat(100_000), "- *a\n".repeat(10_000));
    assert_refused(&text, Format::Yaml, "limit/nodes");
    let keys = format!("- &a [{}]\n{}", "x".repeat(10_000), "- {*a : 1}\n".repeat(20_000));
    let limits = Limits { file_bytes: 1 << 20, ..Limits::default() };
    assert_eq!(rules_at_once(&keys, Format::Yaml, &limits), ["limit/nodes"]);
    let mut key = "- &a0 [x, x]\n".to_owned();
    for level in 1..20 {
        key += &format!("- &a{level} [*a{0}, *a{0}]\n", level - 1);
    }
    key += &"- {*a19 : 1}\n".repeat(100);
    assert_eq!(rules_at_once(&key, Format::Yaml, &limits), ["limit/nodes"]);
}

#[test]
fn merges_of_merges() {
    let mut chain = "- &a0 {k: v}\n".to_owned();
    for level in 1..20_000 {
        chain += &format!("- &a{level} {{<<: *a{}}}\n", level - 1);
    }
    assert_refused(&chain, Format::Yaml, "limit/depth");
    let many: String = (0..2000).map(|n| format!("k{n}: v, ")).collect();
    let repeated = format!("- &a {{{many}}}\n- <<: [{}]\n", "*a, ".repeat(5000));
    assert_refused(&repeated, Format::Yaml, "limit/nodes");
}

#[test]
fn huge_keys_texts_numbers_and_maps() {
    let long = "k".repeat(200_000);
    assert_refused(&format!("{long}: 1\n"), Format::Yaml, "document/syntax");
    assert_refused(&format!("a: 0x{}\n", "f".repeat(200_000)), Format::Yaml, "document/syntax");
    for text in [
        format!("? {long}\n: 1\n"),
        format!("- {long}\n"),
        format!("- '{long}'\n"),
        format!("- {}\n", "9".repeat(200_000)),
    ] {
        assert!(rules_at_once(&text, Format::Yaml, &Limits::default()).is_empty());
    }
    let entries: Vec<String> = (0..20_000).map(|n| format!("\"k{n}\": {n}")).collect();
    let map = format!("{{{}}}", entries.join(","));
    assert!(rules_at_once(&map, Format::Json, &Limits::default()).is_empty());
    assert!(rules_at_once(&map.replace(',', ",\n"), Format::Yaml, &Limits::default()).is_empty());
    let radix = format!("[{}]", vec![format!("0x{}", "f".repeat(200)); 500].join(","));
    assert!(rules_at_once(&radix, Format::Yaml, &Limits::default()).is_empty());
}

#[test]
fn errors_without_end() {
    let text = "--- @\n".repeat(5_000);
    let outcome = read(&text, Format::Yaml);
    assert_eq!(outcome.findings.len(), 1001);
    assert_eq!(outcome.findings[1000].message, "4000 more errors in this file are not listed");
    assert_eq!(rules_at_once(&"a: 1\n".repeat(5_000), Format::Yaml, &Limits::default()).len(), 1001);
    for text in [
        "---\n", "...\n", "# c\n", "\n", " ", "\r", "-\n", ":\n- ", "a:\n", "%Y\n", "\t", "'", "\"", "|", "&a ", "!a ",
        "*", "\u{feff}",
    ] {
        rules_at_once(&text.repeat(20_000 / text.len()), Format::Yaml, &Limits::default());
    }
    for text in ["\"", "\\", ",", ":", "1", " ", "\n", "\"\\u0000\",", "{}", "-"] {
        rules_at_once(&text.repeat(20_000 / text.len()), Format::Json, &Limits::default());
    }
}
