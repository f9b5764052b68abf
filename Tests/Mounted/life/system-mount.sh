# The places where Linux looks for a filesystem and a service: mount(8)'s helper, and systemd's messages.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

# helper ARGUMENT…: the program as mount(8) runs it.
helper() {
    ln -sfn "$(command -v appcontainer)" "$WORK/mount.fuse.appcontainer"
    "$WORK/mount.fuse.appcontainer" "$@"
}
# refused_as CODE WORDS ARGUMENT…: one line on standard error, and the exit code.
refused_as() {
    local code=$1 words=$2 status=0
    shift 2
    helper "$@" >said 2>&1 || status=$?
    same $status "$code" "exit code of: $*"
    same "$(wc -l <said)" 1 "lines of: $*"
    contains "$(cat said)" "$words"
}

case_the_program_of_mount_8_mounts_with_its_options() {
    start_unmounted
    helper "$DEVICE:$APP" "$MOUNT" -o rw,noatime,nodev,x-systemd.automount,running
    echo kept >"$MOUNT/Documents/note"
    runs || fail "the app does not run"
    refused_as 32 "is already mounted" "$DEVICE:$APP" "$MOUNT"
    appcontainer unmount "$MOUNT"
    helper "$DEVICE:$APP" "$MOUNT" -n -v -t fuse.appcontainer -o ro >said
    contains "$(cat said)" "is mounted on $MOUNT"
    contains "$(fails touch "$MOUNT/Documents/note")" "Read-only file system"
    appcontainer unmount "$MOUNT"
    helper "$DEVICE:$APP" "$MOUNT" -f -o ro
    not_mounted "$MOUNT"
    helper "$DEVICE:$APP" "$MOUNT" -s -o no-such-option
    same "$(cat "$MOUNT/Documents/note")" kept content
    stop
}

case_the_program_of_mount_8_unlocks_with_a_passcode_from_a_file_with_a_comma_in_its_name() {
    start_protected
    appcontainer unmount "$MOUNT"
    appcontainer lock "$DEVICE" --now
    cp -p "$CODE" "$WORK/a,b"
    helper "$DEVICE:$APP" "$MOUNT" -o "passcode-file=\"$WORK/a,b\",ro"
    same "$(state)" unlocked state
    appcontainer unmount "$MOUNT"
    appcontainer lock "$DEVICE" --now
    helper "$DEVICE:$APP" "$MOUNT" -o "passcode-file=$WORK/a\\,b"
    same "$(state)" unlocked state
    stop
}

case_the_program_of_mount_8_fails_with_the_codes_of_mount_8() {
    start_protected
    appcontainer unmount "$MOUNT"
    refused_as 1 "no option 'colour'" "$DEVICE:$APP" "$MOUNT" -o ro,colour
    refused_as 1 "say exec after them" "$DEVICE:$APP" "$MOUNT" -o noexec
    refused_as 1 "needs a value" "$DEVICE:$APP" "$MOUNT" -o passcode-file
    refused_as 1 "takes no value" "$DEVICE:$APP" "$MOUNT" -o ro=yes
    refused_as 1 "auto, dev-fuse or io-uring" "$DEVICE:$APP" "$MOUNT" -o transport=pigeon
    refused_as 1 "cannot be remounted" "$DEVICE:$APP" "$MOUNT" -o remount,ro
    refused_as 1 "is not DEVICE:BUNDLE-ID" "$DEVICE" "$MOUNT"
    refused_as 1 "is not DEVICE:BUNDLE-ID" ":$APP" "$MOUNT"
    refused_as 1 "Missing expected argument" "$DEVICE:$APP"
    refused_as 1 "mount namespace" "$DEVICE:$APP" "$MOUNT" -N 1
    refused_as 32 "does not exist" "$WORK/none:$APP" "$MOUNT"
    refused_as 32 "is not installed" "$DEVICE:com.example.Other" "$MOUNT"
    refused_as 32 "does not exist" "$DEVICE:$APP" "$WORK/none"
    refused_as 32 "does not exist" "$DEVICE:$APP" "$MOUNT" -o "passcode-file=$WORK/none"
    (umask 077 && echo 9999 >wrong)
    refused_as 32 "wrong passcode" "$DEVICE:$APP" "$MOUNT" -o "passcode-file=$PWD/wrong"
    not_mounted "$MOUNT"
    appcontainer shutdown "$DEVICE"
}

rootcase_the_program_of_mount_8_serves_another_users_device_when_told_to() {
    local theirs=$WORK/users/device
    chmod 711 "$WORK"
    mkdir -p "$MOUNT"
    install -d -o "$TEST_USER" "$WORK/users"
    runuser -u "$TEST_USER" -- appcontainer create "$theirs"
    runuser -u "$TEST_USER" -- appcontainer install "$theirs" "$BASE/Notes.app"
    runuser -u "$TEST_USER" -- appcontainer shutdown "$theirs"
    refused_as 1 "--trust-owner $TEST_USER" "$theirs:$APP" "$MOUNT"
    helper "$theirs:$APP" "$MOUNT" -o "trust-owner=$TEST_USER"
    ls "$MOUNT/Documents"
    umount "$MOUNT"
    appcontainer shutdown "$theirs" --trust-owner "$TEST_USER"
}

case_a_service_is_told_when_its_device_is_up_and_stays_until_it_ends() {
    start_protected
    stop
    /usr/bin/python3 - "$DEVICE" "$APP" "$MOUNT" <<'PYTHON'
import json, os, signal, socket, subprocess, sys, tempfile

device, app, mount = sys.argv[1:]
# A socket's path is short.
place = tempfile.TemporaryDirectory()
for address in (place.name + "/notify", "\0appcontainer-notify-%d" % os.getpid()):
    messages = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    messages.bind(address)
    messages.settimeout(60)
    environment = dict(os.environ, NOTIFY_SOCKET=address.replace("\0", "@"))
    command = ["appcontainer", "boot", "--foreground", "--passcode-file", os.environ["CODE"], device]

    def status():
        return json.loads(subprocess.check_output(["appcontainer", "status", "--json", device]))

    service = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    assert messages.recv(100) == b"READY=1"
    assert status()["state"] == "unlocked", status()
    subprocess.check_call(["appcontainer", "mount", device, app, mount])
    service.send_signal(signal.SIGTERM)
    assert messages.recv(100) == b"STOPPING=1"
    assert service.wait(60) == 0
    assert status()["state"] == "off" and not os.path.ismount(mount)

    # Ended by somebody else, in order.
    service = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    assert messages.recv(100) == b"READY=1"
    subprocess.check_call(["appcontainer", "shutdown", device])
    assert service.wait(60) == 0

    # Killed.
    service = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert messages.recv(100) == b"READY=1"
    os.kill(status()["daemon"]["pid"], signal.SIGKILL)
    assert service.wait(60) == 30
    line = service.stderr.read().decode()
    assert "was killed" in line and line.count("\n") == 1, line
    subprocess.check_call(["appcontainer", "shutdown", device])
    messages.close()
# The missing passcode starts nothing.
service = subprocess.run(["appcontainer", "boot", "--foreground", "--passcode-file", "none", device],
                         capture_output=True, text=True)
assert service.returncode == 26 and service.stderr.count("\n") == 1, service
assert "off" in subprocess.check_output(["appcontainer", "status", device], text=True)
PYTHON
}
