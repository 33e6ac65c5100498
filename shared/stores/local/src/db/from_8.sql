-- Upgrades the tables from format 8 to format 9, in which documents have content beyond their text and links, and some notices are sent once.

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

-- What people were told once of a crawl.
CREATE TABLE told (
    crawl_id INTEGER NOT NULL REFERENCES crawl (id),
    fact     TEXT NOT NULL,
    at       TEXT NOT NULL,
    PRIMARY KEY (crawl_id, fact)
) STRICT, WITHOUT ROWID;
