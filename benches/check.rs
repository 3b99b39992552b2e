//! Checks of many affected resources with three assertions and a schema each: `cargo bench --bench check`.
//!
//! `OUTCROP_BENCH_RESOURCES` sets the number of resources (50,000 by default). The time for each resource must not grow with their
//! number, and all cores must be faster than one. Templates, programs and patterns are compiled once: without assertions and schema the
//! same check is measured too, and what they add for each resource is less than compiling them would take.

#![allow(clippy::disallowed_methods, reason = "measuring needs the machine")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use outcrop::comparison::{Comparison, Judged, Options};
use outcrop::expression::jq::Program;
use outcrop::limits::{Budget, Limits};
use outcrop::path::RepoPath;
use outcrop::settings::{Configuration, Policy};
use outcrop::snapshot::MemorySnapshot;
use outcrop::text::Sources;

const CONFIGURATION: &str = "openapi: openapi.yaml\nlimits: {run_bytes: 100 GiB, entries: 100000000, request_steps: 100000000000, \
     run_nodes: 100000000000, run_steps: 100000000000, changes: 100000000000, memory_bytes: 0, seconds: 0}\n";
const ASSERTIONS: [&str; 3] = [
    ".seats > 0 and .seats < 100000",
    "[.tags[] | select(startswith(\"x-\"))] | length == 0",
    "(.name | test(\"^[a-z0-9-]+$\")) and (.contacts | map(.mail) | unique | length) == (.contacts | length)",
];
const OPENAPI: &str = "openapi: 3.0.3\npaths:\n  /api/customers:\n    post:\n      requestBody:\n        content:\n          application/json:\n            \
    schema: {$ref: '#/components/schemas/Customer'}\n      responses: {}\ncomponents:\n  schemas:\n    Customer:\n      type: object\n      required: \
    [name, seats]\n      properties:\n        name: {type: string, pattern: '^[a-z][a-z0-9-]{2,40}$'}\n        seats: {type: integer, minimum: \
    1}\n        tags: {type: array, items: {type: string, pattern: '^[a-z]+$'}}\n        contacts: {type: array, items: {type: object, required: [mail], \
    properties: {mail: {type: string, pattern: '^[^@]+@[a-z.]+$'}}}}\n";

fn main() {
    let most: usize =
        std::env::var("OUTCROP_BENCH_RESOURCES").ok().and_then(|text| text.parse().ok()).unwrap_or(50_000);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let quarter = most / 4;
    let (one_quarter, all) = (check(quarter, true, cores), check(most, true, cores));
    let ratio = per_resource(all, most) / per_resource(one_quarter, quarter);
    say(
        "time per resource, all / a quarter of them",
        ratio,
        1.4,
        &format!("{all:?} for {most} resources on {cores} threads"),
    );
    if cores > 1 {
        let single = check(most, true, 1);
        say(
            "all threads / one thread",
            all.as_secs_f64() / single.as_secs_f64(),
            0.8,
            &format!("{single:?} on one thread"),
        );
    }
    let plain = check(most, false, cores);
    let added = (all.saturating_sub(plain)).as_secs_f64() / most as f64;
    let compiling = compile();
    let note = format!("{:.1} µs added for each resource, {:.1} µs to compile", added * 1e6, compiling * 1e6);
    say("rules of a resource / compiling them once", added / compiling, 1.0, &note);
}

fn per_resource(time: Duration, resources: usize) -> f64 {
    time.as_secs_f64() / resources as f64
}

/// Checks a change of a layer that applies to all resources.
fn check(resources: usize, has_rules: bool, threads: usize) -> Duration {
    let (before, after) =
        (snapshot(resources, has_rules, "/api/customers/"), snapshot(resources, has_rules, "/api/customers"));
    let sources = Arc::new(Sources::default());
    let configuration = Configuration::read(&before, &after, Policy::Head, &sources);
    let limits = Limits { run_bytes: u64::MAX, entries: u64::MAX, ..configuration.limits().clone() };
    let options = Options { budget: Budget { limits, ..Budget::default() }, ..Options::default() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
    let start = Instant::now();
    let comparison = Comparison::new(&before, &after, &configuration, &sources, options);
    let report = pool.install(|| comparison.check(Judged::New));
    let time = start.elapsed();
    assert!(report.findings.is_empty(), "{:?}", report.findings.first());
    assert_eq!(
        report.compared.resources,
        resources + 2,
        "every resource is checked, the layer, and the OpenAPI document"
    );
    time
}

fn snapshot(resources: usize, has_rules: bool, collection: &str) -> MemorySnapshot {
    let put = |snapshot: MemorySnapshot, path: &str, text: &str| {
        snapshot.with(RepoPath::new(path).expect("a path"), text.as_bytes().to_vec())
    };
    let assertions: String = ASSERTIONS.iter().map(|jq| format!("      - jq: '{jq}'\n")).collect();
    let rules = format!("    validate:\n      assertions:\n{assertions}      schemaRef: openapi:request-body\n");
    let rules = if has_rules { rules } else { String::new() };
    let metadata = format!(
        "resourceInfo:\n  collectionPath: {collection}\noperationInfo:\n  createResource:\n    httpMethod: POST\n{rules}"
    );
    let mut snapshot = MemorySnapshot::new("x").with_ids();
    snapshot = put(snapshot, "outcrop.yaml", CONFIGURATION);
    snapshot = put(snapshot, "openapi.yaml", OPENAPI);
    snapshot = put(snapshot, "customers/_/metadata.yaml", &metadata);
    for at in 0..resources {
        let text = format!(
            "name: customer-{at}\nseats: {}\ntags: [gold, eu, trial]\ncontacts:\n- {{mail: a{at}@example.com}}\n- {{mail: \
             b{at}@example.com}}\n",
            at % 900 + 1
        );
        snapshot = put(snapshot, &format!("customers/c{at}/resource.yaml"), &text);
    }
    snapshot
}

/// Seconds to compile the programs of the three assertions.
fn compile() -> f64 {
    const ROUNDS: u32 = 50;
    let start = Instant::now();
    for _ in 0..ROUNDS {
        for jq in ASSERTIONS {
            Program::compile(jq).expect("it is sound");
        }
    }
    start.elapsed().as_secs_f64() / f64::from(ROUNDS)
}

#[expect(clippy::print_stdout, reason = "a benchmark says what it measures")]
fn say(what: &str, ratio: f64, most: f64, note: &str) {
    let word = if ratio <= most { "ok" } else { "TOO SLOW" };
    println!("{what}: {ratio:.2} (at most {most:.1}) {word}; {note}");
}
