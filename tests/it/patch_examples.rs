//! The examples of `docs/patches.md`: each resource, patched by the file that follows it, is the result that follows that.

use outcrop::document::{self, Format, write};
use outcrop::limits::Limits;
use outcrop::metadata::Layers;
use outcrop::patch::{PatchFiles, PatchSubject, apply_layers};
use outcrop::path::{LogicalPath, RepoPath};
use outcrop::snapshot::MemorySnapshot;
use outcrop::text::{SourceText, Sources};
use outcrop::value::Node;

#[test]
fn examples_of_patches_do_what_the_page_says() {
    let page = include_str!("../../docs/patches.md");
    let (resources, patches, results) = (blocks(page, "resource"), blocks(page, "patches"), blocks(page, "result"));
    assert!(resources.len() >= 3 && resources.len() == patches.len() && patches.len() == results.len());
    for ((resource, patches), result) in resources.iter().zip(&patches).zip(&results) {
        let found = patched(resource, patches);
        let wanted = parse(result, &Sources::default());
        let (is, should) = (write::to_yaml(&found), write::to_yaml(&wanted));
        assert!(found.is_identical(&wanted), "is\n{is}\nbut the page says\n{should}");
    }
}

fn patched(resource: &str, patches: &str) -> Node {
    let file = RepoPath::new("customers/_/patches.yaml").unwrap();
    let snapshot = MemorySnapshot::new("docs").with(file, patches.as_bytes());
    let (sources, limits) = (Sources::default(), Limits::default());
    let layers = Layers::new(&snapshot, RepoPath::root(), &sources, &limits);
    let payload = parse(resource, &sources);
    let (path, nothing) = (LogicalPath::parse("/customers/acme").unwrap(), Node::map(Vec::new(), payload.span));
    let subject = PatchSubject { path: &path, alias: "acme", attributes: &nothing, metadata: &nothing };
    let set = PatchFiles::default().files_for(&path, &layers, &sources, &limits);
    let outcome = apply_layers(&payload, &set, &subject, &limits, &mut |_| {});
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
    outcome.value.payload.expect("no example drops its resource")
}

fn parse(text: &str, sources: &Sources) -> Node {
    let source = sources.add(SourceText::new(RepoPath::root(), "docs", text));
    document::parse(text, source, Format::Yaml, &Limits::default()).value.remove(0).root
}

/// The blocks of a page that are marked `yaml <kind>`.
fn blocks<'p>(page: &'p str, kind: &str) -> Vec<&'p str> {
    let opening = format!("```yaml {kind}\n");
    page.split(opening.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}
