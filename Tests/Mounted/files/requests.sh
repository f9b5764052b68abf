# The requests that the kernel makes for a file.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

UNPACKED=50

# requests COMMAND…: those of the device's mounts while it runs, each with its number.
requests() {
    [ -d /sys/kernel/tracing ] || fail "this test needs tracefs (CONFIG_FTRACE)"
    "$BASE/checkout/scripts/requests" "$DEVICE" "$@" | sort | uniq -c | awk '{ print $2, $1 }'
}

# at_most FILE LIMIT [NAME]: for each of the files, of all requests or of one name. Those of the directory are a few more.
at_most() {
    local count
    count=$(awk -v name="${3-}" 'name == "" || $1 == name { sum += $2 } END { print sum + 0 }' "$1")
    [ "$count" -le $((UNPACKED * $2 + UNPACKED / 2)) ] || fail "$count ${3:-requests} for $UNPACKED files: $(tr '\n' ',' <"$1")"
    [ "$count" -ge $UNPACKED ] || fail "the trace is not whole: $(tr '\n' ',' <"$1")"
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
    at_most unpacked 10
    # The times of the file, its owner and its mode: none tells the daemon the time of the file's creation.
    at_most unpacked 3 SETATTR
    requests rm -r "$DOCUMENTS/tree" >removed
    at_most removed 3
    whole
}
