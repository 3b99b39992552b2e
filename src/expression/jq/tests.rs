//! What programs answer, what they cannot reach, and that they end.

use proptest::prelude::*;

use super::*;
use crate::document::{Format, write};
use crate::testing::read_as;
use crate::value::{Entry, Secret, Value};

fn read(text: &str) -> Node {
    read_as(text, Format::Json)
}

fn place() -> Span {
    read("null").span.start_only()
}

fn results(program: &str, input: &Node) -> Result<Vec<Node>, Refusal> {
    Program::compile(program)?.run(&Allowance::new(budget::STEPS), input, place(), None)
}

/// The results as JSON on one line each, or the failure's message.
fn run(program: &str, input: &str) -> String {
    let compact = |node: &Node| {
        let json: serde_json::Value = serde_json::from_str(&write::to_json(node)).unwrap();
        let text = write::to_json(node);
        if json.is_object() || json.is_array() { text.split_whitespace().collect() } else { text.trim().to_owned() }
    };
    match results(program, &read(input)) {
        Ok(nodes) => nodes.iter().map(compact).collect::<Vec<String>>().join(" "),
        Err(failure) => format!("{}: {}", failure.rule.id, failure.message),
    }
}

#[test]
fn everyday_programs() {
    for (program, input, output) in [
        (".", r#"{"a":1}"#, r#"{"a":1}"#),
        (".provider = .providerId", r#"{"providerId":"x"}"#, r#"{"providerId":"x","provider":"x"}"#),
        ("{name, size: (.items|length)}", r#"{"name":"A","items":[1,2]}"#, r#"{"name":"A","size":2}"#),
        ("[.[] | select(.a > 1)]", r#"[{"a":1},{"a":2}]"#, r#"[{"a":2}]"#),
        ("map(.n) | add", r#"[{"n":1},{"n":2.5}]"#, "3.5"),
        ("sort_by(.b)", r#"[{"b":2},{"b":1}]"#, r#"[{"b":1},{"b":2}]"#),
        ("to_entries | from_entries", r#"{"b":1,"a":2}"#, r#"{"b":1,"a":2}"#),
        ("with_entries(.value += 1)", r#"{"b":1}"#, r#"{"b":2}"#),
        ("keys", r#"{"b":1,"a":2}"#, r#"["a","b"]"#),
        ("group_by(.k) | map(length)", r#"[{"k":1},{"k":2},{"k":1}]"#, "[2,1]"),
        (".. | numbers", r#"{"a":[1,{"b":2}]}"#, "1 2"),
        ("[paths]", r#"{"a":[1]}"#, r#"[["a"],["a",0]]"#),
        ("walk(if type == \"object\" then del(.x) else . end)", r#"{"x":1,"y":{"x":2}}"#, r#"{"y":{}}"#),
        ("\"a\\(.x)b\"", r#"{"x":[1,"q"]}"#, r#""a[1,\"q\"]b""#),
        (".a[1:] , .a[-1] , .a[:1]", r#"{"a":[1,2,3]}"#, "[2,3] 3 [1]"),
        ("test(\"^a.c$\"), sub(\"b\";\"x\"), [scan(\"[a-z]\")]", r#""abc""#, r#"true "axc" ["a","b","c"]"#),
        ("split(\",\") | join(\"-\")", r#""a,b""#, r#""a-b""#),
        ("[.[] | tostring] | join(\",\")", r#"[1,null,"x",true]"#, r#""1,null,x,true""#),
        ("join(\",\")", r#"[1,null,"x"]"#, r#""1,,x""#),
        ("first(range(10;0;-3)), [limit(3;repeat(1))]", "null", "10 [1,1,1]"),
        ("if . then 1 elif false then 2 else 3 end", "null", "3"),
        (".a // \"d\", (.b? // 1), try error(\"x\") catch .", r#"{"a":false}"#, r#""d" 1 "x""#),
        ("reduce .[] as [$a, $b] (0; . + $a * $b)", "[[1,2],[3,4]]", "14"),
        ("{a: {b: 1}} * {a: {c: 2}}", "null", r#"{"a":{"b":1,"c":2}}"#),
        ("@base64, @uri, @json, @html", r#""a b<""#, r#""YSBiPA==" "a%20b%3C" "\"a b<\"" "a b&lt;""#),
        ("tojson | fromjson", r#"{"a":[1.10,"x"]}"#, r#"{"a":[1.10,"x"]}"#),
        ("[10 / 2, 7 % 3, -(3), 1 / 4]", "null", "[5,1,-3,0.25]"),
        ("[.[] | ascii_downcase | ltrimstr(\"a\") | rtrimstr(\"z\")]", r#"["ABZ","c"]"#, r#"["b","c"]"#),
        ("INDEX(.id)", r#"[{"id":1}]"#, r#"{"1":{"id":1}}"#),
        ("[leaf_paths]", r#"{"a":[1]}"#, r#"[["a",0]]"#),
        ("tonumber, (\"1.50\" | tonumber)", "2", "2 1.50"),
        ("[isnan, (nan | isnan), (infinite | isinfinite)]", "1", "[false,true,true]"),
        ("min, max, unique, flatten, any, all", "[3,1,3]", "1 3 [1,3] [3,1,3] true true"),
        ("index(\"b\"), indices(\",\"), contains(\"b\"), inside(\"xa,bx\")", r#""a,b""#, "2 [1] true true"),
        ("[.[] as {a: $x, b: [$y]} | $x + $y]", r#"[{"a":1,"b":[2]}]"#, "[3]"),
        ("label $out | 1, break $out, 2", "null", "1"),
        ("def f($n): if $n > 0 then $n, f($n - 1) else empty end; [f(3)]", "null", "[3,2,1]"),
        (
            "fromdate, todate",
            r#""2015-03-05T23:51:47Z""#,
            "expression/jq: cannot use \"2015-03-05T23:51:47Z\" as number",
        ),
    ] {
        assert_eq!(run(program, input), output, "{program}");
    }
}

#[test]
fn what_is_missing_is_no_fault_of_deletions_and_assignments_make_their_parents() {
    for (program, input, output) in [
        ("del(.metadata.annotations)", "{}", "{}"),
        ("del(.a.b)", r#"{"a":null}"#, r#"{"a":null}"#),
        ("del(.a[0,2])", r#"{"a":[1,2,3]}"#, r#"{"a":[2]}"#),
        ("del(.a[0])", r#"{"a":[]}"#, r#"{"a":[]}"#),
        ("del(.[] | select(. > 1))", "[1,2,3]", "[1]"),
        ("del(.b, .c)", r#"{"a":1,"b":2,"c":3,"d":4}"#, r#"{"a":1,"d":4}"#),
        ("delpaths([[\"a\",\"b\"],[\"x\"]])", r#"{"a":{"b":1}}"#, r#"{"a":{}}"#),
        ("del(.[1:])", "[1,2,3]", "[1]"),
        (".a.b = 1", "null", r#"{"a":{"b":1}}"#),
        (".[2] = 1", "[]", "[null,null,1]"),
        (".a[1] |= 5", "{}", r#"{"a":[null,5]}"#),
        (".a += 1", "{}", r#"{"a":1}"#),
        (".[] |= empty", "[1,2]", "[]"),
        (
            "from_entries",
            r#"[{"name":"a","value":1},{"k":"b","v":null},{"key":null,"value":2}]"#,
            r#"{"a":1,"b":null,"null":2}"#,
        ),
        ("setpath([\"a\",\"b\"]; 1)", "null", r#"{"a":{"b":1}}"#),
    ] {
        assert_eq!(run(program, input), output, "{program}");
    }
}

#[test]
fn numbers_keep_their_digits_or_are_reported() {
    let input = r#"{"big":123456789012345678901234567890,"price":1.10,"tiny":1e-400}"#;
    assert_eq!(run(".", input), input);
    assert_eq!(run(".price, .tiny, .big", input), "1.10 1e-400 123456789012345678901234567890");
    assert_eq!(run(".big + 1", input), "123456789012345678901234567891");
    assert_eq!(run(".big == 123456789012345678901234567891", input), "false");
    assert_eq!(run(".big < 123456789012345678901234567891", input), "true");
    assert_eq!(run(".tiny + 1", input), "expression/number: jq cannot hold the number 1e-400 exactly");
    assert!(run(".big | sqrt", input).starts_with("expression/number"));
    assert_eq!(run("nan", "null"), "expression/number: jq cannot hold the number .nan exactly");
    assert_eq!(run("9007199254740993", "null"), "9007199254740993");
    assert_eq!(run("0.1 + 0.2", "null"), "0.30000000000000004");
    assert_eq!(run("1 / 0", "null"), "expression/jq: cannot calculate 1 / 0");
}

#[test]
fn what_is_not_touched_keeps_its_place() {
    let input = read(r#"{"a": {"b": [1, 2]}, "c": 3}"#);
    let kept = |pointer: &[&str]| pointer.iter().fold(&input, |node, key| node.get(key).unwrap()).span;
    let result = results("{x: .a.b, y: (.c + 1)}", &input).unwrap().remove(0);
    assert_eq!(result.get("x").unwrap().span, kept(&["a", "b"]));
    assert_eq!(result.get("y").unwrap().span, place());
    let changed = results("del(.c)", &input).unwrap().remove(0);
    assert_eq!(changed.get("a").unwrap().span, kept(&["a"]));
    assert_eq!(changed.as_map().unwrap().entries()[0].key.span, input.as_map().unwrap().entries()[0].key.span);
}

#[test]
fn nothing_outside_can_be_reached() {
    for program in [
        "env",
        "$ENV",
        "env.PATH",
        "input",
        "inputs",
        "now",
        "debug",
        "stderr",
        "halt",
        "halt_error",
        "input_filename",
        "localtime",
        "strflocaltime(\"%Z\")",
        "strptime(\"%Q\")",
        "get_search_list",
        "input_line_number",
        "$__prog_args",
        "!matches(\"a\";\"\")",
        "include \"a\"; .",
        "import \"a\" as a; .",
        "import \"a\" as $a; .",
        "getpath",
        "ltrimstr",
        "debug_empty",
        "modulemeta",
        "splits",
    ] {
        let answer = run(program, "null");
        assert!(answer.starts_with("expression/jq: "), "{program}: {answer}");
    }
    assert_eq!(run("resource(\"/a\")", "null"), "expression/jq: resource() works only in the jq of a list");
}

#[test]
fn errors_say_where_they_are() {
    let failure = Program::compile(".a | envv").unwrap_err();
    assert_eq!((failure.range.clone(), failure.message.as_str()), (Some(5..9), "there is no function `envv`"));
    assert!(Program::compile(".a | ").unwrap_err().message.starts_with("not a jq program: "));
    assert!(Program::compile("(").is_err() && Program::compile("").is_err() && Program::compile("\"\\q\"").is_err());
    let message = run("error(\"\\u001b[31mred\")", "null");
    assert!(!message.contains('\u{1b}'), "{message}");
}

#[test]
fn every_program_ends() {
    for program in [
        "def f: f; f",
        "def f: 1 + f; f",
        "def f: [f]; f",
        "def f(x): f(x|x); f(.)",
        "[limit(1000000000; repeat(1))]",
        "repeat(1)",
        "[recurse(. + 1)]",
        "until(false; .)",
        "last(range(1000000000000000000))",
        "[range(1e18)]",
        "range(1e18)",
        "reduce range(1e12) as $i (0; . + 1)",
        "def f: . + . | f; \"x\" | f",
        "def f: . + . | f; [1] | f",
        "def f: [., .] | f; 1 | f",
        "reduce range(60) as $i (1; [., .]) | tojson",
        "reduce range(60) as $i (1; {a: ., b: .}) | [..] | length",
        "reduce range(60) as $i (1; [., .]) as $a | reduce range(60) as $i (1; [., .]) as $b | $a == $b",
        "\"x\" * 10000000000",
        "[limit(1000000000; repeat(\"x\" * 100000))]",
        "reduce range(100000) as $i (0; [.])",
        ".[1000000000] = 1",
        ".[-1] = 1 | .",
        "until(false; tojson)",
        "until(false; @base64)",
        "def f: . * . | f; 10 | f",
        "\"ab\" | [splits(\"\"; \"g\")] | until(false; map(. + .))",
        "\"a\" * 100000 | test(\"(a*)*b\")",
        "test(\"((a{1000}){1000}){1000}\")",
        "[combinations(100)]",
        "[1,2,3] | [combinations(40)]",
        "def f: def g: f; g; f",
        "while(true; .)",
        "first(repeat(empty))",
        "[.. | ..] | until(false; [.[] | ..])",
        "path(repeat(.))",
        "[paths(..)] | until(false; . + [.])",
        "reduce range(1e9) as $i (.; setpath([\"k\\($i)\"]; $i))",
        "limit(1e18; repeat(0))",
        "\"x\" | until(false; gsub(\"\"; \"xx\"))",
        "[range(3000)] | sort_by(. as $x | [range(3000)])",
        "\"a\" | [repeat(try test(\"\\\\w{900}\") catch 1)]",
        "[repeat(try test(\"(\\\\w{50}){50}\") catch 1)]",
        "\"a\" * 30000 | [repeat(try test(\"(a|b)*c\"; \"g\") catch 1)]",
        "\"a\" * 30000 | [repeat(try test(\"[ab]*c\"; \"g\") catch 1)]",
        "def f: try f catch f; f",
        "try (def f: f; f) catch 1",
        "(def f: f; f) // 1",
    ] {
        let answer = run(program, "null");
        assert!(
            answer.starts_with("limit/expression: ") || answer.starts_with("expression/"),
            "{program}: {answer:.200}"
        );
    }
}

#[test]
fn programs_as_text_are_bounded_too() {
    let nested = |count: usize| format!("{}1{}", "(".repeat(count), ")".repeat(count));
    assert_eq!(run(&nested(500), "null"), "1");
    run(&nested(30_000), "null");
    run(&format!("{}1{}", "[".repeat(30_000), "]".repeat(30_000)), "null");
    run(&"-".repeat(60_000), "null");
    run(&"def f: ".repeat(9_000), "null");
    run(&".a|".repeat(20_000), "null");
    run(&"if 1 then ".repeat(6_000), "null");
    run(&"\"\\(".repeat(10_000), "null");
    assert!(run(&" ".repeat(LONGEST_PROGRAM + 1), "null").starts_with("limit/expression"));
}

#[test]
fn resources_are_looked_up_through_the_resolver_alone() {
    let resolver = |path: &str| match path {
        "/a/b/" => Ok(read(r#"{"id":"P"}"#)),
        other => Err(format!("{other} does not exist")),
    };
    let program = Program::compile("[.[] | select(.p == (resource(\"/a/b/\") | .id))]").unwrap();
    let found = program
        .run(&Allowance::new(budget::STEPS), &read(r#"[{"p":"P"},{"p":"Q"}]"#), place(), Some(&resolver))
        .unwrap();
    assert_eq!(found[0].as_list().unwrap().len(), 1);
    for wrong in ["resource(\"/x\")", "resource(1)", "resource(\" \")", "resource(null)"] {
        let program = Program::compile(wrong).unwrap();
        assert!(
            program.run(&Allowance::new(budget::STEPS), &read("null"), place(), Some(&resolver)).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn secrets_are_moved_and_compared_but_not_looked_into() {
    let secret = |text: &str| Node::new(Value::Secret(Secret::hide(Node::text(text, place()))), place());
    let input = Node::map(
        vec![
            Entry::named("a", place(), secret("hunter2")),
            Entry::named("b", place(), secret("hunter2")),
            Entry::named("c", place(), secret("other")),
        ],
        place(),
    );
    let result = |program: &str| results(program, &input).map(|mut nodes| nodes.remove(0));
    let is_secret = |node: &Node| matches!(node.value, Value::Secret(_));
    assert!(is_secret(&result(".a").unwrap()));
    assert!(is_secret(&result("\"Bearer \" + .a").unwrap()));
    assert!(is_secret(&result("\"Bearer \\(.a)\"").unwrap()));
    assert!(is_secret(&result("tojson").unwrap()));
    assert!(result("\"x\" + .a").unwrap().is_equal(&result("\"x\" + .b").unwrap()));
    assert!(!result("\"x\" + .a").unwrap().is_equal(&result("\"x\" + .c").unwrap()));
    for (program, holds) in
        [(".a == .b", true), (".a == .c", false), (".a == \"hunter2\"", false), ("[.a] == [.c]", false)]
    {
        assert!(matches!(result(program).unwrap().value, Value::Bool(value) if value == holds), "{program}");
    }
    for program in [
        ".a | length",
        ".a | test(\"h\")",
        ".a | explode",
        ".a[0:1]",
        "{(.a): 1}",
        ".a | ascii_downcase",
        ".a | @base64",
    ] {
        let failure = result(program).unwrap_err();
        assert!(!format!("{failure:?}").contains("hunter2"), "{program}");
    }
    let failure = results("error(.)", &input).unwrap_err();
    assert!(!failure.message.contains("hunter2") && failure.message.contains("•••"), "{}", failure.message);
}

/// Asserts that a program gives the same results when `.` is run on each of them.
fn is_piped(program: &str, input: &Node) -> Result<(), TestCaseError> {
    if let (Ok(alone), Ok(piped)) = (results(program, input), results(&format!("({program}\n) | ."), input)) {
        prop_assert_eq!(alone.len(), piped.len());
        for (alone, piped) in alone.iter().zip(&piped) {
            prop_assert!(alone.is_identical(piped), "{} is not {}", write::to_inline(alone), write::to_inline(piped));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_a_program_or_a_failure(text in "\\PC{0,60}") {
        is_piped(&text, &read(r#"{"a":[1,"x",null]}"#))?;
    }

    #[test]
    fn any_words_are_a_program_or_a_failure(words in prop::collection::vec(prop::sample::select(vec![
        ".", "..", ".a", "[", "]", "(", ")", "{", "}", "|", ",", "//", "+", "-", "*", "/", "%", "=", "|=", "+=", "==", "<", "and", "or",
        "not", "map(", "select(", "del(", "reduce", "foreach", "as", "$x", "if", "then", "else", "end", "try", "catch", "def f:", ";", "f",
        "1", "1e9", "\"s\"", "null", "range(", "repeat(", "limit(3;", "?", ":", "tojson", "keys", "length", "path(", "sort", "label $x |",
        "break $x", "@base64", "test(", "add", "to_entries", "nan", "implode", "explode", "first(", "recurse", "splits(", "paths", "walk(",
    ]), 0..14)) {
        is_piped(&words.join(" "), &read(r#"{"a":[1,"x",null],"b":{"c":2.5}}"#))?;
    }
}
