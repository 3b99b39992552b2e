//! The event that started a GitHub workflow: which commits it is about.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::error::Failure;
use super::pushed::{is_id, is_zero};

/// What happened, as far as it says what to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// A pull request was opened or changed.
    PullRequest {
        number: u64,
        /// The branch it wants to go to.
        target: String,
        /// That branch's commit when the pull request was last touched; the branch may have moved on.
        base: String,
        /// The last commit of the pull request.
        head: String,
    },
    /// A branch or a tag was pushed.
    Push {
        reference: String,
        /// Where it was; nothing if it is new.
        before: Option<String>,
        /// Where it is; nothing if it was deleted.
        after: Option<String>,
        default_branch: Option<String>,
    },
    /// A merge queue tries a group of pull requests.
    MergeGroup { base: String, head: String },
    /// Somebody, or the clock, started the workflow; they may have said what to compare.
    Started { base: Option<String>, head: Option<String> },
}

/// Reads an event by its name and payload.
pub(super) fn read(name: &str, payload: &[u8]) -> Result<Event, Failure> {
    let payload: Payload = serde_json::from_slice(payload)
        .map_err(|error| Failure::new(format!("the payload of the event `{name}` cannot be read: {error}")))?;
    let event = match name {
        // Reviews and their comments carry the same members.
        _ if name == "pull_request" || name.starts_with("pull_request_") => payload.pull_request(),
        "push" => payload.push(),
        "merge_group" => payload.merge_group(),
        "workflow_dispatch" | "schedule" => Some(payload.started()),
        _ => {
            return Err(Failure::new(format!("the event `{name}` does not name the commits to compare"))
                .help("set `--base` and `--head`, or start the workflow on `pull_request`, `push` or `merge_group`"));
        }
    };
    event.ok_or_else(|| Failure::new(format!("the payload of the event `{name}` does not name its commits")))
}

#[derive(Deserialize)]
struct Payload {
    number: Option<u64>,
    pull_request: Option<PullRequest>,
    #[serde(rename = "ref")]
    reference: Option<String>,
    before: Option<String>,
    after: Option<String>,
    repository: Option<Repository>,
    merge_group: Option<MergeGroup>,
    inputs: Option<BTreeMap<String, serde_json::Value>>,
}

#[derive(Deserialize)]
struct PullRequest {
    number: Option<u64>,
    base: Side,
    head: Side,
}

#[derive(Deserialize)]
struct Side {
    #[serde(rename = "ref")]
    reference: String,
    sha: String,
}

#[derive(Deserialize)]
struct Repository {
    default_branch: Option<String>,
}

#[derive(Deserialize)]
struct MergeGroup {
    base_sha: String,
    head_sha: String,
}

impl Payload {
    fn pull_request(self) -> Option<Event> {
        let PullRequest { number, base, head } = self.pull_request?;
        let number = self.number.or(number)?;
        Some(Event::PullRequest { number, target: base.reference, base: id(base.sha)?, head: id(head.sha)? })
    }

    fn push(self) -> Option<Event> {
        let some = |id: String| Some(id).filter(|id| !is_zero(id));
        Some(Event::Push {
            reference: self.reference?,
            before: some(id(self.before?)?),
            after: some(id(self.after?)?),
            default_branch: self.repository.and_then(|repository| repository.default_branch),
        })
    }

    fn merge_group(self) -> Option<Event> {
        let MergeGroup { base_sha, head_sha } = self.merge_group?;
        Some(Event::MergeGroup { base: id(base_sha)?, head: id(head_sha)? })
    }

    fn started(self) -> Event {
        let inputs = self.inputs.unwrap_or_default();
        let input = |name: &str| inputs.get(name)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        Event::Started { base: input("base"), head: input("head") }
    }
}

fn id(text: String) -> Option<String> {
    is_id(&text).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    const ZERO: &str = "0000000000000000000000000000000000000000";

    #[test]
    fn each_event_says_its_commits() {
        let pull = format!(
            r#"{{"number": 7, "pull_request": {{"base": {{"ref": "main", "sha": "{A}"}}, "head": {{"ref": "x", "sha": "{B}"}}}}}}"#
        );
        let expected =
            Event::PullRequest { number: 7, target: "main".to_owned(), base: A.to_owned(), head: B.to_owned() };
        for name in ["pull_request", "pull_request_target", "pull_request_review"] {
            assert_eq!(read(name, pull.as_bytes()).expect("readable"), expected);
        }
        let push = |before: &str, after: &str| {
            let payload = format!(
                r#"{{"ref": "refs/heads/x", "before": "{before}", "after": "{after}", "repository": {{"default_branch": "main"}}}}"#
            );
            match read("push", payload.as_bytes()).expect("readable") {
                Event::Push { before, after, .. } => (before, after),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(push(A, B), (Some(A.to_owned()), Some(B.to_owned())));
        assert_eq!(push(ZERO, B), (None, Some(B.to_owned())));
        assert_eq!(push(A, ZERO), (Some(A.to_owned()), None));
        let group = format!(r#"{{"merge_group": {{"base_sha": "{A}", "head_sha": "{B}"}}}}"#);
        let expected = Event::MergeGroup { base: A.to_owned(), head: B.to_owned() };
        assert_eq!(read("merge_group", group.as_bytes()).expect("readable"), expected);
        let none = Event::Started { base: None, head: None };
        assert_eq!(read("schedule", br#"{"schedule": "0 0 * * *"}"#).expect("readable"), none);
        assert_eq!(read("workflow_dispatch", br#"{"inputs": null}"#).expect("readable"), none);
        let inputs = br#"{"inputs": {"base": "v1", "head": "", "dry": true}}"#;
        let expected = Event::Started { base: Some("v1".to_owned()), head: None };
        assert_eq!(read("workflow_dispatch", inputs).expect("readable"), expected);
    }

    #[test]
    fn events_that_do_not_name_their_commits_are_refused() {
        let said = |name: &str, payload: &str| read(name, payload.as_bytes()).expect_err("refused").to_string();
        assert!(said("issue_comment", "{}").contains("--base"));
        assert!(said("push", "{}").contains("does not name its commits"));
        assert!(said("push", r#"{"ref": "x", "before": "--output=x", "after": "y"}"#).contains("does not name"));
        assert!(said("push", "[").contains("cannot be read"));
        assert!(said("pull_request", &"[".repeat(100_000)).contains("cannot be read"));
    }
}
