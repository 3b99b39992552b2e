//! The function form, its keywords and its functions.

use super::*;

/// Expressions with their single values, asked at the shop.
fn check(cases: &[(&str, &str)]) {
    let world = World::shop();
    for (expression, value) in cases {
        assert_eq!(world.one("/org/shop", expression), *value, "{expression}");
    }
}

#[test]
fn what_may_stand_after_eval() {
    check(&[
        ("{eval: port}", "8080"),
        ("{ref: port}", "8080"),
        ("{eval: {eval: port}}", "8080"),
        ("{eval: null}", "null"),
        ("{eval: 5}", "5"),
        ("{eval: true}", "true"),
        ("{eval: [a, {eval: port}]}", "[a, 8080]"),
        ("{eval: [a]}", "a"),
        ("{eval: {frobnicate: 1}}", "expression/unknown-function"),
        ("{eval: {}}", "expression/unknown-function"),
        ("{eval: {get_env: HOME}}", "expression/unknown-function"),
        ("{eval: {file: x}}", "expression/unknown-function"),
        ("{eval: port, trace: 1}", "8080"),
        ("{eval: port, forech: name}", "expression/bad-arguments"),
        ("{eval: {eq: [1, 1], foreach: $item}}", "expression/misplaced-keyword"),
        ("{eval: {eq: [1, 1], vars: {}}}", "expression/misplaced-keyword"),
    ]);
    let world = World::shop();
    assert_eq!(world.list("/org/shop", "{eval: null}"), "[]");
    assert_eq!(world.list("/org/shop", "{eval: [a, [b]]}"), "[a, [b]]");
}

#[test]
fn variables_hide_each_other_and_may_hold_expressions() {
    check(&[
        ("{eval: '$a', vars: {a: {b: 1}}}", "{b: 1}"),
        ("{eval: '$a::b', vars: {a: {b: 1}}}", "1"),
        ("{eval: '$l::1', vars: {l: [a, b]}}", "b"),
        ("{eval: 'tags::$i', vars: {i: 2}}", "eu"),
        ("{eval: 'tags::$i', vars: {i: '2'}}", "null"),
        ("{eval: 'codes::$c', vars: {c: '404'}}", "none"),
        ("{eval: 'codes::$c', vars: {c: 404}}", "none"),
        ("{eval: 'stores::$s', vars: {s: '*'}}", "null"),
        ("{eval: 'stores::$s', vars: {s: {}}}", "null"),
        ("{eval: '$d[a=2]', vars: {d: {a: 1}}}", "null"),
        ("{eval: '$d[a=1]', vars: {d: {a: 1}}}", "{a: 1}"),
        ("{eval: 'port[=$p]', vars: {p: '8080'}}", "null"),
        ("{eval: 'port[=$p]', vars: {p: 8080.0}}", "8080"),
        ("{eval: '$full', vars: {full: {concat: [{eval: '$h'}, x]}, h: {eval: '$n'}, n: a}}", "ax"),
        ("{eval: {eval: '$v', vars: {v: inner}}, vars: {v: outer}}", "inner"),
        ("{eval: {eval: '$w', vars: {v: inner}}, vars: {w: {eval: '$v'}, v: outer}}", "outer"),
        ("{eval: '$a', vars: {a: {eval: '$b'}, b: {eval: '$a'}}}", "expression/recursive-expression"),
        ("{eval: '$a', vars: {a: {eval: '$a'}}}", "expression/recursive-expression"),
        ("{eval: port, vars: {start: {eval: '::blog'}}}", "80"),
        ("{eval: region, vars: {start: {eval: '::blog'}}}", "eu"),
        ("{eval: port, vars: {start: {eval: '::nosuch'}}}", "null"),
        ("{eval: a, vars: {start: {a: 1}}}", "1"),
        ("{eval: port, vars: 1}", "expression/bad-arguments"),
        ("{eval: '$odd::.dot'}", "null"),
        ("{eval: '.::$k::$d', vars: {k: $odd, d: .dot}}", "1"),
        ("{eval: '.::$k', vars: {k: .name}}", "shop"),
    ]);
}

#[test]
fn branches_and_truth() {
    check(&[
        ("{eval: {if: debug, then: port, else: ratio}}", "0.5"),
        ("{eval: {if: tags}}", "true"),
        ("{eval: {if: nothing}}", "false"),
        ("{eval: {if: tags, then: {q: literal}}}", "literal"),
        ("{eval: {if: tags, then: literal}}", "null"),
        ("{eval: {if: 'services::ports::tls', then: {q: a}, else: {q: b}}}", "b"),
        ("{eval: {if: {eq: [1, 1.0]}, then: tags}}", "[web, public, eu]"),
        ("{eval: {not: empty}}", "true"),
        ("{eval: {not: note}}", "true"),
        ("{eval: {not: blank}}", "true"),
        ("{eval: {not: {q: {}}}}", "true"),
        ("{eval: {not: 0.0}}", "true"),
        ("{eval: {not: .}}", "false"),
        ("{eval: {and: [port, tier]}}", "silver"),
        ("{eval: {and: [port, debug, tier]}}", "false"),
        ("{eval: {and: [port, nothing]}}", "null"),
        ("{eval: {or: [debug, nothing, port]}}", "8080"),
        ("{eval: {or: [debug, nothing]}}", "false"),
        ("{eval: {or: [nothing, {q: port}]}}", "port"),
        ("{eval: {and: []}}", "expression/bad-arguments"),
        ("{eval: {or: port}}", "expression/bad-arguments"),
        ("{eval: {q: {eval: port}}}", "{eval: port}"),
        ("{eval: {q: [1]}}", "[1]"),
    ]);
    let world = World::shop();
    assert_eq!(world.list("/org/shop", "{eval: {q: [1, 2]}}"), "[[1, 2]]");
    assert_eq!(world.list("/org/shop", "{eval: {if: port, then: tags}}"), "[web, public, eu]");
    assert_eq!(world.list("/org/shop", "{eval: {if: port, then: nothing}}"), "[]");
}

#[test]
fn operators() {
    check(&[
        ("{eval: {eq: [{eval: port}, 8080]}}", "true"),
        ("{eval: {eq: [{eval: port}, '8080']}}", "false"),
        ("{eval: {eq: [{a: [1, 2.0]}, {a: [1.0, 2]}]}}", "true"),
        ("{eval: {eq: [true, 1]}}", "false"),
        ("{eval: {eq: [{eval: .}, {eval: '::shop'}]}}", "true"),
        ("{eval: {eq: [{eval: .}, /org/shop]}}", "false"),
        ("{eval: {ne: [1, 2]}}", "true"),
        ("{eval: {eq: [1]}}", "expression/bad-arguments"),
        ("{eval: {eq: [1, 2, 3]}}", "expression/bad-arguments"),
        ("{eval: {lt: [1, 2]}}", "true"),
        ("{eval: {le: [2, 2.0]}}", "true"),
        ("{eval: {gt: [b, a]}}", "true"),
        ("{eval: {ge: [9007199254740992, 9007199254740993]}}", "false"),
        ("{eval: {lt: [1, a]}}", "expression/bad-arguments"),
        ("{eval: {lt: [true, false]}}", "expression/bad-arguments"),
        ("{eval: {add: [{eval: port}, 10]}}", "8090"),
        ("{eval: {add: [a, b]}}", "ab"),
        ("{eval: {add: [[1], [2]]}}", "[1, 2]"),
        ("{eval: {add: [[1], 2]}}", "expression/bad-arguments"),
        ("{eval: {add: [true, 1]}}", "expression/bad-arguments"),
        ("{eval: {sub: [{eval: {mul: [3, 4]}}, 2]}}", "10"),
        ("{eval: {div: [6, 4]}}", "1.5"),
        ("{eval: {div: [6, 3]}}", "2.0"),
        ("{eval: {floordiv: [-7, 2]}}", "-4"),
        ("{eval: {mod: [-7, 4]}}", "1"),
        ("{eval: {pow: [2, 64]}}", "18446744073709551616"),
        ("{eval: {div: [1, 0]}}", "expression/bad-arguments"),
        ("{eval: {pow: [10, 1000000]}}", "expression/bad-arguments"),
        ("{eval: {mul: [a, 2]}}", "expression/bad-arguments"),
    ]);
}

#[test]
fn texts() {
    check(&[
        ("{concat: [host-, {eval: .name}, ':', {eval: port}]}", "host-shop:8080"),
        ("{concat: [true, null, 1.50, 0x10]}", "truenull1.5016"),
        ("{concat: [[1, a], {b: 2}]}", "\"[1, a]{b: 2}\""),
        ("{eval: {concat: {eval: 'services::name'}, sep: ', '}}", "\"api, worker, cron\""),
        ("{eval: {concat: text}}", "text"),
        ("{concat: []}", "\"\""),
        ("{concat: [{eval: .}]}", "/org/shop"),
        ("{token: [a/b/c, /, 2]}", "c"),
        ("{token: [a/b/c, /, -1]}", "c"),
        ("{token: [a/b/c, /, 3]}", "expression/bad-arguments"),
        ("{token: [a, '', 0]}", "expression/bad-arguments"),
        ("{token: [1, /, 0]}", "expression/bad-arguments"),
        ("{eval: {is_function_defined: concat}}", "true"),
        ("{eval: {is_function_defined: get_env}}", "false"),
        ("{eval: {urljoin: [http, localhost, 80, a b]}}", "http://localhost/a%20b"),
        ("{eval: {urljoin: ['', '']}}", "null"),
        ("{eval: {urljoin: [http]}}", "expression/bad-arguments"),
        ("{eval: {validate: [{eval: port}, {type: integer, maximum: 65535}]}}", "true"),
        ("{eval: {validate_json: [{eval: tier}, {enum: [gold]}]}}", "false"),
        ("{eval: {validate: [1, {type: nonsense}]}}", "expression/bad-arguments"),
    ]);
}

#[test]
fn loops() {
    check(&[
        ("{eval: services, foreach: name}", "[api, worker, cron]"),
        ("{eval: services, foreach: 'labels::env'}", "[prod, dev]"),
        ("{eval: services, foreach: {eval: 'labels::env'}}", "[prod, dev]"),
        ("{eval: services, foreach: 'ports::n'}", "[[80, 443], 9090]"),
        ("{eval: services, foreach: region}", "[]"),
        ("{eval: services, foreach: {key: name, value: replicas}}", "[{api: 3, worker: 1, cron: 0}]"),
        ("{eval: 'services::1', foreach: {key: name}}", "[{worker: {name: worker, replicas: 1, labels: {env: dev}}}]"),
        ("{eval: tags, foreach: {key: $item, value: $index}}", "[{web: 0, public: 1, eu: 2}]"),
        ("{eval: tags, foreach: {key: {q: same}}}", "[{same: eu}]"),
        (
            "{eval: tags, foreach: {value: {at: {eval: $key}, is: {eval: .}}}}",
            "[{at: 0, is: web}, {at: 1, is: public}, {at: 2, is: eu}]",
        ),
        ("{eval: tags, foreach: [{eval: $item}, x]}", "[[web, x], [public, x], [eu, x]]"),
        ("{eval: 'stores::main', foreach: kind}", "[pg]"),
        ("{eval: 'stores::*', foreach: kind}", "[pg, redis]"),
        ("{eval: nothing, foreach: $item}", "[]"),
        ("{eval: nothing, foreach: {key: $item}}", "[]"),
        ("{eval: tags, foreach: $true}", "[web, public, eu]"),
        (
            "{eval: tags, foreach: {eval: {if: {eq: [{eval: $item}, public]}, then: $continue, else: $item}}}",
            "[web, eu]",
        ),
        ("{eval: tags, foreach: {eval: {if: {eq: [{eval: $item}, public]}, then: $break, else: $item}}}", "[web]"),
        ("{eval: services, foreach: {key: ports}}", "expression/bad-arguments"),
        ("{eval: services, foreach: 1}", "expression/bad-arguments"),
        ("{eval: stores, select: 'main::kind'}", "pg"),
        ("{eval: services, select: name}", "[api, worker, cron]"),
        ("{eval: 'services::0', select: nothing}", "null"),
        ("{eval: stores, select: 'main::kind', foreach: 'cache::kind'}", "[redis]"),
        ("{eval: '.children', foreach: port}", "[5432]"),
        ("{eval: '.children', foreach: {key: .name, value: kind}}", "[{db: pg, queue: rabbit}]"),
    ]);
}

#[test]
fn strictness_holds_for_single_values() {
    check(&[
        ("{eval: nothing, strict: required}", "expression/required"),
        ("{eval: note, strict: required}", "null"),
        ("{eval: note, strict: notnull}", "expression/not-null"),
        ("{eval: nothing, strict: notnull}", "expression/required"),
        ("{eval: nothing, strict: true}", "null"),
        ("{eval: port, strict: sometimes}", "expression/bad-arguments"),
        ("{concat: [a, {eval: nothing, strict: required}]}", "expression/required"),
    ]);
    assert_eq!(World::shop().list("/org/shop", "{eval: nothing, strict: required}"), "[]");
}
