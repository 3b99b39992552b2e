//! Presets of noise: what they hide is counted by preset, listed when asked for, and no difference.

use crate::program::{outcrop, run};
use crate::repo::TestRepo;

fn web(chart: &str, checksum: &str, replicas: u32) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  labels:\n    helm.sh/chart: web-{chart}\nspec:\n  replicas: {replicas}\n  template:\n    metadata:\n      annotations:\n        checksum/config: {checksum}\n"
    )
}

fn repository(before: String, after: String) -> TestRepo {
    let repo = TestRepo::new();
    repo.write("web.yaml", before);
    repo.commit_all("before");
    repo.write("web.yaml", after);
    repo.commit_all("after");
    repo
}

#[test]
fn presets_of_the_configuration_hide_and_count() {
    let repo = repository(web("1.0.0", "aa", 1), web("1.1.0", "bb", 2));
    repo.write("noise.yaml", "ignore:\n  - preset: helm\n  - preset: checksums\n    within: web.yaml\n");
    let ran = run(&mut outcrop(&repo, &["diff", "--config", "noise.yaml", "HEAD~1", "HEAD"])).ends_with(0);
    assert!(ran.stdout.contains(".spec.replicas  1 → 2") && !ran.stdout.contains("helm.sh"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("1 by preset helm\n  1 by preset checksums within web.yaml\n")
            || ran.stdout.contains("1 by preset checksums within web.yaml\n  1 by preset helm\n"),
        "{}",
        ran.stdout
    );
    let listed = run(&mut outcrop(&repo, &["diff", "--config", "noise.yaml", "--show-suppressed", "HEAD~1", "HEAD"]));
    assert!(listed.stdout.contains("web-1.0.0 → web-1.1.0"), "{}", listed.stdout);
}

#[test]
fn neat_uses_every_preset_and_exit_codes_follow() {
    let repo = repository(web("1.0.0", "aa", 1), web("1.1.0", "bb", 1));
    run(&mut outcrop(&repo, &["diff", "--exit-code", "HEAD~1", "HEAD"])).ends_with(1);
    let ran = run(&mut outcrop(&repo, &["diff", "--neat", "--exit-code", "HEAD~1", "HEAD"])).ends_with(0);
    assert!(ran.stdout.contains("Suppressed: 2 changes"), "{}", ran.stdout);
    let json = run(&mut outcrop(&repo, &["diff", "--neat", "--format", "json", "HEAD~1", "HEAD"])).stdout;
    assert!(json.contains("\"rule\":\"preset helm\"") && json.contains("\"rule\":\"preset checksums\""), "{json}");
}

#[test]
fn an_unknown_preset_is_refused() {
    let repo = repository(web("1.0.0", "aa", 1), web("1.1.0", "aa", 1));
    repo.write("noise.yaml", "ignore:\n  - preset: helmet\n");
    let ran = run(&mut outcrop(&repo, &["diff", "--config", "noise.yaml", "HEAD~1", "HEAD"])).ends_with(2);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("one of `helm`, `kubernetes`, `checksums`, `generated`, not `helmet`"), "{said}");
}
