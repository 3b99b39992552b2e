#!/usr/bin/env python3
"""Measures the cost of `outcrop diff` on a real repository, as ratios to `git diff` and `git grep` of the same run.

    benches/real.py REPOSITORY [--commits N] [--revision REV] [--outcrop PROGRAM] [--cold N] [-- OUTCROP DIFF OPTIONS]

Nothing is fetched, and nothing is written into the repository: it is cloned with shared objects into a temporary directory, where the
cache of outcrop is filled. Every commit with one parent is compared in turn by both programs.

    start     a commit and itself, where there is nothing to compare
    warm      each of the last N commits, after the cache was filled by the commit before it
    cold      the newest commits, each without any cache, beside `git grep -F` over the YAML and JSON files of that commit

Figures are CPU seconds (user and system) and peak memory of each process, as the operating system counts them.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

PATTERNS = ["*.yaml", "*.yml", "*.json"]


def run(command):
    """The exit code, CPU seconds and peak memory in MB of a process. Its output goes to a pipe that is read to the end, as a reader would."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while process.stdout.read(1 << 20):
        pass
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def git(repository, *arguments):
    return ["git", "-C", repository, *arguments]


def commits(repository, revision, count):
    """The newest commits with one parent, the oldest first."""
    command = git(repository, "rev-list", "--first-parent", "--no-merges", f"--max-count={count}", revision)
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    has_parent = lambda commit: subprocess.run(
        git(repository, "rev-parse", "--verify", "--quiet", f"{commit}^"), capture_output=True, check=False
    ).returncode == 0
    return [commit for commit in reversed(listed) if has_parent(commit)]


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


class Runs:
    """The runs of one program."""

    def __init__(self):
        self.cpu, self.memory, self.codes = [], [], {}

    def add(self, result):
        code, cpu, memory = result
        self.cpu.append(cpu)
        self.memory.append(memory)
        self.codes[code] = self.codes.get(code, 0) + 1

    def line(self, name):
        codes = ", ".join(f"exit {code}: {count}" for code, count in sorted(self.codes.items()))
        return (
            f"  {name:<14} {sum(self.cpu):8.2f} s CPU   median {percentile(self.cpu, 0.5) * 1000:7.1f} ms"
            f"   p95 {percentile(self.cpu, 0.95) * 1000:7.1f} ms   most {max(self.cpu, default=0) * 1000:7.1f} ms"
            f"   peak {max(self.memory, default=0):6.0f} MB   {codes}"
        )


def compare(options, repository, chosen, is_cold):
    """Runs both programs over commits, in turns."""
    outcrop, reference, slowest = Runs(), Runs(), []
    for commit in chosen:
        pair = [f"{commit}^", commit]
        flags = ["--no-cache"] if is_cold else []
        result = run([options.outcrop, "-C", repository, "diff", *flags, *options.rest, *pair])
        outcrop.add(result)
        slowest.append((result[1], commit))
        if is_cold:
            reference.add(run(git(repository, "grep", "-F", "+include", commit, "--", *PATTERNS)))
        else:
            reference.add(run(git(repository, "diff", "--no-ext-diff", *pair)))
    return outcrop, reference, sorted(slowest, reverse=True)[:3]


def start(options, repository, commit):
    """Runs both programs on a commit and itself, in turns."""
    outcrop, reference = Runs(), Runs()
    for _ in range(15):
        outcrop.add(run([options.outcrop, "-C", repository, "diff", *options.rest, commit, commit]))
        reference.add(run(git(repository, "diff", "--no-ext-diff", commit, commit)))
    return outcrop, reference, []


def report(title, other, outcrop, reference, slowest):
    ratio = sum(outcrop.cpu) / max(sum(reference.cpu), 1e-9)
    print(f"{title}: {len(outcrop.cpu)} runs, ratio {ratio:.2f}")
    print(outcrop.line("outcrop diff"))
    print(reference.line(other))
    if slowest:
        print("  slowest: " + ", ".join(f"{commit[:10]} {cpu * 1000:.0f} ms" for cpu, commit in slowest))
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository")
    parser.add_argument("--commits", type=int, default=300)
    parser.add_argument("--revision", default="HEAD")
    parser.add_argument("--outcrop", default=os.environ.get("OUTCROP_BIN", "outcrop"))
    parser.add_argument("--cold", type=int, default=5, help="how many commits to measure without a cache")
    parser.epilog = "Everything after `--` is passed to `outcrop diff`."
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:end])
    options.rest = words[end + 1 :]
    if not shutil.which(options.outcrop):
        sys.exit(f"real.py: there is no program `{options.outcrop}`; build one with `cargo build --release`")
    with tempfile.TemporaryDirectory() as directory:
        clone = os.path.join(directory, "clone")
        command = ["git", "clone", "--quiet", "--bare", "--shared", os.path.abspath(options.repository), clone]
        subprocess.run(command, check=True)
        chosen = commits(clone, options.revision, options.commits + 1)
        run([options.outcrop, "-C", clone, "diff", *options.rest, f"{chosen[0]}^", chosen[0]])
        report("start", "git diff", *start(options, clone, chosen[-1]))
        report("warm", "git diff", *compare(options, clone, chosen[1:], is_cold=False))
        if options.cold:
            report("cold", "git grep -F", *compare(options, clone, chosen[-options.cold :], is_cold=True))


if __name__ == "__main__":
    main()
