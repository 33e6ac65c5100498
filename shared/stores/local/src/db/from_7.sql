-- Upgrades the tables from format 7 to format 8, in which a visit is one row, what is large of a document is one row, and the tables with a row for
-- each URL or visit hold instants as milliseconds since 1970 and digests as bytes. An instant was text of a fixed width.

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
    UNIQUE (origin_id, path_query)
) STRICT;
INSERT INTO known_url (
    origin_id, path_query, queued_in, claimed_by, first_seen, depth, via, due_at, interval_ms, last_outcome, last_at, last_iteration, last_turn,
    last_segment, last_contentful_outcome, last_contentful_at, capture_outcome, captured_at, etag, last_modified, payload_sha1, decoded_sha1, read_by,
    document_id, document_outcome, standing, links_by, links_depth, checked_at, changed_at, away, away_since, blocked_by)
SELECT
    origin_id, path_query, queued_in,
    iif(instr(claimed_by, o.origin || '#') = 1, substr(claimed_by, length(o.origin) + 1), claimed_by),
    strftime('%s', first_seen) * 1000 + substr(first_seen, 21, 3), depth, via,
    strftime('%s', due_at) * 1000 + substr(due_at, 21, 3), interval_ms, last_outcome, strftime('%s', last_at) * 1000 + substr(last_at, 21, 3),
    last_iteration, last_turn, last_segment, last_contentful_outcome,
    strftime('%s', last_contentful_at) * 1000 + substr(last_contentful_at, 21, 3), capture_outcome,
    strftime('%s', captured_at) * 1000 + substr(captured_at, 21, 3), etag, last_modified, unhex(payload_sha1), unhex(decoded_sha1), read_by,
    document_id, document_outcome, standing, links_by, links_depth, strftime('%s', checked_at) * 1000 + substr(checked_at, 21, 3),
    strftime('%s', changed_at) * 1000 + substr(changed_at, 21, 3), away, strftime('%s', away_since) * 1000 + substr(away_since, 21, 3), blocked_by
FROM crawl_candidate k JOIN origin o ON o.id = k.origin_id;
DROP TABLE crawl_candidate;

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
    truncated          TEXT
) STRICT;
-- When a request was sent was always its visit's `at`, and what identifies a visit globally follows from its segment's token.
INSERT INTO visit
SELECT
    l.id, l.crawl_type, l.agent_id, l.origin_id, l.iteration, l.url, l.depth, l.via, l.redirects, l.robotstxt_approved, l.outcome, l.is_final, l.tries,
    strftime('%s', l.at) * 1000 + substr(l.at, 21, 3), l.detail, l.body_of, l.change, l.changed_parts, r.duration_ms, r.first_byte_ms, r.status,
    r.remote, f.record, f.offset, f.length, f.content_type, f.body_bytes, f.decoded_bytes, unhex(f.payload_sha1), unhex(f.decoded_sha1), f.etag,
    f.last_modified, f.truncated
FROM crawl_log l LEFT JOIN request r ON r.id = l.id LEFT JOIN file f ON f.id = l.id
ORDER BY l.id;
CREATE TABLE visit_redirect (
    id                 INTEGER PRIMARY KEY REFERENCES visit (id),
    to_url             TEXT NOT NULL,
    is_permanent       INTEGER NOT NULL,
    information_source TEXT NOT NULL
) STRICT;
INSERT INTO visit_redirect SELECT id, to_url, is_permanent, information_source FROM redirect ORDER BY id;
DROP TABLE redirect;
DROP TABLE file;
DROP TABLE request;
DROP TABLE crawl_log;
ALTER TABLE visit_redirect RENAME TO redirect;
CREATE INDEX visit_url ON visit (url, iteration) WHERE is_final = 1;
CREATE INDEX visit_body ON visit (body_of) WHERE body_of IS NOT NULL;
CREATE INDEX visit_other ON visit (url) WHERE is_final = 0;

ALTER TABLE document ADD COLUMN title TEXT;
ALTER TABLE document ADD COLUMN description TEXT;
ALTER TABLE document ADD COLUMN language TEXT;
ALTER TABLE document ADD COLUMN charset TEXT;
ALTER TABLE document ADD COLUMN canonical TEXT;
ALTER TABLE document ADD COLUMN noindex INTEGER;
ALTER TABLE document ADD COLUMN nofollow INTEGER;
ALTER TABLE document ADD COLUMN cut TEXT;
ALTER TABLE document ADD COLUMN made_by TEXT;
UPDATE document
SET (title, description, language, charset, canonical, noindex, nofollow, cut, made_by) = (
    SELECT title, description, language, charset, canonical, noindex, nofollow, cut, made_by FROM file_text t WHERE t.id = document.id);
CREATE TABLE document_text (
    id    INTEGER PRIMARY KEY REFERENCES document (id),
    links TEXT,
    text  TEXT
) STRICT;
INSERT INTO document_text
SELECT d.id, k.links, t.text
FROM document d LEFT JOIN page_link k ON k.id = d.id LEFT JOIN file_text t ON t.id = d.id
WHERE k.id IS NOT NULL OR t.id IS NOT NULL
ORDER BY d.id;
DROP TABLE page_link;
DROP TABLE file_text;
