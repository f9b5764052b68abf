# The rules of the sandbox, call by call: what each part of the home allows, and with which errno it refuses.
# Each table is tried as root, by an ordinary user's own daemon, and by an ordinary user on root's daemon.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

bundle_rules() {
    bundle=$MOUNT/Notes.app
    act sh -c "echo mine >'$DOCUMENTS/mine'; mkdir '$DOCUMENTS/folder'"
    expect <<TABLE
ok    open $bundle/Info.plist r
ok    read $bundle/Samples/Welcome.txt 'Welcome to Notes.'
ok    readlink $bundle/FirstNote.txt Samples/Welcome.txt
ok    read $bundle/FirstNote.txt 'Welcome to Notes.'
ok    list $bundle FirstNote.txt Info.plist Notes Samples _CodeSignature en.lproj
ok    owner $bundle/Info.plist $(owner)
ok    owner $bundle $(owner)
ok    access $bundle/Info.plist w
EPERM open $bundle/Info.plist w
EPERM open $bundle/Info.plist rw
EPERM open $bundle/Info.plist a
EPERM open $bundle/Info.plist trunc
EPERM open $bundle/Info.plist rtrunc
EPERM open $bundle/new creat
EPERM open $bundle/Samples/new excl
EPERM truncate $bundle/Info.plist 0
EPERM truncate $bundle/Info.plist 100000
EPERM unlink $bundle/Info.plist
EPERM unlink $bundle/FirstNote.txt
EPERM rmdir $bundle/Samples
EPERM mkdir $bundle/new
EPERM symlink x $bundle/new
EPERM mkfifo $bundle/new
EPERM link $DOCUMENTS/mine $bundle/new
EPERM link $bundle/Info.plist $DOCUMENTS/linked
EPERM rename $bundle/Info.plist $bundle/Other.plist
EPERM rename $bundle/Info.plist $DOCUMENTS/taken
EPERM rename $DOCUMENTS/mine $bundle/given
EPERM rename $DOCUMENTS/mine $bundle/Info.plist
EPERM exchange $DOCUMENTS/mine $bundle/Info.plist
EPERM exchange $bundle/Info.plist $DOCUMENTS/mine
EPERM rename $bundle/Samples $DOCUMENTS/taken
EPERM rename $bundle $DOCUMENTS/Notes.app
EPERM rename $bundle $MOUNT/Other.app
EPERM rmdir $bundle
EPERM chmod 600 $bundle/Info.plist
EPERM chmod 700 $bundle
EPERM chown $bundle/Info.plist $(owner)
EPERM utimes $bundle/Info.plist
EPERM setxattr $bundle/Info.plist user.note x
EPERM setxattr $bundle/Info.plist com.apple.note x
EPERM setflags $bundle/Info.plist +d
ENODATA getxattr $bundle/Info.plist user.note
ok    stat $bundle/Info.plist
TABLE
    [ $(($(stat -c '0%a' "$bundle/Info.plist") & 0200)) != 0 ] || fail "the owner's write bit is not shown"
    diff -r --exclude _CodeSignature "$BASE/Notes.app" "$bundle"
    same "$(act "$bundle/Notes" list)" "" "the executable runs"
}
case_the_bundle_is_sealed() { start; bundle_rules; again; diff -r --exclude _CodeSignature "$BASE/Notes.app" "$MOUNT/Notes.app"; }
rootcase_the_bundle_is_sealed_for_its_user_on_roots_daemon() { as_container_user; bundle_rules; }

top_level_rules() {
    act sh -c "echo mine >'$DOCUMENTS/mine'; mkdir '$MOUNT/Library/folder'"
    expect <<TABLE
ok    list $MOUNT Notes.app Documents Library tmp .com.apple.mobile_container_manager.metadata.plist
ok    list $MOUNT/Library Caches Preferences folder
ok    list $MOUNT/tmp
EPERM open $MOUNT/new creat
EPERM open $MOUNT/new excl
EPERM mkdir $MOUNT/new
EPERM symlink Documents $MOUNT/new
EPERM mkfifo $MOUNT/new
EPERM mksocket $MOUNT/new
EPERM link $DOCUMENTS/mine $MOUNT/new
EPERM rename $DOCUMENTS/mine $MOUNT/new
EPERM rename $DOCUMENTS $MOUNT/Papers
EPERM exchange $DOCUMENTS $MOUNT/Library
EPERM exchange $DOCUMENTS $MOUNT/Library/folder
EPERM exchange $MOUNT/Library/folder $MOUNT/tmp
EPERM rename $MOUNT/Library/folder $MOUNT/tmp
EPERM rename $MOUNT/tmp $DOCUMENTS/tmp
ok    stat $MOUNT/tmp
TABLE
}
case_nothing_is_made_at_the_top_level() { start; top_level_rules; }
rootcase_nothing_is_made_at_the_top_level_by_its_user_on_roots_daemon() { as_container_user; top_level_rules; }

standard_directory_rules() {
    expect <<TABLE
EPERM rmdir $DOCUMENTS
EPERM rmdir $MOUNT/tmp
EPERM rmdir $MOUNT/Library
EPERM rmdir $MOUNT/Library/Caches
EPERM rmdir $MOUNT/Library/Preferences
EPERM rename $MOUNT/Library/Caches $MOUNT/Library/Caches2
EPERM rename $MOUNT/Library/Caches $DOCUMENTS/Caches
EPERM rename $MOUNT/Library/Preferences $MOUNT/tmp/Preferences
ENOENT stat '$MOUNT/Library/Application Support'
ok    mkdir '$MOUNT/Library/Application Support'
ok    rmdir '$MOUNT/Library/Application Support'
ok    mkdir $DOCUMENTS/a
ok    mkdir $DOCUMENTS/a/b
ok    open $DOCUMENTS/a/b/f excl
ok    rename $DOCUMENTS/a $MOUNT/Library/Caches/a
ok    rename $MOUNT/Library/Caches/a $MOUNT/tmp/a
ok    rename $MOUNT/tmp/a $MOUNT/Library/Preferences/a
ok    unlink $MOUNT/Library/Preferences/a/b/f
ok    rmdir $MOUNT/Library/Preferences/a/b
ok    rmdir $MOUNT/Library/Preferences/a
ok    mkdir $MOUNT/Library/Empty
EPERM rename $MOUNT/Library/Empty $MOUNT/Library/Caches
EPERM exchange $MOUNT/Library/Empty $MOUNT/Library/Caches
ok    chmod 700 $MOUNT/Library/Caches
ok    utimes $MOUNT/Library/Caches
ok    setxattr $MOUNT/Library/Caches user.note x
ok    removexattr $MOUNT/Library/Caches user.note
TABLE
}
case_standard_directories_stay() { start; standard_directory_rules; }
rootcase_standard_directories_stay_for_their_user_on_roots_daemon() { as_container_user; standard_directory_rules; }

metadata_rules() {
    plist=$MOUNT/.com.apple.mobile_container_manager.metadata.plist
    act sh -c "echo mine >'$DOCUMENTS/mine'"
    act /usr/bin/python3 "$HERE/container_metadata.py" "$plist"
    expect <<TABLE
ok    owner $plist $(owner)
ok    access $plist w
EPERM open $plist w
EPERM open $plist rw
EPERM open $plist rtrunc
EPERM truncate $plist 0
EPERM unlink $plist
EPERM rename $plist $DOCUMENTS/plist
EPERM rename $DOCUMENTS/mine $plist
EPERM exchange $DOCUMENTS/mine $plist
EPERM link $plist $DOCUMENTS/plist
EPERM chmod 600 $plist
EPERM utimes $plist
EPERM setxattr $plist user.note x
EPERM setflags $plist -d
TABLE
}
case_the_metadata_belongs_to_the_system() { start; metadata_rules; again; metadata_rules; }
rootcase_the_metadata_belongs_to_the_system_for_its_user_too() { as_container_user; metadata_rules; }

inbox_name_rules() {
    act sh -c "echo mine >'$DOCUMENTS/mine'; mkdir '$DOCUMENTS/folder' '$DOCUMENTS/sub'"
    expect <<TABLE
ENOENT stat $DOCUMENTS/Inbox
EPERM mkdir $DOCUMENTS/Inbox
EPERM open $DOCUMENTS/Inbox creat
EPERM open $DOCUMENTS/Inbox excl
EPERM symlink sub $DOCUMENTS/Inbox
EPERM mkfifo $DOCUMENTS/Inbox
EPERM mksocket $DOCUMENTS/Inbox
EPERM link $DOCUMENTS/mine $DOCUMENTS/Inbox
EPERM rename $DOCUMENTS/mine $DOCUMENTS/Inbox
EPERM rename $DOCUMENTS/folder $DOCUMENTS/Inbox
EPERM noreplace $DOCUMENTS/folder $DOCUMENTS/Inbox
ENOENT stat $DOCUMENTS/Inbox
ok    mkdir $DOCUMENTS/inbox
ok    mkdir $DOCUMENTS/sub/Inbox
ok    open $DOCUMENTS/sub/Inbox/f excl
ok    mkdir $MOUNT/Library/Inbox
ok    open $MOUNT/tmp/Inbox excl
TABLE
}
case_an_app_cannot_make_its_inbox() { start; inbox_name_rules; }
rootcase_an_apps_user_cannot_make_its_inbox_on_roots_daemon() { as_container_user; inbox_name_rules; }

inbox_rules() {
    inbox=$DOCUMENTS/Inbox
    full_inbox
    inbox_refusals
    inbox_is_emptied
}

full_inbox() {
    echo 'from a friend' >mail.txt
    cp mail.txt second.txt
    cp mail.txt third.txt
    mkdir album
    echo one >album/one
    echo two >album/two
    setfattr -n user.note -v x mail.txt
    appcontainer deliver "$DEVICE" "$APP" mail.txt second.txt third.txt album
    appcontainer deliver "$DEVICE" "$APP" mail.txt
    act sh -c "echo mine >'$DOCUMENTS/mine'; mkdir '$DOCUMENTS/folder'"
    expect <<TABLE
ok    list $inbox mail.txt mail-1.txt second.txt third.txt album
ok    read $inbox/mail.txt 'from a friend'
ok    read $inbox/mail-1.txt 'from a friend'
ok    read $inbox/album/one one
ok    owner $inbox $(owner)
ok    owner $inbox/mail.txt $(owner)
ok    access $inbox/mail.txt w
ENODATA getxattr $inbox/mail.txt user.missing
TABLE
}

inbox_refusals() {
    expect <<TABLE
EPERM open $inbox/new creat
EPERM open $inbox/new excl
EPERM mkdir $inbox/new
EPERM symlink x $inbox/new
EPERM mkfifo $inbox/new
EPERM mksocket $inbox/new
EPERM link $DOCUMENTS/mine $inbox/new
EPERM link $inbox/mail.txt $inbox/new
EPERM link $inbox/mail.txt $DOCUMENTS/new
EPERM rename $DOCUMENTS/mine $inbox/new
EPERM rename $DOCUMENTS/mine $inbox/mail.txt
EPERM rename $DOCUMENTS/folder $inbox/folder
EPERM rename $inbox/mail.txt $inbox/other.txt
EPERM rename $inbox/mail.txt $inbox/album/mail.txt
EPERM exchange $inbox/mail.txt $inbox/second.txt
EPERM exchange $inbox/mail.txt $DOCUMENTS/mine
EPERM exchange $DOCUMENTS/mine $inbox/mail.txt
EPERM open $inbox/mail.txt w
EPERM open $inbox/mail.txt rw
EPERM open $inbox/mail.txt a
EPERM open $inbox/mail.txt trunc
EPERM open $inbox/mail.txt rtrunc
EPERM open $inbox/album/new excl
EPERM mkdir $inbox/album/new
EPERM truncate $inbox/mail.txt 0
EPERM truncate $inbox/mail.txt 100000
EPERM chmod 600 $inbox/mail.txt
EPERM chmod 700 $inbox
EPERM chown $inbox/mail.txt $(owner)
EPERM utimes $inbox/mail.txt
EPERM setxattr $inbox/mail.txt user.note y
EPERM setxattr $inbox user.note y
EPERM setflags $inbox/mail.txt +d
EPERM rmdir $inbox
EPERM rename $inbox $DOCUMENTS/Outbox
EPERM rename $DOCUMENTS/folder $inbox
TABLE
}

# The app's own is what it has moved out, and the Inbox stays when it is empty.
inbox_is_emptied() {
    expect <<TABLE
ok    unlink $inbox/second.txt
ok    unlink $inbox/album/one
ENOTEMPTY rmdir $inbox/album
ok    rename $inbox/album/two $DOCUMENTS/two
ok    rmdir $inbox/album
ok    rename $inbox/third.txt $DOCUMENTS/mine
ok    rename $inbox/mail.txt $DOCUMENTS/mail.txt
ok    read $DOCUMENTS/mail.txt 'from a friend'
ok    write $DOCUMENTS/mail.txt FROM
ok    read $DOCUMENTS/mail.txt 'FROM a friend'
ok    write $DOCUMENTS/two more a
ok    setxattr $DOCUMENTS/mail.txt user.note z
ok    chmod 600 $DOCUMENTS/mail.txt
ok    unlink $inbox/mail-1.txt
ok    list $inbox
EPERM rmdir $inbox
TABLE
}
case_the_inbox_is_read_and_emptied_only() { start; inbox_rules; again; expect <<<"ok read $DOCUMENTS/mail.txt 'FROM a friend'"; whole; }
rootcase_the_inbox_is_read_and_emptied_only_by_its_user_on_roots_daemon() { as_container_user; inbox_rules; }

case_a_moved_directory_from_the_inbox_is_the_apps_own() {
    start
    mkdir -p album/inner
    echo one >album/inner/one
    appcontainer deliver "$DEVICE" "$APP" album
    expect <<TABLE
EPERM open $DOCUMENTS/Inbox/album/inner/one w
ok    rename $DOCUMENTS/Inbox/album $DOCUMENTS/album
ok    write $DOCUMENTS/album/inner/one ONE
ok    open $DOCUMENTS/album/inner/new excl
EPERM rename $DOCUMENTS/album $DOCUMENTS/Inbox/album
TABLE
    again
    expect <<<"ok read $DOCUMENTS/album/inner/one ONE"
}

attribute_rules() {
    act sh -c "echo x >'$DOCUMENTS/f'; mkdir '$DOCUMENTS/d'; ln -s f '$DOCUMENTS/soft'; mkfifo '$DOCUMENTS/fifo'"
    expect <<TABLE
ok    listxattr $DOCUMENTS/f
ok    setxattr $DOCUMENTS/f user.note one
ok    getxattr $DOCUMENTS/f user.note one
ok    setxattr $DOCUMENTS/f user.note one
ok    setxattr $DOCUMENTS/f com.apple.TextEncoding utf-8
ok    getxattr $DOCUMENTS/f com.apple.TextEncoding utf-8
ok    getxattr $DOCUMENTS/f user.com.apple.TextEncoding utf-8
ok    setxattr $DOCUMENTS/f user.com.apple.other two
ok    getxattr $DOCUMENTS/f com.apple.other two
ok    listxattr $DOCUMENTS/f user.note user.com.apple.TextEncoding user.com.apple.other
ok    removexattr $DOCUMENTS/f com.apple.other
ENODATA getxattr $DOCUMENTS/f user.com.apple.other
ENODATA removexattr $DOCUMENTS/f user.com.apple.other
ok    removexattr $DOCUMENTS/f user.com.apple.TextEncoding
ENODATA getxattr $DOCUMENTS/f com.apple.TextEncoding
ok    setxattr $DOCUMENTS/d com.apple.folder x
ok    listxattr $DOCUMENTS/d user.com.apple.folder
ok    setxattr $DOCUMENTS/f user.large *3000
ok    getxattr $DOCUMENTS/f user.large *3000
ok    setxattr $DOCUMENTS/f user.empty ''
ok    getxattr $DOCUMENTS/f user.empty ''
ok    listxattr $DOCUMENTS/f user.note user.large user.empty
ENODATA getxattr $DOCUMENTS/f security.capability
EOPNOTSUPP setxattr $DOCUMENTS/f system.posix_acl_access ACL
EOPNOTSUPP|EPERM setxattr $DOCUMENTS/f trusted.note x
EOPNOTSUPP|EPERM setxattr $DOCUMENTS/f security.note x
EOPNOTSUPP setxattr $DOCUMENTS/f other.note x
EPERM setxattr $DOCUMENTS/f com.apple.system.cprotect x
EPERM setxattr $DOCUMENTS/f user.com.apple.system.cprotect x
EPERM getxattr $DOCUMENTS/f com.apple.system.cprotect
EPERM removexattr $DOCUMENTS/f com.apple.system.cprotect
EPERM setxattr $DOCUMENTS/soft user.note x
EPERM setxattr $DOCUMENTS/soft com.apple.note x
ENODATA getxattr $DOCUMENTS/soft com.apple.note
ok    listxattr $DOCUMENTS/soft
EPERM setxattr $DOCUMENTS/fifo user.note x
EPERM setxattr $DOCUMENTS/fifo com.apple.note x
ENODATA getxattr $DOCUMENTS/fifo com.apple.note
ok    listxattr $DOCUMENTS/fifo
TABLE
}
case_extended_attributes() {
    start
    attribute_rules
    again
    expect <<TABLE
ok    listxattr $DOCUMENTS/f user.note user.large user.empty
ok    getxattr $DOCUMENTS/f user.large *3000
ok    getxattr $DOCUMENTS/d com.apple.folder x
TABLE
}
rootcase_extended_attributes_by_their_user_on_roots_daemon() { as_container_user; attribute_rules; }

rootcase_other_namespaces_are_not_supported_for_root_either() {
    start
    echo x >"$DOCUMENTS/f"
    expect <<TABLE
EOPNOTSUPP setxattr $DOCUMENTS/f trusted.note x
EOPNOTSUPP setxattr $DOCUMENTS/f security.note x
EOPNOTSUPP setxattr $DOCUMENTS/f system.posix_acl_access ACL
TABLE
}
