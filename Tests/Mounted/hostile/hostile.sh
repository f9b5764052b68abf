# A device whose owner exchanges its entries while root serves it: nothing outside of the device is touched.
# shellcheck shell=bash disable=SC2034

# hostile PROGRAM ARGUMENTS…: in a mount namespace of its own, so that what the program opens is told from what others do.
hostile() {
    unshare --mount --propagation slave /usr/bin/python3 "$HERE/$1.py" "$HOSTS/ext4/${WORK##*/}" "${@:2}"
}

rootcase_the_detector_of_touches_sees_each_kind_of_touch() {
    hostile self_check
}

rootoncecase_calls_on_a_device_whose_owner_exchanges_its_entries_touch_nothing_else() {
    hostile calls_of_owner "$(rounds exchanges_in_calls)" "$BASE/FileSystem.swift"
}

rootoncecase_commands_on_a_device_whose_owner_exchanges_its_entries_touch_nothing_else() {
    hostile commands "$(rounds exchanges_by_command)"
}
