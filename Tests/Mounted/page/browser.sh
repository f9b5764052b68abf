# A device's page in a browser: every control with what it does to the device, what it shows, and what it says when the
# device or the command is gone. Other commands and calls at the mount tell what is so, not the page.
# shellcheck shell=bash disable=SC2164

in_browser() {
    command -v chromium >/dev/null || fail "there is no chromium; these tests need it (scripts/prepare)"
    PYTHONPATH=$PYTHONPATH:$BASE/checkout/Tests/Site within \
        /usr/bin/python3 "$HERE/$1.py" "$2" "$DEVICE" "$APP" "$MOUNT"
}

oncecase_a_page_is_let_in_by_its_link_and_after_a_reload() {
    start
    in_browser admitted a_reload_is_let_in,a_tab_without_a_link_says_so
}

oncecase_the_controls_of_a_page_lock_and_unlock_a_device() {
    start_protected
    in_browser device_actions device_locks
}

oncecase_the_controls_of_a_page_restart_a_device_and_advance_its_clock() {
    start_protected
    in_browser device_actions device_restarts_and_its_clock_goes_ahead
}

oncecase_a_page_tells_how_long_a_passcode_waits() {
    start_protected
    in_browser device_actions wrong_passcodes_have_to_wait
}

oncecase_the_controls_of_a_page_purge_after_a_look_and_back_up() {
    start
    in_browser device_actions device_is_purged_after_a_look,surroundings_are_switched,device_is_backed_up
}

oncecase_the_controls_of_a_page_purge_by_age_and_by_free_space() {
    start
    in_browser device_actions device_is_purged_by_age_and_by_free_space
}

oncecase_the_controls_of_a_page_encrypt_a_backup_and_cancel_one() {
    start
    in_browser device_actions purge_and_backup_are_of_one_app,finder_backup_has_its_password,backup_is_cancelled
}

oncecase_the_controls_of_a_page_handle_an_app() {
    start
    in_browser app_actions app_is_suspended_and_ended,files_are_delivered,report_is_taken
}

oncecase_the_controls_of_a_page_exclude_and_protect_files() {
    start_protected
    in_browser app_actions files_are_excluded_and_protected,lines_work_without_a_mount
}

oncecase_a_page_shows_files_as_they_are_and_change() {
    start
    in_browser looked files_are_sorted_filtered_and_followed,the_map_leads_to_files,the_legend_filters_the_files
}

oncecase_a_page_has_every_file_after_bursts_of_changes() {
    start
    in_browser followed files_stay_true_through_bursts,damage_is_to_be_seen
}

oncecase_the_row_that_is_meant_stays_so() {
    start
    in_browser rows a_row_that_is_shown_is_the_one_that_is_meant,the_row_that_is_meant_stays_so
}

oncecase_many_pages_of_one_browser_follow_a_device() {
    start
    in_browser followed pages_of_a_browser_share_what_they_follow,an_older_page_takes_nothing_from_a_newer_one
    in_browser followed a_record_that_comes_slowly_is_the_same_one
}

oncecase_a_page_is_steady_under_the_hand_of_its_reader() {
    start
    in_browser followed controls_stay_while_the_page_changes,lines_are_copied_by_keys
    in_browser followed a_pointer_that_passes_by_leaves_the_line,events_lead_to_files_that_are_there_alone
    in_browser followed a_reader_keeps_the_place_when_the_device_comes_back,the_order_is_kept_for_an_app_that_comes
    in_browser followed the_last_app_takes_its_files_with_it
}

oncecase_a_page_says_what_it_cannot_do() {
    start
    in_browser followed a_page_tells_apart_slow_and_ended,what_cannot_be_delivered_is_said,a_purge_needs_its_amount
    in_browser followed the_time_line_tells_when_the_device_was_off,a_page_keeps_to_its_own_device
}

rootoncecase_a_page_shows_changes_of_what_apps_share() {
    make_app com.example.Other Other
    start --group group.com.example.shared
    appcontainer install "$DEVICE" "$WORK/Other.app" --group group.com.example.shared
    mkdir other
    appcontainer mount "$DEVICE" com.example.Other other
    in_browser looked files_of_groups_are_followed
}

oncecase_a_page_tells_all_of_a_file_and_explains_refusals() {
    start_protected
    in_browser looked a_files_page_tells_all_of_it,events_are_explained_and_lead_to_their_files
    in_browser looked new_events_are_told_to_a_reader_further_down
}

oncecase_an_extension_has_a_page_of_its_own() {
    local bundle=$WORK/Extended.app/PlugIns/Share.appex
    make_app "$APP" Extended
    rm -rf Extended.app/_CodeSignature
    mkdir -p "$bundle" "$MOUNT" share
    sed "s/$APP/$APP.Share/; s|<string>Notes</string>|<string>Share</string>|" Extended.app/Info.plist \
        >"$bundle/Info.plist"
    printf '#!/bin/sh\n' >"$bundle/Share"
    chmod +x "$bundle/Share"
    mv Extended.app Notes.app
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" Notes.app
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    appcontainer mount "$DEVICE" "$APP.Share" share
    in_browser looked extensions_have_pages_of_their_own
}

oncecase_a_report_draws_itself_in_a_browser() {
    start_protected
    in_browser reported a_report_draws_itself
}

oncecase_axe_finds_nothing_on_a_page_and_a_report() {
    start_protected
    in_browser accessible a_page_is_fit_for_every_reader
    in_browser reported a_report_is_fit_for_every_reader
}

oncecase_a_page_is_handled_by_keys_alone() {
    start_protected
    in_browser accessible every_control_is_reached_by_keys,files_are_handled_by_keys_alone
    in_browser accessible the_focus_stays_with_what_is_meant
    in_browser accessible dialogs_are_handled_by_keys_alone,map_and_record_are_handled_by_keys_alone
}

oncecase_names_on_a_page_are_text_and_its_lines_are_of_their_files() {
    make_app "$APP" Named
    sed -i '/DisplayName/{n;s|Notes|\&lt;b\&gt;No\xe2\x80\xaetes|}' Named.app/Info.plist
    rm -rf Named.app/_CodeSignature
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" Named.app
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    in_browser looked names_are_text_everywhere
}

oncecase_a_page_without_rights_without_its_device_and_without_its_command() {
    start
    in_browser looked a_page_that_only_looks_has_no_actions,a_page_outlives_its_device_and_says_so
}
