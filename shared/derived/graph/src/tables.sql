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
    in_sitemap       INTEGER NOT NULL DEFAULT 0,
    has_markup       INTEGER NOT NULL DEFAULT 0,
    h1               INTEGER,
    undescribed      INTEGER
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

-- References of pages that are not valid URLs, in the order of each page.
CREATE TABLE malformed (
    from_id INTEGER NOT NULL,
    place   INTEGER NOT NULL,
    kind    INTEGER NOT NULL,
    written TEXT NOT NULL,
    why     TEXT NOT NULL,
    text    TEXT,
    PRIMARY KEY (from_id, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE malformed_reason (
    name        TEXT PRIMARY KEY,
    explanation TEXT NOT NULL,
    is_hint     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Where pages use their links. An edge without any is used once, and no more is known. rel, alt and
-- text are anchors; without a text it is that of the edge.
CREATE TABLE link_use (
    from_id  INTEGER NOT NULL,
    place    INTEGER NOT NULL,
    n        INTEGER NOT NULL,
    fragment TEXT,
    part     TEXT,
    rel      INTEGER,
    alt      INTEGER,
    text     INTEGER,
    PRIMARY KEY (from_id, place, n)
) STRICT, WITHOUT ROWID;

-- Links of pages to places in themselves.
CREATE TABLE own_fragment (
    from_id  INTEGER NOT NULL,
    n        INTEGER NOT NULL,
    fragment TEXT,
    text     INTEGER,
    PRIMARY KEY (from_id, n)
) STRICT, WITHOUT ROWID;

-- What fragments can name in a page, if all of it is known: hashes of ids and names.
CREATE TABLE page_anchor (
    id     INTEGER PRIMARY KEY,
    hashes TEXT NOT NULL
) STRICT;

-- Fragments that name nothing in the page where their link ends; place is NULL for links of a page
-- to itself.
CREATE TABLE fragment_missing (
    to_id    INTEGER NOT NULL,
    fragment TEXT NOT NULL,
    from_id  INTEGER NOT NULL,
    place    INTEGER,
    text     INTEGER
) STRICT;

-- The edges that are marked with a language, and what is wrong with its code. Of a sitemap, `page`
-- is the place of the edge to the page of which it says so.
CREATE TABLE page_language (
    from_id INTEGER NOT NULL,
    n       INTEGER NOT NULL,
    place   INTEGER NOT NULL,
    code    TEXT NOT NULL,
    fault   TEXT,
    page    INTEGER,
    PRIMARY KEY (from_id, n)
) STRICT, WITHOUT ROWID;

-- The edges to the first pictures of a page that have no alternative text.
CREATE TABLE undescribed_picture (
    from_id INTEGER NOT NULL,
    place   INTEGER NOT NULL,
    PRIMARY KEY (from_id, place)
) STRICT, WITHOUT ROWID;
