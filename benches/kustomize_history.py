#!/usr/bin/env python3
"""Compares outcrop with a real kustomize on both sides of random commits of a real repository.

    benches/kustomize_history.py CLONE [--commits N] [--seed N] [--seconds N] [--outcrop PROGRAM] [--builder PROGRAM]

CLONE is a clone with nothing checked out by others: two worktrees are made beside it. For each commit, the kustomizations that the edited
files can reach are found here on their own, from the paths that kustomizations hold. Those that are no part of others (and those that
outcrop lists) are built on both sides. Then

- the roots whose sets of documents differ must be those that `outcrop affected` lists, with the same resources;
- what `outcrop render` gives for them must be what was built, on both sides.

Roots that cannot be built offline are counted apart: outcrop compares what the repository says about them. Disagreements are printed, and
make the exit code 1. `kubectl kustomize` builds; or a builder, which reads `{"dir": …, "root": …}` on each line and answers on one line
with `expect` or `error`. Builds are remembered by everything that they can read.
"""
import argparse
import collections
import hashlib
import json
import os
import posixpath
import random
import re
import subprocess
import sys
import time

import yaml

try:
    LOADER = yaml.CSafeLoader
except AttributeError:
    LOADER = yaml.SafeLoader

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
OFFLINE = {
    **os.environ, "HTTPS_PROXY": "http://127.0.0.1:1", "HTTP_PROXY": "http://127.0.0.1:1",
    "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.allow", "GIT_CONFIG_VALUE_0": "never",
}


def git(clone, *words):
    return subprocess.run(["git", "-C", clone, *words], check=True, capture_output=True).stdout.decode(errors="replace")


class Graph:
    """The kustomizations of a tree and every path that they hold."""
    parsed = {}

    def __init__(self, clone, revision):
        self.files = {}
        for row in git(clone, "ls-tree", "-r", "-z", revision).split("\0"):
            if row:
                head, path = row.split("\t", 1)
                self.files[path] = head.split()[2]
        self.kustomizations = {}
        for path, oid in self.files.items():
            if posixpath.basename(path) in NAMES:
                if oid not in Graph.parsed:
                    Graph.parsed[oid] = Graph.read(git(clone, "cat-file", "blob", oid))
                self.kustomizations[posixpath.dirname(path)] = (*Graph.parsed[oid], path)

    @staticmethod
    def read(text):
        """Whether it is a component, what it refers to, and every text in it."""
        try:
            document = next(iter(yaml.load_all(text, LOADER)), None) or {}
        except yaml.YAMLError:
            return False, [], set()
        texts = set()

        def visit(node):
            if isinstance(node, dict):
                for item in node.values():
                    visit(item)
            elif isinstance(node, list):
                for item in node:
                    visit(item)
            elif isinstance(node, str) and "\n" not in node:
                texts.add(node)
                texts.add(node.split("=", 1)[-1])
        visit(document)
        refers = [item for field in ("resources", "bases", "components") for item in document.get(field) or [] if isinstance(item, str)]
        return document.get("kind") == "Component", refers, texts

    def resolved(self, directory, text):
        path = posixpath.normpath(posixpath.join(directory, text))
        return "" if path == "." else path

    def referred(self):
        return {self.resolved(directory, text) for directory, (_, refers, _, _) in self.kustomizations.items() for text in refers}

    def roots(self):
        referred = self.referred()
        return {directory for directory, (component, *_) in self.kustomizations.items() if not component and directory not in referred}

    def inputs(self, root, cache):
        """Every file that a root can read, with its id."""
        if root in cache:
            return cache[root]
        found, entered, waiting = set(), set(), [root]
        while waiting:
            directory = waiting.pop()
            if directory in entered or directory not in self.kustomizations:
                continue
            entered.add(directory)
            _, _, texts, file = self.kustomizations[directory]
            found.add(file)
            for text in texts:
                path = self.resolved(directory, text)
                if path in self.kustomizations:
                    waiting.append(path)
                if path in self.files:
                    found.add(path)
        cache[root] = {path: self.files[path] for path in found}
        return cache[root]


class Builder:
    def __init__(self, program):
        self.kept, self.runs = {}, 0
        self.process = program and subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=OFFLINE)

    def build(self, tree, root, inputs):
        """The documents of a root by name, `None` if there is no such root, `False` if it cannot be built."""
        if not any(os.path.isfile(os.path.join(tree, root, name)) for name in NAMES):
            return None
        key = hashlib.sha256(json.dumps([root, sorted(inputs.items())]).encode()).hexdigest()
        if key not in self.kept:
            self.runs += 1
            self.kept[key] = self.fresh(tree, root)
        return self.kept[key]

    def fresh(self, tree, root):
        if self.process:
            self.process.stdin.write(json.dumps({"dir": os.path.abspath(tree), "root": root}) + "\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline())
            return False if "error" in answer else keyed(answer.get("expect") or [])
        command = ["kubectl", "kustomize", "--load-restrictor", "LoadRestrictionsNone", root or "."]
        run = subprocess.run(command, cwd=tree, env=OFFLINE, capture_output=True, text=True)
        return keyed(yaml.load_all(run.stdout, LOADER)) if run.returncode == 0 else False


def keyed(documents):
    return collections.Counter(json.dumps(document, sort_keys=True, default=str) for document in documents if document)


def named(text):
    document = json.loads(text)
    meta = document["metadata"]
    generated = document["kind"] in ("ConfigMap", "Secret")
    name = re.sub(r"-[0-9a-z]{10}$", "", meta["name"]) if generated else meta["name"]
    group = document["apiVersion"].rsplit("/", 1)[0] if "/" in document["apiVersion"] else ""
    kind = document["kind"] + (f".{group}" if "." in group and not group.endswith(".k8s.io") else "")
    return f"{kind} {meta['namespace']}/{name}" if meta.get("namespace") else f"{kind} {name}"


HIDDEN = "•••"


def is_same(rendered, build):
    """Whether two sets of documents are equal; what outcrop hides as a secret is equal to anything."""
    if rendered == build or isinstance(rendered, str):
        return rendered == build
    left = [json.loads(text) for text in build - rendered]
    for text in rendered - build:
        match = next((document for document in left if fits(json.loads(text), document)), None)
        if match is None:
            return False
        left.remove(match)
    return not left


def fits(found, expected):
    if found == HIDDEN:
        return True
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(fits(found[key], expected[key]) for key in found)
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(fits, found, expected))
    return found == expected


def outcrop(program, clone, *words):
    run = subprocess.run([program, "-C", clone, *words], capture_output=True, text=True)
    return run.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("clone")
    parser.add_argument("--commits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=10**9)
    parser.add_argument("--outcrop", default="outcrop")
    parser.add_argument("--builder")
    given = parser.parse_args()
    commits = git(given.clone, "rev-list", "--no-merges", "HEAD").split()[:-1]
    random.Random(given.seed).shuffle(commits)
    trees = [f"{given.clone}.{side}" for side in ("before", "after")]
    for tree in trees:
        if not os.path.isdir(tree):
            git(given.clone, "worktree", "add", "--detach", "--force", os.path.abspath(tree), "HEAD")
    counts = dict.fromkeys(("commits", "roots that differ", "roots that are equal", "not offline", "renders compared", "disagreements"), 0)
    builder = Builder(given.builder)
    end = time.time() + given.seconds

    def disagree(commit, root, what):
        counts["disagreements"] += 1
        print(f"{commit[:9]} {root}: {what}", flush=True)

    for commit in commits[: given.commits]:
        if time.time() > end:
            break
        counts["commits"] += 1
        files = set(git(given.clone, "diff", "--name-only", "--no-renames", "-z", f"{commit}~1", commit).split("\0"))
        graphs = [Graph(given.clone, revision) for revision in (f"{commit}~1", commit)]
        caches = [{}, {}]
        for tree, revision in zip(trees, (f"{commit}~1", commit)):
            git(tree, "checkout", "--quiet", "--force", "--detach", revision)
        listed = json.loads(outcrop(given.outcrop, given.clone, "affected", "--format", "json", f"{commit}~1", commit) or "{}")
        affected = {unit["name"]: unit for unit in listed.get("units", []) if unit["layout"] == "kustomize"}
        reached = {unit for unit in outcrop(given.outcrop, given.clone, "affected", "--reached", "--name-only", f"{commit}~1", commit).split("\n") if unit and "#" not in unit}
        own = [graph.roots() for graph in graphs]
        candidates = {root for graph, cache, roots in zip(graphs, caches, own) for root in roots
                      if files & graph.inputs(root, cache).keys()}
        for root in sorted(candidates | set(affected) | reached):
            before, after = (builder.build(tree, root, graph.inputs(root, cache)) for tree, graph, cache in zip(trees, graphs, caches))
            # A root on one side that is a part of others, or absent, on the other one.
            sides = [root in roots or root in affected for roots in own]
            if before is False or after is False:
                counts["not offline"] += 1
                continue
            if before == after:
                counts["roots that are equal"] += 1
                if root in affected and affected[root]["status"] == "changed":
                    disagree(commit, root, "listed, and equal")
            elif root in affected:
                counts["roots that differ"] += 1
                found = {it["name"] for it in affected[root].get("resources", [])}
                older, newer = before or collections.Counter(), after or collections.Counter()
                expected = {named(text) for text in (older - newer) + (newer - older)}
                if None not in (before, after) and found and found != expected:
                    disagree(commit, root, f"other resources: {sorted(found ^ expected)}")
            else:
                disagree(commit, root, f"differs, and is not listed {sides}")
            for revision, build in ((f"{commit}~1", before), (commit, after)):
                if build is not None:
                    printed = outcrop(given.outcrop, given.clone, "render", "--root", root or ".", "--at", revision, "--format", "json")
                    counts["renders compared"] += 1
                    try:
                        rendered = keyed(resource["payload"] for resource in json.loads(printed))
                    except ValueError:
                        rendered = printed[:200]
                    if not is_same(rendered, build):
                        disagree(commit, root, f"rendered differently at {revision}")
    print(json.dumps({**counts, "builds": builder.runs}))
    sys.exit(counts["disagreements"] > 0)


main()
