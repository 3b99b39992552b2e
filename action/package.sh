#!/usr/bin/env bash
# Builds a release for one platform and packs it as the action, cargo-binstall and people expect it:
#
#   action/package.sh TARGET      dist/outcrop-TARGET.tar.gz and its .sha256
#
# The archive has the binary at its top, the manual page and completions beside it. OUTCROP_BIN names a binary that is built already.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$1
exe=
case $target in *windows*) exe=.exe ;; esac
binary=${OUTCROP_BIN:-}
if [ -z "$binary" ]; then
  cargo build --release --locked --target "$target"
  binary=target/$target/release/outcrop$exe
fi

content=$(mktemp -d)
trap 'rm -rf "$content"' EXIT
cp "$binary" "$content/outcrop$exe"
cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$content"
"$binary" man >"$content/outcrop.1"
mkdir "$content/completions"
for shell in bash zsh fish powershell elvish; do
  "$binary" completions "$shell" >"$content/completions/outcrop.$shell"
done

mkdir -p dist
archive=outcrop-$target.tar.gz
tar -czf "dist/$archive" -C "$content" .
cd dist
if command -v sha256sum >/dev/null; then sha256sum "$archive"; else shasum -a 256 "$archive"; fi >"$archive.sha256"
