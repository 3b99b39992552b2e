#!/usr/bin/env bash
# Runs the review of action.yml: one path per line of INPUT_PATHS, everything else comes through OUTCROP_* variables.
set -euo pipefail

set -- ci github --
while IFS= read -r path; do
  path=${path%$'\r'}
  [ -z "$path" ] || set -- "$@" "$path"
done <<<"$INPUT_PATHS"
exec "$OUTCROP_BIN" "$@"
