# Containers that several apps share, and who may look at a home at all.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

container_rules() {
    group=$MOUNT/Groups/group.com.example.shared
    cloud=$MOUNT/iCloud/iCloud.com.example.Notes
    expect <<TABLE
ok    list $MOUNT Notes.app Documents Library tmp Groups iCloud .com.apple.mobile_container_manager.metadata.plist
ok    list $MOUNT/Groups group.com.example.shared
ok    list $MOUNT/iCloud iCloud.com.example.Notes
EPERM mkdir $MOUNT/Groups/other
EPERM open $MOUNT/Groups/other creat
EPERM rmdir $group
EPERM rename $group $MOUNT/Groups/other
EPERM rename $group $DOCUMENTS/group
EPERM rmdir $MOUNT/Groups
EPERM rename $MOUNT/Groups $MOUNT/Library/Groups
EPERM rmdir $cloud
EPERM mkdir $MOUNT/iCloud/other
ok    open $group/f excl
ok    write $group/f text
EEXIST mkdir $group/Library
ok    list $group Library f
ok    list $group/Library Caches
EPERM rmdir $group/Library/Caches
EPERM rename $group/Library $group/library
EPERM rename $group/Library/Caches $DOCUMENTS/Caches
ok    mkdir $group/Library/Preferences
ok    rmdir $group/Library/Preferences
ok    mkdir $group/tmp
ok    rmdir $group/tmp
ok    rename $group/f $DOCUMENTS/f
ok    rename $DOCUMENTS/f $cloud/f
ok    read $cloud/f text
ok    mkdir $group/Inbox
TABLE
}
case_group_and_icloud_containers() {
    start --group group.com.example.shared --icloud iCloud.com.example.Notes
    container_rules
    again
    expect <<<"ok read $MOUNT/iCloud/iCloud.com.example.Notes/f text"
    # Entitled later, while mounted.
    appcontainer entitle "$DEVICE" "$APP" --group group.com.example.more
    expect <<TABLE
ok    list $MOUNT/Groups group.com.example.shared group.com.example.more
ok    open $MOUNT/Groups/group.com.example.more/f excl
TABLE
}
rootcase_group_and_icloud_containers_of_a_user_on_roots_daemon() {
    as_container_user --group group.com.example.shared --icloud iCloud.com.example.Notes
    container_rules
}

case_entitling_an_app_that_had_no_containers() {
    start
    absent "$MOUNT/Groups"
    absent "$MOUNT/iCloud"
    appcontainer entitle "$DEVICE" "$APP" --group group.com.example.late --icloud iCloud.com.example.late
    expect <<TABLE
ok    open $MOUNT/Groups/group.com.example.late/f excl
ok    open $MOUNT/iCloud/iCloud.com.example.late/f excl
TABLE
}

case_a_read_only_mount_answers_erofs() {
    start
    echo x >"$DOCUMENTS/f"
    appcontainer unmount "$MOUNT"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --read-only
    expect <<TABLE
ok    read $DOCUMENTS/f x
EROFS open $DOCUMENTS/f w
EROFS open $DOCUMENTS/new creat
EROFS mkdir $DOCUMENTS/new
EROFS unlink $DOCUMENTS/f
EROFS open $MOUNT/Notes.app/Info.plist w
TABLE
}

usercase_mode_bits_come_first() {
    start
    mkdir "$DOCUMENTS/closed"
    echo x >"$DOCUMENTS/closed/f"
    chmod 000 "$DOCUMENTS/closed"
    echo x >"$DOCUMENTS/private"
    chmod 000 "$DOCUMENTS/private"
    expect <<TABLE
EACCES open $DOCUMENTS/closed/f r
EACCES open $DOCUMENTS/closed/new creat
EACCES open $DOCUMENTS/private r
TABLE
    chmod 700 "$DOCUMENTS/closed"
}

rootcase_other_users_stay_outside_unless_allowed() {
    start
    chmod 711 "$WORK"
    same "$(stat -c %a "$MOUNT")" 700 "mode of the home"
    AS=$TEST_USER expect <<<"EACCES open $MOUNT/Notes.app/Info.plist r"
    appcontainer unmount "$MOUNT"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --allow-other
    same "$(stat -c %a "$MOUNT")" 755 "mode of the home with --allow-other"
    AS=$TEST_USER expect <<<"ok open $MOUNT/Notes.app/Info.plist r"
}

case_symbolic_links_do_not_lead_out_of_the_backing_directory() {
    start
    echo secret >"$WORK/secret"
    ln -s "$WORK" "$DOCUMENTS/out"
    # The kernel follows it for its caller, as anywhere; the driver itself never does.
    same "$(readlink "$DOCUMENTS/out")" "$WORK" "target"
    same "$(cat "$DOCUMENTS/out/secret")" secret "followed by the caller"
    # Removing the link, or a tree that holds it, leaves alone what it points to.
    rm -r "$DOCUMENTS/out"
    mkdir "$DOCUMENTS/tree"
    ln -s "$WORK" "$DOCUMENTS/tree/out"
    rm -r "$DOCUMENTS/tree"
    same "$(cat "$WORK/secret")" secret "outside"
    # A directory of the backing store that somebody replaced by a link is shown as one: the daemon does not enter it.
    mkdir -p "$DOCUMENTS/inner" "$WORK/elsewhere"
    echo planted >"$WORK/elsewhere/planted"
    appcontainer unmount "$MOUNT"
    data=$(backing)
    appcontainer shutdown "$DEVICE"
    rmdir "$data/Documents/inner"
    ln -s "$WORK/elsewhere" "$data/Documents/inner"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    expect <<<"ok readlink $DOCUMENTS/inner $WORK/elsewhere"
}

case_what_a_request_changes_shows_right_after_its_reply() {
    start
    echo text >mail.txt
    /usr/bin/python3 "$HERE/shown_at_once.py" "$(control_socket)" "$APP" "$MOUNT" "$WORK/mail.txt" 200
    whole
}
