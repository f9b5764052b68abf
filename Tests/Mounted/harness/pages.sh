# The commands that README.md and the pages of docs show, as their readers type them: in an empty directory.
# shellcheck shell=bash disable=SC2016

tour() { "$BASE/checkout/scripts/tour" --binary "$BASE/appcontainer" "$@"; }

oncecase_the_pages_commands_print_what_the_pages_say() { tour; }

case_a_page_that_says_otherwise_is_told() {
    local said
    page() { printf '```console\n%s\n```\n' "$@" >page.md; }
    page $'$ echo one; echo two\none\n...\n$ appcontainer --version | wc -l\n1\n$ echo three four\nthree …'
    tour page.md
    page $'$ x=1\n$ echo $x\n2'
    said=$(fails tour page.md)
    contains "$said" 'page.md:3: $ echo $x'
    contains "$said" $'-2\n+1'
    page $'$ echo one\n$ exit\n$ echo two\ntwo'
    contains "$(fails tour page.md)" 'the shell did not get beyond'
    page $'$ ls -d missing\n...\nnever'
    contains "$(fails tour page.md)" 'page.md:2: $ ls -d missing'
}
