"""Rules of calls on files: none follows a symbolic link that somebody may have put into a device or beside it."""

import re

from imports import place

# The calls of the C library that take a path, and follow it. Module/file.
PATH_CALLS = re.compile(
    r"(?<![\w.])(?<!func )(?:Glibc\.)?(?:open|creat|fopen|opendir|stat|chmod|chown|utimes|utimensat|truncate|statvfs|statfs|access|realpath|mkdir|rmdir|unlink"
    r"|rename|link|symlink|readlink|mount|umount2)\((?=.)")
PATH_CALL_PLACES = {
    "Platform/Descriptor", "Platform/Descriptor+Directory", "Platform/Descriptor+Named", "Platform/HostDirectory",
    "Platform/HostMount", "Platform/HostPath", "Platform/ProcessSettings",
    # Of root's own files: /dev/fuse, /etc/fuse.conf, fusermount3.
    "FuseBridge/MountFailure",
}

# The calls on a name in a directory, with the flag that keeps each from following.
ENTRY_CALLS = {
    "openat": ("O_NOFOLLOW", '".."'), "fstatat": ("AT_SYMLINK_NOFOLLOW",), "utimensat": ("AT_SYMLINK_NOFOLLOW", "AT_FDCWD"),
    "fchownat": ("AT_SYMLINK_NOFOLLOW", "platform_AT_EMPTY_PATH"), "faccessat": ("AT_SYMLINK_NOFOLLOW",),
    # It follows whatever its flags say, in older C libraries: platform_change_mode does not.
    "fchmodat": (),
}
ENTRY_CALL = re.compile(rf"\b({'|'.join(ENTRY_CALLS)})\(")

# The modules that work inside a device, where a path from outside has no place.
DEVICE_MODULES = {"BackingStore", "ContainerVolume", "DeviceLifecycle", "Purging"}
BY_PATH = re.compile(r"\bHostPath\.(?!place\b|newPlace\b|withAncestors\b|absolute\b)\w+|\bDescriptor\.open\w*\(path:")
BY_PATH_PLACES = {
    # The device directory itself, as the user named it, and what lies around it.
    "BackingStore/DeviceDirectory", "BackingStore/DeviceDirectory+Erase", "BackingStore/DeviceOwner",
    "BackingStore/DevicePlace",
    # /proc.
    "BackingStore/HostInstant", "BackingStore/HostProbe",
    # Files of the host that the user named.
    "DeviceLifecycle/BundleIntake", "DeviceLifecycle/DeliveryCopy", "DeviceLifecycle/DeliverySource",
    "DeviceLifecycle/PasscodeFile", "DeviceLifecycle/StoredDevice+TemplateFile",
}


def statement(file, number):
    """The code of a line up to the end of its call, at most five lines."""
    text = ""
    for code, line in list(zip(file.code_lines, file.lines))[number - 1:number + 4]:
        text += line
        if text.count("(") <= text.count(")"):
            break
    return text


def no_call_follows_a_link(tree):
    for file in tree.swift("Sources"):
        target = tree.target_of(file)
        if target is None or target.floor is None:
            continue
        for number, line in enumerate(file.code_lines, 1):
            if "unsafe " in line and PATH_CALLS.search(line) and place(file, target) not in PATH_CALL_PLACES:
                yield f"{file.name}:{number}: a system call with a path, which may lead through links: use Platform's"
            if found := ENTRY_CALL.search(line):
                if not any(flag in statement(file, number) for flag in ENTRY_CALLS[found[1]]):
                    yield f"{file.name}:{number}: {found[1]} follows a symbolic link here"


def devices_are_reached_by_descriptor(tree):
    for file in tree.swift("Sources"):
        target = tree.target_of(file)
        if target is None or target.name not in DEVICE_MODULES or place(file, target) in BY_PATH_PLACES:
            continue
        for number, line in enumerate(file.code_lines, 1):
            if BY_PATH.search(line):
                yield f"{file.name}:{number}: {target.name} reaches files by descriptor and name, not by path"
