-- Format 1. docs/database.md says what each field means. Instants are ISO 8601 in UTC with milliseconds, digests hexadecimal.

CREATE TABLE outcome (
    code  INTEGER PRIMARY KEY,
    name  TEXT NOT NULL UNIQUE,
    class TEXT NOT NULL
) STRICT;

CREATE TABLE crawl (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    definition TEXT,
    version    INTEGER,
    switch     TEXT NOT NULL DEFAULT 'on',
    next       TEXT
) STRICT;
CREATE INDEX crawl_next ON crawl (next) WHERE next IS NOT NULL;

CREATE TABLE "trigger" (
    crawl_id  INTEGER NOT NULL REFERENCES crawl (id),
    "trigger" TEXT NOT NULL,
    iteration INTEGER,
    handled   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (crawl_id, "trigger")
) STRICT, WITHOUT ROWID;

CREATE TABLE iteration (
    crawl_id   INTEGER NOT NULL REFERENCES crawl (id),
    number     INTEGER NOT NULL,
    status     TEXT NOT NULL,
    open       INTEGER NOT NULL,
    pages_left INTEGER,
    bytes_left INTEGER,
    token_out  INTEGER NOT NULL,
    due        TEXT,
    "trigger"  TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ends_at    TEXT,
    closed_at  TEXT,
    PRIMARY KEY (crawl_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX iteration_due ON iteration (due) WHERE due IS NOT NULL;

CREATE TABLE origin (
    id       INTEGER PRIMARY KEY,
    crawl_id INTEGER NOT NULL REFERENCES crawl (id),
    origin   TEXT NOT NULL,
    joined   INTEGER,
    UNIQUE (crawl_id, origin)
) STRICT;

CREATE TABLE lease (
    origin_id       INTEGER PRIMARY KEY REFERENCES origin (id),
    record          TEXT NOT NULL,
    due             TEXT,
    iteration       INTEGER GENERATED ALWAYS AS (record ->> '$.iteration') VIRTUAL,
    turn            INTEGER GENERATED ALWAYS AS (record ->> '$.turn') VIRTUAL,
    state           TEXT GENERATED ALWAYS AS (
                        iif(json_type(record, '$.state') = 'text', record ->> '$.state', 'leased')) VIRTUAL,
    until           TEXT GENERATED ALWAYS AS (record ->> '$.state.leased.until') VIRTUAL,
    not_before      TEXT GENERATED ALWAYS AS (record ->> '$.not_before') VIRTUAL,
    ending          TEXT GENERATED ALWAYS AS (record ->> '$.ending') VIRTUAL,
    taken           INTEGER GENERATED ALWAYS AS (record ->> '$.taken') VIRTUAL,
    segments        INTEGER GENERATED ALWAYS AS (record ->> '$.segments') VIRTUAL,
    retries_waiting INTEGER GENERATED ALWAYS AS (json_array_length(record, '$.retries')) VIRTUAL,
    requests        INTEGER GENERATED ALWAYS AS (record ->> '$.counters.requests') VIRTUAL,
    body_bytes      INTEGER GENERATED ALWAYS AS (record ->> '$.counters.body_bytes') VIRTUAL
) STRICT;
CREATE INDEX lease_due ON lease (due) WHERE due IS NOT NULL;

CREATE TABLE inbox (
    origin_id INTEGER PRIMARY KEY REFERENCES origin (id),
    record    TEXT NOT NULL,
    due       TEXT,
    iteration INTEGER GENERATED ALWAYS AS (record ->> '$.iteration') VIRTUAL,
    open      INTEGER GENERATED ALWAYS AS (record ->> '$.open') VIRTUAL,
    added     INTEGER GENERATED ALWAYS AS (record ->> '$.added') VIRTUAL,
    parsed    INTEGER GENERATED ALWAYS AS (record ->> '$.parsed') VIRTUAL,
    processed INTEGER GENERATED ALWAYS AS (record ->> '$.counters.processed') VIRTUAL,
    stuck     INTEGER GENERATED ALWAYS AS (record ->> '$.counters.stuck') VIRTUAL
) STRICT;
CREATE INDEX inbox_due ON inbox (due) WHERE due IS NOT NULL;

CREATE TABLE robots (
    origin_id  INTEGER PRIMARY KEY REFERENCES origin (id),
    record     TEXT NOT NULL,
    fetched_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
) STRICT;

CREATE TABLE todo (
    id         INTEGER PRIMARY KEY,
    origin_id  INTEGER NOT NULL REFERENCES origin (id),
    iteration  INTEGER NOT NULL,
    depth      INTEGER NOT NULL,
    source     TEXT NOT NULL,
    part       INTEGER NOT NULL,
    urls       INTEGER NOT NULL,
    json_bytes INTEGER NOT NULL,
    entries    BLOB NOT NULL,
    UNIQUE (origin_id, iteration, depth, source, part)
) STRICT;

CREATE TABLE leftover (
    origin_id INTEGER NOT NULL REFERENCES origin (id),
    iteration INTEGER NOT NULL,
    turn      INTEGER NOT NULL,
    reason    TEXT NOT NULL,
    urls      INTEGER NOT NULL,
    PRIMARY KEY (origin_id, iteration, turn)
) STRICT, WITHOUT ROWID;

CREATE TABLE segment (
    id            INTEGER PRIMARY KEY,
    origin_id     INTEGER NOT NULL REFERENCES origin (id),
    turn          INTEGER NOT NULL,
    n             INTEGER NOT NULL,
    iteration     INTEGER NOT NULL,
    token         TEXT NOT NULL,
    state         TEXT NOT NULL,
    part          INTEGER,
    object        TEXT NOT NULL UNIQUE,
    object_bytes  INTEGER NOT NULL,
    entries       INTEGER NOT NULL,
    committed_at  TEXT NOT NULL,
    attempts      INTEGER NOT NULL,
    due           TEXT,
    is_logged     INTEGER NOT NULL DEFAULT 0,
    is_documented INTEGER NOT NULL DEFAULT 0,
    UNIQUE (origin_id, turn, n)
) STRICT;
CREATE INDEX segment_due ON segment (due) WHERE due IS NOT NULL;

CREATE TABLE crawl_candidate (
    origin_id               INTEGER NOT NULL REFERENCES origin (id),
    path_query              TEXT NOT NULL,
    queued_in               INTEGER NOT NULL,
    claimed_by              TEXT NOT NULL,
    first_seen              TEXT NOT NULL,
    depth                   INTEGER NOT NULL,
    via                     TEXT,
    due_at                  TEXT,
    interval_ms             INTEGER,
    last_outcome            INTEGER REFERENCES outcome (code),
    last_at                 TEXT,
    last_iteration          INTEGER,
    last_turn               INTEGER,
    last_segment            INTEGER,
    last_contentful_outcome INTEGER REFERENCES outcome (code),
    last_contentful_at      TEXT,
    capture_outcome         INTEGER REFERENCES outcome (code),
    captured_at             TEXT,
    etag                    TEXT,
    last_modified           TEXT,
    payload_sha1            TEXT,
    decoded_sha1            TEXT,
    PRIMARY KEY (origin_id, path_query)
) STRICT, WITHOUT ROWID;

CREATE TABLE agent (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE crawl_log (
    id                 INTEGER PRIMARY KEY,
    crawl_uuid         TEXT,
    crawl_type         TEXT NOT NULL,
    agent_id           INTEGER NOT NULL REFERENCES agent (id),
    origin_id          INTEGER NOT NULL REFERENCES origin (id),
    iteration          INTEGER NOT NULL,
    url                TEXT NOT NULL,
    depth              INTEGER NOT NULL,
    via                TEXT,
    redirects          INTEGER NOT NULL,
    robotstxt_approved INTEGER,
    outcome            INTEGER NOT NULL REFERENCES outcome (code),
    is_final           INTEGER NOT NULL,
    tries              INTEGER NOT NULL,
    at                 TEXT NOT NULL,
    detail             TEXT
) STRICT;

CREATE TABLE request (
    id            INTEGER PRIMARY KEY REFERENCES crawl_log (id),
    sent_at       TEXT NOT NULL,
    duration_ms   INTEGER NOT NULL,
    first_byte_ms INTEGER,
    status        INTEGER,
    remote        TEXT
) STRICT;

CREATE TABLE file (
    id            INTEGER PRIMARY KEY REFERENCES crawl_log (id),
    record        TEXT NOT NULL,
    offset        INTEGER NOT NULL,
    length        INTEGER NOT NULL,
    content_type  TEXT,
    body_bytes    INTEGER NOT NULL,
    decoded_bytes INTEGER,
    payload_sha1  TEXT NOT NULL,
    decoded_sha1  TEXT,
    etag          TEXT,
    last_modified TEXT,
    truncated     TEXT
) STRICT;

CREATE TABLE redirect (
    id                 INTEGER PRIMARY KEY REFERENCES crawl_log (id),
    to_url             TEXT NOT NULL,
    is_permanent       INTEGER NOT NULL,
    information_source TEXT NOT NULL
) STRICT;

CREATE TABLE document (
    id      INTEGER PRIMARY KEY,
    url     TEXT NOT NULL,
    outcome INTEGER NOT NULL REFERENCES outcome (code),
    state   TEXT NOT NULL,
    detail  TEXT
) STRICT;

CREATE TABLE file_text (
    id          INTEGER PRIMARY KEY REFERENCES document (id),
    title       TEXT,
    description TEXT,
    language    TEXT,
    charset     TEXT,
    canonical   TEXT,
    noindex     INTEGER NOT NULL,
    nofollow    INTEGER NOT NULL,
    cut         TEXT NOT NULL,
    text        TEXT NOT NULL
) STRICT;

CREATE TABLE page_link (
    id    INTEGER PRIMARY KEY REFERENCES document (id),
    links TEXT NOT NULL
) STRICT;

CREATE TABLE link_kind (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE link_fate (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
