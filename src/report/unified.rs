//! The report as a unified diff of whole resources, for pagers and tools that know git's format.
//!
//! What is compared are the resources as they are understood, not the files: keys sorted, aliases written out, secrets masked.

use std::io;

use super::lines::{hunk_lines, hunks_of, note};
use super::paint::{Line, Role, Screen};
use super::secret_numbers::SecretNumbers;
use super::style::Style;
use super::summary_counts::{grouped, other_problems, plural};
use super::{Report, TextContent, TextFile, terminal};
use crate::diff::path_text;
use crate::diff::text::hunks;
use crate::diff::{ResourceChange, Status};
use crate::document::write::{to_inline, to_yaml};
use crate::path::RepoPath;
use crate::resource::Resource;
use crate::sanitize;
use crate::value::{Entry, Node, Value};

/// Whole documents are written out twice; larger ones are named, not shown.
const LARGEST: u64 = 500_000;
/// Lines around a change, as git has it.
const CONTEXT: usize = 3;

/// Writes one section for each resource that differs.
pub fn write(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut screen = Screen::new(out, style);
    let mut secret_numbers = SecretNumbers::number_all(report);
    for remark in remarks(report) {
        screen.line(Line::default().with(Role::Dim, &format!("# {remark}")))?;
    }
    let shown = report.resources.iter().filter(|resource| resource.status() < Status::Respelled);
    for resource in shown {
        let lines =
            section(resource, &mut secret_numbers).into_iter().chain(metadata_section(resource, &mut secret_numbers));
        lines.into_iter().try_for_each(|line| screen.exact_line(&line))?;
    }
    for file in &report.text_files {
        text_section(file, style).iter().try_for_each(|line| screen.exact_line(line))?;
    }
    Ok(())
}

/// Writes the documents of the newer side in a normal form: keys sorted, aliases written out, secrets masked.
pub fn write_documents(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let mut secret_numbers = SecretNumbers::number_all(report);
    for (at, resource) in report.resources.iter().filter_map(|resource| resource.after.as_ref()).enumerate() {
        let separator = if at == 0 { "" } else { "---\n" };
        write!(out, "{separator}{}", canonical(&resource.payload, &mut secret_numbers))?;
    }
    Ok(())
}

/// A file that is compared as text, as git shows it; without its lines where they are not to be shown.
fn text_section(file: &TextFile, style: &Style) -> Vec<Line> {
    let heading = |text: String| Line::default().with(Role::Heading, &text);
    let (old, new) = (prefixed("a/", file.renamed_from.as_ref().unwrap_or(&file.path)), prefixed("b/", &file.path));
    let mut lines = vec![heading(format!("diff --git {old} {new}"))];
    if let Some(from) = &file.renamed_from {
        lines.extend([heading(format!("rename from {from}")), heading(format!("rename to {}", file.path))]);
    }
    let hunks = hunks_of(file, style);
    if hunks.is_empty() {
        lines.push(Line::default().with(Role::Dim, &format!("# {}", note(file))));
        return lines;
    }
    let TextContent::Text { before, after } = &file.content else { return lines };
    let side = |text: &Option<String>, name| if text.is_some() { name } else { "/dev/null".to_owned() };
    lines.extend([heading(format!("--- {}", side(before, old))), heading(format!("+++ {}", side(after, new)))]);
    lines.extend(hunks);
    lines
}

/// What a diff has no place for. Tools skip lines before the first section.
fn remarks(report: &Report) -> Vec<String> {
    let first =
        [terminal::incomplete(report), terminal::as_text(report), terminal::others(report)].into_iter().flatten();
    let findings = (!report.findings.is_empty()).then(|| plural(report.findings.len(), "finding"));
    let spelling = report.resources.iter().map(|resource| resource.spellings().count()).sum::<usize>();
    let spelling =
        (spelling > 0).then(|| format!("{} written differently but equal in value", plural(spelling, "number")));
    let findings =
        findings.map(|count| format!("{count}, see the full report")).into_iter().chain(other_problems(report));
    first.chain(findings).chain(spelling).collect()
}

fn section(resource: &ResourceChange, secret_numbers: &mut SecretNumbers) -> Vec<Line> {
    let (before, after) = (resource.before.as_ref(), resource.after.as_ref());
    let Some(side) = after.or(before) else { return Vec::new() };
    let (old, new) = (before.unwrap_or(side), after.unwrap_or(side));
    let heading = |text: String| Line::default().with(Role::Heading, &text);
    let mut lines = vec![heading(format!("diff --git {} {}", prefixed("a/", &old.file), prefixed("b/", &new.file)))];
    if old.file != new.file {
        lines.push(heading(format!("rename from {}", old.file)));
        lines.push(heading(format!("rename to {}", new.file)));
    }
    if let Some(remark) = too_large(&old.payload, &new.payload, &side.identity.to_string()) {
        lines.push(remark);
        return lines;
    }
    let old_text = before.map(|side| canonical(&side.payload, secret_numbers)).unwrap_or_default();
    let new_text = after.map(|side| canonical(&side.payload, secret_numbers)).unwrap_or_default();
    let hunks = hunks(&old_text, &new_text, CONTEXT);
    if hunks.is_empty() {
        let is_moved = old.file != new.file;
        if !is_moved && !resource.metadata.changes.is_empty() && resource.expressions.changes.is_empty() {
            return Vec::new();
        }
        lines.extend(expression_lines(resource));
        return lines;
    }
    let file =
        |side: Option<&Resource>, prefix| side.map_or("/dev/null".to_owned(), |side| prefixed(prefix, &side.file));
    lines.push(heading(format!("--- {}", file(before, "a/"))));
    lines.push(heading(format!("+++ {}", file(after, "b/"))));
    lines.extend(hunks.iter().flat_map(|hunk| hunk_lines(hunk, &side.identity.to_string())));
    lines.extend(expression_lines(resource));
    lines
}

/// Expressions whose text was edited and whose value did not change, as comments: effective payloads do not contain them.
fn expression_lines(resource: &ResourceChange) -> impl Iterator<Item = Line> {
    resource.expressions.changes.iter().map(|change| {
        let shown = |node: &Option<Node>| node.as_ref().map(to_inline).unwrap_or_default();
        let place = path_text::display(&change.path, path_text::EMBEDDED);
        let text = format!("# {place}: {} → {}", shown(&change.before), shown(&change.after));
        Line::default().with(Role::Dim, &sanitize::inline(&text))
    })
}

/// The effective metadata is a separate document without a file; it is named after the file of the resource.
fn metadata_section(resource: &ResourceChange, secret_numbers: &mut SecretNumbers) -> Vec<Line> {
    let (Some(before), Some(after)) = (&resource.before, &resource.after) else { return Vec::new() };
    let Some(documents) = resource.metadata.documents.as_ref().filter(|_| !resource.metadata.changes.is_empty()) else {
        return Vec::new();
    };
    let name = |prefix: &str, side: &Resource| {
        sanitize::quoted_path(&[prefix.as_bytes(), side.file.as_bytes(), b"#metadata"].concat())
    };
    let (old, new) = (name("a/", before), name("b/", after));
    let identity = format!("{} metadata", after.identity);
    let heading = |text: String| Line::default().with(Role::Heading, &text);
    let mut lines = vec![heading(format!("diff --git {old} {new}"))];
    if let Some(remark) = too_large(&documents.before, &documents.after, &identity) {
        lines.push(remark);
        return lines;
    }
    let (old_text, new_text) =
        (canonical(&documents.before, secret_numbers), canonical(&documents.after, secret_numbers));
    lines.push(heading(format!("--- {old}")));
    lines.push(heading(format!("+++ {new}")));
    let hunks = hunks(&old_text, &new_text, CONTEXT);
    lines.extend(hunks.iter().flat_map(|hunk| hunk_lines(hunk, &identity)));
    lines
}

fn too_large(before: &Node, after: &Node, name: &str) -> Option<Line> {
    let size = before.size().max(after.size());
    (size > LARGEST).then(|| {
        let size = grouped(usize::try_from(size).unwrap_or(usize::MAX));
        Line::default().with(Role::Dim, &format!("# {name}: {size} values are too many for this format"))
    })
}

/// A path with git's prefix, quoted as git quotes it.
fn prefixed(prefix: &str, path: &RepoPath) -> String {
    sanitize::quoted_path(&[prefix.as_bytes(), path.as_bytes()].concat())
}

fn canonical(document: &Node, secret_numbers: &mut SecretNumbers) -> String {
    to_yaml(&secret_numbers.masked(&sorted(document)))
}

/// A copy of a value with the keys of every map in order.
fn sorted(node: &Node) -> Node {
    let sorted = match &node.value {
        Value::List(_) => Node::list(node.as_list().unwrap_or_default().iter().map(sorted).collect(), node.span),
        Value::Map(map) => {
            let entry = |entry: &Entry| Entry { key: entry.key.clone(), value: sorted(&entry.value) };
            let mut entries: Vec<Entry> = map.entries().iter().map(entry).collect();
            entries.sort_by(|a, b| (&a.key.name, a.key.kind).cmp(&(&b.key.name, b.key.kind)));
            Node::map(entries, node.span)
        }
        _ => return node.clone(),
    };
    Node { extra: node.extra.clone(), ..sorted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::ChangeKind;
    use crate::report::sample::{both, change, key, kubernetes, list, map, number, report, resource, secret, string};

    fn written(report: &Report) -> String {
        let mut out = Vec::new();
        write(report, &Style::default(), &mut out).expect("writing to memory works");
        String::from_utf8(out).expect("diffs are text")
    }

    #[test]
    fn resources_are_compared_as_they_are_understood() {
        let side = |file: &str, replicas: &str, token: &str| {
            let spec = map([("replicas", number(replicas)), ("args", list([string("a")]))]);
            let payload = map([("spec", spec), ("kind", string("Deployment")), ("token", secret(token))]);
            resource(kubernetes("Deployment", "web"), file, payload)
        };
        let replicas = change(ChangeKind::Value, [key("spec"), key("replicas")], number("2"), number("3"));
        let report = report(vec![both(side("a.yaml", "2", "x"), side("b.yaml", "3", "y"), vec![replicas])]);
        let expected = "\
diff --git a/a.yaml b/b.yaml
rename from a.yaml
rename to b.yaml
--- a/a.yaml
+++ b/b.yaml
@@ -2,5 +2,5 @@ Deployment shop/web
 spec:
   args:
   - a
-  replicas: 2
-token: (sensitive)#1
+  replicas: 3
+token: (sensitive)#2
";
        assert_eq!(written(&report), expected);
    }

    #[test]
    fn what_has_no_place_in_a_diff_is_remarked() {
        let shown = written(&crate::report::sample::rich());
        assert!(shown.starts_with(
            "# incomplete: 1 file could not be compared
# 1 file compared as text: Helm templates (1)
# 2 other files not compared (Markdown 1, pictures 1)
# 3 findings, see the full report
# 1 number written differently but equal in value
diff --git a/customers/acme/resource.yaml b/customers/acme/resource.yaml
"
        ));
        assert!(shown.contains("\n--- /dev/null\n+++ b/apps/web/flags.yaml\n@@ -0,0 +1,36 @@ ConfigMap shop/flags\n"));
    }
}
