//! Segments, filters, tests, the first segment and special keys.

use super::*;

/// Expressions with all their matches, asked at one resource.
fn check(current: &str, cases: &[(&str, &str)]) {
    let world = World::shop();
    for (expression, matches) in cases {
        let quoted = format!("'{}'", expression.replace('\'', "''"));
        assert_eq!(world.list(current, &quoted), *matches, "{expression}");
    }
}

#[test]
fn one_key_in_one_value() {
    check(
        "/org/shop",
        &[
            ("port", "[8080]"),
            ("note", "[null]"),
            ("blank", "[\"\"]"),
            ("nothing", "[]"),
            ("codes::200", "[ok]"),
            ("codes::404", "[none]"),
            ("app.version/major", "[2]"),
            ("tags::1", "[public]"),
            ("tags::-1", "[eu]"),
            ("tags::-4", "[]"),
            ("tags::99999999999999999999", "[]"),
            ("tier::0", "[]"),
            ("port::0", "[]"),
            ("note::x", "[]"),
            ("stores::main::size", "[10]"),
            ("stores :: main", "[{kind: pg, size: 10}]"),
        ],
    );
}

#[test]
fn lists_are_flattened_on_the_way_and_kept_at_the_end() {
    check(
        "/org/shop",
        &[
            ("services::ports::n", "[80, 443, 9090]"),
            ("services::ports::0::n", "[80, 9090]"),
            ("tags", "[[web, public, eu]]"),
            ("tags::", "[web, public, eu]"),
            ("grid::v", "[1, 2, 3]"),
            ("grid::", "[{v: 1}, {v: 2}, {v: 3}]"),
            ("grid::*", "[1, 2, 3]"),
            ("grid::1::0::v", "[2]"),
            ("services::::name", "[api, worker, cron]"),
            ("empty::", "[]"),
        ],
    );
}

#[test]
fn a_star_is_all_values_of_a_map() {
    check(
        "/org/shop",
        &[
            ("stores::*::kind", "[pg, redis]"),
            ("stores::*[kind=redis]::size", "[1]"),
            ("stores::*?::size", "[10]"),
            ("stores::*[!kind=pg]?::kind", "[redis]"),
            ("stores::*::kind?", "[pg]"),
            ("stores::main::*=pg", "[pg]"),
            ("tags::*", "[]"),
            (".::*", "[]"),
            ("*", "[]"),
        ],
    );
}

#[test]
fn a_question_mark_takes_the_first_that_leads_to_a_result() {
    check(
        "/org/shop",
        &[
            ("services::name?", "[api]"),
            ("services?::name", "[api, worker, cron]"),
            ("services::ports::n?", "[80, 9090]"),
            ("services::ports?::n", "[80, 443]"),
            ("services::[!ports]?::name", "[worker]"),
            ("services::?::ports::0::n", "[80]"),
        ],
    );
}

#[test]
fn filters_keep_or_drop_a_value_whole() {
    check(
        "/org/shop",
        &[
            ("services::[ports]::name", "[api, cron]"),
            ("services::[!ports]::name", "[worker]"),
            ("services[replicas=1]::name", "[api, worker, cron]"),
            ("services[replicas=1]::0::name", "[api]"),
            ("services[replicas=7]::name", "[]"),
            ("services[name][!labels]", "[]"),
            ("services::[ports][labels::env=prod]::name", "[api]"),
            ("services::[ports[tls=$true]]::name", "[api]"),
            ("services::[labels::env!=prod]::name", "[worker]"),
            ("services::[!labels::env=prod]::name", "[worker, cron]"),
            ("tags[0=web]::2", "[eu]"),
            ("tags[1=web]::2", "[]"),
            ("stores[::*::kind=redis]::main::size", "[10]"),
            ("tags[=web]::1", "[public]"),
            ("tags=web", "[]"),
        ],
    );
}

#[test]
fn a_test_reads_its_text_as_what_the_left_side_is() {
    check(
        "/org/shop",
        &[
            ("port=8080", "[8080]"),
            ("port=08080", "[8080]"),
            ("port=8080.0", "[]"),
            ("port=http", "[]"),
            ("port!=http", "[8080]"),
            ("port=0x1f90", "[]"),
            ("ratio=.5", "[0.5]"),
            ("ratio=5e-1", "[0.5]"),
            ("debug=FALSE", "[false]"),
            ("debug=0", "[]"),
            ("debug!=0", "[false]"),
            ("note=null", "[]"),
            ("note=", "[]"),
            ("blank=", "[\"\"]"),
            ("tier=silver", "[silver]"),
            ("tier= silver", "[]"),
            ("tier=silver ", "[silver]"),
            ("tier=$nope", "[]"),
            ("tier!=$nope", "[silver]"),
            ("services::labels::env=prod?", "[prod]"),
            ("nothing!=x", "[]"),
        ],
    );
    assert_eq!(World::shop().list("/org/shop/queue", "workers[=4]"), "[\"4\"]");
}

#[test]
fn the_first_segment_decides_where_to_start() {
    check(
        "/org/shop/db",
        &[
            ("port", "[5432]"),
            ("tier", "[silver]"),
            ("limits::mem", "[32]"),
            ("limits::cpu", "[2]"),
            (".::tier", "[]"),
            ("note", "[null]"),
            ("[tags]::.name", "[shop]"),
            ("::blog::port", "[80]"),
            ("::org/blog::port", "[80]"),
            ("::/org/blog/db::port", "[3306]"),
            ("::blog::region", "[]"),
            ("::nosuch", "[]"),
            ("$nope", "[]"),
            ("$null", "[null]"),
            ("$true=x", "[]"),
        ],
    );
}

#[test]
fn special_keys_lead_through_the_tree() {
    check(
        "/org/shop/db",
        &[
            (".", "[/org/shop/db]"),
            ("..", "[/org/shop]"),
            ("..::..::region", "[eu]"),
            (".name", "[db]"),
            (".path", "[/org/shop/db]"),
            (".kind", "[pg]"),
            (".file", "[]"),
            (".root", "[/]"),
            (".root::.name", "[root]"),
            (".root::..", "[]"),
            (".parents", "[[/, /org, /org/shop]]"),
            (".ancestors::.name", "[db, shop, org, root]"),
            (".ancestors::limits::cpu", "[2, 8]"),
            (".ancestors::limits?::mem", "[32]"),
            ("::shop::.children::.name", "[db, queue]"),
            ("::shop::.instances::.name", "[db, queue]"),
            ("::shop::.descendents::.name", "[shop, db, queue]"),
            ("::blog::.descendants::.path", "[/org/blog, /org/blog/db]"),
            ("::*::[kind=pg]::.path", "[/org/shop/db]"),
            ("::*::[.name=blog]::port", "[80]"),
            (".all::blog::port", "[80]"),
            ("..::.all::*::.name?", "[root]"),
            (".bogus", "expression/unknown-special-key"),
            ("..::.status", "expression/unknown-special-key"),
        ],
    );
}

#[test]
fn a_name_that_several_have_is_an_error_that_lists_them() {
    let answer = World::shop().ask("/org", "::db::port", Form::All);
    let finding = &answer.findings[0];
    assert_eq!(finding.rule.id, "expression/ambiguous-name");
    assert!(finding.message.contains("`/org/blog/db`, `/org/shop/db`"), "{}", finding.message);
}

#[test]
fn bad_expressions_are_pointed_at() {
    let world = World::shop();
    for (expression, at) in [
        ("services::[ports", "["),
        ("'services::ports]'", "]"),
        ("\"a::.bogus\"", "\"a::.bogus\""),
        (".::.bogus", ".bogus"),
        ("'..::.bogus'", ".bogus"),
        ("\"..::.bog\\u0075s\"", "\"..::.bog\\u0075s\""),
    ] {
        let answer = world.ask("/org/shop", expression, Form::All);
        let Some(finding) = answer.findings.first() else { continue };
        let crate::finding::Location::Span(span) = finding.location else { panic!("no place") };
        assert_eq!(world.text_at(span), at, "{expression}");
    }
    assert_eq!(world.list("/org/shop", "''"), "expression/parse");
}

#[test]
fn only_what_is_named_is_read() {
    let world = World::shop();
    world.list("/org/shop/db", "'::blog::port'");
    assert_eq!(world.tree.read(), ["/org/blog"]);
    world.list("/org/shop/db", "port");
    assert_eq!(world.tree.read(), ["/org/blog", "/org/shop/db"]);
}

#[test]
fn a_resource_that_cannot_be_read_is_no_empty_resource() {
    let mut world = World::shop();
    let path = LogicalPath::parse("/org/shop/bad").unwrap();
    world.tree = world.tree.having(&path, Payload::Unreadable("its file has errors".into()));
    assert_eq!(world.list("/org/shop", "'::bad::port'"), "expression/unreadable");
    assert_eq!(world.list("/org/shop/bad", "port"), "expression/unreadable");
    assert_eq!(world.list("/org/shop/bad", ".name"), "[bad]");
    assert_eq!(world.list("/org/shop", "port"), "[8080]");
}

#[test]
fn a_trace_tells_what_was_kept_and_why_not() {
    let answer = World::shop().ask("/org/shop", "services::[ports]::name", Form::All);
    let trace = answer.trace.expect("a trace was asked for");
    let [path] = &trace.steps[..] else { panic!("one path") };
    assert!(matches!(path.verdict, Verdict::Matches(2)), "{path:?}");
    let first = &path.below[0];
    assert_eq!((first.kind, first.text.as_str()), (TraceKind::Segment, "services"));
    let each = &first.below[0];
    assert!(matches!(each.verdict, Verdict::EachItem(3)));
    let dropped = each.below.iter().filter(|step| matches!(step.verdict, Verdict::Dropped(_))).count();
    assert_eq!((each.below.len(), dropped), (3, 1));
    assert!(!trace.is_cut);
}
