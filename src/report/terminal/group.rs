//! Changes that several resources share: the values most of them have, and what varies.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::Draft;
use super::change::Layout;
use super::summary::wrapped;
use crate::diff::{Group, Origin, PathStep, SharedCause, Variant};
use crate::path::RepoPath;
use crate::report::paint::{Line, Role, columns};
use crate::report::places::Names;
use crate::report::summary_counts::{grouped, plural};
use crate::report::{LayerEdit, Report, edit_pattern, fragment, secret_numbers};
use crate::text::Span;

/// The most values in braces.
const MOST_VALUES: usize = 3;
/// The most variants with a line of their own.
const MOST_VARIANTS: usize = 5;
/// How many of them are shown if there are more.
const MOST_EXAMPLES: usize = 2;

impl Draft<'_> {
    /// The change of a group below a path, with all values that several resources have.
    pub(in crate::report) fn group_change(
        &mut self,
        report: &Report,
        group: &Group,
        steps: &[String],
        layout: Layout,
    ) -> Vec<Line> {
        let Some((_, change)) = group.example(&report.resources) else { return Vec::new() };
        match self.form_words(report, group).or_else(|| self.varied(report, group)) {
            Some(varied) => {
                let (symbol, role) = self.change_symbol(change);
                let path = self.path(steps, layout, (&symbol, role));
                self.on_one_line(change, layout, path, varied)
            }
            None => self.change_at(change, steps, layout),
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

    pub(super) fn old_and_new_words(&self, before: &str, after: &str) -> Line {
        let arrow = format!(" {} ", self.symbols.arrow);
        Line::default().with(Role::Removed, before).with(Role::Dim, &arrow).with(Role::Added, after)
    }

    /// The values of a group that are not in its first line, and the resources that override the value.
    pub(in crate::report) fn group_details(&mut self, report: &Report, group: &Group, indent: usize) -> Vec<Line> {
        let (_, mut others) = self.usual(report, group);
        if self.style.is_verbose() && others.len() + 1 < group.variants.len() {
            others = group.variants.iter().collect();
        }
        let mut lines = self.variants(report, &others, indent);
        let spared = report.layer_edits.iter().filter(|edit| is_behind(edit, group, report));
        for edit in spared.filter(|edit| !edit.overridden.is_empty()).collect::<Vec<_>>() {
            let words = self.overridden_text(edit);
            lines.extend(self.phrase(&format!("not affected: {words}"), indent));
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
            let words = short.map_or_else(|| "another value".to_owned(), |short| short.plain());
            lines.extend(self.names_of(report, &variant.resources(), indent, &format!("varies  {words}  ")));
        }
        let more = others.len() - listed;
        if more > 0 {
            let resources: BTreeSet<usize> = others[listed..].iter().flat_map(|variant| variant.resources()).collect();
            let what = format!("{} more values in {}", grouped(more), plural(resources.len(), "resource"));
            lines.extend(self.left_out(&what, indent));
        }
        lines
    }

    /// `because customers/_/metadata.yaml:9`.
    pub(super) fn because(&mut self, words: &str, indent: usize) -> Vec<Line> {
        self.phrase(&format!("because {words}"), indent)
    }

    /// A phrase in the background, over as many lines as it takes.
    pub(super) fn phrase(&self, words: &str, indent: usize) -> Vec<Line> {
        let room = self.style.columns().saturating_sub(indent).max(8);
        let has_long_word = words.split(' ').any(|word| columns(word) * 3 > room * 2);
        let lines = match has_long_word {
            true => Line::default().with(Role::Dim, words).broken(room),
            false => wrapped(words, Role::Dim, room),
        };
        lines.into_iter().map(|line| Line::indented(indent).then(line)).collect()
    }

    /// `4 overridden by customers/{mono, north}/metadata.yaml`.
    pub(in crate::report) fn overridden_text(&mut self, edit: &LayerEdit) -> String {
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
                let most = (!self.style.is_verbose()).then_some(1);
                Names::of_files(files).shortened(LONGEST_LIST, most)
            }
        };
        format!("{} overridden by {by}", grouped(edit.overridden.len()))
    }
}

/// The widest list of files in a phrase.
const LONGEST_LIST: usize = 160;

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
