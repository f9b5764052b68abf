# Set-user-ID and set-group-ID bits: shown, kept and cleared as on the host, and never on the host themselves. And the
# times of new files.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

# no_bits: no backing file of the device has one.
no_bits() { same "$(find "$DEVICE" -type f -perm /6000)" "" "backing files with set-ID bits"; }

case_set_id_bits_are_those_of_the_host() {
    local others=()
    if [ "$(id -u)" = 0 ]; then
        as_container_user
        others=(1234 1235)
    else
        start
    fi
    mkdir "$DOCUMENTS/ids" "$WORK/ids"
    chmod 777 "$DOCUMENTS/ids" "$WORK/ids"
    within /usr/bin/python3 "$HERE/set_ids.py" "$DOCUMENTS/ids" "$WORK/ids" "$WORK/facts.json" "${others[@]}"
    no_bits
    appcontainer unmount "$MOUNT"
    appcontainer shutdown "$DEVICE"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" ${others:+--allow-other}
    within /usr/bin/python3 "$HERE/set_ids.py" --again "$DOCUMENTS/ids" "$WORK/facts.json"
    whole
}

case_times_of_a_new_file_stay() {
    start
    /usr/bin/python3 "$HERE/times.py" make "$DOCUMENTS" "$WORK/facts.json"
    again
    /usr/bin/python3 "$HERE/times.py" again "$DOCUMENTS" "$WORK/facts.json"
    no_bits
    whole
}
