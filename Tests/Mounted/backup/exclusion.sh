# Exclusion from backups: marked in every form that a tool knows, carried along, and met by the tools themselves.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

APPLE=com.apple.metadata:com_apple_backup_excludeItem
PLIST=user.$APPLE
MOBILE=com.apple.MobileBackup
ROBOTS=user.xdg.robots.backup
BACKUP=user.appcontainer.backup

backup_of() { act getfattr --absolute-names --only-values -n "$BACKUP" "$1"; }
bundle() { echo "$MOUNT/Notes.app"; }

# attribute_forms NODE: the names of attributes, those of Apple's systems and of free desktops.
attribute_forms() {
    local node=$1 name
    not_excluded "$node"
    for name in "$APPLE" "$PLIST" "$MOBILE" "user.$MOBILE"; do
        act setfattr -n "$name" -v whatever "$node"
        excluded "$node"
        act setfattr -x "$name" "$node"
        not_excluded "$node"
        expect <<<"ok removexattr $node $name"
    done
    act setfattr -n "$ROBOTS" -v false "$node"
    excluded "$node"
    expect <<TABLE
EINVAL  setxattr $node $ROBOTS maybe
EINVAL  setxattr $node $ROBOTS ''
ok      getxattr $node $ROBOTS false
ok      getxattr $node $BACKUP excluded
EPERM   setxattr $node $BACKUP included
EPERM   removexattr $node $BACKUP
ok      listxattr $node $PLIST $ROBOTS
ok      setxattr $node $ROBOTS true
ok      setxattr $node $ROBOTS true
TABLE
    not_excluded "$node"
    act setfattr -n "$MOBILE" -v 0x01 "$node"
    excluded "$node"
    act setfattr -n "user.$MOBILE" -v 0x00 "$node"
    act setfattr -n "$MOBILE" -v 0x00 "$node"
    not_excluded "$node"
}

# flag_form NODE: the flag that dump(8) knows, which leaves the other flags as they are.
flag_form() {
    local node=$1
    act chattr +d "$node"
    excluded "$node"
    contains "$(act lsattr -d "$node")" d
    act chattr +A "$node"
    contains "$(act lsattr -d "$node" | cut -d' ' -f1)" A
    excluded "$node"
    act chattr -d "$node"
    not_excluded "$node"
    contains "$(act lsattr -d "$node" | cut -d' ' -f1)" A
    act chattr -A "$node"
}

forms() {
    act sh -c "echo text >'$DOCUMENTS/file'; mkdir '$DOCUMENTS/directory'; ln -s file '$DOCUMENTS/link'
        mkfifo '$DOCUMENTS/fifo'"
    local node
    for node in "$DOCUMENTS/file" "$DOCUMENTS/directory" "$DOCUMENTS" "$MOUNT/Library" "$MOUNT/Library/Preferences"; do
        attribute_forms "$node"
        flag_form "$node"
        act /usr/bin/python3 "$KIT/exclusion.py" extended "$node"
    done
    for node in "$DOCUMENTS/link" "$DOCUMENTS/fifo"; do
        expect <<TABLE
EPERM   setxattr $node $APPLE x
EPERM   setxattr $node $MOBILE x
ENODATA getxattr $node $APPLE
ok      listxattr $node
TABLE
    done
    # Ordinary tools show this without being asked for more.
    act chattr +d "$DOCUMENTS/file"
    contains "$(act getfattr --absolute-names -d "$DOCUMENTS/file")" 'user.xdg.robots.backup="false"'
    same "$(act getfattr --absolute-names -n "$PLIST" -e hex "$DOCUMENTS/file" | grep -c '=0x62706c6973743030')" 1 "the list"
    # Both names can be made anew by who restores them one after the other.
    act /usr/bin/python3 "$HERE/restored_marks.py" "$DOCUMENTS/directory" "$PLIST" "$ROBOTS"
    excluded "$DOCUMENTS/directory"
}

case_every_form_of_the_mark_is_the_same() {
    start
    forms
    # The owner may, whatever the mode says of writing.
    echo text >"$DOCUMENTS/read-only"
    chmod 400 "$DOCUMENTS/read-only"
    chattr +d "$DOCUMENTS/read-only"
    excluded "$DOCUMENTS/read-only"
    mkdir -m 500 "$DOCUMENTS/closed"
    chattr +d "$DOCUMENTS/closed"
    excluded "$DOCUMENTS/closed"
    chattr -d "$DOCUMENTS/closed"
    not_excluded "$DOCUMENTS/closed"
    same "$(stat -c %a "$DOCUMENTS/read-only" "$DOCUMENTS/closed" | tr '\n' ' ')" "400 500 " "the modes"
    # On the host it is one attribute, and no flag.
    same "$(getfattr --absolute-names -d -m - "$(backing)/Documents/file" | grep -c backup)" 1 "what the host has"
    contains "$(lsattr -d "$(backing)/Documents/file" | cut -d' ' -f1)" -
    [[ $(lsattr -d "$(backing)/Documents/file" | cut -d' ' -f1) != *d* ]] || fail "the host has the flag"
    again
    excluded "$DOCUMENTS/file" "$DOCUMENTS/directory" "$DOCUMENTS/read-only"
    not_excluded "$DOCUMENTS"
}

# Positions in directories and flags of inodes are each host's own.
hostcase_marks_and_tags_on_any_host() {
    local host list
    for host in ext4 xfs btrfs tmpfs; do
        DEVICE=$HOSTS/$host/${WORK##*/}-device
        start
        echo text >"$DOCUMENTS/file"
        chattr +d "$DOCUMENTS/file"
        excluded "$DOCUMENTS/file"
        setfattr -x "$MOBILE" "$DOCUMENTS/file"
        not_excluded "$DOCUMENTS/file"
        appcontainer exclude "$DOCUMENTS/file"
        appcontainer unmount "$MOUNT"
        appcontainer mount "$DEVICE" "$APP" "$MOUNT" --cachedir-tag
        excluded "$DOCUMENTS/file" "$MOUNT/tmp"
        seq 3000 | split -l 1 -a 4 -d - "$MOUNT/tmp/file-"
        /usr/bin/python3 "$KIT/exclusion.py" tag "$MOUNT/tmp/CACHEDIR.TAG"
        list=$(find "$MOUNT/tmp" -mindepth 1 -printf '%f\n' | sort)
        same "$(wc -l <<<"$list")" 3001 "names in tmp on $host"
        same "$(uniq -d <<<"$list")" "" "names that come twice"
        rm -r "$MOUNT"/tmp/file-*
        same "$(ls -A "$MOUNT/tmp")" CACHEDIR.TAG "what is left on $host"
        stop
    done
}

rootoncecase_every_form_of_the_mark_is_the_same_for_the_containers_user() {
    as_container_user
    forms
    # Not for others.
    AS=nobody
    expect <<TABLE
EACCES  setxattr $DOCUMENTS/file $APPLE x
EACCES  setxattr $DOCUMENTS/file $ROBOTS true
EACCES  removexattr $DOCUMENTS/file $PLIST
EPERM   setflags $DOCUMENTS/file -d
TABLE
}

places() {
    act sh -c "echo x >'$MOUNT/tmp/file'; mkdir '$MOUNT/Library/Caches/directory'; echo x >'$MOUNT/Library/Caches/directory/file'"
    local node name
    for node in "$MOUNT/Library/Caches" "$MOUNT/tmp" "$(bundle)" "$MOUNT/iCloud"; do
        # iCloud is put together by the mount, and its mode is not the app's.
        for name in "$APPLE" "$PLIST" "$MOBILE" "$ROBOTS"; do
            [ "$node" = "$MOUNT/iCloud" ] && [ -n "${AS-}" ] || expect <<TABLE
ok      setxattr $node $name false
EPERM   removexattr $node $name
TABLE
        done
        excluded "$node"
        same "$(backup_of "$node")" excluded "the attribute of $node"
    done
    for node in "$MOUNT/Library/Caches" "$MOUNT/tmp" "$(bundle)"; do
        expect <<TABLE
EPERM   setxattr $node $ROBOTS true
EPERM   setxattr $node $MOBILE 0
EINVAL  setxattr $node $ROBOTS else
ok      setflags $node +d
EPERM   setflags $node -d
ok      listxattr $node
TABLE
        refused act setfattr -x "$APPLE" "$node"
        excluded "$node"
    done
    excluded "$MOUNT/.com.apple.mobile_container_manager.metadata.plist"
    # Their content bears no mark, and is in no backup all the same.
    not_excluded "$MOUNT/tmp/file" "$MOUNT/Library/Caches/directory" "$(bundle)/Info.plist"
    same "$(backup_of "$MOUNT/tmp/file")" excluded-by:tmp
    same "$(backup_of "$MOUNT/Library/Caches/directory/file")" excluded-by:Library/Caches
    same "$(backup_of "$(bundle)/Info.plist")" excluded-by:Notes.app
    same "$(backup_of "$MOUNT/iCloud/iCloud.com.example.Notes")" excluded-by:iCloud
    act chattr +d "$MOUNT/tmp/file"
    excluded "$MOUNT/tmp/file"
    same "$(backup_of "$MOUNT/tmp/file")" excluded
    expect <<TABLE
EPERM   setxattr $(bundle)/Info.plist $APPLE x
EPERM   setflags $(bundle)/Info.plist +d
EPERM   setxattr $MOUNT $APPLE x
EPERM   setxattr $MOUNT/.com.apple.mobile_container_manager.metadata.plist $APPLE x
EPERM   removexattr $MOUNT/.com.apple.mobile_container_manager.metadata.plist $APPLE
EPERM   setflags $MOUNT/.com.apple.mobile_container_manager.metadata.plist -d
ok      getxattr $MOUNT/.com.apple.mobile_container_manager.metadata.plist $BACKUP excluded
ok      getxattr $MOUNT $BACKUP included
ok      getxattr $MOUNT/Groups/group.com.example.notes $BACKUP included
TABLE
}

case_entries_never_in_a_backup_answer_as_excluded() {
    start --group group.com.example.notes --icloud iCloud.com.example.Notes
    places
    [ "$(rules neverInBackup)" -ge 4 ] || fail "no events of the rule"
    contains "$(appcontainer explain "$DEVICE")" "are never in a backup"
}

rootcase_entries_never_in_a_backup_answer_as_excluded_to_the_containers_user() {
    as_container_user --group group.com.example.notes --icloud iCloud.com.example.Notes
    places
}

case_an_excluded_directory_keeps_out_what_is_in_it() {
    start --group group.com.example.notes
    mkdir -p "$DOCUMENTS/outer/inner"
    echo x >"$DOCUMENTS/outer/inner/file"
    ln -s file "$DOCUMENTS/outer/inner/link"
    same "$(backup_of "$DOCUMENTS/outer/inner/file")" included
    chattr +d "$DOCUMENTS/outer/inner"
    same "$(backup_of "$DOCUMENTS/outer/inner/file")" excluded-by:Documents/outer/inner
    same "$(backup_of "$DOCUMENTS/outer")" included
    # The outermost is where a backup stops.
    chattr +d "$DOCUMENTS/outer"
    same "$(backup_of "$DOCUMENTS/outer/inner/file")" excluded-by:Documents/outer
    not_excluded "$DOCUMENTS/outer/inner/file"
    same "$(appcontainer inspect --json "$DOCUMENTS/outer/inner/link" | json 0 backup)" excluded-by:Documents/outer
    mkdir "$MOUNT/Groups/group.com.example.notes/cache"
    echo x >"$MOUNT/Groups/group.com.example.notes/cache/file"
    setfattr -n "$ROBOTS" -v false "$MOUNT/Groups/group.com.example.notes/cache"
    same "$(backup_of "$MOUNT/Groups/group.com.example.notes/cache/file")" excluded-by:Groups/group.com.example.notes/cache
    # Not any more where it was taken out of it.
    mv "$DOCUMENTS/outer/inner/file" "$DOCUMENTS/file"
    same "$(backup_of "$DOCUMENTS/file")" included
    mv "$DOCUMENTS/outer" "$MOUNT/Library/outer"
    same "$(backup_of "$MOUNT/Library/outer/inner")" excluded
    same "$(backup_of "$MOUNT/Library/outer")" excluded
}

case_the_inbox_is_marked_by_nobody() {
    start
    echo mail >mail.txt
    appcontainer deliver "$DEVICE" "$APP" mail.txt
    local inbox=$DOCUMENTS/Inbox
    not_excluded "$inbox" "$inbox/mail.txt"
    expect <<TABLE
EPERM   setxattr $inbox/mail.txt $APPLE x
EPERM   setxattr $inbox/mail.txt $ROBOTS false
EPERM   setxattr $inbox $PLIST x
EPERM   setflags $inbox/mail.txt +d
ok      setflags $inbox/mail.txt -d
ok      getxattr $inbox/mail.txt $BACKUP included
TABLE
    chattr +d "$DOCUMENTS"
    same "$(backup_of "$inbox/mail.txt")" excluded-by:Documents
    mv "$inbox/mail.txt" "$MOUNT/Library/mail.txt"
    chattr +d "$MOUNT/Library/mail.txt"
    excluded "$MOUNT/Library/mail.txt"
}

case_explain_names_exclude_where_chattr_is_refused() {
    start_protected
    echo secret >"$DOCUMENTS/file"
    appcontainer protect complete "$DOCUMENTS/file"
    appcontainer lock "$DEVICE" --now
    ! chattr +d "$DOCUMENTS/file" 2>"$WORK/said" || fail "the flag of a closed file was set"
    contains "$(appcontainer explain "$DEVICE" --last 1)" "whatever the state: appcontainer exclude"
    appcontainer exclude "$DOCUMENTS/file"
    same "$(backup_of "$DOCUMENTS/file")" excluded
    # Of another program's refusal that is no advice.
    ! cat "$DOCUMENTS/file" 2>"$WORK/said" || fail "a closed file was read"
    ! appcontainer explain "$DEVICE" --last 1 | grep -q exclude || fail "it names exclude to cat"
}

case_a_mark_goes_with_the_file_and_not_with_the_name() {
    start_protected
    classed complete "$DOCUMENTS/secret"
    echo one >"$DOCUMENTS/file"
    echo secret >"$DOCUMENTS/secret/file"
    chattr +d "$DOCUMENTS/file" "$DOCUMENTS/secret/file"
    echo two >"$DOCUMENTS/file"
    echo three >>"$DOCUMENTS/file"
    truncate -s 100 "$DOCUMENTS/file"
    excluded "$DOCUMENTS/file"
    mv "$DOCUMENTS/file" "$MOUNT/Library/file"
    ln "$MOUNT/Library/file" "$DOCUMENTS/linked"
    excluded "$MOUNT/Library/file" "$DOCUMENTS/linked"
    # An atomic save puts another file under the name.
    echo four >"$DOCUMENTS/.saved"
    mv "$DOCUMENTS/.saved" "$DOCUMENTS/linked"
    not_excluded "$DOCUMENTS/linked"
    excluded "$MOUNT/Library/file"
    # A user who cannot read a file can tell that it is excluded, and exclude it.
    appcontainer lock "$DEVICE" --now
    excluded "$DOCUMENTS/secret/file"
    setfattr -x "$APPLE" "$DOCUMENTS/secret/file"
    not_excluded "$DOCUMENTS/secret/file"
    appcontainer exclude "$DOCUMENTS/secret/file"
    refused lsattr "$DOCUMENTS/secret/file"
    unlock
    excluded "$DOCUMENTS/secret/file"
    appcontainer restart "$DEVICE"
    unlock
    excluded "$DOCUMENTS/secret/file" "$MOUNT/Library/file"
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    excluded "$DOCUMENTS/secret/file" "$MOUNT/Library/file"
    stop
    appcontainer clone "$DEVICE" "$WORK/clone"
    mkdir other
    appcontainer mount "$WORK/clone" "$APP" "$WORK/other" --passcode-file "$CODE"
    excluded "$WORK/other/Library/file"
    appcontainer unmount "$WORK/other"
    appcontainer shutdown "$WORK/clone"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file "$CODE"
    excluded "$DOCUMENTS/secret/file"
}

case_exclude_and_include() {
    start
    mkdir -p "$DOCUMENTS/cache/deep"
    echo x >"$DOCUMENTS/one"
    echo x >"$DOCUMENTS/two"
    echo x >"$DOCUMENTS/cache/deep/file"
    ln -s one "$DOCUMENTS/link"
    echo mail >mail.txt
    appcontainer deliver "$DEVICE" "$APP" mail.txt
    same "$(appcontainer exclude "$DOCUMENTS/one" "$DOCUMENTS/cache" 2>&1)" "" "words"
    excluded "$DOCUMENTS/one" "$DOCUMENTS/cache"
    appcontainer exclude "$DOCUMENTS/one"
    contains "$(appcontainer inspect "$DOCUMENTS/cache/deep/file")" "Backup:       excluded-by:Documents/cache"
    contains "$(appcontainer inspect "$DOCUMENTS/two")" "Backup:       included"
    appcontainer inspect --json "$DOCUMENTS/one" "$DOCUMENTS/cache/deep/file" "$MOUNT/tmp" >said
    same "$(json 0 backup <said) $(json 0 excluded <said)" "excluded True"
    same "$(json 1 backup <said) $(json 1 excluded <said)" "excluded-by:Documents/cache False"
    same "$(json 2 backup <said) $(json 2 excluded <said)" "excluded True"
    # A file in an excluded directory is told to stay out.
    contains "$(appcontainer include "$DOCUMENTS/cache/deep/file" 2>&1)" "stays out of backups with Documents/cache"
    appcontainer include "$DOCUMENTS/one" "$DOCUMENTS/cache" "$DOCUMENTS/two"
    not_excluded "$DOCUMENTS/one" "$DOCUMENTS/cache" "$DOCUMENTS/two"
    # The places that are never in a backup: what they are is no failure, what they cannot be is.
    appcontainer exclude "$MOUNT/tmp" "$MOUNT/Library/Caches" "$(bundle)"
    local place
    for place in "$MOUNT/tmp" "$MOUNT/Library/Caches" "$(bundle)"; do
        complains 23 appcontainer include "$place"
        contains "$(cat .err)" "never in a backup"
    done
    complains 23 appcontainer exclude "$(bundle)/Info.plist"
    complains 23 appcontainer exclude "$DOCUMENTS/Inbox/mail.txt"
    complains 36 appcontainer exclude "$DOCUMENTS/link"
    complains 26 appcontainer exclude "$DOCUMENTS/none"
    complains 25 appcontainer exclude "$WORK/mail.txt"
    complains 25 appcontainer include "$WORK/mail.txt"
    # One that fails does not keep the others from it.
    local status=0
    appcontainer exclude "$DOCUMENTS/none" "$DOCUMENTS/two" 2>/dev/null || status=$?
    same "$status" 26 "the exit status"
    excluded "$DOCUMENTS/two"
    complains 64 appcontainer exclude
    appcontainer unmount "$MOUNT"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --read-only
    excluded "$DOCUMENTS/two"
    complains 23 appcontainer include "$DOCUMENTS/two"
    contains "$(cat .err)" "Read-only file system"
    contains "$(fails setfattr -x "$PLIST" "$DOCUMENTS/two")" "Read-only file system"
}
