-- Upgrades the tables from format 2 to format 3.

CREATE TABLE domain (
    name    TEXT PRIMARY KEY,
    record  TEXT NOT NULL,
    asked   INTEGER GENERATED ALWAYS AS (json_array_length(record, '$.holders')) VIRTUAL,
    waiting INTEGER GENERATED ALWAYS AS (json_array_length(record, '$.waiting')) VIRTUAL
) STRICT, WITHOUT ROWID;
