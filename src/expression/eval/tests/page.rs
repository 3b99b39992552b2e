//! Every example of `docs/expressions.md`.

use std::path::Path;

use crate::document::{self, Format, write::to_inline};
use crate::expression::eval::{Form, MemoryTree, Question, Tree, evaluate};
use crate::limits::Limits;
use crate::path::{LogicalPath, RepoPath};
use crate::text::{SourceText, Sources};
use crate::value::Node;

#[test]
fn the_examples_of_the_page_hold() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/expressions.md");
    let page = std::fs::read_to_string(page).unwrap();
    let sources = Sources::default();
    let tree = tree_of(&page, &sources);
    let (mut checked, mut form) = (0, Form::All);
    for line in page.lines() {
        match line.split('|').map(str::trim).collect::<Vec<_>>()[..] {
            ["", "path", ..] => form = Form::All,
            ["", "expression", ..] => form = Form::One,
            ["", expression, expected, ..] if expression.starts_with('`') => {
                let (expression, expected) = (expression.trim_matches('`'), expected.trim_matches('`'));
                let text = if form == Form::All { format!("'{expression}'") } else { expression.to_owned() };
                assert_eq!(answer(&text, form, &tree, &sources), expected, "{expression}");
                checked += 1;
            }
            _ => {}
        }
    }
    assert!(checked > 60, "only {checked} examples were found");
}

fn answer(expression: &str, form: Form, tree: &MemoryTree, sources: &Sources) -> String {
    let current = tree.by_path("/shop/web").unwrap();
    let limits = Limits::default();
    let question = Question { current, tree, vars: &[], form, tracing: false, limits: &limits };
    let answer = evaluate(&parse(expression, sources), &question);
    match answer.value {
        Some(value) => to_inline(&value),
        None => answer.findings.iter().map(|finding| finding.message.clone()).collect(),
    }
}

/// The tree is the block that starts with a path.
fn tree_of(page: &str, sources: &Sources) -> MemoryTree {
    let start = page.find("```yaml\n/").expect("the page shows a tree") + "```yaml\n".len();
    let end = start + page[start..].find("```").expect("the block ends");
    let mut tree = MemoryTree::default();
    for entry in parse(&page[start..end], sources).as_map().unwrap().entries() {
        tree = tree.with(&LogicalPath::parse(&entry.key.name).unwrap(), entry.value.clone());
    }
    tree
}

fn parse(text: &str, sources: &Sources) -> Node {
    let source = sources.add(SourceText::new(RepoPath::root(), "", text));
    let mut parsed = document::parse(text, source, Format::Yaml, &Limits::default());
    assert!(parsed.findings.is_empty(), "{text}: {:?}", parsed.findings);
    parsed.value.remove(0).root
}
