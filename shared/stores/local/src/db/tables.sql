-- Format 1. docs/reference/database.md says what each field means. Instants are ISO 8601 in UTC
-- with milliseconds, digests hexadecimal; in the three tables with a row for each URL or visit
-- (known_url, visit, document) instants are milliseconds since 1970, and digests are bytes.

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
    version    INTEGER,
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
    cursors    TEXT,
    task       TEXT,
    pruned_at  TEXT,
    origins    INTEGER NOT NULL DEFAULT 0,
    joined_before INTEGER,
    PRIMARY KEY (crawl_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX iteration_due ON iteration (due) WHERE due IS NOT NULL;

CREATE TABLE counter (
    crawl_id  INTEGER NOT NULL REFERENCES crawl (id),
    iteration INTEGER NOT NULL,
    name      TEXT NOT NULL,
    number    INTEGER NOT NULL,
    PRIMARY KEY (crawl_id, iteration, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE origin (
    id       INTEGER PRIMARY KEY,
    crawl_id INTEGER NOT NULL REFERENCES crawl (id),
    origin   TEXT NOT NULL,
    joined   INTEGER,
    UNIQUE (crawl_id, origin)
) STRICT;

CREATE INDEX origin_joined ON origin (crawl_id, joined) WHERE joined IS NOT NULL;

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

CREATE TABLE seeding (
    origin_id INTEGER NOT NULL REFERENCES origin (id),
    iteration INTEGER NOT NULL,
    seeding   TEXT NOT NULL,
    PRIMARY KEY (origin_id, iteration, seeding)
) STRICT, WITHOUT ROWID;

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
    put_off       INTEGER NOT NULL DEFAULT 0,
    committed_at  TEXT NOT NULL,
    attempts      INTEGER NOT NULL,
    parsing       TEXT,
    due           TEXT,
    is_logged     INTEGER NOT NULL DEFAULT 0,
    is_documented INTEGER NOT NULL DEFAULT 0,
    is_stored     INTEGER NOT NULL DEFAULT 1,
    UNIQUE (origin_id, turn, n)
) STRICT;
CREATE INDEX segment_due ON segment (due) WHERE due IS NOT NULL;

-- A URL has its row number from when it is first claimed, so URLs that are visited one after
-- another are next to each other.
CREATE TABLE known_url (
    id                      INTEGER PRIMARY KEY,
    origin_id               INTEGER NOT NULL REFERENCES origin (id),
    path_query              TEXT NOT NULL,
    queued_in               INTEGER NOT NULL,
    claimed_by              TEXT NOT NULL,
    first_seen              INTEGER NOT NULL,
    depth                   INTEGER NOT NULL,
    via                     TEXT,
    due_at                  INTEGER,
    interval_ms             INTEGER,
    last_outcome            INTEGER REFERENCES outcome (code),
    last_at                 INTEGER,
    last_iteration          INTEGER,
    last_turn               INTEGER,
    last_segment            INTEGER,
    last_contentful_outcome INTEGER REFERENCES outcome (code),
    last_contentful_at      INTEGER,
    capture_outcome         INTEGER REFERENCES outcome (code),
    captured_at             INTEGER,
    etag                    TEXT,
    last_modified           TEXT,
    payload_sha1            BLOB,
    decoded_sha1            BLOB,
    read_by                 INTEGER,
    document_id             INTEGER,
    document_outcome        INTEGER REFERENCES outcome (code),
    standing                TEXT,
    links_by                INTEGER,
    links_depth             INTEGER,
    checked_at              INTEGER,
    changed_at              INTEGER,
    away                    TEXT,
    away_since              INTEGER,
    blocked_by              INTEGER,
    requisite_steps         INTEGER NOT NULL DEFAULT 0,
    named_by                INTEGER NOT NULL DEFAULT 0,
    read_as                 TEXT,
    nearer                  TEXT,
    UNIQUE (origin_id, path_query)
) STRICT;

CREATE TABLE agent (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- What is logged of a URL, with the request (if duration_ms is not NULL) and the response (if
-- record is not NULL).
CREATE TABLE visit (
    id                 INTEGER PRIMARY KEY,
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
    at                 INTEGER NOT NULL,
    detail             TEXT,
    body_of            INTEGER REFERENCES visit (id),
    change             TEXT,
    changed_parts      TEXT,
    duration_ms        INTEGER,
    first_byte_ms      INTEGER,
    status             INTEGER,
    remote             TEXT,
    record             TEXT,
    offset             INTEGER,
    length             INTEGER,
    content_type       TEXT,
    body_bytes         INTEGER,
    decoded_bytes      INTEGER,
    payload_sha1       BLOB,
    decoded_sha1       BLOB,
    etag               TEXT,
    last_modified      TEXT,
    truncated          TEXT,
    resends            INTEGER,
    page_requests      TEXT
) STRICT;
CREATE INDEX visit_url ON visit (url, iteration) WHERE is_final = 1;
CREATE INDEX visit_body ON visit (body_of) WHERE body_of IS NOT NULL;
CREATE INDEX visit_other ON visit (url) WHERE is_final = 0;

CREATE TABLE redirect (
    id                 INTEGER PRIMARY KEY REFERENCES visit (id),
    to_url             TEXT NOT NULL,
    is_permanent       INTEGER NOT NULL,
    information_source TEXT NOT NULL
) STRICT;

-- With what is known of a page besides its text and links, if it is one: if cut is not NULL.
CREATE TABLE document (
    id          INTEGER PRIMARY KEY,
    url         TEXT NOT NULL,
    outcome     INTEGER NOT NULL REFERENCES outcome (code),
    state       TEXT NOT NULL,
    detail      TEXT,
    body_id     INTEGER,
    title       TEXT,
    description TEXT,
    language    TEXT,
    charset     TEXT,
    canonical   TEXT,
    noindex     INTEGER,
    nofollow    INTEGER,
    cut         TEXT,
    made_by     TEXT,
    words       INTEGER,
    simhash     INTEGER
) STRICT;

-- What is large of a document, if it has any: apart from it, so that looking through documents
-- reads none of this.
CREATE TABLE document_text (
    id    INTEGER PRIMARY KEY REFERENCES document (id),
    links TEXT,
    text  TEXT
) STRICT;

-- A document's content as JSON, with columns of it.
CREATE TABLE content (
    id                INTEGER PRIMARY KEY REFERENCES document (id),
    record            TEXT NOT NULL,
    headline          TEXT GENERATED ALWAYS AS (record ->> '$.about.title') VIRTUAL,
    excerpt           TEXT GENERATED ALWAYS AS (record ->> '$.about.excerpt') VIRTUAL,
    author            TEXT GENERATED ALWAYS AS (record ->> '$.about.author') VIRTUAL,
    site_name         TEXT GENERATED ALWAYS AS (record ->> '$.about.site_name') VIRTUAL,
    published         TEXT GENERATED ALWAYS AS (record ->> '$.about.published') VIRTUAL,
    modified          TEXT GENERATED ALWAYS AS (record ->> '$.about.modified') VIRTUAL,
    image             TEXT GENERATED ALWAYS AS (record ->> '$.about.image') VIRTUAL,
    language_detected TEXT GENERATED ALWAYS AS (record ->> '$.about.language_detected') VIRTUAL,
    words             INTEGER GENERATED ALWAYS AS (record ->> '$.about.words') VIRTUAL,
    text_sha1         TEXT GENERATED ALWAYS AS (record ->> '$.about.text_sha1') VIRTUAL,
    simhash           TEXT GENERATED ALWAYS AS (record ->> '$.about.simhash') VIRTUAL,
    headings          TEXT GENERATED ALWAYS AS (record -> '$.about.headings') VIRTUAL,
    images            TEXT GENERATED ALWAYS AS (record -> '$.about.images') VIRTUAL,
    hreflang          TEXT GENERATED ALWAYS AS (record -> '$.about.hreflang') VIRTUAL,
    feeds             TEXT GENERATED ALWAYS AS (record -> '$.about.feeds') VIRTUAL,
    meta              TEXT GENERATED ALWAYS AS (record -> '$.about.meta') VIRTUAL,
    main_words        INTEGER GENERATED ALWAYS AS (record ->> '$.main.words') VIRTUAL,
    main_text         TEXT GENERATED ALWAYS AS (record ->> '$.main.text') VIRTUAL,
    markdown          TEXT GENERATED ALWAYS AS (record ->> '$.main.markdown') VIRTUAL,
    validation_type   TEXT GENERATED ALWAYS AS (record ->> '$.validity.type') VIRTUAL,
    valid             INTEGER GENERATED ALWAYS AS (json_array_length(record, '$.validity.flaws') = 0) VIRTUAL,
    flaws             TEXT GENERATED ALWAYS AS (record -> '$.validity.flaws') VIRTUAL,
    misfits           TEXT GENERATED ALWAYS AS (record -> '$.misfits') VIRTUAL,
    gaps              TEXT GENERATED ALWAYS AS (record -> '$.gaps') VIRTUAL
) STRICT;

CREATE TABLE difference (
    id            INTEGER PRIMARY KEY REFERENCES document (id),
    since_id      INTEGER NOT NULL,
    parts         TEXT NOT NULL,
    links_added   TEXT NOT NULL,
    links_removed TEXT NOT NULL
) STRICT;

CREATE TABLE link_kind (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE link_disposition (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

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

CREATE TABLE domain (
    name    TEXT PRIMARY KEY,
    record  TEXT NOT NULL,
    asked   INTEGER GENERATED ALWAYS AS (json_array_length(record, '$.holders')) VIRTUAL,
    waiting INTEGER GENERATED ALWAYS AS (json_array_length(record, '$.waiting')) VIRTUAL
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

-- What people were told once of a crawl.
CREATE TABLE told (
    crawl_id INTEGER NOT NULL REFERENCES crawl (id),
    fact     TEXT NOT NULL,
    at       TEXT NOT NULL,
    PRIMARY KEY (crawl_id, fact)
) STRICT, WITHOUT ROWID;

CREATE TABLE past_definition (
    crawl_id   INTEGER NOT NULL REFERENCES crawl (id),
    version    INTEGER NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (crawl_id, version)
) STRICT, WITHOUT ROWID;
