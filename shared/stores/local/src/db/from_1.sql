-- Upgrades the tables from format 1 to format 2: what was added to tables.sql.

ALTER TABLE segment ADD COLUMN put_off INTEGER NOT NULL DEFAULT 0;
ALTER TABLE segment ADD COLUMN parsing TEXT;
ALTER TABLE iteration ADD COLUMN version INTEGER;
ALTER TABLE iteration ADD COLUMN cursors TEXT;

CREATE TABLE seeding (
    origin_id INTEGER NOT NULL REFERENCES origin (id),
    iteration INTEGER NOT NULL,
    seeding   TEXT NOT NULL,
    PRIMARY KEY (origin_id, iteration, seeding)
) STRICT, WITHOUT ROWID;

CREATE TABLE setting (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE host (
    name       TEXT PRIMARY KEY,
    record     TEXT NOT NULL,
    until      TEXT GENERATED ALWAYS AS (record ->> '$.holder.until') VIRTUAL,
    free_from  TEXT GENERATED ALWAYS AS (record ->> '$.free_from') VIRTUAL,
    waiting    INTEGER GENERATED ALWAYS AS (json_array_length(record, '$.waiting')) VIRTUAL
) STRICT, WITHOUT ROWID;

CREATE TABLE notice (
    crawl_id INTEGER NOT NULL REFERENCES crawl (id),
    key      TEXT NOT NULL,
    notice   TEXT NOT NULL,
    since    TEXT NOT NULL,
    due      TEXT NOT NULL,
    PRIMARY KEY (crawl_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX notice_due ON notice (due);

CREATE TABLE past_definition (
    crawl_id   INTEGER NOT NULL REFERENCES crawl (id),
    version    INTEGER NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (crawl_id, version)
) STRICT, WITHOUT ROWID;
