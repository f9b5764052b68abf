# Tools and excluded files: copies that carry the mark along, backups that leave it out, and the tag by which
# they know directories of caches.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

APPLE=com.apple.metadata:com_apple_backup_excludeItem
PLIST=user.$APPLE
ROBOTS=user.xdg.robots.backup

tagged() { /usr/bin/python3 "$KIT/exclusion.py" tag "$1"; }

# A tree with a marked file, a marked directory, and what is beside them.
marked_tree() {
    mkdir -p "$1/kept" "$1/left/deep"
    local file
    for file in kept/one kept/two left/three left/deep/four; do echo "$file" >"$1/$file"; done
    setfattr -n "$PLIST" -v x "$1/kept/two" "$1/left"
}

case_copies_carry_marks_along() {
    start
    marked_tree "$DOCUMENTS/tree"
    local _ away=$WORK/away
    for _ in 1 2; do
        rsync -aX --delete "$DOCUMENTS/tree/" "$away/"
        same_tree "$DOCUMENTS/tree" "$away"
        contains "$(getfattr --absolute-names -d "$away/left")" 'user.xdg.robots.backup="false"'
    done
    # And back, twice; what was marked there is, and what was not is not any more.
    for _ in 1 2; do
        rsync -aX --delete "$away/" "$DOCUMENTS/back/"
        same_tree "$away" "$DOCUMENTS/back"
        excluded "$DOCUMENTS/back/kept/two" "$DOCUMENTS/back/left"
        not_excluded "$DOCUMENTS/back/kept" "$DOCUMENTS/back/kept/one" "$DOCUMENTS/back/left/three"
    done
    setfattr -x "$PLIST" "$away/left"
    setfattr -x "$ROBOTS" "$away/left"
    setfattr -n "$PLIST" -v other "$away/kept/one"
    setfattr -n "$ROBOTS" -v false "$away/kept/one"
    rsync -aX --delete "$away/" "$DOCUMENTS/back/"
    not_excluded "$DOCUMENTS/back/left"
    excluded "$DOCUMENTS/back/kept/one" "$DOCUMENTS/back/kept/two"
    rsync -aX --delete "$DOCUMENTS/tree/" "$DOCUMENTS/back/"
    excluded "$DOCUMENTS/back/left"
    not_excluded "$DOCUMENTS/back/kept/one"
    # A mark removed in the mount is removed in the next copy.
    appcontainer include "$DOCUMENTS/tree/left"
    rsync -aX --delete "$DOCUMENTS/tree/" "$away/"
    same "$(getfattr --absolute-names -d -m - "$away/left")" "" "attributes of the copy"
    appcontainer exclude "$DOCUMENTS/tree/left"

    cp -a "$DOCUMENTS/tree" "$WORK/copied"
    cp -a "$WORK/copied" "$DOCUMENTS/copied"
    cp -a "$DOCUMENTS/tree" "$DOCUMENTS/beside"
    tar --xattrs -C "$DOCUMENTS/tree" -cf tree.tar .
    mkdir "$DOCUMENTS/unpacked" "$WORK/unpacked"
    tar --xattrs -C "$DOCUMENTS/unpacked" -xf tree.tar
    tar --xattrs -C "$WORK/unpacked" -xf tree.tar
    bsdtar -C "$DOCUMENTS/tree" -cf tree.bsd.tar .
    mkdir "$DOCUMENTS/bsd"
    bsdtar -C "$DOCUMENTS/bsd" -xpf tree.bsd.tar
    local copy
    for copy in copied beside unpacked bsd; do
        excluded "$DOCUMENTS/$copy/kept/two" "$DOCUMENTS/$copy/left"
        not_excluded "$DOCUMENTS/$copy/kept" "$DOCUMENTS/$copy/left/deep/four"
    done
    same_content "$DOCUMENTS/tree" "$DOCUMENTS/unpacked"
    same_content "$WORK/unpacked" "$DOCUMENTS/unpacked"
    # A place that is always excluded can be copied as well.
    rsync -aX "$MOUNT/tmp" "$MOUNT/Library" "$WORK/places/"
    rsync -aX "$WORK/places/Library/" "$MOUNT/Library/"
    cp -a "$MOUNT/Library/Caches" "$DOCUMENTS/Caches"
    not_excluded "$DOCUMENTS/Caches"
}

case_backup_tools_leave_out_what_is_marked() {
    start
    marked_tree "$DOCUMENTS/tree"
    local wanted="kept
kept/one"
    bsdtar --nodump -C "$DOCUMENTS/tree" -cf nodump.tar kept left
    same "$(bsdtar -tf nodump.tar | sed 's|/$||' | sort)" "$wanted" "what bsdtar took"
    export BORG_BASE_DIR=$WORK/borg.base BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes
    borg init --encryption none "$WORK/borg"
    (cd "$DOCUMENTS/tree" && borg create --exclude-nodump "$WORK/borg::one" kept left)
    same "$(borg list --short "$WORK/borg::one" | sort)" "$wanted" "what borg took"
    # Included again, it is taken.
    appcontainer include "$DOCUMENTS/tree/kept/two" "$DOCUMENTS/tree/left"
    (cd "$DOCUMENTS/tree" && borg create --exclude-nodump "$WORK/borg::two" kept left)
    same "$(borg list --short "$WORK/borg::two" | wc -l)" 7 "what borg took then"
    # Library/Caches and tmp are left out without a mark.
    echo x >"$MOUNT/Library/Caches/cached"
    echo x >"$MOUNT/tmp/passing"
    bsdtar --nodump -C "$MOUNT" -cf all.tar Documents Library tmp Notes.app
    local list
    list=$(bsdtar -tf all.tar)
    contains "$list" Library/Preferences/
    contains "$list" Documents/tree/left/deep/four
    ! grep -qE '^(tmp|Notes.app|Library/Caches)' <<<"$list" || fail "taken: $list"
}

oncecase_the_tag_of_cache_directories() {
    start_protected
    mounted_with_tags
    local tag
    for tag in "$MOUNT/Library/Caches/CACHEDIR.TAG" "$MOUNT/tmp/CACHEDIR.TAG"; do tag_rules "$tag"; done
    same "$(ls -A "$MOUNT/tmp")" "CACHEDIR.TAG
passing" "what tmp lists"
    contains "$(appcontainer explain "$DEVICE")" "CACHEDIR.TAG"
    [ "$(rules cacheTag)" -ge 8 ] || fail "no events of the rule"
    tools_leave_out_tagged_caches
    tags_outlast_what_empties_caches
    # Files made on the host's side stay without it.
    absent "$(backing)/Library/Caches/CACHEDIR.TAG"
    appcontainer unmount "$MOUNT"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file "$CODE"
    absent "$MOUNT/Library/Caches/CACHEDIR.TAG"
    same "$(find "$MOUNT/Library/Caches" "$MOUNT/tmp" -name 'CACHEDIR*')" "" "tags of a mount without"
    echo mine >"$MOUNT/Library/Caches/CACHEDIR.TAG"
    whole
}

# Caches, a file in tmp and a note, on a mount that was without tags and now has them.
mounted_with_tags() {
    mkdir -p "$MOUNT/Library/Caches/pictures"
    echo x >"$MOUNT/Library/Caches/pictures/one"
    echo x >"$MOUNT/tmp/passing"
    echo x >"$DOCUMENTS/note"
    absent "$MOUNT/tmp/CACHEDIR.TAG"
    absent "$MOUNT/Library/Caches/CACHEDIR.TAG"
    echo "the app's own" >"$MOUNT/tmp/CACHEDIR.TAG"
    appcontainer unmount "$MOUNT"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --cachedir-tag
    contains "$(appcontainer status "$DEVICE")" "(cachedir-tag)"
    same "$(appcontainer status --json "$DEVICE" | json mounts 0 cachedirTag)" True
}

# tag_rules TAG: it is there to be read, and is not the app's to change.
tag_rules() {
    local tag=$1
    tagged "$tag"
    same "$(stat -c '%F %h %u' "$tag")" "regular file 1 $(owner)" "what stat says"
    refused rm "$tag"
    refused mv "$tag" "$tag.other"
    refused mv "$DOCUMENTS/note" "$tag"
    refused touch "$tag"
    refused chmod 600 "$tag"
    refused ln "$tag" "$DOCUMENTS/tag"
    refused sh -c "echo x >'$tag'"
    refused truncate -s 0 "$tag"
    expect <<TABLE
EPERM   exchange $DOCUMENTS/note $tag
EPERM   exchange $tag $DOCUMENTS/note
EEXIST  noreplace $DOCUMENTS/note $tag
EEXIST  mkdir $tag
EEXIST  open $tag excl
EPERM   open $tag rw
EPERM   setxattr $tag $APPLE x
ENODATA getxattr $tag $APPLE
TABLE
    same "$(appcontainer inspect --json "$tag" | json 0 zone)" cacheTag
    same "$(appcontainer inspect --json "$tag" | json 0 backing)" null
}

tools_leave_out_tagged_caches() {
    tar -C "$MOUNT" --exclude-caches -cf tagged.tar Documents Library tmp
    same "$(tar -tf tagged.tar | grep -E 'Caches|^tmp' | sort)" "Library/Caches/
Library/Caches/CACHEDIR.TAG
tmp/
tmp/CACHEDIR.TAG" "what tar took of caches"
    contains "$(tar -tf tagged.tar)" Documents/note
    export RESTIC_PASSWORD=restic RESTIC_CACHE_DIR=$WORK/restic.cache
    restic -q -r "$WORK/restic" init
    (cd "$MOUNT" && restic -q -r "$WORK/restic" backup --exclude-caches Documents Library tmp)
    local list
    list=$(restic -q -r "$WORK/restic" ls latest)
    contains "$list" Documents/note
    ! grep -qE 'passing|pictures' <<<"$list" || fail "restic took caches: $list"
    # Copies bring the tag along as a file like any other.
    rsync -aX "$MOUNT/Library/Caches/" "$DOCUMENTS/copied/"
    cmp "$DOCUMENTS/copied/CACHEDIR.TAG" "$MOUNT/tmp/CACHEDIR.TAG"
}

# Neither a purge, nor a lock, nor a restart, nor an update takes them; and they take no room.
tags_outlast_what_empties_caches() {
    exec 5<"$MOUNT/tmp/CACHEDIR.TAG"
    appcontainer lock "$DEVICE" --now
    tagged "$MOUNT/Library/Caches/CACHEDIR.TAG"
    appcontainer purge "$DEVICE" --level critical >purged
    contains "$(cat purged)" pictures
    same "$(find "$MOUNT/Library/Caches" "$MOUNT/tmp" -mindepth 1 | wc -l)" 2 "what is left"
    tagged "$MOUNT/Library/Caches/CACHEDIR.TAG"
    tagged "$MOUNT/tmp/CACHEDIR.TAG"
    unlock
    appcontainer restart "$DEVICE"
    tagged "$MOUNT/tmp/CACHEDIR.TAG"
    same "$(head -c 9 <&5)" Signature "what is open since before"
    exec 5<&-
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    tagged "$MOUNT/tmp/CACHEDIR.TAG"
    tagged "$MOUNT/Library/Caches/CACHEDIR.TAG"
    refused touch "$MOUNT/tmp/CACHEDIR.TAG"
}

case_the_tag_hides_what_the_app_has_under_its_name() {
    start
    echo "the app's own" >"$MOUNT/tmp/CACHEDIR.TAG"
    appcontainer unmount "$MOUNT"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --cachedir-tag
    tagged "$MOUNT/tmp/CACHEDIR.TAG"
    appcontainer unmount "$MOUNT"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(cat "$MOUNT/tmp/CACHEDIR.TAG")" "the app's own" "what the app had"
    rm "$MOUNT/tmp/CACHEDIR.TAG"
}
