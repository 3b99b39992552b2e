//! What a step leaves behind: summary, outputs and the report; and what decides its exit code.

use std::collections::BTreeMap;

use super::*;

/// Outputs as the runner reads them.
pub(super) fn outputs(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let (name, mark) = line.split_once("<<").expect("every output has a mark");
        let value: Vec<&str> = lines.by_ref().take_while(|line| *line != mark).collect();
        assert!(mark.starts_with("ghadelimiter_") && mark.len() > 30, "{mark}");
        found.insert(name.to_owned(), value.join("\n"));
    }
    found
}

#[test]
fn outputs_summary_and_report_agree() {
    let project = Project::new();
    let clone = project.checkout("clone", &project.merge, Some(2));
    let step = clone.run(&mut clone.pull_request_step());
    step.ran.ends_with(1);
    let found = outputs(&step.outputs);
    assert_eq!((found["changed"].as_str(), found["errors"].as_str(), found["warnings"].as_str()), ("true", "1", "0"));
    let report = fs::read_to_string(&found["report"]).expect("the report is there");
    let report: serde_json::Value = serde_json::from_str(&report).expect("the report is JSON");
    assert_eq!(report["schema"], "outcrop/report/v1");
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["resources"][0]["id"], "app.yaml");
    let sarif = fs::read_to_string(&found["sarif"]).expect("the findings are there");
    let sarif: serde_json::Value = serde_json::from_str(&sarif).expect("SARIF is JSON");
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["results"].as_array().map(Vec::len), Some(1));
    let page = fs::read_to_string(&found["page"]).expect("the page is there");
    assert!(page.starts_with("<!doctype html>") && page.contains("app.yaml"), "{}", &page[..200]);
    for name in ["report", "comment", "sarif", "page"] {
        assert!(found[name].starts_with(&found["directory"]), "{}", found[name]);
    }
    assert_eq!(found["labels"], "[]");
    assert!(step.summary.starts_with("<!-- outcrop:v1 fp="), "{}", step.summary);
    assert!(step.summary.contains(" -->\n### outcrop: "), "{}", step.summary);
    assert!(step.summary.contains("replicas") && step.summary.contains("new.yaml"), "{}", step.summary);
    assert!(step.summary.ends_with("\nNew problems: 1 error.\n"), "{}", step.summary);

    // A second run of the action in the same job adds, and writes another report.
    let again = clone.run(&mut clone.pull_request_step());
    assert_eq!(again.summary.matches("### outcrop: ").count(), 2);
    assert_ne!(outputs(&again.outputs)["report"], found["report"]);
}

#[test]
fn a_clean_change_is_clean() {
    let project = Project::new();
    let clone = project.checkout("clone", &project.main, None);
    let step = clone.run(clone.pull_request_step().args(["--base", &project.base, "--head", &project.main]));
    let found = outputs(&step.outputs);
    step.ran.ends_with(0).says("No new problems").does_not_say("::error");
    assert_eq!((found["changed"].as_str(), found["errors"].as_str()), ("true", "0"));
    let same = clone.run(clone.pull_request_step().args(["--base", &project.base, "--head", &project.base]));
    same.ran.ends_with(0);
    assert_eq!(outputs(&same.outputs)["changed"], "false");
}

#[test]
fn the_summary_stays_below_what_the_runner_takes() {
    const MOST: usize = 1 << 20;
    let project = Project::new();
    for at in 0..20 {
        project.repo.write(format!("many/{at}.yaml"), format!("text: \"{}\"\n", "x".repeat(8000)));
    }
    project.repo.commit_all("many");
    let clone = project.checkout("clone", "origin/main", None);
    let summary = clone.directory.with_extension("temp").join("summary");
    let step = |taken: usize| {
        let mut command = clone.pull_request_step();
        fs::write(&summary, vec![b'-'; taken]).expect("the summary can be written");
        let ran = run(command.args(["--base", &project.main, "--head", "HEAD"])).ends_with(0);
        (fs::metadata(&summary).expect("the summary is there").len() as usize, ran)
    };
    for taken in [0, MOST - 20_000, MOST - 1100] {
        let (size, _) = step(taken);
        assert!(taken < size && size <= MOST, "{taken} became {size}");
    }
    let (size, ran) = step(MOST - 100);
    assert_eq!(size, MOST - 100, "there was no room");
    ran.says("the step summary is full");
}

#[test]
fn the_threshold_decides_the_exit_code_and_nothing_else() {
    let project = Project::new();
    let clone = project.checkout("clone", &project.merge, Some(2));
    run(clone.pull_request_step().args(["--fail-on", "never"])).ends_with(0).says("::error file=new.yaml");
    run(clone.pull_request_step().env("OUTCROP_FAIL_ON", "warning")).ends_with(1);
    run(clone.pull_request_step().args(["--", "app.yaml"])).ends_with(0).says("1 → 5").does_not_say("new.yaml");
    run(clone.pull_request_step().args(["--", ":!new.yaml"])).ends_with(0).says("1 → 5");
}

#[test]
fn a_pull_request_cannot_switch_off_its_own_checks() {
    let project = Project::new();
    let repo = &project.repo;
    repo.write("outcrop.yaml", "rules:\n  document/syntax: error\n");
    let base = repo.commit_all("rules");
    repo.write("outcrop.yaml", "rules:\n  document/syntax: off\n");
    repo.write("new.yaml", "x: [1\n");
    repo.commit_all("sly");
    run(&mut outcrop(repo, &["ci", "github", "--base", &base]))
        .ends_with(1)
        .says("::error file=new.yaml")
        .says("::warning file=outcrop.yaml,title=config/rules-change::");
}

#[test]
fn secrets_stay_secret_everywhere() {
    let project = Project::new();
    let repo = &project.repo;
    let secret = |value: &str| {
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData:\n  password: {value}\n")
    };
    repo.write("secret.yaml", secret("hunter2"));
    let base = repo.commit_all("one");
    repo.write("secret.yaml", secret("hunter3") + "  password: hunter4\n");
    repo.write("other-secret.yaml", secret("hunter5").replace("name: s", "name: t"));
    repo.commit_all("two");
    let clone = project.checkout("clone", "origin/main", None);
    let step = clone.run(clone.pull_request_step().args(["--base", &base]));
    let found = outputs(&step.outputs);
    let report = fs::read_to_string(&found["report"]).expect("the report is there");
    step.ran.ends_with(1).says("secret.yaml").does_not_say("hunter");
    assert!(!step.summary.contains("hunter") && !report.contains("hunter"));
}

#[test]
fn a_place_that_cannot_be_written_is_no_success() {
    let project = Project::new();
    let clone = project.checkout("clone", &project.merge, Some(2));
    let nowhere = project.repo.beside("nowhere");
    run(clone.pull_request_step().env("GITHUB_OUTPUT", nowhere.join("output"))).ends_with(2).says("cannot be written");
    run(clone.pull_request_step().env("RUNNER_TEMP", &nowhere)).ends_with(2).says("cannot be written");
    // Without a runner there is nowhere to write to, and nothing is.
    let mut command = clone.pull_request_step();
    command.env_remove("GITHUB_OUTPUT").env_remove("GITHUB_STEP_SUMMARY").env_remove("RUNNER_TEMP");
    run(&mut command).ends_with(1);
}
