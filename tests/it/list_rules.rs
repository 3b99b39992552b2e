//! A list rule that cannot be used is never passed over in silence.

use crate::program::{outcrop, run};
use crate::repo::TestRepo;

fn repository(rule: &str) -> TestRepo {
    let repo = TestRepo::new();
    repo.write("outcrop.yaml", rule);
    repo.write("a.yaml", "routes:\n- {id: 1, to: x}\n- {id: 2, to: y}\n");
    repo.write("b.yaml", "routes:\n- {id: 1, to: x}\n- {id: 1, to: y}\n");
    repo.commit_all("one");
    repo.write("a.yaml", "routes:\n- {id: 1, to: x}\n- {to: z}\n");
    repo.write("b.yaml", "routes:\n- {id: 1, to: x}\n- {id: 1, to: z}\n");
    repo.commit_all("two");
    repo
}

#[test]
fn keys_that_items_share_or_lack_are_reported_once_for_all_lists() {
    let repo = repository("lists:\n- {pointer: /routes, keys: [id]}\n");
    let ran = run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(0);
    ran.says("config/list-keys")
        .says("the items of .routes in a.yaml are not identified by `id`, which one of them lacks")
        .says("2 lists are compared by content; give other keys for `/routes`")
        .says("1 warning in 1 file");
    let ran = run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD", "--", "b.yaml"])).ends_with(0);
    ran.says("which two of them share").says("first here");
}

#[test]
fn keys_that_do_are_not_spoken_of() {
    let repo = repository("lists:\n- {pointer: /routes, keys: [id, to]}\n");
    run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(0).does_not_say("config/list-keys");
    let repo = repository("lists:\n- {pointer: /routes, keys: [id]}\nrules: {config/list-keys: off}\n");
    run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(0).does_not_say("config/list-keys");
}

#[test]
fn the_snippet_shows_no_secrets() {
    let repo = TestRepo::new();
    repo.write("outcrop.yaml", "lists:\n- {pointer: /users, keys: [id]}\n");
    repo.write("_/metadata.yaml", "resourceInfo: {secretInAttributes: [password]}\n");
    repo.write("a/resource.yaml", "users:\n- {id: 1, password: hunter1}\n");
    repo.commit_all("one");
    repo.write("a/resource.yaml", "users:\n- {password: hunter2}\n");
    repo.commit_all("two");
    run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(0).says("config/list-keys").does_not_say("hunter");
}
