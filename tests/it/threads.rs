//! Reports do not depend on how many threads there are, nor on which of them does what.

use crate::program::{outcrop, run};
use crate::repo::TestRepo;

#[test]
fn a_report_of_many_files_is_the_same_on_any_number_of_threads() {
    let repo = TestRepo::new();
    let write = |replicas: usize| {
        for at in 0..300 {
            let name = format!("apps/{}/app-{at}.yaml", at % 7);
            repo.write(&name, format!("name: app-{at}\nreplicas: {}\nnotes: [a, b]\n", replicas + at % 3));
        }
    };
    write(1);
    repo.commit_all("before");
    write(4);
    repo.commit_all("after");
    let on = |threads: &str, words: &[&str]| {
        let mut command = outcrop(&repo, words);
        run(command.env("RAYON_NUM_THREADS", threads).args(["HEAD~1", "HEAD"])).ends_with(0).stdout
    };
    for words in [&["diff"][..], &["diff", "--format", "json"], &["check"]] {
        let alone = on("1", words);
        assert!(alone.contains("300"), "{words:?}: {alone}");
        for threads in ["2", "5"] {
            assert_eq!(on(threads, words), alone, "{words:?} on {threads} threads");
        }
    }
}
