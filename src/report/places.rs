//! Many names in little room, their common parts once: `components/{base, staging/{a, b}}/app.yaml`.

use std::collections::BTreeMap;

use super::paint::columns;
use crate::parallel::{FEW, few_or_many};
use crate::path::RepoPath;
use crate::resource::{Identity, KubernetesName};
use crate::sanitize;

/// A name in parts, each with the separator before it.
pub(super) type Parts = Vec<String>;

/// Names by what they share, ready to be broken into lines.
#[derive(Debug, Default)]
pub(super) struct Names {
    units: Vec<Unit>,
    count: usize,
}

/// The text up to a comma.
#[derive(Debug, Default, Clone)]
struct Unit {
    /// The text in pieces between which a line may be broken if nothing else helps.
    pieces: Vec<String>,
    /// The number of names that end with this unit.
    names: usize,
    /// The braces that are open after it.
    open: usize,
}

/// Names that continue alike, and how they continue.
#[derive(Debug, PartialEq, Eq)]
struct Branch {
    labels: Vec<String>,
    next: Vec<Branch>,
}

/// Labels, and how each of them continues.
type Alternative<'a> = (&'a [String], &'a [Branch]);

impl Branch {
    fn alternatives(&self) -> Vec<Alternative<'_>> {
        if self.next.is_empty() {
            self.labels.chunks(1).map(|label| (label, &[][..])).collect()
        } else {
            vec![(&self.labels, &self.next)]
        }
    }
}

impl Names {
    /// The names of files.
    pub(super) fn of_files<'a>(files: impl IntoIterator<Item = &'a RepoPath>) -> Self {
        Self::of_paths(files.into_iter().map(file_parts).collect())
    }

    /// Paths whose parts may be shared at the start, at the end, and between neighbours.
    pub(super) fn of_paths(names: Vec<Parts>) -> Self {
        Self::factored(names, true)
    }

    /// Parts of paths; several are always in braces.
    pub(super) fn in_braces(names: Vec<Parts>) -> Self {
        Self::factored(names, false)
    }

    fn factored(names: Vec<Parts>, is_list: bool) -> Self {
        let shortest = names.iter().map(Vec::len).min().unwrap_or(0).saturating_sub(1);
        let is_shared = |back: &usize| {
            fn part(name: &Parts, back: usize) -> &str {
                &name[name.len() - 1 - back]
            }
            names.windows(2).all(|pair| part(&pair[0], *back) == part(&pair[1], *back))
        };
        let shared = if names.len() > 1 { (0..shortest).take_while(is_shared).count() } else { 0 };
        let end = names.first().map(|name| name[name.len() - shared..].to_vec()).unwrap_or_default();
        let heads: Vec<&[String]> = names.iter().map(|name| &name[..name.len() - shared]).collect();
        Self::laid_out(&branches(&heads, true), end, names.len(), is_list)
    }

    /// The names of resources; different kinds are listed one after the other.
    pub(super) fn of_resources<'a>(identities: impl IntoIterator<Item = &'a Identity>) -> Self {
        let names: Vec<Parts> = few_or_many(identities.into_iter().collect::<Vec<_>>(), FEW, parts);
        if names.iter().all(|name| name.first().is_some_and(|part| part.starts_with('/'))) {
            return Self::of_paths(names);
        }
        let heads: Vec<&[String]> = names.iter().map(Vec::as_slice).collect();
        Self::laid_out(&branches(&heads, false), Vec::new(), names.len(), true)
    }

    fn laid_out(branches: &[Branch], end: Vec<String>, count: usize, is_list: bool) -> Self {
        let mut names = Self { units: vec![Unit::default()], count };
        names.write(branches, 0, is_list && end.is_empty());
        end.into_iter().for_each(|part| names.push(part));
        if names.units.iter().all(|unit| unit.names == 0) {
            names.credit();
        }
        names
    }

    /// Writes branches; several are put in braces, unless they are all there is.
    fn write(&mut self, branches: &[Branch], open: usize, is_list: bool) {
        let alternatives: Vec<Alternative<'_>> = branches.iter().flat_map(Branch::alternatives).collect();
        if let [only] = alternatives.as_slice() {
            return self.alternative(*only, open, None);
        }
        let is_bare = is_list && open == 0;
        let mut labels = alternatives.iter().flat_map(|(labels, _)| labels.iter());
        let sign = labels.find_map(|label| separator(label)).filter(|_| !is_bare);
        let mut labels = alternatives.iter().flat_map(|(labels, _)| labels.iter());
        let shared = sign.filter(|sign| labels.all(|label| label.is_empty() || label.starts_with(*sign)));
        shared.into_iter().for_each(|sign| self.push(sign.to_string()));
        if !is_bare {
            self.glue("{");
        }
        let inner = open + usize::from(!is_bare);
        for (at, alternative) in alternatives.into_iter().enumerate() {
            if at > 0 {
                self.comma(inner);
            }
            self.alternative(alternative, inner, shared);
            self.credit();
        }
        if !is_bare {
            self.glue("}");
        }
    }

    /// Writes labels that continue alike, and how they continue. A separator that was written before is left out.
    fn alternative(&mut self, (labels, next): Alternative<'_>, open: usize, written: Option<char>) {
        match labels {
            [only] => self.push(bare(only, written)),
            several => {
                let sign = several.first().and_then(|label| separator(label));
                let shared = sign.filter(|sign| several.iter().all(|label| label.starts_with(*sign)));
                let lead = shared.filter(|_| written.is_none());
                self.push(lead.map_or_else(|| "{".to_owned(), |sign| format!("{sign}{{")));
                for (at, label) in several.iter().enumerate() {
                    if at > 0 {
                        self.comma(open + 1);
                    }
                    self.push(bare(label, written.or(shared)));
                }
                self.glue("}");
            }
        }
        if !next.is_empty() {
            self.write(next, open, false);
        }
    }

    fn push(&mut self, piece: String) {
        if let Some(unit) = self.units.last_mut() {
            unit.pieces.push(piece);
        }
    }

    /// Adds a sign to the last piece.
    fn glue(&mut self, sign: &str) {
        match self.units.last_mut().and_then(|unit| unit.pieces.last_mut()) {
            Some(piece) => piece.push_str(sign),
            None => self.push(sign.to_owned()),
        }
    }

    fn comma(&mut self, open: usize) {
        self.glue(",");
        self.units.last_mut().into_iter().for_each(|unit| unit.open = open);
        self.units.push(Unit::default());
    }

    /// Notes that a name ends here.
    fn credit(&mut self) {
        self.units.last_mut().into_iter().for_each(|unit| unit.names += 1);
    }

    /// Everything on one line.
    pub(super) fn text(&self) -> String {
        self.units.iter().map(Unit::text).collect::<Vec<_>>().join(" ")
    }

    /// As many lines as allowed; the last one then counts the names that are missing.
    pub(super) fn lines(&self, room: usize, most: Option<usize>, hint: &str) -> Vec<String> {
        let mut lines = vec![String::new()];
        let mut used = 0;
        for (at, unit) in self.units.iter().enumerate() {
            let (whole, length) = (lines.len(), lines.last().map_or(0, String::len));
            used = unit.add_to(&mut lines, used, room.max(8));
            if most.is_some_and(|most| lines.len() > most) && at > 0 {
                lines.truncate(whole);
                lines.last_mut().into_iter().for_each(|line| line.truncate(length));
                return self.cut(lines, at, room, hint);
            }
        }
        lines
    }

    /// What fits into as many lines as allowed, on one line.
    pub(super) fn shortened(&self, room: usize, most: Option<usize>) -> String {
        let mut text = String::new();
        for line in self.lines(room, most, "") {
            // A long path is broken behind a slash or a brace.
            let gap = if text.ends_with(',') { " " } else { "" };
            text.extend([gap, &line]);
        }
        text
    }

    fn cut(&self, mut lines: Vec<String>, at: usize, room: usize, hint: &str) -> Vec<String> {
        let credited: usize = self.units.iter().map(|unit| unit.names).sum::<usize>().max(1);
        let left: usize = self.units[at..].iter().map(|unit| unit.names).sum();
        let shown = (self.count * (credited - left.min(credited))) / credited;
        let open = at.checked_sub(1).map_or(0, |last| self.units[last].open);
        let more = format!("+{} more{}{hint}", (self.count - shown).max(1), "}".repeat(open));
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(&more) <= room => line.extend([" ", &more]),
            _ => lines.push(more),
        }
        lines
    }
}

/// The sign that a part of a path starts with.
fn separator(label: &str) -> Option<char> {
    label.chars().next().filter(|sign| ['/', '.'].contains(sign) && label.len() > 1)
}

/// A part without its separator; a part that is empty is the directory itself.
fn bare(label: &str, written: Option<char>) -> String {
    match written {
        Some(_) if label.is_empty() => ".".to_owned(),
        Some(sign) => label.strip_prefix(sign).unwrap_or(label).to_owned(),
        None => label.to_owned(),
    }
}

impl Unit {
    fn text(&self) -> String {
        self.pieces.concat()
    }

    /// Writes the unit behind what is there, of which the last line takes `used` columns. Returns how many the last line takes now.
    fn add_to(&self, lines: &mut Vec<String>, used: usize, room: usize) -> usize {
        let text = self.text();
        let width = columns(&text);
        let Some(line) = lines.last_mut() else { return used };
        let gap = usize::from(!line.is_empty());
        if used + gap + width <= room {
            line.push_str(&" ".repeat(gap));
            line.push_str(&text);
            return used + gap + width;
        }
        if width <= room {
            match line.is_empty() {
                true => line.push_str(&text),
                false => lines.push(text),
            }
            return width;
        }
        if !line.is_empty() {
            lines.push(String::new());
        }
        for piece in &self.pieces {
            match lines.last_mut() {
                Some(line) if line.is_empty() || columns(line) + columns(piece) <= room => line.push_str(piece),
                // A slash stays with the directory before it.
                Some(line) if piece.starts_with('/') && columns(line) < room => {
                    line.push('/');
                    lines.push(piece[1..].to_owned());
                }
                _ => lines.push(piece.clone()),
            }
        }
        lines.last().map_or(0, |line| columns(line))
    }
}

fn branches(names: &[&[String]], merges: bool) -> Vec<Branch> {
    let mut order: Vec<&str> = Vec::new();
    let mut tails: BTreeMap<&str, Vec<&[String]>> = BTreeMap::new();
    for name in names {
        let (first, tail) = match name.split_first() {
            Some((first, tail)) => (first.as_str(), tail),
            None => ("", &[][..]),
        };
        tails.entry(first).or_insert_with(|| {
            order.push(first);
            Vec::new()
        });
        if let Some(known) = tails.get_mut(first) {
            known.push(tail);
        }
    }
    let mut found: Vec<Branch> = Vec::new();
    for label in order {
        let tails = tails.remove(label).unwrap_or_default();
        let next = if tails.iter().all(|tail| tail.is_empty()) {
            Vec::new()
        } else {
            branches(&tails, merges || !label.is_empty())
        };
        match found.iter_mut().find(|known| known.next == next && (merges || next.is_empty())) {
            Some(known) => known.labels.push(label.to_owned()),
            None => found.push(Branch { labels: vec![label.to_owned()], next }),
        }
    }
    found
}

fn parts(identity: &Identity) -> Parts {
    match identity {
        Identity::Logical(path) if path.is_root() => vec![path.to_string()],
        Identity::Logical(path) => path.segments().map(|segment| format!("/{}", sanitize::inline(segment))).collect(),
        Identity::Kubernetes(name) => kubernetes_parts(name),
        Identity::File { path, position: None } => file_parts(path),
        Identity::File { .. } => vec![identity.to_string()],
    }
}

fn kubernetes_parts(name: &KubernetesName) -> Parts {
    let whole = name.to_string();
    let own = sanitize::inline(&name.name).into_owned();
    match whole.strip_suffix(own.as_str()) {
        Some(start) => vec![start.to_owned(), own],
        None => vec![whole],
    }
}

/// Up to so many names, and how many others there are.
pub(super) fn shortened(names: &[&str], most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let mut words = names[..names.len() - more].join(", ");
    if more > 0 {
        words.push_str(&format!(", +{more} more"));
    }
    words
}

/// A file in its directories; a quoted name is not split.
pub(super) fn file_parts(path: &RepoPath) -> Parts {
    let whole = path.to_string();
    if whole.starts_with('"') { vec![whole] } else { text_parts(&whole) }
}

/// A path in its directories.
pub(super) fn text_parts(path: &str) -> Parts {
    path.split('/').enumerate().map(|(at, part)| if at == 0 { part.to_owned() } else { format!("/{part}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::LogicalPath;
    use crate::report::sample::{kubernetes, path};
    use proptest::prelude::*;

    fn files(names: &[&str]) -> String {
        let files: Vec<RepoPath> = names.iter().map(|name| path(name)).collect();
        Names::of_files(&files).text()
    }

    #[test]
    fn what_names_share_is_said_once() {
        assert_eq!(files(&["a/x.yaml"]), "a/x.yaml");
        assert_eq!(files(&["a/x.yaml", "b/x.yaml"]), "{a, b}/x.yaml");
        assert_eq!(files(&["c/a/x.yaml", "c/b/x.yaml"]), "c/{a, b}/x.yaml");
        assert_eq!(
            files(&["c/dev/x.yaml", "c/staging/base/x.yaml", "c/staging/p01/x.yaml"]),
            "c/{dev, staging/{base, p01}}/x.yaml"
        );
        assert_eq!(files(&["c/x.yaml", "c/b/x.yaml"]), "c/{., b}/x.yaml");
        assert_eq!(files(&["c/a.yaml", "c/b.yaml"]), "c/{a.yaml, b.yaml}");
        assert_eq!(files(&["a/x/1", "a/x/2", "b/x/1", "b/x/2"]), "{a, b}/x/{1, 2}");
        assert_eq!(files(&[]), "");
    }

    #[test]
    fn kinds_are_listed_one_after_the_other() {
        let names = [kubernetes("Deployment", "api"), kubernetes("Deployment", "web"), kubernetes("Service", "web")];
        assert_eq!(Names::of_resources(&names).text(), "Deployment shop/{api, web}, Service shop/web");
        let logical: Vec<Identity> =
            ["/c/a", "/c/b"].map(|path| Identity::Logical(LogicalPath::parse(path).expect("a path"))).into();
        assert_eq!(Names::of_resources(&logical).text(), "/c/{a, b}");
    }

    #[test]
    fn a_path_broken_behind_a_slash_is_put_together_again() {
        let files: Vec<RepoPath> = ["service/development/configuration.yaml", "service/staging/configuration.yaml"]
            .map(|path| RepoPath::new(path).expect("a path"))
            .into();
        let names = Names::of_files(&files);
        assert_eq!(names.shortened(20, None), "service/{development, staging}/configuration.yaml");
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let many: Vec<RepoPath> = (0..37).map(|at| path(&format!("customers/c{at:02}"))).collect();
        let names = Names::of_files(&many);
        assert_eq!(
            names.lines(40, Some(2), " (-v)"),
            ["customers/{c00, c01, c02, c03, c04, c05,", "c06, c07, c08, c09, c10, c11, c12, c13,", "+23 more} (-v)"]
        );
        assert!(names.shortened(40, None).ends_with("c36}"));
    }

    /// Every name that braces stand for.
    fn expanded(text: &str) -> Vec<String> {
        let Some(open) = text.find('{') else { return vec![text.to_owned()] };
        let (mut depth, mut parts, mut from) = (0, Vec::new(), open + 1);
        for (at, c) in text.char_indices().skip(open) {
            match c {
                '{' => depth += 1,
                '}' if depth == 1 => {
                    parts.push(&text[from..at]);
                    let rest = &text[at + 1..];
                    let all = parts.iter().flat_map(|part| expanded(&format!("{}{part}{rest}", &text[..open])));
                    return all.collect();
                }
                '}' => depth -= 1,
                ',' if depth == 1 => {
                    parts.push(&text[from..at]);
                    from = at + 2;
                }
                _ => {}
            }
        }
        vec![text.to_owned()]
    }

    proptest! {
        #[test]
        fn no_name_is_lost(names in prop::collection::btree_set("[abc]/[abc](/[abc])?(/[abc])?/x", 1..14)) {
            let files: Vec<RepoPath> = names.iter().map(|name| path(name)).collect();
            let text = Names::of_files(&files).text();
            let mut shown: Vec<String> = expanded(&text).into_iter().map(|name| name.replace("/./", "/")).collect();
            shown.sort();
            let mut names: Vec<String> = names.into_iter().collect();
            names.sort();
            prop_assert_eq!(shown, names, "{}", text);
        }
    }
}
