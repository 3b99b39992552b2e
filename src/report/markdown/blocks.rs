//! Blocks in Markdown: the edited files, the table, and the details of each block.

use super::escape::{LONGEST_SPAN, cell, fenced, link, span};
use super::{Detail, LISTED, MARGIN, MOST_SOURCES, STYLE, Summary};
use crate::diff::{Change, ChangeKind, path_text};
use crate::report::cause::Reason;
use crate::report::outline::{Alike, Block, Entry, Outline, PathNode, by_directory, path_tree};
use crate::report::paint::{Line, Role};
use crate::report::places::Names;
use crate::report::summary_counts::{grouped, plural};
use crate::report::terminal::{self, Draft, Reasons, folded_paths, subject};
use crate::report::text_diff::Sign;
use crate::report::{LayerEdit, Report, TextFile, fragment, lines, secret_numbers};

/// The longest list of places in a cell, in columns.
const LONGEST_CELL: usize = 120;
/// The most lines of the content of a resource.
const CONTENT_LINES: usize = 40;

/// The edited files behind what changed.
pub(super) fn sources(report: &Report) -> String {
    let files = &report.edits.files;
    if files.is_empty() {
        return String::new();
    }
    let mut listed: Vec<String> = Vec::new();
    for file in files.iter().take(MOST_SOURCES) {
        let reach = format!("{} → {}", plural(file.edits, "edit"), plural(file.resources, "resource"));
        listed.push(format!("{} ({reach})", span(&file.file.to_string())));
    }
    let more = files.len().saturating_sub(MOST_SOURCES);
    if more > 0 {
        listed.push(format!("and {} more", plural(more, "file")));
    }
    format!("Sources: {}.\n\n", listed.join(", "))
}

/// What rows and details are made with.
pub(super) struct Blocks<'a> {
    pub report: &'a Report,
    pub draft: Draft<'a>,
    pub link: Option<&'a str>,
    /// The bytes that details may take; those after are not made.
    pub room: usize,
}

impl Blocks<'_> {
    /// A row for each block, and for what was added, removed and moved.
    pub(super) fn table(&mut self, outline: &Outline) -> Vec<String> {
        let mut rows: Vec<String> = outline.blocks.iter().map(|block| self.row(block)).collect();
        for (found, symbol, word) in [(&outline.added, "+", "added"), (&outline.removed, "-", "removed")] {
            let count: usize = found.iter().map(|alike| alike.all().len()).sum();
            if count > LISTED {
                let resources: Vec<usize> = found.iter().flat_map(Alike::all).collect();
                for directory in by_directory(self.report, &resources) {
                    let name = if directory.name.is_empty() { "./" } else { &directory.name };
                    rows.push(format!(
                        "| {} | {word} | **{}** | {} |\n",
                        cell(symbol),
                        grouped(directory.resources),
                        cell(name)
                    ));
                }
            } else {
                rows.extend(found.iter().map(|alike| self.one_sided_row(alike, symbol, word)));
            }
        }
        for moved in &outline.moves {
            let word = if moved.changed == 0 { "moved unchanged" } else { "moved" };
            let count = grouped(moved.files.len());
            rows.push(format!("| {} | {word} | **{count}** | {} |\n", cell("»"), cell(&moved.name())));
        }
        rows
    }

    /// `| ~ | .plan silver → gold | 5 | … |`.
    fn row(&mut self, block: &Block) -> String {
        let Some(first) = block.entries.first() else { return String::new() };
        let Some((_, change)) = first.example(self.report) else { return String::new() };
        self.draft.enter_all(self.report, &block.resources);
        let (symbol, _) = self.draft.change_symbol(change);
        let path = first.at.first().map(|at| path_text::display(&at.path, path_text::EMBEDDED)).unwrap_or_default();
        let values = match first.group.and_then(|at| self.report.groups.get(at)) {
            Some(group) => self.draft.group_values(self.report, group),
            None => self.draft.short(change),
        };
        let values = values.map(|values| format!(" {}", cell(&values.plain()))).unwrap_or_default();
        let times = if first.at.len() > 1 { format!("{} × ", grouped(first.count())) } else { String::new() };
        let more = match block.entries.len() - 1 {
            0 => String::new(),
            more => format!(", and {}", plural(more, "more change")),
        };
        let count = grouped(block.resources.len());
        let place = self.place(block, first);
        format!("| {} | {times}{}{values}{more} | **{count}** | {place} |\n", cell(&symbol), cell(&path))
    }

    /// The cause of a block, or its files.
    fn place(&mut self, block: &Block, entry: &Entry) -> String {
        if let Some(reason) = self.draft.reason(self.report, entry) {
            return self.cause_link(&reason);
        }
        let subject = subject(self.report, &block.resources);
        self.places(&block.resources, subject.names.or(subject.places.into_iter().next()))
    }

    fn places(&self, resources: &[usize], names: Option<Names>) -> String {
        if let [only] = resources
            && let Some(side) = self.report.resources.get(*only).and_then(|of| of.after.as_ref())
        {
            return link(self.link, &side.file.to_string().replace('|', "│"), &side.file.to_string(), None);
        }
        cell(&names.map(|names| names.shortened(LONGEST_CELL, Some(1))).unwrap_or_default())
    }

    /// Where values are defined, as a link to the line on the newer side.
    fn cause_link(&self, reason: &Reason) -> String {
        match reason.place() {
            Some((file, line)) if self.link.is_some() => {
                link(self.link, &reason.text.replace('|', "│"), &file.to_string(), Some(line))
            }
            _ => cell(&reason.text),
        }
    }

    fn one_sided_row(&self, alike: &Alike, symbol: &str, word: &str) -> String {
        let all = alike.all();
        let subject = subject(self.report, &all);
        let count = grouped(all.len());
        let place = self.places(&all, subject.places.into_iter().next().or(subject.names));
        format!("| {} | {} {word} | **{count}** | {place} |\n", cell(symbol), cell(&subject.title))
    }

    /// The details of everything, until the budget is certainly passed.
    pub(super) fn details(&mut self, outline: &Outline) -> Vec<Detail> {
        let mut details = Vec::new();
        let mut spent = 0;
        for block in &outline.blocks {
            if spent > self.room {
                break;
            }
            let detail = self.block(block);
            spent += detail.body.len();
            details.push(detail);
        }
        for (found, sign) in [(&outline.added, Sign::Added), (&outline.removed, Sign::Removed)] {
            let count: usize = found.iter().map(|alike| alike.all().len()).sum();
            if count <= LISTED && spent <= self.room {
                details.extend(found.iter().map(|alike| self.content(alike, sign)));
            }
        }
        details.extend(
            self.report.text_files.iter().take(if spent > self.room { 0 } else { usize::MAX }).map(text_detail),
        );
        details
    }

    fn block(&mut self, block: &Block) -> Detail {
        self.draft.enter_all(self.report, &block.resources);
        let Reasons { shared, each } = self.draft.reasons(self.report, block);
        let mut lines = Vec::new();
        for node in path_tree(self.report, &block.entries, path_text::EMBEDDED) {
            self.node(block, &node, "", &each, &mut lines);
        }
        let after = match shared {
            Some(reason) => format!("because {}\n", self.cause_link(&reason)),
            None => String::new(),
        };
        Detail { body: fenced(&lines), after, ..self.summary(&block.resources, "~", lines.len()) }
    }

    /// `~ **5 × Deployment** in 5 files`, with names and places below.
    fn summary(&self, resources: &[usize], symbol: &str, lines: usize) -> Detail {
        let subject = subject(self.report, resources);
        let places = subject.names.into_iter().chain(subject.places);
        let places: Vec<String> = places.map(|names| names.shortened(LONGEST_SPAN, Some(8))).collect();
        let places = match resources {
            [only] => {
                let of = self.report.resources.get(*only);
                let side = of.and_then(|of| of.after.as_ref().or(of.before.as_ref()));
                let is_said = side.is_some_and(|side| side.identity.to_string() == side.file.to_string());
                if is_said { Vec::new() } else { side.map(|side| side.file.to_string()).into_iter().collect() }
            }
            _ => places,
        };
        let remark = if resources.len() > 1 { subject.extent } else { String::new() };
        let summary = Summary { sign: symbol.to_owned(), title: subject.title, remark, places };
        Detail { summary, body: String::new(), after: String::new(), lines, is_content: false }
    }

    fn node(&mut self, block: &Block, node: &PathNode, above: &str, reasons: &[Option<String>], lines: &mut Vec<Line>) {
        let path = format!("{above}{}", node.label());
        for &at in &node.entries {
            lines.extend(self.entry(&block.entries[at], &node.steps));
            let reason = reasons.get(at).and_then(Option::as_ref);
            lines.extend(reason.map(|words| Line::indented(MARGIN.inset).with(Role::Dim, &format!("because {words}"))));
        }
        if node.children.iter().any(|child| !child.entries.is_empty()) {
            lines.push(Line::default().with(Role::Moved, &format!("@@ {path} @@")));
        }
        for child in &node.children {
            self.node(block, child, &path, reasons, lines);
        }
    }

    fn entry(&mut self, entry: &Entry, steps: &[String]) -> Vec<Line> {
        let Some((_, change)) = entry.example(self.report) else { return Vec::new() };
        if entry.at.len() > 1 {
            let label = format!("{} × {}", grouped(entry.count()), steps.concat());
            let mut lines = self.change(change, &[label]);
            let names = Names::of_paths(folded_paths(entry, path_text::EMBEDDED)).lines(LONGEST_SPAN, Some(6), "");
            let line = |name: &String| Line::indented(MARGIN.inset).with(Role::Dim, &format!("at {name}"));
            lines.extend(names.iter().map(line));
            return lines;
        }
        match entry.group.and_then(|at| self.report.groups.get(at)) {
            Some(group) if group.variants.len() > 1 => {
                let mut lines = self.draft.group_change(self.report, group, steps, MARGIN);
                lines.extend(self.draft.group_details(self.report, group, MARGIN.inset));
                lines
            }
            Some(group) => {
                let mut lines = self.change(change, steps);
                lines.extend(self.draft.group_details(self.report, group, MARGIN.inset));
                lines
            }
            None => self.change(change, steps),
        }
    }

    /// A changed value as one red and one green line.
    fn change(&mut self, change: &Change, steps: &[String]) -> Vec<Line> {
        let is_value = change.kind == ChangeKind::Value && !secret_numbers::is_secret(change);
        if let (true, Some(before), Some(after)) = (is_value, &change.before, &change.after) {
            let inline = |node, draft: &mut Draft<'_>| {
                let text = fragment::inline(node, &mut draft.secret_numbers)?;
                let comment = draft.comment(change, node).map(|comment| format!("  {comment}")).unwrap_or_default();
                Some(text + &comment)
            };
            if let (Some(old), Some(new)) = (inline(before, &mut self.draft), inline(after, &mut self.draft)) {
                let label = steps.concat();
                let line = |sign: Sign, text: &str| {
                    Line::default().with(sign.role(), &format!("{}{label}  {text}", sign.gutter()))
                };
                return vec![line(Sign::Removed, &old), line(Sign::Added, &new)];
            }
        }
        self.draft.change_at(change, steps, MARGIN)
    }

    fn content(&mut self, alike: &Alike, sign: Sign) -> Detail {
        let side = alike.resources.first().and_then(|at| self.report.resources.get(*at));
        let side = side.and_then(|of| of.after.as_ref().or(of.before.as_ref()));
        let lines = side.map(|side| {
            let block = fragment::block(&side.payload, &mut self.draft.secret_numbers, Some(CONTENT_LINES), true);
            let mut lines = self.draft.gutter(&block.lines, sign, MARGIN);
            lines.extend(block.left_out.map(|what| Line::indented(MARGIN.inset).with(Role::Dim, &format!("… {what}"))));
            for words in self.draft.also(self.report, alike) {
                lines.push(Line::indented(MARGIN.inset).with(Role::Dim, &words));
            }
            lines
        });
        let lines = lines.unwrap_or_default();
        let summary = self.summary(&alike.resources, sign.gutter().trim_end(), lines.len());
        Detail { body: fenced(&lines), is_content: true, ..summary }
    }

    /// Edits of layers that some resources override, unless a group or a finding shows them.
    pub(super) fn overridden(&mut self) -> String {
        let report = self.report;
        let is_shown = |edit: &LayerEdit| {
            edit.is_dead || report.groups.iter().any(|group| terminal::is_behind(edit, group, report))
        };
        let mut text = String::new();
        let overridden = report.layer_edits.iter().filter(|edit| !edit.overridden.is_empty() && !is_shown(edit));
        for edit in overridden.take(MOST_SOURCES) {
            let words = self.draft.overridden_text(edit);
            let (pointer, file) = (span(&edit.pointer.to_string()), span(&edit.file.to_string()));
            text.push_str(&format!("Partly overridden: {pointer} in {file}: {}\n\n", span(&words)));
        }
        text
    }
}

/// The lines of a file that differ.
fn text_detail(file: &TextFile) -> Detail {
    let lines = lines::hunks_of(file, &STYLE);
    let body = if lines.is_empty() { String::new() } else { fenced(&lines) };
    let (sign, title) = (lines::symbol(file).0.to_owned(), file.path.to_string());
    let summary = Summary { sign, title, remark: lines::note(file), places: Vec::new() };
    Detail { summary, body, after: String::new(), lines: lines.len(), is_content: false }
}
