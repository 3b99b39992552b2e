//! `outcrop ci github`: the change that started a workflow, as annotations, log, step summary, outputs and a JSON report.

mod files;
mod range;

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::hash::BuildHasher;
use std::io::{self, Write};

use super::check::exit_of;
use crate::comparison::{self, Judged, Options};
use crate::document::write::{JsonWriter, Layout};
use crate::finding::Severity;
use crate::report::affected::Listed;
use crate::report::json::{matrix, roots};
use crate::report::markdown::Comment;
use crate::report::{self, Reach, Report, Style, SummaryCounts, plural};
use crate::sanitize;
use crate::settings::Policy;
use crate::shell::cli::{GithubArgs, Global};

use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::git::{Repository, Revision, RevisionPair};
use crate::shell::session::{Session, open_repository};
use crate::shell::{environment, output};
use files::Files;
use range::{Assignment, Subject};

pub(in crate::shell) fn github(global: &Global, args: &GithubArgs) -> Result<Exit, Failure> {
    run(global, args).or_else(|failure| {
        // An annotation is seen on the page of the pull request; a line of the log is not.
        let remark = report::github::remark(Severity::Error, &failure.remark());
        output::print(format!("{remark}\n").as_bytes())?;
        Ok(Exit::Incomplete)
    })
}

fn run(global: &Global, args: &GithubArgs) -> Result<Exit, Failure> {
    let files = Files::from_environment()?;
    let repository = open_repository(global)?;
    let Assignment { subject, warnings } = range::assignment(&repository, args)?;
    let review = match subject {
        Subject::Nothing { why } => {
            let nothing = [("changed", "false"), ("errors", "0"), ("warnings", "0"), ("only-bumps", "false")];
            files.write_outputs(&nothing.map(|(name, value)| (name, value.to_owned())))?;
            let line = format!("outcrop: nothing to review ({why})\n");
            output::print(sanitize::without_workflow_commands(&line).as_bytes())?;
            return Ok(Exit::Clean);
        }
        Subject::Change(comparison) => Review::of_change(&session(global, &repository, &comparison, &args.paths)?),
        Subject::State { tree, why } => {
            let before = Revision::Tree(repository.nothing());
            let comparison = RevisionPair { before, after: Revision::Tree(tree) };
            Review::of_state(&session(global, &repository, &comparison, &args.paths)?, why)
        }
    };
    let style = Style { in_ci: true, ..output::style(global) };
    output::write(|out| review.write_log(&warnings, &style, out))?;
    files.append_summary(|budget, out| review.write_summary(budget, out))?;
    let exit = exit_of(&review.verdict, args.fail_on);
    review.write_outputs(&files)?;
    Ok(exit)
}

/// A comment has at most 65,536 characters; the rest is room for a marker.
const COMMENT_BYTES: usize = 60_000;

/// What later jobs can use: the number of resources, and labels for the pull request.
fn reach_outputs(reach: &Reach) -> [(&'static str, String); 2] {
    let list = |items: &[String]| {
        let mut json = JsonWriter::new(Layout::Compact);
        json.list(items, |writer, item| writer.text(item));
        json.into_text()
    };
    let labels: Vec<String> = reach.roots.iter().take(MOST_LABELS).map(|root| label(root)).collect();
    [("resources", reach.resources.to_string()), ("labels", list(&labels))]
}

/// More labels than this say nothing.
const MOST_LABELS: usize = 20;

/// `affects: overlays/prod`, with as many of the last parts of the name as GitHub allows in a label.
fn label(root: &str) -> String {
    const MOST_CHARACTERS: usize = 50;
    let room = MOST_CHARACTERS - "affects: ".len();
    let ends = std::iter::successors(Some(root), |rest| rest.split_once('/').map(|(_, below)| below));
    let fitting = ends.into_iter().find(|end| end.chars().count() <= room);
    let skipped = root.chars().count().saturating_sub(room);
    let end = fitting.map_or_else(|| root.chars().skip(skipped).collect::<String>(), str::to_owned);
    format!("affects: {end}")
}

/// What came out.
struct Review {
    /// What differs, if there is something to compare with.
    difference: Option<Report>,
    /// What is wrong: with a change only what is new, without one everything.
    verdict: Report,
    /// Why there is nothing to compare with.
    why_state: Option<String>,
}

impl Review {
    fn of_change(session: &Session) -> Self {
        let comparison::Review { difference, verdict } =
            session.working(|| session.comparison(Options::default()).review());
        Self { difference: Some(difference), verdict, why_state: None }
    }

    fn of_state(session: &Session, why: String) -> Self {
        let verdict = session.comparison(Options::default()).check(Judged::Everything);
        Self { difference: None, verdict, why_state: Some(why) }
    }

    /// Everything on one stream: what is between the two marks is text, whatever it looks like.
    fn write_log(&self, warnings: &[String], style: &Style, out: &mut dyn Write) -> io::Result<()> {
        for warning in warnings {
            writeln!(out, "{}", report::github::remark(Severity::Warning, warning))?;
        }
        report::github::write(&self.verdict, out)?;
        let token = random();
        writeln!(out, "::stop-commands::{token}")?;
        match &self.difference {
            Some(difference) => report::terminal::write(difference, style, out)?,
            None => report::diagnostics::write(&self.verdict, style, out)?,
        }
        writeln!(out, "::{token}::")?;
        let sentence = format!("outcrop: {}", self.sentence(str::to_owned));
        writeln!(out, "{}", sanitize::without_workflow_commands(&sentence))
    }

    fn write_summary(&self, budget: usize, out: &mut dyn Write) -> io::Result<()> {
        let sentence = format!("\n{}.\n", self.sentence(report::markdown::span));
        let budget = budget.saturating_sub(sentence.len());
        let link = self.difference.as_ref().and_then(files_address);
        match &self.difference {
            Some(difference) => report::markdown::write(difference, Comment { budget, link: link.as_deref() }, out)?,
            None => report::markdown::write_check(&self.verdict, budget, out)?,
        }
        out.write_all(sentence.as_bytes())
    }

    fn write_outputs(self, files: &Files) -> Result<(), Failure> {
        let counts = SummaryCounts::count(&self.verdict);
        let reach = self.difference.as_ref().map(Reach::of).unwrap_or_default();
        let mut comment = Vec::new();
        self.write_summary(COMMENT_BYTES, &mut comment)?;
        // What could not be compared may well differ.
        let has_changed = self
            .difference
            .as_ref()
            .is_none_or(|difference| difference.has_differences() || difference.is_incomplete());
        // The report has the same findings as the annotations.
        let report = match self.difference {
            Some(difference) => Report { findings: self.verdict.findings, ..difference },
            None => self.verdict,
        };
        let mut outputs = vec![
            ("changed", if has_changed { "true" } else { "false" }.to_owned()),
            ("errors", counts.errors.to_string()),
            ("warnings", counts.warnings.to_string()),
        ];
        outputs.push(("only-bumps", report.bumps.is_everything.to_string()));
        outputs.extend(reach_outputs(&reach));
        outputs.push(("roots", roots(&report, Listed::Differing)));
        outputs.push(("matrix", matrix(&report, Listed::Differing)));
        if let Some(directory) = files.make_directory()? {
            outputs.push(("report", directory.write("report.json", |out| report::json::write(&report, out))?));
            outputs.push(("comment", directory.write("comment.md", |out| out.write_all(&comment))?));
            outputs.push(("sarif", directory.write("findings.sarif", |out| report::json::sarif::write(&report, out))?));
            let link = files_address(&report);
            let page = directory.write("report.html", |out| report::html::write(&report, link.as_deref(), out))?;
            outputs.push(("page", page));
            outputs.push(("directory", directory.path()?));
        }
        files.write_outputs(&outputs)
    }

    /// The verdict in a few words; names of the repository as `name` writes them.
    fn sentence(&self, name: fn(&str) -> String) -> String {
        let counts = SummaryCounts::count(&self.verdict);
        let counts = [(counts.errors, "error"), (counts.warnings, "warning"), (counts.notes, "note")];
        let counts: Vec<String> =
            counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| plural(count, noun)).collect();
        match (&self.why_state, counts.is_empty()) {
            (None, true) => "No new problems".to_owned(),
            (None, false) => format!("New problems: {}", counts.join(", ")),
            (Some(why), true) => format!("All files were checked ({}): no problems", name(why)),
            (Some(why), false) => format!("All files were checked ({}): {}", name(why), counts.join(", ")),
        }
    }
}

fn session(
    global: &Global,
    repository: &Repository,
    comparison: &RevisionPair,
    paths: &[OsString],
) -> Result<Session, Failure> {
    let paths: Vec<Vec<u8>> = paths.iter().map(|path| path.as_encoded_bytes().to_vec()).collect();
    Session::new(global, repository, comparison, &paths, Policy::Base)
}

/// Where GitHub shows the files of the newer side, if that is a commit and the run says which repository it is in.
fn files_address(difference: &Report) -> Option<String> {
    let text = |name: &str| environment::text(name).ok().flatten().filter(|text| !text.is_empty());
    let commit = Some(difference.after.as_str()).filter(|label| label.len() >= 7 && is_hexadecimal(label))?;
    let (server, repository) = (text("GITHUB_SERVER_URL")?, text("GITHUB_REPOSITORY")?);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:".contains(c);
    let address = format!("{server}/{repository}/blob/{commit}");
    address.chars().all(is_plain).then_some(address)
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A random word, which no file of the repository can contain.
fn random() -> String {
    let word = |half: u8| RandomState::new().hash_one(half);
    format!("{:016x}{:016x}", word(0), word(1))
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn a_label_has_whole_parts_of_a_long_name() {
        assert_eq!(label("overlays/prod"), "affects: overlays/prod");
        let long = "components/pipeline-service/staging/lightwell-dev/resources";
        assert_eq!(label(long), "affects: staging/lightwell-dev/resources");
        assert_eq!(label(&"x".repeat(60)).len(), 50);
    }
}
