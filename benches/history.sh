#!/bin/sh
# Runs `outcrop diff` over consecutive commits of a repository and reports every run that did not end well.
#
#   benches/history.sh REPOSITORY [PAIRS] [REVISION]
#
# Exit codes 0 and 2 are counted apart: 2 means that some file could not be read, and says which. Anything else, or a crash
# message, is a failure. OUTCROP_BIN names the binary.
set -eu
repository=$1
pairs=${2:-200}
revision=${3:-HEAD}
outcrop=${OUTCROP_BIN:-outcrop}
output=$(mktemp)
trap 'rm -f "$output"' EXIT

clean=0 incomplete=0 failed=0 silent=0
for commit in $(git -C "$repository" rev-list --first-parent --max-count="$pairs" "$revision"); do
  git -C "$repository" rev-parse --verify --quiet "$commit^" >/dev/null || continue
  code=0
  "$outcrop" -C "$repository" diff "$commit^" "$commit" >"$output" 2>&1 || code=$?
  if grep -q 'panicked\|crashed' "$output" || [ "$code" -gt 2 ]; then
    failed=$((failed + 1))
    echo "FAILED ($code): $commit"
    tail -n 5 "$output"
  elif [ "$code" = 2 ]; then
    incomplete=$((incomplete + 1))
    [ -z "${VERBOSE:-}" ] || { echo "incomplete: $commit"; grep -A3 '×\|error' "$output" | head -n 8; }
  else
    clean=$((clean + 1))
    grep -q '^[0-9]* \(changed\|added\|removed\|moved\)' "$output" || silent=$((silent + 1))
  fi
done
echo "$clean compared ($silent without a semantic change), $incomplete with files that could not be read, $failed failed"
[ "$failed" = 0 ]
