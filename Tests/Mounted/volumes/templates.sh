# Templates: a device in one file, from host to host.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

# A device with a passcode, off, whose app has files of every kind.
full_device() {
    start_protected
    cp -R "$BASE/tree/usr/include/linux/netfilter" "$DOCUMENTS/headers"
    cp "$BASE"/tree/usr/include/linux/{fs,ip,kvm}.h "$DOCUMENTS/headers"
    truncate -s 2G "$DOCUMENTS/sparse"
    ln "$DOCUMENTS/headers/fs.h" "$DOCUMENTS/hard"
    ln -s hard "$DOCUMENTS/link"
    mkfifo "$DOCUMENTS/fifo"
    setfattr -n user.note -v x "$DOCUMENTS/hard"
    appcontainer protect complete "$DOCUMENTS/headers/ip.h"
    appcontainer exclude "$DOCUMENTS/headers/kvm.h"
    mkdir "$WORK/before"
    rsync -aXH "$DOCUMENTS/" "$WORK/before/"
    stop
}
# shows_the_same DEVICE: its app has what the first device's has.
shows_the_same() {
    appcontainer mount "$1" "$APP" "$MOUNT" --passcode-file "$CODE"
    same_tree "$WORK/before" "$DOCUMENTS"
    same "$(stat -c %h "$DOCUMENTS/hard")" 2 links
    [ "$(du -k "$DOCUMENTS/sparse" | cut -f1)" -lt 1000 ] || fail "the sparse file is not sparse"
    contains "$(appcontainer inspect "$DOCUMENTS/headers/ip.h")" NSFileProtectionComplete
    excluded "$DOCUMENTS/headers/kvm.h"
    appcontainer unmount "$MOUNT"
    appcontainer shutdown "$1"
    same "$(appcontainer check "$1")" whole "check of $1"
}

case_a_template_makes_the_device_that_was_exported() {
    full_device
    local digest
    digest=$(appcontainer export "$DEVICE" "$WORK/template")
    same "$digest" "sha256:$(sha256sum "$WORK/template" | cut -d' ' -f1)" "the answer"
    same "$(stat -c %a "$WORK/template")" 600 "the mode of the template"
    same "$(appcontainer export --json "$DEVICE" "$WORK/again" | json digest)" "$digest" "the same device again"
    cmp "$WORK/template" "$WORK/again"
    contains "$(tar --zstd -tf "$WORK/template")" "Device.json"
    appcontainer import --digest "$digest" "$WORK/template" "$WORK/imported"
    shows_the_same "$WORK/imported"
    [ "$(appcontainer status "$WORK/imported" --json | json identifier)" != "$(appcontainer status "$DEVICE" --json | json identifier)" ] ||
        fail "both have one UUID"
    appcontainer shutdown "$WORK/imported"
    appcontainer shutdown "$DEVICE"
    # The imported device is a device like any other.
    appcontainer clone "$WORK/imported" "$WORK/clone"
    shows_the_same "$WORK/clone"
    complains 40 appcontainer export "$DEVICE" "$WORK/template"
    complains 7 appcontainer import "$WORK/template" "$WORK/imported"
    appcontainer boot "$DEVICE" >/dev/null
    complains 8 appcontainer export "$DEVICE" "$WORK/third"
    absent "$WORK/third"
    appcontainer shutdown "$DEVICE"
}

case_a_template_streams_through_a_pipe() {
    full_device
    appcontainer export "$DEVICE" - | appcontainer import - "$WORK/imported"
    shows_the_same "$WORK/imported"
    appcontainer export "$DEVICE" "$WORK/template" >/dev/null
    appcontainer export "$DEVICE" - | cmp - "$WORK/template"
    mkfifo "$WORK/pipe"
    cat "$WORK/template" >"$WORK/pipe" &
    appcontainer import "$WORK/pipe" "$WORK/other"
    shows_the_same "$WORK/other"
    appcontainer import <(cat "$WORK/template") "$WORK/substituted"
    same "$(appcontainer check "$WORK/substituted")" whole "check"
    # A reader that goes away, and a writer that does.
    appcontainer export "$DEVICE" - | head -c 1000 >/dev/null || true
    complains 57 appcontainer import - "$WORK/cut" < <(head -c 100000 "$WORK/template")
    absent "$WORK/cut"
    whole
}

case_templates_that_are_none() {
    full_device
    appcontainer export "$DEVICE" "$WORK/template" >/dev/null
    local size
    size=$(stat -c %s "$WORK/template")
    for bytes in 0 10 $((size / 2)) $((size - 1)); do
        head -c "$bytes" "$WORK/template" >"$WORK/cut"
        complains 57 appcontainer import "$WORK/cut" "$WORK/new"
    done
    cp "$WORK/template" "$WORK/changed"
    change_byte "$WORK/changed" $((size / 2))
    complains 57 appcontainer import "$WORK/changed" "$WORK/new"
    { cat "$WORK/template" && echo; } >"$WORK/longer"
    complains 57 appcontainer import "$WORK/longer" "$WORK/new"
    complains 57 appcontainer import --digest "sha256:$(printf %064d 0)" "$WORK/template" "$WORK/new"
    complains 64 appcontainer import --digest "$(printf %064d 0)" "$WORK/template" "$WORK/new"
    complains 57 appcontainer import "$DEVICE" "$WORK/new"
    complains 57 appcontainer import "$DEVICE/Device.json" "$WORK/new"
    complains 26 appcontainer import "$WORK/none" "$WORK/new"
    complains 26 appcontainer import "$WORK/template" "$WORK/none/new"
    complains 64 appcontainer export --oci "$DEVICE" -
    same "$(find "$WORK" -maxdepth 1 -name '*new*')" "" "left behind"
}

# The layout goes through a tool for registries, by way of a directory and an archive, and comes back.
case_a_template_is_an_artifact_of_oci() {
    full_device
    local digest
    digest=$(appcontainer export --oci "$DEVICE" "$WORK/layout")
    same "$(find "$WORK/layout" -perm /077)" "" "readable for others"
    skopeo copy -q "oci:$WORK/layout" "dir:$WORK/registry"
    same "sha256:$(sha256sum "$WORK/registry/manifest.json" | cut -d' ' -f1)" "$digest" "the manifest in the registry"
    skopeo copy -q "dir:$WORK/registry" "oci:$WORK/fetched"
    appcontainer import --digest "$digest" "$WORK/fetched" "$WORK/imported"
    shows_the_same "$WORK/imported"
    skopeo copy -q "oci:$WORK/layout" "oci-archive:$WORK/archive.tar"
    mkdir "$WORK/unpacked"
    tar -xf "$WORK/archive.tar" -C "$WORK/unpacked"
    appcontainer import "$WORK/unpacked" "$WORK/other"
    shows_the_same "$WORK/other"
    complains 40 appcontainer export --oci "$DEVICE" "$WORK/layout"
    # Layouts that were changed: the layer, the manifest, the index, a link in place of a blob, a layout of something else.
    local layer manifest
    layer=$(find "$WORK/layout/blobs" -type f -size +64k)
    manifest=$WORK/layout/blobs/sha256/${digest#sha256:}
    for damage in "change_byte $layer 5000" "truncate -s -1 $layer" "sed -i s/vnd.oci/vnd.ico/ $manifest" \
        "ln -sf $WORK/template $layer" "rm $manifest" "rm $WORK/layout/index.json" "truncate -s 10M $WORK/layout/index.json" \
        "rm -r $WORK/layout/blobs"; do
        cp -a "$WORK/layout" "$WORK/kept"
        $damage
        complains 57 appcontainer import "$WORK/layout" "$WORK/new"
        rm -r "$WORK/layout"
        mv "$WORK/kept" "$WORK/layout"
    done
    complains 57 appcontainer import --digest "sha256:$(printf %064d 0)" "$WORK/layout" "$WORK/new"
    same "$(find "$WORK" -maxdepth 1 -name '*new*')" "" "left behind"
}

rootcase_a_user_imports_the_template_of_root() {
    full_device
    appcontainer export "$DEVICE" "$WORK/template" >/dev/null
    chmod 644 "$WORK/template" "$CODE"
    chmod 711 "$WORK"
    local place
    place=$(runuser -u "$TEST_USER" -- mktemp -d)
    runuser -u "$TEST_USER" -- appcontainer import "$WORK/template" "$place/device"
    same "$(find "$place" ! -user "$TEST_USER")" "" "files of another owner"
    same "$(runuser -u "$TEST_USER" -- appcontainer check "$place/device")" whole "check"
    runuser -u "$TEST_USER" -- appcontainer shutdown "$place/device"
    # And back: root's again.
    runuser -u "$TEST_USER" -- appcontainer export "$place/device" "$place/template" >/dev/null
    appcontainer import "$place/template" "$WORK/imported"
    same "$(find "$WORK/imported" ! -user root)" "" "files of another owner"
    # A link of the user's leads root to no template, whomever it belongs to.
    local target
    for target in "$WORK/template" "$place/template" "$DEVICE"; do
        runuser -u "$TEST_USER" -- ln -sfn "$target" "$place/link"
        complains 52 appcontainer import "$place/link" "$WORK/other"
        contains "$(cat "$WORK/.err")" "name $target if it is meant"
    done
    runuser -u "$TEST_USER" -- mkfifo "$place/pipe"
    complains 52 appcontainer import "$place/pipe" "$WORK/other"
    absent "$WORK/other"
    rm -r "$place"
    shows_the_same "$WORK/imported"
}

hostcase_a_full_host_in_the_middle_leaves_nothing() {
    start
    head -c 30000000 /dev/urandom >"$DOCUMENTS/large"
    stop
    local small=$HOSTS/small/${WORK##*/} free
    appcontainer export "$DEVICE" "$WORK/template" >/dev/null
    free=$(df --output=avail -B1 "$HOSTS/small" | tail -1)
    head -c $((free - 5000000)) /dev/zero >"$small-filler"
    complains 21 appcontainer import "$WORK/template" "$small-device"
    complains 21 appcontainer export "$DEVICE" "$small-template"
    complains 21 appcontainer export --oci "$DEVICE" "$small-layout"
    same "$(find "$HOSTS/small" -name "*${WORK##*/}*" ! -name '*-filler')" "" "left behind"
    rm "$small-filler"
    # The same calls again do the right thing.
    appcontainer export "$DEVICE" "$small-template" >/dev/null
    rm "$small-template"
    whole
}

# Killed at any instant, an import leaves no device; what it has left goes with the next.
oncecase_a_killed_import_leaves_no_device() {
    start
    cp -R "$(some_tree)" "$DOCUMENTS/tree"
    stop
    appcontainer export "$DEVICE" "$WORK/template" >/dev/null
    local round pid started duration
    started=$(date +%s%N)
    appcontainer import "$WORK/template" "$WORK/imported"
    duration=$((($(date +%s%N) - started) / 1000))
    appcontainer delete "$WORK/imported"
    for round in $(seq "$(rounds kills_of_imports)"); do
        appcontainer import "$WORK/template" "$WORK/imported" 9>&- &
        pid=$!
        usleep=$((RANDOM * duration / 32768))
        sleep "$(printf '%d.%06d' $((usleep / 1000000)) $((usleep % 1000000)))"
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" || true
        if [ -e "$WORK/imported" ]; then
            same "$(appcontainer check "$WORK/imported")" whole "check after kill $round"
            appcontainer delete "$WORK/imported"
        fi
    done
    appcontainer import "$WORK/template" "$WORK/imported"
    same "$(find "$WORK" -maxdepth 1 -name '.imported.*')" "" "left behind"
    same "$(appcontainer check "$WORK/imported")" whole "check"
}
