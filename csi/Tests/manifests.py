#!/usr/bin/python3
"""The manifests of the driver, held against Kubernetes' schemas and against the driver.

    manifests.py DRIVER          (of PyPI kubernetes-validate)"""

import pathlib
import re
import subprocess
import sys

import kubernetes_validate
import yaml

FOLDERS = [pathlib.Path(__file__).resolve().parent.parent / name for name in ("deploy", "snapshots")]
DRIVER = sys.argv[1]
# Versions of Kubernetes that are looked at: this one, and each minor one up to the last whose schema is at hand.
OLDEST = 28


def documents():
    """All objects. Kubernetes has no schemas for those of kustomize and of the snapshots' own definitions."""
    for folder in FOLDERS:
        for path in sorted(folder.glob("*.yaml")):
            for document in yaml.safe_load_all(path.read_text()):
                if isinstance(document, dict):
                    yield path.name, document
    yield "the set with snapshots", with_snapshots()


def of_kind(kind):
    return [document for _, document in documents() if document["kind"] == kind]


def with_snapshots():
    """The DaemonSet as the patch of the snapshots leaves it."""
    node = yaml.safe_load((FOLDERS[0] / "node.yaml").read_text())
    change, = yaml.safe_load((FOLDERS[1] / "snapshotter.yaml").read_text())
    assert (change["op"], change["path"]) == ("add", "/spec/template/spec/containers/-"), change
    node["spec"]["template"]["spec"]["containers"].append(change["value"])
    return node


def schemas_take_them():
    newest = int(kubernetes_validate.latest_version().split(".")[1])
    for minor in range(OLDEST, newest + 1):
        for name, document in documents():
            if document["kind"] in ("Kustomization", "VolumeSnapshotClass"):
                continue
            try:
                kubernetes_validate.validate(document, f"1.{minor}", strict=True)
            except kubernetes_validate.ValidationError as error:
                raise AssertionError(f"{name}, Kubernetes 1.{minor}: {error.message}") from None


def a_mistake_is_found():
    document = of_kind("DaemonSet")[0]
    document["spec"]["template"]["spec"]["hostPid"] = True
    try:
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)
    except kubernetes_validate.ValidationError:
        return
    raise AssertionError("a field that does not exist was taken")


def all_are_of_the_kustomization():
    for folder, kustomization in zip(FOLDERS, of_kind("Kustomization"), strict=True):
        others = {path.name for path in folder.glob("*.yaml")} - {"kustomization.yaml", "job.yaml"}
        named = set(kustomization["resources"]) | {patch["path"] for patch in kustomization.get("patches", [])}
        assert named - {"../deploy"} == others, (named, others)


def names_are_the_drivers():
    driver, = of_kind("CSIDriver")
    name = driver["metadata"]["name"]
    assert [one["provisioner"] for one in of_kind("StorageClass")] == [name]
    assert [one["driver"] for one in of_kind("VolumeSnapshotClass")] == [name]
    job, = of_kind("Job")
    volumes = [volume["csi"] for volume in job["spec"]["template"]["spec"]["volumes"]]
    assert volumes and all(volume["driver"] == name for volume in volumes), volumes
    accounts = {(account["metadata"]["name"], account["metadata"]["namespace"]) for account in of_kind("ServiceAccount")}
    for kind in "Role", "ClusterRole":
        roles = [role["metadata"]["name"] for role in of_kind(kind)]
        bindings = of_kind(kind + "Binding")
        assert roles and [binding["roleRef"]["name"] for binding in bindings] == roles, (kind, roles)
        for binding in bindings:
            assert {(one["name"], one["namespace"]) for one in binding["subjects"]} == accounts, binding
    spec = of_kind("DaemonSet")[0]["spec"]["template"]["spec"]
    assert spec["serviceAccountName"] in {account for account, _ in accounts}


def options_are_the_drivers():
    told = subprocess.run([DRIVER, "--help"], capture_output=True, text=True, check=True).stdout
    driver, = [one for one in of_kind("DaemonSet")[0]["spec"]["template"]["spec"]["containers"] if one["name"] == "driver"]
    used = {word.split("=")[0] for word in driver["command"][driver["command"].index("--") + 1:] if word.startswith("--")}
    known = set(re.findall(r"--[a-z-]+", told))
    assert used and used <= known, used - known


def main():
    failed = 0
    tests = [schemas_take_them, a_mistake_is_found, all_are_of_the_kustomization, names_are_the_drivers,
             options_are_the_drivers]
    for test in tests:
        name = test.__name__.replace("_", " ")
        try:
            test()
            print("ok     ", name)
        except AssertionError as error:
            failed += 1
            print("FAILED ", name, error)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
