//! Why objects may be missing from a repository, and what would bring them.

/// What is known about a repository that does not hold everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Gaps {
    /// History was cut off when cloning.
    pub(super) is_shallow: bool,
    /// Blobs or trees were left out when cloning, to be fetched one by one.
    pub(super) is_partial: bool,
    /// git keeps the objects of a push apart until the hooks have accepted it.
    pub(super) is_quarantined: bool,
}

impl Gaps {
    pub(super) fn of(repository: &gix::Repository) -> Self {
        // The configuration of a foreign repository is not trusted, but what it says about gaps only chooses words.
        let config = repository.config_snapshot();
        let config = config.plumbing();
        let promises = |remote: gix::config::file::SectionRef<'_>| {
            remote.value("promisor").is_some_and(|value| value.eq_ignore_ascii_case(b"true"))
        };
        let has_promisor = config.sections_by_name("remote").is_some_and(|mut remotes| remotes.any(promises));
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        Self {
            is_shallow: repository.is_shallow().unwrap_or(false),
            is_partial: has_promisor || config.string("extensions.partialClone").is_some(),
            is_quarantined: is_set("GIT_QUARANTINE_PATH") || is_set("GIT_OBJECT_DIRECTORY"),
        }
    }

    /// What brings a missing object here.
    pub(super) fn help_for(self, id: &str) -> String {
        if self.is_quarantined {
            return "the objects of a push are kept apart while server-side hooks run, and are not read from there; \
                    check the push afterwards, in a post-receive hook or in CI"
                .to_owned();
        }
        if self.is_partial {
            return format!(
                "this is a partial clone; `git cat-file -p {id}` fetches this object, \
                 `git backfill` (git 2.49) or `git fetch --refetch --no-filter` fetches all"
            );
        }
        if self.is_shallow {
            return "this is a shallow clone; `git fetch --deepen=1` fetches one more commit, `git fetch --unshallow` all"
                .to_owned();
        }
        "the repository is damaged; `git fsck` lists missing objects, `git fetch --refetch` may restore them".to_owned()
    }

    /// What brings missing history here, if history is missing.
    pub(super) fn help_for_history(self) -> Option<String> {
        let help = "this is a shallow clone without the older commits; `git fetch --deepen=1` fetches one more, \
                    `git fetch --unshallow` all (in GitHub Actions: `fetch-depth: 0`)";
        self.is_shallow.then(|| help.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_the_command_for_the_kind_of_clone() {
        let partial = Gaps { is_partial: true, ..Gaps::default() };
        assert!(partial.help_for("abc").contains("git cat-file -p abc"));
        let shallow = Gaps { is_shallow: true, ..Gaps::default() };
        assert!(shallow.help_for("abc").contains("--deepen=1"));
        assert!(Gaps::default().help_for("abc").contains("git fsck"));
        assert!(Gaps { is_quarantined: true, ..partial }.help_for("abc").contains("push"));
        assert_eq!(partial.help_for_history(), None);
    }
}
