# shellcheck shell=bash
# How often cases repeat what no single run can show: kills, power cuts, locks under load. The one place of these counts.
# Sourced by lib.sh. FULL is 1 in a full run (`run --full`); ROUNDS, a number, takes the place of every count (`run --rounds N`).

# NAME                    PLAIN    FULL
COUNTS='
kills                        20     120
kills_of_one_writer           6      25
kills_in_purges              20     100
kills_in_updates             20     100
power_cuts                    4      12
power_cuts_in_updates         4      15
locks_under_load            150    1000
locks_under_queued_writers    8      25
files_in_one_directory    10000  100000
'

# rounds NAME: the count of that name for this run.
rounds() {
    local name plain full
    while read -r name plain full; do
        if [ "$name" = "$1" ]; then
            if [ "${FULL-}" = 1 ]; then plain=$full; fi
            echo "${ROUNDS:-$plain}"
            return
        fi
    done <<<"$COUNTS"
    fail "kit/rounds.sh has no count named $1"
}
