# Commands on devices and apps: those that show, remove, copy and deliver.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

case_apps_path_and_inspect() {
    start --group group.com.example.shared
    appcontainer apps "$DEVICE" | grep -q "$APP" || fail "apps does not name the app"
    appcontainer apps "$DEVICE" --json | /usr/bin/python3 -c '
import json, sys
apps = json.load(sys.stdin)
assert len(apps) == 1 and "com.example.Notes" in json.dumps(apps[0]), apps'
    same "$(appcontainer path "$DEVICE" "$APP" data)" "$MOUNT" "path of data"
    same "$(appcontainer path "$DEVICE" "$APP" app)" "$MOUNT/Notes.app" "path of app"
    same "$(appcontainer path "$DEVICE" "$APP" group.com.example.shared)" "$MOUNT/Groups/group.com.example.shared" "path of a group"
    data=$(backing)
    [[ $data == "$DEVICE"/* ]] || fail "the backing path is not in the device: $data"
    [ -d "$data/Documents" ] || fail "no Documents in $data"
    [ -f "$(appcontainer path "$DEVICE" "$APP" app --backing)/Info.plist" ] || fail "no Info.plist in the backing bundle"
    echo text >"$DOCUMENTS/f"
    contains "$(appcontainer inspect "$DOCUMENTS/f")" NSFileProtectionCompleteUntilFirstUserAuthentication
    appcontainer inspect --json "$DOCUMENTS/f" "$MOUNT/Notes.app/Info.plist" | /usr/bin/python3 -c 'import json, sys; json.load(sys.stdin)'
    appcontainer unmount "$MOUNT"
    complains "25|26" appcontainer path "$DEVICE" "$APP" data
    same "$(backing)" "$data" "backing path without a mount"
}

case_uninstall_and_reset() {
    start --group group.com.example.shared
    echo x >"$DOCUMENTS/f"
    echo x >"$MOUNT/Groups/group.com.example.shared/f"
    complains "20|11" appcontainer uninstall "$DEVICE" "$APP"
    same "$(cat "$DOCUMENTS/f")" x "after a refused uninstall"
    appcontainer unmount "$MOUNT"
    data=$(backing)
    appcontainer reset "$DEVICE" "$APP"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    expect <<TABLE
ok list $DOCUMENTS
ok list $MOUNT/Library Caches Preferences
ok read $MOUNT/Groups/group.com.example.shared/f x
ok open $DOCUMENTS/new excl
TABLE
    appcontainer unmount "$MOUNT"
    appcontainer uninstall "$DEVICE" "$APP"
    absent "$data"
    complains 12 appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    complains 12 appcontainer uninstall "$DEVICE" "$APP"
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    expect <<<"ok list $DOCUMENTS"
}

case_clone_erase_delete_and_a_copied_device() {
    start
    cp -R "$BASE/tree/usr/include/linux" "$DOCUMENTS/headers"
    truncate -s 2G "$DOCUMENTS/sparse"
    ln "$DOCUMENTS/headers/fs.h" "$DOCUMENTS/hard" 2>/dev/null || ln "$(find "$DOCUMENTS/headers" -type f | head -1)" "$DOCUMENTS/hard"
    setfattr -n user.note -v x "$DOCUMENTS/hard"
    mkdir "$WORK/before"
    rsync -aXH "$DOCUMENTS/headers" "$DOCUMENTS/hard" "$WORK/before/"
    stop
    for copy in clone copy; do
        if [ $copy = clone ]; then appcontainer clone "$DEVICE" "$WORK/clone"; else cp -a "$DEVICE" "$WORK/copy"; fi
        appcontainer mount "$WORK/$copy" "$APP" "$MOUNT"
        mkdir "$WORK/shown"
        rsync -aXH "$DOCUMENTS/headers" "$DOCUMENTS/hard" "$WORK/shown/"
        touch -d '2001-01-01' "$WORK/before" "$WORK/shown"
        same_tree "$WORK/before" "$WORK/shown"
        same "$(stat -c %h "$DOCUMENTS/hard")" 2 links
        [ "$(du -k "$DOCUMENTS/sparse" | cut -f1)" -lt 1000 ] || fail "the sparse file is not sparse in the $copy"
        rm -r "$WORK/shown"
        appcontainer unmount "$MOUNT"
        appcontainer shutdown "$WORK/$copy"
        same "$(appcontainer check "$WORK/$copy")" whole "check of the $copy"
    done
    complains "7|8" appcontainer clone "$DEVICE" "$WORK/clone"
    appcontainer erase "$WORK/clone"
    same "$(apps "$WORK/clone")" 0 "apps of an erased device"
    appcontainer shutdown "$WORK/clone"
    appcontainer delete "$WORK/clone"
    absent "$WORK/clone"
    # The first one never noticed.
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    complains "8|20" appcontainer delete "$DEVICE"
    ls "$DOCUMENTS/headers" >/dev/null
    stop
    appcontainer delete "$DEVICE"
    absent "$DEVICE"
}

case_a_passcode_keeps_content_until_the_first_unlock() {
    echo secret >code
    echo wrong >bad
    # One that others could read would be a second line: a warning.
    chmod 600 code bad
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE" --passcode-file code
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file code
    echo kept >"$DOCUMENTS/f"
    stop
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    # Before the first unlock: names, sizes and the metadata; no content, and nothing new.
    expect <<TABLE
ok    list $DOCUMENTS f
ok    size $DOCUMENTS/f 5
EPERM open $DOCUMENTS/f r
EPERM open $DOCUMENTS/f w
EPERM open $DOCUMENTS/new excl
ENOENT stat $DOCUMENTS/new
EPERM truncate $DOCUMENTS/f 0
ok    open $MOUNT/.com.apple.mobile_container_manager.metadata.plist r
ok    read $MOUNT/Notes.app/Samples/Welcome.txt 'Welcome to Notes.'
ok    mkdir $DOCUMENTS/d
ok    rename $DOCUMENTS/f $DOCUMENTS/g
ok    rename $DOCUMENTS/g $DOCUMENTS/f
TABLE
    contains "$(appcontainer status --json "$DEVICE")" beforeFirstUnlock
    complains 17 appcontainer unlock "$DEVICE" --passcode-file bad
    expect <<<"EPERM open $DOCUMENTS/f r"
    appcontainer unlock "$DEVICE" <code
    expect <<<"ok read $DOCUMENTS/f kept"
    stop
    complains 17 appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file bad
    not_mounted "$MOUNT"
    if grep -rqF secret "$DEVICE"; then fail "the passcode is in the device"; fi
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file code
    expect <<<"ok read $DOCUMENTS/f kept"
}

case_deliver_names_directories_and_big_files() {
    start
    head -c 3000000 /dev/urandom >big.bin
    mkdir -p nested/deep
    cp big.bin nested/deep/
    ln -s deep nested/link
    for _ in 1 2 3; do appcontainer deliver "$DEVICE" "$APP" big.bin; done
    appcontainer deliver "$DEVICE" "$APP" nested
    expect <<TABLE
ok list $DOCUMENTS/Inbox big.bin big-1.bin big-2.bin nested
TABLE
    cmp big.bin "$DOCUMENTS/Inbox/big-2.bin"
    cmp big.bin "$DOCUMENTS/Inbox/nested/deep/big.bin"
    complains 26 appcontainer deliver "$DEVICE" "$APP" missing.bin
    expect <<<"ok list $DOCUMENTS/Inbox big.bin big-1.bin big-2.bin nested"
}

case_an_app_that_declares_too_many_types() {
    appcontainer create "$DEVICE"
    make_app com.example.Viewer Viewer
    /usr/bin/python3 - "$WORK/Viewer.app/Info.plist" <<'END'
import plistlib, sys
with open(sys.argv[1], "rb") as file: content = plistlib.load(file)
content["CFBundleDocumentTypes"] = [{"LSItemContentTypes": ["public.text"]}]
content["UTExportedTypeDeclarations"] = [{
    "UTTypeIdentifier": f"t{number}", "UTTypeConformsTo": f"t{number + 1}",
    "UTTypeTagSpecification": {"public.filename-extension": "txt"}} for number in range(60000)]
with open(sys.argv[1], "wb") as file: plistlib.dump(content, file, fmt=plistlib.FMT_BINARY)
END
    appcontainer install "$DEVICE" "$WORK/Viewer.app"
    echo x >letter.txt
    complains 59 timeout 30 appcontainer deliver "$DEVICE" com.example.Viewer letter.txt
    contains "$(cat "$WORK/.err")" "--any-type"
    appcontainer deliver "$DEVICE" com.example.Viewer letter.txt --any-type
    whole
}

case_an_app_gets_the_types_that_it_declares() {
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    make_app com.example.Viewer Viewer
    /usr/bin/python3 - "$WORK/Viewer.app/Info.plist" <<'END'
import plistlib, sys
with open(sys.argv[1], "rb") as file: content = plistlib.load(file)
content["CFBundleDocumentTypes"] = [
    {"LSItemContentTypes": ["public.image", "com.example.plan"]}, {"CFBundleTypeExtensions": ["cad"]}]
content["UTImportedTypeDeclarations"] = [{
    "UTTypeIdentifier": "com.example.plan", "UTTypeConformsTo": ["com.apple.package"],
    "UTTypeTagSpecification": {"public.filename-extension": ["plan"]}}]
with open(sys.argv[1], "wb") as file: plistlib.dump(content, file)
END
    appcontainer install "$DEVICE" "$WORK/Viewer.app"
    appcontainer mount "$DEVICE" com.example.Viewer "$MOUNT"
    local name
    for name in photo.JPG drawing.Cad letter.txt archive; do echo x >"$name"; done
    mkdir -p house.plan/floor photos.jpg
    echo x >house.plan/floor/room
    appcontainer deliver "$DEVICE" com.example.Viewer photo.JPG drawing.Cad house.plan
    for name in letter.txt archive photos.jpg; do
        complains 59 appcontainer deliver "$DEVICE" com.example.Viewer photo.JPG "$name"
    done
    contains "$(cat "$WORK/.err")" "public.folder"
    expect <<<"ok list $DOCUMENTS/Inbox photo.JPG drawing.Cad house.plan"
    appcontainer deliver "$DEVICE" com.example.Viewer letter.txt photos.jpg --any-type
    expect <<<"ok list $DOCUMENTS/Inbox photo.JPG drawing.Cad house.plan letter.txt photos.jpg"
    # An app that says nothing gets everything.
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    appcontainer deliver "$DEVICE" "$APP" letter.txt archive photos.jpg
}

case_an_app_runs_its_tools_under_another_name_of_the_device() {
    # The device by a relative path, and through a symbolic link, is one device.
    mkdir -p "$MOUNT"
    appcontainer create device
    ln -s device other
    appcontainer install ./device "$BASE/Notes.app"
    appcontainer mount other "$APP" home
    echo x >home/Documents/f
    complains 11 appcontainer mount "$DEVICE" "$APP" "$WORK/home"
    same "$(daemon_pid)" "$(appcontainer status --json other | json daemon pid)" "one daemon"
    appcontainer unmount home
}

# The device of version 0.1.0 beside the cases: made by that version, by root, with a file of each class, a group, a delivered
# letter, a mark, a hole, links, and the passcode 271828.
rootcase_a_device_of_version_0_1_0_opens_with_all_that_is_in_it() {
    mkdir -p "$MOUNT"
    tar --xattrs --xattrs-include='*' --no-same-owner -xJf "$HERE/device-0.1.0.tar.xz"
    same "$(json format <"$DEVICE/Device.json")" 1 "format of the old device"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    for class in complete completeUnlessOpen completeUntilFirstUserAuthentication; do
        refused cat "$DOCUMENTS/$class"
    done
    same "$(cat "$DOCUMENTS/none")" "content of none"
    unlock
    for class in complete completeUnlessOpen completeUntilFirstUserAuthentication none; do
        same "$(cat "$DOCUMENTS/$class")" "content of $class"
    done
    same "$(stat -c '%a %.9Y' "$DOCUMENTS/none")" "640 1767323045.678901234" "mode and time"
    same "$(getfattr --only-values -n user.note "$DOCUMENTS/none")" value
    same "$(stat -c '%s %h' "$DOCUMENTS/linked")" "70000 2" "length and links"
    cmp "$DOCUMENTS/linked" <(head -c 70000 /dev/zero | tr '\0' x)
    same "$(readlink "$DOCUMENTS/symlink")" ../tmp
    same "$(stat -c %s "$DOCUMENTS/sparse")" 1048576
    same "$(tail -c 3 "$DOCUMENTS/sparse")" end
    same "$(cat "$DOCUMENTS/Inbox/letter.txt")" "a letter"
    same "$(cat "$MOUNT/Groups/group.com.example.shared/shared")" shared
    same "$(cat "$MOUNT/Library/Caches/cached")" cached
    excluded "$DOCUMENTS/skipped"
    contains "$(appcontainer events "$DEVICE")" '"event":"delivered"'
    same "$(appcontainer capacity "$DEVICE" --json | json capacity)" 67108864
    whole
    # From now on its records are authenticated, and a version that does not look refuses it.
    same "$(json format <"$DEVICE/Device.json")" 4 "format"
    stop
    whole
}
