# The page of a device: its server and what may reach it, every button of it in a browser, and `top`.
# shellcheck shell=bash disable=SC2164

reach() { timeout 200 /usr/bin/python3 "$HERE/reached.py" "$1" "$DEVICE" "$APP" "$MOUNT"; }

attack() { timeout 200 /usr/bin/python3 "$HERE/attacks.py" "$1" "$DEVICE" "$APP" "$MOUNT"; }

case_the_link_of_a_page_opens_it_once() {
    start
    attack link_opens_once
    stop
}

case_without_its_cookie_a_page_gives_nothing() {
    start
    attack nothing_without_cookie
    stop
}

case_the_cookie_of_a_page_alone_gives_nothing() {
    start
    attack nothing_with_the_cookie_alone
    stop
}

case_requests_of_other_sites_and_under_other_names_are_refused() {
    start
    attack no_other_name_or_site
    attack answers_guard_the_page
    stop
}

case_only_connections_from_127_0_0_1_reach_a_page() {
    start
    attack only_connections_of_127_0_0_1
    attack a_client_may_close_its_half
    attack begins_again_on_its_port
    stop
}

case_a_page_reaches_only_the_part_of_the_control_api_that_it_needs() {
    start
    attack only_what_the_page_needs
    attack requests_are_bounded
    attack no_request_has_two_meanings
    stop
}

case_clients_of_a_page_that_are_slow_or_go_hold_up_nobody() {
    start
    attack a_slow_request_gives_way
    attack streams_leave_nothing
    stop
}

case_a_page_that_only_looks_changes_nothing() {
    start
    attack read_only_changes_nothing
    stop
}

case_files_dropped_on_a_page_are_delivered() {
    start
    attack deliveries_are_files_of_their_own
    stop
}

case_a_page_tells_that_its_device_is_off_and_finds_it_again() {
    start
    reach streams_end_with_the_device
    reach ends_with_its_command
    appcontainer shutdown "$DEVICE"
}

rootcase_a_page_tells_who_serves_its_device() {
    chmod 711 "$WORK"
    mkdir users
    chown "$TEST_USER" users
    runuser -u "$TEST_USER" -- appcontainer create "$WORK/users/device"
    runuser -u "$TEST_USER" -- appcontainer shutdown "$WORK/users/device"
    timeout 200 runuser -u "$TEST_USER" -- /usr/bin/python3 "$HERE/reached.py" tells_who_serves_its_device \
        "$WORK/users/device" "$APP" "$WORK/users/home" &
    local asking=$!
    eventually test -e users/home.ready
    appcontainer boot --trust-owner "$TEST_USER" "$WORK/users/device"
    wait "$asking"
    appcontainer shutdown --trust-owner "$TEST_USER" "$WORK/users/device"
}

rootcase_no_other_user_gets_into_a_page() {
    start
    local link served
    appcontainer ui "$DEVICE" --no-browser >./link &
    served=$!
    eventually grep -q token link
    link=$(cat link)
    contains "$(runuser -u "$TEST_USER" -- curl -sS "$link")" 'belongs to another user'
    same "$(runuser -u "$TEST_USER" -- curl -sS -o answer -w '%{http_code}' "$link")" 403 'status'
    # The link was not used up by that.
    same "$(curl -sS -o answer -w '%{http_code}' "$link")" 200 'status'
    kill "$served"
    wait "$served"
    stop
}

case_a_page_tells_that_another_device_has_its_place() {
    start
    reach tells_that_its_device_is_another
    appcontainer shutdown "$DEVICE"
}

case_the_report_of_a_page_is_asked_for_as_http_says() {
    start
    attack reports_are_asked_for_as_http_says
    stop
}

case_the_command_of_a_page_says_what_is_wrong() {
    start
    local port link
    complains 3 appcontainer ui missing --no-browser
    complains 64 appcontainer ui "$DEVICE" --port 65536
    complains 64 appcontainer ui "$DEVICE" --port -1
    complains 64 appcontainer ui "$DEVICE" --port x
    appcontainer ui "$DEVICE" --no-browser >./link &
    eventually grep -q token link
    link=$(cat link)
    port=${link#*1:}
    complains 20 appcontainer ui "$DEVICE" --no-browser --port "${port%%/*}"
    appcontainer ui "$DEVICE" --no-browser --port 0 >./free &
    eventually grep -q token free
    same "$(curl -sS -o answer -w '%{http_code}' "$(cat free)")" 200 'a free port'
    # Two pages of one device work side by side.
    appcontainer ui "$DEVICE" --no-browser --read-only >./other &
    eventually grep -q token other
    same "$(curl -sS -o answer -w '%{http_code}' "$(cat other)")" 200 'the other page'
    same "$(curl -sS -o answer -w '%{http_code}' "$link")" 200 'the page'
    kill %1 %2 %3
    wait
    stop
}

# In bin, and a desktop for it: it writes what it has to open into $OPENED, and ends with $ENDS.
make_opener() {
    mkdir bin
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nprintf "%%s\\n" "$1" >"$OPENED"\nexit "${ENDS:-0}"\n' >bin/xdg-open
    chmod +x bin/xdg-open
    export OPENED=$WORK/opened DISPLAY=:99
}

rootcase_no_browser_is_opened_as_root() {
    start
    local program served
    program=$(command -v appcontainer)
    make_opener
    SUDO_UID=1000 PATH=$WORK/bin:$PATH "$program" ui "$DEVICE" >./link 2>./said &
    served=$!
    eventually grep -q 'no browser is opened as root' said
    grep -q token link
    kill "$served"
    wait "$served"
    same "$(wc -l <said)" 1 'lines'
    [ ! -e opened ] || fail 'a browser was opened'
    stop
}

usercase_the_link_of_a_page_is_opened_where_there_is_a_browser() {
    start
    local program served
    program=$(command -v appcontainer)
    make_opener
    PATH=$WORK/bin:$PATH "$program" ui "$DEVICE" >./link 2>./said &
    served=$!
    eventually grep -q token opened
    same "$(cat opened)" "$(cat link)" 'what was opened'
    kill "$served"
    wait "$served"
    same "$(cat said)" '' 'what was said'
    # One that fails, and none at all: the link is there, and one line says so.
    ENDS=1 PATH=$WORK/bin:$PATH "$program" ui "$DEVICE" >./link 2>./said &
    served=$!
    eventually grep -q 'no browser opened the link' said
    grep -q token link
    kill "$served"
    wait "$served"
    PATH=$WORK/none "$program" ui "$DEVICE" >./link 2>./said &
    served=$!
    eventually grep -q 'there is no browser here' said
    grep -q token link
    kill "$served"
    wait "$served"
    same "$(wc -l <said)" 1 'lines'
    unset DISPLAY
    stop
}

case_a_page_goes_on_in_the_background_of_a_shell() {
    start
    timeout 100 /usr/bin/python3 "$HERE/links.py" "$DEVICE"
    stop
}

usercase_a_page_has_no_port_of_the_superuser() {
    start
    complains 23 appcontainer ui "$DEVICE" --no-browser --port 81
    stop
}

case_top_shows_a_device() {
    start
    echo text >"$DOCUMENTS/file"
    refused touch "$MOUNT/new"
    local shown
    shown=$(appcontainer top "$DEVICE" --once)
    contains "$shown" unlocked
    contains "$shown" "$APP"
    contains "$shown" topLevel
    [ "$(wc -L <<<"$shown")" -le 80 ] || fail 'a line is longer than 80 columns'
    shown=$(appcontainer top "$DEVICE" --json)
    same "$(json status state <<<"$shown")" unlocked state
    same "$(json apps 0 identifier <<<"$shown")" "$APP" app
    same "$(json refused 0 rule <<<"$shown")" topLevel rule
    [ "$(json requests mkdir <<<"$shown")" != null ] || [ "$(json requests create <<<"$shown")" != null ] || fail 'no requests'
    complains 27 appcontainer top "$DEVICE"
    stop
    # A device that is off is shown as off, and stays so.
    contains "$(appcontainer top "$DEVICE" --once)" off
    same "$(appcontainer status "$DEVICE" --json | json daemon pid)" null daemon
}

on_terminal() { TERM=xterm timeout 100 /usr/bin/python3 "$HERE/terminal.py" "$1" "$DEVICE"; }

case_top_draws_on_a_terminal_and_leaves_it_as_it_was() {
    start
    # Wide characters, a text that turns round, and what a terminal obeys.
    refused touch "$MOUNT"/$'漢字かな交じりの長い名前漢字かな交じりの長い名前\u202etxt\e[2J\n'
    on_terminal draws_and_ends
    on_terminal needs_no_input
    on_terminal its_terminal_goes
    stop
}

case_top_leaves_the_terminal_while_it_is_stopped_and_when_it_quits() {
    start
    on_terminal stops_and_goes_on
    on_terminal nobody_can_continue_it
    on_terminal quits
    stop
}

case_top_follows_the_size_of_its_terminal() {
    start
    refused touch "$MOUNT/new"
    on_terminal follows_the_size
    stop
}

case_top_says_in_a_line_that_it_cannot_draw_or_that_its_device_is_gone() {
    start
    complains 27 appcontainer top "$DEVICE"
    contains "$(appcontainer top "$DEVICE" 2>&1 || true)" '--once'
    # Without a terminal's abilities it draws nothing either.
    TERM=dumb script -qec "appcontainer top '$DEVICE'" typescript >/dev/null && fail 'it draws'
    contains "$(cat typescript)" '--once'
    [ "$(grep -c '1049h' typescript)" = 0 ] || fail 'it draws'
    complains 3 appcontainer top missing --once
    stop
}

case_top_counts_the_requests_of_all_mounts() {
    make_app com.example.Other Other
    start
    appcontainer install "$DEVICE" "$WORK/Other.app"
    mkdir other
    appcontainer mount "$DEVICE" com.example.Other other
    local before after
    before=$(appcontainer top "$DEVICE" --json)
    mkdir "$DOCUMENTS/one" other/Documents/two other/Documents/three
    after=$(appcontainer top "$DEVICE" --json)
    python3 - "$before" "$after" <<'END'
import json, sys
before, after = map(json.loads, sys.argv[1:])
count = after["requests"]["mkdir"] - before["requests"].get("mkdir", 0)
assert count == 3, f"mkdir {count} times"
assert list(after) == sorted(after) and set(after) == {
    "time", "status", "apps", "requests", "requestsPerSecond", "refused"}, list(after)
for app in after["apps"]:
    assert set(app) == {"identifier", "name", "running", "state", "mountPoint"}, app
assert "mkdir" not in after["requestsPerSecond"], "a rate of what came before"
END
    appcontainer unmount other
    stop
}
