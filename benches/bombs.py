#!/usr/bin/env python3
"""Small inputs that ask for much work: builds each in a temporary directory, runs outcrop on it, and prints what it cost.

    benches/bombs.py [--bin PATH] [--only WORD[,WORD…]] [--list] [--quick] [--timeout SECONDS] [--markdown]

Every line is one command: peak memory, CPU and wall time, exit code, bytes written, and the first line of what was said on
standard error. A run must stay within 1 GB and 10 s, end with 0, 1 or 2, and never say "no changes" where it gave up.
"""
import argparse, os, resource, shutil, signal, subprocess, sys, tempfile, time

ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
       "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
       "GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000", "LANG": "C.UTF-8"}

DIFFS = [["diff", "HEAD~1", "HEAD", "--format", f] for f in
         ("terminal", "side-by-side", "unified", "json", "json-patch", "markdown", "html")]
DIFF = [DIFFS[0]]
SOME = [DIFFS[0], DIFFS[3], DIFFS[5]]
CHECK = [["check", "HEAD~1", "HEAD"]]
CHECK_ALL = [["check", "HEAD", "--all"], ["check", "HEAD", "--all", "--format", "sarif"]]
RENDER = [["render", "--at", "HEAD"]]
STEPS = [["render", "--at", "HEAD", "--steps"]]

BOMBS = {}


def bomb(commands, listed=False):
    def register(function):
        BOMBS[function.__name__] = (function, commands, listed)
        return function
    return register


class Repository:
    """A repository made with fast-import: no file of it is ever checked out unless asked for."""

    def __init__(self, path):
        self.path = path
        self.git("init", "-q", "-b", "main", ".")

    def git(self, *args, data=None):
        done = subprocess.run(["git", *args], cwd=self.path, env=ENV, input=data, stdout=subprocess.PIPE, check=True)
        return done.stdout

    def commit(self, files, checkout=False):
        """One commit with exactly these files: a map from path to text or bytes."""
        out = [b"commit refs/heads/main\ncommitter a <a@b> 1700000000 +0000\ndata 1\nx\n"]
        if self.git("for-each-ref", "refs/heads/main"):
            out.append(b"from refs/heads/main^0\n")
        out.append(b"deleteall\n")
        for path, text in files.items():
            data = text if isinstance(text, bytes) else text.encode()
            out.append(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data))
        self.git("fast-import", "--quiet", "--force", data=b"".join(out))
        if checkout:
            self.git("reset", "-q", "--hard")

    def pair(self, before, after):
        self.commit(before)
        self.commit(after)

    def tree(self, entries):
        """A tree object; entries are (mode, type, id, name)."""
        lines = "".join(f"{mode} {kind} {id}\t{name}\n" for mode, kind, id, name in entries)
        return self.git("mktree", "--missing", data=lines.encode()).decode().strip()

    def blob(self, text):
        return self.git("hash-object", "-w", "--stdin", data=text.encode()).decode().strip()

    def commit_tree(self, tree, *parents):
        flags = [word for parent in parents for word in ("-p", parent)]
        id = self.git("commit-tree", tree, "-m", "x", *flags).decode().strip()
        self.git("update-ref", "refs/heads/main", id)
        return id


# ----- The attacks on the first release.

def laughs(levels, width, leaf="x"):
    lines = [f"a0: &a0 [{', '.join([leaf] * width)}]"]
    for level in range(1, levels):
        lines.append(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * width)}]")
    return "\n".join(lines) + "\n"


@bomb(DIFFS + CHECK + RENDER, listed=True)
def aliases_in_20_files(repo):
    repo.pair({f"f{n}.yaml": laughs(6, 10, "x") for n in range(20)},
              {f"f{n}.yaml": laughs(6, 10, "y") for n in range(20)})


@bomb(DIFFS, listed=True)
def aliases_in_40_files(repo):
    repo.pair({f"f{n}.yaml": laughs(6, 11, f"x{n}") for n in range(40)},
              {f"f{n}.yaml": laughs(6, 11, f"y{n}") for n in range(40)})


def merge_keys(seed, levels=2000, keys=90):
    base = "base: &b0\n" + "".join(f"  k{n}: {seed}{n}\n" for n in range(keys))
    return base + "".join(f"m{n}: &b{n}\n  <<: *b{n - 1}\n  own{n}: {seed}\n" for n in range(1, levels) if n < 100) + \
        "".join(f"u{n}:\n  <<: [{', '.join(f'*b{m}' for m in range(99))}]\n  z: {seed}{n}\n" for n in range(levels))


@bomb(DIFFS, listed=True)
def merge_keys_in_8_files(repo):
    repo.pair({f"f{n}.yaml": merge_keys("x", 350) for n in range(8)},
              {f"f{n}.yaml": merge_keys("y", 350) for n in range(8)})


def patches(body):
    return {"_/patches.yaml": body}


@bomb(DIFF + CHECK + RENDER, listed=True)
def heavy_for_each_over_2000_resources(repo):
    body = """patches:
- forEach: "${resource.list.map(a, resource.list.map(b, a))}"
  operations:
  - {op: add, path: "/out/-", value: "${item}"}
"""
    def files(seed):
        items = ", ".join(str(n) for n in range(150))
        return {f"c/r{n}/resource.yaml": f"name: r{n}\nseed: {seed}\nout: []\nlist: [{items}]\n" for n in range(2000)}
    repo.pair(files(1) | patches(body), files(2) | patches(body))


@bomb(DIFF + CHECK + RENDER, listed=True)
def heavy_where_over_2000_resources(repo):
    body = """patches:
- target: {where: "${resource.list.all(a, resource.list.exists(b, a == b))}"}
  operations:
  - {op: add, path: "/vip", value: true}
"""
    def files(seed):
        items = ", ".join(str(n) for n in range(500))
        return {f"c/r{n}/resource.yaml": f"name: r{n}\nseed: {seed}\nlist: [{items}]\n" for n in range(2000)}
    repo.pair(files(1) | patches(body), files(2) | patches(body))


@bomb(DIFF + CHECK, listed=True)
def heavy_jq_over_2000_resources(repo):
    meta = """operationInfo:
  updateResource:
    transforms:
    - jqExpression: '[range(30000)] | map(. * 2) | add as $x | {x: $x}'
"""
    def files(seed):
        return {f"c/r{n}/resource.yaml": f"id: r{n}\nseed: {seed}\n" for n in range(2000)}
    repo.pair(files(1) | {"c/_/metadata.yaml": meta}, files(2) | {"c/_/metadata.yaml": meta})


@bomb(DIFF + CHECK + RENDER, listed=True)
def expressions_that_read_all_10000_resources(repo):
    def files(seed):
        return {f"c/r{n}/resource.yaml": f"name: r{n}\nseed: {seed}\nall: {{eval: '::c::.children::seed'}}\n"
                for n in range(10000)}
    repo.pair(files(1), files(2))


@bomb(DIFF + CHECK + RENDER, listed=True)
def chain_of_3000_expressions(repo):
    def files(seed):
        made = {f"c/r{n}/resource.yaml": f"v: {{eval: '::c::r{n - 1}::v'}}\n" for n in range(1, 3000)}
        return made | {"c/r0/resource.yaml": f"v: {seed}\n"}
    repo.pair(files(1), files(2))


@bomb(DIFFS + CHECK + RENDER, listed=True)
def includes_20000_users_of_one_file(repo):
    def files(seed):
        users = {f"u/{n % 100}/u{n}.yaml": f"n: {n}\n+include: ../../shared.yaml\n" for n in range(20000)}
        return users | {"shared.yaml": "".join(f"k{n}: {seed}{n}\n" for n in range(200))}
    repo.pair(files("x"), files("y"))


@bomb(DIFF + CHECK + RENDER, listed=True)
def includes_1000_of_1000(repo):
    def files(seed):
        shared = {f"s/s{n}.yaml": f"v{n}: {seed}\n" for n in range(1000)}
        users = {f"u/u{n}.yaml": f"n: {n}\n" + "".join(f"k{m}:\n  +include: ../s/s{m}.yaml\n" for m in range(1000))
                 for n in range(1000)}
        return shared | users
    repo.pair(files("x"), files("y"))


def tree_bomb(repo, seed, levels=10):
    id = repo.blob(f"a: {seed}\n")
    tree = repo.tree([("100644", "blob", id, f"f{n}.yaml") for n in range(10)])
    for _ in range(levels - 1):
        tree = repo.tree([("040000", "tree", tree, f"d{n}") for n in range(10)])
    return tree


@bomb(DIFFS + CHECK + CHECK_ALL + RENDER, listed=True)
def tree_of_10_10_paths_added(repo):
    empty = repo.tree([("100644", "blob", repo.blob("b: 1\n"), "b.yaml")])
    first = repo.commit_tree(empty)
    repo.commit_tree(tree_bomb(repo, 1), first)


@bomb(SOME + CHECK, listed=True)
def tree_of_10_10_paths_removed(repo):
    first = repo.commit_tree(tree_bomb(repo, 1))
    empty = repo.tree([("100644", "blob", repo.blob("b: 1\n"), "b.yaml")])
    repo.commit_tree(empty, first)


@bomb(SOME + CHECK + CHECK_ALL + RENDER, listed=True)
def tree_of_10_10_paths_beside(repo):
    big = tree_bomb(repo, 1)
    trees = [repo.tree([("040000", "tree", big, "big"), ("100644", "blob", repo.blob(f"a: {n}\n"), "x.yaml")]) for n in (1, 2)]
    repo.commit_tree(trees[1], repo.commit_tree(trees[0]))


@bomb(DIFF + RENDER + [["expand", "a.yaml"]], listed=True)
def splice_of_1_kb(repo):
    def text(seed):
        lines = [f"l0: [{', '.join([seed] * 10)}]"]
        for n in range(1, 9):
            lines.append(f"l{n}:\n" + "\n".join(f"- +/l{n - 1}: null" for _ in range(10)))
        return "\n".join(lines) + "\n"
    repo.commit({"a.yaml": text("x")})
    repo.commit({"a.yaml": text("y")}, checkout=True)


@bomb(SOME + CHECK + RENDER + STEPS + [["explain", "a.yaml"], ["explain", "ConfigMap default/c5"]], listed=True)
def documents_100000_in_one_file(repo):
    def text(seed):
        one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{n}, namespace: default}}\ndata: {{a: '{s}'}}\n"
        return "---\n".join(one.format(n=n, s=seed) for n in range(100000))
    repo.pair({"a.yaml": text(1)}, {"a.yaml": text(2)})


@bomb(DIFFS, listed=True)
def long_lists(repo):
    def text(shift):
        return "list:\n" + "".join(f"- item {(n * 7919 + shift) % 100003}\n" for n in range(100000))
    repo.pair({"a.yaml": text(0)}, {"a.yaml": text(5)})


# ----- Further ones.

@bomb(DIFFS + RENDER)
def alias_bomb_render(repo):
    repo.pair({"a.yaml": laughs(6, 12, "x" * 12)}, {"a.yaml": laughs(6, 12, "y" * 12)})


@bomb(SOME + RENDER)
def long_text_under_aliases(repo):
    def text(c):
        return f"t: &t {c * 60000}\nl: [{', '.join(['*t'] * 1000)}]\n"
    repo.pair({f"f{n}.yaml": text("x") for n in range(20)}, {f"f{n}.yaml": text("y") for n in range(20)})


@bomb(SOME + CHECK + RENDER)
def million_numbers_in_16_files(repo):
    def text(d):
        return "[" + ",".join([str(d)] * 1900000) + "]"
    repo.pair({f"f{n}.json": text(1) for n in range(8)}, {f"f{n}.json": text(2) for n in range(8)})


@bomb(SOME + CHECK)
def objects_in_64_mb(repo):
    def text(d):
        return "[" + ",".join('{"a":%d}' % d for _ in range(1000000)) + "]"
    repo.pair({f"f{n}.json": text(1) for n in range(4)}, {f"f{n}.json": text(2) for n in range(4)})


@bomb(DIFFS)
def all_keys_renamed_in_30_mb(repo):
    def text(c):
        return "".join(f"{c}{n}: v{n}\n" for n in range(1000000))
    repo.pair({"a.yaml": text("a")}, {"a.yaml": text("b")})


@bomb(DIFFS)
def all_values_changed_in_30_mb(repo):
    def text(c):
        return "".join(f"k{n}: {c}{n}\n" for n in range(1000000))
    repo.pair({"a.yaml": text("a")}, {"a.yaml": text("b")})


@bomb(SOME + CHECK)
def deep_json(repo):
    repo.pair({"a.json": "[" * 200000 + "]" * 200000, "b.yaml": "{a: " * 100000},
              {"a.json": "[" * 300000 + "]" * 300000, "b.yaml": "{b: " * 100000})


@bomb(DIFFS)
def huge_key(repo):
    repo.pair({"a.yaml": f"? {'k' * 30000000}\n: 1\n"}, {"a.yaml": f"? {'k' * 30000000}\n: 2\n"})


@bomb(DIFFS)
def huge_keys_nested(repo):
    def text(v):
        line = "".join(f"{'  ' * 0}{{{'k' * 100000}{n}: " for n in range(100))
        return f"a: {line}{v}{'}' * 100}\nb: [{', '.join(str(v) + str(n) for n in range(100))}]\n"
    repo.pair({f"f{n}.yaml": text(1) for n in range(3)}, {f"f{n}.yaml": text(2) for n in range(3)})


@bomb(DIFFS)
def words_of_a_huge_line(repo):
    def text(seed):
        return "t: " + " ".join(f"w{(n * seed) % 100003}" for n in range(2000000)) + "\n"
    repo.pair({"a.yaml": text(7919)}, {"a.yaml": text(104729)})


@bomb(DIFFS)
def lines_of_a_huge_text(repo):
    def text(seed):
        return "t: |\n" + "".join(f"  line {(n * seed) % 100003}\n" for n in range(1000000))
    repo.pair({"a.yaml": text(7919)}, {"a.yaml": text(104729)})


@bomb(SOME + CHECK + RENDER)
def million_empty_documents(repo):
    repo.pair({"a.yaml": "--- 1\n" * 1000000}, {"a.yaml": "--- 2\n" * 1000000})


@bomb(SOME + CHECK)
def many_findings(repo):
    def text(c):
        return "".join(f"a: {c}\n" for _ in range(5000))
    repo.pair({}, {f"f{n}.yaml": text(n) for n in range(1600)})


@bomb(DIFFS + CHECK)
def findings_in_a_huge_line(repo):
    """Errors, and values that change, all in one line of 20 MB."""
    def text(seed):
        return "{" + ", ".join(f"k{n}: {seed}{n}" for n in range(700000)) + ", " + ", ".join(["k1: 2"] * 2000) + "}"
    def numbers(seed):
        return "[" + " , ".join(f"1.{seed}.{n}" for n in range(400000)) + "]"
    repo.pair({"a.yaml": text(1), "b.yaml": numbers(1)}, {"a.yaml": text(2), "b.yaml": numbers(2)})


@bomb(DIFFS + CHECK + RENDER)
def regex_in_schema(repo):
    schema = "(a+)+$" * 50 + "x{1000}{1000}"
    meta = f"""operationInfo:
  updateResource:
    validate:
      schema: {{type: object, properties: {{name: {{type: string, pattern: '{schema}'}}}}}}
"""
    def files(seed):
        return {f"c/r{n}/resource.yaml": f"id: r{n}\nname: {'a' * 30000}{seed}\n" for n in range(300)}
    repo.pair(files(1) | {"c/_/metadata.yaml": meta}, files(2) | {"c/_/metadata.yaml": meta})


@bomb(DIFF + CHECK)
def cel_regex(repo):
    body = """patches:
- target: {where: "${resource.list.all(x, x.matches('(a|aa)+(b{100}){100}$'))}"}
  operations:
  - {op: add, path: "/vip", value: true}
"""
    def files(seed):
        items = ", ".join(["a" * 2000] * 50)
        return {f"c/r{n}/resource.yaml": f"name: r{n}\nseed: {seed}\nlist: [{items}]\n" for n in range(300)}
    repo.pair(files(1) | patches(body), files(2) | patches(body))


@bomb(DIFF + CHECK + RENDER)
def patch_copies_that_double(repo):
    ops = "\n".join('  - {op: add, path: "/l/-", value: "${resource}"}' for _ in range(60))
    body = f"patches:\n- operations:\n{ops}\n"
    def files(seed):
        return {f"c/r{n}/resource.yaml": f"name: r{n}\nseed: {seed}\nl: []\n" for n in range(500)}
    repo.pair(files(1) | patches(body), files(2) | patches(body))


@bomb(DIFF + CHECK + RENDER)
def templates_over_5000_resources(repo):
    meta = "operationInfo:\n  updateResource:\n    path: '/v1/" + "{{range .l}}{{range $.l}}{{.}}{{end}}{{end}}" + "'\n"
    def files(seed):
        items = ", ".join(str(n) for n in range(100))
        return {f"c/r{n}/resource.yaml": f"id: r{n}\nseed: {seed}\nl: [{items}]\n" for n in range(5000)}
    repo.pair(files(1) | {"c/_/metadata.yaml": meta}, files(2) | {"c/_/metadata.yaml": meta})


KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"


def config_map(name, seed):
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: '{seed}'}}\n"


@bomb(SOME + CHECK + RENDER)
def kustomize_deep_bases(repo):
    def files(seed):
        made = {"k0/kustomization.yaml": KUSTOMIZATION + "resources: [a.yaml]\n", "k0/a.yaml": config_map("a", seed)}
        for n in range(1, 3000):
            made[f"k{n}/kustomization.yaml"] = KUSTOMIZATION + f"resources: [../k{n - 1}]\nnamePrefix: p-\n"
        return made
    repo.pair(files(1), files(2))


@bomb(SOME + CHECK + RENDER)
def kustomize_fan_out(repo):
    """Each level takes the one below ten times, with another prefix: 10^n resources."""
    def files(seed):
        made = {"k0/kustomization.yaml": KUSTOMIZATION + "resources: [a.yaml]\n", "k0/a.yaml": config_map("a", seed)}
        for n in range(1, 9):
            for m in range(10):
                made[f"k{n}/v{m}/kustomization.yaml"] = KUSTOMIZATION + f"namePrefix: p{m}-\nresources: [../../k{n - 1}]\n"
            made[f"k{n}/kustomization.yaml"] = KUSTOMIZATION + "resources: [" + ", ".join(f"v{m}" for m in range(10)) + "]\n"
        return made
    repo.pair(files(1), files(2))


@bomb(SOME + CHECK + RENDER)
def kustomize_components(repo):
    component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
    def files(seed):
        made = {"c0/kustomization.yaml": component + f"commonAnnotations: {{a: '{seed}'}}\n"}
        for n in range(1, 9):
            made[f"c{n}/kustomization.yaml"] = component + "components: [" + ", ".join([f"../c{n - 1}"] * 10) + "]\n"
        made["root/kustomization.yaml"] = KUSTOMIZATION + "resources: [a.yaml]\ncomponents: [../c8]\n"
        made["root/a.yaml"] = config_map("a", 1)
        return made
    repo.pair(files(1), files(2))


@bomb(SOME + CHECK + RENDER)
def kustomize_patches_over_everything(repo):
    """2,000 patches on each of 2,000 resources."""
    def files(seed):
        patch = "".join(f"- target: {{kind: ConfigMap}}\n  patch: |-\n    - {{op: add, path: /data/k{n}, value: '{seed}'}}\n"
                        for n in range(2000))
        return {"k/kustomization.yaml": KUSTOMIZATION + "resources: [a.yaml]\npatches:\n" + patch,
                "k/a.yaml": "---\n".join(config_map(f"a{n}", 1) for n in range(2000))}
    repo.pair(files(1), files(2))


@bomb(SOME + CHECK + RENDER)
def kustomize_replacements_over_everything(repo):
    def files(seed):
        one = ("- source: {kind: ConfigMap, name: a0, fieldPath: data.a}\n  targets:\n  - select: {kind: ConfigMap}\n"
               "    fieldPaths: [data.b]\n    options: {create: true}\n")
        return {"k/kustomization.yaml": KUSTOMIZATION + "resources: [a.yaml]\nreplacements:\n" + one * 2000,
                "k/a.yaml": "---\n".join(config_map(f"a{n}", seed) for n in range(2000))}
    repo.pair(files(1), files(2))


@bomb(SOME + CHECK + RENDER)
def kustomize_generators(repo):
    def files(seed):
        text = KUSTOMIZATION + "configMapGenerator:\n" + "".join(
            f"- name: g{n}\n  files: [" + ", ".join(f"f{m}=big.txt" for m in range(20)) + "]\n" for n in range(1000))
        return {"k/kustomization.yaml": text, "k/big.txt": f"{seed}" * 50000}
    repo.pair(files("x"), files("y"))


@bomb(SOME + CHECK + RENDER)
def kustomize_20000_roots(repo):
    def files(seed):
        made = {f"r/{n % 100}/r{n}/kustomization.yaml": KUSTOMIZATION + f"namePrefix: r{n}-\nresources: [../../../base]\n"
                for n in range(20000)}
        return made | {"base/kustomization.yaml": KUSTOMIZATION + "resources: [a.yaml]\n",
                       "base/a.yaml": "---\n".join(config_map(f"a{n}", seed) for n in range(10))}
    repo.pair(files(1), files(2))


@bomb(SOME + CHECK)
def kustomize_references(repo):
    """Names that refer to each other: 3,000 Deployments with 3,000 ConfigMaps, all renamed."""
    def files(seed):
        maps = "---\n".join(config_map(f"a{n}", seed) for n in range(3000))
        pods = "---\n".join(
            f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d{n}}}\nspec: {{template: {{spec: {{volumes: ["
            + ", ".join(f"{{name: v{m}, configMap: {{name: a{m}}}}}" for m in range(50)) + "]}}}\n" for n in range(1500))
        return {"k/kustomization.yaml": KUSTOMIZATION + "namePrefix: p-\nresources: [a.yaml, b.yaml]\n",
                "k/a.yaml": maps, "k/b.yaml": pods}
    repo.pair(files(1), files(2))


@bomb(SOME + CHECK)
def flux_children(repo):
    """A thousand Flux Kustomizations that all render one directory, with substitutions."""
    def files(seed):
        flux = ("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: k{n}, namespace: flux-system}}\n"
                "spec:\n  path: ./apps\n  prune: true\n  interval: 1h\n  sourceRef: {{kind: GitRepository, name: flux-system}}\n"
                "  targetNamespace: n{n}\n  postBuild: {{substitute: {{v: '{s}'}}}}\n")
        return {"cluster/all.yaml": "---\n".join(flux.format(n=n, s=seed) for n in range(1000)),
                "apps/a.yaml": "---\n".join(config_map(f"a{n}", "${v}") for n in range(200))}
    repo.pair(files(1), files(2))


@bomb(SOME + CHECK)
def layers_10000(repo):
    def files(seed):
        path, made = "", {}
        for n in range(60):
            path += f"d{n}/"
            made[path + "_/metadata.yaml"] = f"operationInfo: {{getResource: {{headers: {{X-{n}: '{seed}'}}}}}}\n"
        for n in range(3000):
            made[f"{path}r{n}/resource.yaml"] = f"id: r{n}\n"
        return made
    repo.pair(files(1), files(2))


@bomb(SOME + CHECK)
def directives_in_a_chain(repo):
    def files(seed):
        made = {f"f{n}.yaml": f"v{n}: 1\n+include: f{n + 1}.yaml\n" for n in range(30)}
        return made | {"f30.yaml": "".join(f"k{m}: {seed}\n" for m in range(50000))}
    repo.pair(files(1), files(2))


@bomb(SOME + CHECK + RENDER)
def directives_that_double(repo):
    def text(seed):
        lines = [f"l0: {{a: {seed}, b: {seed}}}"]
        for n in range(1, 40):
            lines.append(f"l{n}:\n  x:\n    +/l{n - 1}: null\n  y:\n    +/l{n - 1}: null")
        return "\n".join(lines) + "\n"
    repo.pair({f"f{n}.yaml": text(1) for n in range(50)}, {f"f{n}.yaml": text(2) for n in range(50)})


@bomb(DIFFS)
def groups_of_50000(repo):
    def files(seed):
        return {f"c/{n % 200}/r{n}/resource.yaml": f"id: r{n}\na: {seed}\nb: {seed}{n}\nc: {{d: {seed}, e: [{seed}, {n}]}}\n"
                for n in range(50000)}
    repo.pair(files(1), files(2))


@bomb(DIFFS)
def added_files_of_60_mb(repo):
    def text(n):
        return "".join(f"k{m}: some value that is {n} {m}\n" for m in range(30000))
    repo.pair({"x.yaml": "a: 1\n"}, {f"f{n}.yaml": text(n) for n in range(60)})


@bomb(DIFFS)
def similar_items_without_keys(repo):
    def text(seed):
        return "l:\n" + "".join(f"- {{a: {n % 7}, b: {(n * seed) % 11}, c: {n % 13}, d: {(n + seed) % 17}, e: {seed}}}\n"
                                for n in range(60000))
    repo.pair({"a.yaml": text(3)}, {"a.yaml": text(5)})


@bomb(DIFF + CHECK)
def zero_blob_of_1_gb(repo):
    path = os.path.join(repo.path, "zero")
    with open(path, "wb") as file:
        file.truncate(1 << 30)
    id = repo.git("hash-object", "-w", path).decode().strip()
    os.unlink(path)
    first = repo.commit_tree(repo.tree([("100644", "blob", repo.blob("b: 1\n"), "b.yaml")]))
    repo.commit_tree(repo.tree([("100644", "blob", id, "b.yaml")]), first)


@bomb(SOME + CHECK)
def openapi_references(repo):
    paths = "".join(f"  /c{n}: {{get: {{responses: {{'200': {{description: d, content: {{application/json: {{schema: "
                    f"{{$ref: '#/components/schemas/S{n}'}}}}}}}}}}}}}}\n" for n in range(2000))
    schemas = "".join(f"    S{n}: {{type: object, properties: {{a: {{$ref: '#/components/schemas/S{n + 1}'}}, "
                      f"b: {{$ref: '#/components/schemas/S{n + 1}'}}}}}}\n" for n in range(2000))
    doc = f"openapi: 3.0.0\ninfo: {{title: t, version: '1'}}\npaths:\n{paths}components:\n  schemas:\n{schemas}    S2000: {{type: string}}\n"
    def files(seed):
        made = {f"c{n}/r/resource.yaml": f"id: r{n}\na: {seed}\n" for n in range(2000)}
        return made | {"outcrop.yaml": "openapi: api.yaml\n", "api.yaml": doc}
    repo.pair(files(1), files(2))


@bomb(DIFF + RENDER)
def eval_recursion_in_text(repo):
    def files(seed):
        body = "{eval: {concat: [" + ", ".join("{eval: '.::big'}" for _ in range(200)) + "]}}"
        return {f"c/r{n}/resource.yaml": f"seed: {seed}\nbig: {'x' * 20000}\nout: {body}\n" for n in range(500)}
    repo.pair(files(1), files(2))


@bomb(SOME + CHECK + CHECK_ALL)
def openchoreo_components(repo):
    """2,000 components in one environment, each with a loop over 200 items and three traits."""
    def of(kind, name, spec):
        return (f"apiVersion: openchoreo.dev/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}, namespace: acme}}\n"
                f"spec: {spec}\n")
    items = "[" + ", ".join(str(n) for n in range(200)) + "]"
    def files(seed):
        template = ("{apiVersion: v1, kind: ConfigMap, metadata: {name: \"${metadata.name}-${item}\"}, "
                    f"data: {{seed: '{seed}', n: \"${{string(item)}}\"}}}}")
        made = {"platform/type.yaml": of("ComponentType", "web",
                    f"{{workloadType: deployment, resources: [{{id: c, forEach: \"${{{items}}}\", var: item, template: {template}}}]}}"),
                "platform/trait.yaml": of("Trait", "scale", "{patches: [{target: {version: v1, kind: ConfigMap}, "
                    f"operations: [{{op: add, path: /data/t, value: '{seed}'}}]}}]}}"),
                "platform/project.yaml": of("Project", "shop", "{deploymentPipelineRef: {name: std}}"),
                "platform/pipeline.yaml": of("DeploymentPipeline", "std", "{promotionPaths: [{sourceEnvironmentRef: {name: dev}}]}"),
                "platform/dev.yaml": of("Environment", "dev", "{}")}
        for n in range(2000):
            traits = ", ".join(f"{{name: scale, instanceName: s{m}}}" for m in range(3))
            owner = f"{{projectName: shop, componentName: c{n}}}"
            made[f"shop/c{n}.yaml"] = "---\n".join([
                of("Component", f"c{n}", f"{{owner: {{projectName: shop}}, componentType: {{name: deployment/web}}, traits: [{traits}]}}"),
                of("Workload", f"c{n}", f"{{owner: {owner}, container: {{image: 'i:{seed}'}}}}"),
                of("ReleaseBinding", f"c{n}-dev", f"{{owner: {owner}, environment: dev}}")])
        return made
    repo.pair(files(1), files(2))


@bomb(SOME + CHECK + RENDER)
def json_patch_copies_that_double(repo):
    """A JSON Patch of kustomize that copies the data of an object into itself 40 times."""
    def files(seed):
        copies = "".join(f"    - {{op: copy, from: /data, path: /data/k{n}}}\n" for n in range(40))
        return {"k/kustomization.yaml": KUSTOMIZATION + "resources: [a.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |-\n" + copies,
                "k/a.yaml": "---\n".join(config_map(f"a{n}", seed) for n in range(20))}
    repo.pair(files(1), files(2))


@bomb([["compare", "a", "b", "--at", "HEAD", "--format", f] for f in ("terminal", "json", "html")])
def compare_directories(repo):
    def files(seed):
        return {f"{seed}/d{n % 50}/r{n}.yaml": "".join(f"k{m}: {seed}{n}\n" for m in range(60)) for n in range(8000)}
    repo.commit(files("a") | files("b"))


@bomb(SOME + CHECK)
def renamed_100000_files(repo):
    """Every file of a huge directory has another name and another content."""
    def files(seed):
        return {f"d/{seed}{n}.yaml": f"a: {n}\nb: [{seed}, {n}]\nc: {seed}\n" for n in range(100000)}
    repo.pair(files("x"), files("y"))


@bomb(SOME + CHECK + RENDER)
def long_paths(repo):
    """Paths of 4,000 bytes."""
    way = "/".join("d" * 63 for _ in range(62))
    def files(seed):
        return {f"{way}/r{n}/{'f' * 200}.yaml": f"a: {seed}\n+include: ../x.yaml\n" for n in range(5000)} | {f"{way}/x.yaml": f"s: {seed}\n"}
    repo.pair(files(1), files(2))


@bomb(SOME + CHECK + RENDER)
def links_and_submodules(repo):
    """A chain of 300 symbolic links that a kustomization refers to, and 50,000 submodules that move."""
    empty = "0" * 39
    def side(seed):
        links = [("120000", "blob", repo.blob(f"l{n + 1}"), f"l{n}") for n in range(300)]
        links.append(("100644", "blob", repo.blob(config_map("a", seed)), "l300"))
        kustomization = repo.blob(KUSTOMIZATION + "resources: [l0]\n")
        links.append(("100644", "blob", kustomization, "kustomization.yaml"))
        modules = [("160000", "commit", f"{empty}{seed}", f"m{n}") for n in range(50000)]
        return repo.tree([("040000", "tree", repo.tree(links), "k"), ("040000", "tree", repo.tree(modules), "m")])
    repo.commit_tree(side(2), repo.commit_tree(side(1)))


@bomb(SOME + CHECK)
def many_packs(repo):
    """A pack for every commit."""
    for n in range(300):
        repo.commit({f"f{m}.yaml": f"a: {n}\nb: {m}\n" for m in range(200)})


@bomb(SOME + CHECK + CHECK_ALL)
def secrets_in_other_files(repo):
    """3,000 Secrets, each of whose values is also part of a text elsewhere."""
    def files(seed):
        made = {f"s/s{n}.yaml": f"apiVersion: v1\nkind: Secret\nmetadata: {{name: s{n}}}\nstringData: {{p: 'password-{seed}-{n}-of-someone'}}\n"
                for n in range(3000)}
        for n in range(3000):
            texts = "".join(f"t{m}: 'see password-{seed}-{(n * m) % 3000}-of-someone there'\n" for m in range(20))
            made[f"p/p{n}.yaml"] = f"seed: {seed}\n" + texts
        return made
    repo.pair(files(1), files(2))


@bomb(SOME + CHECK)
def schema_that_doubles(repo):
    """A schema in which every level asks twice for the next one, and 300 bodies that it is asked about."""
    schemas = "".join(f"    S{n}: {{allOf: [{{$ref: '#/components/schemas/S{n + 1}'}}, {{$ref: '#/components/schemas/S{n + 1}'}}]}}\n"
                      for n in range(40))
    doc = ("openapi: 3.0.0\ninfo: {title: t, version: '1'}\npaths:\n  /api/c: {post: {requestBody: {content: {application/json: "
           "{schema: {$ref: '#/components/schemas/S0'}}}}, responses: {'200': {description: d}}}}\n"
           f"components:\n  schemas:\n{schemas}    S40: {{type: object, required: [z]}}\n")
    meta = ("resourceInfo: {collectionPath: /api/c}\noperationInfo:\n  createResource:\n    validate: {schemaRef: openapi:request-body}\n")
    def files(seed):
        made = {f"c/r{n}/resource.yaml": f"id: r{n}\na: {seed}\n" for n in range(300)}
        return made | {"outcrop.yaml": "openapi: api.yaml\n", "api.yaml": doc, "c/_/metadata.yaml": meta}
    repo.pair(files(1), files(2))


@bomb(DIFFS + CHECK)
def versions_of_300000_images(repo):
    """Every change may be a version bump, and every one is looked at with what is beside it."""
    def text(version):
        return "".join(f"image{n}: r.io/a/i{n}:1.{version}.{n}\n" for n in range(300000))
    repo.pair({"a.yaml": text(1)}, {"a.yaml": text(2)})


@bomb(DIFFS)
def documents_in_texts(repo):
    """Documents in texts in documents, in 2,000 files."""
    def quoted(text):
        return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    def text(seed):
        inner = f"a: {seed}\nb: [1, 2, 3]\n"
        for _ in range(9):
            inner = f'd: "{quoted(inner)}"\n'
        return inner
    body = {seed: text(seed) for seed in (1, 2)}
    repo.pair({f"f{n}.yaml": body[1] for n in range(2000)}, {f"f{n}.yaml": body[2] for n in range(2000)})


@bomb(SOME + CHECK + CHECK_ALL)
def selectors_by_resources(repo):
    """1,000 layers whose selectors meet 5,000 resources, and all of them change."""
    def files(seed):
        made = {f"c/g*{n}/_/metadata.yaml": f"operationInfo: {{getResource: {{headers: {{X-{n}: '{seed}'}}}}}}\n" for n in range(1000)}
        return made | {f"c/g{n}/resource.yaml": f"id: g{n}\n" for n in range(5000)}
    repo.pair(files(1), files(2))


@bomb(SOME + CHECK)
def many_hidden_changes(repo):
    """500 rules that hide changes, none of which hides any of 200,000."""
    rules = "ignore:\n" + "".join(f"- /**/a{n}/**/b*{n}\n" for n in range(500))
    def files(seed):
        made = {f"f{n}.yaml": "".join(f"x{m}: {{y: {{z: {seed}{m}}}}}\n" for m in range(400)) for n in range(500)}
        return made | {"outcrop.yaml": rules}
    repo.pair(files(1), files(2))


# ----- Running.

def run(binary, repo, command, limit):
    out = tempfile.TemporaryFile(dir=repo.path + "/..")
    err = tempfile.TemporaryFile(dir=repo.path + "/..")
    start = time.monotonic()
    child = subprocess.Popen([binary, "--no-cache", *command], cwd=repo.path, env=ENV,
                             stdin=subprocess.DEVNULL, stdout=out, stderr=err)
    is_late = False
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() - start > limit:
            os.kill(child.pid, signal.SIGKILL)
            _, status, usage = os.wait4(child.pid, 0)
            is_late = True
            break
        time.sleep(0.01)
    child.returncode = 0
    wall = time.monotonic() - start
    code = "timeout" if is_late else str(os.waitstatus_to_exitcode(status))
    err.seek(0)
    said = err.read(4000).decode(errors="replace").strip().splitlines()
    size = out.seek(0, 2)
    return {"mb": usage.ru_maxrss / 1024, "cpu": usage.ru_utime + usage.ru_stime, "wall": wall, "code": code, "out": size,
            "said": said[0][:110] if said else ""}


def build_apart(build, path):
    """Builds in a process of its own: the memory of this one would count as that of the programs that it starts."""
    child = os.fork()
    if child == 0:
        build(Repository(path))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status != 0:
        raise RuntimeError(f"{build.__name__} cannot be built")
    repo = Repository.__new__(Repository)
    repo.path = path
    return repo


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="target/release/outcrop")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--quick", action="store_true", help="only the first command of each")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    binary = os.path.abspath(args.bin)
    wanted = [word for word in args.only.split(",") if word]
    failed = 0
    form = "| {:44} | {:38} | {:>6} MB | {:>6} s | {:>6} s | {:>7} | {:>9} | {} |" if args.markdown else \
        "{:44} {:38} {:>6} MB {:>6} s cpu {:>6} s {:>7} {:>9} B  {}"
    for name, (build, commands, listed) in BOMBS.items():
        if wanted and not any(word in name for word in wanted):
            continue
        if args.list:
            print(name, "(attack on the first release)" if listed else "")
            continue
        with tempfile.TemporaryDirectory(prefix="bomb-") as directory:
            path = os.path.join(directory, "r")
            os.mkdir(path)
            repo = build_apart(build, path)
            for command in commands[:1] if args.quick else commands:
                cost = run(binary, repo, command, args.timeout)
                bad = cost["mb"] > 1024 or cost["wall"] > 10 or cost["code"] not in ("0", "1", "2")
                failed += bad
                words = " ".join(word for word in command if word not in ("HEAD~1", "HEAD", "--format", "--at"))
                print(form.format(("! " if bad else "") + name, words, round(cost["mb"]), f"{cost['cpu']:.1f}",
                                  f"{cost['wall']:.1f}", cost["code"], cost["out"], cost["said"]), flush=True)
    if not args.list:
        print(f"{failed} runs over 1 GB or 10 s, or with another exit code than 0, 1, 2")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
