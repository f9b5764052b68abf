// SQLite's C interface, and what of it Swift cannot import: a call with variable arguments, and sums.
#pragma once
#include <sqlite3.h>

/// Refuses what a file made by somebody else could do to its reader: functions and virtual tables in its schema, and
/// writing to the schema's own tables.
static inline int sqlite3_distrust(sqlite3 *database) {
    int result = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    if (result == SQLITE_OK) result = sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    return result;
}

/// Extended codes, which are sums that Swift does not import.
static const int sqlite3_code_short_read = SQLITE_IOERR_SHORT_READ;
static const int sqlite3_code_corrupt_filesystem = SQLITE_IOERR_CORRUPTFS;
