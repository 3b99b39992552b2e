//! One group: the change, the resources it happens to, what varies, and why.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::Draft;
use super::change::Layout;
use super::summary::wrapped;
use crate::diff::{Group, Origin, PathStep, SharedCause, Variant};
use crate::path::RepoPath;
use crate::report::paint::{Line, Role};
use crate::report::summary_counts::{grouped, plural};
use crate::report::{LayerEdit, Report, cause, edit_pattern, fragment, name_list, secret_numbers};
use crate::resource::{Identity, Resource};
use crate::text::Span;

/// Indent of the lines below the change.
const DETAILS: usize = 6;
/// The rightmost column of the number of resources.
const WIDEST: usize = 100;
/// The most values in braces.
const MOST_VALUES: usize = 3;
/// The most variants with a line of their own.
const MOST_VARIANTS: usize = 5;
/// The most lines of places.
const MOST_PLACE_LINES: usize = 8;
/// How many of them are shown if there are more.
const MOST_EXAMPLES: usize = 2;

impl Draft<'_> {
    /// The lines of a group, and of those that follow from it, by their positions.
    pub(super) fn group(&mut self, report: &Report, at: usize, following: &[usize]) -> Vec<Line> {
        let group = &report.groups[at];
        let tag = format!("[{}] ", at + 1);
        let layout = Layout { indent: tag.len(), details: DETAILS.max(tag.len() + 2), inset: 0 };
        self.tag = Some(tag);
        let tail = Line::default()
            .with(Role::Heading, &plural(group.resource_count(), "resource"))
            .with(Role::Dim, &format!("  {}", group.fingerprint));
        let mut lines = self.group_change(report, group, layout);
        let columns = self.style.columns();
        match lines.first_mut() {
            Some(first) if first.width() + 3 + tail.width() <= columns => {
                let to = (first.width() + 3).max(columns.min(WIDEST).saturating_sub(tail.width()));
                *first = std::mem::take(first).padded(to).then(tail);
            }
            _ => lines.push(Line::indented(layout.details).then(tail)),
        }
        let details = self.group_details(report, group, layout.details);
        lines.extend(details);
        lines.extend(following.iter().flat_map(|at| self.also(report, *at, layout.details)));
        lines
    }

    /// The change itself, with all values that several resources have.
    pub(in crate::report) fn group_change(&mut self, report: &Report, group: &Group, layout: Layout) -> Vec<Line> {
        self.last_path.clear();
        self.homes = [None, None];
        let Some((_, example)) = group.example(&report.resources) else { return Vec::new() };
        let mut change = example.clone();
        change.path.clone_from(&group.path);
        let (symbol, role) = self.change_symbol(&change);
        match self.form_words(report, group).or_else(|| self.varied(report, group)) {
            Some(varied) => self.on_one_line(&change, layout, (&symbol, role), varied),
            None => self.bare_change(&change, layout),
        }
    }

    /// The values of a group on one line, if they fit.
    pub(in crate::report) fn group_values(&mut self, report: &Report, group: &Group) -> Option<Line> {
        let (_, example) = group.example(&report.resources)?;
        let words = self.form_words(report, group).or_else(|| self.varied(report, group));
        words.or_else(|| self.short(example))
    }

    /// `/v1/customers/… → /v2/customers/…`, if resources have different values that were edited alike.
    fn form_words(&mut self, report: &Report, group: &Group) -> Option<Line> {
        let edit_pattern = self.edit_pattern(report, group)?;
        let ellipsis = self.symbols.ellipsis;
        Some(self.old_and_new_words(&edit_pattern.before.words(ellipsis), &edit_pattern.after.words(ellipsis)))
    }

    /// The edit pattern of a group; computed once.
    fn edit_pattern(&mut self, report: &Report, group: &Group) -> Option<Rc<edit_pattern::EditPattern>> {
        let find = || edit_pattern::of_group(group, &report.resources).map(Rc::new);
        self.edit_patterns.entry(group.fingerprint).or_insert_with(find).clone()
    }

    /// The resources with the values in the first line of a group, and the variants with other values.
    pub(in crate::report) fn usual<'g>(&mut self, report: &Report, group: &'g Group) -> (Vec<usize>, Vec<&'g Variant>) {
        let usual =
            self.edit_pattern(report, group).map_or_else(|| vec![0], |edit_pattern| edit_pattern.variants.clone());
        let (mut main, mut others) = (Vec::new(), Vec::new());
        for (at, variant) in group.variants.iter().enumerate() {
            match usual.binary_search(&at) {
                Ok(_) => main.extend(variant.members.iter().map(|member| member.resource)),
                Err(_) => others.push(variant),
            }
        }
        main.sort_unstable();
        main.dedup();
        (main, others)
    }

    fn old_and_new_words(&self, before: &str, after: &str) -> Line {
        let arrow = format!(" {} ", self.symbols.arrow);
        Line::default().with(Role::Removed, before).with(Role::Dim, &arrow).with(Role::Added, after)
    }

    /// The resources of a group, its variants, its cause, and the resources that override the value.
    pub(in crate::report) fn group_details(&mut self, report: &Report, group: &Group, indent: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        let (main, mut others) = self.usual(report, group);
        if self.style.is_verbose() && others.len() + 1 < group.variants.len() {
            others = group.variants.iter().collect();
        }
        lines.extend(self.resource_list(report, &main, indent, ""));
        lines.extend(self.variants(report, &others, indent));
        let why = cause::of_group(group, &report.resources, &report.sources, &mut self.locator, self.symbols);
        lines.extend(why.iter().flat_map(|why| self.why(why, indent)).collect::<Vec<_>>());
        let spared = report.layer_edits.iter().filter(|edit| is_behind(edit, group, report));
        for edit in spared.filter(|edit| !edit.overridden.is_empty()).collect::<Vec<_>>() {
            let lead = "not affected: ";
            let words = self.overridden_text(edit, self.style.columns().saturating_sub(indent + lead.len()));
            lines.extend(self.phrase(&format!("{lead}{words}"), indent));
        }
        lines
    }

    /// `{silver|bronze} → gold`, where several resources each have one of a few values.
    fn varied(&mut self, report: &Report, group: &Group) -> Option<Line> {
        let shared: Vec<&Variant> = group.variants.iter().filter(|variant| variant.resources().len() > 1).collect();
        if shared.len() < 2 {
            return None;
        }
        let mut sides: [Vec<String>; 2] = Default::default();
        for variant in shared {
            let (_, change) = variant.example(&report.resources)?;
            if secret_numbers::concerns_secret(change) {
                return None;
            }
            for (values, node) in sides.iter_mut().zip([&change.before, &change.after]) {
                let value = fragment::inline(node.as_ref()?, &mut self.secret_numbers)?;
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        if sides.iter().any(|values| values.len() > MOST_VALUES) {
            return None;
        }
        let [before, after] = sides.map(|values| match values.as_slice() {
            [only] => only.clone(),
            several => format!("{{{}}}", several.join("|")),
        });
        Some(self.old_and_new_words(&before, &after))
    }

    /// Each variant that is not in the first line, with its resources.
    pub(super) fn variants(&mut self, report: &Report, others: &[&Variant], indent: usize) -> Vec<Line> {
        let listed = match self.most(MOST_VARIANTS) {
            Some(most) if others.len() > most => MOST_EXAMPLES,
            _ => others.len(),
        };
        let mut lines = Vec::new();
        for variant in others.iter().take(listed) {
            let short = variant.example(&report.resources).and_then(|(_, change)| self.short(change));
            let short = short.filter(|short| indent + 8 + short.width() + 12 <= self.style.columns());
            let words = short.map_or_else(|| "another value".to_owned(), |short| short.plain());
            lines.extend(self.resource_list(report, &variant.resources(), indent, &format!("varies  {words}  ")));
        }
        let more = others.len() - listed;
        if more > 0 {
            let resources: BTreeSet<usize> = others[listed..].iter().flat_map(|variant| variant.resources()).collect();
            let what = format!("{} more values in {}", grouped(more), plural(resources.len(), "resource"));
            lines.extend(self.left_out(&what, indent));
        }
        lines
    }

    /// Resources by name, as many as fit on a line; all of them with `-v`. Below them the units that render them.
    fn resource_list(&mut self, report: &Report, resources: &[usize], indent: usize, lead: &str) -> Vec<Line> {
        let shown: Vec<&Resource> = resources
            .iter()
            .filter_map(|at| report.resources.get(*at))
            .filter_map(|of| of.after.as_ref().or(of.before.as_ref()))
            .collect();
        let identities: BTreeSet<&Identity> = shown.iter().map(|resource| &resource.identity).collect();
        let mut lines = match identities.len() < shown.len() {
            true => self.name_list(&name_list::of_resources(identities), indent, lead),
            false => self.name_list(&name_list::of_resources(shown.iter().map(|it| &it.identity)), indent, lead),
        };
        let units: BTreeSet<&str> =
            shown.iter().filter_map(|resource| resource.unit.as_ref()).map(|unit| unit.key.as_str()).collect();
        if !units.is_empty() {
            let count = plural(units.len(), "root");
            lines.extend(self.places(&name_list::of_paths(units), indent, &format!("in {count}: ")));
        }
        lines
    }

    /// Places over as many lines as they take, up to a limit.
    fn places(&mut self, families: &[name_list::Family], indent: usize, lead: &str) -> Vec<Line> {
        let room = self.style.columns().saturating_sub(indent).max(8);
        let words = format!("{lead}{}", name_list::first(families, name_list::count(families)));
        let mut lines = wrapped(&words, Role::Plain, room);
        if let Some(most) = self.most(MOST_PLACE_LINES).filter(|most| lines.len() > *most) {
            lines.truncate(most);
            lines.extend(self.left_out("more places", 0));
        }
        lines.into_iter().map(|line| Line::indented(indent).then(line)).collect()
    }

    fn name_list(&mut self, families: &[name_list::Family], indent: usize, lead: &str) -> Vec<Line> {
        let columns = self.style.columns();
        let start = Line::indented(indent).with(Role::Dim, lead);
        if !self.style.is_verbose() && name_list::count(families) > self.listed {
            let room = columns.saturating_sub(start.width());
            let names = name_list::fitted(families, room);
            let names = self.fitted(&names, room);
            return vec![start.with(Role::Plain, &names)];
        }
        let mut lines = vec![start];
        for piece in name_list::whole(families) {
            let width = crate::report::paint::columns(&piece) + 1;
            match lines.last_mut() {
                Some(line) if line.width() <= indent || line.width() + width <= columns => {
                    line.push(Role::Plain, &format!("{piece} "));
                }
                _ => lines.push(Line::indented(indent + 2).with(Role::Plain, &format!("{piece} "))),
            }
        }
        lines
    }

    /// `why  customers/_/metadata.yaml:9`.
    pub(super) fn why(&mut self, words: &str, indent: usize) -> Vec<Line> {
        const LEAD: &str = "why  ";
        let room = self.style.columns().saturating_sub(indent + LEAD.len()).max(8);
        let mut lines = Vec::new();
        for (at, line) in wrapped(words, Role::Dim, room).into_iter().enumerate() {
            let text = self.fitted(&line.plain(), room);
            let lead = if at == 0 { LEAD } else { "     " };
            lines.push(Line::indented(indent).with(Role::Dim, lead).with(Role::Dim, &text));
        }
        lines
    }

    /// A phrase in the background, over as many lines as it takes.
    pub(super) fn phrase(&mut self, words: &str, indent: usize) -> Vec<Line> {
        let room = self.style.columns().saturating_sub(indent).max(8);
        let lines = wrapped(words, Role::Dim, room);
        let fitted = lines.iter().map(|line| Line::indented(indent).with(Role::Dim, &self.fitted(&line.plain(), room)));
        fitted.collect()
    }

    /// `4 overridden by customers/{mono, north}/metadata.yaml`, in so many columns if it can be.
    pub(in crate::report) fn overridden_text(&mut self, edit: &LayerEdit, room: usize) -> String {
        let lead = format!("{} overridden by ", grouped(edit.overridden.len()));
        let places: BTreeSet<(RepoPath, usize)> = edit
            .overridden
            .iter()
            .map(|resource| {
                let start = self.locator.start(resource.by);
                (start.text.path.clone(), start.line)
            })
            .collect();
        let by = match places.len() {
            1 => places.iter().map(|(file, line)| format!("{file}:{line}")).collect(),
            _ => {
                let files: BTreeSet<&RepoPath> = places.iter().map(|(file, _)| file).collect();
                let families = name_list::of_files(files);
                if self.style.is_verbose() {
                    name_list::whole(&families).join(" ")
                } else {
                    name_list::fitted(&families, room.saturating_sub(lead.len()))
                }
            }
        };
        format!("{lead}{by}")
    }
}

/// Whether a group shows what an edit of a layer does.
pub(in crate::report) fn is_behind(edit: &LayerEdit, group: &Group, report: &Report) -> bool {
    let is_there = |cause: &Option<SharedCause>, span: Option<Span>| match cause {
        Some(SharedCause { origin: Origin::At(place), .. }) => span
            .is_some_and(|span| span.start == place.span.start && report.sources.get(span.source).path == place.file),
        _ => false,
    };
    let is_about = match group.path.split_first() {
        Some((PathStep::Metadata, rest)) => {
            // Headers are items of a list there, and keys of a directive here.
            let names = rest.iter().map_while(|step| match step {
                PathStep::Key(key) => Some(&key.name),
                _ => None,
            });
            names.zip(edit.pointer.tokens()).all(|(name, token)| name == token)
        }
        _ => false,
    };
    is_about && (is_there(&group.after, edit.after) || is_there(&group.before, edit.before))
}
