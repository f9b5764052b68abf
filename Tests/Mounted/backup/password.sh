# The backup password: what a locked device backs up as ciphertext, and another one restores.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

BACKUP=$WORK/backup.tar
FINDER=$WORK/finder
OTHER=$WORK/other
THERE=$WORK/there
SECRET=AppDomain-$APP/Documents/secret
PASSWORD=$WORK/password
WRONG=$WORK/wrong

forge() { /usr/bin/python3 "$HERE/forge.py" "$@"; }
has_password() { appcontainer status "$1" --json | json hasBackupPassword; }
change() { appcontainer backup-password "$DEVICE" "$@"; }

passwords() {
    echo swordfish >"$PASSWORD" && echo marlin >"$WRONG"
    chmod 600 "$PASSWORD" "$WRONG"
}

# A device with a backup password, and files of all classes, of which one is open.
start_with_password() {
    passwords
    start_protected
    change set --new-file "$PASSWORD"
    echo plaintext >"$DOCUMENTS/secret" && appcontainer protect complete "$DOCUMENTS/secret"
    head -c 3000001 /dev/urandom >"$DOCUMENTS/large" && appcontainer protect complete "$DOCUMENTS/large"
    truncate -s 5M "$DOCUMENTS/sparse" && echo end >>"$DOCUMENTS/sparse"
    appcontainer protect complete "$DOCUMENTS/sparse"
    echo unless >"$DOCUMENTS/unless" && appcontainer protect complete-unless-open "$DOCUMENTS/unless"
    echo first >"$DOCUMENTS/first"
    echo none >"$DOCUMENTS/none" && appcontainer protect none "$DOCUMENTS/none"
    ln "$DOCUMENTS/secret" "$DOCUMENTS/several"
    setfattr -n user.color -v blue "$DOCUMENTS/secret"
    touch -d '2001-02-03 04:05:06.123456789Z' "$DOCUMENTS/secret"
    chmod 640 "$DOCUMENTS/secret"
    facts "$DOCUMENTS" >"$WORK/here.txt"
}
# facts DIRECTORY: names, kinds, modes, times, links, sizes, attributes (the class too) and content of all in a directory.
facts() {
    (cd "$1" && find . -mindepth 1 -printf '%P %y %m %n %s %T+ %l\n' | sort \
        && find . -mindepth 1 -type f -print0 | sort -z | xargs -0 sha256sum \
        && { getfattr -R -h -d -m '^user\.' . | sort || true; })
}
other_device() {
    appcontainer create "$OTHER" "$@"
    appcontainer install "$OTHER" "$BASE/Notes.app"
}
mount_other() { mkdir -p "$THERE" && appcontainer mount "$OTHER" "$APP" "$THERE"; }
unmount_other() { appcontainer unmount "$THERE"; }
finish_other() {
    same "$(appcontainer check "$OTHER")" whole
    appcontainer shutdown "$OTHER"
}
# comes_back BACKUP PASSWORD-FILE: everything is on the other device as it was on the first.
comes_back() {
    timeout 60 appcontainer restore "$OTHER" "$1" --password-file "$2"
    mount_other
    facts "$THERE/Documents" >"$WORK/there.txt"
    diff "$WORK/here.txt" "$WORK/there.txt"
    unmount_other
    # Ciphertext of its own: of the files that were sealed no block is as it was.
    /usr/bin/python3 - "$DEVICE" "$OTHER" <<'END'
import glob, sys
def blocks(device, name):
    path, = glob.glob(f"{device}/Containers/Data/Application/*/Documents/{name}")
    with open(path, "rb") as file:
        content = file.read()
    return {content[place:place + 4096] for place in range(0, len(content), 4096)} - {bytes(4096)}
for name in ("secret", "large", "sparse", "unless"):
    assert not blocks(sys.argv[1], name) & blocks(sys.argv[2], name), name
END
}

case_a_backup_password_is_set_on_an_unlocked_device_and_goes_with_an_erase() {
    passwords
    start_protected
    same "$(has_password "$DEVICE")" False "before"
    complains 63 appcontainer backup-password "$DEVICE" change --old-file "$PASSWORD" --new-file "$WRONG"
    complains 63 appcontainer backup-password "$DEVICE" remove --old-file "$PASSWORD"
    complains 64 appcontainer backup-password "$DEVICE" set --old-file "$PASSWORD"
    complains 64 appcontainer backup-password "$DEVICE" remove --new-file "$PASSWORD"
    complains 49 appcontainer backup-password "$DEVICE" set --new-file "$WORK/missing"
    appcontainer lock "$DEVICE" --now
    complains 28 appcontainer backup-password "$DEVICE" set --new-file "$PASSWORD"
    unlock
    echo swordfish | change set
    same "$(has_password "$DEVICE")" True "after"
    same "$(stat -c %a "$DEVICE/PasswordKeybag")" 600 "the mode of the record"
    complains 63 appcontainer backup-password "$DEVICE" set --new-file "$WRONG"
    complains 48 appcontainer backup-password "$DEVICE" remove --old-file "$WRONG"
    contains "$(fails appcontainer backup-password "$DEVICE" change --old-file "$WRONG" --new-file "$WRONG")" "appcontainer erase"
    # Another passcode, a reboot and a shutdown do not concern it, and a change needs no unlock.
    echo 314159 >"$WORK/new-code" && chmod 600 "$WORK/new-code"
    appcontainer passcode "$DEVICE" change --old-file "$CODE" --new-file "$WORK/new-code"
    appcontainer unmount "$MOUNT"
    appcontainer shutdown "$DEVICE"
    same "$(has_password "$DEVICE")" True "off"
    appcontainer boot "$DEVICE"
    printf 'swordfish\nmarlin\n' | change change
    complains 48 appcontainer backup-password "$DEVICE" remove --old-file "$PASSWORD"
    appcontainer clone "$DEVICE" "$WORK/copy" || { appcontainer shutdown "$DEVICE" && appcontainer clone "$DEVICE" "$WORK/copy"; }
    same "$(has_password "$WORK/copy")" True "a clone"
    appcontainer backup-password "$WORK/copy" remove --old-file "$WRONG"
    same "$(has_password "$WORK/copy") $(has_password "$DEVICE")" "False True" "a removal on the clone"
    appcontainer erase "$DEVICE"
    same "$(has_password "$DEVICE")" False "after an erase"
    appcontainer delete "$WORK/copy"
}

case_a_damaged_backup_password_is_replaced() {
    passwords
    start_protected
    change set --new-file "$PASSWORD"
    echo secret >"$DOCUMENTS/secret" && appcontainer protect complete "$DOCUMENTS/secret"
    cp "$DEVICE/PasswordKeybag" "$WORK/whole"
    local damage
    for damage in flipped fifo link; do
        rm -f "$DEVICE/PasswordKeybag"
        case $damage in
            flipped) (head -c 99 "$WORK/whole"; printf '\377'; tail -c +101 "$WORK/whole") >"$DEVICE/PasswordKeybag" ;;
            fifo) mkfifo "$DEVICE/PasswordKeybag" ;;
            link) ln -s "$WORK/whole" "$DEVICE/PasswordKeybag" ;;
        esac
        # Nothing waits for it, and what does not need it goes on.
        same "$(timeout 30 appcontainer status "$DEVICE" --json | json hasBackupPassword)" True "$damage"
        contains "$(timeout 30 appcontainer check "$DEVICE" || true)" "PasswordKeybag: is damaged"
        rm -f "$BACKUP"
        timeout 60 appcontainer backup "$DEVICE" "$BACKUP"
        contains "$(cat "$DEVICE/daemon.log")" "record of the backup password is damaged"
        complains 22 timeout 30 appcontainer backup-password "$DEVICE" change --old-file "$PASSWORD" --new-file "$WRONG"
        # A locked device would back up ciphertext that nobody opens.
        appcontainer lock "$DEVICE" --now
        complains 22 timeout 30 appcontainer backup "$DEVICE" "$WORK/locked.tar"
        complains 22 timeout 30 appcontainer backup-password "$DEVICE" remove
        absent "$WORK/locked.tar"
        unlock
        if [ "$damage" = fifo ]; then
            timeout 30 appcontainer backup-password "$DEVICE" remove
            same "$(has_password "$DEVICE")" False "after the removal"
        fi
        timeout 30 appcontainer backup-password "$DEVICE" set --new-file "$WRONG"
        appcontainer lock "$DEVICE" --now
        rm -f "$BACKUP"
        contains "$(timeout 60 appcontainer backup "$DEVICE" "$BACKUP")" "1 as ciphertext"
        unlock
        whole
    done
    appcontainer unmount "$MOUNT"
    appcontainer shutdown "$DEVICE"
    rm "$DEVICE/PasswordKeybag" && mkfifo "$DEVICE/PasswordKeybag"
    same "$(timeout 30 appcontainer status "$DEVICE" --json | json hasBackupPassword)" True "off"
    timeout 60 appcontainer clone "$DEVICE" "$WORK/copy"
    same "$(has_password "$WORK/copy")" False "a clone"
    appcontainer delete "$WORK/copy"
    rm "$DEVICE/PasswordKeybag"
}

oncecase_a_backup_of_a_locked_device_comes_back_anywhere_with_the_backup_password() {
    start_with_password
    appcontainer lock "$DEVICE" --now
    contains "$(timeout 60 appcontainer backup "$DEVICE" "$BACKUP")" "4 as ciphertext"
    contains "$(timeout 60 appcontainer backup "$DEVICE" "$FINDER" --format finder)" "4 as ciphertext"
    if grep -rq plaintext "$BACKUP" "$FINDER"; then fail "plaintext of a closed file"; fi
    other_device
    before=$(find "$OTHER/Containers" "$OTHER/Staging" | sort)
    for backup in "$BACKUP" "$FINDER"; do
        complains 49 appcontainer restore "$OTHER" "$backup"
        grep -q -- "--password-file" "$WORK/.err" || fail "no way named: $(cat "$WORK/.err")"
        complains 48 appcontainer restore "$OTHER" "$backup" --password-file "$WRONG"
        same "$(find "$OTHER/Containers" "$OTHER/Staging" | sort)" "$before" "what a refused restore leaves"
        comes_back "$backup" "$PASSWORD"
        before=$(find "$OTHER/Containers" "$OTHER/Staging" | sort)
    done
    # Encrypted as a whole: with the device's own password only.
    complains 48 appcontainer backup "$DEVICE" "$WORK/encrypted" --format finder --password-file "$WRONG"
    absent "$WORK/encrypted"
    timeout 120 appcontainer backup "$DEVICE" "$WORK/encrypted" --format finder --password-file "$PASSWORD"
    complains 49 appcontainer restore "$OTHER" "$WORK/encrypted"
    comes_back "$WORK/encrypted" "$PASSWORD"
    # The passcode and the password change in between, and the early backup is as it was.
    unlock
    echo 314159 >"$WORK/new-code" && chmod 600 "$WORK/new-code"
    appcontainer passcode "$DEVICE" change --old-file "$CODE" --new-file "$WORK/new-code"
    change change --old-file "$PASSWORD" --new-file "$WRONG"
    appcontainer restart "$DEVICE"
    contains "$(timeout 60 appcontainer backup "$DEVICE" "$WORK/booted.tar")" "5 as ciphertext"
    complains 48 appcontainer restore "$OTHER" "$WORK/booted.tar" --password-file "$PASSWORD"
    comes_back "$WORK/booted.tar" "$WRONG"
    comes_back "$BACKUP" "$PASSWORD"
    # One that continues an earlier backup, under the later password.
    contains "$(timeout 60 appcontainer backup "$DEVICE" "$WORK/next.tar" --since "$WORK/booted.tar")" unchanged
    comes_back "$WORK/next.tar" "$WRONG"
    finish_other
    # The device itself needs none, nor does a clone.
    appcontainer unmount "$MOUNT"
    appcontainer unlock "$DEVICE" --passcode-file "$WORK/new-code"
    appcontainer restore "$DEVICE" "$BACKUP"
    appcontainer shutdown "$DEVICE"
    appcontainer clone "$DEVICE" "$WORK/copy"
    appcontainer unlock "$WORK/copy" --passcode-file "$WORK/new-code"
    appcontainer restore "$WORK/copy" "$FINDER"
    appcontainer mount "$WORK/copy" "$APP" "$MOUNT"
    facts "$DOCUMENTS" >"$WORK/there.txt"
    diff "$WORK/here.txt" "$WORK/there.txt"
    appcontainer unmount "$MOUNT"
    appcontainer shutdown "$WORK/copy"
}

case_a_locked_device_takes_what_another_locked_device_backed_up_in_its_own_classes() {
    start_with_password
    appcontainer lock "$DEVICE" --now
    timeout 60 appcontainer backup "$DEVICE" "$BACKUP"
    echo 9876 >"$WORK/new-code" && chmod 600 "$WORK/new-code"
    other_device --passcode-file "$WORK/new-code" --kdf-cost 1
    # Content of class A cannot be written there before it is unlocked.
    complains 28 appcontainer restore "$OTHER" "$BACKUP" --password-file "$PASSWORD"
    appcontainer unlock "$OTHER" --passcode-file "$WORK/new-code"
    timeout 60 appcontainer restore "$OTHER" "$BACKUP" --password-file "$PASSWORD"
    mount_other
    appcontainer lock "$OTHER" --now
    refused cat "$THERE/Documents/secret"
    refused cat "$THERE/Documents/unless"
    same "$(cat "$THERE/Documents/first" "$THERE/Documents/none")" "$(printf 'first\nnone')" "open classes"
    appcontainer unlock "$OTHER" --passcode-file "$WORK/new-code"
    same "$(cat "$THERE/Documents/secret" "$THERE/Documents/unless")" "$(printf 'plaintext\nunless')" "closed classes"
    unmount_other
    finish_other
}

case_files_kept_open_while_they_are_sealed_come_back_anywhere() {
    passwords
    start_protected
    change set --new-file "$PASSWORD"
    echo plaintext >"$DOCUMENTS/secret" && appcontainer protect complete "$DOCUMENTS/secret"
    exec 7<>"$DOCUMENTS/secret"
    head -c 300000 /dev/zero | tr '\0' x >&7
    appcontainer lock "$DEVICE" --now
    contains "$(timeout 60 appcontainer backup "$DEVICE" "$BACKUP")" "1 as ciphertext"
    # The same after a kill: the header of a file that was open says so.
    kill -9 "$(appcontainer status "$DEVICE" --json | json daemon pid)"
    exec 7>&-
    other_device
    for backup in "$BACKUP" "$WORK/killed.tar"; do
        timeout 60 appcontainer restore "$OTHER" "$backup" --password-file "$PASSWORD"
        mount_other
        same "$(head -c 300000 "$THERE/Documents/secret" | tr -d x | wc -c)" 0 "what was written"
        unmount_other
        [ "$backup" = "$BACKUP" ] || continue
        umount -l "$MOUNT" 2>/dev/null || fusermount3 -uz "$MOUNT" 2>/dev/null || true
        timeout 60 appcontainer backup "$DEVICE" "$WORK/killed.tar"
    done
    finish_other
}

case_a_scheduled_backup_of_a_locked_device_comes_back_anywhere_with_the_backup_password() {
    start_with_password
    mkdir "$WORK/daily"
    appcontainer schedule "$DEVICE" --backup "$WORK/daily"
    appcontainer lock "$DEVICE" --now
    appcontainer clock "$DEVICE" advance 25h
    other_device
    complains 49 appcontainer restore "$OTHER" "$(echo "$WORK"/daily/*)"
    comes_back "$(echo "$WORK"/daily/*)" "$PASSWORD"
    finish_other
}

oncecase_a_keybag_of_another_backup_opens_nothing() {
    start_with_password
    appcontainer lock "$DEVICE" --now
    timeout 60 appcontainer backup "$DEVICE" "$BACKUP"
    timeout 60 appcontainer backup "$DEVICE" "$FINDER" --format finder
    other_device
    appcontainer backup-password "$OTHER" set --new-file "$PASSWORD"
    appcontainer backup "$OTHER" "$WORK/others.tar"
    mkdir "$WORK/mine" "$WORK/others"
    PASSWORD=swordfish /usr/bin/python3 "$HERE/keybag.py" "$BACKUP" "$WORK/mine"
    PASSWORD=swordfish /usr/bin/python3 "$HERE/keybag.py" "$WORK/others.tar" "$WORK/others"
    # Neither the backups nor the keybag have the key that the device's other keys come from.
    /usr/bin/python3 - "$DEVICE/UID.key" "$BACKUP" "$WORK"/mine/* <<'END' || fail "UID.key left"
import sys
key, *others = (open(path, "rb").read() for path in sys.argv[1:])
key = key[:32]
sys.exit(len(key) < 32 or any(key in other for other in others))
END
    before=$(find "$OTHER/Containers" "$OTHER/Staging" | sort)
    while read -r code keybag; do
        forge tar "$BACKUP" "$WORK/forged.tar" "$SECRET" "keybag=$WORK/$keybag"
        complains "$code" appcontainer restore "$OTHER" "$WORK/forged.tar" --password-file "$PASSWORD"
        rm -rf "$WORK/forged" && cp -a "$FINDER" "$WORK/forged"
        forge finder "$WORK/forged" "$SECRET" "keybag=$WORK/$keybag"
        complains "$code" appcontainer restore "$OTHER" "$WORK/forged" --password-file "$PASSWORD"
        same "$(find "$OTHER/Containers" "$OTHER/Staging" | sort)" "$before" "what $keybag leaves"
    done <<'END'
46 mine/cut
46 mine/flipped
46 mine/costly
47 mine/newer
48 mine/exchanged
48 mine/foreign
46 others/whole
END
    for change in flip=4100 flip=4 cut=32 cut=1 mode=4755 owner=77; do
        forge tar "$BACKUP" "$WORK/forged.tar" "$SECRET" "$change"
        complains 46 appcontainer restore "$OTHER" "$WORK/forged.tar" --password-file "$PASSWORD"
        same "$(find "$OTHER/Containers" "$OTHER/Staging" | sort)" "$before" "what $change leaves"
    done
    # A forgery without a change is a backup.
    forge tar "$BACKUP" "$WORK/forged.tar" "$SECRET" "keybag=$WORK/mine/whole"
    comes_back "$WORK/forged.tar" "$PASSWORD"
    finish_other
}
