# The requests that the kernel makes for a file.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

UNPACKED=50

# requests COMMAND…: those of the device's mounts while it runs, one a line, in their order.
requests() {
    [ -d /sys/kernel/tracing ] || fail "this test needs tracefs (CONFIG_FTRACE)"
    "$BASE/checkout/scripts/requests" "$DEVICE" "$@"
}

# at_most FILE LIMIT: for each of the files, of all requests but SETATTR. Those of the directory are a few more.
at_most() {
    local count
    count=$(grep -vc '^SETATTR$' "$1")
    [ "$count" -le $((UNPACKED * $2 + UNPACKED / 2)) ] || fail "$count requests for $UNPACKED files: $(summary "$1")"
    [ "$count" -ge $UNPACKED ] || fail "the trace is not whole: $(summary "$1")"
}

# summary FILE: how many requests of each name.
summary() { sort "$1" | uniq -c | awk '{ printf "%s %s,", $2, $1 }'; }

# attributes_set FILE: for each new file but the last, the number of its SETATTR, which come before the next CREATE. Behind
# the last one are those of the directory.
attributes_set() {
    awk '$1 == "CREATE" { if (files++) print count; count = 0 } $1 == "SETATTR" { count++ }' "$1"
}

# The paragraph "Ten requests to unpack a file" of Kernel.md.
rootcase_an_unpacked_file_costs_ten_requests_and_its_removal_three() {
    local number
    mkdir source
    for number in $(seq $UNPACKED); do head -c 5000 /dev/urandom >"source/file-$number"; done
    tar -cf source.tar -C source .
    start
    mkdir "$DOCUMENTS/tree"
    requests tar -xf source.tar -C "$DOCUMENTS/tree" >unpacked
    at_most unpacked 7
    # The times of the file, its owner and its mode. The kernel sends the time of the write too where its clock has moved
    # since the creation, as it may for any file on a busy machine.
    attributes_set unpacked >counts
    [ "$(wc -l <counts)" = $((UNPACKED - 1)) ] || fail "the trace is not whole: $(summary unpacked)"
    [ "$(sort -n counts | tail -n 1)" -le 4 ] || fail "a file has $(sort -n counts | tail -n 1) SETATTR: $(summary unpacked)"
    requests rm -r "$DOCUMENTS/tree" >removed
    at_most removed 2
    [ "$(grep -c '^SETATTR$' removed)" -le $UNPACKED ] || fail "a removed file has more than one SETATTR: $(summary removed)"
    whole
}

# With any other time the kernel would send its own for each new file that is written.
case_the_kernel_has_the_time_of_a_new_file_from_the_host() {
    local number file new
    start
    for number in 1 2 3 4 5 6 7 8 9; do
        file=Documents/new-$number
        exec {new}>"home/$file"
        same "$(stat -c %.9Y "home/$file")" "$(stat -c %.9Y "$(backing)/$file")" "the time of a new file"
        exec {new}>&-
    done
    whole
}
