//! The part of `docs/metadata.md` that lists the fields; made from the table of fields.

use std::fmt::Write as _;

use super::field::{DocumentForm, FIELDS, FieldForm, FieldHome, FieldRow, MergeMode, Operation, Section};

/// The tables, as Markdown.
pub fn reference() -> String {
    let mut text = String::new();
    let homes = [
        (FieldHome::Resource, "In `resourceInfo`"),
        (FieldHome::Operation, "In each operation"),
        (FieldHome::Transform, "In each operation and in `operationInfo.defaults`"),
    ];
    for (home, heading) in homes {
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "### {heading}\n\n| field | takes | weaker layers | default | other names |\n|---|---|---|---|---|\n"
        );
        for row in FIELDS.iter().filter(|row| row.home == home) {
            let name = format!("`{}`<br>{}", row.wire, row.about);
            let _ = writeln!(
                text,
                "| {name} | {} | {} | {} | {} |",
                takes(row.form),
                weaker(row),
                default(row),
                older(row)
            );
        }
        text.push('\n');
    }
    let operations: Vec<String> =
        Operation::ALL.iter().map(|operation| format!("`{}` (`{}`)", operation.wire(), operation.name())).collect();
    let _ = writeln!(text, "Operations, with their older names: {}.", operations.join(", "));
    text
}

fn takes(form: FieldForm) -> &'static str {
    match form {
        FieldForm::Text => "a text",
        FieldForm::Names => "a list of texts, or one text",
        FieldForm::Texts => "a map of texts",
        FieldForm::Headers => "a list of `{name, value}`",
        FieldForm::Any => "anything",
        FieldForm::Assertions => "a list of `{message, jq}`",
        FieldForm::Identity => "an attribute, or a template of attributes",
        FieldForm::Flag => "`true` or `false`",
        FieldForm::Format => "the name of a format",
        FieldForm::Externalized => "a list of `{path, file}`",
        FieldForm::Steps => "a list of steps",
        FieldForm::DefaultsMode => "`inherit`, `ignore` or `replace`",
        FieldForm::DefaultValue => "a map, or an include",
        FieldForm::DefaultProfiles => "a map of names to maps or includes",
    }
}

fn weaker(row: &FieldRow) -> &'static str {
    match row.merge {
        MergeMode::Replace => "replaced",
        MergeMode::PerKey => "kept, key by key",
        MergeMode::Deep => "kept, at every depth of maps",
    }
}

/// The default, and by operation where they differ.
fn default(row: &FieldRow) -> String {
    let mut defaults: Vec<(String, Vec<&str>)> = Vec::new();
    for operation in Operation::ALL {
        let Some(value) = (row.default)(operation).to_yaml() else { continue };
        match defaults.iter_mut().find(|(known, _)| *known == value) {
            Some((_, operations)) => operations.push(operation.name()),
            None => defaults.push((value, vec![operation.name()])),
        }
    }
    let shown = |(value, operations): &(String, Vec<&str>)| match defaults.len() {
        1 => format!("`{value}`"),
        _ => format!("`{value}` ({})", operations.join(", ")),
    };
    defaults.iter().map(shown).collect::<Vec<_>>().join("<br>")
}

fn older(row: &FieldRow) -> String {
    let newer = row.newer.iter().filter(|name| !row.aliases.contains(name));
    let mut names: Vec<String> = newer.chain(row.aliases).map(|alias| format!("`{alias}`")).collect();
    let compare = Section::Operation(Operation::Compare);
    if row.home == FieldHome::Transform {
        names.push(format!("in `compareResources` it is `{}`", row.place(compare)));
        let only_there =
            row.places(compare, DocumentForm::Old).into_iter().filter(|place| *place == "ignoreAttributes");
        names.extend(only_there.map(|place| format!("or `{place}`")));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_lists_the_fields_as_they_are() {
        let page = include_str!("../../docs/metadata.md");
        let (_, rest) = page.split_once("<!-- fields -->\n").expect("the page has a mark where the fields start");
        let (fields, _) = rest.split_once("<!-- end of fields -->").expect("and one where they end");
        assert_eq!(fields.trim(), reference().trim(), "put this between the marks:\n\n{}", reference());
    }
}
