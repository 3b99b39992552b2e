#!/usr/bin/env python3
"""Compares outcrop's verdict "nothing changed" with an independent reading by PyYAML, over the commits of a real repository.

    benches/nothing_changed.py REPOSITORY [--commits N] [--seconds N] [--outcrop PROGRAM]

For every commit with one parent, the YAML and JSON files that differ are read with PyYAML on both sides and compared as values. A file
that PyYAML cannot read, and a template of such a file (`app.yaml.j2`), counts as changed when its bytes differ, and so does a file of
any format that a kustomization above it names. Where outcrop says that nothing changed and values did, `kubectl kustomize` builds
every kustomization that the files reach and that no other one refers to, on both sides: the verdict is right if all files are part of
such builds, and these hold the same documents. Builds that
need the network are listed for a person to judge. Disagreements are printed, one line each, and make the exit code 1:

    missed    outcrop says that nothing changed, and a value or an unreadable file did
    alarm     outcrop says that something changed, and every file holds the same values at the same paths

Commits in which files were compared as text, and commits that ended with exit code 2, are listed below.
"""

import argparse
import collections
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
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


KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")


def changed_files(repository, before, after):
    for path, old, new in all_changed_files(repository, before, after):
        if path.lower().endswith(tuple(name.decode() for name in NAMES)):
            yield path, old, new


def all_changed_files(repository, before, after):
    command = ["git", "-C", repository, "diff-tree", "-r", "-z", "--no-renames", before, after]
    fields = subprocess.run(command, capture_output=True, check=True).stdout.split(b"\0")
    for head, path in zip(fields[0::2], fields[1::2]):
        old_mode, new_mode, old, new, _ = head.decode().lstrip(":").split(" ")
        is_file = all(mode in ("000000", "100644", "100755") for mode in (old_mode, new_mode))
        if is_file:
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


def named_by_kustomization(repository, before, after):
    """The changed files of other formats that a kustomization in a directory around them names, on either side."""
    for path, _, _ in all_changed_files(repository, before, after):
        directory = os.path.dirname(path)
        while path.rpartition(".")[2] not in ("yaml", "yml", "json"):
            for revision in (before, after):
                for name in KUSTOMIZATIONS:
                    command = ["git", "-C", repository, "show", f"{revision}:{os.path.join(directory, name)}"]
                    shown = subprocess.run(command, capture_output=True)
                    if shown.returncode == 0 and os.path.relpath(path, directory or ".") in shown.stdout.decode(errors="replace"):
                        return True
            if not directory:
                break
            directory = os.path.dirname(directory)
    return False


class Checkout:
    """One side in a directory of its own, and its kustomizations with what they refer to."""

    def __init__(self, repository, revision, directory):
        archive = subprocess.run(["git", "-C", repository, "archive", revision], capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(directory, filter="data")
        self.directory, self.references = directory, {}
        for root, _, files in os.walk(directory):
            for name in set(files) & set(KUSTOMIZATIONS):
                with open(os.path.join(root, name), "rb") as file:
                    try:
                        read = next(iter(yaml.load_all(file, yaml.CSafeLoader)), None) or {}
                    except yaml.YAMLError:
                        read = {}
                fields = [read.get(field) or [] for field in ("resources", "bases", "components")] if isinstance(read, dict) else []
                places = [os.path.normpath(os.path.join(root, name)) for names in fields for name in names if isinstance(name, str)]
                self.references[root] = places

    def tops(self, files):
        """The kustomizations that the files are part of and that no other one refers to; `None` if a file is part of none."""
        found = set()
        for file in files:
            path = os.path.join(self.directory, file)
            if not os.path.exists(path):
                continue
            around = os.path.dirname(path)
            while around not in self.references and len(around) > len(self.directory):
                around = os.path.dirname(around)
            reached, waiting = set(), [around]
            while waiting:
                place = waiting.pop()
                if place not in reached:
                    reached.add(place)
                    waiting.extend(root for root, places in self.references.items() if place in places or path in places)
            known = {place for place in reached if place in self.references}
            if not known:
                return None
            referred = {place for places in self.references.values() for place in places}
            found |= {place for place in known if place not in referred}
        return found

    def built(self, tops):
        """Every document of these builds; `None` if one fails."""
        found = collections.Counter()
        for top in tops:
            built = subprocess.run(["kubectl", "kustomize", top], capture_output=True)
            read = documents(built.stdout) if built.returncode == 0 else None
            if read is None:
                return None
            found.update(read)
        return found


def builds_alike(repository, before, after, files):
    """Whether kustomize makes the same of both sides, and all files are part of that; `None` if it cannot build them here."""
    with tempfile.TemporaryDirectory(prefix="outcrop-builds-") as directory:
        sides = []
        for name, revision in (("before", before), ("after", after)):
            checkout = Checkout(repository, revision, os.path.join(directory, name))
            tops = checkout.tops(files)
            if tops is None:
                return False
            built = checkout.built(tops)
            if built is None:
                return None
            sides.append(built)
        return sides[0] == sides[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repository")
    parser.add_argument("--commits", type=int, default=600)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--outcrop", default="outcrop")
    parser.add_argument("--only", help="file with commits to look at, one on each line, in place of the last ones")
    options = parser.parse_args()
    log = ["git", "-C", options.repository, "log", f"--max-count={options.commits}", "--no-merges", "--format=%H %P"]
    if options.only:
        with open(options.only, encoding="utf-8") as names:
            log = ["git", "-C", options.repository, "log", "--no-walk", "--format=%H %P", *names.read().split()]
    pairs = [line.split() for line in subprocess.run(log, capture_output=True, text=True, check=True).stdout.splitlines()]
    objects = Objects(options.repository)
    counts = collections.Counter()
    as_text, incomplete, disagreements, built, unbuilt = [], [], [], [], []
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
            is_alike = builds_alike(options.repository, before, after, differing + unread)
            if is_alike is not False:
                (unbuilt if is_alike is None else built).append(after)
                continue
            disagreements.append(f"missed  {after[:12]}  {' '.join((differing + unread)[:3])}")
        is_alarm = run.returncode == 1 and not differing and not unread
        if is_alarm and not named_by_kustomization(options.repository, before, after):
            disagreements.append(f"alarm   {after[:12]}")
    print(f"{options.repository}: {sum(counts.values())} commits, {dict(sorted(counts.items()))}")
    lists = {
        "compared as text": as_text,
        "exit 2": incomplete,
        "kustomize builds the same": built,
        "to be judged, kustomize cannot build": unbuilt,
    }
    for title, commits in lists.items():
        print(f"{title}: {len(commits)} commits {' '.join(commit[:9] for commit in commits)}")
    print(f"disagreements: {len(disagreements)}")
    print("\n".join(disagreements))
    sys.exit(1 if disagreements else 0)


if __name__ == "__main__":
    main()
