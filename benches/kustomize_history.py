#!/usr/bin/env python3
"""Compares `outcrop affected` with `kubectl kustomize` on both sides of random commits of a real repository.

    benches/kustomize_history.py CLONE [--commits N] [--seed N] [--seconds N] [--outcrop PROGRAM]

CLONE is a clone with nothing checked out by others: two worktrees are made beside it. For each commit that edits something, kubectl
builds the roots near the edited files (same first two directories) and those that outcrop calls reached, on both sides. The roots whose
sets of documents differ must be those that `outcrop affected` lists. Roots that kubectl cannot build offline are counted apart: outcrop
compares what the repository says about them. Disagreements are printed, and make the exit code 1.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import time

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
OFFLINE = {
    **os.environ, "HTTPS_PROXY": "http://127.0.0.1:1", "HTTP_PROXY": "http://127.0.0.1:1",
    "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.allow", "GIT_CONFIG_VALUE_0": "never",
}


def git(clone, *words):
    return subprocess.run(["git", "-C", clone, *words], check=True, capture_output=True, text=True).stdout


def build(tree, root):
    """The documents of a root, `None` if there is no such root, `False` if it cannot be built."""
    if not any(pathlib.Path(tree, root, name).is_file() for name in NAMES):
        return None
    command = ["kubectl", "kustomize", "--load-restrictor", "LoadRestrictionsNone", root]
    run = subprocess.run(command, cwd=tree, env=OFFLINE, capture_output=True, text=True)
    return frozenset(run.stdout.split("\n---\n")) if run.returncode == 0 else False


def near(tree, files):
    """Kustomizations below the first two directories of edited files."""
    found = set()
    for top in {"/".join(file.split("/")[:2]) for file in files if file.count("/") >= 2}:
        for path in pathlib.Path(tree, top).rglob("*"):
            if path.name in NAMES and "kind: Component" not in path.read_text(errors="replace"):
                found.add(str(path.parent.relative_to(tree)))
    return found


def names(program, clone, commit, *flags):
    command = [program, "-C", clone, "affected", "--name-only", *flags, f"{commit}~1", commit]
    run = subprocess.run(command, capture_output=True, text=True)
    return set(run.stdout.split("\n")) - {""}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("clone")
    parser.add_argument("--commits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=10**9)
    parser.add_argument("--outcrop", default="outcrop")
    given = parser.parse_args()
    commits = git(given.clone, "rev-list", "--no-merges", "--max-count=6000", "HEAD").split()[:-1]
    random.Random(given.seed).shuffle(commits)
    trees = [f"{given.clone}.{side}" for side in ("before", "after")]
    for tree in trees:
        if not os.path.isdir(tree):
            git(given.clone, "worktree", "add", "--detach", "--force", os.path.abspath(tree), "HEAD")
    counts = dict.fromkeys(("commits", "differ", "equal", "not offline", "disagree"), 0)
    end = time.time() + given.seconds
    for commit in commits[: given.commits]:
        if time.time() > end:
            break
        files = git(given.clone, "diff", "--name-only", f"{commit}~1", commit).split("\n")
        for tree, revision in zip(trees, (f"{commit}~1", commit)):
            git(tree, "checkout", "--quiet", "--force", "--detach", revision)
        affected, reached = names(given.outcrop, given.clone, commit), names(given.outcrop, given.clone, commit, "--reached")
        counts["commits"] += 1
        for root in sorted(affected | reached | near(trees[0], files) | near(trees[1], files)):
            before, after = (build(tree, root) for tree in trees)
            if before is False or after is False:
                counts["not offline"] += 1
            elif before == after:
                counts["equal"] += 1
                if root in affected:
                    counts["disagree"] += 1
                    print(f"{commit[:9]} {root}: listed, and equal", flush=True)
            elif root in affected or root not in reached and not is_root(given, commit, root):
                counts["differ"] += 1
            else:
                counts["disagree"] += 1
                print(f"{commit[:9]} {root}: differs, and is not listed", flush=True)
    print(json.dumps(counts))
    sys.exit(counts["disagree"] > 0)


def is_root(given, commit, directory):
    """Whether nothing else refers to a kustomization: what only other kustomizations use is shown there."""
    last = directory.rsplit("/", 1)[-1]
    pattern = ["grep", "-lE", rf"^\s*-\s+[\"']?[^ ]*{last}/?[\"']?\s*$"]
    for revision in (f"{commit}~1", commit):
        run = subprocess.run(
            ["git", "-C", given.clone, *pattern, revision, "--", *(f"*{name}" for name in NAMES)], capture_output=True, text=True)
        if run.stdout:
            return False
    return True


main()
