#!/usr/bin/env python3
"""Compares `only version bumps` of outcrop with a classifier of its own, over the history of real repositories.

    benches/only_bumps.py REPOSITORY... [--commits N] [--revision REV] [--outcrop PROGRAM] [--list]

The classifier shares nothing with outcrop: it reads the changed files of a commit with PyYAML, compares them value by value, and looks at each
value that differs with regular expressions. It looks at files as they are written, and outcrop at what they mean, so that each commit on
which the two disagree has to be judged by a person; `--list` prints them. The exit code is 1 if outcrop says `only version bumps` of a
commit of which the classifier does not.

Nothing is written into the repositories: each is cloned with shared objects into a temporary directory.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import yaml

DIGEST = r"sha(?:256|384|512):[0-9a-f]{32,128}"
COMMIT = r"\b(?=[0-9a-f]*[0-9])[0-9a-f]{7,64}\b"
NUMBERS = r"\bv?\d+(?:[._]\d+)*\b"
EARLY = r"[-.+]?\b(?:rc|alpha|beta|pre|dev|snapshot|ls|r|p|build|post)[-.]?\d*\b"
VERSION = re.compile(f"{DIGEST}|{COMMIT}|{NUMBERS}|{EARLY}", re.IGNORECASE)
# Keys of values that may be versions, whatever they look like.
VERSION_KEY = re.compile(r"(^|[-_.])?(tag|newtag|digest|sha|version|versions|rev|revision|ref|commit|semver|chart|image|imagename|bundle|uses|startingcsv|appversion)$", re.IGNORECASE)
# Values that hold a version, whatever they are called.
VERSIONED = re.compile(r"^(docker://|oci://)?[\w.-]+(:\d+)?/[\w./-]+(:[\w.+-]+|@sha256:[0-9a-f]+)|[?&]ref=|github(usercontent)?\.com/.+/v?\d", re.IGNORECASE)


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Reads every scalar as the text it is, and every tag as if it were not there."""


def plain(loader, _suffix, node):
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return (node.tag, loader.construct_scalar(node))


Loader.add_multi_constructor("", plain)
Loader.yaml_implicit_resolvers = yaml.SafeLoader.yaml_implicit_resolvers
Loader.yaml_constructors = {}


def git(repository, *arguments):
    return subprocess.run(["git", "-C", repository, *arguments], check=True, capture_output=True).stdout


def flat(value, path, found):
    """The scalars of a document by their paths. Items of a list are called by their names, where all have one."""
    if isinstance(value, dict):
        if not value:
            found[path] = ("map", "{}")
        for key, member in value.items():
            flat(member, (*path, str(key[1] if isinstance(key, tuple) else key)), found)
    elif isinstance(value, list):
        if not value:
            found[path] = ("list", "[]")
        for at, item in enumerate(value):
            flat(item, (*path, at), found)
    else:
        found[path] = value if isinstance(value, tuple) else ("other", repr(value))


def scalars(repository, revision, path):
    text = git(repository, "show", f"{revision}:{path}").decode("utf-8")
    found = {}
    for number, document in enumerate(yaml.load_all(text, Loader=Loader)):
        flat(document, (number,), found)
    return found


def is_version_change(path, old, new):
    """Whether a value that differs says nothing but which version of something is used."""
    if old[0] != new[0]:
        return False
    before, after = old[1], new[1]
    if "\n" in before or "\n" in after:
        return is_versions_inside(before, after)
    keys = [str(key) for key in path if not isinstance(key, int)]
    is_meant = VERSIONED.search(before) and VERSIONED.search(after) or keys and VERSION_KEY.search(keys[-1])
    is_meant = is_meant or any("version" in key.lower() for key in keys[-1:])
    has_version = VERSION.search(before) and VERSION.search(after)
    return bool(is_meant and has_version and VERSION.sub("", before).rstrip("@:-.") == VERSION.sub("", after).rstrip("@:-."))


def is_versions_inside(before, after):
    """Whether two texts of several lines are documents that differ in versions only, such as patches in a kustomization."""
    sides = []
    for text in (before, after):
        try:
            found = {}
            flat(yaml.load(text, Loader=Loader), (), found)
        except yaml.YAMLError:
            return False
        sides.append(found)
    old, new = sides
    differing = [place for place in old if old[place] != new.get(place)]
    return old.keys() == new.keys() and bool(differing) and all(is_version_change(place, old[place], new[place]) for place in differing)


def annotated(repository, revision, path, value):
    """Whether a comment above a line with the value says that renovate keeps it up to date."""
    lines = git(repository, "show", f"{revision}:{path}").decode("utf-8").splitlines()
    return any("renovate:" in above and value in line for above, line in zip(lines, lines[1:]))


def classify(repository, commit):
    """Whether a commit changes nothing but versions, and why not."""
    lines = git(repository, "diff-tree", "-r", "--no-renames", "--raw", f"{commit}^", commit).decode("utf-8", "replace").splitlines()
    changes = 0
    for line in lines:
        meta, path = line.split("\t", 1)
        old_mode, new_mode, _, _, status = meta.lstrip(":").split(" ")
        if status != "M" or old_mode != new_mode or new_mode not in ("100644", "100755"):
            return False, f"{status} {path}"
        if not path.endswith((".yaml", ".yml", ".json")):
            return False, f"other file {path}"
        try:
            before, after = scalars(repository, f"{commit}^", path), scalars(repository, commit, path)
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
            return False, f"not YAML {path}: {str(error).splitlines()[0]}"
        if before.keys() != after.keys():
            return False, f"other fields {path}"
        for place, old in before.items():
            new = after[place]
            if old == new:
                continue
            changes += 1
            if not is_version_change(place, old, new):
                is_known = old[0] == new[0] and VERSION.search(old[1]) and annotated(repository, commit, path, new[1])
                if not is_known:
                    return False, f"{path} {'.'.join(map(str, place))}: {old[1][:60]!r} -> {new[1][:60]!r}"
    return changes > 0, f"{changes} values"


def commits(repository, revision, count):
    command = ["rev-list", "--first-parent", "--no-merges", "--min-parents=1", f"--max-count={count}", revision]
    return git(repository, *command, "--", "*.yaml", "*.yml", "*.json").decode().split()


def said_by_outcrop(program, repository, commit):
    command = [program, "-C", repository, "diff", "--format", "json", f"{commit}^", commit]
    ran = subprocess.run(command, capture_output=True, check=False)
    if ran.returncode not in (0, 1, 2) or not ran.stdout:
        return None, ran.stderr.decode("utf-8", "replace")[:200]
    report = json.loads(ran.stdout)
    return report["summary"]["only_bumps"], len(report.get("bumps", []))


def judge(options, repository, name):
    chosen = commits(repository, options.revision, options.commits)
    said, true, both, wrong, missed, failed = 0, 0, 0, [], [], []
    for commit in chosen:
        expected, why = classify(repository, commit)
        found, detail = said_by_outcrop(options.outcrop, repository, commit)
        if found is None:
            failed.append((commit, detail))
            continue
        said, true, both = said + found, true + expected, both + (found and expected)
        if found and not expected:
            wrong.append((commit, why))
        if expected and not found:
            missed.append((commit, why))
    share = 100 * both / true if true else 0.0
    print(f"{name}: {len(chosen)} commits, classifier {true}, outcrop {said}, both {both} ({share:.1f} % found), "
          f"only outcrop {len(wrong)}, only classifier {len(missed)}, failed {len(failed)}")
    if options.list:
        for title, rows in (("only outcrop", wrong), ("only classifier", missed), ("failed", failed)):
            for commit, why in rows:
                print(f"  {title}: {commit[:10]} {why}")
    return len(wrong) + len(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+")
    parser.add_argument("--commits", type=int, default=500)
    parser.add_argument("--revision", default="HEAD")
    parser.add_argument("--outcrop", default=os.environ.get("OUTCROP_BIN", "outcrop"))
    parser.add_argument("--list", action="store_true", help="print every commit on which the two disagree")
    options = parser.parse_args()
    disagreements = 0
    for repository in options.repositories:
        with tempfile.TemporaryDirectory(prefix="outcrop-bumps-") as directory:
            clone = os.path.join(directory, "clone")
            command = ["git", "clone", "--quiet", "--bare", "--shared", os.path.abspath(repository), clone]
            subprocess.run(command, check=True)
            name = os.path.basename(os.path.dirname(os.path.abspath(repository)))
            disagreements += judge(options, clone, name)
    sys.exit(1 if disagreements else 0)


if __name__ == "__main__":
    main()
