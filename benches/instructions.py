#!/usr/bin/env python3
"""Counts the instructions of five fixed runs with callgrind and compares them with the counts that are kept in the repository.

    benches/instructions.py [--outcrop PROGRAM] [--write] [--allow PERCENT]

Instruction counts do not depend on the load of the machine, so a change that costs 5 % more is seen. The counts of
`benches/instructions.json` belong to a release build on x86-64 Linux. The exit code is 1 when a run needs more than the allowed share
above its count; a run that needs less is named too, so that `--write` can keep the gain.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COUNTS = pathlib.Path(__file__).with_suffix(".json")
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "bench",
    "GIT_AUTHOR_EMAIL": "bench@example.com",
    "GIT_COMMITTER_NAME": "bench",
    "GIT_COMMITTER_EMAIL": "bench@example.com",
    "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
    # One thread, so that the same instructions run every time.
    "RAYON_NUM_THREADS": "1",
}


def service(number, image="v1"):
    """A Deployment and a Service, as repositories have them."""
    name = f"service-{number}"
    return f"""apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  labels: {{app: {name}, team: team-{number % 7}}}
spec:
  replicas: {number % 5 + 1}
  selector:
    matchLabels: {{app: {name}}}
  template:
    metadata:
      labels: {{app: {name}}}
    spec:
      containers:
        - name: main
          image: registry.example.com/{name}:{image}
          args: ["--port=8080", "--verbose"]
          env:
            - name: LOG_LEVEL
              value: "{number % 3}"
---
apiVersion: v1
kind: Service
metadata:
  name: {name}
spec:
  selector: {{app: {name}}}
  ports:
    - port: 80
      targetPort: 8080
"""


class Repository:
    """A repository of two commits, always with the same object ids."""

    def __init__(self, directory, before, after):
        self.directory = directory
        self.git("init", "--quiet", "--initial-branch=main")
        for files in (before, after):
            for path, text in files.items():
                target = directory / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
            self.git("add", "--all")
            self.git("commit", "--quiet", "--allow-empty", "--message", "change")
        self.git("gc", "--quiet")

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.directory, env=ENVIRONMENT, check=True)


def one_of_many():
    before = {f"services/{number}.yaml": service(number) for number in range(1000)}
    return before, {"services/500.yaml": service(500, "v2")}


def layer():
    before = {f"customers/{number}/resource.yaml": f"id: {number}\nname: customer {number}\n" for number in range(300)}
    metadata = "resourceInfo:\n  idFromAttribute: id\noperationInfo:\n  getResource:\n    path: /api/{}/{{{{.id}}}}\n"
    before["customers/_/metadata.yaml"] = metadata.format("v1")
    return before, {"customers/_/metadata.yaml": metadata.format("v2")}


def kustomize():
    base = "resources: [app.yaml]\nimages:\n  - name: registry.example.com/service-1\n    newTag: {}\n"
    before = {"base/app.yaml": service(1), "base/kustomization.yaml": base.format("v1")}
    for number in range(9):
        text = f"resources: [../../base]\nnamespace: ring-{number}\nreplicas:\n  - name: service-1\n    count: {number + 1}\n"
        before[f"rings/{number}/kustomization.yaml"] = text
    return before, {"base/kustomization.yaml": base.format("v2")}


def large():
    text = lambda image: "---\n".join(service(number, image if number % 20 == 0 else "v1") for number in range(1500))
    return {"all.yaml": text("v1")}, {"all.yaml": text("v2")}


CASES = {
    "nothing to compare": (one_of_many, ["HEAD", "HEAD"]),
    "one file of 1,000, warm": (one_of_many, ["HEAD~1", "HEAD"]),
    "a layer that applies to 300 resources": (layer, ["HEAD~1", "HEAD"]),
    "a kustomization that reaches nine roots": (kustomize, ["HEAD~1", "HEAD"]),
    "a file of 3,000 documents": (large, ["HEAD~1", "HEAD"]),
}


def count(program, case, scratch):
    """The instructions of one run, after a first one that fills the cache."""
    files, revisions = CASES[case]
    directory = scratch / case.replace(" ", "-").replace(",", "")
    directory.mkdir()
    repository = Repository(directory, *files())
    command = [program, "-C", str(repository.directory), "diff", *revisions]
    subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, check=True)
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", *command]
    result = subprocess.run(valgrind, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", result.stderr).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--outcrop", default=os.environ.get("OUTCROP_BIN", "target/release/outcrop"))
    parser.add_argument("--write", action="store_true", help="keep the counts of this build")
    parser.add_argument("--allow", type=float, default=5.0, help="how many per cent more are allowed")
    options = parser.parse_args()
    for program in ("valgrind", "git", options.outcrop):
        if not shutil.which(program):
            sys.exit(f"instructions.py: there is no program `{program}`")
    kept = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    counts, is_slower = {}, False
    with tempfile.TemporaryDirectory(prefix="outcrop-instructions-") as scratch:
        for case in CASES:
            counts[case] = count(os.path.abspath(shutil.which(options.outcrop)), case, pathlib.Path(scratch))
            change = (counts[case] / kept[case] - 1) * 100 if case in kept else None
            word = "new" if change is None else f"{change:+.1f} %"
            print(f"{case:<42} {counts[case] / 1e6:10.1f} million instructions   {word}")
            is_slower |= change is not None and change > options.allow
    if options.write:
        COUNTS.write_text(json.dumps(counts, indent=2) + "\n")
    elif is_slower:
        sys.exit(f"instructions.py: a run needs over {options.allow:g} % more instructions than benches/instructions.json says")


if __name__ == "__main__":
    main()
