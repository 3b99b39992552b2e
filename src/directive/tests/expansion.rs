//! Rules of expansion that the vectors leave open.

use super::*;

fn expands(text: &str, expected: &str) {
    assert_expands(&World::new(&[]), text, expected);
}

#[test]
fn a_directive_may_refer_to_what_its_own_map_holds() {
    expands("a: {x: {k: 1}, +./x: }", "a: {x: {k: 1}, k: 1}");
    expands("+/t:\n+/u:\nt: {a: 1}\nu: {b: 2}\n", "{t: {a: 1}, u: {b: 2}, a: 1, b: 2}");
    // What the directive brings changes what it refers to, until that comes to rest.
    expands("a: {x: {x: {k: 1}}, +./x: }", "a: {x: {x: {k: 1}, k: 1}, k: 1}");
    expands("+/t:\nt: {t: {t: {z: 1}, y: 2}}\n", "{t: {t: {t: {z: 1}, y: 2, z: 1}, y: 2, z: 1}, y: 2, z: 1}");
}

#[test]
fn a_map_may_be_part_of_what_it_refers_to_below_another_value() {
    expands("+/c:\na: {}\nc: {a: {+/a: }}\n", "{a: {}, c: {a: {}}}");
    expands("+/c:\na: {x: 1}\nc: {a: {+/a: , y: 2}}\n", "{a: {x: 1, y: 2}, c: {a: {x: 1, y: 2}}}");
}

#[test]
fn a_path_may_lead_through_what_a_directive_brings() {
    expands(
        "p: {+/a/c: }\na: {+/b: , c: {x: 1}}\nb: {c: {y: 2}, d: {+/p: }}",
        "{p: {x: 1, y: 2}, a: {c: {x: 1, y: 2}, d: {x: 1, y: 2}}, b: {c: {y: 2}, d: {x: 1, y: 2}}}",
    );
    expands(
        "p: {+/a/c/z: }\na: {+/b: , c: {z: {w: 1}, w: {+/p: }}}\nb: {c: {v: 1}}",
        "{p: {w: 1}, a: {c: {z: {w: 1}, w: {w: 1}, v: 1}}, b: {c: {v: 1}}}",
    );
    expands("x: {+/l/3: }\nl: [{+/m: }, 9, {k: 1}]\nm: [1, 2]", "{x: {k: 1}, l: [1, 2, 9, {k: 1}], m: [1, 2]}");
    expands("x: {+/l/0/k: }\nl: [{+/m: }]\nm: {k: {j: 1}}", "{x: {j: 1}, l: [{k: {j: 1}}], m: {k: {j: 1}}}");
    expands("l: [{+/m: }, {+../0: , b: 2}]\nm: {a: 1}", "{l: [{a: 1}, {a: 1, b: 2}], m: {a: 1}}");
}

#[test]
fn relative_paths_see_the_document_after_expansion() {
    expands(
        "a: {+/b: , c: {u: {+../x: }, x: {k: 1}}}\nb: {c: {x: {z: 1}}}",
        "{a: {c: {u: {k: 1, z: 1}, x: {k: 1, z: 1}}}, b: {c: {x: {z: 1}}}}",
    );
    expands("a: {+..../b: }\nb: {k: 1}", "{a: {k: 1}, b: {k: 1}}");
}

#[test]
fn anchors_are_found_anywhere() {
    expands("s: &n 5\nx: {+*n: }", "{s: 5, x: 5}");
    expands("a: &n {k: 1}\nb: &n {k: 2}\nx: {+*n: }", "{a: {k: 1}, b: {k: 2}, x: {k: 2}}");
    expands("a: {<<: &n {k: 1}}\nx: {+*n: }", "{a: {k: 1}, x: {k: 1}}");
    expands("a: &n {+/b: , k: 1}\nb: {j: 2}\nx: {+*n/j: }", "{a: {k: 1, j: 2}, b: {j: 2}, x: 2}");
    let world = World::new(&[
        ("lib.yaml", "s: &n {cpu: 1, +../t: }\nt: {mem: 2}\n"),
        ("deep.yaml", "d: {+include: lib.yaml}\n"),
    ]);
    assert_expands(
        &world,
        "x: {+*n: }\ny: {+include: deep.yaml}",
        "{x: {cpu: 1, mem: 2}, y: {d: {s: {cpu: 1, mem: 2}, t: {mem: 2}}}}",
    );
}

#[test]
fn a_file_included_at_the_root_is_part_of_the_document() {
    let world = World::new(&[("lib.yaml", "sizes: {small: {cpu: 1}}\nweb: {+/sizes/small: , name: web}\n")]);
    assert_expands(
        &world,
        "+include: lib.yaml\nsvc: {+/web: }\nsizes: {small: {mem: 2}}",
        "{svc: {cpu: 1, mem: 2, name: web}, sizes: {small: {cpu: 1, mem: 2}}, web: {cpu: 1, mem: 2, name: web}}",
    );
    assert_expands(
        &world,
        "+include: lib.yaml\n+/web: ",
        "{sizes: {small: {cpu: 1}}, web: {cpu: 1, name: web}, cpu: 1, name: web}",
    );
}

#[test]
fn relative_paths_in_a_file_start_where_it_is_included() {
    let world = World::new(&[("part.yaml", "m: {+../side: , +.../outer: }\nside: {s: 1}\n")]);
    assert_expands(
        &world,
        "at: {+include: part.yaml, side: {t: 2}}\nouter: {o: 3}",
        "{at: {side: {s: 1, t: 2}, m: {s: 1, t: 2, o: 3}}, outer: {o: 3}}",
    );
    let world = World::new(&[("catalog.yaml", "db: {defaults: {d: 1}, small: {+../defaults: , cpu: 1}}\n")]);
    assert_expands(&world, "svc: {+include: 'catalog.yaml#/db/small'}", "{svc: {d: 1, cpu: 1}}");
}

#[test]
fn missing_and_empty_targets() {
    expands("x: {+?/n: }\ny: {+?/x: }\nz: {+?/x: , k: 1}", "z: {k: 1}");
    expands("x: {+?/n: , +?/m: }\nl: [[{+?/n: }], {+?/n: , +?/m: }]", "l: [[]]");
    expands("+?/n: ", "{}");
    expands("a: {+?/b/c: , k: 1}\nb: {+/d: }\nd: {c: {j: 2}}", "{a: {k: 1, j: 2}, b: {c: {j: 2}}, d: {c: {j: 2}}}");
    let world = World::new(&[("empty.yaml", "# nothing\n"), ("null.yaml", "null\n"), ("part.yaml", "a: null\n")]);
    assert_expands(
        &world,
        "x: {+include: empty.yaml, k: 1}\ny: {+include: null.yaml}\nz: {+?include: gone.yaml}",
        "{x: {k: 1}, y: {}, z: {}}",
    );
    assert_expands(
        &world,
        "x: {+include: 'part.yaml#/a'}\ny: {+?include: 'part.yaml#/b', k: 1}",
        "{x: null, y: {k: 1}}",
    );
    let outcome = world.expand("x: {+/y: }\ny: {+?/n: }");
    assert_eq!(world.reported(&outcome.findings), [("merge/missing-reference", "+/y".to_owned())]);
}

#[test]
fn marks_say_how_to_merge() {
    expands(
        "b: {m: {a: 1}, n: {a: 1}}\nx: {+/b: , m: {+%: replace, c: 2}, n: {+%: merge, c: 2}, o: {+%: merge, c: 2}}",
        "{b: {m: {a: 1}, n: {a: 1}}, x: {m: {c: 2}, n: {a: 1, c: 2}, o: {+%: merge, c: 2}}}",
    );
    expands(
        "b: {k: {a: 1}}\nw: {k: {+%: whiteout}}\nx: {+/b: , +/w: }\ny: {+/b: , +/w: , k: {c: 1}}",
        "{b: {k: {a: 1}}, w: {}, x: {}, y: {k: {c: 1}}}",
    );
    expands(
        "b: {m: {+%: error, a: 1}}\nx: {+/b: , m: {+%: merge, c: 2}}",
        "{b: {m: {+%: error, a: 1}}, x: {m: {a: 1, c: 2}}}",
    );
    expands("x: {a: {b: {+%: whiteout, c: 1}}, l: [{+%: nullout}]}", "x: {a: {}, l: [{+%: nullout}]}");
}

#[test]
fn keys_that_are_not_text_are_expanded_and_found() {
    expands("1: {k: {+/true: }}\ntrue: {j: 1}\nx: {+/1/k: }", "{1: {k: {j: 1}}, true: {j: 1}, x: {j: 1}}");
}

#[test]
fn aliases_are_expanded_where_they_are_used() {
    expands(
        "t: &t {+../side: }\nside: {s: 1}\nin: {u: *t, side: {s: 2}}",
        "{t: {s: 1}, side: {s: 1}, in: {u: {s: 2}, side: {s: 2}}}",
    );
    expands("b: &b {+/d: , k: 1}\nd: {j: 2}\nx: {<<: *b, m: 3}", "{b: {k: 1, j: 2}, d: {j: 2}, x: {k: 1, m: 3, j: 2}}");
}

#[test]
fn raw_content_is_not_followed() {
    expands(
        "t: {r: {+/l: }}\nl: {c: 1}\nx: {+/t: raw}\ny: {+/x: }\nz: {+/x/r: }",
        "{t: {r: {c: 1}}, l: {c: 1}, x: {r: {'+/l': null}}, y: {r: {'+/l': null}}, z: {'+/l': null}}",
    );
    let world = World::new(&[("f.yaml", "a: {+/b: }\n"), ("raw", "k: 1\n")]);
    assert_expands(
        &world,
        "x: {+include: {file: f.yaml, merge: raw}}\ny: {+include: raw}",
        "{x: {a: {'+/b': null}}, y: {k: 1}}",
    );
}

#[test]
fn every_error_is_told_at_its_directive() {
    let world = World::new(&[
        ("two.yaml", "a: 1\n---\nb: 2\n"),
        ("bad.yaml", "a: [\n"),
        ("twice.yaml", "a: 1\na: 2\n"),
        ("d/x.yaml", "a: 1\n"),
    ]);
    let text = "v: text\na: {+/no/such: , k: 1}\nb: {+*nope: }\nc: {+/v: , k: 1}\nd: {+/a~2: }\ne: {+include: gone.yaml}\n\
                f: {+include: ../x.yaml}\ng: {+include: 5}\nh: {+include: two.yaml}\ni: {+include: bad.yaml}\n\
                j: {+include: twice.yaml}\nk: {+include: {file: d/x.yaml, when: CI}}\nl: {+include: 'https://x.org/a.yaml'}\n\
                m: {+include: d}\nn: {+?include: bad.yaml}\no: {+include: 'd/x.yaml#/b'}\n";
    let outcome = world.expand(text);
    let reported = world.reported(&outcome.findings);
    let expected = [
        ("document/syntax", "["),
        ("merge/missing-reference", "+/no/such"),
        ("merge/missing-reference", "+*nope"),
        ("merge/merge-conflict", "+/v"),
        ("merge/invalid-pointer", "+/a~2"),
        ("merge/include-not-found", "+include"),
        ("merge/include-refused", "+include"),
        ("merge/invalid-include", "+include"),
        ("merge/multiple-documents", "+include"),
        ("merge/include-refused", "+include"),
        ("merge/include-refused", "+include"),
        ("merge/include-refused", "+include"),
        ("merge/optional-broken", "+?include"),
        ("merge/missing-reference", "+include"),
        ("document/duplicate-key", "a"),
    ];
    assert_eq!(reported, expected.map(|(rule, at)| (rule, at.to_owned())));
    let absent: Vec<String> = outcome
        .value
        .reads
        .iter()
        .filter(|(_, read)| **read == Read::Absent)
        .map(|(path, _)| path.to_string())
        .collect();
    assert_eq!(absent, ["gone.yaml"]);
    assert_eq!(outcome.value.reads.len(), 6);
}
