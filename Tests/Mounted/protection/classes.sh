# Protection classes: read, set and inherited as attributes, carried along by tools, changed by `protect`.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

CLASS=user.appcontainer.protection
A=NSFileProtectionComplete
B=NSFileProtectionCompleteUnlessOpen
C=NSFileProtectionCompleteUntilFirstUserAuthentication
D=NSFileProtectionNone

class() { getfattr --absolute-names --only-values -n "$CLASS" "$1"; }

# Every file and directory below a directory, with its class.
classes() {
    (cd "$1" && find . \( -type f -o -type d \) | sort | while read -r path; do echo "$path $(class "$path")"; done)
}

attribute_rules() {
    attribute_rules_of_nodes
    attribute_rules_of_what_the_app_did_not_make
}

attribute_rules_of_nodes() {
    act sh -c "echo text >'$DOCUMENTS/file'; mkdir '$DOCUMENTS/directory'; ln -s file '$DOCUMENTS/link'
        mkfifo '$DOCUMENTS/fifo'"
    local node
    for node in "$DOCUMENTS/file" "$DOCUMENTS/directory" "$DOCUMENTS" "$MOUNT/Library/Caches"; do
        expect <<TABLE
ok      getxattr $node $CLASS $C
ok      listxattr $node
ok      setxattr $node $CLASS $A
ok      getxattr $node $CLASS $A
ok      listxattr $node $CLASS
ok      setxattr $node $CLASS $B
ok      setxattr $node $CLASS $D
ok      getxattr $node $CLASS $D
EINVAL  setxattr $node $CLASS ''
EINVAL  setxattr $node $CLASS A
EINVAL  setxattr $node $CLASS complete
EINVAL  setxattr $node $CLASS nsfileprotectionnone
EINVAL  setxattr $node $CLASS '$A '
EINVAL  setxattr $node $CLASS ' $A'
EINVAL  setxattr $node $CLASS ${A}x
EINVAL  setxattr $node $CLASS *60000
EPERM   setxattr $node user.appcontainer.other x
EPERM   setxattr $node user.appcontainer.protection2 $A
ok      getxattr $node $CLASS $D
ok      removexattr $node $CLASS
ok      removexattr $node $CLASS
ok      getxattr $node $CLASS $C
ok      listxattr $node
TABLE
    done
    for node in "$DOCUMENTS/link" "$DOCUMENTS/fifo"; do
        expect <<TABLE
EPERM   setxattr $node $CLASS $A
ENODATA getxattr $node $CLASS
ok      listxattr $node
TABLE
    done
}

# Of the system, in the bundle, in the Inbox and in groups.
attribute_rules_of_what_the_app_did_not_make() {
    local node group=$MOUNT/Groups
    for node in "$MOUNT" "$MOUNT/Notes.app" "$MOUNT/Notes.app/Info.plist"; do
        expect <<TABLE
EPERM   setxattr $node $CLASS $C
EPERM   removexattr $node $CLASS
ENODATA getxattr $node $CLASS
ok      listxattr $node
TABLE
    done
    node=$MOUNT/.com.apple.mobile_container_manager.metadata.plist
    expect <<TABLE
ok      getxattr $node $CLASS $D
ok      listxattr $node
EPERM   setxattr $node $CLASS $D
EPERM   setxattr $node $CLASS $A
EPERM   removexattr $node $CLASS
ok      getxattr $DOCUMENTS/Inbox/letter $CLASS $C
EPERM   setxattr $DOCUMENTS/Inbox/letter $CLASS $C
EPERM   setxattr $DOCUMENTS/Inbox/letter $CLASS $A
EPERM   setxattr $DOCUMENTS/Inbox/letter $CLASS A
EPERM   removexattr $DOCUMENTS/Inbox/letter $CLASS
EPERM   setxattr $DOCUMENTS/Inbox $CLASS $A
ENODATA getxattr $group $CLASS
EPERM   setxattr $group $CLASS $A
ok      getxattr $group/group.com.example.notes $CLASS $C
ok      setxattr $group/group.com.example.notes $CLASS $A
ok      listxattr $group/group.com.example.notes $CLASS
ok      open $group/group.com.example.notes/new excl
ok      getxattr $group/group.com.example.notes/new $CLASS $A
ok      listxattr $group/group.com.example.notes/new
TABLE
}
case_protection_classes_are_attributes() {
    start --group group.com.example.notes
    echo dear >letter
    appcontainer deliver "$DEVICE" "$APP" letter
    attribute_rules
}
rootcase_protection_classes_are_attributes_for_an_apps_user_on_roots_daemon() {
    as_container_user --group group.com.example.notes
    echo dear >letter
    appcontainer deliver "$DEVICE" "$APP" letter
    attribute_rules
}

case_a_new_entry_takes_its_directorys_class() {
    start
    mkdir "$DOCUMENTS/secret"
    echo before >"$DOCUMENTS/secret/before"
    setfattr -n $CLASS -v $A "$DOCUMENTS/secret"
    mkdir -p "$DOCUMENTS/secret/a/b"
    echo after >"$DOCUMENTS/secret/a/b/after"
    git init -q "$DOCUMENTS/secret/git"
    same "$(class "$DOCUMENTS/secret/before")" $C
    same "$(classes "$DOCUMENTS/secret" | grep -vc " $A\$")" 1 "files of another class"
    mv "$DOCUMENTS/secret/a" "$DOCUMENTS/a"
    mv "$DOCUMENTS/secret/git/.git/HEAD" "$DOCUMENTS/HEAD"
    again
    # Classes stay where they went, and go on being given.
    echo later >"$DOCUMENTS/a/later"
    for path in HEAD a a/b a/b/after a/later secret/git secret/git/.git/config; do
        same "$(class "$DOCUMENTS/$path")" $A "$path"
    done
    setfattr -n $CLASS -v $C "$DOCUMENTS/a"
    echo new >"$DOCUMENTS/a/new"
    same "$(class "$DOCUMENTS/a/new")" $C
    expect <<TABLE
ok listxattr $DOCUMENTS/HEAD $CLASS
ok listxattr $DOCUMENTS/a
ok listxattr $DOCUMENTS/a/new
ok listxattr $DOCUMENTS/a/b $CLASS
ok listxattr $DOCUMENTS/a/b/after
ok listxattr $DOCUMENTS/secret $CLASS
ok listxattr $DOCUMENTS/secret/before $CLASS
TABLE
    same "$(cat "$DOCUMENTS/a/b/after")" after
    whole
}

case_a_class_changes_with_the_file_open() {
    start
    head -c 3000000 /dev/urandom >big
    exec 5>"$DOCUMENTS/big"
    exec 6<"$DOCUMENTS/big"
    head -c 1500000 big >&5
    setfattr -n $CLASS -v $B "$DOCUMENTS/big"
    tail -c +1500001 big >&5
    setfattr -n $CLASS -v $A "$DOCUMENTS/big"
    cmp - big <&6
    rm "$DOCUMENTS/big"
    exec 5>&- 6<&-
    cp big "$DOCUMENTS/kept"
    chmod 4755 "$DOCUMENTS/kept"
    touch -d '2001-02-03 04:05:06.789' "$DOCUMENTS/kept"
    before=$(stat -c '%a %Y %y %s' "$DOCUMENTS/kept")
    appcontainer protect complete-unless-open "$DOCUMENTS/kept"
    same "$(stat -c '%a %Y %y %s' "$DOCUMENTS/kept")" "$before"
    again
    same "$(stat -c '%a %Y %y %s' "$DOCUMENTS/kept")" "$before"
    same "$(class "$DOCUMENTS/kept")" $B
    cmp big "$DOCUMENTS/kept"
    whole
}

# A tree of every class, in directories of every class.
mixed_tree() {
    local directory file
    for directory in complete complete-unless-open until-first-unlock none; do
        mkdir "$1/$directory"
        appcontainer protect $directory "$1/$directory"
        echo plain >"$1/$directory/plain"
        for file in complete complete-unless-open until-first-unlock none; do
            echo $file >"$1/$directory/$file"
            appcontainer protect $file "$1/$directory/$file"
        done
    done
}

case_copies_carry_classes_along() {
    start
    mkdir "$DOCUMENTS/tree" "$DOCUMENTS/back"
    mixed_tree "$DOCUMENTS/tree"
    wanted=$(classes "$DOCUMENTS/tree")
    # rsync gives a directory its attributes before its files: all classes are kept, within a mount and through another
    # filesystem.
    rsync -aX "$DOCUMENTS/tree/" "$DOCUMENTS/within/"
    same "$(classes "$DOCUMENTS/within")" "$wanted" "rsync within the mount"
    rsync -aX "$DOCUMENTS/tree/" out/
    rsync -aX out/ "$DOCUMENTS/back/rsync/"
    same "$(classes "$DOCUMENTS/back/rsync")" "$wanted" "rsync out and back"
    same_tree out "$DOCUMENTS/tree"
    # cp and tar give a directory's attributes last: what is not listed gets the class of the place it comes to.
    unlisted() { grep -v '/plain ' | grep -vE '/(complete|complete-unless-open|none)/\1 '; }
    cp -a "$DOCUMENTS/tree" "$DOCUMENTS/cp"
    same "$(classes "$DOCUMENTS/cp" | unlisted)" "$(unlisted <<<"$wanted")" "cp -a within the mount"
    cp -a "$DOCUMENTS/tree" cp
    cp -a cp "$DOCUMENTS/back/cp"
    same "$(classes "$DOCUMENTS/back/cp" | unlisted)" "$(unlisted <<<"$wanted")" "cp -a out and back"
    tar --xattrs --xattrs-include='*' -C "$DOCUMENTS/tree" -cf tree.tar .
    mkdir "$DOCUMENTS/back/tar"
    tar --xattrs --xattrs-include='*' -C "$DOCUMENTS/back/tar" -xf tree.tar
    same "$(classes "$DOCUMENTS/back/tar" | unlisted)" "$(unlisted <<<"$wanted")" "tar out and back"
    same "$(class "$DOCUMENTS/back/cp/complete/plain")" $C "a file of the directory's class"
    same_content "$DOCUMENTS/tree" out
}

case_protect_changes_classes() {
    start
    mkdir -p "$DOCUMENTS/d/e"
    echo 1 >"$DOCUMENTS/d/f"
    echo 2 >"$DOCUMENTS/d/e/g"
    ln -s ../f "$DOCUMENTS/d/e/link"
    ln -s /etc "$DOCUMENTS/d/etc"
    mkfifo "$DOCUMENTS/d/fifo"
    same "$(appcontainer protect complete "$DOCUMENTS/d" 2>&1)" ""
    same "$(classes "$DOCUMENTS/d" | awk '{ print $2 }' | sort | uniq -c | tr -s ' ')" " 1 $A
 3 $C"
    same "$(appcontainer protect -R none "$DOCUMENTS/d" 2>&1)" ""
    same "$(classes "$DOCUMENTS/d" | grep -vc " $D\$" || true)" 0 "of another class"
    same "$(getfattr -d -m - -R --absolute-names "$DOCUMENTS/d" | grep -c "$CLASS")" 1 "listed"
    appcontainer protect --recursive $B "$DOCUMENTS/d/f" "$DOCUMENTS/d/e"
    same "$(class "$DOCUMENTS/d/f") $(class "$DOCUMENTS/d/e/g")" "$B $B"
    same "$(appcontainer inspect --json "$DOCUMENTS/d" | json 0 protection)" $D
    same "$(appcontainer inspect --json "$DOCUMENTS/d/f" | json 0 protection)" $B
    complains 64 appcontainer protect secret "$DOCUMENTS/d"
    contains "$(cat .err)" "complete, complete-unless-open, until-first-unlock or none"
    complains 64 appcontainer protect complete
    complains 25 appcontainer protect complete "$WORK"
    complains 26 appcontainer protect complete "$DOCUMENTS/missing"
    complains 36 appcontainer protect complete "$DOCUMENTS/d/fifo"
    complains 36 appcontainer protect complete "$DOCUMENTS/d/e/link"
    complains 23 appcontainer protect complete "$MOUNT/Notes.app"
    complains 23 appcontainer protect complete "$MOUNT"
    # An attribute is the business of whoever may write.
    if [ "$(id -u)" != 0 ]; then
        chmod 444 "$DOCUMENTS/d/f"
        complains 23 appcontainer protect complete "$DOCUMENTS/d/f"
        contains "$(cat .err)" "its mode"
        chmod 644 "$DOCUMENTS/d/f"
    fi
    # The first failure decides, and the rest is done.
    status=0
    appcontainer protect complete "$DOCUMENTS/missing" "$DOCUMENTS/d/fifo" "$DOCUMENTS/d/f" 2>said || status=$?
    same "$status $(wc -l <said)" "26 2"
    same "$(class "$DOCUMENTS/d/f")" $A
    status=0
    appcontainer protect -R none "$MOUNT" 2>said || status=$?
    same "$status $(grep -vcE "$MOUNT(/Notes.app.*|/.com.apple.*)?:" said || true)" "23 0"
    same "$(class "$DOCUMENTS") $(class "$MOUNT/Library/Caches") $(class "$DOCUMENTS/d/f")" "$D $D $D"
    # In the Inbox nothing is set, and what has the class already is passed over.
    echo letter >mail
    appcontainer deliver "$DEVICE" "$APP" mail
    same "$(appcontainer protect -R until-first-unlock "$DOCUMENTS" 2>&1)" ""
    refused setfattr -n "$CLASS" -v $C "$DOCUMENTS/Inbox/mail"
    complains 23 appcontainer protect none "$DOCUMENTS/Inbox/mail"
    same "$(cat "$DOCUMENTS/Inbox/mail")" letter "read after that"
    mv "$DOCUMENTS/Inbox/mail" "$DOCUMENTS/mail"
    same "$(cat "$DOCUMENTS/mail")" letter "read where it was moved"
}

case_classes_before_the_first_unlock() {
    echo secret >code
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE" --passcode-file code
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file code
    mixed_tree "$DOCUMENTS"
    stop
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    expect <<TABLE
ok    getxattr $DOCUMENTS/complete/plain $CLASS $A
ok    listxattr $DOCUMENTS/complete/none $CLASS
EPERM open $DOCUMENTS/complete/new excl
EPERM open $DOCUMENTS/until-first-unlock/new excl
ok    open $DOCUMENTS/complete-unless-open/new excl
ok    open $DOCUMENTS/none/new excl
ok    list $DOCUMENTS/complete plain complete complete-unless-open until-first-unlock none
ok    read $DOCUMENTS/complete/none none
EPERM open $DOCUMENTS/complete-unless-open/new r
ok    mkdir $DOCUMENTS/complete/directory
ok    getxattr $DOCUMENTS/complete/directory $CLASS $A
ok    setxattr $DOCUMENTS/complete/directory $CLASS $D
ok    open $DOCUMENTS/complete/directory/new excl
EPERM setxattr $DOCUMENTS/none/complete $CLASS $D
EPERM setxattr $DOCUMENTS/none/until-first-unlock $CLASS $B
EPERM setxattr $DOCUMENTS/none/plain $CLASS $C
EPERM removexattr $DOCUMENTS/complete/none $CLASS
ok    setxattr $DOCUMENTS/none/plain $CLASS $D
ok    setxattr $DOCUMENTS/none/complete $CLASS $A
ok    setxattr $DOCUMENTS/none/none $CLASS $B
ok    getxattr $DOCUMENTS/none/none $CLASS $B
EPERM open $DOCUMENTS/none/none r
EPERM setxattr $DOCUMENTS/none/none $CLASS $D
TABLE
    same "$(appcontainer inspect --json "$DOCUMENTS/none/plain" | json 0 readable)" True
    same "$(appcontainer inspect --json "$DOCUMENTS/none/complete" | json 0 readable)" False
    complains 23 appcontainer protect none "$DOCUMENTS/complete/plain"
    contains "$(cat .err)" "the device is locked"
    appcontainer unlock "$DEVICE" --passcode-file code
    expect <<TABLE
ok read $DOCUMENTS/none/none none
ok read $DOCUMENTS/complete/plain plain
ok open $DOCUMENTS/complete/new excl
ok setxattr $DOCUMENTS/none/none $CLASS $D
TABLE
    whole
}
