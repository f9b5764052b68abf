# Ordinary tools on an ordinary tree: what they do on any filesystem they do here.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

case_untar_thousands_of_files_and_compare_byte_for_byte_after_a_remount() {
    start
    mkdir "$DOCUMENTS/tree"
    tar -xf "$BASE/tree.tar" -C "$DOCUMENTS/tree"
    again
    diff -r --no-dereference "$BASE/tree" "$DOCUMENTS/tree"
    same "$(find "$DOCUMENTS/tree" | wc -l)" "$(find "$BASE/tree" | wc -l)" "entries"
    whole
}

oncecase_rsync_checksums_agree_both_ways() {
    start
    local tree
    tree=$(some_tree)
    rsync -aX "$tree/" "$DOCUMENTS/tree/"
    same_tree "$tree" "$DOCUMENTS/tree"
    again
    same_tree "$tree" "$DOCUMENTS/tree"
    rsync -aXc "$DOCUMENTS/tree/" "$WORK/out/"
    same_tree "$DOCUMENTS/tree" "$WORK/out"
    # A second pass has nothing to do, and exit status 23 would be an attribute that could not be set or removed.
    same "$(rsync -aXc --itemize-changes "$DOCUMENTS/tree/" "$WORK/out/")" "" "a second pass"
    same "$(rsync -aXc --itemize-changes "$WORK/out/" "$DOCUMENTS/tree/")" "" "and back"
}

case_git_init_add_commit_fsck_clone() {
    export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=T GIT_AUTHOR_EMAIL=t@example.com
    export GIT_COMMITTER_NAME=T GIT_COMMITTER_EMAIL=t@example.com
    start
    git init -q "$DOCUMENTS/repository"
    cd "$DOCUMENTS/repository"
    cp -R "$BASE/tree/usr/include/linux" .
    git add .
    git commit -qm first
    sed -i '1i // changed' linux/*.h
    git commit -qam second
    git gc -q
    git fsck --strict --no-progress
    git clone -q "$DOCUMENTS/repository" "$DOCUMENTS/clone"
    git clone -q "$DOCUMENTS/repository" "$WORK/outside"
    diff -r -x .git "$DOCUMENTS/repository" "$WORK/outside"
    cd "$WORK"
    again
    cd "$DOCUMENTS/clone"
    git fsck --strict --no-progress
    same "$(git status --porcelain)" "" "status after a remount"
    same "$(git rev-list --count HEAD)" 2 commits
    cd "$WORK"
}

# four writers, 250 rows each: writers DATABASE…, one process for each name given
writers() {
    local number=0 database
    local -a processes=()
    for database; do
        number=$((number + 1))
        (
            exec 9>&-
            for row in $(seq 250); do
                echo "insert into note(writer, row, body) values ($number, $row, hex(randomblob(200)));"
            done | sqlite3 -bail -cmd '.timeout 60000' "$database"
        ) &
        processes+=($!)
    done
    for process in "${processes[@]}"; do wait "$process" || fail "a writer failed"; done
}

case_sqlite_wal_with_four_writing_processes_in_one_app() {
    start
    database=$MOUNT/Library/notes.db
    same "$(sqlite3 "$database" 'pragma journal_mode=wal')" wal "journal mode"
    sqlite3 "$database" 'create table note(id integer primary key, writer, row, body)'
    writers "$database" "$database" "$database" "$database"
    same "$(sqlite3 "$database" 'select count(*), count(distinct writer * 1000 + row) from note')" "1000|1000" rows
    same "$(sqlite3 "$database" 'pragma integrity_check')" ok integrity
    again
    same "$(sqlite3 "$database" 'select count(*) from note')" 1000 "rows after a remount"
    same "$(sqlite3 "$database" 'pragma integrity_check')" ok "integrity after a remount"
}

rootcase_sqlite_wal_through_a_group_from_two_apps() {
    make_app com.example.Tasks Tasks
    start --group group.com.example.shared
    mkdir "$WORK/tasks"
    appcontainer install "$DEVICE" "$WORK/Tasks.app" --group group.com.example.shared
    appcontainer mount "$DEVICE" com.example.Tasks "$WORK/tasks"
    first=$MOUNT/Groups/group.com.example.shared/shared.db
    second=$WORK/tasks/Groups/group.com.example.shared/shared.db
    sqlite3 "$first" 'pragma journal_mode=wal; create table note(id integer primary key, writer, row, body)'
    writers "$first" "$second" "$first" "$second"
    for database in "$first" "$second"; do
        same "$(sqlite3 "$database" 'select count(*), count(distinct writer * 1000 + row) from note')" "1000|1000" rows
        same "$(sqlite3 "$database" 'pragma integrity_check')" ok integrity
    done
    # One file: a lock that one app holds keeps the other out.
    expect <<TABLE
ok open $first rw
TABLE
    same "$(stat -c %i "$first")" "$(stat -c %i "$second")" "inode numbers"
    appcontainer unmount "$WORK/tasks"
}

usercase_sqlite_through_a_group_from_two_apps_in_turn() {
    make_app com.example.Tasks Tasks
    start --group group.com.example.shared
    mkdir "$WORK/tasks"
    appcontainer install "$DEVICE" "$WORK/Tasks.app" --group group.com.example.shared
    database=$MOUNT/Groups/group.com.example.shared/shared.db
    sqlite3 "$database" 'pragma journal_mode=wal; create table note(id integer primary key, writer, row, body)'
    writers "$database" "$database"
    # Two sessions over one file would be two page caches: refused, with an exit code of its own.
    complains 19 appcontainer mount "$DEVICE" com.example.Tasks "$WORK/tasks"
    appcontainer unmount "$MOUNT"
    appcontainer mount "$DEVICE" com.example.Tasks "$WORK/tasks"
    database=$WORK/tasks/Groups/group.com.example.shared/shared.db
    writers "$database" "$database"
    same "$(sqlite3 "$database" 'select count(*) from note; pragma integrity_check')" $'1000\nok' "rows and integrity"
    appcontainer unmount "$WORK/tasks"
}

case_compile_and_run_a_c_program() {
    start
    cd "$DOCUMENTS"
    printf '#include <stdio.h>\nint answer(void);\nint main(void) { printf("%%d\\n", answer()); return 0; }\n' >main.c
    printf 'int answer(void) { return 42; }\n' >answer.c
    cc -c -o answer.o answer.c
    ar rc libanswer.a answer.o
    cc -O1 -o program main.c libanswer.a
    same "$(./program)" 42 "the program"
    # An executable that runs cannot be written to, here as elsewhere.
    cc -shared -fPIC -o libanswer.so answer.c
    cc -o dynamic main.c -L. -lanswer -Wl,-rpath,"$PWD"
    same "$(./dynamic)" 42 "with a shared library"
    cd "$WORK"
    again
    same "$("$DOCUMENTS/program")" 42 "after a remount"
}

case_cp_a_and_mv_keep_everything() {
    start
    mkdir source
    cp -a "$BASE/tree/usr/include/linux" source/headers
    echo text >source/file
    chmod 640 source/file
    touch -d '2001-02-03 04:05:06.789012345' source/file
    setfattr -n user.note -v value source/file
    ln source/file source/hard
    ln -s file source/soft
    ln -s nowhere/at/all source/dangling
    mkfifo source/fifo
    cp -a source "$DOCUMENTS/copy"
    same_tree source "$DOCUMENTS/copy"
    same "$(stat -c %h "$DOCUMENTS/copy/file")" 2 "links"
    same "$(stat -c %Y.%y "$DOCUMENTS/copy/file")" "$(stat -c %Y.%y source/file)" "time"
    mv "$DOCUMENTS/copy" "$MOUNT/Library/moved"
    same_tree source "$MOUNT/Library/moved"
    again
    same_tree source "$MOUNT/Library/moved"
    mv "$MOUNT/Library/moved" "$WORK/outside"
    same_tree source "$WORK/outside"
    absent "$MOUNT/Library/moved"
}

case_sed_i_and_vim_edit_in_place() {
    start
    seq 1000 >"$DOCUMENTS/numbers"
    sed -i 's/^5/five/' "$DOCUMENTS/numbers"
    vim -es -u NONE -N -c '%s/^7/seven/' -c 'wq' "$DOCUMENTS/numbers"
    same "$(sha256sum <"$DOCUMENTS/numbers")" "$(seq 1000 | sed 's/^5/five/; s/^7/seven/' | sha256sum)" content
    # With backup and swap files, and writing through an existing name.
    vim -es -N -u NONE -c 'set backup writebackup backupcopy=yes' -c '1d' -c 'wq' "$DOCUMENTS/numbers"
    same "$(wc -l <"$DOCUMENTS/numbers")" 999 lines
    same "$(wc -l <"$DOCUMENTS/numbers~")" 1000 "lines of the backup"
    sed -i.bak '1d' "$DOCUMENTS/numbers"
    same "$(wc -l <"$DOCUMENTS/numbers")" 998 lines
}

case_find_du_df() {
    start
    mkdir "$DOCUMENTS/tree"
    tar -xf "$BASE/tree.tar" -C "$DOCUMENTS/tree"
    for test in "-type f" "-type l" "-type d -empty" "-size +64k" "-name *.h" "-type f -newermt 2015-01-01" "-perm -111"; do
        read -ra words <<<"$test"
        same "$(cd "$DOCUMENTS/tree" && find . "${words[@]}" | sort | sha256sum)" \
            "$(cd "$BASE/tree" && find . "${words[@]}" | sort | sha256sum)" "find $test"
    done
    same "$(find "$DOCUMENTS/tree" -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')" \
        "$(find "$BASE/tree" -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')" "sum of sizes"
    # Whole blocks and a page or two for each file, no more.
    ours=$(du -s -B1 "$DOCUMENTS/tree" | cut -f1)
    host=$(du -s -B1 "$BASE/tree" | cut -f1)
    [ "$ours" -gt 0 ] && [ "$ours" -lt $((host * 3)) ] || fail "du: $ours, the host: $host"
    same "$(df -B1 --output=size "$MOUNT" | tail -1)" "$(df -B1 --output=size "$DEVICE" | tail -1)" "df: size"
    [ "$(df --output=avail "$MOUNT" | tail -1)" -gt 0 ] || fail "df: nothing available"
    df -i "$MOUNT"
}

case_tar_with_attributes_both_ways() {
    start
    mkdir "$DOCUMENTS/marked"
    for name in one two three; do
        echo "$name" >"$DOCUMENTS/marked/$name"
        setfattr -n user.note -v "about $name" "$DOCUMENTS/marked/$name"
        setfattr -n com.apple.TextEncoding -v utf-8 "$DOCUMENTS/marked/$name"
    done
    tar --xattrs -cf out.tar -C "$DOCUMENTS" marked
    mkdir outside
    tar --xattrs --xattrs-include='*' -xf out.tar -C outside
    same_tree "$DOCUMENTS/marked" outside/marked
    same "$(getfattr --only-values -n user.com.apple.TextEncoding outside/marked/two)" utf-8 "on the host"
    rm -r "$DOCUMENTS/marked"
    tar --xattrs --xattrs-include='*' -xf out.tar -C "$DOCUMENTS"
    same_tree outside/marked "$DOCUMENTS/marked"
    same "$(getfattr --only-values -n com.apple.TextEncoding "$DOCUMENTS/marked/three")" utf-8 "back again"
}
