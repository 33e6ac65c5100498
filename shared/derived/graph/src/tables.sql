-- What the graph was made of; one row. docs/reference/links.md says what the fields mean.
CREATE TABLE made (
    made_from TEXT NOT NULL,
    iteration INTEGER NOT NULL
) STRICT;

-- Every URL that the crawl knows, or that a page links to.
CREATE TABLE node (
    id               INTEGER PRIMARY KEY,
    url              TEXT NOT NULL UNIQUE,
    host             TEXT NOT NULL,
    state            TEXT NOT NULL,
    is_start         INTEGER NOT NULL DEFAULT 0,
    is_broken        INTEGER NOT NULL DEFAULT 0,
    is_checked       INTEGER NOT NULL DEFAULT 0,
    outcome          INTEGER,
    outcome_name     TEXT,
    status           INTEGER,
    detail           TEXT,
    duration_ms      INTEGER,
    last_at          TEXT,
    last_iteration   INTEGER,
    content_type     TEXT,
    body_bytes       INTEGER,
    title            TEXT,
    description      TEXT,
    language         TEXT,
    canonical        TEXT,
    words            INTEGER,
    text_sha1        TEXT,
    body_sha1        TEXT,
    simhash          INTEGER,
    redirects_to     INTEGER,
    lands_on         INTEGER NOT NULL DEFAULT 0,
    hops             INTEGER NOT NULL DEFAULT 0,
    chain            TEXT,
    depth            INTEGER,
    rank             REAL,
    linked_from      INTEGER NOT NULL DEFAULT 0,
    links_to         INTEGER NOT NULL DEFAULT 0,
    in_sitemap       INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE kind (
    id            INTEGER PRIMARY KEY,
    name          TEXT NOT NULL UNIQUE,
    leads_to_page INTEGER NOT NULL
) STRICT;

CREATE TABLE disposition (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE anchor (
    id   INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

-- The links of the pages that are shown, in the order of each page.
CREATE TABLE edge (
    from_id     INTEGER NOT NULL,
    place       INTEGER NOT NULL,
    to_id       INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    disposition INTEGER NOT NULL,
    anchor      INTEGER,
    PRIMARY KEY (from_id, place)
) STRICT, WITHOUT ROWID;

-- Pages whose text is nearly that of another, with how many bits their fingerprints differ in.
CREATE TABLE near (
    id       INTEGER PRIMARY KEY,
    like_id  INTEGER NOT NULL,
    distance INTEGER NOT NULL
) STRICT;
