# shellcheck shell=bash
# How often and how long cases repeat what no single run can show: kills, power cuts, random calls. The one place of these
# counts. FULL is 1 in a full run (`run --full`); ROUNDS, a number, takes the place of each count of kills, cuts and locks
# (`run --rounds N`). Sourced by lib.sh and run.

# NAME                    PLAIN    FULL
COUNTS='
kills                        20     120
exchanges_by_command          1      25
exchanges_in_calls           25     800
kills_of_one_writer           6      25
kills_in_purges              20     100
kills_in_updates             20     100
kills_of_imports             10      60
kills_of_plugins              5      40
power_cuts                    4      12
power_cuts_in_updates         4      15
locks_under_load            150    1000
locks_under_queued_writers    8      25
hard_links_of_one_file     2000 1000000
refusals_of_a_process     10000   50000
turns_of_the_same_work        5      60
directories_in_each_other 20000  100000
files_in_one_directory    10000  100000
files_open_at_once         3000   12000
bursts_of_open_files          3       8
files_in_the_tree          3000    8000
seconds_of_random_calls       2       4
seconds_of_random_requests   25     400
seconds_of_asking_for_lines   8     200
seconds_of_a_storm_of_names   2      20
seconds_in_one_group          5      15
seconds_of_a_slow_write       8      12
'

# rounds NAME: the count of that name for this run.
rounds() {
    local name plain full
    while read -r name plain full; do
        if [ "$name" = "$1" ]; then
            if [ "${FULL-}" = 1 ]; then plain=$full; fi
            case $name in kill* | power* | locks*) plain=${ROUNDS:-$plain} ;; esac
            echo "$plain"
            return
        fi
    done <<<"$COUNTS"
    echo "kit/rounds.sh has no count named $1" >&2
    return 1
}
