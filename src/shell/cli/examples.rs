//! What `--help` shows after the flags: examples of each command.

/// Of the program itself.
pub(super) const PROGRAM: &str = "Examples:
  outcrop diff --staged             what would be committed
  outcrop diff main...              what this branch changes since it left main
  outcrop check main...             problems that this branch adds
  outcrop explain /customers/acme   where the values of a resource come from
  outcrop install hook              check every commit of this repository
  outcrop doctor                    what is set up, and how files are read

Exit codes: 0 success; 1 findings at or above the threshold (or differences, with --exit-code); 2 failed or incomplete.

Environment: most flags can be set by a variable, which --help of a command names, such as OUTCROP_COLOR=never. Also:
  OUTCROP_FORMAT                         the format of every command that has one of this name
  OUTCROP=0                              hooks do nothing, and git diff shows plain lines
  OUTCROP_BIN                            the binary that hooks call
  OUTCROP_OLD_REV, OUTCROP_NEW_REV       the revisions of git diff, if they cannot be inferred
  OUTCROP_PAGER, GIT_PAGER, PAGER        the pager, in this order
  OUTCROP_CACHE=off                      no cache in .git/outcrop
  NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR  when to colour the output";

pub(super) const DIFF: &str = "Examples:
  outcrop diff                                   index and working tree
  outcrop diff --staged                          HEAD and index
  outcrop diff HEAD~3 HEAD -- apps               two revisions, one directory
  outcrop diff main... --format markdown         for a comment on a pull request
  outcrop diff --no-index old.yaml new.yaml      two files, in or outside a repository
  kustomize build prod | outcrop diff --no-index - prod.yaml";

pub(super) const COMPARE: &str = "Examples:
  outcrop compare overlays/staging overlays/production             what production has that staging does not
  outcrop compare overlays/staging overlays/production --at HEAD   in a revision instead of the working tree
  outcrop compare staging.yaml production.yaml --exit-code
  outcrop compare 'Deployment shop/web' 'Deployment shop/worker'
  outcrop compare rings/1 rings/2 --expect rings/expected.yaml     only differences that are not meant";

pub(super) const CHECK: &str = "Examples:
  outcrop check                     problems of files that are not staged yet
  outcrop check --staged            problems that the next commit would add
  outcrop check main...HEAD         problems that a branch adds
  outcrop check --all               problems of every file
  outcrop check --all --format json";

pub(super) const EXPLAIN: &str = "Examples:
  outcrop explain /customers/acme                     every value, and what it overrides
  outcrop explain /customers/acme /limits/storage     one value
  outcrop explain 'Deployment shop/web' --at HEAD~1
  outcrop explain deploy/web.yaml --format json";

pub(super) const RENDER: &str = "Examples:
  outcrop render /customers/acme              one resource, after all layers and patches
  outcrop render --at main customers          a directory of another revision
  outcrop render --root overlays/prod         what `kustomize build overlays/prod` prints
  outcrop render /customers/acme --steps      the result of every stage";

pub(super) const EVAL: &str = "Examples:
  outcrop eval plans::gold::requestsPerMinute
  outcrop eval '{eval: {mul: [2, 3]}}'
  outcrop eval limits::storage --path /customers/acme --trace";

pub(super) const EXPAND: &str = "Examples:
  outcrop expand config/gateway.yaml
  outcrop expand config/gateway.yaml --why      where every value is defined
  outcrop expand config/gateway.yaml --at HEAD~1 --format json";

pub(super) const RESTORE: &str = "Examples:
  outcrop expand app.yaml > /tmp/app.yaml && $EDITOR /tmp/app.yaml
  outcrop restore app.yaml /tmp/app.yaml              print the file with its directives
  outcrop restore app.yaml /tmp/app.yaml --write      write it";

pub(super) const PATCH: &str = "Examples:
  outcrop patch patches.yaml deploy.yaml
  outcrop patch patches.yaml deploy.yaml --diff
  outcrop patch patches.yaml --input parameters.tier=gold - < deploy.yaml";

pub(super) const DIFFTOOL: &str = "Examples:
  outcrop install difftool --global
  git difftool -y -t outcrop HEAD~1 HEAD
  git difftool -t outcrop -d main";

pub(super) const HOOK: &str = "Examples:
  outcrop install hook           lets git call this
  outcrop hook pre-commit        checks what is staged; if nothing is, all files of the index
  OUTCROP=0 git commit           skips it once";

pub(super) const GITHUB: &str = "Examples:
  outcrop ci github                              in a workflow: what the event is about
  outcrop ci github --base main --head HEAD      anywhere: prints what a workflow would print";

pub(super) const AFFECTED: &str = "Examples:
  outcrop affected main...                       roots whose output differs on this branch
  outcrop affected --name-only HEAD~1 HEAD | xargs -n1 kustomize build
  outcrop affected --format matrix main...       a job for each of them, for GitHub Actions";

pub(super) const METADATA: &str = "Examples:
  outcrop metadata get /customers/acme                             layers merged over the defaults
  outcrop metadata resolve /customers/acme --layers                each layer on its own
  outcrop metadata render /customers/acme update --format curl     the request that would be sent
  outcrop metadata set /customers/ /operationInfo/getResource/path '/v2/{{.id}}'
  outcrop metadata infer /customers/ --openapi openapi.yaml        a proposal; --apply stores it";

pub(super) const METADATA_GET: &str = "Examples:
  outcrop metadata get /customers/acme
  outcrop metadata get /customers/ --overrides-only      the collection, without defaults
  outcrop metadata get /customers/acme --at main --format json";

pub(super) const METADATA_RESOLVE: &str = "Examples:
  outcrop metadata resolve /customers/acme
  outcrop metadata resolve /customers/acme --layers      each layer on its own, weakest first";

pub(super) const METADATA_RENDER: &str = "Examples:
  outcrop metadata render /customers/acme                the get request
  outcrop metadata render /customers/acme update --format curl
  outcrop metadata render /customers/ list
  outcrop metadata render /customers/acme --all --at main";

pub(super) const METADATA_INFER: &str = "Examples:
  outcrop metadata infer /customers/ --openapi openapi.yaml
  outcrop metadata infer /customers/acme --complete
  outcrop metadata infer /customers/ --apply             store it; fields that are there stay";

pub(super) const METADATA_SET: &str = "Examples:
  outcrop metadata set /customers/ /operationInfo/getResource/path '/v2/{{.id}}'
  outcrop metadata set /customers/acme /resourceInfo/idFromAttribute null      clears an inherited value
  outcrop metadata set /customers/acme -f metadata.yaml";

pub(super) const METADATA_UNSET: &str = "Examples:
  outcrop metadata unset /customers/acme /resourceInfo/idFromAttribute
  outcrop metadata unset /customers/acme                 removes the file";

pub(super) const INIT: &str = "Examples:
  outcrop init --dry-run      print the file
  outcrop init                write it; the file says what each setting means";

pub(super) const DOCTOR: &str = "Examples:
  outcrop doctor              versions, hooks, drivers, dialects, and what is wrong
  outcrop doctor -v           also how each file is read";

pub(super) const RULES: &str = "Examples:
  outcrop rules                              every rule with its severity
  outcrop rules document/duplicate-key       what it means and what to do

`rules: {ID: off|note|warning|error}` in outcrop.yaml changes a severity.";

pub(super) const SCHEMA: &str = "Examples:
  outcrop schema > report.schema.json
  outcrop schema metadata > metadata.schema.json      for editors that complete YAML";

pub(super) const COMPLETIONS: &str = "Examples:
  outcrop completions bash > ~/.local/share/bash-completion/completions/outcrop
  outcrop completions zsh > ~/.zfunc/_outcrop
  outcrop completions fish > ~/.config/fish/completions/outcrop.fish";

pub(super) const MAN: &str = "Examples:
  outcrop man | man -l -
  outcrop man > ~/.local/share/man/man1/outcrop.1";

pub(super) const CI: &str = "Examples:
  outcrop ci github      in a GitHub workflow; `outcrop check --format gitlab` is for GitLab";
