"""The driver under test, its services, and calls of them. Used by conformance.py, whose arguments it reads."""

import contextlib
import hashlib
import shutil
import signal
import subprocess
import sys
import time

import csi_pb2 as csi
import csi_pb2_grpc
import grpc

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
        try:
            check(self.process.wait(30) in (0, -number), "exit code", self.process.returncode)
        finally:
            self.process.kill()

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


def here(name):
    """The identifier of a volume or snapshot of this node."""
    return f"{name}@{hashlib.sha256(b'node-1').hexdigest()[:8]}"


def there(name):
    return f"{name}@{hashlib.sha256(b'node-2').hexdigest()[:8]}"


def text(path):
    with open(path) as file:
        return file.read()
