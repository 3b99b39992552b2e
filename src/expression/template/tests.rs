//! What templates render, what they refuse, and that they end.

use proptest::prelude::*;

use super::*;
use crate::limits::Allowance;
use crate::testing::read;
use crate::value::{Entry, Secret, Value};

fn scope(root: &str) -> Scope {
    Scope { root: read(root), ancestors: Vec::new(), format: "".into(), payload: Default::default() }
}

fn render_in(scope: &Scope, template: &str, purpose: Purpose) -> Result<Rendered, Refusal> {
    Template::parse(template)?.render(&Allowance::new(run::MOST_STEPS), scope, purpose)
}

const PAYLOAD: &str = "{id: '42', name: acme, n: 7, big: 12345678901234567890123, f: 1.5, g: 1e21, one: 1.0, yes: true, no: false,
    empty: '', nothing: null, client-id: c9, class: x, spec: {name: deep, list: [a, b, c], m: {z: 1, a: 2}}, list: [], dots: ..}";

fn render(template: &str) -> String {
    match render_in(&scope(PAYLOAD), template, Purpose::Text) {
        Ok(rendered) => rendered.text().to_owned(),
        Err(refusal) => format!("! {} @ {}", refusal.message, &template[refusal.range.unwrap()]),
    }
}

#[test]
fn values_are_written() {
    for (template, text) in [
        ("", ""),
        ("plain {% x %} {# y #} }}", "plain {% x %} {# y #} }}"),
        ("/api/{{.id}}/x/{{ .name }}", "/api/42/x/acme"),
        ("{{.spec.name}} {{.client-id}} {{.class}}", "deep c9 x"),
        ("{{index . \"client-id\"}} {{index .spec.list 1}} {{index .spec \"m\" \"a\"}}", "c9 b 2"),
        ("{{.n}} {{.big}} {{.f}} {{.g}} {{.one}} {{.yes}} {{.no}}", "7 12345678901234567890123 1.5 1e+21 1 true false"),
        ("{{id}} {{/spec/name}} {{client-id}} {{$.id}}", "42 deep c9 42"),
        (
            "{{\"a}}b\"}} {{`r\\n`}} {{\"t\\tq\\\"\\u00e9\\x41\\101\"}} {{3}} {{-3}} {{1.50}} {{true}}",
            "a}}b r\\n t\tq\"éAA 3 -3 1.5 true",
        ),
        ("a {{- .id -}} b", "a42b"),
        ("a  {{- /* gone */ -}}  b{{/* c */}}d", "abd"),
        ("{{- .id}} {{.id -}} \n\t x", "42 42x"),
        ("{{resource_format .}} {{resource_format $}} {{resource_format nil}}", "json json json"),
        ("{{.empty}}|", "|"),
        ("{{(index .spec \"m\").z}} {{(.spec).name}}", "1 deep"),
    ] {
        assert_eq!(render(template), text, "{template}");
    }
}

#[test]
fn conditions_loops_and_variables() {
    for (template, text) in [
        ("{{if .yes}}a{{else}}b{{end}}{{if .no}}a{{else if .n}}c{{else}}b{{end}}{{if .nothing}}x{{end}}", "ac"),
        ("{{if and .yes (eq .n 7)}}1{{end}}{{if or .no .empty}}2{{end}}{{if not .no}}3{{end}}", "13"),
        (
            "{{if eq .name \"x\" \"acme\"}}1{{end}}{{if ne .n 8}}2{{end}}{{if lt .n 8}}3{{end}}{{if ge .big .n}}4{{end}}",
            "1234",
        ),
        (
            "{{if le \"a\" \"b\"}}1{{end}}{{if gt .n 7}}2{{end}}{{if eq .one 1}}3{{end}}{{if eq (index . \"none\") \"x\"}}4{{end}}",
            "13",
        ),
        ("{{with .spec}}{{.name}}{{$.id}}{{id}}{{end}}{{with .nothing}}x{{else}}{{.id}}{{end}}", "deep424242"),
        ("{{range .spec.list}}<{{.}}>{{end}}{{range .list}}x{{else}}none{{end}}", "<a><b><c>none"),
        (
            "{{range $i, $v := .spec.list}}{{$i}}{{$v}}{{end}} {{range $k, $v := .spec.m}}{{$k}}={{$v}};{{end}}",
            "0a1b2c a=2;z=1;",
        ),
        ("{{range $v := .spec.list}}{{$v}}{{end}}{{range 3}}{{.}}{{end}}{{range .nothing}}x{{end}}", "abc012"),
        ("{{$x := .id}}{{$x}}{{$x = \"b\"}}{{$x}}{{range .spec.list}}{{$x = .}}{{end}}{{$x}}", "42bc"),
        ("{{$x := 1}}{{if true}}{{$x := 2}}{{$x}}{{end}}{{$x}}", "21"),
        ("{{with $y := .spec}}{{$y.name}}{{end}}{{if $z := .name}}{{$z}}{{end}}", "deepacme"),
        ("{{and .no .missing}} {{or .yes .missing}}", "false true"),
        ("{{range .spec.list}}{{range $.spec.m}}{{.}}{{end}}{{.}}{{end}}", "21a21b21c"),
    ] {
        assert_eq!(render(template), text, "{template}");
    }
}

#[test]
fn functions_and_pipes() {
    for (template, text) in [
        ("{{.name | printf \"%s-%s\" \"x\"}}", "x-acme"),
        (
            "{{printf \"%05d|%-4s|%4s|%q|%v|%t|%x|%.2f|%%|%+d\" .n .name \"a\" \"q\" .f .yes 255 .f .n}}",
            "00007|acme|   a|\"q\"|1.5|true|ff|1.50|%|+7",
        ),
        ("{{print .n .n \"x\" .n}} {{print \"a\" \"b\"}}", "7 7x7 ab"),
        ("{{len .name}} {{len .spec.list}} {{len .spec}} {{.spec.list | len | printf \"%03d\"}}", "4 3 3 003"),
        ("{{urlquery \"a b&c/é\"}} {{.name | urlquery}}", "a+b%26c%2F%C3%A9 acme"),
        ("{{println 1 \"a\"}}", "1 a\n"),
        ("{{eq .n 7 | printf \"%v\"}}", "true"),
    ] {
        assert_eq!(render(template), text, "{template}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (template, refusal) in [
        ("/x/{{.nope}}", "! `.nope` is not there @ .nope"),
        ("{{.spec.none.x}}", "! `.spec.none.x` is not there: there is no `none` @ .spec.none.x"),
        ("{{.id.x}}", "! `.id.x` is not there: `x` cannot be a field of a string @ .id.x"),
        ("{{.nothing.x}}", "! `.nothing.x` is not there: `x` cannot be a field of a null @ .nothing.x"),
        ("{{../id}}", "! `../id` leads too far up: there is no resource above this one @ ../id"),
        ("{{.nothing}}", "! `.nothing` cannot be written here: it is null @ .nothing"),
        ("{{.spec}}", "! `.spec` cannot be written here: it is a map, not one value @ .spec"),
        ("{{.}}", "! `.` cannot be written here: it is a map, not one value @ ."),
        (
            "{{resource_format \"yaml\"}}",
            "! `resource_format \"yaml\"`: `resource_format` takes the dot, not a string @ resource_format \"yaml\"",
        ),
        ("{{resource_format}}", "! `resource_format`: `resource_format` does not take 0 arguments @ resource_format"),
        ("{{eq .n \"7\"}}", "! `eq .n \"7\"`: a number cannot be compared with a string @ eq .n \"7\""),
        ("{{index .spec.list 9}}", "! `index .spec.list 9`: there is no item 9 in a list of 3 @ index .spec.list 9"),
        ("{{printf \"%d\" .name}}", "! `printf \"%d\" .name`: `%d` does not take a string @ printf \"%d\" .name"),
        ("{{range .id}}{{end}}", "! `range` cannot iterate over a string @ .id"),
        ("a{{.id", "! an action is not closed @ {{.id"),
        ("{{if .id}}x", "! a block is not ended @ {{if .id}}"),
        ("x{{end}}", "! this closes nothing @ {{end}}"),
        ("{{if .a}}{{else}}{{else}}{{end}}", "! a second `else` @ {{else}}"),
        ("{{}}", "! a value is missing @ {{}}"),
        ("{{.id .name}}", "! two values without a function before them @ .name"),
        ("{{printt .id}}", "! there is no function `printt` @ printt"),
        ("{{.id | .name}}", "! a function that takes the value before it must follow `|` @ .name"),
        ("{{$x}}", "! there is no variable `$x` here @ $x"),
        ("{{template \"x\"}}", "! `template` is not supported @ {{template \"x\"}}"),
        ("{{break}}", "! `break` is not supported @ {{break}}"),
        ("{{\"abc}}", "! a text in an action is not closed @ {{\"abc}}"),
        ("{{.id + 1}}", "! not a number @ +"),
        ("{{{.id}}}", "! `{` means nothing in an action @ {"),
        ("{{(.id}}", "! a bracket is not closed @ ("),
        ("{{.id)}}", "! a bracket that opens nowhere @ )"),
        ("{{/* x}}", "! a comment is not closed @ {{/* x}}"),
        ("{{../}}", "! a reference to a resource above names no field of it @ ../"),
        ("{{.a..b}}", "! `.` means nothing in an action @ ."),
        ("{{secret .}}", "! there is no function `secret` @ secret"),
    ] {
        assert_eq!(render(template), refusal, "{template}");
    }
}

#[test]
fn resources_above_are_reached_level_by_level() {
    let ancestors = vec![read("{id: team-3, spec: {slug: s}, a: {b.c: x}}"), read("{id: org-7}")];
    let scope = Scope { root: read("{id: m-1}"), ancestors, format: "YAML ".into(), payload: Default::default() };
    let render = |template: &str| render_in(&scope, template, Purpose::Path);
    let rendered = render("/o/{{../../id}}/t/{{../id}}/{{../spec.slug}}/{{../a/b.c}}/m/{{.id}}").unwrap();
    assert_eq!(rendered.text(), "/o/org-7/t/team-3/s/x/m/m-1");
    let uses: Vec<(usize, String)> = rendered.uses.iter().map(|read| (read.level, read.path.join("."))).collect();
    let expected = [(2, "id"), (1, "id"), (1, "spec.slug"), (1, "a.b.c"), (0, "id")];
    assert_eq!(uses, expected.map(|(level, name)| (level, name.to_owned())));
    assert!(render("{{../../../id}}").unwrap_err().message.contains("../../../id"));
    assert!(render("{{../region}}").unwrap_err().message.contains("../region"));
    assert_eq!(render("{{resource_format .}}").unwrap().text(), "yaml");
    let template = Template::parse("{{../../id}}{{if .a}}{{range .b}}{{.c}}{{/d}}{{end}}{{end}}").unwrap();
    assert_eq!(template.reads_ancestors(), 2);
    let names: Vec<String> = template.reads().iter().map(|read| read.path.join(".")).collect();
    assert_eq!(names, ["a", "b", "d", "id"]);
}

#[test]
fn a_path_is_never_left_blank_and_never_led_elsewhere() {
    let render = |template: &str, id: &str| {
        let rendered = render_in(&scope(&format!("{{id: {id}}}")), template, Purpose::Path);
        rendered.map(|rendered| rendered.text().to_owned()).map_err(|refusal| refusal.message)
    };
    assert_eq!(render("/x/{{.id}}", "a/b").as_deref(), Ok("/x/a/b"));
    assert_eq!(render("../groups/{{.id}}", "..a").as_deref(), Ok("../groups/..a"));
    assert_eq!(render("/x/a{{.id}}", "..").as_deref(), Ok("/x/a.."));
    for (template, id) in [
        ("/x/{{.id}}", "''"),
        ("/x/{{.id}}", "'  '"),
        ("/x/{{.id}}", "'/'"),
        ("/x/{{.id}}", "null"),
        ("/x/{{.id}}", "[1]"),
        ("/x/{{.id}}", ".."),
        ("/x/{{.id}}", "../up"),
        ("/x/{{.id}}", "a/../../b"),
        ("/x/{{.id}}", "."),
        ("/x/.{{.id}}", "."),
        ("{{.id}}/x", ".."),
        ("/x/{{.id}} ", ".."),
    ] {
        assert!(render(template, id).is_err(), "{template} with {id}");
    }
}

#[test]
fn a_secret_is_written_as_its_placeholder() {
    let place = read("x").span;
    let secret = Node::new(Value::Secret(Secret::hide(Node::text("hunter2", place))), place);
    let scope = Scope {
        root: Node::map(vec![Entry::named("token", place, secret)], place),
        ancestors: Vec::new(),
        format: "".into(),
        payload: Default::default(),
    };
    let render = |text: &str| render_in(&scope, text, Purpose::Text).unwrap().text().to_owned();
    assert_eq!(render("Bearer {{.token}}"), "Bearer {{secret .}}");
    assert_eq!(render("{{printf \"%s\" .token}}{{print .token}}"), "{{secret .}}{{secret .}}");
    assert!(!format!("{:?}", render_in(&scope, "{{len .token}}", Purpose::Text)).contains("hunter2"));
}

#[test]
fn hostile_templates_end() {
    let ends = |template: &str| {
        assert!(render_in(&scope(PAYLOAD), template, Purpose::Text).is_err(), "{template:.80}");
    };
    ends("{{range 1000000000}}x{{end}}");
    ends("{{range 9999}}{{range 9999}}x{{end}}{{end}}");
    ends("{{range 9999}}{{$.name}}{{$.big}}{{$.big}}{{$.big}}{{end}}");
    ends(&"{{if 1}}".repeat(200));
    ends(&format!("{}{}", "{{if 1}}".repeat(200), "{{end}}".repeat(200)));
    ends(&format!("{{{{{}1{}}}}}", "(".repeat(30_000), ")".repeat(30_000)));
    ends(&"{{.id}}".repeat(20_000));
    ends("{{$x := .name}}{{range 9000}}{{$x = print $x $x}}{{end}}");
    ends("{{$x := .name}}{{range 13}}{{$x = print $x $x}}{{end}}{{range 9999}}{{$y := print $x}}{{end}}");
    ends("{{printf \"%9999999999999999999d\" 1}}");
    ends("{{printf \"%.99999s\" .name}}");
    ends(&format!("{{{{\"{}\"}}}}", "\\".repeat(999)));
    let many = format!("{{{{{}}}}}", "print .name | ".repeat(2_000) + "print");
    assert!(render_in(&scope(PAYLOAD), &many, Purpose::Text).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_a_template_or_refused(text in "\\PC{0,40}") {
        check(&text)?;
    }

    #[test]
    fn any_actions_are_a_template_or_refused(words in prop::collection::vec(prop::sample::select(vec![
        "{{", "}}", "{{-", "-}}", " ", "if", "else", "end", "range", "with", ".", ".id", ".spec.list", "../", "../id", "/id", "$", "$x",
        ":=", "=", "|", ",", "(", ")", "\"", "`", "eq", "printf", "index", "and", "print", "len", "1", "-", "..", "é", "\n", "/*", "*/", "{{end}}",
        "{{if .id}}", "{{else}}", "{{range .spec.list}}", "{{.id}}", "x",
    ]), 0..16)) {
        check(&words.concat())?;
    }

    #[test]
    fn text_without_braces_is_its_own_result(text in "[^{]{0,40}") {
        prop_assert_eq!(render(&text), text);
    }
}

/// Every refusal of a template has a range in its text.
fn check(text: &str) -> Result<(), TestCaseError> {
    for purpose in [Purpose::Path, Purpose::Text] {
        if let Err(refusal) = render_in(&scope(PAYLOAD), text, purpose) {
            prop_assert!(refusal.range.clone().is_some_and(|range| text.get(range).is_some()), "{:?}", refusal);
        }
    }
    Ok(())
}
