#!/usr/bin/env python3
"""Runs outcrop and the peers found on PATH over the same files: CPU seconds, peak memory, and verdicts.

    benches/peers.py speed [--documents 7050] [--runs 5]     a pair of YAML files, every tool in turns
    benches/peers.py verdicts [--write]                      every case of fixtures/vectors/diff; --write updates docs/verdicts.md

OUTCROP_BIN names the binary (default: target/release/outcrop). Peers: dyff, diffyml, difft, jd, sem. Those that are not on PATH
are named as absent, not skipped in silence.
"""
import argparse, json, os, random, shutil, subprocess, sys, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUTCROP = os.environ.get("OUTCROP_BIN", str(ROOT / "target/release/outcrop"))

# Name, command for two files, and how its exit code tells "different" from "failed".
PEERS = [
    ("outcrop", lambda a, b: [OUTCROP, "difftool", "--exit-code", a, b]),
    ("diffyml", lambda a, b: ["diffyml", "--set-exit-code", a, b]),
    ("dyff", lambda a, b: ["dyff", "between", "--set-exit-code", a, b]),
    ("difft", lambda a, b: ["difft", "--exit-code", a, b]),
    ("jd", lambda a, b: ["jd", "-yaml", a, b]),
    ("sem", lambda a, b: ["sem", "diff", a, b]),
]


def present():
    for name, command in PEERS:
        program = OUTCROP if name == "outcrop" else shutil.which(name)
        if program and Path(program).exists():
            yield name, command
        else:
            print(f"{name}: not on PATH")


def document(i, rnd):
    name, team = f"svc-{i:05d}", f"team-{i % 40:02d}"
    env = "".join(f"        - name: VAR_{k}\n          value: value-{i}-{k}\n" for k in range(12))
    conf = "".join(f"    key_{k} = {rnd.getrandbits(32):08x}\n" for k in range(20))
    head = lambda kind, version, label: (
        f"---\napiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {label}\n  namespace: {team}\n")
    return [
        head("Deployment", "apps/v1", name) + f"  labels:\n    app: {name}\nspec:\n  replicas: {rnd.randint(1, 9)}\n  template:\n    spec:\n"
        f"      containers:\n      - name: main\n        image: registry.example/{name}:1.{i % 20}.{i % 7}\n        env:\n{env}"
        f"        ports:\n        - name: http\n          containerPort: 8080\n      - name: sidecar\n        image: registry.example/envoy:1.29\n",
        head("ConfigMap", "v1", name + "-config") + f"data:\n  mode: prod\n  app.conf: |\n{conf}",
        head("Service", "v1", name) + f"spec:\n  selector:\n    app: {name}\n  ports:\n  - name: http\n    port: 80\n    targetPort: 8080\n",
    ]


def make_pair(directory, documents):
    """Every Deployment gains a label, some change in other ways, a few documents come and go."""
    rnd, edits = random.Random(7), random.Random(11)
    before = [text for i in range(documents // 3) for text in document(i, rnd)]
    after = []
    for text in before:
        if edits.random() < 0.005:
            continue
        if "kind: Deployment" in text:
            text = text.replace("  labels:\n", "  labels:\n    fleet: blue\n", 1)
            if edits.random() < 0.1:
                text = text.replace("\n        env:", "-rc1\n        env:", 1)
        elif "kind: ConfigMap" in text and edits.random() < 0.05:
            text = text.replace("key_7 =", "key_7_new =")
        after.append(text)
    after += [text for j in range(max(1, documents // 300)) for text in document(90000 + j, rnd)]
    paths = [str(Path(directory) / name) for name in ("before.yaml", "after.yaml")]
    for path, texts in zip(paths, (before, after)):
        Path(path).write_text("".join(texts))
    return paths


def run(command):
    """Exit code, CPU seconds and peak memory (MB) of one run; output goes to a file so that no tool waits for a reader."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        lines = sum(1 for _ in out)
    return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, lines


def speed(arguments):
    with tempfile.TemporaryDirectory() as directory:
        pair = make_pair(directory, arguments.documents)
        size = sum(os.path.getsize(path) for path in pair) / 2 / 1e6
        print(f"{arguments.documents} documents, {size:.1f} MB a side; best CPU of {arguments.runs} runs in turns")
        peers = list(present())
        best = {}
        for _ in range(arguments.runs):
            for name, command in peers:
                code, cpu, memory, lines = run(command(*pair))
                if name not in best or cpu < best[name][0]:
                    best[name] = (cpu, memory, lines, code)
        ours = best["outcrop"][0]
        print(f"{'tool':10} {'CPU s':>7} {'MB':>6} {'lines':>8} {'× outcrop':>10}")
        for name, (cpu, memory, lines, code) in sorted(best.items(), key=lambda item: item[1][0]):
            note = "" if code in (0, 1) else f"   exit code {code}"
            print(f"{name:10} {cpu:7.2f} {memory:6.0f} {lines:8} {cpu / ours:10.1f}{note}")


def verdict(name, code):
    if name == "outcrop":
        return {0: "same", 1: "differs"}.get(code, "error")
    if name in ("dyff", "difft", "diffyml", "jd"):
        return {0: "same", 1: "differs"}.get(code, "error")
    return f"exit {code}"


def verdicts(arguments):
    cases = json.loads((ROOT / "fixtures/vectors/diff/verdicts.json").read_text())
    peers = [peer for peer in present() if peer[0] != "sem"]
    rows, right = [], {name: 0 for name, _ in peers}
    with tempfile.TemporaryDirectory() as directory:
        pair = [str(Path(directory) / name) for name in ("before.yaml", "after.yaml")]
        for case in cases:
            for path, key in zip(pair, ("before", "after")):
                Path(path).write_bytes(case["given"][key].encode())
            want = case["expect"]["verdict"]
            row = [case["name"], want]
            for name, command in peers:
                got = verdict(name, run(command(*pair))[0])
                right[name] += got == want
                row.append(got if got == want else f"**{got}**")
            rows.append(row)
    table = ["| case | right | " + " | ".join(name for name, _ in peers) + " |", "|---|---|" + "---|" * len(peers)]
    table += ["| " + " | ".join(row) + " |" for row in rows]
    table.append(f"| **right of {len(cases)}** | | " + " | ".join(str(right[name]) for name, _ in peers) + " |")
    text = "\n".join(table) + "\n"
    print(text)
    if arguments.write:
        page = ROOT / "docs/verdicts.md"
        head = page.read_text().split("<!-- table -->")[0]
        page.write_text(head + "<!-- table -->\n\n" + text)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
commands = parser.add_subparsers(required=True)
one = commands.add_parser("speed")
one.add_argument("--documents", type=int, default=7050)
one.add_argument("--runs", type=int, default=5)
one.set_defaults(run=speed)
two = commands.add_parser("verdicts")
two.add_argument("--write", action="store_true")
two.set_defaults(run=verdicts)
arguments = parser.parse_args()
arguments.run(arguments)
