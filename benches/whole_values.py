#!/usr/bin/env python3
"""Checks that `outcrop diff A B | cat` contains every value that the JSON report lists as changed.

usage: whole_values.py PROGRAM REPOSITORY COMMIT...

Values that are not shown (secrets) are left out. Of changed texts, each added and removed line must be there. Exits with 1 if a
value is missing, and names the first ones."""

import difflib
import json
import subprocess
import sys


def scalars(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key != "$sensitive":
                yield key
                yield from scalars(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from scalars(inner)
    elif value is not None:
        yield value


def words(value):
    """The lines of a value as they are printed, without the marks that quoting adds."""
    if isinstance(value, bool):
        return ["true" if value else "false"]
    text = value if isinstance(value, str) else json.dumps(value)
    return [line.strip() for line in text.splitlines() if line.strip()]


def wanted(change):
    before, after = change.get("before"), change.get("after")
    if change.get("sensitive"):
        return
    if change["kind"] == "text" and isinstance(before, str) and isinstance(after, str):
        for line in difflib.ndiff(before.splitlines(), after.splitlines()):
            if line[:2] in ("- ", "+ ") and line[2:].strip():
                yield line[2:].strip()
        return
    if change["kind"] in ("reorder", "move"):
        return
    for value in (before, after):
        for scalar in scalars(value):
            yield from words(scalar)


def plain(text):
    for mark in "\\\"'\u00b7 \t":
        text = text.replace(mark, "")
    return text


def main():
    program, repository, commits = sys.argv[1], sys.argv[2], sys.argv[3:]
    missing = total = 0
    for commit in commits:
        sides = [f"{commit}~1", commit]
        run = lambda *flags: subprocess.run(
            [program, "diff", *flags, *sides], cwd=repository, capture_output=True, text=True, errors="replace"
        ).stdout
        report, shown = json.loads(run("--format", "json")), plain(run())
        count = lost = 0
        for resource in report["resources"]:
            if resource["status"] not in ("changed", "moved"):
                continue
            for change in resource["changes"]:
                for value in wanted(change):
                    count += 1
                    if plain(value) not in shown:
                        lost += 1
                        if lost <= 3:
                            print(f"{commit}: {resource['id']} {change['display']}: {value[:200]!r} is missing")
        print(f"{commit}: {count} values, {lost} missing")
        missing, total = missing + lost, total + count
    print(f"{total} values in {len(commits)} commits, {missing} missing")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
