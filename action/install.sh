#!/usr/bin/env bash
# Finds the outcrop binary that action.yml runs, and says where it is: the input `binary`, or a release whose checksum is pinned in
# release.txt, or one that is built from the action's own sources.
set -euo pipefail

fail() {
  echo "::error title=outcrop::$1"
  exit 2
}

# sha256 FILE
sha256() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# The name that Rust has for this runner's platform; empty if there is no release for it.
platform() {
  case $RUNNER_OS-$RUNNER_ARCH in
    Linux-X64) echo x86_64-unknown-linux-musl ;;
    Linux-ARM64) echo aarch64-unknown-linux-musl ;;
    macOS-X64) echo x86_64-apple-darwin ;;
    macOS-ARM64) echo aarch64-apple-darwin ;;
    Windows-X64) echo x86_64-pc-windows-msvc ;;
  esac
}

# Downloads the pinned release and prints the binary's path; fails if there is none for this platform, or if it cannot be reached.
# A release that can be reached and has another checksum ends everything.
download() {
  local version=$1 archive checksum directory url actual
  archive=outcrop-$(platform).tar.gz
  checksum=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$GITHUB_ACTION_PATH/action/release.txt")
  [ -n "$checksum" ] || return 1
  directory=$cache/$version-${checksum:0:16}
  if ! [ -x "$directory/outcrop$exe" ]; then
    url=${INPUT_DOWNLOAD_URL:-$SERVER_URL/$ACTION_REPOSITORY/releases/download}/v$version/$archive
    echo "outcrop: downloading $url" >&2
    if ! curl --fail --silent --show-error --location --retry 3 --max-time 120 --output "$RUNNER_TEMP/$archive" "$url" >&2; then
      echo "::warning title=outcrop::the release $version cannot be downloaded; it is built from source instead" >&2
      return 1
    fi
    actual=$(sha256 "$RUNNER_TEMP/$archive")
    if [ "$actual" != "$checksum" ]; then
      rm -f "$RUNNER_TEMP/$archive"
      echo "::error title=outcrop::the checksum of $archive is $actual, not $checksum as release.txt of this action says" >&2
      return 3
    fi
    mkdir -p "$directory"
    tar -xzf "$RUNNER_TEMP/$archive" -C "$directory"
    rm -f "$RUNNER_TEMP/$archive"
  fi
  echo "$directory/outcrop$exe"
}

# Builds the action's own sources and prints the binary's path.
build() {
  local sources root
  # Sources and not the version name the binary, so that an action pinned to a commit never runs what another commit built.
  cd "$GITHUB_ACTION_PATH"
  sources=$(find Cargo.toml Cargo.lock src docs hooks -type f | LC_ALL=C sort | tr '\n' '\0' | xargs -0 cat | git hash-object --stdin)
  root=$cache/$sources
  if ! [ -x "$root/bin/outcrop$exe" ]; then
    command -v cargo >/dev/null || return 4
    # cargo obeys the configuration of the directory it runs in, and the workspace holds files of strangers: it runs here.
    cargo install --locked --path . --root "$root" --target-dir "$RUNNER_TEMP/outcrop-build" >&2
  fi
  echo "$root/bin/outcrop$exe"
}

exe=
[ "$RUNNER_OS" = Windows ] && exe=.exe
cache=${RUNNER_TOOL_CACHE:-$RUNNER_TEMP}/outcrop/$RUNNER_ARCH

if [ -n "$INPUT_BINARY" ]; then
  [ -x "$INPUT_BINARY" ] || fail "the input binary does not name a program"
  # The review runs in the same directory; still, a path that starts with a dash or lacks a slash must not be looked up.
  binary=$(cd -- "$(dirname -- "$INPUT_BINARY")" && pwd)/$(basename -- "$INPUT_BINARY")
else
  version=$(sed -n 's/^version \([0-9][0-9.]*\)$/\1/p' "$GITHUB_ACTION_PATH/action/release.txt")
  status=0
  binary=$(download "$version") || status=$?
  # A wrong checksum is no reason to look for another binary.
  [ "$status" != 3 ] || exit 2
  if [ "$status" != 0 ]; then
    status=0
    binary=$(build) || status=$?
    [ "$status" != 4 ] || fail "this runner has no release of outcrop and no cargo to build it with; install Rust, or give the input binary"
    [ "$status" = 0 ] || exit 2
  fi
fi

mark=ghadelimiter_$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
printf 'binary<<%s\n%s\n%s\n' "$mark" "$binary" "$mark" >>"$GITHUB_OUTPUT"
