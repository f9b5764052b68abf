# Requests of an app that imports ContainerFoundation, and whether they arrive: Tests/Samples/Notes, run in its home.
# shellcheck shell=bash disable=SC2164,SC2153,SC2016

notes() { timeout 60 appcontainer run "$DEVICE" "$APP" -- "$BASE/notes" "$@"; }
# The class of something in Documents, as getfattr has it.
class_of() { getfattr --only-values -n user.appcontainer.protection "$DOCUMENTS/$1"; }
A=NSFileProtectionComplete
B=NSFileProtectionCompleteUnlessOpen

case_an_app_finds_every_directory_of_its_home() {
    start --group group.com.example.shared --icloud iCloud.com.example.Notes
    same "$(notes directories)" "home: $MOUNT
documents: $MOUNT/Documents
library: $MOUNT/Library
support: $MOUNT/Library/Application Support
caches: $MOUNT/Library/Caches
tmp: $MOUNT/tmp
first library: $MOUNT/Library
made: $MOUNT/Library/Application Support
downloads: 513
group: $MOUNT/Groups/group.com.example.shared
other group: nil
ubiquity: $MOUNT/iCloud/iCloud.com.example.Notes"
    [ -d "$MOUNT/Library/Application Support" ] || fail "the app could not make it"
}

case_a_saved_file_has_the_class_that_the_app_asks_for() {
    start
    same "$(notes save)" "secret: NSURLFileProtectionComplete
atomic: NSFileProtectionComplete
atomic again: NSFileProtectionCompleteUntilFirstUserAuthentication
idle: NSURLFileProtectionComplete
open: NSURLFileProtectionNone
open then: NSURLFileProtectionCompleteUntilFirstUserAuthentication
open last: NSURLFileProtectionCompleteUnlessOpen
in the vault: true
its class: NSURLFileProtectionComplete
replaced inside: note
its class then: NSURLFileProtectionComplete
made: true
made class: NSFileProtectionComplete
recording: NSURLFileProtectionCompleteUnlessOpen
open later: NSURLFileProtectionCompleteUnlessOpen
copy: NSURLFileProtectionComplete
replaced: copy
mark after: false
content: new
class after: NSURLFileProtectionComplete
mode after: 416"
    local name
    for name in secret idle vault vault/inner vault/inner/note made copy; do
        same "$(class_of "$name")" $A "$name"
    done
    for name in open "open later" recording; do same "$(class_of "$name")" $B "$name"; done
    contains "$(appcontainer inspect "$DOCUMENTS/secret")" $A
    same "$(stat -c %a "$DOCUMENTS/made" "$DOCUMENTS/atomic")" "600
600" "modes"
    same "$(cat "$DOCUMENTS/secret" "$DOCUMENTS/vault/inner/note")" plainplain
    # A copy has its original's time.
    same "$(stat -c %y "$DOCUMENTS/open later")" "$(stat -c %y "$DOCUMENTS/open")"
    # Nothing is left of what lay beside, or was put in the other's place.
    same "$(find "$DOCUMENTS" -name '.*')$(ls -A "$MOUNT/tmp")" ""
    same "$(appcontainer events "$DEVICE" | json_lines event | grep -c refused || true)" 0 "refusals"
    whole
}

# A save over a file keeps its mode by whatever call, and the class is the one that is asked for: for every user.
case_a_save_keeps_the_mode_of_what_it_replaces() {
    start
    local default=NSURLFileProtectionCompleteUntilFirstUserAuthentication
    same "$(umask 022; notes overwrite)" "data: 600 $default
data with class: 600 NSURLFileProtectionComplete
data in place: 600 NSURLFileProtectionCompleteUnlessOpen
NSData: 600 $default
NSData by path: 600 NSURLFileProtectionNone
text: 600 $default
text by path: 600 $default
text in place: 600 $default
made: 600 $default
made with class: 600 NSURLFileProtectionComplete
replaced by what is read-only: 600 NSURLFileProtectionComplete
replaced: 600 $default
without a letter: 517
still: new
encodings: 12 of 12
of a text: user.com.apple.TextEncoding
NSData made: true
for all to write: 0"
    same "$(find "$DOCUMENTS" -name '.*')" ""
    local name
    for name in data "data with class" "data in place" NSData "NSData by path" text made replaced; do
        same "$(cat "$DOCUMENTS/$name")" new "$name"
    done
    whole
}

case_an_app_lists_what_it_has() {
    start
    same "$(notes list)" "excluded: true
protection: NSURLFileProtectionComplete
allocated: $(($(stat -c %b "$DOCUMENTS/listed") * 512))
all values: $(($(stat -c %b "$DOCUMENTS/listed") * 512))
single value: true
single class: NSURLFileProtectionComplete
of nothing: 260
to nothing: 4"
}

case_an_app_copies_names_that_are_not_text() {
    start
    local name
    name=$(printf 'caf\351')
    mkdir "$DOCUMENTS/tree" "$DOCUMENTS/tree/$name"
    echo text >"$DOCUMENTS/tree/$name/$name"
    appcontainer protect complete "$DOCUMENTS/tree"
    notes copy tree
    same "$(cat "$DOCUMENTS/tree copy/$name/$name")" text
    same "$(class_of "tree copy")" $A
    whole
}

# Off a mount: the lower directory of an overlay, which nobody can rename, is not copied for ever.
rootcase_a_replacement_that_cannot_be_loses_nothing() {
    local place=$HOSTS/tmpfs/$$
    mkdir -p "$place"/{lower/old,upper,work,merged}
    touch "$place/lower/old/file"
    same "$(PLACE=$place unshare -m sh -c '
        cd "$PLACE" && mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work,redirect_dir=off merged &&
        mkdir merged/new && timeout 20 "$BASE/notes" replace merged/old merged/new; find merged | sort')" \
        "replace: 512
merged
merged/new
merged/old
merged/old/file"
    rm -r "$place"
}

# An Inbox takes part in no exchange, and takes nothing back: what is delivered is copied beside the document first.
case_a_delivered_file_replaces_a_document() {
    start_protected
    mkdir "$DOCUMENTS/vault" "$DOCUMENTS/vault/album"
    appcontainer protect complete "$DOCUMENTS/vault"
    local name
    for name in report other "vault/plan"; do echo old >"$DOCUMENTS/$name"; done
    echo old >"$DOCUMENTS/vault/album/old"
    chmod 600 "$DOCUMENTS/report" "$DOCUMENTS/vault/plan"
    mkdir album
    for name in report other plan album/new; do echo new >"$name"; done
    chmod 444 report
    appcontainer deliver "$DEVICE" "$APP" report other plan album
    replaced() { same "$(notes replace "$DOCUMENTS/$1" "$DOCUMENTS/Inbox/$2")" "replace: ${3:-done}" "$1"; }
    replaced report report
    replaced vault/plan plan
    replaced vault/album album
    same "$(cat "$DOCUMENTS/report" "$DOCUMENTS/vault/plan" "$DOCUMENTS/vault/album"/*)" "new
new
new"
    same "$(stat -c %a "$DOCUMENTS/report" "$DOCUMENTS/vault/plan")" "600
600"
    same "$(class_of vault/plan)" $A
    # Where there is nothing, it is moved.
    rm "$DOCUMENTS/other"
    replaced other other
    same "$(ls -A "$DOCUMENTS/Inbox")" ""
    # The app did nothing that is refused, and neither did this.
    same "$(appcontainer events "$DEVICE" | json_lines event | grep -c refused || true)" 0 "refusals"
    # A refusal stays one, and leaves all where it was: the locked device, and the bundle.
    appcontainer deliver "$DEVICE" "$APP" plan
    appcontainer lock "$DEVICE" --now
    replaced vault/plan plan 513
    unlock
    same "$(cat "$DOCUMENTS/vault/plan" "$DOCUMENTS/Inbox/plan")" "new
new"
    same "$(notes replace "$DOCUMENTS/report" "$MOUNT/Notes.app/Info.plist")" "replace: 513"
    same "$(cat "$DOCUMENTS/report")" new
    same "$(find "$DOCUMENTS" -name '.*')" ""
    whole
}

# An attribute that has the class's name elsewhere is not one: the document keeps the class that it has.
case_a_replacement_from_off_the_mount_brings_no_class() {
    start
    mkdir "$DOCUMENTS/vault"
    appcontainer protect complete "$DOCUMENTS/vault"
    echo old >"$DOCUMENTS/vault/old"
    echo old >"$DOCUMENTS/old"
    appcontainer protect complete "$DOCUMENTS/old"
    chmod 640 "$DOCUMENTS/old"
    local name
    for name in vault/old old; do
        echo new >outside
        setfattr -n user.appcontainer.protection -v NSFileProtectionNone outside
        setfattr -n user.colour -v red outside
        same "$(notes replace "$DOCUMENTS/$name" "$PWD/outside")" "replace: done"
        same "$(cat "$DOCUMENTS/$name")" new
        same "$(class_of "$name")" $A "$name"
        same "$(getfattr --only-values -n user.colour "$DOCUMENTS/$name")" red
    done
    same "$(stat -c %a "$DOCUMENTS/old")" 640
    absent outside
    whole
}

# Neither its class nor its mode: where the locked device refuses the class, and where the exchange is refused after it.
case_a_replacement_that_fails_gives_the_new_item_nothing() {
    start_protected
    echo old >"$DOCUMENTS/old"
    appcontainer protect complete "$DOCUMENTS/old"
    chmod 600 "$DOCUMENTS/old"
    echo new >"$DOCUMENTS/new"
    chmod 444 "$DOCUMENTS/new"
    appcontainer lock "$DEVICE" --now
    same "$(notes replace "$DOCUMENTS/old" "$DOCUMENTS/new")" "replace: 513"
    same "$(stat -c %a "$DOCUMENTS/new")" 444
    unlock
    # A standard directory stays where it is.
    mkdir -m 755 "$DOCUMENTS/new library"
    setfattr -n user.colour -v red "$MOUNT/Library/Caches"
    appcontainer protect complete "$MOUNT/Library/Caches"
    same "$(notes replace "$MOUNT/Library/Caches" "$DOCUMENTS/new library")" "replace: 513"
    same "$(stat -c %a "$DOCUMENTS/new library")" 755
    same "$(class_of "new library")" NSFileProtectionCompleteUntilFirstUserAuthentication
    same "$(getfattr -d "$DOCUMENTS/new library")" ""
    whole
}

case_an_app_excludes_files_from_backups() {
    start
    same "$(notes exclude)" "before: false
excluded: true
saved again: false
included: false
copy: true
missing: 4
missing read: 260
caches: true"
    excluded "$DOCUMENTS/downloaded" "$DOCUMENTS/downloaded too"
    same "$(getfattr --only-values -n user.appcontainer.backup "$DOCUMENTS/downloaded")" excluded
}

case_an_app_on_a_locked_device_is_told_so() {
    start_protected
    notes save >saved
    appcontainer lock "$DEVICE" --now
    same "$(notes state locked)" "available: false
read: 257
write: 513
write anew: 513
write atomic: 513
protect: 513
save: done
its class: NSURLFileProtectionCompleteUnlessOpen
save again: 513
save openly: done
its content: 1
log: done
log again: done
make: false
replace: 513
exclude: done
protection: NSURLFileProtectionComplete"
    absent "$DOCUMENTS/secret 2"
    absent "$DOCUMENTS/vault/inner/while locked too"
    same "$(find "$DOCUMENTS" -name '.*')" ""
    excluded "$DOCUMENTS/secret"
    # It was refused to take the class, before there was anything to be protected.
    contains "$(appcontainer events "$DEVICE" | json_lines path operation)" "Documents/secret 2 setxattr"
    unlock
    same "$(cat "$DOCUMENTS/secret" "$DOCUMENTS/vault/inner/while locked" "$DOCUMENTS/log/today")" "plainxat last"
    # Before the first unlock nothing else could be made there.
    appcontainer restart "$DEVICE"
    rm "$DOCUMENTS/vault/inner/always" "$DOCUMENTS/vault/inner/while locked"
    contains "$(notes locked)" "save openly: done"
    same "$(cat "$DOCUMENTS/vault/inner/always")" x
    unlock
    whole
}

case_an_app_hears_that_its_device_is_locked() {
    start_protected --lock-grace 1
    notes follow >heard &
    eventually grep -q following heard
    appcontainer lock "$DEVICE"
    eventually grep -q WillBecomeUnavailable heard
    unlock
    wait $!
    same "$(cat heard)" "following: true
heard: UIApplicationProtectedDataWillBecomeUnavailable
heard: UIApplicationProtectedDataDidBecomeAvailable"
    same "$(notes state)" "available: true"
}

case_an_app_s_delegate_is_told_that_its_device_is_locked() {
    start_protected --lock-grace 1
    notes delegate >heard &
    eventually grep -q following heard
    appcontainer lock "$DEVICE"
    eventually grep -q unavailable heard
    unlock
    wait $!
    same "$(cat heard)" "following: true
told: unavailable
told: available
is its delegate: true"
}

case_an_app_has_darwin_s_attributes() {
    start
    same "$(notes attributes)" "made: true
none: true
set: 0
set again: true
replaced: 0
value: blue
mark: 0
excluded: true
class: ()
names: [\"com.apple.metadata:com_apple_backup_excludeItem\", \"com.example.colour\"]
removed: 0
size: 48"
    same "$(class_of attributed)" $A
    excluded "$DOCUMENTS/attributed"
    fails getfattr -n user.com.example.colour "$DOCUMENTS/attributed"
    whole
}

case_an_app_is_told_where_it_cannot_write() {
    start --group group.com.example.shared
    echo dear >letter
    appcontainer deliver "$DEVICE" "$APP" letter
    echo text >"$DOCUMENTS/text"
    mkdir "$DOCUMENTS/Inboxes"
    ln -s ../Notes.app "$DOCUMENTS/link to the bundle"
    same "$(notes writable)" "home: false
Notes.app: false
Notes.app/Info.plist: false
.com.apple.mobile_container_manager.metadata.plist: false
Documents: true
Documents/Inbox: false
Documents/Inbox/letter: false
Documents/text: true
Documents/Inboxes: true
Library: true
tmp: true
Groups: false
Groups/group.com.example.shared: true
Documents/link to the bundle: false
Documents/missing: false
host: true"
}

case_an_app_finishes_a_task_in_the_background() {
    start
    notes background >heard &
    local app=$! begun
    eventually grep -q following heard
    begun=$(date +%s%N)
    # At half of the time it hears that the end is near, and ends its task: that suspends it.
    appcontainer suspend "$DEVICE" "$APP" --after 6
    [ $(($(date +%s%N) - begun)) -lt 5900000000 ] || fail "the end of its task did not suspend it"
    contains "$(cat heard)" "expired: true"
    appcontainer resume "$DEVICE" "$APP"
    wait $app
    same "$(cat heard)" "following: true
heard: UIApplicationWillResignActiveNotification
time is limited: false
heard: UIApplicationDidEnterBackgroundNotification
time is limited: true
expired: true
heard: UIApplicationWillEnterForegroundNotification
time is limited: true
heard: UIApplicationDidBecomeActiveNotification
time is limited: false
is active: true"
}

# Stopped by itself, it could not have told the device a moment later.
case_a_background_task_counts_when_the_call_returns() {
    start
    notes task >heard &
    local app=$! process
    eventually grep -q process heard
    process=$(sed 's/process: //' heard)
    eventually is_stopped "$process"
    appcontainer suspend "$DEVICE" "$APP" --json >report
    same "$(json unendedTasks 0 <report)" export "the tasks that had not ended"
    same "$(appcontainer resume "$DEVICE" "$APP" --json | json state)" foreground "the state after resume"
    # Resumed by a signal it goes on already.
    kill -CONT "$process" || true
    wait $app
    same "$(sed 1d heard)" "ended: true"
}

case_one_process_lives_in_two_homes() {
    start_protected
    local first=$DEVICE
    DEVICE=$WORK/other
    mkdir second
    appcontainer create "$DEVICE" --passcode-file "$CODE" --kdf-cost 1
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    appcontainer mount "$DEVICE" "$APP" "$WORK/second" --passcode-file "$CODE"
    timeout 60 "$BASE/notes" homes "$MOUNT" "$WORK/second" >heard &
    eventually sh -c '[ "$(grep -c saved heard)" = 2 ]'
    same "$(sort heard)" "$(printf 'saved: %s\n' "$DOCUMENTS/whose" "$WORK/second/Documents/whose" | sort)"
    appcontainer lock "$first" --now
    eventually grep -q "heard of" heard
    same "$(grep "heard of" heard)" "$MOUNT heard of: $MOUNT"
    appcontainer lock "$DEVICE" --now
    wait $!
    same "$(tail -n 1 heard)" "$WORK/second heard of: $WORK/second"
    appcontainer unlock "$first" --passcode-file "$CODE"
    same "$(cat "$DOCUMENTS/whose")" "$MOUNT"
}

case_eight_threads_save_at_once() {
    start
    same "$(notes crowd)" "files: 201
left over: 0"
    whole
}

# It sees nothing of the device: what it knows it has from the mount.
case_a_confined_app_knows_its_device_s_state() {
    start_protected --capacity 64M
    cp "$BASE/notes" "$DOCUMENTS/app"
    confined() { timeout 60 appcontainer run "$DEVICE" "$APP" --confine -- "$DOCUMENTS/app" "$@"; }
    same "$(confined state room)" "available: true
room: true
room for all: false
prefetching: $(getfattr --only-values -n user.appcontainer.capacity.opportunistic "$MOUNT")"
    same "$(confined directories | head -n 1)" "home: $MOUNT"
    appcontainer lock "$DEVICE" --now
    same "$(confined state)" "available: false"
    # Nobody but the home's root tells, and nobody is told what to say.
    same "$(getfattr --only-values -n user.appcontainer.protected-data "$MOUNT")" unavailable
    same "$(getfattr -d -m - "$MOUNT")" ""
    refused setfattr -n user.appcontainer.protected-data -v available "$MOUNT"
    contains "$(fails getfattr -n user.appcontainer.protected-data "$DOCUMENTS")" "No such attribute"
}

# Beside which nothing of the host is there: a class is the mount's own business.
case_a_confined_app_saves_with_a_class() {
    start_protected
    cp "$BASE/notes" "$DOCUMENTS/app"
    confined() { timeout 60 appcontainer run "$DEVICE" "$APP" --confine -- "$DOCUMENTS/app" "$@"; }
    notes save >saved
    rm -r "$DOCUMENTS"/[!a]* "$DOCUMENTS/atomic"
    same "$(confined save)" "$(cat saved)"
    same "$(class_of secret)" $A
    same "$(class_of recording)" $B
    appcontainer lock "$DEVICE" --now
    contains "$(confined locked)" "read: 257
write: 513
write anew: 513
write atomic: 513"
    absent "$DOCUMENTS/secret 2"
    unlock
    same "$(cat "$DOCUMENTS/secret")" plain
    same "$(umask 022; confined overwrite | grep -c ': 600 ')" 12
    whole
}
