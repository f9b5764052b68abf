// Tests of databases that hear of suspensions: GRDB's notification ends what is under way in the whole process.

import Testing

/// One after the other, so that no test's notification reaches another's database.
@Suite(.serialized) enum OneProcessTests {}
