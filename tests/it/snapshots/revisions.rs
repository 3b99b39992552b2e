//! Revision arguments, read as `git diff` reads them.

use super::*;

/// Two branches, tags of both kinds, an upstream, and some history.
fn history() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\n");
    repo.commit_all("first commit");
    repo.git(&["tag", "light"]);
    repo.write("a.yaml", "a: 2\n");
    repo.commit_all("second commit");
    repo.git(&["tag", "-a", "v1.0", "-m", "release"]);
    repo.git(&["switch", "-q", "-c", "feature/one"]);
    repo.write("b.yaml", "b: 1\n");
    repo.commit_all("on the branch");
    repo.git(&["switch", "-q", "main"]);
    repo.write("c.yaml", "c: 1\n");
    repo.commit_all("on main");
    repo.git(&["branch", "-q", "--set-upstream-to=feature/one"]);
    repo
}

#[test]
fn a_revision_means_what_it_means_to_git() {
    let repo = history();
    let repository = repo.open();
    let head = repo.git(&["rev-parse", "HEAD"]);
    let tree_id = repo.git(&["rev-parse", "HEAD^{tree}"]);
    let words = [
        "HEAD",
        "@",
        "main",
        "heads/main",
        "refs/heads/main",
        "feature/one",
        "light",
        "v1.0",
        "v1.0^{}",
        "v1.0^{commit}",
        "HEAD~1",
        "HEAD^",
        "HEAD^1",
        "HEAD~2",
        "main~1^0",
        "HEAD^{tree}",
        "HEAD~1^{tree}",
        "@{u}",
        "main@{upstream}",
        "HEAD@{0}",
        "@{0}",
        "HEAD@{1}",
        "@{-1}",
        ":/first",
        "HEAD^{/second}",
        &head,
        &head[..7],
        &head[..12],
        &tree_id,
        &tree_id[..8],
        "HEAD:",
        "light^{tree}",
    ];
    for word in words {
        let resolved = repository.resolve(word).unwrap_or_else(|error| panic!("{word}: {error}"));
        let id = repo.git(&["rev-parse", word]);
        assert_eq!(resolved.id.to_string(), repo.git(&["rev-parse", &format!("{id}^{{tree}}")]), "{word}");
        let commit = repo.try_git(&["rev-parse", "--verify", "-q", &format!("{id}^{{commit}}")]);
        let commit = String::from_utf8(commit.stdout).expect("an id is text");
        assert_eq!(resolved.commit.map(|id| id.to_string()).unwrap_or_default(), commit.trim(), "{word}");
    }
}

#[test]
fn a_side_is_called_as_it_was_written_but_ids_are_short() {
    let repo = history();
    let repository = repo.open();
    let head = repo.git(&["rev-parse", "HEAD"]);
    let label = |word: &str| repository.resolve(word).expect("it is a revision").label;
    assert_eq!(label("main"), "main");
    assert_eq!(label("HEAD~1"), "HEAD~1");
    assert_eq!(label(&head), head[..7]);
    assert_eq!(label(&head[..7]), head[..7]);
    assert_eq!(label(&head.to_uppercase()), head[..7]);
    let base = repo.git(&["merge-base", "main", "feature/one"]);
    let selection = select(&repository, &["main...feature/one"]).expect("there is a merge base");
    assert_eq!(selection.comparison.before.label(), format!("merge base {}", &base[..7]));
    assert_eq!(selection.comparison.before.commit().expect("it is a commit").to_string(), base);
    assert_eq!(selection.comparison.after.label(), "feature/one");
}

#[test]
fn every_form_of_comparison_agrees_with_git() {
    let repo = history();
    repo.write("a.yaml", "a: staged\n");
    repo.git(&["add", "--all"]);
    repo.write("c.yaml", "c: unstaged\n");
    for words in [
        &[][..],
        &["--staged"],
        &["--staged", "light"],
        &["HEAD"],
        &["light"],
        &["light", "main"],
        &["light..main"],
        &["light..feature/one"],
        &["main...feature/one"],
        &["feature/one...main"],
        &["feature/one.."],
        &["..feature/one"],
        &["...feature/one"],
        &["feature/one..."],
        &["--merge-base", "main", "feature/one"],
        &["--merge-base", "feature/one"],
        &["--merge-base", "--staged", "feature/one"],
        &["HEAD^{tree}", "feature/one^{tree}"],
        &["HEAD^!"],
        &["HEAD^-"],
        &["HEAD^-1"],
        &["HEAD^@"],
        &["^light", "main"],
        &["main", "^light"],
        &["light^{tree}..main"],
        &["v1.0", "--"],
        &["light", "main", "--", "a.yaml"],
        &["light", "main", "c.yaml"],
        &["a.yaml"],
        &["HEAD", "--", "*.yaml"],
        &["HEAD", "c*"],
        &[":/first commit", "HEAD"],
        &["--", "a.yaml"],
    ] {
        agree(&repo, words);
    }
}

#[test]
fn words_that_are_no_revision_start_the_paths() {
    let repo = history();
    repo.write("sub/x.yaml", "x: 1\n");
    repo.write("light", "also a file\n");
    repo.commit_all("third");
    let repository = repo.open();
    let chosen = |words: &[&str]| {
        let Selection { comparison, paths } = select(&repository, words)?;
        let paths: Vec<String> = paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
        Ok((comparison.before.label().to_owned(), comparison.after.label().to_owned(), paths))
    };
    let expect = |before: &str, after: &str, paths: &[&str]| {
        Ok((before.to_owned(), after.to_owned(), paths.iter().map(ToString::to_string).collect::<Vec<_>>()))
    };
    assert_eq!(chosen(&["HEAD", "a.yaml", "sub"]), expect("HEAD", "working tree", &["a.yaml", "sub"]));
    assert_eq!(chosen(&["*.yaml"]), expect("index", "working tree", &["*.yaml"]));
    assert_eq!(chosen(&["main", "/customers/acme"]), expect("main", "working tree", &["/customers/acme"]));
    assert_eq!(chosen(&["main", ":!sub"]), expect("main", "working tree", &[":!sub"]));
    assert_eq!(chosen(&[".."]), expect("index", "working tree", &[".."]));
    assert_eq!(chosen(&["light", "--"]), expect("light", "working tree", &[]));
    assert_eq!(chosen(&["--", "light"]), expect("index", "working tree", &["light"]));
    assert_eq!(chosen(&["light"]), Err(GitError::BothRevisionAndPath { word: "light".to_owned() }));
    let absolute = repo.root().canonicalize().expect("it is there").join("sub/x.yaml");
    let absolute = absolute.to_str().expect("text");
    assert_eq!(chosen(&["main", absolute]), expect("main", "working tree", &[":(top,literal)sub/x.yaml"]));
}

#[test]
fn paths_are_relative_to_where_the_user_stands() {
    let repo = TestRepo::new();
    repo.write("sub/deep/a.yaml", "a: 1\n");
    repo.write("a.yaml", "a: 1\n");
    repo.commit_all("first");
    repo.write("sub/deep/a.yaml", "a: 2\n");
    repo.write("a.yaml", "a: 2\n");
    let repository = Repository::open(&repo.root().join("sub")).expect("it is below a repository");
    assert_eq!(*repository.prefix(), path("sub"));
    let changed = |words: &[&str]| sides(&repository, words).changed_paths(&repository);
    assert_eq!(changed(&["deep"]), ["sub/deep/a.yaml"]);
    assert_eq!(changed(&["--", "../a.yaml"]), ["a.yaml"]);
    assert_eq!(changed(&["HEAD", "deep/a.yaml"]), ["sub/deep/a.yaml"]);
    assert_eq!(changed(&["--", ":/a.yaml"]), ["a.yaml"]);
    assert!(matches!(select(&repository, &["a.yaml"]), Err(GitError::NeitherRevisionNorPath { .. })));
}

#[test]
fn a_mistake_is_answered_with_what_may_be_meant() {
    let repo = history();
    let repository = repo.open();
    let error = |words: &[&str]| select(&repository, words).expect_err("it is a mistake");
    let help = |words: &[&str]| error(words).help();
    assert!(help(&["mian"]).starts_with("did you mean `main`?"), "{}", help(&["mian"]));
    assert_eq!(error(&["mian"]).to_string(), "mian is neither a revision nor a path in the working tree");
    assert_eq!(error(&["mian", "--"]).to_string(), "mian is not a revision");
    assert_eq!(error(&["mian..main"]).to_string(), "mian is neither a revision nor a path in the working tree");
    assert!(help(&["feature/on..main", "--"]).contains("feature/one"));
    assert!(help(&["gone.yaml"]).contains("`--`"));
    assert!(matches!(error(&["--output=x", "--"]), GitError::LooksLikeAnOption { .. }));
    assert!(matches!(error(&["-x"]), GitError::LooksLikeAnOption { .. }));
    assert!(matches!(error(&["HEAD:a.yaml"]), GitError::NotATree { .. }));
    assert!(matches!(error(&["HEAD^{tree}...main"]), GitError::NotACommit { .. }));
    assert!(matches!(error(&["HEAD", "HEAD", "HEAD"]), GitError::Combination { .. }));
    assert!(matches!(error(&["--staged", "light..main"]), GitError::Combination { .. }));
    assert!(matches!(error(&["light..main", "main"]), GitError::Combination { .. }));
    assert!(matches!(error(&["^main"]), GitError::Combination { .. }));
    let unknown = "0123456789012345678901234567890123456789";
    assert!(help(&[unknown, "--"]).contains("git fsck"));
}

#[test]
fn a_short_id_that_fits_several_objects_is_refused() {
    let repo = TestRepo::new();
    // Two contents whose ids begin with the same four digits.
    for content in ["142", "784"] {
        repo.git_with_input(&["hash-object", "-w", "--stdin"], content.as_bytes());
    }
    let twin = "8324";
    let error = select(&repo.open(), &[twin, "--"]).expect_err("it is ambiguous");
    assert!(matches!(&error, GitError::AmbiguousId { candidates, .. } if candidates.len() == 2), "{error:?}");
}

#[test]
fn commits_without_a_common_ancestor_have_no_merge_base() {
    let repo = history();
    repo.git(&["switch", "-q", "--orphan", "island"]);
    repo.write("d.yaml", "d: 1\n");
    repo.commit_all("elsewhere");
    let error = select(&repo.open(), &["main...island"]).expect_err("they share nothing");
    assert!(matches!(error, GitError::NoMergeBase { .. }));
    assert_eq!(error.help(), "`main..island` compares the two without a merge base");
    assert_eq!(changed(&repo, &["island^!"]), ["d.yaml"], "the first commit is compared with nothing");
}

#[test]
fn a_detached_head_is_still_head() {
    let repo = history();
    repo.git(&["checkout", "-q", "--detach", "light"]);
    repo.write("a.yaml", "a: 9\n");
    assert_eq!(agree(&repo, &["HEAD"]), ["a.yaml"]);
    repo.git(&["add", "--all"]);
    assert_eq!(agree(&repo, &["--staged"]), ["a.yaml"]);
    assert_eq!(agree(&repo, &["HEAD..main"]), ["a.yaml", "c.yaml"]);
}

#[test]
fn a_merge_is_compared_with_each_of_its_parents() {
    let repo = history();
    repo.git(&["merge", "-q", "--no-ff", "-m", "merge", "feature/one"]);
    assert_eq!(agree(&repo, &["HEAD^1", "HEAD"]), ["b.yaml"]);
    assert_eq!(agree(&repo, &["HEAD^2", "HEAD"]), ["c.yaml"]);
    assert_eq!(agree(&repo, &["HEAD^-"]), ["b.yaml"]);
    assert_eq!(agree(&repo, &["HEAD^-2"]), ["c.yaml"]);
    assert_eq!(agree(&repo, &["HEAD^@"]), agree(&repo, &["HEAD^1", "HEAD^2"]));
    assert!(matches!(select(&repo.open(), &["HEAD^!"]), Err(GitError::Combination { .. })));
    assert!(matches!(select(&repo.open(), &["^HEAD"]), Err(GitError::Combination { .. })));
    assert!(matches!(select(&repo.open(), &["--merge-base"]), Err(GitError::Combination { .. })));
}
