//! The pages of rules in `docs/rules/` say what the table of rules and the fixtures say. `OUTCROP_WRITE=1` writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use outcrop::finding::{RULES, Rule};

use crate::program::{self, outcrop, run};
use crate::repo::TestRepo;
use crate::rule_fixtures::folder;

#[test]
fn the_pages_of_rules_are_those_of_the_table() {
    let mut pages: BTreeMap<&str, String> = BTreeMap::new();
    for rule in RULES.iter() {
        let area = rule.id.split('/').next().unwrap_or_default();
        pages.entry(area).or_insert_with(|| format!("# Rules: {area}\n")).push_str(&section(rule));
    }
    let folder = program::project().join("docs/rules");
    for (area, page) in &pages {
        let file = folder.join(format!("{area}.md"));
        if std::env::var_os("OUTCROP_WRITE").is_some() {
            fs::create_dir_all(&folder).expect("directories can be made");
            fs::write(&file, page).expect("the page can be written");
        }
        let written = fs::read_to_string(&file).unwrap_or_default();
        assert!(written == *page, "{} is out of date: OUTCROP_WRITE=1 cargo test --test it rule_pages", file.display());
    }
    let files = fs::read_dir(&folder).expect("the folder is there").map(|file| file.unwrap().file_name());
    let files: BTreeSet<String> = files.map(|file| file.to_string_lossy().into_owned()).collect();
    assert_eq!(files, pages.keys().map(|area| format!("{area}.md")).collect());
}

#[test]
fn the_program_prints_the_section_of_a_rule() {
    let repo = TestRepo::new();
    for rule in RULES.iter() {
        let ran = run(&mut outcrop(&repo, &["rules", rule.id])).ends_with(0);
        let expected = section(rule);
        assert_eq!(ran.stdout.trim(), expected.trim().trim_start_matches("## "), "{}", rule.id);
    }
}

fn section(rule: &Rule) -> String {
    let mut text = format!("\n## {}\n\n{}.\n\n", rule.id, sentence(rule.summary));
    let _ = writeln!(text, "Severity: {}. Kind: {}.\n", rule.severity.name(), rule.kind.name());
    let _ = writeln!(text, "### Why\n\n{}\n", rule.explanation);
    if let Some(link) = rule.link {
        let _ = writeln!(text, "See <{link}>.\n");
    }
    let (fires, silent) = (folder(rule.id).join("fires"), folder(rule.id).join("silent"));
    let (bad, good) = (files(&fires.join("after")), files(&silent.join("after")));
    let old = files(&fires.join("before"));
    let changed: BTreeMap<_, _> = bad.iter().filter(|(name, text)| old.get(*name) != Some(text)).collect();
    let removed = old.keys().filter(|name| !bad.contains_key(*name));
    if !bad.is_empty() {
        text.push_str("### Example\n\n");
        changed.iter().for_each(|(name, content)| text.push_str(&block(name, content)));
        removed.for_each(|name| text.push_str(&format!("`{name}` is removed.\n\n")));
        let better: Vec<_> = good.iter().filter(|(name, text)| bad.get(*name) != Some(text)).collect();
        text.push_str("### Instead\n\n");
        better.iter().for_each(|(name, content)| text.push_str(&block(name, content)));
        let gone = bad.keys().filter(|name| !good.contains_key(*name));
        gone.for_each(|name| text.push_str(&format!("Without `{name}`.\n\n")));
        if better.is_empty() && good.len() == bad.len() {
            text.push_str("Make the other changes in a commit of their own.\n\n");
        }
    }
    text.push_str(&silencing(rule));
    text
}

fn silencing(rule: &Rule) -> String {
    let id = rule.id;
    format!(
        "### How to silence\n\nFor one place, `# outcrop-allow {id}: reason` on its line or the line above. Until a day, a waiver in \
         `outcrop.yaml`:\n\n```yaml\nwaivers:\n- rule: {id}\n  within: legacy/**\n  reason: why it is accepted\n  expires: \
         2027-06-30\n```\n\nEverywhere, `rules: {{{id}: off}}` in `outcrop.yaml`.\n"
    )
}

fn sentence(summary: &str) -> String {
    let mut letters = summary.chars();
    letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str()).unwrap_or_default()
}

fn block(name: &str, content: &str) -> String {
    let language = if name.ends_with(".json") { "json" } else { "yaml" };
    format!("`{name}`:\n\n```{language}\n{}\n```\n\n", content.trim_end())
}

/// The files below a folder with their texts; links and long files are only described.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    gather(folder, folder, &mut found);
    found
}

fn gather(top: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
    let Ok(members) = fs::read_dir(folder) else { return };
    for path in members.map(|member| member.expect("it can be listed").path()) {
        let name = path.strip_prefix(top).expect("it is below").to_string_lossy().into_owned();
        if path.is_symlink() {
            let target = fs::read_link(&path).expect("it is a link");
            found.insert(name, format!("# a link to {}", target.display()));
        } else if path.is_dir() {
            gather(top, &path, found);
        } else {
            let bytes = fs::read(&path).expect("it can be read");
            found.insert(name, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}
