#!/usr/bin/env python3
"""Checks the last commits of real repositories and lists every error, so that each can be judged: a false one is a bug.

    benches/check_history.py [--list=PREFIX] OUTCROP COMMITS REPOSITORY...

Each commit is checked against its first parent. Findings are counted by rule. Errors are listed with commit, file and message, and with
`--list=kubernetes/` every finding of the rules whose names begin so; lines with exit
codes other than 0, 1 and 2, or that take longer than half an hour, are listed as failures of the program.
"""

import collections
import json
import os
import subprocess
import sys


def check(outcrop, repository, commit):
    """The exit code and the report of one check."""
    command = [outcrop, "-C", repository, "check", f"{commit}^", commit, "--format", "json"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=1800, check=False)
    except subprocess.TimeoutExpired:
        return "timeout", None, ""
    report = json.loads(done.stdout) if done.stdout else None
    return done.returncode, report, done.stderr.decode(errors="replace")


def main():
    listed = tuple(word.removeprefix("--list=") for word in sys.argv[1:] if word.startswith("--list="))
    outcrop, count, *repositories = [word for word in sys.argv[1:] if not word.startswith("--list=")]
    for repository in repositories:
        name = [part for part in repository.split("/") if "+" in part] or [os.path.basename(repository)]
        log = ["git", "-C", repository, "rev-list", "--first-parent", "--min-parents=1", f"--max-count={count}", "HEAD"]
        commits = subprocess.run(log, capture_output=True, check=True).stdout.decode().split()
        exits, rules = collections.Counter(), collections.Counter()
        print(f"== {name[0]}: {len(commits)} commits", flush=True)
        for commit in commits:
            code, report, said = check(outcrop, repository, commit)
            exits[code] += 1
            if report is None:
                print(f"{commit[:10]} {code} {said.strip()}", flush=True)
                continue
            for finding in report["findings"]:
                rules[finding["severity"], finding["rule"]] += 1
                if finding["severity"] == "error" or finding["rule"].startswith(listed):
                    place = f"{finding.get('file')}:{finding.get('line', 0)}"
                    print(f"{commit[:10]} {finding['rule']} {place} {finding['message']}", flush=True)
        print(f"exit codes: {dict(exits)}")
        for (severity, rule), number in sorted(rules.items()):
            print(f"{number:6} {severity} {rule}")


if __name__ == "__main__":
    main()
