# Backups that somebody has made to lend himself rights: none gets a program of another user's onto the host.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

BACKUP=$WORK/backup.tar
FINDER=$WORK/finder
SECRET=AppDomain-$APP/Documents/secret

forge() { /usr/bin/python3 "$HERE/forge.py" "$@"; }

# no_program [DEVICE]: no backing file has a set-ID bit, or begins as the program does.
no_program() {
    same "$(find "${1:-$DEVICE}" -type f -perm /6000)" "" "backing files with set-ID bits"
    if grep -rqF 'echo set-id program' "${1:-$DEVICE}"; then fail "the program is on the host"; fi
}

# A locked device, backed up in both forms with one file as ciphertext; the app is not mounted.
sealed_backups() {
    start_protected
    echo plaintext >"$DOCUMENTS/secret" && appcontainer protect complete "$DOCUMENTS/secret"
    head -c 600000 /dev/urandom >"$DOCUMENTS/large" && appcontainer protect complete "$DOCUMENTS/large"
    cp "$DOCUMENTS/large" "$WORK/large"
    appcontainer lock "$DEVICE" --now
    contains "$(timeout 60 appcontainer backup "$DEVICE" "$BACKUP")" "2 as ciphertext"
    contains "$(timeout 60 appcontainer backup "$DEVICE" "$FINDER" --format finder)" "2 as ciphertext"
    appcontainer unmount "$MOUNT"
    printf '#!/bin/sh\necho set-id program\n' >"$WORK/program"
    # A page and more, as the backing file of a sealed file has.
    { cat "$WORK/program" && head -c 9000 /dev/zero; } >"$WORK/padded"
}

case_a_sealed_entry_of_a_forged_backup_makes_no_program() {
    local change before
    sealed_backups
    before=$(find "$DEVICE/Containers" "$DEVICE/Staging" | sort)
    for change in "content=$WORK/program mode=4755 owner=0" "content=$WORK/padded mode=6755 owner=0" \
        mode=4755 owner=77 flip=4100 flip=4 cut=32 cut=1 "cut=8200 mode=755"; do
        # shellcheck disable=SC2086
        forge tar "$BACKUP" "$WORK/forged.tar" "$SECRET" $change
        complains 46 appcontainer restore "$DEVICE" "$WORK/forged.tar"
        rm -rf "$WORK/forged" && cp -a "$FINDER" "$WORK/forged"
        # shellcheck disable=SC2086
        forge finder "$WORK/forged" "$SECRET" $change
        complains 46 appcontainer restore "$DEVICE" "$WORK/forged"
        no_program
        same "$(find "$DEVICE/Containers" "$DEVICE/Staging" | sort)" "$before" "what a refused restore leaves"
    done
    whole
}

case_a_sealed_entry_comes_back_only_as_it_was() {
    sealed_backups
    # A forgery without a change is a backup: the others are refused for what they change.
    forge tar "$BACKUP" "$WORK/forged.tar" "$SECRET"
    appcontainer restore "$DEVICE" "$WORK/forged.tar"
    forge finder "$FINDER" "$SECRET"
    appcontainer restore "$DEVICE" "$FINDER"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file "$CODE"
    same "$(cat "$DOCUMENTS/secret")" plaintext
    cmp "$WORK/large" "$DOCUMENTS/large"
    whole
}

case_set_id_bits_of_a_backup_are_not_the_hosts() {
    start
    echo plain >"$DOCUMENTS/secret"
    chmod 6755 "$DOCUMENTS/secret"
    appcontainer backup "$DEVICE" "$BACKUP"
    appcontainer unmount "$MOUNT"
    appcontainer restore "$DEVICE" "$BACKUP"
    no_program
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    # Only root's own device takes them from a backup.
    if [ "$(id -u)" = 0 ]; then
        same "$(stat -c %a "$DOCUMENTS/secret")" 6755
    else
        same "$(stat -c %a "$DOCUMENTS/secret")" 755
    fi
    [ "$(id -u)" = 0 ] || return 0
    # Root restores onto a device of another user, which it serves in that user's name.
    chmod 711 "$WORK"
    forge tar "$BACKUP" "$WORK/forged.tar" "$SECRET" mode=6755 owner=0
    runuser -u "$TEST_USER" -- mkdir "$WORK/theirs" 2>/dev/null || install -d -o "$TEST_USER" "$WORK/theirs"
    runuser -u "$TEST_USER" -- appcontainer create "$WORK/theirs/device"
    runuser -u "$TEST_USER" -- appcontainer install "$WORK/theirs/device" "$BASE/Notes.app"
    runuser -u "$TEST_USER" -- appcontainer shutdown "$WORK/theirs/device"
    complains 52 appcontainer restore "$WORK/theirs/device" "$WORK/forged.tar"
    export APPCONTAINER_TRUST_OWNER=$TEST_USER
    appcontainer restore "$WORK/theirs/device" "$WORK/forged.tar"
    no_program "$WORK/theirs/device"
    same "$(find "$WORK/theirs/device/Containers" ! -user "$TEST_USER")" "" "files of others in the device"
    mkdir "$WORK/there"
    appcontainer mount "$WORK/theirs/device" "$APP" "$WORK/there"
    same "$(runuser -u "$TEST_USER" -- stat -c '%a %U' "$WORK/there/Documents/secret")" "755 $TEST_USER"
    appcontainer shutdown "$WORK/theirs/device"
}

case_a_set_id_bit_that_somebody_puts_on_a_backing_file_is_found() {
    local file
    start
    echo text >"$DOCUMENTS/planted"
    appcontainer unmount "$MOUNT"
    file=$(backing)/Documents/planted
    chmod 4755 "$file"
    contains "$(fails appcontainer check "$DEVICE")" "Documents/planted"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(stat -c %a "$DOCUMENTS/planted")" 755 "the mount shows no bit of the host's"
    appcontainer check "$DEVICE" --repair || true
    same "$(stat -c %a "$file")" 755
    whole
}
