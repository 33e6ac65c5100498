-- The processes that worked on the directory. Those that were killed, and the one that works now,
-- have no end.
CREATE TABLE IF NOT EXISTS process (
    id         INTEGER PRIMARY KEY,
    uuid       TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at   TEXT
) STRICT;
