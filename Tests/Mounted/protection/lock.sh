# Lock, unlock and restart: what each class answers to each call, and that nothing is lost and nothing left.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034,SC2119

protection() { timeout 120 /usr/bin/python3 "$HERE/protection.py" "$@"; }
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

# The calls that work in every state, in the order in which a file has to be renamed before it is removed.
free_calls() {
    local call
    for call in \
        open-path fsync fdatasync fstat stat stat-open access readdir chmod fchmod chown utimensat \
        futimens setxattr fsetxattr getxattr listxattr removexattr link rename exchange rename-over \
        unlink mkdir rmdir symlink; do
        echo "$call ok ok ok ok"
    done
}

case_every_call_while_locked() {
    start_protected
    protection prepare "$DOCUMENTS"
    calls_while ABCD appcontainer lock "$DEVICE" --now < <(cat - <(free_calls) <<TABLE
open-read        EPERM  EPERM  ok ok
open-write       EPERM  EPERM  ok ok
open-both        EPERM  EPERM  ok ok
open-append      EPERM  EPERM  ok ok
open-creat       EPERM  EPERM  ok ok
open-again       EPERM  EPERM  ok ok
open-descriptor  EPERM  EPERM  ok ok
open-direct      EPERM  EPERM  ok ok
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
TABLE
    )
    unlock
    whole
}

# A descriptor of before a restart belongs to nobody any more: EIO, whatever the class and the state.
case_every_call_after_a_restart() {
    start_protected
    protection prepare "$DOCUMENTS"
    calls_while ABCD appcontainer restart "$DEVICE" < <(cat - <(free_calls) <<TABLE
open-read        EPERM  EPERM  EPERM  ok
open-write       EPERM  EPERM  EPERM  ok
open-both        EPERM  EPERM  EPERM  ok
open-append      EPERM  EPERM  EPERM  ok
open-creat       EPERM  EPERM  EPERM  ok
open-again       EPERM  EPERM  EPERM  ok
open-descriptor  EIO    EIO    EIO    EIO
open-direct      EPERM  EPERM  EPERM  ok
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
TABLE
    )
    unlock
    whole
}
