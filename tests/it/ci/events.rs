//! Which commits are compared, for each event and each depth of clone.

use super::*;

const ZERO: &str = "0000000000000000000000000000000000000000";

/// What every right answer about the pull request has in common.
fn is_the_pull_request(ran: Ran) -> Ran {
    ran.ends_with(1)
        .says("::error file=new.yaml,")
        .says(".replicas  1 → 5")
        .says("New problems: 1 error")
        .does_not_say("old.yaml")
        .does_not_say("other.yaml")
}

#[test]
fn a_trial_merge_is_compared_with_what_it_is_merged_into() {
    let project = Project::new();
    // The base that the event names is older than what `main` is now.
    for depth in [Some(2), None] {
        let clone = project.checkout(&format!("depth{depth:?}"), &project.merge, depth);
        is_the_pull_request(run(&mut clone.pull_request_step())).says("main → pull/7");
    }
    let clone = project.checkout("shallow", &project.merge, Some(1));
    let step = clone.run(&mut clone.pull_request_step());
    step.ran.ends_with(2).says("::error title=outcrop::").says("HEAD^1").says("fetch-depth: 2");
    assert_eq!((step.summary, step.outputs), (String::new(), String::new()));
}

#[test]
fn the_head_of_a_pull_request_is_compared_with_where_it_parted() {
    let project = Project::new();
    let clone = project.checkout("head", &project.feature, None);
    is_the_pull_request(run(&mut clone.pull_request_step()));
    // The base may have moved on in the event too.
    let later = project.event("pull_request", &project.main, &project.feature);
    let mut step = clone.step("pull_request", &later);
    is_the_pull_request(run(step.env("GITHUB_REF", "refs/pull/7/merge").env("GITHUB_SHA", &project.merge)));
    let shallow = project.checkout("shallow", &project.feature, Some(1));
    run(&mut shallow.pull_request_step()).ends_with(2).says("is not in this clone").says("fetch-depth: 0");
}

#[test]
fn a_pull_request_whose_last_commit_is_a_merge_is_no_trial_merge() {
    let project = Project::new();
    project.repo.git(&["switch", "-q", "feature"]);
    project.repo.git(&["merge", "-q", "--no-ff", "-m", "catch up", "main"]);
    let head = project.repo.git(&["rev-parse", "HEAD"]);
    let clone = project.checkout("head", &head, None);
    let mut step = clone.step("pull_request", &project.event("pull_request", &project.main, &head));
    is_the_pull_request(run(step.env("GITHUB_REF", "refs/pull/7/merge").env("GITHUB_SHA", &project.merge)));
}

#[test]
fn pull_request_target_is_warned_of_only_with_foreign_code() {
    let project = Project::new();
    let clone = project.checkout("head", &project.feature, None);
    let mut step = clone.step("pull_request_target", &project.pull_request());
    is_the_pull_request(run(step.env("GITHUB_REF", "refs/heads/main").env("GITHUB_SHA", &project.main)))
        .says("::warning title=outcrop::this workflow runs on pull_request_target");
    let clone = project.checkout("base", &project.main, None);
    let mut step = clone.step("pull_request_target", &project.pull_request());
    is_the_pull_request(run(step.env("GITHUB_REF", "refs/heads/main").env("GITHUB_SHA", &project.main)))
        .does_not_say("::warning title=outcrop::");
}

#[test]
fn a_push_is_compared_with_what_was_there() {
    let project = Project::new();
    let clone = project.checkout("full", &project.feature, None);
    let push = |reference: &str, before: &str, after: &str| {
        let event = project.event("push", before, after).replace("\"REF\"", &format!("{reference:?}"));
        run(clone.step("push", &event).env("GITHUB_REF", reference).env("GITHUB_SHA", after))
    };
    is_the_pull_request(push("refs/heads/feature", &project.base, &project.feature));
    is_the_pull_request(push("refs/heads/feature", ZERO, &project.feature)).says("merge base");
    push("refs/heads/feature", &project.feature, ZERO).ends_with(0).says("refs/heads/feature was deleted");
    push("refs/tags/v1", ZERO, &project.main).ends_with(0).says("no files differ");
    // By force, and what was there before is nowhere.
    let gone = "1234567890123456789012345678901234567890";
    is_the_pull_request(push("refs/heads/feature", gone, &project.feature)).says("merge base");
    // On the default branch there is then nothing to compare with, and everything counts.
    push("refs/heads/main", gone, &project.main).ends_with(1).says("file=old.yaml").says("All files were checked");
    push("refs/heads/main", ZERO, &project.main).ends_with(1).says("file=old.yaml").says("refs/heads/main is new");
    push("refs/heads/x", &project.base, gone).ends_with(2).says("::error title=outcrop::").says(gone);
}

#[test]
fn a_push_in_a_shallow_clone_says_what_is_missing() {
    let project = Project::new();
    let clone = project.checkout("shallow", &project.feature, Some(1));
    let event =
        |before: &str| project.event("push", before, &project.feature).replace("\"REF\"", "\"refs/heads/feature\"");
    run(&mut clone.step("push", &event(&project.base)))
        .ends_with(2)
        .says("the commit before the push")
        .says("fetch-depth: 0");
    run(&mut clone.step("push", &event(ZERO))).ends_with(2).says("is not in this clone").says("fetch-depth: 0");
    let clone = project.checkout("depth2", &project.feature, Some(2));
    is_the_pull_request(run(&mut clone.step("push", &event(&project.base))));
}

#[test]
fn a_merge_group_says_both_ends() {
    let project = Project::new();
    let clone = project.checkout("full", &project.merge, None);
    let event = project.event("merge_group", &project.main, &project.merge);
    is_the_pull_request(run(&mut clone.step("merge_group", &event)));
}

#[test]
fn without_a_range_everything_is_checked() {
    let project = Project::new();
    let clone = project.checkout("shallow", &project.main, Some(1));
    for name in ["workflow_dispatch", "schedule"] {
        let step = clone.run(&mut clone.step(name, &project.event(name, "", "")));
        step.ran.ends_with(1).says("file=old.yaml").says("All files were checked (no base to compare with)");
        assert!(step.summary.contains("### outcrop: 1 error") && !step.summary.contains("no effective change"));
    }
    let clone = project.checkout("full", &project.main, None);
    let event = project.event("workflow_dispatch", "", "");
    let inputs = format!(r#""inputs": {{"base": "{}", "head": "origin/feature"}}"#, project.base);
    let event = event.replace(r#""inputs": null"#, &inputs);
    is_the_pull_request(run(&mut clone.step("workflow_dispatch", &event)));
}

#[test]
fn other_events_and_no_event_need_words() {
    let project = Project::new();
    let clone = project.checkout("full", &project.feature, None);
    run(&mut clone.step("issue_comment", "{}")).ends_with(2).says("::error title=outcrop::").says("--base");
    run(&mut clone.step("push", "{}")).ends_with(2).says("does not name its commits");
    run(&mut clone.step("push", "no json")).ends_with(2).says("cannot be read");
    let by_hand = |arguments: &[&str]| {
        let mut command = outcrop(&project.repo, &["ci", "github"]);
        run(command.args(arguments).current_dir(&clone.directory))
    };
    by_hand(&[]).ends_with(2).says("GITHUB_EVENT_NAME is not set");
    is_the_pull_request(by_hand(&["--base", &project.base, "--head", &project.feature]));
    is_the_pull_request(by_hand(&["--base", &project.base]));
    by_hand(&["--base", "--output=x"]).ends_with(2);
    by_hand(&["--base=-x"]).ends_with(2).says("looks like an option");
    // An input that is not given reaches us as an empty variable.
    let mut empty = clone.pull_request_step();
    is_the_pull_request(run(empty.env("OUTCROP_BASE", "").env("OUTCROP_HEAD", "")));
    let head = |head: &str| run(clone.pull_request_step().args(["--head", head]));
    head(&project.base).ends_with(0).says("no files differ");
}

#[test]
fn a_clone_without_contents_is_incomplete() {
    let project = Project::new();
    let directory = project.repo.beside("partial");
    let origin = format!("file://{}", project.repo.root().display());
    let clone = ["clone", "-q", "--no-checkout", "--filter=blob:none", &origin, &directory.to_string_lossy()]
        .map(str::to_owned);
    project.repo.git(&clone.iter().map(String::as_str).collect::<Vec<_>>());
    let clone = Clone { project: &project, directory };
    run(clone.pull_request_step().args(["--base", &project.base, "--head", "origin/feature"]))
        .ends_with(2)
        .says("source/missing-object")
        .says("partial clone");
}
