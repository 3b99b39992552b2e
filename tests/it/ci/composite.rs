//! The steps of `action.yml`, executed one after the other as a runner would, with the real scripts and the built program.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

use super::written::outputs;
use super::*;
use crate::program::{path_with_binary, project, tool};

/// One step of a composite action, as far as these actions use it.
#[derive(Debug, Default)]
struct ActionStep {
    id: String,
    condition: String,
    env: Vec<(String, String)>,
    run: String,
}

/// The steps, defaults of inputs and outputs of `action.yml`. It is written plainly enough to be read line by line.
struct Action {
    inputs: BTreeMap<String, String>,
    outputs: BTreeMap<String, String>,
    steps: Vec<ActionStep>,
}

impl Action {
    fn read() -> Self {
        let text = fs::read_to_string(project().join("action.yml")).expect("the action is there");
        let mut action = Self { inputs: BTreeMap::new(), outputs: BTreeMap::new(), steps: Vec::new() };
        let (mut section, mut name) = ("", "");
        for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
            let (indent, line) = (line.len() - line.trim_start().len(), line.trim());
            let Some((key, value)) = line.split_once(':') else { continue };
            let value = value.trim().trim_matches('"').to_owned();
            match (indent, section, key) {
                (0, ..) => section = key,
                (2, "inputs" | "outputs", _) => name = key,
                (4, "inputs", "default") => drop(action.inputs.insert(name.to_owned(), value)),
                (4, "outputs", "value") => drop(action.outputs.insert(name.to_owned(), value)),
                (4, "runs", "- id") => action.steps.push(ActionStep { id: value, ..ActionStep::default() }),
                (6, "runs", "if") => action.steps.last_mut().expect("a step").condition = value,
                (6, "runs", "run") => {
                    action.steps.last_mut().expect("a step").run = line["run:".len()..].trim().to_owned()
                }
                (8, "runs", _) => action.steps.last_mut().expect("a step").env.push((key.to_owned(), value)),
                _ => {}
            }
        }
        assert_eq!(
            action.steps.iter().map(|step| step.id.as_str()).collect::<Vec<_>>(),
            ["install", "review", "comment"]
        );
        action
    }
}

/// What a run of the action left.
struct Run {
    /// The exit code of the first step that failed.
    code: i32,
    log: String,
    outputs: BTreeMap<String, String>,
    summary: String,
    /// What was said to GitHub, one call per line.
    calls: String,
}

impl Clone<'_> {
    /// Executes the steps of the action for an event, with inputs in place of their defaults.
    fn run_action(&self, event: &str, payload: &str, inputs: &[(&str, &str)], env: &[(&str, &str)]) -> Run {
        let action = Action::read();
        let temporary = self.directory.with_extension("action");
        let _ = fs::remove_dir_all(&temporary);
        fs::create_dir_all(temporary.join("tools")).expect("directories can be made");
        fs::write(temporary.join("event.json"), payload).expect("the event can be written");
        install_gh(&temporary.join("tools/gh"));
        let mut given = action.inputs.clone();
        given.extend(inputs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let mut context: BTreeMap<String, String> = BTreeMap::new();
        context.extend(given.iter().map(|(name, value)| (format!("inputs.{name}"), value.clone())));
        for (name, value) in
            [("token", "t0ken"), ("action_repository", "acme/outcrop"), ("server_url", "http://127.0.0.1:9")]
        {
            context.insert(format!("github.{name}"), value.to_owned());
        }
        let mut run =
            Run { code: 0, log: String::new(), outputs: BTreeMap::new(), summary: String::new(), calls: String::new() };
        for step in &action.steps {
            assert!(!step.run.contains("${{"), "nothing is pasted into a script");
            if !holds(&step.condition, &context, run.code) {
                continue;
            }
            let output = temporary.join(format!("{}.output", step.id));
            let mut command = self.project.repo.command("bash");
            command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &step.run]).current_dir(&self.directory);
            let mut path = temporary.join("tools").into_os_string();
            path.push(":");
            path.push(path_with_binary());
            command.env("PATH", path).env("GITHUB_ACTIONS", "true").env("CI", "true");
            command.env("GITHUB_ACTION_PATH", project()).env("GITHUB_REPOSITORY", "acme/shop");
            command.env("GITHUB_EVENT_NAME", event).env("GITHUB_EVENT_PATH", temporary.join("event.json"));
            command.env("GITHUB_OUTPUT", &output).env("GITHUB_STEP_SUMMARY", temporary.join("summary"));
            command.env("RUNNER_TEMP", &temporary).env("RUNNER_TOOL_CACHE", temporary.join("cache"));
            command.env("RUNNER_OS", "Linux").env("RUNNER_ARCH", "X64").env("GH_CALLS", temporary.join("calls"));
            command.envs(env.iter().copied());
            command.envs(step.env.iter().map(|(name, value)| (name, resolved(value, &context))));
            let ran = program::run(&mut command);
            run.log.push_str(&ran.stdout);
            run.log.push_str(&ran.stderr);
            run.code = if run.code == 0 { ran.code } else { run.code };
            let found = outputs(&fs::read_to_string(&output).unwrap_or_default());
            context.extend(found.into_iter().map(|(name, value)| (format!("steps.{}.outputs.{name}", step.id), value)));
        }
        let read = |name| fs::read_to_string(temporary.join(name)).unwrap_or_default();
        (run.summary, run.calls) = (read("summary"), read("calls"));
        run.outputs = action.outputs.iter().map(|(name, value)| (name.clone(), resolved(value, &context))).collect();
        run
    }
}

/// The value of `${{ a || b }}`, or the text itself.
fn resolved(text: &str, context: &BTreeMap<String, String>) -> String {
    let Some(expression) = text.strip_prefix("${{ ").and_then(|rest| rest.strip_suffix(" }}")) else {
        return text.to_owned();
    };
    // A default may be an expression itself.
    let value = |name: &str| context.get(name).map(|value| resolved(value, context)).unwrap_or_default();
    expression.split(" || ").map(value).find(|value| !value.is_empty()).unwrap_or_default()
}

/// Whether a step runs. Only the conditions of this action are understood.
fn holds(condition: &str, context: &BTreeMap<String, String>, code: i32) -> bool {
    let input = |name: &str| context.get(&format!("inputs.{name}")).map(String::as_str).unwrap_or_default();
    match condition {
        "" => code == 0,
        "inputs.comment-file == ''" => code == 0 && input("comment-file").is_empty(),
        "(success() || failure()) && (inputs.comment == 'true' || inputs.comment-file != '')" => {
            input("comment") == "true" || !input("comment-file").is_empty()
        }
        other => panic!("the runner of these tests does not know the condition `{other}`"),
    }
}

/// A program in place of `gh`: it records its calls, and answers from files beside the record.
fn install_gh(path: &Path) {
    let script = "#!/bin/sh\nprintf '%s\\n' \"$*\" >>\"$GH_CALLS\"\ncase \"$*\" in\n\
        *graphql*) echo 'github-actions[bot]' ;;\n\
        *--input*) cat >>\"$GH_CALLS\" ;;\n\
        *--paginate*) cat \"${GH_COMMENTS:-/dev/null}\" ;;\n\
        *pulls*) cat \"${GH_PULLS:-/dev/null}\" ;;\nesac\n";
    fs::write(path, script).expect("files can be written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("modes can be set");
}

fn with_binary<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let binary = program::binary().to_str().expect("its path is text");
    std::iter::once(("binary", binary)).chain(more.iter().copied()).collect()
}

#[test]
fn a_pull_request_gets_every_file() {
    let Some(_) = tool("jq") else { return };
    let project = Project::new();
    let clone = project.checkout("clone", &project.merge, Some(2));
    let env = [("GITHUB_REF", "refs/pull/7/merge"), ("GITHUB_SHA", project.merge.as_str())];
    let run = clone.run_action("pull_request", &project.pull_request(), &with_binary(&[("comment", "true")]), &env);
    assert_eq!(run.code, 1, "{}", run.log);
    assert!(run.log.contains("::error file=new.yaml"), "{}", run.log);
    let found = &run.outputs;
    assert_eq!([&found["changed"], &found["errors"], &found["warnings"]], ["true", "1", "0"]);
    assert_eq!([&found["resources"], &found["roots"], &found["labels"]], ["1", "[]", "[]"]);
    let report: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&found["report"]).expect("the report is there")).expect("it is JSON");
    assert_eq!(report["schema"], "outcrop/report/v1");
    let comment = fs::read_to_string(&found["comment"]).expect("the comment is there");
    assert!(comment.contains("replicas") && comment.len() <= 60_000, "{comment}");
    assert!(run.summary.contains("replicas"), "{}", run.summary);
    for file in [&found["report"], &found["comment"]] {
        assert!(file.starts_with(&found["directory"]), "{file}");
    }
    // One comment, with a marker that the next run finds.
    assert!(run.calls.contains("POST repos/acme/shop/issues/7/comments"), "{}", run.calls);
    assert!(run.calls.contains("<!-- outcrop:review -->\\n<!-- outcrop:v1 fp="), "{}", run.calls);
}

#[test]
fn the_comment_is_changed_in_place_and_only_if_it_is_ours() {
    let Some(_) = tool("jq") else { return };
    let project = Project::new();
    let clone = project.checkout("clone", &project.merge, Some(2));
    let comments = project.repo.beside("comments.json");
    let path = comments.to_string_lossy().into_owned();
    let env =
        [("GITHUB_REF", "refs/pull/7/merge"), ("GITHUB_SHA", project.merge.as_str()), ("GH_COMMENTS", path.as_str())];
    let run = |text: &str| {
        fs::write(&comments, text).expect("files can be written");
        clone.run_action("pull_request", &project.pull_request(), &with_binary(&[("comment", "true")]), &env).calls
    };
    let comment = |id: u32, login: &str, body: &str| {
        serde_json::json!([{"id": id, "user": {"login": login}, "body": body}]).to_string()
    };
    let marked = "<!-- outcrop:review -->\nold";
    assert!(run(&comment(5, "github-actions[bot]", marked)).contains("PATCH repos/acme/shop/issues/comments/5"));
    // Somebody may write the marker; and our bot may write something else.
    for other in [comment(6, "mallory", marked), comment(7, "github-actions[bot]", "hello")] {
        let calls = run(&other);
        assert!(calls.contains("POST ") && !calls.contains("PATCH "), "{calls}");
    }
}

#[test]
fn a_fork_is_reviewed_without_rights_and_commented_by_another_workflow() {
    let Some(_) = tool("jq") else { return };
    let project = Project::new();
    let clone = project.checkout("clone", &project.merge, Some(2));
    let env = [("GITHUB_REF", "refs/pull/7/merge"), ("GITHUB_SHA", project.merge.as_str())];
    // Without a token there is a warning, and the review is what it is.
    let inputs = with_binary(&[("comment", "true"), ("github-token", ""), ("fail-on", "never")]);
    let review = clone.run_action("pull_request", &project.pull_request(), &inputs, &env);
    assert_eq!((review.code, review.calls.as_str()), (0, ""), "{}", review.log);
    assert!(review.log.contains("::warning title=outcrop::no comment was written"), "{}", review.log);

    // The other workflow has the file, and asks GitHub which pull request it belongs to.
    let artifact = project.repo.beside("comment.md");
    fs::copy(&review.outputs["comment"], &artifact).expect("the comment is there");
    let file = artifact.to_string_lossy().into_owned();
    let pulls = project.repo.beside("pulls.json");
    let payload = serde_json::json!({"workflow_run": {
        "head_sha": project.feature, "head_branch": "feature", "head_repository": {"owner": {"login": "mallory"}}}});
    let comment = |sha: &str| {
        fs::write(&pulls, serde_json::json!([{"number": 7, "head": {"sha": sha}}]).to_string())
            .expect("it can be written");
        let path = pulls.to_string_lossy().into_owned();
        let env = [("GH_PULLS", path.as_str())];
        clone.run_action("workflow_run", &payload.to_string(), &[("comment-file", &file)], &env)
    };
    let written = comment(&project.feature);
    assert_eq!(written.code, 0, "{}", written.log);
    assert!(
        written.calls.contains("head=mallory:feature")
            && written.calls.contains("POST repos/acme/shop/issues/7/comments")
    );
    let stale = comment(&project.main);
    assert!(!stale.calls.contains("POST") && stale.log.contains("has new commits"), "{}", stale.log);
}

#[test]
fn pushes_merge_groups_and_missing_commits_are_reviewed_or_explained() {
    let project = Project::new();
    let full = project.checkout("full", &project.merge, None);
    let push = project.event("push", &project.base, &project.main);
    let run =
        full.run_action("push", &push, &with_binary(&[("comment", "true")]), &[("GITHUB_REF", "refs/heads/main")]);
    assert_eq!((run.code, run.outputs["errors"].as_str()), (0, "0"), "{}", run.log);
    assert!(run.log.contains("belongs to no pull request") && run.calls.is_empty(), "{}", run.log);
    let group = project.event("merge_group", &project.main, &project.merge);
    let run = full.run_action("merge_group", &group, &with_binary(&[]), &[]);
    assert_eq!((run.code, run.outputs["errors"].as_str()), (1, "1"), "{}", run.log);

    let shallow = project.checkout("shallow", &project.merge, Some(1));
    let env = [("GITHUB_REF", "refs/pull/7/merge"), ("GITHUB_SHA", project.merge.as_str())];
    let run = shallow.run_action("pull_request", &project.pull_request(), &with_binary(&[]), &env);
    assert_eq!(run.code, 2);
    assert!(run.log.contains("::error title=outcrop::") && run.log.contains("fetch-depth"), "{}", run.log);
    assert_eq!(run.outputs["report"], "");
}
