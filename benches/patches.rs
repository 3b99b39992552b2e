//! Patching many resources, as ratios of one run: `cargo bench --bench patches`.
//!
//! `OUTCROP_BENCH_RESOURCES` sets the number of resources (10,000 by default). Each is patched by 20 operations with filters and
//! expressions from one file, so paths and programs are compiled once. Twice the resources must take about twice the time.

#![allow(clippy::disallowed_methods, reason = "measuring needs the machine")]

use std::io::Write as _;
use std::time::{Duration, Instant};

use outcrop::document::{self, Format};
use outcrop::limits::Limits;
use outcrop::metadata::Layers;
use outcrop::patch::{PatchFiles, PatchSubject, apply_layers};
use outcrop::path::{LogicalPath, RepoPath};
use outcrop::snapshot::MemorySnapshot;
use outcrop::text::{SourceText, Sources};
use outcrop::value::Node;

const ROUNDS: usize = 5;

fn main() {
    let resources: usize =
        std::env::var("OUTCROP_BENCH_RESOURCES").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000);
    for (name, operations) in [("filters only", operations(false)), ("filters and expressions", operations(true))] {
        let snapshot = MemorySnapshot::new("bench")
            .with(RepoPath::new("apps/_/patches.yaml").expect("a path"), operations.as_bytes());
        let (sources, limits) = (Sources::default(), Limits::default());
        let payloads: Vec<Node> = (0..resources).map(|at| payload(at, &sources, &limits)).collect();
        let time = |count: usize| {
            let mut times: Vec<Duration> =
                (0..ROUNDS).map(|_| patch_all(&snapshot, &payloads[..count], &sources, &limits)).collect();
            times.sort();
            times[ROUNDS / 2]
        };
        time(resources / 10);
        let (half, all) = (time(resources / 2), time(resources));
        let ratio = all.as_secs_f64() / half.as_secs_f64();
        let mark = if ratio <= 2.4 { "ok" } else { "NOT LINEAR" };
        let each = all.as_secs_f64() * 1e6 / resources as f64;
        say(&format!(
            "{resources} resources × 20 operations, {name}: {:.1} ms, {each:.1} µs each; twice the resources take {ratio:.2} \
             times as long (allowed 2.4) {mark}",
            all.as_secs_f64() * 1e3
        ));
    }
}

/// Everything from nothing: the patch file is read and compiled, and every resource patched.
fn patch_all(snapshot: &MemorySnapshot, payloads: &[Node], sources: &Sources, limits: &Limits) -> Duration {
    let start = Instant::now();
    let layers = Layers::new(snapshot, RepoPath::root(), sources, limits);
    let files = PatchFiles::default();
    for (at, payload) in payloads.iter().enumerate() {
        let alias = format!("app-{at}");
        let path = LogicalPath::parse(&format!("/apps/{alias}")).expect("a logical path");
        let nothing = Node::map(Vec::new(), payload.span);
        let subject = PatchSubject { path: &path, alias: &alias, attributes: &nothing, metadata: &nothing };
        let set = files.files_for(&path, &layers, sources, limits);
        let outcome = apply_layers(payload, &set, &subject, limits, &mut |_| {});
        assert!(outcome.value.is_complete && outcome.findings.is_empty(), "{:?}", outcome.findings);
    }
    start.elapsed()
}

fn payload(at: usize, sources: &Sources, limits: &Limits) -> Node {
    let containers: Vec<String> = (0..6)
        .map(|number| {
            format!(
                "{{name: c{number}, image: 'shop/c{number}:{at}', env: [{{name: A, value: '1'}}], ports: [80, 443]}}"
            )
        })
        .collect();
    let text = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: app-{at}, labels: {{team: t{}}}}}\nspec: {{replicas: {}, \
         template: {{spec: {{containers: [{}]}}}}}}\n",
        at % 7,
        at % 5 + 1,
        containers.join(", ")
    );
    let source = sources.add(SourceText::new(RepoPath::root(), "bench", text.as_str()));
    document::parse(&text, source, Format::Yaml, limits).value.remove(0).root
}

fn operations(has_expressions: bool) -> String {
    let value = |plain: &str, expression: &str| if has_expressions { expression.to_owned() } else { plain.to_owned() };
    let mut text = "- target: {kind: Deployment, group: apps}\n  operations:\n".to_owned();
    for number in 0..20 {
        let container = format!("/spec/template/spec/containers[?(@.name=='c{}')]", number % 6);
        text.push_str(&match number % 4 {
            0 => format!(
                "  - {{op: add, path: \"{container}/env/-\", value: {{name: V{number}, value: \"{}\"}}}}\n",
                value("v", "${resource.metadata.name}")
            ),
            1 => format!(
                "  - {{op: replace, path: \"{container}/image\", value: \"{}\"}}\n",
                value("other", "${resource.metadata.name + ':' + string(resource.spec.replicas)}")
            ),
            2 => format!(
                "  - {{op: mergeShallow, path: /metadata/annotations, value: {{k{number}: \"{}\"}}}}\n",
                value("x", "${path.alias}")
            ),
            _ => format!(
                "  - {{op: add, path: /metadata/labels/l{number}, value: \"{}\"}}\n",
                value("x", "${resource.spec.replicas > 2}")
            ),
        });
    }
    text
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("standard output is open");
}
