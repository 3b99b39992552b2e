//! Computed values end to end: who is shown when another resource changes, what stays data, what goes wrong, and what is never said.

use crate::program::{outcrop, run};
use crate::repo::TestRepo;

/// `/apps/web` reads its parent, a sibling tree, a Kubernetes document and a plain file.
fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("apps/resource.yaml", "domain: one.example\n");
    repo.write(
        "apps/web/resource.yaml",
        "host: {eval: {concat: [web., {eval: domain}]}}\nreplicas: {eval: \"::plans/gold::replicas\"}\n\
         image: {eval: \"::deploy/Deployment.web::spec::image\"}\nretries: {eval: \"::config/app.yaml::retries\"}\n\
         second: {eval: \"::config/two.yaml#2::b\"}\n",
    );
    repo.write("plans/gold/resource.yaml", "replicas: 2\n");
    repo.write("deploy/web.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {image: a}\n");
    repo.write("config/app.yaml", "retries: 1\n");
    repo.write("config/two.yaml", "a: 1\n---\nb: 1\n");
    repo.commit_all("one");
    repo
}

#[test]
fn a_change_of_the_other_resource_shows_the_dependent_one() {
    for (file, text, shown) in [
        ("plans/gold/resource.yaml", "replicas: 3\n", ".replicas  2 → 3"),
        ("apps/resource.yaml", "domain: two.example\n", ".host"),
        ("config/app.yaml", "retries: 2\n", ".retries  1 → 2"),
        ("config/two.yaml", "a: 1\n---\nb: 2\n", ".second  1 → 2"),
        (
            "deploy/web.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {image: b}\n",
            ".image  a → b",
        ),
    ] {
        let repo = repository();
        repo.write(file, text);
        let says = |arguments: &[&str]| {
            run(&mut outcrop(&repo, arguments)).ends_with(0).says("/apps/web").says(shown);
        };
        says(&["diff"]);
        repo.git(&["add", "."]);
        says(&["diff", "--staged"]);
        repo.commit_all("two");
        says(&["diff", "HEAD~1", "HEAD"]);
        says(&["diff", "HEAD~1", "HEAD", "--", "/apps/web"]);
        run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD", "--name-only"]))
            .ends_with(0)
            .says("apps/web/resource.yaml");
    }
}

#[test]
fn what_a_function_makes_is_defined_where_its_input_is() {
    let repo = repository();
    repo.write("apps/resource.yaml", "domain: two.example\n");
    run(&mut outcrop(&repo, &["diff"]))
        .ends_with(0)
        .says("because apps/resource.yaml:1, via the expression in line 1 of this file");
}

#[test]
fn an_expression_of_another_language_does_not_hide_the_others() {
    let repo = repository();
    repo.write("apps/job/resource.yaml", "a: {eval: \"::plans/gold::replicas\"}\nb: {eval: {unheard_of: 1}}\n");
    repo.commit_all("two");
    repo.write("plans/gold/resource.yaml", "replicas: 3\n");
    repo.commit_all("three");
    run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(0).says("~ /apps/job").says(".a  2 → 3");
}

#[test]
fn a_change_that_no_expression_reads_shows_nobody_else() {
    let repo = repository();
    repo.write("plans/silver/resource.yaml", "replicas: 1\n");
    repo.commit_all("two");
    run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(0).does_not_say("/apps/web");
}

#[test]
fn expressions_can_be_turned_off() {
    let repo = repository();
    repo.write("outcrop.yaml", "expressions: off\n");
    repo.commit_all("two");
    repo.write("plans/gold/resource.yaml", "replicas: 3\n");
    repo.commit_all("three");
    run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(0).does_not_say("/apps/web");
    // Then they are data, also for queries.
    run(&mut outcrop(&repo, &["eval", "replicas", "--path", "/apps/web"])).ends_with(0).says("eval:");
    run(&mut outcrop(&repo, &["eval", "::gold::replicas"])).ends_with(0).says("3");
}

#[test]
fn a_map_that_merely_looks_alike_stays_data() {
    let repo = repository();
    let alike = "a: {eval: domain, comment: not ours}\nb: {ref: domain}\nc: {concat: [x, y]}\nd: {Eval: domain}\n";
    repo.write("apps/alike/resource.yaml", format!("{alike}e: 1\n"));
    repo.commit_all("two");
    repo.write("apps/alike/resource.yaml", format!("{alike}e: 2\n"));
    repo.write("apps/resource.yaml", "domain: two.example\n");
    repo.commit_all("three");
    let ran = run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD", "--", "/apps/alike"])).ends_with(0);
    ran.says(".e  1 → 2").does_not_say("two.example").says("1 changed");
}

#[test]
fn a_circle_across_resources_is_reported_with_its_way() {
    let repo = repository();
    repo.write("apps/a/resource.yaml", "x: {eval: \"::apps/b::x\"}\n");
    repo.write("apps/b/resource.yaml", "x: {eval: \"::apps/c::x\"}\n");
    repo.write("apps/c/resource.yaml", "x: {eval: \"::apps/a::x\"}\n");
    repo.commit_all("two");
    let way = "`/apps/a` → `/apps/b` → `/apps/c` → `/apps/a`";
    run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(2).says("expression/cycle").says(way);
    run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD"])).ends_with(1).says(way).says("1 error");
    run(&mut outcrop(&repo, &["eval", "x", "--path", "/apps/b"])).ends_with(2).says(way).says("null");
}

#[test]
fn what_cannot_be_read_is_not_taken_for_nothing() {
    for (file, expression) in [
        ("plans/gold/resource.yaml", "::plans/gold::replicas"),
        ("config/app.yaml", "::config/app.yaml::retries"),
        ("deploy/web.yaml", "::deploy/Deployment.web::spec::image"),
        ("apps/resource.yaml", "domain"),
    ] {
        let repo = repository();
        repo.write(file, "a: [1\n");
        let asked = ["eval", expression, "--path", "/apps/web"];
        run(&mut outcrop(&repo, &asked)).ends_with(2).says("expression/unreadable").does_not_say("null");
        // The broken file is the same on both sides; only what depends on it says that something is missing.
        repo.commit_all("two");
        repo.write("apps/web/extra.yaml", "a: 1\n");
        repo.commit_all("three");
        run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(2).says("expression/unreadable");
    }
}

#[test]
fn a_short_name_that_several_have_lists_them() {
    let repo = repository();
    repo.write("teams/gold/resource.yaml", "replicas: 9\n");
    let ran = run(&mut outcrop(&repo, &["eval", "::gold::replicas"])).ends_with(2);
    ran.says("expression/ambiguous-name").says("`/plans/gold`, `/teams/gold`");
    run(&mut outcrop(&repo, &["eval", "::teams/gold::replicas"])).ends_with(0).says("9");
}

#[test]
fn several_roots_are_one_tree() {
    let repo = TestRepo::new();
    repo.write("outcrop.yaml", "roots: [east, west]\n");
    repo.write("east/a/resource.yaml", "v: {eval: \"::b::v\"}\n");
    repo.write("west/b/resource.yaml", "v: 1\n");
    repo.write("elsewhere/c/resource.yaml", "v: 3\n");
    repo.commit_all("one");
    repo.write("west/b/resource.yaml", "v: 2\n");
    repo.commit_all("two");
    run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(0).says("/a, /b").says(".v  1 → 2");
    run(&mut outcrop(&repo, &["eval", "v", "--path", "/a", "--at", "HEAD~1"])).ends_with(0).says("1");
    run(&mut outcrop(&repo, &["eval", ".children::.path", "--all", "-o", "json"])).ends_with(0).does_not_say("/c");
}

#[test]
fn eval_says_where_it_cannot_start() {
    let repo = repository();
    let at = |path: &str| run(&mut outcrop(&repo, &["eval", ".path", "--path", path]));
    at("/apps/web").ends_with(0).says("/apps/web");
    at("apps/web/resource.yaml").ends_with(0).says("/apps/web");
    at("Deployment web").ends_with(0).says("/deploy/Deployment.web");
    at("config/two.yaml#2").ends_with(0).says("/config/two.yaml#2");
    at("/deploy").ends_with(0).says("/deploy");
    at("/").ends_with(0).says("/");
    at("config/two.yaml").ends_with(2).says("holds several resources").says("config/two.yaml#1, config/two.yaml#2");
    at("/apps/absent").ends_with(2).says("there is no resource /apps/absent");
    run(&mut outcrop(&repo, &["eval", "a", "--var", "x"])).ends_with(2).says("--var NAME=VALUE");
    run(&mut outcrop(&repo, &["eval", "a", "--var", "x=[1"])).ends_with(2).says("--var x:1:1");
    run(&mut outcrop(&repo, &["eval", "$x", "--var", "x={eval: \"::gold::replicas\"}"])).ends_with(0).says("2");
}

const CANARY: &str = "kanari";

/// Secrets of every kind, each copied by expressions to places that no rule declares.
fn secretive(turn: u8) -> TestRepo {
    let repo = TestRepo::new();
    for turn in 1..=turn {
        repo.write("outcrop.yaml", "secrets: [/**/apiKey]\n");
        repo.write("m/_/metadata.yaml", "resourceInfo: {secretInAttributes: [pin]}\n");
        repo.write(
            "m/own/resource.yaml",
            format!(
                "apiKey: kanari-{turn}a\npin: kanari-{turn}b\nplain: {turn}\ncopy: {{eval: apiKey}}\npins: [{{eval: pin}}]\n\
                 joined: {{eval: {{concat: [x, {{eval: apiKey}}]}}}}\nadded: {{eval: {{add: [{{eval: pin}}, x]}}}}\n\
                 part: {{eval: {{token: [{{eval: apiKey}}, '-', 1]}}}}\nurl: {{eval: {{urljoin: [https, {{eval: pin}}]}}}}\n\
                 whole: {{eval: deep}}\ndeep: {{apiKey: kanari-{turn}c, list: [{{apiKey: kanari-{turn}d}}]}}\n\
                 is: {{eval: {{eq: [{{eval: apiKey}}, {{eval: pin}}]}}}}\nagain: {{eval: copy}}\n"
            ),
        );
        repo.write(
            "m/other/resource.yaml",
            format!(
                "from: {{eval: \"::m/own::apiKey\"}}\njoined: {{eval: \"::m/own::joined\"}}\n\
                 pin: {{eval: {{concat: [kanari-{turn}e, {{eval: \"::m/own::plain\"}}]}}}}\n\
                 seal: {{eval: pin}}\nkube: {{eval: \"::k/Secret.s::stringData::p\"}}\n"
            ),
        );
        repo.write(
            "k/s.yaml",
            format!(
                "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{eval: stringData::p}}\n  labels: {{l: {{eval: stringData::p}}}}\n\
                 stringData: {{p: kanari-{turn}f}}\n---\napiVersion: v1\nkind: Secret\nmetadata: {{name: s, labels: {{l: {{eval: \
                 stringData::p}}}}}}\nstringData: {{p: kanari-{turn}g}}\n"
            ),
        );
        repo.commit_all(&turn.to_string());
    }
    repo
}

#[test]
fn copies_of_secrets_are_in_no_output() {
    let repo = secretive(2);
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["check", "--all"],
        vec!["check", "--all", "--format", "json"],
        vec!["check", "--all", "--format", "github"],
        vec!["diff", "HEAD~1", "HEAD", "--stat"],
        vec!["diff", "HEAD~1", "HEAD", "-v"],
        vec!["render"],
        vec!["render", "--format", "json"],
        vec!["render", "--steps"],
        vec!["metadata", "render", "/m/own", "createResource"],
        vec!["metadata", "render", "/m/own", "updateResource", "-o", "json"],
        vec!["diff", "HEAD~1", "HEAD", "--no-group"],
        vec!["diff", "HEAD~1", "HEAD", "--per-resource"],
        vec!["eval", "::*", "--all", "--trace"],
        vec!["eval", "::*::*", "--all", "--trace"],
        vec!["eval", "{eval: '::*', foreach: {value: {all: {eval: '::*::*'}}}}", "--trace", "-v"],
    ];
    for format in ["terminal", "side-by-side", "unified", "json", "json-patch", "markdown"] {
        commands.push(vec!["diff", "HEAD~1", "HEAD", "--format", format]);
    }
    for path in ["/m/own", "/m/other", "Secret s", "k/s.yaml"] {
        commands.push(vec!["explain", path]);
        commands.push(vec!["explain", path, "-v"]);
        commands.push(vec!["explain", path, "-o", "json"]);
    }
    let keys =
        ["copy", "pins", "joined", "added", "part", "url", "whole", "again", "from", "pin", "seal", "kube", "is"];
    for path in ["/m/own", "/m/other", "Secret s"] {
        for key in keys {
            commands.push(vec!["eval", key, "--path", path, "--trace", "-v"]);
            commands.push(vec!["eval", key, "--path", path, "-o", "json"]);
        }
    }
    for command in commands {
        let ran = run(&mut outcrop(&repo, &command));
        assert!(
            !ran.stdout.contains(CANARY) && !ran.stderr.contains(CANARY),
            "{command:?}\n{}\n{}",
            ran.stdout,
            ran.stderr
        );
        assert!(!ran.stderr.contains("crashed"), "{command:?}\n{}", ran.stderr);
    }
    // They are compared nevertheless.
    let ran = run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD", "--", "/m"])).ends_with(0);
    for place in [".copy", ".joined", ".added", ".url", ".whole.apiKey", ".again", ".from", ".seal", ".kube"] {
        assert!(ran.stdout.contains(&format!("• {place}  (sensitive, changed)")), "{place}\n{}", ran.stdout);
    }
    run(&mut outcrop(&repo, &["eval", "copy", "--path", "/m/own", "--reveal"])).ends_with(2).says("only on a terminal");
}
