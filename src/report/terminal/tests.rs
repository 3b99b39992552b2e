//! How the terminal report looks, in small pieces.

use super::write;
use crate::diff::{Change, ChangeKind, Difference, PathStep, ResourceChange};
use crate::document::Format;
use crate::finding::{self, Finding, Location};
use crate::report::sample::{
    boolean, both, change, grouped, inside, item, key, kubernetes, list, map, number, path, report, resource, rich,
    secret, string,
};
use crate::report::{Compared, Report, Style, terminal};

const PLAIN: Style = Style {
    width: 60,
    is_terminal: true,
    color: false,
    ascii: false,
    verbosity: 0,
    in_ci: false,
    show_suppressed: false,
};

fn written(report: &Report, style: Style) -> String {
    let mut out = Vec::new();
    write(report, &style, &mut out).expect("writing to memory works");
    String::from_utf8(out).expect("reports are text")
}

fn with(changes: Vec<Change>) -> Report {
    let side = || resource(kubernetes("Deployment", "web"), "web.yaml", map([]));
    report(vec![both(side(), side(), changes)])
}

/// The lines of some changes, without summary and header.
fn lines(changes: Vec<Change>, style: Style) -> Vec<String> {
    let shown = written(&with(changes), style);
    let body = shown.split("\n\n").nth(1).expect("a resource").lines().skip(1);
    body.map(str::to_owned).collect()
}

#[test]
fn the_summary_says_what_was_compared_and_found() {
    let shown = written(&rich(), Style { width: 80, ..PLAIN });
    assert!(shown.starts_with(
        "HEAD → index   incomplete: 1 file could not be compared
12 resources in 9 changed files
4 changed (1 also moved)  1 added  1 removed  1 moved  3 errors  3 secrets
1 order-only  1 spelling-only
1 file compared as text: Helm templates (1)
"
    ));
    let block = "
~ /customers/acme  customers/acme/resource.yaml
  ~ .tier  silver → gold
  T .trial  \"true\" → true  (string → boolean)
";
    let (problem, change) = (shown.find("document/syntax"), shown.find(block));
    assert!(problem.is_some() && problem < change, "problems come first\n{shown}");
}

#[test]
fn no_change_is_one_line_that_can_be_trusted() {
    let mut report = report(Vec::new());
    report.compared = Compared { files: 3, resources: 7 };
    let wide = Style { width: 80, ..PLAIN };
    assert_eq!(written(&report, wide), "HEAD → index   no effective change: 3 changed files compared\n");
    report.compared = Compared::default();
    assert_eq!(written(&report, wide), "HEAD → index   no files differ\n");
    let location = Location::File { path: path("a.yaml"), revision: "index".into() };
    report.findings.push(Finding::new(&finding::SOURCE_UNREADABLE, location, "no"));
    report.incomplete = true;
    let shown = written(&report, wide);
    assert!(shown.starts_with("HEAD → index   incomplete: not everything could be compared\n"), "{shown}");
    report.unread.insert(path("a.yaml"));
    let shown = written(&report, wide);
    assert!(shown.starts_with("HEAD → index   incomplete: 1 file could not be compared\n"), "{shown}");
}

#[test]
fn short_changes_take_one_line() {
    let env =
        |before, after| PathStep::Item { before: Some(before), after: Some(after), label: Some("name=LOG".into()) };
    let shown = lines(
        vec![
            change(ChangeKind::Value, [key("spec"), key("replicas")], number("2"), number("3")),
            change(ChangeKind::Add, [key("a"), item(None, 3)], None, string("x")),
            change(ChangeKind::Remove, [key("b")], list([string("x"), string("z")]), None),
            change(ChangeKind::Type, [key("c")], string("1"), number("1")),
            change(ChangeKind::Move, [key("env"), env(4, 1)], map([]), map([])),
            change(
                ChangeKind::Reorder,
                [key("d")],
                list(["a", "b", "c"].map(string)),
                list(["c", "a", "b"].map(string)),
            ),
            change(ChangeKind::Value, [key("e"), inside(Format::Json), key("f")], boolean(true), boolean(false)),
        ],
        PLAIN,
    );
    assert_eq!(
        shown,
        [
            "  ~ .spec.replicas  2 → 3",
            "  + .a[3]  x",
            "  - .b  [x, z]",
            "  T .c  \"1\" → 1  (string → number)",
            "  » .env[LOG]  [4] → [1]  (position)",
            "  ⇆ .d  a, b, c → c, a, b",
            "  ~ .e › .f  true → false",
        ]
    );
}

#[test]
fn every_symbol_has_an_ascii_twin() {
    let moved = PathStep::Item { before: Some(4), after: Some(1), label: None };
    let shown = lines(
        vec![
            change(ChangeKind::Move, [key("env"), moved], map([]), map([])),
            change(ChangeKind::Reorder, [key("d")], list(["a", "b"].map(string)), list(["b", "a"].map(string))),
            change(ChangeKind::Value, [key("p"), inside(Format::Yaml), key("f")], secret("x"), secret("y")),
        ],
        Style { ascii: true, ..PLAIN },
    );
    assert_eq!(
        shown,
        ["  >> .env[1]  [4] -> [1]  (position)", "  <> .d  a, b -> b, a", "  * .p > .f  (sensitive, changed) #1 -> #2"]
    );
}

#[test]
fn long_values_are_stacked_and_keep_what_differs() {
    let long = |word: &str| string(&format!("{} {word} {}", "begin ".repeat(20).trim(), "end ".repeat(20).trim()));
    let shown = lines(vec![change(ChangeKind::Value, [key("a")], long("old"), long("new"))], PLAIN);
    assert!(shown.iter().all(|line| line.chars().count() <= 60), "{shown:?}");
    let side =
        |sign: &str| shown.iter().filter_map(|line| line.trim_start().strip_prefix(sign)).collect::<Vec<_>>().join(" ");
    let words = |word: &str| format!("{}{word} {}", "begin ".repeat(20), "end ".repeat(20).trim_end());
    assert_eq!((side("- "), side("+ ")), (words("old"), words("new")), "nothing is cut");
    assert_eq!(shown.iter().filter(|line| line.trim_start() == "^^^").count(), 1, "{shown:?}");
}

#[test]
fn maps_are_blocks_that_are_cut_when_long() {
    let names: Vec<String> = (0..40).map(|n| format!("key-{n}")).collect();
    let long = map(names.iter().map(|name| (name.as_str(), boolean(true))));
    let shown = lines(vec![change(ChangeKind::Add, [key("a")], None, long.clone())], PLAIN);
    assert_eq!(shown[..2], ["  + .a", "      + key-0: true"]);
    assert_eq!(shown[shown.len() - 1], "      … 10 more lines (-v shows all)");
    let shown = lines(vec![change(ChangeKind::Add, [key("a")], None, long)], Style { verbosity: 1, ..PLAIN });
    assert_eq!(shown.len(), 42);
    assert_eq!(shown[41], "      at line 1");
}

#[test]
fn texts_are_hunks_with_their_words_marked() {
    let numbered = |changed: &str| {
        let line = |n: usize| if n == 10 { format!("{changed}\n") } else { format!("line {n}\n") };
        string(&(1..=20).map(line).collect::<String>())
    };
    let (before, after) = (numbered("workers 4 of 8"), numbered("workers 6 of 8"));
    let shown = lines(vec![change(ChangeKind::Text, [key("a")], before, after)], PLAIN);
    assert_eq!(
        shown,
        [
            "  ~ .a  (+1 -1, 20 lines now)",
            "      @@ line 8 @@",
            "        line 8",
            "        line 9",
            "      - workers 4 of 8",
            "      + workers 6 of 8",
            "                ^",
            "        line 11",
            "        line 12",
        ]
    );
    let end = change(ChangeKind::Text, [key("a")], string("x\ny\n"), string("x\ny"));
    let shown = lines(vec![end], PLAIN);
    assert_eq!(shown[2..], ["      - y", "      + y", "        (no newline at end of file)"]);
}

#[test]
fn secrets_are_compared_but_not_shown() {
    let shown = lines(
        vec![
            change(ChangeKind::Value, [key("a")], secret("one"), secret("two")),
            change(ChangeKind::Add, [key("b")], None, secret("two")),
            change(ChangeKind::Remove, [key("c")], secret("one"), None),
            change(ChangeKind::Type, [key("d")], string("plain"), secret("three")),
            change(ChangeKind::Add, [key("e")], None, map([("password", secret("one"))])),
        ],
        PLAIN,
    );
    assert_eq!(
        shown,
        [
            "  • .a  (sensitive, changed) #1 → #2",
            "  • .b  (sensitive, added) #2",
            "  • .c  (sensitive, removed) #1",
            "  • .d  (sensitive, changed) not sensitive (string) → #3",
            "  + .e  {password: (sensitive)#1}",
        ]
    );
}

#[test]
fn narrow_terminals_break_paths_between_steps() {
    let path = ["spec", "template", "spec", "containers"]
        .map(key)
        .into_iter()
        .chain([item(Some("name=web"), 0), key("image")]);
    let shown = lines(
        vec![change(
            ChangeKind::Value,
            path,
            string("example.com/team/web:1.4.0"),
            string("example.com/team/web:1.5.0"),
        )],
        Style { width: 40, ..PLAIN },
    );
    assert_eq!(
        shown,
        [
            "  ~ .spec.template.spec.containers[web]",
            "      .image",
            "      - example.com/team/web:1.4.0",
            "      + example.com/team/web:1.5.0",
            "                             ^^^^^",
        ]
    );
}

#[test]
fn resources_that_come_and_go_show_their_content() {
    let side = || resource(kubernetes("ConfigMap", "x"), "x.yaml", map([("a", number("1"))]));
    let added = ResourceChange {
        before: None,
        after: Some(side()),
        difference: Difference::default(),
        ..ResourceChange::default()
    };
    let removed = ResourceChange {
        before: Some(side()),
        after: None,
        difference: Difference::default(),
        ..ResourceChange::default()
    };
    let shown = written(&report(vec![added, removed]), PLAIN);
    assert!(
        shown.ends_with("\n+ ConfigMap shop/x  x.yaml\n    + a: 1\n\n- ConfigMap shop/x  x.yaml\n    - a: 1\n"),
        "{shown}"
    );
}

#[test]
fn colour_says_nothing_that_characters_do_not() {
    let colored = written(&rich(), Style { color: true, ..PLAIN });
    assert!(colored.contains("\x1b[33m~\x1b[0m") && colored.contains("\x1b[36m+ \x1b[0m"));
    let plain = written(&rich(), PLAIN);
    for line in plain.lines().filter(|line| line.starts_with(['+', '-', '~', '»'])) {
        let symbol = line.chars().next().expect("a symbol");
        assert!(colored.contains(&format!("m{symbol}\x1b[0m ")), "{line}");
    }
}

#[test]
fn what_is_left_out_is_always_counted() {
    let shown = written(&rich(), Style { width: 80, ..PLAIN });
    assert!(shown.ends_with(
        "
2 other files not compared (Markdown 1, pictures 1)
Spelling only: 1 number written differently but equal in value (-v lists them)
"
    ));
}

#[test]
fn a_table_shows_how_much_changed() {
    let mut out = Vec::new();
    terminal::write_stat(&rich(), &Style { width: 80, ..PLAIN }, &mut out).expect("writing to memory works");
    let shown = String::from_utf8(out).expect("reports are text");
    assert!(
        shown.contains(
            "
~ /customers/acme            ~2        ~~
~ ConfigMap shop/web-config  ~2        ~~
~ Secret shop/web            +1 ~1     +~
~ Deployment shop/web        +1 ~6 -1  +~~~~~~-
+ ConfigMap shop/flags       new
- config/old.yaml            gone
» Service shop/web           moved
"
        ),
        "{shown}"
    );
}

#[test]
fn names_are_the_files_of_today() {
    let mut out = Vec::new();
    terminal::write_names(&rich(), &PLAIN, &mut out).expect("writing to memory works");
    let shown = String::from_utf8(out).expect("reports are text");
    assert_eq!(
        shown,
        "apps/web/deployment.yaml\napps/web/flags.yaml\napps/web/service.yaml\n\
         charts/web/templates/service.yaml\nconfig/old.yaml\n\
         customers/acme/resource.yaml\ndeploy/broken.yaml\ndeploy/config.yaml\ndeploy/secret.yaml\n"
    );
}

#[test]
fn what_many_share_is_told_once() {
    let shown = written(&grouped(), Style { width: 80, ..PLAIN });
    let expected = "HEAD → index   39 resources in 6 changed files
37 changed  3 secrets  2 overridden

SOURCES
  customers/_/metadata.yaml  1 edit → 37 resources

~ 37 resources
    /customers/{c00, c01, c02, c03, c04, c05, c06, c07, c08, c09, c10, c11,
      c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26,
      c27, c28, c29, c30, c31, c32, c33, c34, c35, c36}
  ~ metadata › .operationInfo.updateResource.path
      - \"/v1/customers/{{.id}}\"
      + \"/v2/customers/{{.id}}\"
          ^^
      varies  /v0 → \"/v2/customers/{{.id}}\"
        /customers/{c07, c08}
      varies  /old → \"/v2/customers/{{.id}}\"
        /customers/c09
      not affected: 2 overridden by customers/{mono, north}/metadata.yaml
    because customers/_/metadata.yaml:3

~ 5 resources
    /customers/{c00, c01, c02, c03, c04}
  ~ .plan  silver → gold
";
    let report = grouped();
    assert!(shown.starts_with(expected), "{shown}");
    let wide = written(&report, Style { width: 140, ..PLAIN });
    assert!(wide.contains("  {\"/v1/customers/{{.id}}\"|/v0} → \"/v2/customers/{{.id}}\"\n"), "{wide}");
    let all = written(&report, Style { width: 140, verbosity: 1, ..PLAIN });
    assert!(all.contains("c34, c35, c36}\n") && !all.contains(" more}"), "{all}");
}

#[test]
fn each_resource_can_still_be_told_for_itself() {
    let mut report = grouped();
    report.ungroup();
    let shown = written(&report, Style { width: 100, ..PLAIN });
    assert!(!shown.contains("SOURCES"));
    assert_eq!(shown.matches("because customers/_/metadata.yaml:3\n").count(), 37);
    assert!(shown.contains(
        "\nPartly overridden: /operationInfo/updateResource/path at customers/_/metadata.yaml:3\n  2 overridden by "
    ));
}

#[test]
fn plain_values_of_a_list_are_one_line() {
    let at = |index: usize| PathStep::Item { before: Some(index), after: Some(index), label: None };
    let came = |index: usize, text: &str| change(ChangeKind::Add, [key("versions"), at(index)], None, string(text));
    let went = |index: usize, text: &str| change(ChangeKind::Remove, [key("versions"), at(index)], string(text), None);
    let changes = || vec![came(0, "v1.23"), came(1, "v1.22"), went(1, "v1.20"), went(2, "v1.19"), went(3, "v1.18")];
    assert_eq!(
        lines(changes(), PLAIN),
        ["  .versions", "    + [0, 1]  v1.23, v1.22", "    - [1…3]  v1.20, v1.19, v1.18"]
    );
    let in_a_file = Style { is_terminal: false, ..PLAIN };
    assert_eq!(lines(changes(), in_a_file).len(), 6, "in a file each has its line");
    let apart = vec![came(0, "a"), came(2, "b, c")];
    assert_eq!(lines(apart, PLAIN), ["  + .versions[0]  a", "  + .versions[2]  \"b, c\""]);
}

#[test]
fn encrypted_values_are_short_on_a_terminal() {
    let value = |tag: &str| string(&format!("ENC[AES256_GCM,data:{},iv:eA==,tag:{tag},type:str]", "x".repeat(99)));
    let (old, new) = (value("AAAAAAAAAAAAAA=="), value("BBBBBBBBBBBBBB=="));
    let changes = || vec![change(ChangeKind::Value, [key("k")], old.clone(), new.clone())];
    let wide = Style { width: 80, ..PLAIN };
    assert_eq!(lines(changes(), wide), ["  ~ .k  encrypted str, …AAAAAA== → encrypted str, …BBBBBB=="]);
    let whole = lines(changes(), Style { is_terminal: false, width: 400, ..PLAIN }).concat();
    assert!(whole.contains("AAAAAAAAAAAAAA==") && whole.contains("BBBBBBBBBBBBBB=="), "{whole}");
}
