//! The report as GitHub Markdown for a job summary or a comment, never longer than it may be.
//!
//! All text from a repository is put in code spans, code blocks or escaped HTML, where Markdown has no effect.

mod groups;

use std::io;

use super::locate::Locator;
use super::paint::{Line, columns, split_at_columns};
use super::snippet::at_revision;
use super::style::Style;
use super::summary_counts::{SummaryCounts, grouped, other_problems, plural, severities};
use super::terminal::{self, Draft, Layout};
use super::{Report, TextFile, lines, terminal::count_texts};
use crate::diff::{DiffSide, Member, ResourceChange, Status, pointer};
use crate::finding::{Finding, Location};
use crate::sanitize;

/// Changes and values start at the margin, where GitHub colours them; remarks about values are indented, so that no
/// value can look like a change.
const MARGIN: Layout = Layout { indent: 0, details: 0, inset: 2 };
/// How details look; a comment is about this wide.
const STYLE: Style =
    Style { width: 100, color: false, ascii: false, verbosity: 0, in_ci: false, show_suppressed: false };
/// The longest repository text outside code blocks, in columns.
const LONGEST_SPAN: usize = 200;
/// The most findings listed.
const MOST_FINDINGS: usize = 50;
/// The most edited files named.
const MOST_SOURCES: usize = 8;
/// Lists of so many resources are shown whole.
const MOST_LISTED: usize = 100;
/// The most files named that could not be compared.
const MOST_SKIPPED: usize = 20;
/// Changes that new rules would hide are named up to this many.
const MOST_HIDDEN: usize = 5;

/// Writes at most `budget` bytes. What does not fit is left out from the inside out: details of the last resources first, then
/// all of them, then the table; a note says what is missing.
pub fn write(report: &Report, budget: usize, out: &mut dyn io::Write) -> io::Result<()> {
    out.write_all(fitted(&Parts::new(report, budget), budget).as_bytes())
}

/// Writes findings alone, where nothing was compared.
pub fn write_check(report: &Report, budget: usize, out: &mut dyn io::Write) -> io::Result<()> {
    let all: Vec<&Finding> = report.findings.iter().collect();
    let title = if all.is_empty() { "no findings".to_owned() } else { severities(&all) };
    let checked =
        format!("{} in {}", plural(report.compared.resources, "resource"), plural(report.compared.files, "file"));
    let parts = Parts {
        head: format!("### outcrop: {title}\n\n{}, {checked} checked.\n\n{}", span(&report.after), incomplete(report)),
        tables: Vec::new(),
        nouns: "resources",
        detailed: 0,
        details: Vec::new(),
        findings: findings(report),
        skipped: skipped(report),
    };
    out.write_all(fitted(&parts, budget).as_bytes())
}

/// A report in pieces that can be left out one by one.
struct Parts {
    head: String,
    tables: Vec<Table>,
    /// What the rows are.
    nouns: &'static str,
    /// How many of them have details.
    detailed: usize,
    /// The details of the first of them.
    details: Vec<String>,
    findings: String,
    skipped: String,
}

struct Table {
    head: &'static str,
    rows: Vec<String>,
}

const GROUPS: &str = "| | Change | Resources | Cause |\n|-|-|-|-|\n";
const RESOURCES: &str = "| | Resource | Changes | File |\n|-|-|-|-|\n";

fn fitted(parts: &Parts, budget: usize) -> String {
    let all = parts.detailed;
    let around = parts.around();
    let whole: usize = parts.details.iter().map(String::len).sum();
    if parts.details.len() == all && around.0.len() + whole + around.1.len() <= budget {
        return [around.0.as_str(), &parts.details.concat(), &around.1].concat();
    }
    let note = |shown: usize| {
        let of = format!("{} of {} {}", grouped(shown), grouped(all), parts.nouns);
        format!("> Truncated: changes are shown for {of}. The full report has all of them.\n\n")
    };
    let mut room = budget.checked_sub(around.0.len() + around.1.len() + note(all).len());
    let shown = parts.details.iter().take_while(|detail| {
        room = room.and_then(|room| room.checked_sub(detail.len()));
        room.is_some()
    });
    let shown = shown.count();
    if shown > 0 {
        return [around.0.as_str(), &parts.details[..shown].concat(), &note(shown), &around.1].concat();
    }
    parts.table_only(budget).or_else(|| parts.counts_only(budget)).unwrap_or_default()
}

impl Parts {
    /// All parts, with no more details than fit the budget: groups first, then changes of single resources.
    fn new(report: &Report, budget: usize) -> Self {
        let mut draft = Draft::new(report, &STYLE);
        draft.hint = "";
        draft.listed = MOST_LISTED;
        let grouped_changes = terminal::shown_in_groups(report, &STYLE);
        let has_unshown = |(at, resource): &(usize, &ResourceChange)| {
            let count = resource.changes().count();
            let is_shown = |change| grouped_changes.contains(&Member { resource: *at, change });
            count == 0 || resource.is_moved() || !(0..count).all(is_shown)
        };
        let shown = report.resources.iter().enumerate().filter(|(_, resource)| resource.status() < Status::Respelled);
        let shown: Vec<(usize, &ResourceChange)> = shown.filter(has_unshown).collect();
        let shared =
            Table { head: GROUPS, rows: report.groups.iter().map(|it| groups::row(report, it, &mut draft)).collect() };
        let resources = Table { head: RESOURCES, rows: shown.iter().map(|(_, it)| row(it, &draft)).collect() };
        let has_detail = |(_, resource): &&(usize, &ResourceChange)| resource.status() != Status::Moved;
        let mut details = Details { room: budget, texts: Vec::new(), is_full: false };
        for group in &report.groups {
            details.push(|| groups::detail(report, group, &mut draft));
        }
        for (at, resource) in shown.iter().filter(has_detail) {
            let is_shown = |change| grouped_changes.contains(&Member { resource: *at, change });
            details.push(|| detail(resource, &mut draft, &is_shown).unwrap_or_default());
        }
        for file in &report.text_files {
            details.push(|| text_detail(file));
        }
        let overridden = groups::overridden(report, &mut draft);
        let cut = if draft.was_cut { "… marks truncated text.\n" } else { "" };
        Self {
            head: head(report),
            nouns: if shared.rows.is_empty() { "resources" } else { "groups and resources" },
            detailed: shared.rows.len() + shown.iter().filter(has_detail).count() + report.text_files.len(),
            tables: [shared, resources].into_iter().filter(|table| !table.rows.is_empty()).collect(),
            details: details.texts,
            findings: findings(report),
            skipped: overridden + &skipped(report) + cut,
        }
    }

    /// The text before and after the details.
    fn around(&self) -> (String, String) {
        let tables: String =
            self.tables.iter().map(|table| format!("{}{}\n", table.head, table.rows.concat())).collect();
        (format!("{}{tables}", self.head), format!("{}{}", self.findings, self.skipped))
    }

    /// Counts and as many rows as fit.
    fn table_only(&self, budget: usize) -> Option<String> {
        let all = self.tables.iter().map(|table| table.rows.len()).sum();
        let note = |shown: usize| {
            let of = format!("{} of {} {}", grouped(shown), grouped(all), self.nouns);
            format!(
                "\n> Truncated: {of} listed, without changes, findings and skipped files. The full report has everything.\n"
            )
        };
        let mut room = budget.checked_sub(self.head.len() + note(all).len())?;
        let mut text = self.head.clone();
        let mut shown = 0;
        for Table { head, rows } in &self.tables {
            let gap = if shown > 0 { "\n" } else { "" };
            let Some(left) = room.checked_sub(gap.len() + head.len() + rows[0].len()) else { break };
            room = left + rows[0].len();
            text.extend([gap, head]);
            let fitting = rows.iter().take_while(|row| {
                let fits = row.len() <= room;
                room = if fits { room - row.len() } else { 0 };
                fits
            });
            let fitting: Vec<&str> = fitting.map(String::as_str).collect();
            shown += fitting.len();
            text.push_str(&fitting.concat());
        }
        (shown > 0).then(|| text + &note(shown))
    }

    fn counts_only(&self, budget: usize) -> Option<String> {
        let note = "> Truncated: only counts are shown. The full report has everything.\n";
        let text = [self.head.as_str(), note].concat();
        (text.len() <= budget).then_some(text)
    }
}

/// Details up to the first that does not fit.
struct Details {
    room: usize,
    texts: Vec<String>,
    is_full: bool,
}

impl Details {
    fn push(&mut self, make: impl FnOnce() -> String) {
        if self.is_full {
            return;
        }
        let detail = make();
        self.is_full = detail.len() > self.room;
        self.room = self.room.saturating_sub(detail.len());
        self.texts.push(detail);
    }
}

fn head(report: &Report) -> String {
    let counts = SummaryCounts::count(report);
    let said = (!counts.is_unchanged()).then(|| words(&counts, true));
    let title = [terminal::incomplete(report), said, terminal::as_text(report)].into_iter().flatten();
    let title = title.collect::<Vec<_>>().join("; ");
    let title = if title.is_empty() { terminal::headline(report, &counts).1 } else { title };
    let sides = format!("{} → {}", span(&report.before), span(&report.after));
    let compared = format!(
        "{} in {}",
        plural(report.compared.resources, "resource"),
        plural(report.compared.files, "changed file")
    );
    let rest = words(&counts, false);
    let rest = if rest.is_empty() { String::new() } else { format!(" Also: {rest}.") };
    let sources = groups::sources(report);
    let only = match report.only.as_slice() {
        [] => String::new(),
        views => format!(" Views compared: {}.", views.join(" and ")),
    };
    let notes = format!("{}{}", incomplete(report), changing_rules(report));
    format!("### outcrop: {title}\n\n{sides}, {compared}.{only}{rest}\n\n{sources}{notes}")
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

/// The lines of a file that differ, folded.
fn text_detail(file: &TextFile) -> String {
    let lines = lines::hunks_of(file, &STYLE);
    let body = if lines.is_empty() { String::new() } else { fenced(&lines) };
    let (name, note) = (html(&shortened(&file.path.to_string())), html(&lines::note(file)));
    format!(
        "<details><summary>{} <code>{name}</code> {note}</summary>\n\n{body}\n</details>\n\n",
        lines::symbol(file).0
    )
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

fn row(resource: &ResourceChange, draft: &Draft<'_>) -> String {
    let symbol = draft.status_symbol(resource).map(|(symbol, _)| symbol).unwrap_or_default();
    let (before, after) = (resource.before.as_ref(), resource.after.as_ref());
    let file = match (before, after) {
        (Some(before), Some(after)) if before.file != after.file => {
            format!("{} → {}", cell(&before.file.to_string()), cell(&after.file.to_string()))
        }
        _ => after.or(before).map(|side| cell(&side.file.to_string())).unwrap_or_default(),
    };
    let changes = terminal::extent_words(resource);
    format!("| {} | {} | {} | {file} |\n", cell(&symbol), cell(&draft.name(resource)), cell(&changes))
}

/// The changes of a resource, folded; none for a pure move.
fn detail(resource: &ResourceChange, draft: &mut Draft<'_>, is_shown: &dyn Fn(usize) -> bool) -> Option<String> {
    let lines = draft.changes_but(resource, MARGIN, is_shown);
    if lines.is_empty() {
        return None;
    }
    let (symbol, _) = draft.status_symbol(resource)?;
    let name = html(&shortened(&draft.name(resource)));
    let body = fenced(&lines);
    Some(format!("<details><summary>{} <code>{name}</code></summary>\n\n{body}\n</details>\n\n", html(&symbol)))
}

fn findings(report: &Report) -> String {
    let others = other_problems(report).map(|others| format!("{others}\n\n")).unwrap_or_default();
    if report.findings.is_empty() {
        return others;
    }
    let mut locator = Locator::new(&report.sources);
    let mut worst: Vec<&Finding> = report.findings.iter().collect();
    worst.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let mut text = String::from("#### Findings\n\n");
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

fn skipped(report: &Report) -> String {
    terminal::others(report).map(|phrase| format!("{phrase}\n")).unwrap_or_default()
}

/// Text in a code span, where nothing in it means anything to Markdown.
pub fn span(text: &str) -> String {
    let text = shortened(text);
    if text.is_empty() {
        return "``  ``".to_owned();
    }
    let marks = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    [&marks, pad, &text, pad, &marks].concat()
}

/// Text in a code span of a table cell. A bar ends a cell even inside a code span, and parsers disagree on escaping it.
fn cell(text: &str) -> String {
    if text.is_empty() { String::new() } else { span(&text.replace('|', "│")) }
}

fn html(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            '\'' => shown.push_str("&#39;"),
            '`' => shown.push_str("&#96;"),
            c => shown.push(c),
        }
    }
    shown
}

/// Lines in a code block whose fence is longer than anything in it that looks like one.
fn fenced(lines: &[Line]) -> String {
    let lines: Vec<String> =
        lines.iter().map(|line| sanitize::without_workflow_commands(line.plain().trim_end()).into_owned()).collect();
    let longest = lines.iter().map(|line| longest_run(line)).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}diff\n{}\n{fence}\n", lines.join("\n"))
}

fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// One visible line of bounded length that commands no runner.
fn shortened(text: &str) -> String {
    let text = sanitize::inline(text);
    let text = if columns(&text) > LONGEST_SPAN {
        format!("{}…", split_at_columns(&text, LONGEST_SPAN).0)
    } else {
        text.into_owned()
    };
    text.replace("##[", "##\\[")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{self, hostile};
    use proptest::prelude::*;

    fn written(report: &Report, budget: usize) -> String {
        let mut out = Vec::new();
        write(report, budget, &mut out).expect("writing to memory works");
        String::from_utf8(out).expect("Markdown is text")
    }

    /// The lines outside code blocks, without their code spans; fails if a block or a fold is left open.
    fn outside_code(text: &str) -> String {
        let mut fence: Option<&str> = None;
        let mut outside = String::new();
        let mut open = 0i32;
        for line in text.lines() {
            let marks = &line[..line.len() - line.trim_start_matches('`').len()];
            match fence {
                Some(mark) if line == mark => fence = None,
                Some(_) => {}
                None if marks.len() >= 3 && line[marks.len()..] == *"diff" => fence = Some(marks),
                None => {
                    open += i32::from(line.starts_with("<details>")) - i32::from(line == "</details>");
                    outside.push_str(&without_spans(line));
                    outside.push('\n');
                }
            }
        }
        assert_eq!((fence, open), (None, 0), "{text}");
        outside
    }

    /// A line without its code spans, read as CommonMark reads them: a run of marks ends at the next run of the same length.
    fn without_spans(line: &str) -> String {
        let run = |text: &str| text.len() - text.trim_start_matches('`').len();
        let mut shown = String::new();
        let mut rest = line;
        while let Some(at) = rest.find('`') {
            shown.push_str(&rest[..at]);
            let length = run(&rest[at..]);
            let mut end = at + length;
            while let Some(next) = rest[end..].find('`') {
                let closing = run(&rest[end + next..]);
                end += next + closing;
                if closing == length {
                    break;
                }
            }
            assert!(end > at + length, "an open span in {line}");
            rest = &rest[end..];
        }
        shown + rest
    }

    #[test]
    fn what_new_rules_would_hide_is_named_up_front() {
        let mut report = sample::rich();
        let resource =
            report.resources.iter().find(|resource| resource.changes().next().is_some()).expect("one changed");
        let hidden = crate::diff::Suppressed {
            rule: "compare rules of `x`".into(),
            identity: resource.after.as_ref().expect("it is still there").identity.clone(),
            change: resource.changes().next().expect("it changed").clone(),
        };
        report.would_hide = vec![hidden; 7];
        report.only = vec!["payload", "metadata"];
        let shown = written(&report, 65_000);
        let head = shown.split("<details>").next().unwrap_or_default();
        assert!(
            head.contains("> **Compare rules change:** 7 changes below would be hidden by the new rules: `"),
            "{head}"
        );
        assert!(head.contains("by `` compare rules of `x` ``, ") && head.contains(", and 2 more\n"), "{head}");
        assert!(head.contains(" Views compared: payload and metadata."), "{head}");
        assert!(!outside_code(&shown).contains("rules of `x`"));
    }

    #[test]
    fn the_table_comes_before_the_details() {
        let shown = written(&sample::rich(), 65_000);
        assert!(shown.starts_with(
            "### outcrop: incomplete: 1 file could not be compared; 4 changed (1 also moved), 1 added, 1 removed, 1 moved; \
             1 file compared as text: Helm templates (1)

`HEAD` → `index`, 12 resources in 9 changed files. Also: 3 errors, 3 secrets, 1 order-only, 1 spelling-only.

> **incomplete: 1 file could not be compared**: `deploy/broken.yaml`

| | Resource | Changes | File |
|-|-|-|-|
| `~` | `/customers/acme` | `~2` | `customers/acme/resource.yaml` |
"
        ));
        assert!(shown.contains(
            "
<details><summary>~ <code>ConfigMap shop/web-config</code></summary>

```diff
~ .data[\"nginx.conf\"]  (+2 -1, 7 lines now)
    server {
      listen 8080;
-     workers 4 of 16;
+     workers 8 of 16;
"
        ));
        assert!(shown.contains("\n- **error** `document/syntax` in `index:deploy/broken.yaml:2:3`: "));
    }

    #[test]
    fn what_many_share_comes_first_and_survives_longest() {
        let report = sample::grouped();
        let whole = written(&report, 65_000);
        assert!(whole.contains(
            "
| `•` | `metadata › .token` `(sensitive, changed) #1 → #2` | **3** | `customers/_/metadata.yaml:3 (unchanged)` |
"
        ));
        assert!(whole.contains("\n  varies  /old → \"/v2/customers/{{.id}}\"  /customers/c09\n"));
        assert!(!whole.contains("| Resource |"), "nothing is left to tell of single resources");
        for budget in [whole.len() - 1, 1_400, 900, 400] {
            let shown = written(&report, budget);
            assert!(shown.len() <= budget && shown.contains("Truncated"));
            outside_code(&shown);
            assert_eq!(shown.contains("| Change |"), budget > 800, "{budget}");
        }
    }

    #[test]
    fn a_small_budget_leaves_out_the_inside_first() {
        let report = sample::rich();
        let whole = written(&report, 65_000).len();
        let has = |budget: usize| {
            let shown = written(&report, budget);
            assert!(shown.len() <= budget);
            outside_code(&shown);
            let said = shown.contains("Truncated");
            (shown.matches("<details>").count(), shown.contains("| Resource |"), shown.contains("### outcrop"), said)
        };
        assert_eq!(has(whole), (7, true, true, false));
        assert!(matches!(has(whole - 1), (1..=6, true, true, true)));
        assert_eq!(has(1_000), (0, true, true, true));
        assert_eq!(has(500), (0, false, true, true));
        assert_eq!(has(10), (0, false, false, false));
    }

    proptest! {
        #[test]
        fn repository_text_means_nothing_to_markdown(name in hostile(), value in hostile(), message in hostile(), budget in 500usize..20_000) {
            use crate::diff::ChangeKind;
            use sample::{both, change, key, kubernetes, map, report, resource, string};
            let side = || resource(kubernetes("ConfigMap", &name), "x.yaml", map([]));
            let change = change(ChangeKind::Value, [key(&name)], string(&value), string(&name));
            let other = || resource(kubernetes("ConfigMap", &value), "y.yaml", map([]));
            let shared = vec![both(side(), side(), vec![change.clone()]), both(other(), other(), vec![change])];
            let mut report = report(shared);
            report.groups = crate::diff::groups(&report.resources, &report.sources);
            report.edits = crate::diff::edits(&report.resources, &report.sources, &|_| true);
            let location = Location::File { path: sample::path("x.yaml"), revision: "index".into() };
            report.findings = vec![Finding::new(&crate::finding::SOURCE_UNREADABLE, location, message.clone()).help(message)];
            let shown = written(&report, budget);
            let outside = outside_code(&shown);
            let summaries = outside.lines().filter(|line| line.starts_with("<details>"));
            for line in summaries {
                prop_assert_eq!(line.matches('<').count(), 5, "{}", line);
            }
            for line in outside.lines().filter(|line| !line.starts_with("<details>")) {
                for mark in ["<img", "@org", "](", "#1", "https:", "www.", "</details>x"] {
                    prop_assert!(!line.contains(mark), "{}", line);
                }
            }
        }
    }
}
