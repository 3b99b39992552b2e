#!/usr/bin/env python3
"""Writes random kustomizations and what a real kustomize makes of them, as cases for the vector runner.

    benches/kustomize_cases.py FOLDER [--count N] [--seed N] [--only GROUP,…] [--builder PROGRAM]…
    OUTCROP_VECTORS=FOLDER cargo test --test it vectors

The cases go to FOLDER/kustomize. A builder reads one case on each line (JSON, with `files` and `root`) and answers on one line with
`expect`, a list of documents, or `error`. Without a builder, `kubectl kustomize` builds each case in a directory of its own. Of several
builders, only cases on which they agree are written, and the others are counted.
"""
import argparse
import base64
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import yaml as reader

R = random.Random()


# ----- Writing YAML

class Raw(str):
    """A scalar that is written exactly like this."""


PLAIN = re.compile(r"^[A-Za-z][A-Za-z0-9_./:-]*[A-Za-z0-9]$|^[A-Za-z]$")
WORDS = {"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"}


def scalar(value):
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, str) and PLAIN.match(value) and value.lower() not in WORDS and R.random() < 0.7:
        return value
    if isinstance(value, str) and R.random() < 0.2 and "\n" not in value and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    return json.dumps(value)


def yaml(value, indent=0):
    pad = " " * indent
    if isinstance(value, dict) and value:
        lines = []
        for key, item in value.items():
            if isinstance(item, (dict, list)) and item:
                lines.append(f"{pad}{scalar(key)}:\n{yaml(item, indent + 2)}")
            elif isinstance(item, str) and not isinstance(item, Raw) and "\n" in item and item.endswith("\n") \
                    and not item.startswith((" ", "\n")) and not item.endswith("\n\n") and "\t" not in item and item.isascii():
                lines.append(f"{pad}{scalar(key)}: |\n" + "".join(f"{pad}  {line}\n" if line else "\n" for line in item[:-1].split("\n")))
            else:
                lines.append(f"{pad}{scalar(key)}: {yaml(item)}\n")
        return "".join(lines)
    if isinstance(value, list) and value:
        lines = []
        for item in value:
            if isinstance(item, (dict, list)) and item:
                body = yaml(item, indent + 2)
                lines.append(f"{pad}- {body[indent + 2:]}")
            else:
                lines.append(f"{pad}- {yaml(item)}\n")
        return "".join(lines)
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list):
        return "[]"
    return scalar(value)


def documents(*values):
    return "---\n".join(yaml(value) for value in values)


def chance(probability):
    return R.random() < probability


def pick(*items):
    return R.choice(items)


def some(items, most=None):
    items = list(items)
    return R.sample(items, R.randint(0, min(len(items), most or len(items))))


# ----- Resources

NAMES = ["a", "b", "web"]
NAMESPACES = [None, None, None, "ns1", "ns2", "default"]
IMAGES = ["nginx", "nginx:1.2", "reg.io/nginx:1", "reg.io:5000/team/app", "reg.io:5000/team/app:v1@sha256:aa", "app@sha256:bb",
          "app:1.0", "busybox", "my-nginx:2", "reg/io/nginx"]


def metadata(name, namespace=None):
    data = {"name": name}
    if namespace:
        data["namespace"] = namespace
    if chance(0.3):
        data["labels"] = {key: pick("x", "y", "1") for key in some(["app", "tier", "env"], 2)}
    if chance(0.25):
        data["annotations"] = {key: pick("x", "long text", "true") for key in some(["note", "a/b", "z"], 2)}
    if chance(0.05):
        data["finalizers"] = some(["f1", "f2", "f3"], 2)
    return data


def environment():
    items = []
    for name in some(["A", "B", "C"]):
        value = pick({"value": pick("1", "two", "")}, {"value": pick("1", "two", "")},
                     {"valueFrom": {"configMapKeyRef": {"name": pick(*NAMES), "key": "k"}}},
                     {"valueFrom": {"secretKeyRef": {"name": pick(*NAMES), "key": "k"}}},
                     {"valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}})
        items.append({"name": name, **value})
    return items


def ports(key):
    items = []
    for port in some([80, 443, 8080], 2):
        item = {key: port}
        if chance(0.5):
            item["protocol"] = pick("TCP", "UDP")
        if chance(0.4):
            item["name"] = f"p{port}"
        items.append(item)
    return items


def container(name):
    item = {"name": name}
    if chance(0.9):
        item["image"] = pick(*IMAGES)
    if chance(0.4):
        item["env"] = environment()
    if chance(0.3):
        item["envFrom"] = [pick({"configMapRef": {"name": pick(*NAMES)}}, {"secretRef": {"name": pick(*NAMES)}}) for _ in range(R.randint(1, 2))]
    if chance(0.4):
        item["ports"] = ports("containerPort")
    if chance(0.3):
        item["volumeMounts"] = [{"mountPath": path, "name": pick("v1", "v2")} for path in some(["/a", "/b", "/c"])]
    if chance(0.2):
        item["args"] = some(["--x", "--y", "-z"])
    if chance(0.2):
        item["command"] = ["sh", "-c", pick("echo", "true")]
    if chance(0.3):
        item["resources"] = {"limits": {"cpu": pick("1", "100m", 2), "memory": "1Gi"}}
    if chance(0.1):
        item["securityContext"] = {"capabilities": {"add": some(["X", "Y"])}}
    return item


def volume(name):
    source = pick({"configMap": {"name": pick(*NAMES)}}, {"secret": {"secretName": pick(*NAMES)}}, {"emptyDir": {}},
                  {"persistentVolumeClaim": {"claimName": pick(*NAMES)}},
                  {"projected": {"sources": [{"configMap": {"name": pick(*NAMES)}}, {"secret": {"name": pick(*NAMES)}}]}},
                  {"hostPath": {"path": "/x"}})
    return {"name": name, **source}


def pod_spec():
    spec = {"containers": [container(name) for name in (some(["c1", "c2", "c3"], 2) or ["c1"])]}
    if chance(0.2):
        spec["initContainers"] = [container(name) for name in some(["i1", "i2"])]
    if chance(0.5):
        spec["volumes"] = [volume(name) for name in some(["v1", "v2", "v3"])]
    if chance(0.3):
        spec["serviceAccountName"] = pick(*NAMES)
    if chance(0.2):
        spec["imagePullSecrets"] = [{"name": name} for name in some(NAMES)]
    if chance(0.1):
        spec["priorityClassName"] = pick(*NAMES)
    if chance(0.15):
        spec["hostAliases"] = [{"ip": ip, "hostnames": [pick("h1", "h2")]} for ip in some(["1.1.1.1", "2.2.2.2"])]
    if chance(0.15):
        spec["tolerations"] = [{"key": key, "operator": "Exists"} for key in some(["k1", "k2"])]
    if chance(0.15):
        spec["topologySpreadConstraints"] = [
            {"maxSkew": R.randint(1, 3), "topologyKey": key, "whenUnsatisfiable": when,
             **({"labelSelector": {"matchLabels": {"app": "x"}}} if chance(0.5) else {})}
            for key, when in some([("zone", "ScheduleAnyway"), ("zone", "DoNotSchedule"), ("host", "ScheduleAnyway")])]
    if chance(0.1):
        term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "zone"}
        spec["affinity"] = {pick("podAffinity", "podAntiAffinity"): pick(
            {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
            {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]})}
    if chance(0.05):
        spec["ephemeralContainers"] = [{"name": "e1", "image": pick(*IMAGES)}]
    return spec


def template():
    value = {"spec": pod_spec()}
    if chance(0.7):
        value["metadata"] = {}
        if chance(0.8):
            value["metadata"]["labels"] = {"app": pick("x", "y")}
        if chance(0.2):
            value["metadata"]["annotations"] = {"note": "t"}
    return value


def selector():
    return {"matchLabels": {"app": pick("x", "y")}} if chance(0.8) else {"matchExpressions": [{"key": "app", "operator": "Exists"}]}


def workload(kind, api="apps/v1"):
    def make(name, namespace):
        spec = {"template": template()}
        if chance(0.8):
            spec["selector"] = selector() if kind != "ReplicationController" else {"app": "x"}
        if chance(0.5):
            spec["replicas"] = R.randint(1, 4)
        if kind == "StatefulSet":
            if chance(0.7):
                spec["serviceName"] = pick(*NAMES)
            if chance(0.4):
                spec["volumeClaimTemplates"] = [{"metadata": {"name": "d"}, "spec": {"storageClassName": pick(*NAMES)}}]
        if kind == "Deployment" and chance(0.2):
            spec["strategy"] = pick({"type": "Recreate"}, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}})
        return {"apiVersion": api, "kind": kind, "metadata": metadata(name, namespace), "spec": spec}
    return make


def simple(kind, api, body):
    def make(name, namespace):
        return {"apiVersion": api, "kind": kind, "metadata": metadata(name, namespace), **body()}
    return make


def data():
    return {key: pick("1", "two", "a b", "x\ny\n", "<&>") for key in some(["k", "l", "m"])}


def subjects():
    items = []
    for _ in range(R.randint(1, 2)):
        item = {"kind": pick("ServiceAccount", "ServiceAccount", "User"), "name": pick(*NAMES, "default")}
        if chance(0.6):
            item["namespace"] = pick("ns1", "ns2", "default")
        items.append(item)
    return items


def role_ref(*kinds):
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": pick(*kinds), "name": pick(*NAMES)}


def rules():
    return [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"], **({"resourceNames": some(NAMES)} if chance(0.6) else {})}]


def ingress():
    if chance(0.6):
        backend = {"service": {"name": pick(*NAMES), "port": {"number": 80}}}
    else:
        backend = {"serviceName": pick(*NAMES), "servicePort": 80}
    spec = {"rules": [{"host": "h", "http": {"paths": [{"path": "/", "backend": backend}]}}]}
    if chance(0.4):
        spec["tls"] = [{"hosts": ["h"], "secretName": pick(*NAMES)}]
    if chance(0.3):
        spec["defaultBackend"] = {"service": {"name": pick(*NAMES)}}
    return {"spec": spec}


def network_policy():
    spec = {"podSelector": pick({}, {"matchLabels": {"app": "x"}})}
    if chance(0.5):
        spec["ingress"] = [{"from": [{"podSelector": {"matchLabels": {"app": "y"}}}, {"namespaceSelector": {}}]}]
    if chance(0.3):
        spec["egress"] = [{"to": [{"podSelector": pick({}, {"matchLabels": {"app": "y"}})}], "ports": [{"port": 1}]}]
    return {"spec": spec}


def webhooks():
    return {"webhooks": [{"name": name, "clientConfig": {"service": {"name": pick(*NAMES), "namespace": pick("ns1", "default", "ns2"), "path": "/x"}}}
                         for name in (some(["w1.io", "w2.io"]) or ["w1.io"])]}


CLUSTER = {"Namespace", "PersistentVolume", "ClusterRole", "ClusterRoleBinding", "StorageClass", "PriorityClass", "APIService", "Node",
           "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "CustomResourceDefinition", "IngressClass"}

RBAC = "rbac.authorization.k8s.io/v1"
MAKERS = {
    "Deployment": workload("Deployment"),
    "OldDeployment": workload("Deployment", "extensions/v1beta1"),
    "StatefulSet": workload("StatefulSet"),
    "DaemonSet": workload("DaemonSet"),
    "ReplicaSet": workload("ReplicaSet"),
    "ReplicationController": workload("ReplicationController", "v1"),
    "Job": workload("Job", "batch/v1"),
    "CronJob": simple("CronJob", pick("batch/v1", "batch/v1beta1"),
                      lambda: {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template()}}}}),
    "Pod": simple("Pod", "v1", lambda: {"spec": pod_spec()}),
    "PodTemplate": simple("PodTemplate", "v1", lambda: {"template": template()}),
    "Service": simple("Service", "v1", lambda: {"spec": {"ports": ports("port"), **({"selector": {"app": "x"}} if chance(0.7) else {})}}),
    "ConfigMap": simple("ConfigMap", "v1", lambda: {"data": data()} if chance(0.9) else {}),
    "Secret": simple("Secret", "v1", lambda: {"stringData": data(), "type": "Opaque"}),
    "ServiceAccount": simple("ServiceAccount", "v1", lambda: {
        **({"imagePullSecrets": [{"name": pick(*NAMES)}]} if chance(0.4) else {}), **({"secrets": [{"name": name} for name in some(NAMES)]} if chance(0.3) else {})}),
    "Ingress": simple("Ingress", "networking.k8s.io/v1", ingress),
    "NetworkPolicy": simple("NetworkPolicy", "networking.k8s.io/v1", network_policy),
    "PodDisruptionBudget": simple("PodDisruptionBudget", "policy/v1", lambda: {"spec": {"minAvailable": 1, "selector": selector()}}),
    "HorizontalPodAutoscaler": simple("HorizontalPodAutoscaler", "autoscaling/v2", lambda: {
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": pick("Deployment", "StatefulSet"), "name": pick(*NAMES)}, "metrics": [{"type": "X"}]}}),
    "Role": simple("Role", RBAC, lambda: {"rules": rules()}),
    "ClusterRole": simple("ClusterRole", RBAC, lambda: {"rules": rules()}),
    "RoleBinding": simple("RoleBinding", RBAC, lambda: {"roleRef": role_ref("Role", "ClusterRole"), "subjects": subjects()}),
    "ClusterRoleBinding": simple("ClusterRoleBinding", RBAC, lambda: {"roleRef": role_ref("ClusterRole"), "subjects": subjects()}),
    "PersistentVolumeClaim": simple("PersistentVolumeClaim", "v1", lambda: {"spec": {"volumeName": pick(*NAMES), "storageClassName": pick(*NAMES)}}),
    "PersistentVolume": simple("PersistentVolume", "v1", lambda: {"spec": {"storageClassName": pick(*NAMES), **({"azureFile": {"secretName": pick(*NAMES)}} if chance(0.3) else {})}}),
    "StorageClass": simple("StorageClass", "storage.k8s.io/v1", lambda: {"provisioner": "p", "parameters": {"secretName": pick(*NAMES)}}),
    "PriorityClass": simple("PriorityClass", "scheduling.k8s.io/v1", lambda: {"value": 1}),
    "APIService": simple("APIService", "apiregistration.k8s.io/v1", lambda: {"spec": {"service": {"name": pick(*NAMES), "namespace": "ns1"}}}),
    "MutatingWebhookConfiguration": simple("MutatingWebhookConfiguration", "admissionregistration.k8s.io/v1", webhooks),
    "ValidatingWebhookConfiguration": simple("ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1", webhooks),
    "CustomResourceDefinition": simple("CustomResourceDefinition", "apiextensions.k8s.io/v1", lambda: {
        "spec": {"group": "x.io", **({"conversion": {"webhook": {"clientConfig": {"service": {"name": pick(*NAMES), "namespace": "ns1"}}}}} if chance(0.5) else {})}}),
    "Namespace": simple("Namespace", "v1", lambda: {}),
    "Foo": simple("Foo", "example.com/v1", lambda: {"spec": {"template": template(), "ref": {"name": pick(*NAMES)}, "items": [{"name": "i1", "v": 1}, {"name": "i2"}], "n": R.randint(0, 9)}}),
    "Rollout": simple("Rollout", "argoproj.io/v1alpha1", lambda: {"spec": {"replicas": 1, "template": template()}}),
    "KnativeService": simple("Service", "serving.knative.dev/v1", lambda: {"spec": {"template": template()}}),
    "Policy": simple("ValidatingAdmissionPolicy", "admissionregistration.k8s.io/v1", lambda: {"spec": {"x": 1}}),
    "PolicyBinding": simple("ValidatingAdmissionPolicyBinding", "admissionregistration.k8s.io/v1", lambda: {"spec": {"policyName": pick(*NAMES)}}),
    "Node": simple("Node", "v1", lambda: {"spec": {"configSource": {"configMap": {"name": pick(*NAMES), "namespace": "ns1"}}, "podCIDRs": some(["1/8", "2/8"])}}),
    "IngressClass": simple("IngressClass", "networking.k8s.io/v1", lambda: {"spec": {"controller": "c"}}),
}
WORKLOADS = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "Pod"]
COMMON = ["Deployment", "Service", "ConfigMap", "Secret", "StatefulSet", "ServiceAccount", "Ingress", "CronJob"]


def resource(kind=None, name=None, namespace=None):
    kind = kind or (pick(*COMMON) if chance(0.5) else pick(*MAKERS))
    namespace = namespace or (pick(*NAMESPACES) if chance(0.5) else None)
    made = MAKERS[kind](name or pick(*NAMES), None if kind in CLUSTER else namespace)
    return made


def identity(node):
    namespace = node["metadata"].get("namespace") or "default"
    return node["apiVersion"], node["kind"], node["metadata"]["name"], "" if node["kind"] in CLUSTER else namespace


def resources(count, kinds=None):
    found = {}
    for _ in range(count):
        made = resource(pick(*kinds) if kinds else None)
        found.setdefault(identity(made), made)
    return list(found.values())


# ----- Patches

def thinned(node, depth=0):
    """A part of a document, with some values taken out, deleted or replaced by directives."""
    if isinstance(node, dict):
        result = {}
        for key, value in node.items():
            if depth < 2 and key in ("apiVersion", "kind", "metadata", "name", "namespace"):
                result[key] = {k: v for k, v in value.items() if k in ("name", "namespace") or chance(0.3)} if key == "metadata" else value
                continue
            if key in ("name", "mountPath", "containerPort", "port", "ip", "topologyKey", "whenUnsatisfiable"):
                if chance(0.97):
                    result[key] = value
                continue
            roll = R.random()
            if roll < 0.35:
                continue
            if roll < 0.40:
                result[key] = None
            elif roll < 0.42 and isinstance(value, dict):
                result[key] = {"$patch": pick("delete", "replace", "merge")}
            else:
                result[key] = thinned(value, depth + 1)
        if depth > 1 and chance(0.03):
            result["$patch"] = pick("delete", "replace", "merge")
        return result
    if isinstance(node, list):
        items = [thinned(item, depth + 1) for item in node if chance(0.75)]
        if items and isinstance(items[0], dict) and chance(0.06):
            items.insert(R.randint(0, len(items)), {"$patch": pick("replace", "delete")})
        return items
    return node


def kind_key(node):
    for key, make in MAKERS.items():
        try:
            made = make("a", None)
        except Exception:
            continue
        if made["kind"] == node["kind"] and made["apiVersion"].rsplit("/", 1)[0] == node["apiVersion"].rsplit("/", 1)[0]:
            return key
    return None


def strategic(node):
    key = kind_key(node)
    fresh = MAKERS[key](node["metadata"]["name"], node["metadata"].get("namespace")) if key and chance(0.7) else json.loads(json.dumps(node))
    fresh["apiVersion"] = node["apiVersion"]
    patch = thinned(fresh)
    patch["apiVersion"], patch["kind"] = node["apiVersion"], node["kind"]
    patch.setdefault("metadata", {})["name"] = node["metadata"]["name"]
    if node["metadata"].get("namespace"):
        patch["metadata"]["namespace"] = node["metadata"]["namespace"]
    if chance(0.03):
        patch["$patch"] = pick("delete", "replace", "merge")
    return patch


def pointers(node, at=""):
    yield at
    if isinstance(node, dict):
        for key, value in node.items():
            yield from pointers(value, f"{at}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from pointers(value, f"{at}/{index}")


def value_at(node, pointer):
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        node = node[int(token)] if isinstance(node, list) else node[token]
    return node


def some_value():
    return pick("x", "2", 3, True, None, {"k": "v"}, ["l"], [], {}, "a b", 1.5, 12345678901234567890 if chance(0.2) else 7, Raw("yes"), Raw("0x1F"), Raw("1.0"))


def operations(node, unusual=0.1):
    result = []
    for _ in range(R.randint(1, 3)):
        paths = [path for path in pointers(node) if path not in ("", "/metadata", "/metadata/annotations") and not path.startswith(("/apiVersion", "/kind", "/metadata/name"))]
        if not paths:
            return [{"op": "add", "path": "/x", "value": some_value()}]
        path = pick(*paths)
        op = pick("add", "add", "replace", "replace", "remove", "test", "copy", "move")
        if op == "add":
            parent = pick(*[path for path in pointers(node) if isinstance(value_at(node, path), (dict, list))])
            held = value_at(node, parent)
            token = pick("-", "0", str(len(held)), "-1") if isinstance(held, list) else pick("new", "x~1y", "labels", "annotations")
            if chance(unusual):
                token = pick("-2", "9", "new", "01", "")
            result.append({"op": op, "path": f"{parent}/{token}", "value": some_value()})
        elif op == "replace":
            if chance(unusual):
                path += pick("/new", "x", "/0", "/-1")
            result.append({"op": op, "path": path, "value": some_value()})
        elif op == "remove":
            if chance(unusual):
                path += pick("/new", "x")
            result.append({"op": op, "path": path})
        elif op == "test":
            result.append({"op": op, "path": path, "value": value_at(node, path) if chance(0.9) else some_value()})
        else:
            other = pick(*paths)
            result.append({"op": op, "from": path, "path": pick(other, other + "/new", "/spec/moved")})
        if len(result) > 1 and chance(0.5):
            break
    return result


def target_of(node, loose=0.4):
    fields = {"kind": node["kind"], "name": node["metadata"]["name"]}
    if chance(loose):
        fields.pop(pick("kind", "name"))
    if chance(0.2) and "/" in node["apiVersion"]:
        fields["group"] = node["apiVersion"].split("/")[0]
    if chance(0.15):
        fields["version"] = node["apiVersion"].rsplit("/")[-1]
    if chance(0.2):
        fields["namespace"] = node["metadata"].get("namespace") or "default"
    if chance(0.15) and "name" in fields:
        fields["name"] = pick(".*", fields["name"] + ".*", f"{fields['name']}|zz", "^" + fields["name"] + "$", "w.b", "[ab]")
    if chance(0.1):
        fields["labelSelector"] = pick("app=x", "app!=x", "app in (x,y)", "app", "!app", "app=x,tier=y", "tier notin (x)", "app==y")
    if chance(0.07):
        fields["annotationSelector"] = pick("note=x", "note", "!note", "a/b", "a/b=true")
    if chance(0.05):
        fields["kind"] = pick("Deployment|StatefulSet", "D.*", "Service")
    return fields


def patch_entry(known, files, directory):
    node = pick(*known)
    if chance(0.6):
        patch = strategic(node)
        entry = {}
        count = 1
        if chance(0.3):
            entry["target"] = target_of(node)
            if chance(0.3):
                patch["metadata"] = {"name": "ignored"}
            if chance(0.2):
                patch["kind"] = "Ignored"
        elif chance(0.15) and len(known) > 1:
            count = 2
        text = documents(patch) if count == 1 else documents(patch, strategic(pick(*known)))
        if chance(0.08):
            entry["options"] = {pick("allowNameChange", "allowKindChange"): True}
            if not entry.get("target") and chance(0.5):
                entry["target"] = {"kind": node["kind"], "name": node["metadata"]["name"]}
            if "target" in entry:
                patch["metadata"]["name"] = pick("renamed", "web")
                text = documents(patch)
    else:
        changes = operations(node)
        text = yaml(changes) if chance(0.6) else plain_json(changes)
        entry = {"target": target_of(node)}
    if chance(0.5):
        name = f"patch{len(files)}.{pick('yaml', 'yml', 'json') if text.startswith('[') else 'yaml'}"
        files[f"{directory}/{name}"] = text
        entry["path"] = name
    else:
        entry["patch"] = text
    return entry


def plain_json(value):
    return json.dumps(json.loads(json.dumps(value, default=str)))


# ----- Transformers

def labels_entry():
    entry = {"pairs": {key: pick("x", "new", "1") for key in (some(["app", "env", "team"], 2) or ["env"])}}
    if chance(0.4):
        entry["includeSelectors"] = chance(0.8)
    if chance(0.4):
        entry["includeTemplates"] = chance(0.8)
    if chance(0.2):
        entry["fields"] = [pick({"path": "spec/extra/labels", "create": chance(0.5), "kind": pick("Foo", "Deployment")},
                                {"path": "spec/template/metadata/labels", "create": True, "kind": "Rollout"},
                                {"path": "spec/selector", "kind": "Service", "version": "v1"})]
    return entry


def image_entry():
    entry = {"name": pick("nginx", "app", "reg.io/nginx", "reg.io:5000/team/app", "busybox", ".*nginx", "reg.io", "ngin.", "n", "nginx:1.2", "(nginx|app)")}
    if chance(0.4):
        entry["newName"] = pick("new", "reg2.io/new", "reg.io:1/x")
    if chance(0.5):
        entry["newTag"] = pick("v2", "2.0", "", "latest")
    if chance(0.2):
        entry["digest"] = "sha256:cc"
    if chance(0.15):
        entry["tagSuffix"] = "-s"
    return entry


def generator(files, directory, names=None):
    entry = {"name": pick(*(names or NAMES))}
    if chance(0.15):
        entry["namespace"] = pick("ns1", "ns2", "default")
    if chance(0.7):
        entry["literals"] = [f"{key}={pick('1', 'two', '', 'a=b', chr(34) + 'q' + chr(34), chr(39) + 'q' + chr(39), '<&>', 'ü', ' sp ', 'x' * 80, 'q' + chr(34))}"
                             for key in some(["k", "l", "m", "n.o"], 3)]
    if chance(0.3):
        name = f"f{len(files)}.{pick('txt', 'env', 'bin')}"
        files[f"{directory}/{name}"] = pick("text\n", "", "a: b\n", {"base64": "//79"}, {"base64": "AAEC"}, "line1\r\nline2", "x" * 200, "\ufeffbom", "tab\tend  \n")
        entry["files"] = [pick(name, f"key{pick('', '.x')}={name}", f"./{name}")]
    if chance(0.3):
        name = f"e{len(files)}.env"
        lines = [pick("A=1", "B = 2", "# c", "", "  C=3", "D", "E='q'", "F=a=b", "G=x  ", "H=\u00fc", "\tI=1", "export J=1", "K=\"a\\nb\"") for _ in range(R.randint(0, 4))]
        text = pick("\n", "\r\n").join(lines) + pick("", "\n")
        files[f"{directory}/{name}"] = pick("", "", "\ufeff") + text
        if chance(0.2):
            entry["env"] = name
        else:
            entry["envs"] = [name]
    if chance(0.3):
        entry["options"] = options()
    return entry


def options():
    entry = {}
    if chance(0.5):
        entry["labels"] = {key: pick("x", "y") for key in some(["app", "gen"])}
    if chance(0.5):
        entry["annotations"] = {key: pick("x", "y") for key in some(["note", "gen"])}
    if chance(0.4):
        entry["disableNameSuffixHash"] = chance(0.8)
    if chance(0.3):
        entry["immutable"] = chance(0.8)
    return entry


def field_path(node, pointer):
    """A pointer as a field path of a replacement."""
    parts = []
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list):
            item = node[int(token)]
            if isinstance(item, dict) and "name" in item and chance(0.6):
                parts.append(f"[name={item['name']}]")
            elif chance(0.2):
                parts.append("*")
            else:
                parts.append(token)
            node = item
        else:
            parts.append(f"[{token}]" if "." in token and chance(0.5) else token.replace(".", "\\."))
            node = node[token]
    return ".".join(parts)


def leaves(node):
    return [path for path in pointers(node) if path and not isinstance(value_at(node, path), (dict, list))]


def replacement(known):
    source = pick(*known)
    path = pick(*leaves(source)) if chance(0.85) else pick(*[path for path in pointers(source) if path])
    entry = {"source": {"kind": source["kind"], "name": source["metadata"]["name"]}, "targets": []}
    if source["metadata"].get("namespace"):
        entry["source"]["namespace"] = source["metadata"]["namespace"]
    if chance(0.8):
        entry["source"]["fieldPath"] = field_path(source, path)
    if chance(0.15):
        entry["source"]["options"] = {"delimiter": pick(":", ".", "/", "-", " "), "index": pick(0, 0, 0, 1, -1)}
    for _ in range(R.randint(1, 2)):
        target = pick(*known)
        paths = []
        for _ in range(R.randint(1, 2)):
            if chance(0.1):
                paths.append(pick("metadata.name", "spec.new.path", "metadata.annotations.added", "metadata.labels.[a.b/c]", "spec.list.0", "spec.list.[name=new].value",
                                  "spec.template.spec.containers.*.image", "spec.template.spec.containers.[name=c.].image", "spec.template.spec.containers.-"))
            else:
                paths.append(field_path(target, pick(*(leaves(target) if chance(0.85) else [path for path in pointers(target) if path]))))
        one = {"select": {"kind": target["kind"]}, "fieldPaths": paths}
        if chance(0.7):
            one["select"]["name"] = target["metadata"]["name"]
        if chance(0.1):
            one["reject"] = [{"name": pick(*NAMES)}]
        if chance(0.3):
            one["options"] = {}
            if chance(0.6):
                one["options"]["create"] = True
            if chance(0.4):
                one["options"].update({"delimiter": pick(":", ".", "/", "-"), "index": pick(-1, 0, 1, 5)})
        entry["targets"].append(one)
    return entry


# ----- Kustomizations

def kustomization(known, files, directory, power=1.0, component=False):
    """Fields that transform what is known."""
    fields = {}

    def maybe(probability):
        return chance(probability * power)
    if component:
        fields["apiVersion"], fields["kind"] = "kustomize.config.k8s.io/v1alpha1", "Component"
    if maybe(0.25):
        fields["namespace"] = pick("ns1", "other", "default")
    if maybe(0.3):
        fields["namePrefix"] = pick("p-", "x-")
    if maybe(0.2):
        fields["nameSuffix"] = pick("-s", "-1")
    if maybe(0.3):
        fields["labels"] = [labels_entry() for _ in range(R.randint(1, 2))]
    if maybe(0.2):
        fields["commonLabels"] = {key: "c" for key in (some(["app", "owner"]) or ["app"])}
    if maybe(0.2):
        fields["commonAnnotations"] = {key: "c" for key in (some(["note", "x.y/z"]) or ["note"])}
    if maybe(0.25):
        fields["images"] = [image_entry() for _ in range(R.randint(1, 3))]
    scalable = [node for node in known if node["kind"] in ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")]
    if maybe(0.15) and scalable:
        fields["replicas"] = [{"name": pick(*scalable)["metadata"]["name"], "count": R.randint(0, 9)}]
    if maybe(0.4) and known:
        fields["patches"] = [patch_entry(known, files, directory) for _ in range(R.randint(1, 2))]
    if maybe(0.1) and known:
        text = documents(strategic(pick(*known)))
        if chance(0.5):
            files[f"{directory}/sm.yaml"] = text
            text = "sm.yaml"
        fields["patchesStrategicMerge"] = [text]
    if maybe(0.1) and known:
        node = pick(*known)
        target = {"version": node["apiVersion"].rsplit("/")[-1], "kind": node["kind"], "name": node["metadata"]["name"]}
        if "/" in node["apiVersion"]:
            target["group"] = node["apiVersion"].split("/")[0]
        fields["patchesJson6902"] = [{"target": target, "patch": yaml(operations(node))}]
    if maybe(0.25):
        made = {entry["name"]: entry for entry in (generator(files, directory) for _ in range(R.randint(1, 2)))}
        exists = {node["metadata"]["name"] for node in known if node["kind"] == "ConfigMap"}
        for name, entry in made.items():
            if (name in exists) != chance(0.05):
                entry["behavior"] = pick("merge", "replace")
        fields["configMapGenerator"] = list(made.values())
    if maybe(0.15):
        made = {entry["name"]: entry for entry in (generator(files, directory) for _ in range(R.randint(1, 2)))}
        exists = {node["metadata"]["name"] for node in known if node["kind"] == "Secret"}
        for name, entry in made.items():
            if name in exists:
                entry["behavior"] = pick("merge", "replace")
            if chance(0.2):
                entry["type"] = "kubernetes.io/tls"
        fields["secretGenerator"] = list(made.values())
    if maybe(0.1):
        fields["generatorOptions"] = options()
    if maybe(0.12) and known:
        fields["replacements"] = [replacement(known)]
    if maybe(0.04):
        configuration = pick(
            {"nameReference": [{"kind": "ConfigMap", "version": "v1", "fieldSpecs": [{"path": "spec/ref/name", "kind": "Foo"}]}]},
            {"nameReference": [{"kind": "Foo", "group": "example.com", "fieldSpecs": [{"path": "data/k", "kind": "ConfigMap"}]}]},
            {"images": [{"path": "data/k", "kind": "ConfigMap"}]},
            {"commonLabels": [{"path": "spec/more/labels", "create": True, "kind": "Foo"}]},
            {"replicas": [{"path": "spec/n", "kind": "Foo"}]},
            {"commonAnnotations": [{"path": "spec/template/metadata/annotations", "create": True, "kind": "Rollout"}]},
            {"namespace": [{"path": "spec/where", "create": True, "kind": "Foo"}]},
            {"namePrefix": [{"path": "spec/ref/name", "kind": "Foo"}]},
            {"labels": [{"path": "spec/l", "create": True, "kind": "Foo"}]},
            {"templateLabels": [{"path": "spec/template/metadata/labels", "create": True, "kind": "Rollout"}]})
        files[f"{directory}/config.yaml"] = yaml(configuration)
        fields["configurations"] = ["config.yaml"]
    if maybe(0.02):
        fields["sortOptions"] = {"order": pick("legacy", "fifo")}
    return fields


def after(known, fields):
    """What patches of an overlay can call the resources of a base, roughly."""
    result = []
    for node in known:
        node = json.loads(json.dumps(node, default=str))
        if chance(0.6):
            node["metadata"]["name"] = fields.get("namePrefix", "") + node["metadata"]["name"] + fields.get("nameSuffix", "")
        if fields.get("namespace") and node["kind"] not in CLUSTER:
            node["metadata"]["namespace"] = fields["namespace"]
        result.append(node)
    for kind, name in (("ConfigMap", "configMapGenerator"), ("Secret", "secretGenerator")):
        for entry in fields.get(name, []):
            made = {"name": entry["name"]}
            if fields.get("namespace") or entry.get("namespace"):
                made["namespace"] = fields.get("namespace") or entry["namespace"]
            result.append({"apiVersion": "v1", "kind": kind, "metadata": made, "data": {"k": "1"}})
    return result


def written(fields):
    return yaml(fields)


def add(files, directory, fields, nodes):
    listed = []
    while nodes:
        part = nodes[:R.randint(1, 3)]
        name = f"r{len(files)}.yaml"
        files[f"{directory}/{name}"] = documents(*part)
        listed.append(name)
        nodes = nodes[len(part):]
    return listed


def combination(count=4, power=1.0, kinds=None):
    files = {}
    base = resources(R.randint(1, count), kinds)
    fields = kustomization(base, files, "base", 0.5 * power)
    fields["resources"] = add(files, "base", fields, list(base))
    files["base/kustomization.yaml"] = written(fields)
    known = after(base, fields)
    root = "base"
    if chance(0.85):
        root = "over"
        own = [node for node in resources(R.randint(0, 2), kinds) if node["metadata"]["name"] not in {it["metadata"]["name"] for it in known if it["kind"] == node["kind"]}]
        over = kustomization(known + own, files, "over", power)
        listed = ["../base"] + add(files, "over", over, list(own))
        if chance(0.3):
            listed.reverse()
        over["resources"] = listed
        if chance(0.25):
            part = kustomization(known + own, files, "part", power, component=True)
            if chance(0.3):
                extra = resources(1, kinds)
                part["resources"] = add(files, "part", part, extra)
            files["part/kustomization.yaml"] = written(part)
            over["components"] = ["../part"]
        files["over/kustomization.yaml"] = written(over)
        if chance(0.2):
            root = "top"
            top = kustomization(after(known + own, over), files, "top", power)
            top["resources"] = ["../over"]
            files["top/kustomization.yaml"] = written(top)
    return files, root


def one(fields, nodes, extra=None):
    files = dict(extra or {})
    fields["resources"] = add(files, "app", fields, nodes)
    files["app/kustomization.yaml"] = written(fields)
    return files, "app"


def strategic_case():
    files = {}
    nodes = resources(1, WORKLOADS + ["Service", "ServiceAccount", "Foo", "Rollout", "Node", "MutatingWebhookConfiguration", "CustomResourceDefinition", "Ingress", "OldDeployment"])
    fields = {"patches": [patch_with(nodes[0], files) for _ in range(R.randint(1, 2))]}
    return one(fields, nodes, files)


def patch_with(node, files):
    entry = {"patch": documents(strategic(node))}
    if chance(0.2):
        entry["target"] = {"kind": node["kind"]}
    return entry


def json_case():
    nodes = resources(1)
    entry = {"patch": yaml(operations(nodes[0], 0.3)) if chance(0.6) else plain_json(operations(nodes[0], 0.3)),
             "target": {"kind": nodes[0]["kind"], "name": nodes[0]["metadata"]["name"]}}
    return one({pick("patches", "patches", "patchesJson6902"): [entry]}, nodes)


def replacement_case():
    nodes = resources(R.randint(2, 4))
    return one({"replacements": [replacement(nodes) for _ in range(R.randint(1, 2))]}, nodes)


def reference_case():
    files = {}
    nodes = resources(R.randint(4, 9))
    base = {key: value for key, value in kustomization(nodes, files, "base", 1.0).items()
            if key in ("namespace", "namePrefix", "nameSuffix", "configMapGenerator", "secretGenerator", "generatorOptions")}
    base["resources"] = add(files, "base", base, list(nodes))
    files["base/kustomization.yaml"] = written(base)
    second = resources(R.randint(0, 4))
    other = {}
    if chance(0.5):
        other["namePrefix"] = pick("p-", "o-")
    if chance(0.3):
        other["nameSuffix"] = pick("-s", "-o")
    if chance(0.3):
        other["namespace"] = pick("ns1", "ns3")
    other["resources"] = add(files, "other", other, list(second)) or ["../third"]
    if other["resources"] == ["../third"]:
        files["third/kustomization.yaml"] = "resources: []\n"
    files["other/kustomization.yaml"] = written(other)
    over = {"resources": ["../base", "../other"]}
    for key, value in kustomization(nodes, files, "over", 1.0).items():
        if key in ("namespace", "namePrefix", "nameSuffix"):
            over[key] = value
    if chance(0.4):
        third = resources(1)
        over["resources"] += add(files, "over", over, third)
    files["over/kustomization.yaml"] = written(over)
    return files, "over"


def image_case():
    nodes = resources(R.randint(1, 3), WORKLOADS + ["Foo", "Rollout", "KnativeService"])
    return one({"images": [image_entry() for _ in range(R.randint(1, 3))]}, nodes)


def generator_case():
    files = {}
    fields = {}
    for field, kind in (("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")):
        if chance(0.7):
            made = {entry["name"]: entry for entry in (generator(files, "app") for _ in range(R.randint(1, 3)))}
            fields[field] = list(made.values())
    if chance(0.3):
        fields["generatorOptions"] = options()
    nodes = resources(R.randint(1, 3), ["Deployment", "CronJob", "StatefulSet", "Pod"])
    files, root = one(fields, nodes, files)
    if chance(0.6):
        over = {"resources": ["../app"]}
        names = [entry["name"] for entry in fields.get("configMapGenerator", [])]
        if names:
            entry = generator(files, "over", names)
            entry["behavior"] = pick("merge", "replace", "merge", "create")
            over["configMapGenerator"] = [entry]
        names = [entry["name"] for entry in fields.get("secretGenerator", [])]
        if names:
            entry = generator(files, "over", names)
            entry["behavior"] = pick("merge", "replace")
            over["secretGenerator"] = [entry]
        if chance(0.3):
            over["namePrefix"] = "p-"
        files["over/kustomization.yaml"] = written(over)
        root = "over"
    return files, root


SCALARS = ["yes", "no", "on", "Off", "y", "N", "true", "True", "TRUE", "False", "~", "null", "Null", "", "0644", "0o644", "0x1F", "0b11", "1_000", "1:30", "1:30:00", "1.0",
           "1.10", "1e3", "1E3", "1.5e-7", ".5", "5.", "+1", "-0", "-1", "0", "00", "08", "1e400", "123456789012345678901234567890", "9007199254740993", "18446744073709551615",
           "2020-01-02", "2020-01-02T03:04:05Z", "2020-01-02 03:04:05", "2020-1-2", ".inf", "-.inf", ".nan", "'quoted'", "\"dq\\n\"", "a b", "a: b", "a #c", "#c", "@a", "%a", "!!str 1", "!!int \"1\"",
           "!!bool yes", "!custom x", "[a, 1, yes]", "{a: 1, b: yes}", "<<", "=", "0.1", "100", "1.0.0", "1,000", "0777", "0o8", "1__0", "_1", "0x", "1e", "e1", "-", "- a", "?", "!!binary aGk=", "!!float 1", "1.0e+3", "12e03", "0.00000001", "1e21", "123456789.123456789", "*x", "&x y", "|", ">-"]


def scalar_case():
    lines = "".join(f"  k{at}: {pick(*SCALARS)}\n" for at in range(R.randint(1, 2)))
    kind = pick("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n", "apiVersion: e.io/v1\nkind: Foo\nmetadata:\n  name: a\nspec:\n")
    text = kind + lines
    if chance(0.2):
        text = text.replace("  name: a\n", f"  name: a\n  {pick('labels', 'annotations')}:\n    x: {pick(*SCALARS)}\n")
    files = {"app/r.yaml": text}
    fields = {"resources": ["r.yaml"]}
    if chance(0.3):
        api = text.split("\n")[0]
        where = "data" if "ConfigMap" in text else "spec"
        patch = f"{api}\nkind: {'ConfigMap' if where == 'data' else 'Foo'}\nmetadata:\n  name: a\n{where}:\n  z: {pick(*SCALARS)}\n"
        fields["patches"] = [{"patch": patch}]
    elif chance(0.4):
        patch = f"- op: add\n  path: /spec\n  value: {pick(*SCALARS)}\n"
        fields["patches"] = [{"patch": patch, "target": {"name": "a"}}]
    files["app/kustomization.yaml"] = yaml(fields)
    if chance(0.15):
        files["app/kustomization.yaml"] += pick("namespace", "namePrefix", "commonLabels", "labels", "images", "replicas") + ": " + pick(*SCALARS) + "\n"
    elif chance(0.15):
        files["app/kustomization.yaml"] += f"commonLabels:\n  x: {pick(*SCALARS)}\n"
    elif chance(0.1):
        files["app/kustomization.yaml"] += f"configMapGenerator:\n- name: g\n  literals:\n  - {pick(*SCALARS)}\n  - k={pick(*SCALARS)}\n"
    return files, "app"


def label_case():
    files = {}
    nodes = resources(R.randint(1, 3))
    fields = {"labels": [labels_entry() for _ in range(R.randint(0, 3))], "commonLabels": {"app": "c"} if chance(0.4) else {},
              "commonAnnotations": {"note": "c"} if chance(0.4) else {}}
    return one({key: value for key, value in fields.items() if value}, nodes, files)


def target_case():
    nodes = resources(R.randint(2, 4))
    files = {}
    base = {"resources": add(files, "base", {}, list(nodes))}
    if chance(0.5):
        base["namePrefix"] = "p-"
    if chance(0.4):
        base["namespace"] = pick("ns1", "ns3")
    files["base/kustomization.yaml"] = written(base)
    node = pick(*after(nodes, base))
    target = target_of(node, 0.5)
    patch = pick(yaml([{"op": "add", "path": "/hit", "value": True}]),
                 documents({"apiVersion": "v1", "kind": "X", "metadata": {"name": "x", "labels": {"hit": "1"}}}))
    if chance(0.3):
        over = {"resources": ["../base"], "replacements": [{"source": {"kind": node["kind"], "name": node["metadata"]["name"]},
                "targets": [{"select": {key: value for key, value in target.items() if not key.endswith("elector")}, "fieldPaths": ["metadata.annotations.hit"], "options": {"create": True}}]}]}
        if chance(0.3):
            over["replacements"][0]["targets"][0]["reject"] = [target_of(node, 0.9)]
    else:
        over = {"resources": ["../base"], "patches": [{"patch": patch, "target": target}]}
    files["over/kustomization.yaml"] = written(over)
    return files, "over"


def namespace_case():
    nodes = resources(R.randint(2, 6), ["Namespace", "RoleBinding", "ClusterRoleBinding", "ServiceAccount", "Role", "ClusterRole", "APIService", "CustomResourceDefinition",
                                        "MutatingWebhookConfiguration", "Service", "ConfigMap", "Deployment", "Foo", "PersistentVolume", "StorageClass", "Policy", "Secret", "Node"])
    files = {}
    fields = {"namespace": pick("ns1", "other", "default")}
    for key, value in kustomization(nodes, files, "app", 0.6).items():
        if key in ("namePrefix", "nameSuffix", "configMapGenerator", "secretGenerator"):
            fields[key] = value
    return one(fields, nodes, files)


GROUPS = {
    "combination": combination,
    "small": lambda: combination(2, 0.6),
    "strategic": strategic_case,
    "json": json_case,
    "replacement": replacement_case,
    "reference": reference_case,
    "image": image_case,
    "generator": generator_case,
    "scalar": scalar_case,
    "label": label_case,
    "target": target_case,
    "namespace": namespace_case,
}


# ----- Building

class Loader(reader.SafeLoader):
    """Dates stay texts."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in reader.SafeLoader.yaml_implicit_resolvers.items()
}


def kubectl(case):
    with tempfile.TemporaryDirectory() as folder:
        for path, content in case["files"].items():
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, dict):
                file.write_bytes(base64.b64decode(content["base64"]))
            else:
                file.write_bytes(content.encode())
        command = ["kubectl", "kustomize", "--load-restrictor", "LoadRestrictionsNone", os.path.join(folder, case["root"])]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            return {"error": run.stderr.strip()}
        return {"expect": [document for document in reader.load_all(run.stdout, Loader) if document is not None]}


def built(builder, cases):
    text = "".join(json.dumps(case) + "\n" for case in cases)
    run = subprocess.run([builder], input=text, capture_output=True, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def key(answer):
    if "error" in answer:
        return "error"
    return sorted(json.dumps(document, sort_keys=True) for document in answer.get("expect") or [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(GROUPS))
    parser.add_argument("--builder", action="append", default=[])
    given = parser.parse_args()
    cases = []
    for number in range(given.count):
        group = given.only.split(",")[number % len(given.only.split(","))]
        R.seed(f"{given.seed} {group} {number}")
        files, root = GROUPS[group]()
        cases.append({"name": f"{group}_{given.seed}_{number}", "rule": group, "files": files, "root": root})
    answers = [built(builder, cases) for builder in given.builder] or [[kubectl(case) for case in cases]]
    folder = pathlib.Path(given.folder, "kustomize")
    folder.mkdir(parents=True, exist_ok=True)
    counts = {"built": 0, "failed": 0, "builders disagree": 0}
    for case, *several in zip(cases, *answers):
        if any(key(answer) != key(several[0]) for answer in several):
            counts["builders disagree"] += 1
            pathlib.Path(given.folder, f"{case['name']}.disagree.json").write_text(json.dumps({**case, "answers": several}, indent=1))
            continue
        answer = several[0]
        if "error" in answer:
            counts["failed"] += 1
            case["error"] = {"says": answer["error"]}
        else:
            counts["built"] += 1
            case["expect"] = answer.get("expect") or []
        (folder / f"{case['name']}.json").write_text(json.dumps(case, indent=1))
    print(json.dumps(counts))


if __name__ == "__main__":
    sys.exit(main())
