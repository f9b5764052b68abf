#!/usr/bin/python3
"""The Container Storage Interface as the specification has it: every call, twice, in the wrong order, with a kill between.

    conformance.py DRIVER WORK [FUNCTION…]          (appcontainer is in PATH)

DRIVER is the program appcontainer-csi; WORK has `templates`, with the device `phone`, and `secrets`. Needs root, and of
PyPI grpcio and protobuf, with the modules that protoc has made of csi.proto in PYTHONPATH."""

import os
import shutil
import signal
import subprocess
import sys
import time

import csi_pb2 as csi
import grpc
import yaml
from driver import BLOCK, MOUNTED, PARAMETERS, SEVERAL, STATE, WORK, Driver, check, create, here, publish, refused, text, there, twice

# MARK: The services


def it_tells_what_it_is(driver):
    info = twice(driver.identity.GetPluginInfo, csi.GetPluginInfoRequest())
    check(info.name == "csi.appcontainer.dev" and info.vendor_version, info)
    types = {one.service.type for one in driver.identity.GetPluginCapabilities(csi.GetPluginCapabilitiesRequest()).capabilities}
    check(types == {1, 2}, types)
    node = twice(driver.node.NodeGetInfo, csi.NodeGetInfoRequest())
    check(node.node_id == "node-1" and list(node.accessible_topology.segments.values()) == ["node-1"], node)
    types = {one.rpc.type for one in driver.node.NodeGetCapabilities(csi.NodeGetCapabilitiesRequest()).capabilities}
    check(types == {2, 5}, types)
    types = {one.rpc.type for one in driver.controller.ControllerGetCapabilities(csi.ControllerGetCapabilitiesRequest()).capabilities}
    check(types == {1, 3, 4, 5, 6, 7, 13}, types)


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
    volume = create(driver, "source", capacity_range=csi.CapacityRange(required_bytes=1 << 30))
    target = WORK + "/target"
    driver.node.NodePublishVolume(publish(driver, here("source"), target))
    with open(target + "/Documents/new", "w") as file:
        file.write("before")
    request = csi.CreateSnapshotRequest(source_volume_id=here("source"), name="snapshot-1")
    refused("FAILED_PRECONDITION", driver.controller.CreateSnapshot, request)
    driver.node.NodeUnpublishVolume(csi.NodeUnpublishVolumeRequest(volume_id=here("source"), target_path=target))
    snapshot = twice(driver.controller.CreateSnapshot, request).snapshot
    check(snapshot.ready_to_use and snapshot.size_bytes == 1 << 30 and snapshot.creation_time.seconds > 0, snapshot)
    create(driver, "other")
    refused("ALREADY_EXISTS", driver.controller.CreateSnapshot,
            csi.CreateSnapshotRequest(source_volume_id=here("other"), name="snapshot-1"))
    content = csi.VolumeContentSource(snapshot=csi.VolumeContentSource.SnapshotSource(snapshot_id=snapshot.snapshot_id))
    made = create(driver, "made", volume_content_source=content)
    check(made.content_source == content, made)
    create(driver, "cloned", volume_content_source=csi.VolumeContentSource(
        volume=csi.VolumeContentSource.VolumeSource(volume_id=volume.volume_id)))
    for name in "made", "cloned":
        driver.node.NodePublishVolume(publish(driver, here(name), target))
        check(text(target + "/Documents/new") == "before", name)
        driver.node.NodeUnpublishVolume(csi.NodeUnpublishVolumeRequest(volume_id=here(name), target_path=target))
    found = driver.controller.ListSnapshots(csi.ListSnapshotsRequest(source_volume_id=here("source"))).entries
    check([one.snapshot.snapshot_id for one in found] == [here("snapshot-1")], found)
    check(not driver.controller.ListSnapshots(csi.ListSnapshotsRequest(snapshot_id="none")).entries, "none")
    # The source may go before what was made of it.
    for name in "source", "made", "cloned", "other":
        driver.controller.DeleteVolume(csi.DeleteVolumeRequest(volume_id=here(name)))
    create(driver, "later", volume_content_source=content)
    driver.controller.DeleteVolume(csi.DeleteVolumeRequest(volume_id=here("later")))
    twice(driver.controller.DeleteSnapshot, csi.DeleteSnapshotRequest(snapshot_id=here("snapshot-1")))
    refused("NOT_FOUND", driver.controller.CreateVolume, csi.CreateVolumeRequest(
        name="late", parameters=PARAMETERS, volume_capabilities=[MOUNTED], volume_content_source=content))


def a_volume_is_for_one_pod_at_a_time_where_that_is_asked(driver):
    create(driver, "one")
    modes = {mode: csi.VolumeCapability(mount=csi.VolumeCapability.MountVolume(),
                                        access_mode=csi.VolumeCapability.AccessMode(mode="SINGLE_NODE_" + mode))
             for mode in ("SINGLE_WRITER", "MULTI_WRITER")}
    first, second = WORK + "/target-1", WORK + "/target-2"
    twice(driver.node.NodePublishVolume, publish(driver, here("one"), first, volume_capability=modes["SINGLE_WRITER"]))
    refused("FAILED_PRECONDITION", driver.node.NodePublishVolume,
            publish(driver, here("one"), second, volume_capability=modes["SINGLE_WRITER"]))
    check(not os.path.exists(second) and text(first + "/Documents/first"), "the first goes on")
    twice(driver.node.NodePublishVolume, publish(driver, here("one"), second, volume_capability=modes["MULTI_WRITER"]))
    for place in first, second:
        driver.node.NodeUnpublishVolume(csi.NodeUnpublishVolumeRequest(volume_id=here("one"), target_path=place))
    driver.controller.DeleteVolume(csi.DeleteVolumeRequest(volume_id=here("one")))


def other_nodes_have_volumes_of_their_own(driver):
    """An orchestrator asks any node, and goes on to the next."""
    for source in (csi.VolumeContentSource(snapshot=csi.VolumeContentSource.SnapshotSource(snapshot_id=there("snap"))),
                   csi.VolumeContentSource(volume=csi.VolumeContentSource.VolumeSource(volume_id=there("one")))):
        refused("RESOURCE_EXHAUSTED", driver.controller.CreateVolume, csi.CreateVolumeRequest(
            name="x", parameters=PARAMETERS, volume_capabilities=[MOUNTED], volume_content_source=source))
    # They are not taken for gone.
    create(driver, "one")
    refused("FAILED_PRECONDITION", driver.controller.DeleteVolume, csi.DeleteVolumeRequest(volume_id=there("one")))
    refused("FAILED_PRECONDITION", driver.controller.DeleteSnapshot, csi.DeleteSnapshotRequest(snapshot_id=there("snap")))
    refused("NOT_FOUND", driver.node.NodePublishVolume, publish(driver, there("one"), WORK + "/target"))
    refused("NOT_FOUND", driver.controller.CreateSnapshot,
            csi.CreateSnapshotRequest(source_volume_id=there("one"), name="snap"))
    driver.controller.DeleteVolume(csi.DeleteVolumeRequest(volume_id=here("one")))


def a_removal_that_stopped_half_way_is_finished(driver):
    """The record is gone, and the device is there."""
    create(driver, "one")
    subprocess.run(["cp", "-a", STATE + "/devices/one", WORK + "/away"], check=True)
    driver.controller.DeleteVolume(csi.DeleteVolumeRequest(volume_id=here("one")))
    for directory, call in (("devices", lambda: driver.controller.DeleteVolume(csi.DeleteVolumeRequest(volume_id=here("one")))),
                            ("copies", lambda: driver.controller.DeleteSnapshot(
                                csi.DeleteSnapshotRequest(snapshot_id=here("one"))))):
        subprocess.run(["cp", "-a", WORK + "/away", f"{STATE}/{directory}/one"], check=True)
        call()
        check(os.listdir(f"{STATE}/{directory}") == [], directory)
    shutil.rmtree(WORK + "/away")


def a_pod_has_volumes_of_its_own(driver):
    pod = {"csi.storage.k8s.io/ephemeral": "true", "csi.storage.k8s.io/pod.uid": "1-2-3"}
    target = WORK + "/pod"
    os.makedirs(target, exist_ok=True)
    notes = publish(driver, "csi-aaa", target + "/notes", volume_context={**pod, **PARAMETERS, "name": "notes"})
    phone = publish(driver, "csi-bbb", target + "/phone", volume_context={**pod, "control-of": "notes", "uid": "0"})
    # The first line of a secret is the passcode: files end with a line end.
    notes.secrets["passcode"] += "\n"
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
    driver.node.NodePublishVolume(publish(driver, here("pvc-1"), target))
    create(driver, "pvc-2")
    twice(driver.node.NodeUnpublishVolume, csi.NodeUnpublishVolumeRequest(volume_id=here("pvc-2"), target_path=target))
    check(text(target + "/Documents/first") == "from the template\n", "it stays")
    refused("NOT_FOUND", driver.node.NodeGetVolumeStats, csi.NodeGetVolumeStatsRequest(volume_id=here("pvc-1"), volume_path="/proc"))
    driver.node.NodeUnpublishVolume(csi.NodeUnpublishVolumeRequest(volume_id=here("pvc-1"), target_path=target))
    for name in "pvc-1", "pvc-2":
        driver.controller.DeleteVolume(csi.DeleteVolumeRequest(volume_id=here(name)))


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
    check(found == [here(name) for name in names], found)
    check(len(driver.controller.ListVolumes(csi.ListVolumesRequest()).entries) == 5, "all at once")
    refused("ABORTED", driver.controller.ListVolumes, csi.ListVolumesRequest(starting_token="nothing"))
    refused("INVALID_ARGUMENT", driver.controller.ListVolumes, csi.ListVolumesRequest(max_entries=-1))
    for name in found:
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
    twice(node.NodePublishVolume, publish(driver, here("read"), WORK + "/read"))
    node.NodeUnpublishVolume(csi.NodeUnpublishVolumeRequest(volume_id=here("read"), target_path=WORK + "/read"))
    controller.DeleteVolume(csi.DeleteVolumeRequest(volume_id=here("read")))
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
    refused("UNAUTHENTICATED", node.NodePublishVolume, publish(driver, here("one"), WORK + "/one", secrets={"passcode": "0"}))
    check(not os.path.ismount(WORK + "/one"), "nothing is left")
    answer = controller.ValidateVolumeCapabilities(
        csi.ValidateVolumeCapabilitiesRequest(volume_id=here("one"), volume_capabilities=[MOUNTED]))
    check(answer.confirmed.volume_capabilities[0] == MOUNTED, answer)
    answer = controller.ValidateVolumeCapabilities(
        csi.ValidateVolumeCapabilitiesRequest(volume_id=here("one"), volume_capabilities=[BLOCK]))
    check(not answer.HasField("confirmed") and answer.message, answer)
    controller.DeleteVolume(csi.DeleteVolumeRequest(volume_id=here("one")))
    # Any name that the specification allows is taken.
    for name in "with space", "\u00e4\u00f6\u00fc", "a/b", "-x", "n" * 128:
        volume = create(driver, name)
        controller.DeleteVolume(csi.DeleteVolumeRequest(volume_id=volume.volume_id))
    check(controller.GetCapacity(csi.GetCapacityRequest()).available_capacity > 0, "capacity")


def mounts_outlive_the_driver(driver):
    create(driver, "one")
    target = WORK + "/target"
    driver.node.NodePublishVolume(publish(driver, here("one"), target))
    for number in signal.SIGTERM, signal.SIGKILL:
        driver.end(number)
        check(text(target + "/Documents/first") == "from the template\n", "read without a driver")
        driver.start()
        check(text(target + "/Documents/first") == "from the template\n", "read with the next one")
        twice(driver.node.NodePublishVolume, publish(driver, here("one"), target))
    driver.killed()
    twice(driver.node.NodeUnpublishVolume, csi.NodeUnpublishVolumeRequest(volume_id=here("one"), target_path=target))
    driver.killed()
    twice(driver.controller.DeleteVolume, csi.DeleteVolumeRequest(volume_id=here("one")))


def kills_between_calls_leave_nothing(driver):
    """Each call is begun, the driver killed at once, and the call repeated."""
    target = WORK + "/target"
    steps = (
        lambda: driver.controller.CreateVolume.future(
            csi.CreateVolumeRequest(name="one", parameters=PARAMETERS, volume_capabilities=[MOUNTED])),
        lambda: driver.node.NodePublishVolume.future(publish(driver, here("one"), target, readonly=True)),
        lambda: driver.node.NodeUnpublishVolume.future(csi.NodeUnpublishVolumeRequest(volume_id=here("one"), target_path=target)),
        lambda: driver.controller.CreateSnapshot.future(csi.CreateSnapshotRequest(source_volume_id=here("one"), name="snap")),
        lambda: driver.controller.DeleteSnapshot.future(csi.DeleteSnapshotRequest(snapshot_id=here("snap"))),
        lambda: driver.controller.DeleteVolume.future(csi.DeleteVolumeRequest(volume_id=here("one"))))
    for pause in 0, 0.005, 0.02, 0.05:
        for step in steps:
            call = step()
            time.sleep(pause)
            driver.killed()
            call.cancel()
            step().result()


def main():
    driver = Driver()
    functions = [
        it_tells_what_it_is, a_volume_is_made_used_and_removed, volumes_are_made_of_snapshots_and_of_volumes,
        a_volume_is_for_one_pod_at_a_time_where_that_is_asked, other_nodes_have_volumes_of_their_own,
        a_removal_that_stopped_half_way_is_finished, a_pod_has_volumes_of_its_own, a_pod_gets_nothing_of_others,
        the_example_job_has_its_volumes, lists_come_in_pages, mistakes_have_the_codes_of_the_specification,
        mounts_outlive_the_driver, kills_between_calls_leave_nothing,
    ]
    passed = failed = 0
    try:
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
            except (AssertionError, OSError, subprocess.SubprocessError, grpc.RpcError) as error:
                failed += 1
                print("FAILED ", function.__name__.replace("_", " "), repr(error), flush=True)
    finally:
        driver.end()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
