//! Nothing makes it hang, panic, overflow the stack or eat the memory.

use super::*;
use proptest::prelude::*;

fn rule_of(world: &World, path: &str) -> Vec<&'static str> {
    world.compute(path).1.iter().map(|finding| finding.rule.id).collect()
}

#[test]
fn long_and_deep_expressions_are_refused() {
    let mut world = World::shop();
    assert_eq!(world.list("/org/shop", &format!("'{}'", "a::".repeat(10_000))), "limit/expression");
    assert_eq!(world.list("/org/shop", &format!("'{}'", "a::".repeat(2_000))), "[]");
    let nested = format!("'services::{}name{}'", "[".repeat(300), "]".repeat(300));
    assert!(world.list("/org/shop", &nested).starts_with("[{name: api"));
    world.limits.expression_depth = 100;
    assert_eq!(world.list("/org/shop", &nested), "expression/parse");
    world.limits.expression_results = 5;
    assert_eq!(world.list("/org/shop", "::*"), "limit/expression");
}

#[test]
fn long_chains_end_with_a_finding() {
    let mut text = String::from("/r0: {v: 1}\n");
    for at in 1..2000 {
        text.push_str(&format!("/r{at}: {{v: {{eval: '::r{}::v'}}}}\n", at - 1));
    }
    let world = World::new(&text);
    assert_eq!(to_inline(&world.compute("/r200").0), "{v: 1}");
    assert_eq!(rule_of(&world, "/r1999"), ["limit/expression"]);
}

#[test]
fn doubling_is_stopped_by_the_budget() {
    let mut lists = String::from("/a:\n  v0: [1, 1]\n  t0: xxxxxxxx\n");
    for at in 1..60 {
        let before = at - 1;
        lists.push_str(&format!("  v{at}: {{eval: {{add: [{{eval: .::v{before}}}, {{eval: .::v{before}}}]}}}}\n"));
        lists.push_str(&format!("  t{at}: {{eval: {{concat: [{{eval: .::t{before}}}, {{eval: .::t{before}}}]}}}}\n"));
        lists.push_str(&format!("  w{at}: [{{eval: .::v{before}}}, {{eval: .::v{before}}}]\n"));
    }
    let world = World::new(&lists);
    let rules = rule_of(&world, "/a");
    assert!(rules.iter().all(|rule| rule.starts_with("limit/")) && !rules.is_empty(), "{rules:?}");
}

#[test]
fn shared_structure_does_not_explode() {
    let mut text = String::from("/a:\n  v0: 1\n");
    for at in 1..40 {
        let before = at - 1;
        text.push_str(&format!("  v{at}: {{l: {{eval: .::v{before}}}, r: {{eval: .::v{before}}}}}\n"));
    }
    let rules = rule_of(&World::new(&text), "/a");
    assert!(rules.contains(&"limit/nodes"), "{rules:?}");
}

#[test]
fn towers_of_variables_do_not_overflow_the_stack() {
    let mut vars = String::from("v0: 1");
    let mut uses = String::from("{eval: $v0}");
    for at in 1..3000 {
        vars.push_str(&format!(", v{at}: [{{eval: $v{}}}]", at - 1));
        uses.push_str(&format!(", {{eval: $v{at}}}"));
    }
    let expression = format!("{{eval: [{uses}], vars: {{{vars}}}}}");
    assert_eq!(World::shop().list("/org", &expression), "limit/depth");
}

#[test]
fn a_huge_tree_is_searched_within_the_budget() {
    let mut text = String::new();
    for at in 0..2000 {
        text.push_str(&format!("/g{}/r{at}: {{k: {at}}}\n", at % 40));
    }
    let mut world = World::new(&text);
    assert_eq!(world.list("/", "'::*::[k=1999]::.name'"), "[r1999]");
    world.limits.expression_steps = 1000;
    assert_eq!(world.list("/", "'::*::[k=1999]::.name'"), "limit/expression");
}

fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("::"),
        Just("["),
        Just("]"),
        Just("!"),
        Just("="),
        Just("!="),
        Just("?"),
        Just("*"),
        Just("$item"),
        Just("$x"),
        Just("."),
        Just(".."),
        Just(".all"),
        Just(".ancestors"),
        Just(".children"),
        Just("a"),
        Just("b"),
        Just("0"),
        Just("-1"),
        Just(" "),
        Just("$true"),
        Just("$start"),
    ];
    prop::collection::vec(word, 0..14).prop_map(|words| words.concat())
}

fn values() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1".to_owned()),
        Just("null".to_owned()),
        Just("x".to_owned()),
        Just("true".to_owned()),
        words().prop_map(|text| format!("{{\"eval\": \"{text}\"}}")),
        words().prop_map(|text| format!("\"{text}\"")),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let key = prop_oneof![
            Just("a"),
            Just("b"),
            Just("eval"),
            Just("foreach"),
            Just("select"),
            Just("vars"),
            Just("if"),
            Just("then"),
            Just("else"),
            Just("and"),
            Just("or"),
            Just("not"),
            Just("q"),
            Just("eq"),
            Just("lt"),
            Just("add"),
            Just("mul"),
            Just("concat"),
            Just("token"),
            Just("validate"),
            Just("key"),
            Just("value"),
            Just("x"),
            Just("start"),
            Just("strict"),
            Just("urljoin"),
        ];
        let members = prop::collection::btree_map(key, inner.clone(), 1..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
            members.clone().prop_map(|members| {
                let members: Vec<String> = members.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
                format!("{{{}}}", members.join(", "))
            }),
            members.prop_map(|members| {
                let members: Vec<String> = members
                    .iter()
                    .filter(|(key, _)| **key != "eval")
                    .map(|(key, value)| format!("\"{key}\": {value}"))
                    .collect();
                format!("{{\"eval\": {{{}}}}}", members.join(", "))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_expression_over_any_tree_ends(
        one in values(),
        two in values(),
        three in values(),
        expression in prop_oneof![values(), words().prop_map(|text| format!("\"{text}\""))],
    ) {
        let text = format!("/a: {{a: {one}, b: {two}}}\n/a/b: {{a: {three}, b: {{a: [1, {{b: 2}}]}}}}\n/a/b/c: {two}\n");
        let mut world = World::new(&text);
        world.limits.expression_steps = 20_000;
        for current in ["/a", "/a/b", "/a/b/c"] {
            let all = world.ask(current, &expression, Form::All);
            prop_assert!(all.value.is_some() || !all.findings.is_empty());
            let one = world.ask(current, &expression, Form::One);
            prop_assert!(one.value.is_some() || !one.findings.is_empty());
            let twice = world.ask(current, &expression, Form::All);
            prop_assert_eq!(shown(&all), shown(&twice));
            let (computed, _) = world.compute(current);
            prop_assert!(computed.height() <= world.limits.depth);
        }
    }
}
