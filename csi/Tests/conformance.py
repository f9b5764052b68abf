#!/usr/bin/python3
"""The Container Storage Interface as the specification has it: every call, twice, in the wrong order, with a kill between.

    conformance.py DRIVER WORK [FUNCTION…]          (appcontainer is in PATH)

DRIVER is the program appcontainer-csi; WORK has `templates`, with the device `phone`, and `secrets`. Needs root, and of
PyPI grpcio and protobuf, with the modules that protoc has made of csi.proto in PYTHONPATH."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time

import csi_pb2 as csi
import csi_pb2_grpc
import grpc
import yaml

APP = "com.example.Notes"
DRIVER, WORK = sys.argv[1:3]
SOCKET, STATE = WORK + "/csi.sock", WORK + "/state"
MOUNTED = csi.VolumeCapability(
    mount=csi.VolumeCapability.MountVolume(), access_mode=csi.VolumeCapability.AccessMode(mode="SINGLE_NODE_WRITER"))
BLOCK = csi.VolumeCapability(
    block=csi.VolumeCapability.BlockVolume(), access_mode=csi.VolumeCapability.AccessMode(mode="SINGLE_NODE_WRITER"))
SEVERAL = csi.VolumeCapability(
    mount=csi.VolumeCapability.MountVolume(), access_mode=csi.VolumeCapability.AccessMode(mode="MULTI_NODE_MULTI_WRITER"))
PARAMETERS = {"template": "phone", "app": APP}
SECRETS = {"passcode": "271828"}


def check(condition, *seen):
    if not condition:
        raise AssertionError(" ".join(map(str, seen)) or "not as it should be")


class Driver:
    """The program, and its services. It is started anew after a kill."""

    def __init__(self):
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [DRIVER, "--endpoint", "unix://" + SOCKET, "--node-id", "node-1", "--templates", WORK + "/templates",
             "--state", STATE, "--secrets", WORK + "/secrets", "--program", shutil.which("appcontainer")])
        self.channel = grpc.insecure_channel("unix://" + SOCKET)
        self.identity = csi_pb2_grpc.IdentityStub(self.channel)
        self.controller = csi_pb2_grpc.ControllerStub(self.channel)
        self.node = csi_pb2_grpc.NodeStub(self.channel)
        for _ in range(600):
            with contextlib.suppress(grpc.RpcError):
                return check(self.identity.Probe(csi.ProbeRequest()).ready.value, "ready")
            time.sleep(0.05)
        check(False, "the driver does not answer")

    def end(self, number=signal.SIGTERM):
        self.channel.close()
        self.process.send_signal(number)
        check(self.process.wait(30) in (0, -number), "exit code", self.process.returncode)

    def killed(self):
        self.end(signal.SIGKILL)
        self.start()


def refused(code, call, *arguments, **values):
    try:
        call(*arguments, **values)
    except grpc.RpcError as error:
        check(error.code().name == code, "code", error.code(), error.details(), "expected", code)
        check(error.details() and "\n" not in error.details(), "one line:", error.details())
    else:
        check(False, "it was taken, and", code, "was expected")


def twice(call, request):
    first, second = call(request), call(request)
    check(first == second, "the same again:", first, second)
    return first


def create(driver, name, **values):
    values = {"parameters": PARAMETERS, "volume_capabilities": [MOUNTED], **values}
    return twice(driver.controller.CreateVolume, csi.CreateVolumeRequest(name=name, **values)).volume


def publish(driver, name, target, **values):
    values = {"volume_capability": MOUNTED, "secrets": SECRETS, **values}
    return csi.NodePublishVolumeRequest(volume_id=name, target_path=target, **values)


def text(path):
    with open(path) as file:
        return file.read()


# MARK: The services


def it_tells_what_it_is(driver):
    info = twice(driver.identity.GetPluginInfo, csi.GetPluginInfoRequest())
    check(info.name == "csi.appcontainer.dev" and info.vendor_version, info)
    types = {one.service.type for one in driver.identity.GetPluginCapabilities(csi.GetPluginCapabilitiesRequest()).capabilities}
    check(types == {1, 2}, types)
    node = twice(driver.node.NodeGetInfo, csi.NodeGetInfoRequest())
    check(node.node_id == "node-1" and list(node.accessible_topology.segments.values()) == ["node-1"], node)
    check(driver.node.NodeGetCapabilities(csi.NodeGetCapabilitiesRequest()).capabilities[0].rpc.type == 2, "statistics")
    types = {one.rpc.type for one in driver.controller.ControllerGetCapabilities(csi.ControllerGetCapabilitiesRequest()).capabilities}
    check(types == {1, 3, 4, 5, 6, 7}, types)


def a_volume_is_made_used_and_removed(driver):
    volume = create(driver, "pvc-1", capacity_range=csi.CapacityRange(required_bytes=1 << 30))
    check(volume.capacity_bytes == 1 << 30, volume)
    check(volume.accessible_topology[0].segments, volume)
    target = WORK + "/target"
    twice(driver.node.NodePublishVolume, publish(driver, volume.volume_id, target))
    check(text(target + "/Documents/first") == "from the template\n", "content")
    with open(target + "/Documents/new", "w") as file:
        file.write("written")
    usage = driver.node.NodeGetVolumeStats(csi.NodeGetVolumeStatsRequest(volume_id=volume.volume_id, volume_path=target)).usage
    check([one.unit for one in usage] == [1, 2] and usage[0].total == 1 << 30, usage)
    check(usage[0].available <= usage[0].total and usage[0].used < usage[0].total, usage)
    refused("FAILED_PRECONDITION", driver.controller.DeleteVolume, csi.DeleteVolumeRequest(volume_id=volume.volume_id))
    # A second pod of the same node.
    twice(driver.node.NodePublishVolume, publish(driver, volume.volume_id, target + "-2", readonly=True))
    check(text(target + "-2/Documents/new") == "written", "seen by the second")
    try:
        open(target + "-2/Documents/x", "w")
        check(False, "written to a read-only target")
    except OSError as error:
        check(error.errno == 30, error)
    refused("ALREADY_EXISTS", driver.node.NodePublishVolume, publish(driver, volume.volume_id, target, readonly=True))
    for place in target, target + "-2":
        twice(driver.node.NodeUnpublishVolume, csi.NodeUnpublishVolumeRequest(volume_id=volume.volume_id, target_path=place))
        check(not os.path.exists(place), place)
    refused("NOT_FOUND", driver.node.NodeGetVolumeStats,
            csi.NodeGetVolumeStatsRequest(volume_id=volume.volume_id, volume_path=target))
    twice(driver.controller.DeleteVolume, csi.DeleteVolumeRequest(volume_id=volume.volume_id))


def volumes_are_made_of_snapshots_and_of_volumes(driver):
    volume = create(driver, "source")
    target = WORK + "/target"
    driver.node.NodePublishVolume(publish(driver, "source", target))
    with open(target + "/Documents/new", "w") as file:
        file.write("before")
    request = csi.CreateSnapshotRequest(source_volume_id="source", name="snapshot-1")
    refused("FAILED_PRECONDITION", driver.controller.CreateSnapshot, request)
    driver.node.NodeUnpublishVolume(csi.NodeUnpublishVolumeRequest(volume_id="source", target_path=target))
    snapshot = twice(driver.controller.CreateSnapshot, request).snapshot
    check(snapshot.ready_to_use and snapshot.size_bytes > 0 and snapshot.creation_time.seconds > 0, snapshot)
    create(driver, "other")
    refused("ALREADY_EXISTS", driver.controller.CreateSnapshot,
            csi.CreateSnapshotRequest(source_volume_id="other", name="snapshot-1"))
    content = csi.VolumeContentSource(snapshot=csi.VolumeContentSource.SnapshotSource(snapshot_id=snapshot.snapshot_id))
    made = create(driver, "made", volume_content_source=content)
    check(made.content_source == content, made)
    create(driver, "cloned", volume_content_source=csi.VolumeContentSource(
        volume=csi.VolumeContentSource.VolumeSource(volume_id=volume.volume_id)))
    for name in "made", "cloned":
        driver.node.NodePublishVolume(publish(driver, name, target))
        check(text(target + "/Documents/new") == "before", name)
        driver.node.NodeUnpublishVolume(csi.NodeUnpublishVolumeRequest(volume_id=name, target_path=target))
    found = driver.controller.ListSnapshots(csi.ListSnapshotsRequest(source_volume_id="source")).entries
    check([one.snapshot.snapshot_id for one in found] == ["snapshot-1"], found)
    check(not driver.controller.ListSnapshots(csi.ListSnapshotsRequest(snapshot_id="none")).entries, "none")
    # The source may go before what was made of it.
    for name in "source", "made", "cloned", "other":
        driver.controller.DeleteVolume(csi.DeleteVolumeRequest(volume_id=name))
    create(driver, "later", volume_content_source=content)
    driver.controller.DeleteVolume(csi.DeleteVolumeRequest(volume_id="later"))
    twice(driver.controller.DeleteSnapshot, csi.DeleteSnapshotRequest(snapshot_id="snapshot-1"))
    refused("NOT_FOUND", driver.controller.CreateVolume, csi.CreateVolumeRequest(
        name="late", parameters=PARAMETERS, volume_capabilities=[MOUNTED], volume_content_source=content))


def a_pod_has_volumes_of_its_own(driver):
    pod = {"csi.storage.k8s.io/ephemeral": "true", "csi.storage.k8s.io/pod.uid": "1-2-3"}
    target = WORK + "/pod"
    os.makedirs(target, exist_ok=True)
    notes = publish(driver, "csi-aaa", target + "/notes", volume_context={**pod, **PARAMETERS, "name": "notes"})
    phone = publish(driver, "csi-bbb", target + "/phone", volume_context={**pod, "control-of": "notes", "uid": "0"})
    # The one that needs the other comes first, and comes again.
    refused("NOT_FOUND", driver.node.NodePublishVolume, phone)
    twice(driver.node.NodePublishVolume, notes)
    twice(driver.node.NodePublishVolume, phone)
    check(text(target + "/notes/Documents/first") == "from the template\n", "content")
    check(os.listdir(target + "/phone") == ["control.sock"], "the control socket")
    for name, place in ("csi-aaa", "notes"), ("csi-bbb", "phone"):
        twice(driver.node.NodeUnpublishVolume, csi.NodeUnpublishVolumeRequest(volume_id=name, target_path=f"{target}/{place}"))
    check(os.listdir(target) == [] and os.listdir(STATE + "/devices") == [], "all of the pod is gone")


def a_pod_gets_nothing_of_others(driver):
    """The author of a pod writes the attributes of its own volumes."""
    about = {"csi.storage.k8s.io/ephemeral": "true", "csi.storage.k8s.io/pod.uid": "7-8-9"}
    target = WORK + "/pod"
    create(driver, "pvc-1")
    for attributes in ({"copy-of": "pvc-1"}, {**PARAMETERS, "snapshot": "x"}, {"template": "phone", "passcode-secret": "code"}):
        refused("INVALID_ARGUMENT", driver.node.NodePublishVolume,
                publish(driver, "csi-aaa", target, volume_context={**about, **attributes}))
    for other in "beside", "control-of":
        refused("NOT_FOUND", driver.node.NodePublishVolume, publish(
            driver, "csi-aaa", target, volume_context={**about, other: "pvc-1", "uid": "0"} if other == "control-of"
            else {**about, other: "pvc-1"}))
    # A volume of the pod's own that cannot be used is not kept.
    attributes = {key: value for key, value in PARAMETERS.items() if key != "passcode-secret"}
    refused("UNAUTHENTICATED", driver.node.NodePublishVolume, publish(
        driver, "csi-aaa", target, volume_context={**about, **attributes}, secrets={"passcode": "0"}))
    check(os.listdir(STATE + "/devices") == ["pvc-1"], os.listdir(STATE + "/devices"))
    # Neither does a mistaken identifier take a target away, nor does a target that is none tell anything.
    driver.node.NodePublishVolume(publish(driver, "pvc-1", target))
    create(driver, "pvc-2")
    twice(driver.node.NodeUnpublishVolume, csi.NodeUnpublishVolumeRequest(volume_id="pvc-2", target_path=target))
    check(text(target + "/Documents/first") == "from the template\n", "it stays")
    refused("NOT_FOUND", driver.node.NodeGetVolumeStats, csi.NodeGetVolumeStatsRequest(volume_id="pvc-1", volume_path="/proc"))
    driver.node.NodeUnpublishVolume(csi.NodeUnpublishVolumeRequest(volume_id="pvc-1", target_path=target))
    for name in "pvc-1", "pvc-2":
        driver.controller.DeleteVolume(csi.DeleteVolumeRequest(volume_id=name))


def the_example_job_has_its_volumes(driver):
    """The volumes of deploy/job.yaml, as kubelet publishes them for its pod."""
    with open(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../deploy/job.yaml")) as file:
        pod = yaml.safe_load(file)["spec"]["template"]["spec"]
    target = WORK + "/pod"
    os.makedirs(target, exist_ok=True)
    about = {"csi.storage.k8s.io/ephemeral": "true", "csi.storage.k8s.io/pod.uid": "4-5-6"}
    for volume in pod["volumes"]:
        driver.node.NodePublishVolume(publish(
            driver, "csi-" + volume["name"], f"{target}/{volume['name']}",
            volume_context={**about, **volume["csi"]["volumeAttributes"]}))
    paths = {mount["mountPath"]: f"{target}/{mount['name']}" for mount in pod["containers"][0]["volumeMounts"]}
    home, control = (paths[os.path.dirname(one["value"]) if one["name"] == "NOTES_DEVICE" else one["value"]]
                     for one in pod["containers"][0]["env"])
    # As the user of the pod, and without any right.
    user = pod["securityContext"]["runAsUser"]
    told = subprocess.run(
        ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--bounding-set=-all", "--no-new-privs", "sh", "-c",
         'echo written >"$0/Documents/new" && curl -s --unix-socket "$1/control.sock" http://device/v1/lock -d "{\\"now\\":true}"',
         home, control], capture_output=True, text=True)
    check(told.returncode == 0 and "complaint" not in told.stdout, told)
    check(text(home + "/Documents/new") == "written\n", "the user's file")
    for volume in reversed(pod["volumes"]):
        driver.node.NodeUnpublishVolume(csi.NodeUnpublishVolumeRequest(
            volume_id="csi-" + volume["name"], target_path=f"{target}/{volume['name']}"))


def lists_come_in_pages(driver):
    names = [f"volume-{number}" for number in range(5)]
    for name in names:
        create(driver, name)
    found, token = [], ""
    while True:
        page = driver.controller.ListVolumes(csi.ListVolumesRequest(max_entries=2, starting_token=token))
        check(len(page.entries) <= 2, page)
        found += [one.volume.volume_id for one in page.entries]
        token = page.next_token
        if not token:
            break
    check(found == names, found)
    check(len(driver.controller.ListVolumes(csi.ListVolumesRequest()).entries) == 5, "all at once")
    refused("ABORTED", driver.controller.ListVolumes, csi.ListVolumesRequest(starting_token="nothing"))
    refused("INVALID_ARGUMENT", driver.controller.ListVolumes, csi.ListVolumesRequest(max_entries=-1))
    for name in names:
        driver.controller.DeleteVolume(csi.DeleteVolumeRequest(volume_id=name))


def mistakes_have_the_codes_of_the_specification(driver):
    controller, node = driver.controller, driver.node
    for request in (
            csi.CreateVolumeRequest(parameters=PARAMETERS, volume_capabilities=[MOUNTED]),
            csi.CreateVolumeRequest(name="x", parameters=PARAMETERS),
            csi.CreateVolumeRequest(name="x", parameters=PARAMETERS, volume_capabilities=[BLOCK]),
            csi.CreateVolumeRequest(name="x", parameters=PARAMETERS, volume_capabilities=[MOUNTED, SEVERAL]),
            csi.CreateVolumeRequest(name="x", parameters={}, volume_capabilities=[MOUNTED]),
            csi.CreateVolumeRequest(name="x", parameters={"color": "red", **PARAMETERS}, volume_capabilities=[MOUNTED])):
        refused("INVALID_ARGUMENT", controller.CreateVolume, request)
    refused("OUT_OF_RANGE", controller.CreateVolume, csi.CreateVolumeRequest(
        name="x", parameters=PARAMETERS, volume_capabilities=[MOUNTED],
        capacity_range=csi.CapacityRange(required_bytes=2 << 30, limit_bytes=1 << 30)))
    refused("OUT_OF_RANGE", controller.CreateVolume, csi.CreateVolumeRequest(
        name="x", parameters=PARAMETERS, volume_capabilities=[MOUNTED], capacity_range=csi.CapacityRange(limit_bytes=1000)))
    refused("NOT_FOUND", controller.CreateVolume, csi.CreateVolumeRequest(
        name="x", parameters={"template": "none"}, volume_capabilities=[MOUNTED]))
    for source in (csi.VolumeContentSource(snapshot=csi.VolumeContentSource.SnapshotSource(snapshot_id="../none")),
                   csi.VolumeContentSource(volume=csi.VolumeContentSource.VolumeSource(volume_id="../none"))):
        refused("NOT_FOUND", controller.CreateVolume, csi.CreateVolumeRequest(
            name="x", parameters=PARAMETERS, volume_capabilities=[MOUNTED], volume_content_source=source))
    # One that is always read-only may be asked for again like any other.
    create(driver, "read", parameters={**PARAMETERS, "read-only": "true"})
    twice(node.NodePublishVolume, publish(driver, "read", WORK + "/read"))
    node.NodeUnpublishVolume(csi.NodeUnpublishVolumeRequest(volume_id="read", target_path=WORK + "/read"))
    controller.DeleteVolume(csi.DeleteVolumeRequest(volume_id="read"))
    elsewhere = csi.TopologyRequirement(requisite=[csi.Topology(segments={"topology.csi.appcontainer.dev/node": "node-2"})])
    refused("RESOURCE_EXHAUSTED", controller.CreateVolume, csi.CreateVolumeRequest(
        name="x", parameters=PARAMETERS, volume_capabilities=[MOUNTED], accessibility_requirements=elsewhere))
    for call, request in (
            (controller.DeleteVolume, csi.DeleteVolumeRequest()), (controller.CreateSnapshot, csi.CreateSnapshotRequest(name="x")),
            (controller.CreateSnapshot, csi.CreateSnapshotRequest(source_volume_id="x")),
            (controller.DeleteSnapshot, csi.DeleteSnapshotRequest()),
            (controller.ValidateVolumeCapabilities, csi.ValidateVolumeCapabilitiesRequest(volume_capabilities=[MOUNTED])),
            (controller.ValidateVolumeCapabilities, csi.ValidateVolumeCapabilitiesRequest(volume_id="x")),
            (node.NodePublishVolume, csi.NodePublishVolumeRequest(target_path="/x", volume_capability=MOUNTED)),
            (node.NodePublishVolume, csi.NodePublishVolumeRequest(volume_id="x", volume_capability=MOUNTED)),
            (node.NodePublishVolume, csi.NodePublishVolumeRequest(volume_id="x", target_path="/x")),
            (node.NodePublishVolume, csi.NodePublishVolumeRequest(volume_id="x", target_path="/x", volume_capability=BLOCK)),
            (node.NodeUnpublishVolume, csi.NodeUnpublishVolumeRequest(target_path="/x")),
            (node.NodeUnpublishVolume, csi.NodeUnpublishVolumeRequest(volume_id="x")),
            (node.NodeGetVolumeStats, csi.NodeGetVolumeStatsRequest(volume_id="x")),
            (node.NodeGetVolumeStats, csi.NodeGetVolumeStatsRequest(volume_path="/x"))):
        refused("INVALID_ARGUMENT", call, request)
    for call, request in (
            (controller.ValidateVolumeCapabilities,
             csi.ValidateVolumeCapabilitiesRequest(volume_id="none", volume_capabilities=[MOUNTED])),
            (controller.CreateSnapshot, csi.CreateSnapshotRequest(source_volume_id="none", name="x")),
            (controller.CreateSnapshot, csi.CreateSnapshotRequest(source_volume_id="../none", name="x")),
            (node.NodePublishVolume, publish(driver, "none", WORK + "/none")),
            (node.NodeGetVolumeStats, csi.NodeGetVolumeStatsRequest(volume_id="none", volume_path=WORK + "/none"))):
        refused("NOT_FOUND", call, request)
    # A volume or snapshot that is not there can be removed, whatever its name.
    for name in "none", "../none", "\u00e4", "x" * 300:
        twice(controller.DeleteVolume, csi.DeleteVolumeRequest(volume_id=name))
        twice(controller.DeleteSnapshot, csi.DeleteSnapshotRequest(snapshot_id=name))
        twice(node.NodeUnpublishVolume, csi.NodeUnpublishVolumeRequest(volume_id=name, target_path=WORK + "/none"))
    create(driver, "one")
    refused("ALREADY_EXISTS", controller.CreateVolume, csi.CreateVolumeRequest(
        name="one", parameters={**PARAMETERS, "capacity": "2G"}, volume_capabilities=[MOUNTED]))
    refused("UNAUTHENTICATED", node.NodePublishVolume, publish(driver, "one", WORK + "/one", secrets={"passcode": "0"}))
    check(not os.path.ismount(WORK + "/one"), "nothing is left")
    answer = controller.ValidateVolumeCapabilities(
        csi.ValidateVolumeCapabilitiesRequest(volume_id="one", volume_capabilities=[MOUNTED]))
    check(answer.confirmed.volume_capabilities[0] == MOUNTED, answer)
    answer = controller.ValidateVolumeCapabilities(
        csi.ValidateVolumeCapabilitiesRequest(volume_id="one", volume_capabilities=[BLOCK]))
    check(not answer.HasField("confirmed") and answer.message, answer)
    controller.DeleteVolume(csi.DeleteVolumeRequest(volume_id="one"))
    # Any name that the specification allows is taken.
    for name in "with space", "\u00e4\u00f6\u00fc", "a/b", "-x", "n" * 128:
        volume = create(driver, name)
        controller.DeleteVolume(csi.DeleteVolumeRequest(volume_id=volume.volume_id))
    check(controller.GetCapacity(csi.GetCapacityRequest()).available_capacity > 0, "capacity")


def mounts_outlive_the_driver(driver):
    create(driver, "one")
    target = WORK + "/target"
    driver.node.NodePublishVolume(publish(driver, "one", target))
    for number in signal.SIGTERM, signal.SIGKILL:
        driver.end(number)
        check(text(target + "/Documents/first") == "from the template\n", "read without a driver")
        driver.start()
        check(text(target + "/Documents/first") == "from the template\n", "read with the next one")
        twice(driver.node.NodePublishVolume, publish(driver, "one", target))
    driver.killed()
    twice(driver.node.NodeUnpublishVolume, csi.NodeUnpublishVolumeRequest(volume_id="one", target_path=target))
    driver.killed()
    twice(driver.controller.DeleteVolume, csi.DeleteVolumeRequest(volume_id="one"))


def kills_between_calls_leave_nothing(driver):
    """Each call is begun, the driver killed at once, and the call repeated."""
    target = WORK + "/target"
    steps = (
        lambda: driver.controller.CreateVolume.future(
            csi.CreateVolumeRequest(name="one", parameters=PARAMETERS, volume_capabilities=[MOUNTED])),
        lambda: driver.node.NodePublishVolume.future(publish(driver, "one", target)),
        lambda: driver.node.NodeUnpublishVolume.future(csi.NodeUnpublishVolumeRequest(volume_id="one", target_path=target)),
        lambda: driver.controller.CreateSnapshot.future(csi.CreateSnapshotRequest(source_volume_id="one", name="snap")),
        lambda: driver.controller.DeleteSnapshot.future(csi.DeleteSnapshotRequest(snapshot_id="snap")),
        lambda: driver.controller.DeleteVolume.future(csi.DeleteVolumeRequest(volume_id="one")))
    for pause in 0, 0.005, 0.02, 0.05:
        for step in steps:
            call = step()
            time.sleep(pause)
            driver.killed()
            call.cancel()
            step().result()


def main():
    driver = Driver()
    functions = [it_tells_what_it_is, a_volume_is_made_used_and_removed, volumes_are_made_of_snapshots_and_of_volumes,
                 a_pod_has_volumes_of_its_own, a_pod_gets_nothing_of_others, the_example_job_has_its_volumes, lists_come_in_pages,
                 mistakes_have_the_codes_of_the_specification, mounts_outlive_the_driver, kills_between_calls_leave_nothing]
    passed = failed = 0
    for function in functions:
        if sys.argv[3:] and function.__name__ not in sys.argv[3:]:
            continue
        try:
            function(driver)
            for place in "devices", "volumes", "mounts", "snapshots", "copies":
                check(os.listdir(f"{STATE}/{place}") == [], "left in", place, os.listdir(f"{STATE}/{place}"))
            with open("/proc/self/mounts") as mounts:
                check(WORK not in mounts.read(), "mounts are left")
            passed += 1
            print("ok     ", function.__name__.replace("_", " "), flush=True)
        except (AssertionError, OSError, grpc.RpcError) as error:
            failed += 1
            print("FAILED ", function.__name__.replace("_", " "), repr(error), flush=True)
    driver.end()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
