#!/usr/bin/env python3
"""Compares outcrop's verdict "nothing changed" with an independent reading by PyYAML, over the commits of a real repository.

    benches/nothing_changed.py REPOSITORY [--commits N] [--seconds N] [--outcrop PROGRAM]

For every commit with one parent, the YAML and JSON files that differ are read with PyYAML on both sides and compared as values. A file
that PyYAML cannot read, and a template of such a file (`app.yaml.j2`), counts as changed when its bytes differ. Disagreements are printed, one line each, and make the exit code 1:

    missed    outcrop says that nothing changed, and a value or an unreadable file did
    alarm     outcrop says that something changed, and every file holds the same values at the same paths

Commits in which files were compared as text, and commits that ended with exit code 2, are listed below.
"""

import argparse
import collections
import json
import subprocess
import sys
import time

import yaml

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Reader(Loader):
    """Keeps custom tags as part of the value, and dates as text."""


def any_tag(loader, suffix, node):
    kinds = {yaml.ScalarNode: loader.construct_scalar, yaml.SequenceNode: loader.construct_sequence}
    make = kinds.get(type(node), loader.construct_mapping)
    value = make(node) if isinstance(node, yaml.ScalarNode) else make(node, deep=True)
    return ("tag", suffix, canonical(value))


Reader.add_multi_constructor("", any_tag)
Reader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node))


def canonical(value):
    """A value that compares by type and content: `true` is not 1, but 1 and 1.0 are one number."""
    if isinstance(value, dict):
        return ("map", frozenset((canonical(key), canonical(item)) for key, item in value.items()))
    if isinstance(value, (list, tuple, set)):
        return ("list", tuple(canonical(item) for item in value))
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, (int, float)):
        return ("nan",) if value != value else ("number", value)
    return (type(value).__name__, value)


def documents(content):
    """The documents of a file, or None where PyYAML cannot read it."""
    if content is None:
        return []
    try:
        found = [canonical(document) for document in yaml.load_all(content, Reader)]
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, OverflowError):
        return None
    return [document for document in found if document != ("NoneType", None)]


class Objects:
    """Contents of blobs, from one git process."""

    def __init__(self, repository):
        command = ["git", "-C", repository, "cat-file", "--batch"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def read(self, name):
        if set(name) == {"0"}:
            return None
        self.process.stdin.write(name.encode() + b"\n")
        self.process.stdin.flush()
        size = int(self.process.stdout.readline().split()[2])
        content = self.process.stdout.read(size)
        self.process.stdout.read(1)
        return content


TEMPLATES = (b".j2", b".jinja", b".jinja2", b".erb", b".tpl", b".tmpl", b".gotmpl", b".mustache", b".template")
PLAIN = (b".yaml", b".yml", b".json")
NAMES = PLAIN + tuple(name + template for name in PLAIN for template in TEMPLATES) + (b".tpl",)


def changed_files(repository, before, after):
    command = ["git", "-C", repository, "diff-tree", "-r", "-z", "--no-renames", before, after]
    fields = subprocess.run(command, capture_output=True, check=True).stdout.split(b"\0")
    for head, path in zip(fields[0::2], fields[1::2]):
        old_mode, new_mode, old, new, _ = head.decode().lstrip(":").split(" ")
        is_file = all(mode in ("000000", "100644", "100755") for mode in (old_mode, new_mode))
        if is_file and path.lower().endswith(NAMES):
            yield path.decode(errors="replace"), old, new


def independent(repository, objects, before, after):
    """The files that differ, as PyYAML sees it."""
    differing, unread = [], []
    for path, old, new in changed_files(repository, before, after):
        is_template = not path.lower().endswith((".yaml", ".yml", ".json"))
        sides = [None] if is_template else [documents(objects.read(name)) for name in (old, new)]
        if None in sides:
            unread.append(path)
        elif sides[0] != sides[1]:
            differing.append(path)
    return differing, unread


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repository")
    parser.add_argument("--commits", type=int, default=600)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--outcrop", default="outcrop")
    options = parser.parse_args()
    log = ["git", "-C", options.repository, "log", f"--max-count={options.commits}", "--no-merges", "--format=%H %P"]
    pairs = [line.split() for line in subprocess.run(log, capture_output=True, text=True, check=True).stdout.splitlines()]
    objects = Objects(options.repository)
    counts = collections.Counter()
    as_text, incomplete, disagreements = [], [], []
    end = time.monotonic() + options.seconds
    for after, before in (pair for pair in pairs if len(pair) == 2):
        if time.monotonic() > end:
            break
        command = [options.outcrop, "-C", options.repository, "diff", "--exit-code", "--format", "json", before, after]
        run = subprocess.run(command, capture_output=True)
        counts[f"exit {run.returncode}"] += 1
        if run.returncode not in (0, 1):
            incomplete.append(after)
            continue
        report = json.loads(run.stdout)
        if report.get("compared_as_text"):
            as_text.append(after)
        differing, unread = independent(options.repository, objects, before, after)
        if run.returncode == 0 and (differing or unread):
            disagreements.append(f"missed  {after[:12]}  {' '.join((differing + unread)[:3])}")
        if run.returncode == 1 and not differing and not unread:
            disagreements.append(f"alarm   {after[:12]}")
    print(f"{options.repository}: {sum(counts.values())} commits, {dict(sorted(counts.items()))}")
    for title, commits in (("compared as text", as_text), ("exit 2", incomplete)):
        print(f"{title}: {len(commits)} commits {' '.join(commit[:9] for commit in commits)}")
    print(f"disagreements: {len(disagreements)}")
    print("\n".join(disagreements))
    sys.exit(1 if disagreements else 0)


if __name__ == "__main__":
    main()
