#!/bin/sh
# Turns a numbered example into a git repository, one commit per folder, and shows what the last commit really changes.
#
#   examples/demo.sh [EXAMPLE] [OUTCROP ARGUMENTS…]      EXAMPLE is a folder beside this script, `kustomize` by default
#
# The repository is made in a temporary directory and removed afterwards; KEEP=1 keeps it and says where it is.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
example=kustomize
case ${1:-} in
  '' | -*) ;;
  *) if [ -d "$here/$1/1" ]; then example=$1; shift; fi ;;
esac

outcrop=${OUTCROP_BIN:-$(command -v outcrop || echo "${CARGO_HOME:-$HOME/.cargo}/bin/outcrop")}
if [ ! -x "$outcrop" ]; then
  echo "demo: outcrop is not installed; run 'cargo install --locked --path .' first, or set OUTCROP_BIN" >&2
  exit 2
fi
case $outcrop in
  /*) ;;
  *) outcrop=$PWD/$outcrop ;;
esac

repository=$(mktemp -d)
if [ "${KEEP:-}" = 1 ]; then
  echo "demo: the repository is kept in $repository" >&2
else
  trap 'rm -rf "$repository"' EXIT
fi

# The user's own git configuration (signing, hooks, templates) must not get in the way.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=example GIT_AUTHOR_EMAIL=example@example.invalid GIT_AUTHOR_DATE='2026-01-01T00:00:00Z'
export GIT_COMMITTER_NAME=example GIT_COMMITTER_EMAIL=example@example.invalid GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE GIT_PREFIX

git -c init.defaultBranch=main init --quiet "$repository"
cd "$repository"
for folder in "$here/$example"/[0-9]*; do
  git rm -r --quiet --ignore-unmatch . 2>/dev/null || true
  cp -R "$folder"/. .
  git add --all
  git commit --quiet --allow-empty --message "example $(basename "$folder")"
done

if [ $# -gt 0 ]; then
  "$outcrop" "$@"
else
  "$outcrop" diff HEAD~1 HEAD
fi
