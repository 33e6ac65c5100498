-- For people. A program with other views remakes them, so they may change without a new format.

-- A row for each URL that ended or was put off in a segment. What identifies it globally is the
-- lease's random bits, and the numbers of the segment and of the entry, as a UUID of version 8 (RFC
-- 9562).
CREATE VIEW crawl_log AS
SELECT v.id, (
    SELECT substr(s.token, 1, 8) || '-' || substr(s.token, 9, 4) || '-8' || substr(s.token, 14, 3) || '-'
           || substr('89ab89ab89ab89ab', instr('0123456789abcdef', substr(s.token, 17, 1)), 1) || substr(s.token, 18, 3)
           || printf('-%04x%08x', s.n & 65535, v.id & 16777215)
    FROM segment s WHERE s.id = v.id >> 24 AND length(s.token) = 32 AND s.token NOT GLOB '*[^0-9a-f]*') AS crawl_uuid,
       v.crawl_type, v.agent_id, v.origin_id, v.iteration, v.url, v.depth, v.via, v.redirects, v.robotstxt_approved, v.outcome, v.is_final, v.tries,
       strftime('%Y-%m-%dT%H:%M:%fZ', v.at / 1000.0, 'unixepoch') AS at, v.detail, v.body_of, v.change, v.changed_parts
FROM visit v;

-- What was sent.
CREATE VIEW request AS
SELECT id, strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS sent_at, duration_ms, first_byte_ms, status, remote, coalesce(resends, 0) AS resends
FROM visit WHERE duration_ms IS NOT NULL;

-- What pages requested while they were rendered.
CREATE VIEW page_request AS
SELECT v.id, q.key AS n, q.value ->> 'url' AS url, coalesce(q.value ->> 'method', 'GET') AS method, q.value ->> 'at' AS at, q.value ->> 'status' AS status,
       q.value ->> 'body_bytes' AS body_bytes, q.value ->> 'elapsed_ms' AS duration_ms, q.value ->> 'refused' AS refused, q.value ->> 'failed' AS failed
FROM visit v, json_each(v.page_requests) q WHERE v.page_requests IS NOT NULL;

-- What came back, and where it is.
CREATE VIEW file AS
SELECT id, record, offset, length, content_type, body_bytes, decoded_bytes, lower(hex(payload_sha1)) AS payload_sha1,
       iif(decoded_sha1 IS NULL, NULL, lower(hex(decoded_sha1))) AS decoded_sha1, etag, last_modified, truncated
FROM visit WHERE record IS NOT NULL;

-- The pages among the documents, with their text.
CREATE VIEW file_text AS
SELECT d.id, d.title, d.description, d.language, d.charset, d.canonical, d.noindex, d.nofollow, d.cut, t.text, d.made_by
FROM document d JOIN document_text t ON t.id = d.id WHERE d.cut IS NOT NULL;

-- The links of documents that have any.
CREATE VIEW page_link AS SELECT id, links FROM document_text WHERE links IS NOT NULL;

-- A known URL. It outlives iterations.
CREATE VIEW crawl_candidate AS
SELECT k.origin_id, k.path_query, k.queued_in, iif(k.claimed_by LIKE '#%', g.origin || k.claimed_by, k.claimed_by) AS claimed_by,
       strftime('%Y-%m-%dT%H:%M:%fZ', k.first_seen / 1000.0, 'unixepoch') AS first_seen, k.depth, k.via,
       strftime('%Y-%m-%dT%H:%M:%fZ', k.due_at / 1000.0, 'unixepoch') AS due_at, k.interval_ms, k.last_outcome,
       strftime('%Y-%m-%dT%H:%M:%fZ', k.last_at / 1000.0, 'unixepoch') AS last_at, k.last_iteration, k.last_turn, k.last_segment,
       k.last_contentful_outcome, strftime('%Y-%m-%dT%H:%M:%fZ', k.last_contentful_at / 1000.0, 'unixepoch') AS last_contentful_at,
       k.capture_outcome, strftime('%Y-%m-%dT%H:%M:%fZ', k.captured_at / 1000.0, 'unixepoch') AS captured_at, k.etag, k.last_modified,
       iif(k.payload_sha1 IS NULL, NULL, lower(hex(k.payload_sha1))) AS payload_sha1,
       iif(k.decoded_sha1 IS NULL, NULL, lower(hex(k.decoded_sha1))) AS decoded_sha1,
       k.read_by, k.document_id, k.document_outcome, k.standing, k.links_by, k.links_depth,
       strftime('%Y-%m-%dT%H:%M:%fZ', k.checked_at / 1000.0, 'unixepoch') AS checked_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', k.changed_at / 1000.0, 'unixepoch') AS changed_at,
       k.away, strftime('%Y-%m-%dT%H:%M:%fZ', k.away_since / 1000.0, 'unixepoch') AS away_since, k.blocked_by
FROM known_url k
JOIN origin g ON g.id = k.origin_id;

-- Where the document is that tells what a URL showed at a visit: its own or, if it found the body
-- unchanged and put none, the newest one of that body up to then. NULL if that is not there.
CREATE VIEW described AS
SELECT v.id, CASE
    WHEN v.body_of IS NULL OR NOT v.is_final OR EXISTS (SELECT 1 FROM document d WHERE d.id = v.id AND (d.cut IS NOT NULL OR d.body_id IS NOT NULL)) THEN v.id
    ELSE nullif(max(
        coalesce((SELECT max(d.id) FROM visit b CROSS JOIN document d ON d.id = b.id
                  WHERE b.url = v.url AND b.is_final = 1 AND b.id < v.id AND coalesce(d.body_id, d.id) = v.body_of), 0),
        coalesce((SELECT max(d.id) FROM visit b CROSS JOIN document d ON d.id = b.id
                  WHERE b.url = v.url AND b.is_final = 0 AND b.id < v.id AND coalesce(d.body_id, d.id) = v.body_of), 0)), 0)
    END AS document_id
FROM visit v;

-- The numbers of the bits of an integer.
CREATE VIEW bit (n) AS VALUES
(0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15), (16), (17), (18), (19), (20), (21), (22), (23), (24), (25), (26), (27), (28), (29), (30), (31), (32), (33), (34), (35), (36), (37), (38), (39), (40), (41), (42), (43), (44), (45), (46), (47), (48), (49), (50), (51), (52), (53), (54), (55), (56), (57), (58), (59), (60), (61), (62), (63);

-- How each URL ended, as far as canonical links need it: whether it is a page with content, where a
-- redirect or canonical link leads, and what decides whether that is believed
-- (`shared/core/domain/src/doubt.rs`).
CREATE VIEW ending AS
SELECT l.id, l.origin_id, l.iteration, l.url, l.body_of,
       l.outcome IN (20, 180) OR l.outcome = 34 AND coalesce(b.outcome, 20) IN (20, 180) AS is_page,
       iif(l.outcome IN (20, 31, 32, 34, 180), r.to_url, NULL) AS to_url, d.words, d.simhash,
       (SELECT k.named_by FROM origin o JOIN known_url k ON k.origin_id = o.id AND k.path_query = substr(l.url, length(o.origin) + 1)
        WHERE o.id = l.origin_id) AS named_by
FROM visit l
LEFT JOIN visit b ON b.id = l.body_of
LEFT JOIN redirect r ON r.id = coalesce(l.body_of, l.id)
LEFT JOIN document d ON d.id = coalesce(l.body_of, l.id)
WHERE l.is_final;

-- Each page that calls another URL canonical, and whether it is a copy: whether following it, to
-- where each URL led when it last ended, reaches another page. Among pages that call each other
-- canonical the first by URL stands for all. A chain of more than twenty steps leads nowhere, and a
-- page whose text is unlike, or that many others name, ends it (`doubt`). Coming back to the page
-- is a step of its own (`is_back`), so that it is looked at, too.
CREATE VIEW canonical AS
SELECT v.id, v.crawl, v.origin_id, v.iteration, v.url, v.canonical, v.body_of, v.verdict IS 'copy' AS is_copy, nullif(v.verdict, 'copy') AS doubt
FROM (SELECT p.id, c.name AS crawl, p.origin_id, p.iteration, p.url, p.to_url AS canonical, p.body_of, (
    WITH RECURSIVE way (id, url, is_page, to_url, words, simhash, named_by, doubt, is_back) AS (
        SELECT p.id, p.url, 1, p.to_url, p.words, p.simhash, 0, NULL, 0
        UNION
        SELECT n.id, n.url, n.is_page, n.to_url, iif(n.is_page, n.words, w.words), iif(n.is_page, n.simhash, w.simhash),
               iif(w.is_page, n.named_by, w.named_by),
               iif(n.is_page, (
                   SELECT CASE WHEN t.differ <= 3 THEN NULL WHEN t.differ > 20 AND w.words >= 20 THEN 'unlike' WHEN t.namers >= 16 THEN 'named_by_many' END
                   FROM (SELECT sum((~(w.simhash & n.simhash) & (w.simhash | n.simhash)) >> bit.n & 1) AS differ,
                                sum(iif(w.is_page, n.named_by, w.named_by) >> bit.n & 1) AS namers
                         FROM bit) t
                   WHERE t.differ IS NOT NULL), NULL),
               n.url = p.url
        FROM way w
        JOIN ending n ON n.id = (
            SELECT l.id FROM visit l JOIN origin o ON o.id = l.origin_id
            WHERE l.url = w.to_url AND l.is_final = 1 AND l.iteration <= p.iteration AND o.crawl_id = g.crawl_id
            ORDER BY l.iteration DESC, l.id DESC LIMIT 1)
        WHERE w.doubt IS NULL AND NOT w.is_back
        LIMIT 23)
    SELECT CASE
        WHEN count(DISTINCT iif(doubt IS NULL, url, NULL)) <= 21 AND total(is_page AND doubt IS NULL AND NOT is_back) > 1
             AND NOT (total(is_back AND doubt IS NULL) > 0 AND min(iif(is_page AND doubt IS NULL, url, NULL)) = p.url) THEN 'copy'
        ELSE max(doubt) END
    FROM way) AS verdict
FROM ending p
JOIN origin g ON g.id = p.origin_id
JOIN crawl c ON c.id = g.crawl_id
WHERE p.is_page AND p.to_url IS NOT NULL) v;

-- What follows from that. A page that did not change, and was a copy when it was last visited, is
-- new to readers of pages.
CREATE VIEW decided AS
SELECT k.id, k.canonical, CASE
    WHEN k.is_copy THEN 180
    WHEN k.body_of IS NULL THEN 20
    WHEN (SELECT p.is_copy FROM canonical p WHERE p.id = (
        SELECT l.id FROM visit l
        WHERE l.url = k.url AND l.is_final = 1 AND l.iteration < k.iteration AND l.origin_id = k.origin_id
          AND coalesce(l.body_of, l.id) = k.body_of
        ORDER BY l.iteration DESC LIMIT 1)) THEN 20
    ELSE 34 END AS outcome
FROM canonical k;

-- Every logged visit, with its result. `document_id` is the visit whose document has the content
-- (`described`).
CREATE VIEW log AS
SELECT l.id, c.name AS crawl, l.iteration, l.url, l.depth,
       iif(l.via LIKE '/%', g.origin || l.via, l.via) AS via, l.crawl_type, o.code AS outcome, o.name AS outcome_name,
       o.class AS outcome_class, l.is_final, l.tries, iif(l.duration_ms IS NULL, NULL, coalesce(l.resends, 0)) AS resends,
       strftime('%Y-%m-%dT%H:%M:%fZ', l.at / 1000.0, 'unixepoch') AS at, l.status, l.duration_ms, l.first_byte_ms, l.remote,
       CASE WHEN o.code = 180 THEN 'its canonical URL is ' || k.to_url WHEN l.outcome <> 180 THEN l.detail ELSE (
           SELECT 'its canonical URL ' || x.canonical || ' is not believed: ' || iif(
               x.doubt = 'unlike', 'the text there is unlike its own', 'many pages with other texts name it')
           FROM canonical x WHERE x.id = l.id AND x.doubt IS NOT NULL) END AS detail,
       l.content_type, l.body_bytes, l.truncated, iif(l.record IS NULL, NULL, s.object) AS object, l.offset, l.length,
       d.to_url AS redirects_to, a.name AS agent, l.change, l.changed_parts, l.page_requests, (SELECT b.document_id FROM described b WHERE b.id = l.id) AS document_id
FROM visit l
JOIN segment s ON s.id = l.id >> 24
JOIN origin g ON g.id = l.origin_id
JOIN crawl c ON c.id = g.crawl_id
JOIN agent a ON a.id = l.agent_id
LEFT JOIN redirect d ON d.id = l.id
LEFT JOIN redirect k ON k.id = coalesce(l.body_of, l.id)
LEFT JOIN outcome o ON o.code =
    iif(l.is_final AND l.outcome IN (20, 34, 180), coalesce((SELECT e.outcome FROM decided e WHERE e.id = l.id), l.outcome), l.outcome);

-- The newest iteration of each crawl.
CREATE VIEW latest_iteration AS
SELECT c.id AS crawl_id, c.name AS crawl, max(i.number) AS iteration FROM crawl c JOIN iteration i ON i.crawl_id = c.id GROUP BY c.id;

-- Each URL whose last good document is shown, with what it is as far as canonical links need it:
-- `body_id` is the visit that fetched its body.
CREATE VIEW shown AS
SELECT d.id, k.origin_id, k.path_query, g.crawl_id, g.origin || k.path_query AS url, k.document_outcome AS outcome,
       coalesce(d.body_id, d.id) AS body_id, k.document_outcome IN (20, 180) AS is_page,
       iif(k.document_outcome IN (20, 31, 32, 180), r.to_url, NULL) AS to_url, d.words, d.simhash, k.named_by, k.depth, k.first_seen, k.checked_at,
       k.changed_at, k.last_outcome
FROM document d
CROSS JOIN segment s ON s.id = d.id >> 24
CROSS JOIN known_url k ON k.origin_id = s.origin_id AND k.path_query = d.url AND k.document_id = d.id AND k.standing = 'shown'
JOIN origin g ON g.id = k.origin_id
LEFT JOIN redirect r ON r.id = d.id;

-- Whether a page that is shown is a copy, as in `canonical`: by where each URL leads now.
CREATE VIEW shown_canonical AS
SELECT v.id, v.canonical, v.verdict IS 'copy' AS is_copy, nullif(v.verdict, 'copy') AS doubt
FROM (SELECT p.id, p.to_url AS canonical, (
    WITH RECURSIVE way (id, url, is_page, to_url, words, simhash, named_by, doubt, is_back) AS (
        SELECT p.id, p.url, 1, p.to_url, p.words, p.simhash, 0, NULL, 0
        UNION
        SELECT n.id, n.url, n.is_page, n.to_url, iif(n.is_page, n.words, w.words), iif(n.is_page, n.simhash, w.simhash),
               iif(w.is_page, n.named_by, w.named_by),
               iif(n.is_page, (
                   SELECT CASE WHEN t.differ <= 3 THEN NULL WHEN t.differ > 20 AND w.words >= 20 THEN 'unlike' WHEN t.namers >= 16 THEN 'named_by_many' END
                   FROM (SELECT sum((~(w.simhash & n.simhash) & (w.simhash | n.simhash)) >> bit.n & 1) AS differ,
                                sum(iif(w.is_page, n.named_by, w.named_by) >> bit.n & 1) AS namers
                         FROM bit) t
                   WHERE t.differ IS NOT NULL), NULL),
               n.url = p.url
        FROM way w
        JOIN origin o ON o.crawl_id = p.crawl_id AND o.origin = substr(w.to_url, 1, 7 + instr(substr(w.to_url, 9), '/'))
        JOIN known_url m ON m.origin_id = o.id AND m.path_query = substr(w.to_url, 8 + instr(substr(w.to_url, 9), '/'))
        JOIN shown n ON n.id = m.document_id
        WHERE w.doubt IS NULL AND NOT w.is_back
        LIMIT 23)
    SELECT CASE
        WHEN count(DISTINCT iif(doubt IS NULL, url, NULL)) <= 21 AND total(is_page AND doubt IS NULL AND NOT is_back) > 1
             AND NOT (total(is_back AND doubt IS NULL) > 0 AND min(iif(is_page AND doubt IS NULL, url, NULL)) = p.url) THEN 'copy'
        ELSE max(doubt) END
    FROM way) AS verdict
FROM shown p
WHERE p.is_page AND p.to_url IS NOT NULL) v;

-- The site as it is now: one row per URL that is not gone, with its last good document.
CREATE VIEW page AS
SELECT p.id, c.name AS crawl, b.iteration, p.url, o.code AS outcome, o.name AS outcome_name, d.title, p.depth, l.status, l.content_type,
       l.body_bytes, strftime('%Y-%m-%dT%H:%M:%fZ', l.at / 1000.0, 'unixepoch') AS at, d.language, d.description, d.charset, d.canonical,
       iif(d.cut IS NULL, NULL, iif(o.code = 180, '', t.text)) AS text, b.object, l.offset, l.length,
       strftime('%Y-%m-%dT%H:%M:%fZ', p.first_seen / 1000.0, 'unixepoch') AS first_seen,
       strftime('%Y-%m-%dT%H:%M:%fZ', p.checked_at / 1000.0, 'unixepoch') AS last_checked,
       strftime('%Y-%m-%dT%H:%M:%fZ', p.changed_at / 1000.0, 'unixepoch') AS last_changed,
       p.last_outcome, w.name AS last_outcome_name
FROM shown p
JOIN crawl c ON c.id = p.crawl_id
JOIN document d ON d.id = p.id
JOIN visit l ON l.id = p.body_id AND l.record IS NOT NULL
JOIN segment b ON b.id = p.body_id >> 24
LEFT JOIN document_text t ON t.id = p.id
LEFT JOIN outcome w ON w.code = p.last_outcome
JOIN outcome o ON o.code = iif(p.is_page, iif((SELECT x.is_copy FROM shown_canonical x WHERE x.id = p.id), 180, 20), p.outcome);

-- What an iteration saw: one row per URL that ended with an answer in it, with what it showed then.
CREATE VIEW seen_page AS
SELECT l.id, l.crawl, l.iteration, l.url, l.outcome, l.outcome_name, d.title, l.depth, l.status, l.content_type, l.body_bytes, l.at,
       d.language, d.description, d.charset, d.canonical, iif(d.cut IS NULL, NULL, iif(l.outcome = 180, '', t.text)) AS text,
       l.object, l.offset, l.length
FROM log l
LEFT JOIN document d ON d.id = l.document_id AND d.cut IS NOT NULL
LEFT JOIN document_text t ON t.id = d.id
WHERE l.is_final AND l.object IS NOT NULL;

-- What is valid in its format, and what is not: one row per document that was validated, with its
-- first flaw. All of them are in `flaws`, as JSON.
CREATE VIEW validity AS
SELECT e.id, c.name AS crawl, s.iteration, iif(d.url LIKE '/%', g.origin || d.url, d.url) AS url, e.validation_type, e.valid,
       e.flaws ->> '$[0].line' AS line, e.flaws ->> '$[0].column' AS "column", e.flaws ->> '$[0].rule' AS rule,
       e.flaws ->> '$[0].message' AS message,
       json_array_length(e.flaws) + coalesce(e.record ->> '$.validity.flaws_more', 0) AS flaws_count, e.flaws
FROM content e
JOIN document d ON d.id = e.id
JOIN segment s ON s.id = e.id >> 24
JOIN origin g ON g.id = s.origin_id
JOIN crawl c ON c.id = g.crawl_id
WHERE e.validation_type IS NOT NULL;

-- What does not fit the types of the definition: one row per misfit of the documents that are shown
-- now.
CREATE VIEW misfit AS
SELECT e.id, c.name AS crawl, s.iteration, g.origin || k.path_query AS url, m.value ->> 'item_type' AS item_type, m.value ->> 'field' AS field,
       m.value ->> 'rule' AS rule, m.value ->> 'value' AS value
FROM content e
JOIN document d ON d.id = e.id
JOIN segment s ON s.id = e.id >> 24
JOIN known_url k ON k.origin_id = s.origin_id AND k.path_query = d.url AND k.document_id = d.id AND k.standing = 'shown'
JOIN origin g ON g.id = s.origin_id
JOIN crawl c ON c.id = g.crawl_id
JOIN json_each(e.misfits) m
WHERE e.misfits IS NOT NULL;

-- Every link that was stored, of any iteration: one row per link of a document. A target within the
-- page's own origin is stored as its path.
CREATE VIEW document_link AS
SELECT p.id, c.name AS crawl, s.iteration, iif(d.url LIKE '/%', g.origin || d.url, d.url) AS from_url,
       iif(e.value ->> 2 LIKE '/%', g.origin || (e.value ->> 2), e.value ->> 2) AS to_url,
       k.name AS kind, w.name AS disposition, e.value ->> 3 AS detail, e.value ->> 5 AS anchor
FROM document_text p
JOIN document d ON d.id = p.id
JOIN segment s ON s.id = p.id >> 24
JOIN origin g ON g.id = s.origin_id
JOIN crawl c ON c.id = g.crawl_id
JOIN json_each(p.links) e
JOIN link_kind k ON k.code = e.value ->> 0
JOIN link_disposition w ON w.code = e.value ->> 1;

-- The links of what an iteration saw: of the documents that were put in it, and of those that its
-- visits confirmed.
CREATE VIEW seen_link AS
SELECT v.id, k.crawl, v.iteration, v.url AS from_url, k.to_url, k.kind, k.disposition, k.detail, k.anchor
FROM visit v
CROSS JOIN described b ON b.id = v.id
CROSS JOIN document_link k ON k.id = b.document_id;

-- The links of the pages as they are now.
CREATE VIEW link AS
SELECT v.id, v.crawl, coalesce(b.iteration, v.iteration) AS iteration, v.from_url, v.to_url, v.kind, v.disposition, v.detail, v.anchor
FROM document_link v
CROSS JOIN document d ON d.id = v.id
CROSS JOIN segment s ON s.id = d.id >> 24
LEFT JOIN segment b ON b.id = d.body_id >> 24
CROSS JOIN known_url k ON k.origin_id = s.origin_id AND k.path_query = d.url AND k.document_id = d.id AND k.standing = 'shown';

-- What went wrong in the newest iteration.
CREATE VIEW failed AS
SELECT l.* FROM log l JOIN latest_iteration c ON c.crawl = l.crawl AND c.iteration = l.iteration
WHERE l.id IN (SELECT f.id FROM visit f JOIN outcome o ON o.code = f.outcome WHERE f.is_final AND o.class = 'failed');

-- Known URLs that were not requested in the newest iteration, and why.
CREATE VIEW not_crawled AS
SELECT l.crawl, l.url, l.outcome_name AS why, l.detail, l.via
FROM log l JOIN latest_iteration c ON c.crawl = l.crawl AND c.iteration = l.iteration
WHERE l.is_final AND l.duration_ms IS NULL
UNION ALL
SELECT c.crawl, g.origin || k.path_query, iif(k.queued_in < c.iteration, 'not_due', 'not_reached'), NULL,
       iif(k.via LIKE '/%', g.origin || k.via, k.via)
FROM known_url k
JOIN origin g ON g.id = k.origin_id
JOIN latest_iteration c ON c.crawl_id = g.crawl_id
WHERE k.last_iteration IS NULL OR k.last_iteration < c.iteration;

-- Every known URL, with how it last ended.
CREATE VIEW candidate AS
SELECT k.origin_id, k.path_query, c.name AS crawl, g.origin || k.path_query AS url, k.queued_in,
       strftime('%Y-%m-%dT%H:%M:%fZ', k.first_seen / 1000.0, 'unixepoch') AS first_seen, k.depth, iif(k.via LIKE '/%', g.origin || k.via, k.via) AS via,
       strftime('%Y-%m-%dT%H:%M:%fZ', k.due_at / 1000.0, 'unixepoch') AS due_at, k.interval_ms, o.code AS last_outcome, o.name AS last_outcome_name,
       strftime('%Y-%m-%dT%H:%M:%fZ', k.last_at / 1000.0, 'unixepoch') AS last_at, k.last_iteration, k.last_contentful_outcome,
       strftime('%Y-%m-%dT%H:%M:%fZ', k.last_contentful_at / 1000.0, 'unixepoch') AS last_contentful_at, k.etag, k.last_modified,
       iif(k.decoded_sha1 IS NULL, NULL, lower(hex(k.decoded_sha1))) AS decoded_sha1, k.standing,
       strftime('%Y-%m-%dT%H:%M:%fZ', k.away_since / 1000.0, 'unixepoch') AS away_since
FROM known_url k
JOIN origin g ON g.id = k.origin_id
JOIN crawl c ON c.id = g.crawl_id
LEFT JOIN outcome o ON o.code =
    iif(k.last_outcome IN (20, 34, 180), coalesce((SELECT e.outcome FROM decided e WHERE e.id = (
        SELECT l.id FROM visit l
        WHERE l.url = g.origin || k.path_query AND l.is_final = 1 AND l.iteration = k.last_iteration AND l.origin_id = k.origin_id
        ORDER BY l.id DESC LIMIT 1)), k.last_outcome), k.last_outcome);

-- When URLs are to be visited again, if the definition has an interval.
CREATE VIEW schedule AS
SELECT crawl, url, due_at, interval_ms, last_outcome_name AS last_outcome, last_at FROM candidate WHERE due_at IS NOT NULL;

-- The progress of each origin.
CREATE VIEW progress AS
SELECT c.name AS crawl, b.iteration, g.origin, l.state, l.ending, l.turn, b.added, l.taken, l.retries_waiting, l.segments, b.parsed,
       l.requests, l.body_bytes, b.processed, b.stuck
FROM inbox b
JOIN lease l ON l.origin_id = b.origin_id
JOIN origin g ON g.id = b.origin_id
JOIN crawl c ON c.id = g.crawl_id;

-- Each iteration and what it came to, as the API's `progress` tells.
CREATE VIEW iteration_progress AS
WITH counted AS (SELECT crawl_id, iteration,
    max(number) FILTER (WHERE name = 'added') AS added, max(number) FILTER (WHERE name = 'requests') AS requests,
    max(number) FILTER (WHERE name = 'retries') AS retries, max(number) FILTER (WHERE name = 'processed') AS processed,
    max(number) FILTER (WHERE name = 'stuck') AS stuck,
    sum(number) FILTER (WHERE name IN (SELECT 'outcome' || replace(o.code, '-', '_') FROM outcome o WHERE o.class = 'failed')) AS failed
    FROM counter GROUP BY crawl_id, iteration)
SELECT c.name AS schedule, i.number AS iteration, i.status, i.started_at AS "start", coalesce(n.added, 0) AS found,
       coalesce(n.requests, 0) - coalesce(n.retries, 0) AS crawled, coalesce(n.processed, 0) AS processed, coalesce(n.stuck, 0) AS stuck,
       coalesce(n.failed, 0) AS failed, i.closed_at AS "end"
FROM iteration i
JOIN crawl c ON c.id = i.crawl_id
LEFT JOIN counted n ON n.crawl_id = i.crawl_id AND n.iteration = i.number;

-- What became of each URL of each iteration. What is fetched and not parsed yet is in WARC files
-- alone, and counts as queued here.
CREATE VIEW record AS
SELECT c.name AS schedule, v.iteration, v.url, iif(o.name = 'unknown_error', 'STUCK', 'PROCESSED') AS state,
       strftime('%Y-%m-%dT%H:%M:%fZ', k.first_seen / 1000.0, 'unixepoch') AS created,
       strftime('%Y-%m-%dT%H:%M:%fZ', v.at / 1000.0, 'unixepoch') AS updated,
       strftime('%Y-%m-%dT%H:%M:%fZ', k.away_since / 1000.0, 'unixepoch') AS deleted
FROM visit v
JOIN origin g ON g.id = v.origin_id
JOIN crawl c ON c.id = g.crawl_id
JOIN outcome o ON o.code = v.outcome
LEFT JOIN known_url k ON k.origin_id = v.origin_id AND g.origin || k.path_query = v.url
WHERE v.is_final
UNION ALL
SELECT c.name, k.queued_in, g.origin || k.path_query, 'QUEUED', strftime('%Y-%m-%dT%H:%M:%fZ', k.first_seen / 1000.0, 'unixepoch'), NULL,
       strftime('%Y-%m-%dT%H:%M:%fZ', k.away_since / 1000.0, 'unixepoch')
FROM known_url k
JOIN origin g ON g.id = k.origin_id
JOIN crawl c ON c.id = g.crawl_id
WHERE k.last_iteration IS NULL OR k.last_iteration < k.queued_in;
