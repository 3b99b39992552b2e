#!/usr/bin/env python3
"""Compares many commits of real repositories in every format, and lists crashes, hangs, and runs that were not complete.

    benches/soak.py OUTCROP PAIRS REPOSITORY...

Each of the last PAIRS commits of each repository is compared with its first parent: `diff` in every format and `check`. A summary
goes to standard output; each run that did not end with 0 or 1 has a line with its reason.
"""
import collections
import os
import subprocess
import sys
import tempfile
import time

FORMATS = ["terminal", "side-by-side", "unified", "json", "json-patch", "markdown", "html"]
LONGEST = 120


def commits(repository, count):
    command = ["git", "-C", repository, "log", "--first-parent", "--min-parents=1", f"-{count}", "--format=%H %P"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split()[:2] for line in lines]


def run(outcrop, repository, arguments, environment):
    start = time.monotonic()
    try:
        ran = subprocess.run(
            [outcrop, "-C", repository, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=LONGEST,
            env=environment,
            check=False,
        )
        return ran.returncode, ran.stderr.decode(errors="replace"), time.monotonic() - start
    except subprocess.TimeoutExpired:
        return "hang", "", time.monotonic() - start


def main():
    outcrop, count, repositories = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "OUTCROP_CACHE_DIR": cache}
        for repository in repositories:
            exits, slowest, pairs = collections.Counter(), [], commits(repository, count)
            for commit, parent in pairs:
                calls = [["diff", "--format", name, parent, commit] for name in FORMATS] + [["check", parent, commit]]
                for call in calls:
                    code, errors, took = run(outcrop, repository, call, environment)
                    exits[code] += 1
                    slowest = sorted([*slowest, (round(took, 2), " ".join(call))], reverse=True)[:5]
                    if code not in (0, 1) or "panicked" in errors:
                        reason = errors.strip().splitlines()[-1:] or ["see its output"]
                        print(f"{code}: {' '.join(call)}: {reason[0]}", flush=True)
            print(f"{repository}: {len(pairs)} pairs, {sum(exits.values())} runs, exits {dict(exits)}", flush=True)
            for took, call in slowest:
                print(f"  {took} s  {call}", flush=True)


if __name__ == "__main__":
    main()
