# Lock, unlock and restart: what each class answers to each call, and that nothing is lost and nothing left.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

# A device with a passcode whose guesses are cheap, mounted and unlocked.
start_protected() {
    mkdir -p "$MOUNT"
    echo 271828 >"$WORK/code"
    chmod 600 "$WORK/code"
    appcontainer create "$DEVICE" --passcode-file "$WORK/code" --kdf-cost 1 "$@"
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file "$WORK/code"
}
unlock() { appcontainer unlock "$DEVICE" --passcode-file "$WORK/code"; }
state() { appcontainer status "$DEVICE" --json | json state; }
protection() { timeout 120 /usr/bin/python3 "$BASE/cases/protection.py" "$@"; }
# classed CLASS DIRECTORY: a directory whose files get the class.
classed() { mkdir "$2" && appcontainer protect "$1" "$2"; }

# calls_while COLUMNS COMMAND…: descriptors and mappings are made, the command is run, then every call is made.
calls_while() {
    local columns=$1
    shift
    cat >"$WORK/table"
    mkfifo "$WORK/orders"
    protection calls "$DOCUMENTS" "$columns" <"$WORK/orders" >"$WORK/answers" &
    local caller=$!
    exec 7>"$WORK/orders"
    until grep -q ready "$WORK/answers"; do sleep 0.05; done
    "$@"
    { echo; cat "$WORK/table"; } >&7
    exec 7>&-
    wait $caller || fail "$(grep -v ready "$WORK/answers")"
    rm "$WORK/orders"
}

case_every_call_while_locked() {
    start_protected
    protection prepare "$DOCUMENTS"
    calls_while ABCD appcontainer lock "$DEVICE" --now <<TABLE
open-read        EPERM  EPERM  ok ok
open-write       EPERM  EPERM  ok ok
open-both        EPERM  EPERM  ok ok
open-append      EPERM  EPERM  ok ok
open-creat       EPERM  EPERM  ok ok
open-again       EPERM  EPERM  ok ok
open-descriptor  EPERM  EPERM  ok ok
open-direct      EPERM  EPERM  ok ok
open-path        ok     ok     ok ok
creat            EPERM  ok     ok ok
creat-excl       EPERM  ok     ok ok
mknod            EPERM  ok     ok ok
pread            EPERM  ok     ok ok
preadv           EPERM  ok     ok ok
read             EPERM  ok     ok ok
pread-direct     EPERM  ok     ok ok
sendfile         EPERM  ok     ok ok
splice-from      EPERM  ok     ok ok
copy-from        EPERM  ok     ok ok
seek-data        EPERM  ok     ok ok
seek-hole        EPERM  ok     ok ok
load             SIGBUS ok     ok ok
load-private     SIGBUS ok     ok ok
load-new         SIGBUS ok     ok ok
store            SIGBUS ok     ok ok
pwrite           EPERM  ok     ok ok
pwrite-page      EPERM  ok     ok ok
pwrite-behind    EPERM  ok     ok ok
pwritev          EPERM  ok     ok ok
write            EPERM  ok     ok ok
append           EPERM  ok     ok ok
pwrite-direct    EPERM  ok     ok ok
splice-to        EPERM  ok     ok ok
copy-to          EPERM  ok     ok ok
ftruncate-less   EPERM  ok     ok ok
ftruncate-more   EPERM  ok     ok ok
ftruncate-same   EPERM  ok     ok ok
truncate-less    EPERM  EPERM  ok ok
truncate-more    EPERM  EPERM  ok ok
truncate-open    EPERM  EPERM  ok ok
open-trunc       EPERM  EPERM  ok ok
open-creat-trunc EPERM  EPERM  ok ok
fallocate        EPERM  ok     ok ok
fallocate-punch  EPERM  ok     ok ok
fallocate-zero   EPERM  ok     ok ok
fsync            ok     ok     ok ok
fdatasync        ok     ok     ok ok
fstat            ok     ok     ok ok
stat             ok     ok     ok ok
stat-open        ok     ok     ok ok
access           ok     ok     ok ok
readdir          ok     ok     ok ok
chmod            ok     ok     ok ok
fchmod           ok     ok     ok ok
chown            ok     ok     ok ok
utimensat        ok     ok     ok ok
futimens         ok     ok     ok ok
setxattr         ok     ok     ok ok
fsetxattr        ok     ok     ok ok
getxattr         ok     ok     ok ok
listxattr        ok     ok     ok ok
removexattr      ok     ok     ok ok
link             ok     ok     ok ok
rename           ok     ok     ok ok
exchange         ok     ok     ok ok
rename-over      ok     ok     ok ok
unlink           ok     ok     ok ok
mkdir            ok     ok     ok ok
rmdir            ok     ok     ok ok
symlink          ok     ok     ok ok
TABLE
    unlock
    whole
}

# What was opened before a restart belongs to nobody any more: EIO, whatever the class and the state.
case_every_call_after_a_restart() {
    start_protected
    protection prepare "$DOCUMENTS"
    calls_while ABCD appcontainer restart "$DEVICE" <<TABLE
open-read        EPERM  EPERM  EPERM  ok
open-write       EPERM  EPERM  EPERM  ok
open-both        EPERM  EPERM  EPERM  ok
open-append      EPERM  EPERM  EPERM  ok
open-creat       EPERM  EPERM  EPERM  ok
open-again       EPERM  EPERM  EPERM  ok
open-descriptor  EIO    EIO    EIO    EIO
open-direct      EPERM  EPERM  EPERM  ok
open-path        ok     ok     ok     ok
creat            EPERM  ok     EPERM  ok
creat-excl       EPERM  ok     EPERM  ok
mknod            EPERM  ok     EPERM  ok
pread            EIO    EIO    EIO    EIO
preadv           EIO    EIO    EIO    EIO
read             EIO    EIO    EIO    EIO
pread-direct     EIO    EIO    EIO    EIO
sendfile         EIO    EIO    EIO    EIO
splice-from      EIO    EIO    EIO    EIO
copy-from        EIO    EIO    EIO    EIO
seek-data        EIO    EIO    EIO    EIO
seek-hole        EIO    EIO    EIO    EIO
load             SIGBUS SIGBUS SIGBUS SIGBUS
load-private     SIGBUS SIGBUS SIGBUS SIGBUS
load-new         SIGBUS SIGBUS SIGBUS SIGBUS
store            SIGBUS SIGBUS SIGBUS SIGBUS
pwrite           EIO    EIO    EIO    EIO
pwrite-page      EIO    EIO    EIO    EIO
pwrite-behind    EIO    EIO    EIO    EIO
pwritev          EIO    EIO    EIO    EIO
write            EIO    EIO    EIO    EIO
append           EIO    EIO    EIO    EIO
pwrite-direct    EIO    EIO    EIO    EIO
splice-to        EIO    EIO    EIO    EIO
copy-to          EIO    EIO    EIO    EIO
ftruncate-less   EIO    EIO    EIO    EIO
ftruncate-more   EIO    EIO    EIO    EIO
ftruncate-same   EIO    EIO    EIO    EIO
truncate-less    EPERM  EPERM  EPERM  ok
truncate-more    EPERM  EPERM  EPERM  ok
truncate-open    EPERM  EPERM  EPERM  ok
open-trunc       EPERM  EPERM  EPERM  ok
open-creat-trunc EPERM  EPERM  EPERM  ok
fallocate        EIO    EIO    EIO    EIO
fallocate-punch  EIO    EIO    EIO    EIO
fallocate-zero   EIO    EIO    EIO    EIO
fsync            ok     ok     ok     ok
fdatasync        ok     ok     ok     ok
fstat            ok     ok     ok     ok
stat             ok     ok     ok     ok
stat-open        ok     ok     ok     ok
access           ok     ok     ok     ok
readdir          ok     ok     ok     ok
chmod            ok     ok     ok     ok
fchmod           ok     ok     ok     ok
chown            ok     ok     ok     ok
utimensat        ok     ok     ok     ok
futimens         ok     ok     ok     ok
setxattr         ok     ok     ok     ok
fsetxattr        ok     ok     ok     ok
getxattr         ok     ok     ok     ok
listxattr        ok     ok     ok     ok
removexattr      ok     ok     ok     ok
link             ok     ok     ok     ok
rename           ok     ok     ok     ok
exchange         ok     ok     ok     ok
rename-over      ok     ok     ok     ok
unlink           ok     ok     ok     ok
mkdir            ok     ok     ok     ok
rmdir            ok     ok     ok     ok
symlink          ok     ok     ok     ok
TABLE
    unlock
    whole
}
