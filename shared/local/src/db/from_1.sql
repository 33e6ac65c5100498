-- What brings the tables of format 1 up to format 2: what came to tables.sql since.

ALTER TABLE segment ADD COLUMN put_off INTEGER NOT NULL DEFAULT 0;
ALTER TABLE segment ADD COLUMN parsing TEXT;

CREATE TABLE setting (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
