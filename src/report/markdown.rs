//! The report as GitHub Markdown for a job summary or a comment, never longer than it may be.
//!
//! All text from a repository is put in code spans, code blocks or escaped HTML, where Markdown has no effect.

mod blocks;
mod escape;

use std::io;

use super::consequences;
use super::layer_reach;
use super::locate::Locator;
use super::only_bumps::only_bumps;
use super::outline::{LISTED, Outline};
use super::snippet::at_revision;
use super::style::Style;
use super::summary_counts::{SummaryCounts, grouped, other_problems, plural, severities};
use super::terminal::{self, BumpRow, Draft, Layout, bump_row};
use super::{Report, terminal::count_texts};
use crate::diff::{DiffSide, digest_of, pointer};
use crate::finding::{Finding, Location};

use blocks::Blocks;
pub(super) use escape::encoded;
pub use escape::span;
use escape::{cell, html, shortened};

/// Changes and values start at the margin, where GitHub colours them; remarks about values are indented, so that no
/// value can look like a change.
const MARGIN: Layout = Layout { indent: 0, details: 0, inset: 2 };
/// How details look: nothing is broken or cut, because a code block scrolls.
const STYLE: Style = Style {
    width: 0,
    is_terminal: false,
    color: true,
    ascii: false,
    verbosity: 0,
    in_ci: false,
    show_suppressed: false,
};
/// The most findings listed.
const MOST_FINDINGS: usize = 50;
/// The most version bumps listed.
const MOST_BUMPS: usize = 50;
/// The most edited files named.
const MOST_SOURCES: usize = 8;
/// The most files named that could not be compared.
const MOST_SKIPPED: usize = 20;
/// Changes that new rules would hide are named up to this many.
const MOST_HIDDEN: usize = 5;
/// The most rollouts, and the most changed types with their users.
const MOST_ROLLOUTS: usize = 20;
/// Details of so many lines are not folded.
const SHORT: usize = 60;

/// How a comment is written.
#[derive(Debug, Clone, Copy)]
pub struct Comment<'a> {
    /// The most bytes.
    pub budget: usize,
    /// The address below which the files of the newer side are shown, for links to lines.
    pub link: Option<&'a str>,
}

/// Writes at most as many bytes as the budget has. What does not fit is left out step by step: the content of added and removed
/// resources, details of the last blocks, all details, the table; a note says what is missing.
pub fn write(report: &Report, comment: Comment<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let parts = Parts::new(report, comment);
    let text = with_marker(report, comment.budget, |budget| fitted(&parts, budget));
    out.write_all(text.as_bytes())
}

/// Writes findings alone, where nothing was compared.
pub fn write_check(report: &Report, budget: usize, out: &mut dyn io::Write) -> io::Result<()> {
    let all: Vec<&Finding> = report.findings.iter().collect();
    let title = if all.is_empty() { "no findings".to_owned() } else { severities(&all) };
    let checked =
        format!("{} in {}", plural(report.compared.resources, "resource"), plural(report.compared.files, "file"));
    let parts = Parts {
        head: format!("### outcrop: {title}\n\n{}, {checked} checked.\n\n{}", span(&report.after), incomplete(report)),
        findings: findings(report),
        skipped: skipped(report),
        ..Parts::default()
    };
    out.write_all(fitted(&parts, budget).as_bytes())
}

/// The text with a first line by which a bot finds its comment again, and sees whether it has anything new to say. The sides are
/// no part of that: another commit with the same changes is no news.
fn with_marker(report: &Report, budget: usize, fitted: impl Fn(usize) -> String) -> String {
    let marker = |digest: &str| format!("<!-- outcrop:v1 fp={digest} -->\n");
    let text = fitted(budget.saturating_sub(marker("000000000000").len()));
    if text.is_empty() {
        return text;
    }
    let sides = sides(report);
    let marked = marker(&digest_of(text.replace(&sides, "").as_bytes()).to_string());
    [marked, text].concat()
}

/// A report in pieces that can be left out one by one.
#[derive(Default)]
struct Parts {
    head: String,
    /// Problems come first.
    findings: String,
    /// The table of version bumps.
    bumps: String,
    /// The rows of the table, with its head.
    table: Vec<String>,
    /// Details, in order.
    details: Vec<Detail>,
    /// Whether nothing is folded.
    is_short: bool,
    skipped: String,
}

/// What is known about one row of the table.
struct Detail {
    /// The line above the details, as HTML where they are folded and as Markdown where they are not.
    summary: Summary,
    /// The lines in a code block, or nothing.
    body: String,
    /// Text below the code block.
    after: String,
    /// How many lines there are.
    lines: usize,
    /// Whether the body is the content of a resource that is new or gone.
    is_content: bool,
}

impl Detail {
    fn text(&self, is_folded: bool) -> String {
        let Self { summary, body, after, .. } = self;
        match is_folded {
            true => format!("<details><summary>{}</summary>\n\n{body}{after}\n</details>\n\n", summary.html()),
            false => format!("{}\n\n{body}{after}\n", summary.markdown()),
        }
    }
}

/// Sign, title, remark and places of a block.
struct Summary {
    sign: String,
    title: String,
    remark: String,
    places: Vec<String>,
}

impl Summary {
    fn html(&self) -> String {
        let code = |text: &String| format!(" <code>{}</code>", html(&shortened(text)));
        let places: String = self.places.iter().map(code).collect();
        let (sign, title, remark) = (html(&self.sign), html(&shortened(&self.title)), html(&self.remark));
        format!("{sign} <b><code>{title}</code></b> {remark}{places}")
    }

    fn markdown(&self) -> String {
        let places: String = self.places.iter().map(|place| format!(" {}", span(place))).collect();
        format!("{} **{}** {}{places}", span(&self.sign), span(&self.title), self.remark)
    }
}

const TABLE: &str = "| | Change | Resources | Where |\n|-|-|-|-|\n";
/// So few blocks need no table.
const FEW: usize = 1;

fn fitted(parts: &Parts, budget: usize) -> String {
    let is_folded = !parts.is_short;
    let (start, end) = parts.around();
    let all: Vec<String> = parts.details.iter().map(|detail| detail.text(is_folded)).collect();
    let whole = [start.as_str(), &all.concat(), &end].concat();
    if whole.len() <= budget {
        return whole;
    }
    parts
        .without_contents(budget)
        .or_else(|| parts.with_some_details(budget))
        .or_else(|| parts.table_only(budget))
        .or_else(|| parts.counts_only(budget))
        .unwrap_or_default()
}

impl Parts {
    fn new(report: &Report, comment: Comment<'_>) -> Self {
        let outline = Outline::new(report, false);
        let mut draft = Draft::new(report, &STYLE);
        draft.hint = "";
        let mut blocks = Blocks { report, draft, link: comment.link, room: comment.budget };
        let table = blocks.table(&outline);
        let details = blocks.details(&outline);
        let lines: usize = details.iter().map(|detail| detail.lines + 2).sum();
        let skipped = following(report) + &blocks.overridden() + &skipped(report);
        Self {
            head: head(report),
            findings: findings(report),
            bumps: bumps(report),
            table: if table.len() > FEW { table } else { Vec::new() },
            details,
            is_short: lines <= SHORT,
            skipped,
        }
    }

    /// The text before and after the details.
    fn around(&self) -> (String, String) {
        let table = if self.table.is_empty() { String::new() } else { format!("{TABLE}{}\n", self.table.concat()) };
        (format!("{}{}{}{table}", self.head, self.findings, self.bumps), self.skipped.clone())
    }

    /// Everything except the content of added and removed resources.
    fn without_contents(&self, budget: usize) -> Option<String> {
        let left_out = self.details.iter().filter(|detail| detail.is_content).count();
        let note = format!(
            "> Truncated: the content of {} is left out. The full report has it.\n\n",
            plural(left_out, "added or removed resource")
        );
        let (start, end) = self.around();
        let kept = self.details.iter().filter(|detail| !detail.is_content).map(|detail| detail.text(true));
        let text = [start, kept.collect::<String>(), note, end].concat();
        (left_out > 0 && text.len() <= budget).then_some(text)
    }

    /// As many details as fit.
    fn with_some_details(&self, budget: usize) -> Option<String> {
        let (start, end) = self.around();
        let all = self.details.len();
        let note = |shown: usize| {
            let of = format!("{} of {}", grouped(shown), plural(all, "block"));
            format!("> Truncated: {of} shown, those of most resources first. The full report has all of them.\n\n")
        };
        let mut room = budget.checked_sub(start.len() + end.len() + note(all).len())?;
        let mut shown = Vec::new();
        for detail in self.details.iter().filter(|detail| !detail.is_content) {
            let text = detail.text(true);
            match room.checked_sub(text.len()) {
                Some(left) => room = left,
                None => break,
            }
            shown.push(text);
        }
        (!shown.is_empty()).then(|| [start, shown.concat(), note(shown.len()), end].concat())
    }

    /// Counts and as many rows as fit.
    fn table_only(&self, budget: usize) -> Option<String> {
        let all = self.table.len();
        let note = |shown: usize| {
            let of = format!("{} of {}", grouped(shown), plural(all, "row"));
            format!("\n> Truncated: {of} shown, without details and findings. The full report has everything.\n")
        };
        let mut room = budget.checked_sub(self.head.len() + TABLE.len() + note(all).len())?;
        let rows = self.table.iter().take_while(|row| {
            let fits = row.len() <= room;
            room = room.saturating_sub(row.len());
            fits
        });
        let rows: Vec<&str> = rows.map(String::as_str).collect();
        (!rows.is_empty()).then(|| [&self.head, TABLE, &rows.concat(), &note(rows.len())].concat())
    }

    fn counts_only(&self, budget: usize) -> Option<String> {
        let note = "> Truncated: only counts are shown. The full report has everything.\n";
        let text = [self.head.as_str(), note].concat();
        (text.len() <= budget).then_some(text)
    }
}

/// `main` → `HEAD`.
fn sides(report: &Report) -> String {
    format!("{} → {}", span(&report.before), span(&report.after))
}

fn head(report: &Report) -> String {
    let counts = SummaryCounts::count(report);
    let said = (!counts.is_unchanged()).then(|| words(&counts, true));
    let title = [terminal::incomplete(report), said, only_bumps(report), terminal::as_text(report)];
    let title = title.into_iter().flatten();
    let title = title.collect::<Vec<_>>().join("; ");
    let title = if title.is_empty() { terminal::headline(report, &counts).1 } else { title };
    let sides = sides(report);
    let compared = format!(
        "{} in {}",
        plural(report.compared.resources, "resource"),
        plural(report.compared.files, "changed file")
    );
    let rest = words(&counts, false);
    let rest = if rest.is_empty() { String::new() } else { format!(" Also: {rest}.") };
    let sources = blocks::sources(report);
    let only = match report.only.as_slice() {
        [] => String::new(),
        views => format!(" Views compared: {}.", views.join(" and ")),
    };
    let notes = format!("{}{}{}", incomplete(report), reach(report), changing_rules(report));
    format!("### outcrop: {title}\n\n{sides}, {compared}.{only}{rest}\n\n{sources}{notes}")
}

/// Layers that paths lose or gain.
fn reach(report: &Report) -> String {
    let phrases = layer_reach::phrases(report, "→");
    phrases.iter().map(|phrase| format!("Reach: {}.\n\n", span(phrase))).collect()
}

/// Every version that changed, in a table.
fn bumps(report: &Report) -> String {
    let rows = &report.bumps.rows;
    if rows.is_empty() {
        return String::new();
    }
    let mut text = String::from("#### Version bumps\n\n| What | Before | After | | Used by |\n|-|-|-|-|-|\n");
    for bump in rows.iter().take(MOST_BUMPS) {
        let BumpRow { name, before, after, level, uses, is_alarming } = bump_row(report, bump, false);
        let level = if is_alarming { format!("**{level}**") } else { level };
        let cells = [cell(&name), cell(&before), cell(&after), level, cell(&uses)];
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    let more = rows.len().saturating_sub(MOST_BUMPS);
    if more > 0 {
        text.push_str(&format!("\nand {}, see the full report\n", plural(more, "more bump")));
    }
    text + "\n"
}

/// A change of compare rules must not hide itself, least of all from a reviewer.
fn changing_rules(report: &Report) -> String {
    if report.would_hide.is_empty() {
        return String::new();
    }
    let count = plural(report.would_hide.len(), "change");
    let named = report.would_hide.iter().take(MOST_HIDDEN);
    let mut names: Vec<String> = named
        .map(|hidden| {
            let place = pointer(&hidden.change.path, DiffSide::After).to_string();
            format!("{} {} by {}", span(&hidden.identity.to_string()), span(&place), span(&hidden.rule))
        })
        .collect();
    let more = report.would_hide.len().saturating_sub(MOST_HIDDEN);
    if more > 0 {
        names.push(format!("and {} more", grouped(more)));
    }
    format!("> **Compare rules change:** {count} below would be hidden by the new rules: {}\n\n", names.join(", "))
}

/// Which files could not be compared.
fn incomplete(report: &Report) -> String {
    let Some(phrase) = terminal::incomplete(report) else { return String::new() };
    let names: Vec<String> = report.unread.iter().take(MOST_SKIPPED).map(|path| span(&path.to_string())).collect();
    let more = report.unread.len().saturating_sub(MOST_SKIPPED);
    let more = if more > 0 { format!(" and {} more", grouped(more)) } else { String::new() };
    let names = if names.is_empty() { String::new() } else { format!(": {}{more}", names.join(", ")) };
    format!("> **{phrase}**{names}\n\n")
}

/// The counts of resources, or all other counts.
fn words(counts: &SummaryCounts, of_resources: bool) -> String {
    let resources = SummaryCounts {
        added: counts.added,
        removed: counts.removed,
        changed: counts.changed,
        moved: counts.moved,
        changed_and_moved: counts.changed_and_moved,
        ..SummaryCounts::default()
    };
    let others = SummaryCounts { added: 0, removed: 0, changed: 0, moved: 0, changed_and_moved: 0, ..*counts };
    let said: Vec<String> =
        count_texts(if of_resources { &resources } else { &others }).into_iter().map(|(_, text)| text).collect();
    said.join(", ")
}

fn findings(report: &Report) -> String {
    let others = other_problems(report).map(|others| format!("{others}\n\n")).unwrap_or_default();
    if report.findings.is_empty() {
        return others;
    }
    let mut locator = Locator::new(&report.sources);
    let mut worst: Vec<&Finding> = report.findings.iter().collect();
    worst.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let mut text = String::from("#### Problems\n\n");
    for finding in worst.iter().take(MOST_FINDINGS) {
        let place = match &finding.location {
            Location::Span(at) => {
                let start = locator.start(*at);
                let name = at_revision(&start.text.revision, &start.text.path.to_string());
                format!("{name}:{}:{}", start.line, start.column)
            }
            Location::File { path, revision } => at_revision(revision, &path.to_string()),
        };
        let (severity, rule) = (finding.severity.name(), finding.rule.id);
        text.push_str(&format!("- **{severity}** {} in {}: {}\n", span(rule), span(&place), span(&finding.message)));
        text.push_str(&finding.help.as_ref().map(|help| format!("  help: {}\n", span(help))).unwrap_or_default());
    }
    let more = worst.len().saturating_sub(MOST_FINDINGS);
    if more > 0 {
        text.push_str(&format!("- and {} more, see the full report\n", plural(more, "finding")));
    }
    text + "\n" + &others
}

/// What rolls out because of these changes, and which components use changed types.
fn following(report: &Report) -> String {
    let rollouts = consequences::rollouts(report);
    let mut text = String::new();
    for rollout in rollouts.iter().take(MOST_ROLLOUTS) {
        text.push_str(&format!("- {} {}\n", span(&rollout.names), span(&rollout.words)));
    }
    let more: usize = rollouts.iter().skip(MOST_ROLLOUTS).map(|rollout| rollout.count).sum();
    if more > 0 {
        text.push_str(&format!("- and {} more resources roll out\n", grouped(more)));
    }
    for words in consequences::definitions(report).iter().take(MOST_ROLLOUTS) {
        text.push_str(&format!("- {}\n", span(words)));
    }
    if text.is_empty() { text } else { format!("#### What follows\n\n{text}\n") }
}

fn skipped(report: &Report) -> String {
    terminal::others(report).map(|phrase| format!("{phrase}\n")).unwrap_or_default()
}

#[cfg(test)]
mod tests;
