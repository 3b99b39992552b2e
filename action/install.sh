#!/usr/bin/env bash
# Finds the outcrop binary that action.yml runs, or builds it from the action's own sources, and says where it is.
set -euo pipefail

if [ -n "$INPUT_BINARY" ]; then
  if ! [ -x "$INPUT_BINARY" ]; then
    echo "::error title=outcrop::the input binary does not name a program"
    exit 2
  fi
  # The review runs in the same directory; still, a path that starts with a dash or lacks a slash must not be looked up.
  binary=$(cd -- "$(dirname -- "$INPUT_BINARY")" && pwd)/$(basename -- "$INPUT_BINARY")
else
  # Sources and not the version name the binary, so that an action pinned to a commit never runs what another commit built.
  cd "$GITHUB_ACTION_PATH"
  sources=$(find Cargo.toml Cargo.lock src docs -type f | LC_ALL=C sort | tr '\n' '\0' | xargs -0 cat | git hash-object --stdin)
  root=${RUNNER_TOOL_CACHE:-$RUNNER_TEMP}/outcrop/$sources/$RUNNER_ARCH
  binary=$root/bin/outcrop
  [ "$RUNNER_OS" = Windows ] && binary=$binary.exe
  if ! [ -x "$binary" ]; then
    if ! command -v cargo >/dev/null; then
      echo "::error title=outcrop::this runner has no cargo to build outcrop with; install Rust, or give the input binary"
      exit 2
    fi
    # cargo obeys the configuration of the directory it runs in, and the workspace holds files of strangers: it runs here.
    cargo install --locked --path . --root "$root" --target-dir "$RUNNER_TEMP/outcrop-build"
  fi
fi

mark=ghadelimiter_$RANDOM$RANDOM$RANDOM$RANDOM
printf 'binary<<%s\n%s\n%s\n' "$mark" "$binary" "$mark" >>"$GITHUB_OUTPUT"
