-- For people. Made anew whenever the file is opened for writing, so that they may change without a new format.

-- Every visit that was logged, with what came of it.
CREATE VIEW log AS
SELECT l.id, c.name AS crawl, l.iteration, l.url, l.depth,
       iif(l.via LIKE '/%', g.origin || l.via, l.via) AS via, l.crawl_type, l.outcome, o.name AS outcome_name,
       o.class AS outcome_class, l.is_final, l.tries, l.at, r.status, r.duration_ms, r.first_byte_ms, r.remote, l.detail,
       f.content_type, f.body_bytes, f.truncated, iif(f.id IS NULL, NULL, s.object) AS object, f.offset, f.length,
       d.to_url AS redirects_to, a.name AS agent
FROM crawl_log l
JOIN segment s ON s.id = l.id >> 24
JOIN origin g ON g.id = l.origin_id
JOIN crawl c ON c.id = g.crawl_id
JOIN outcome o ON o.code = l.outcome
JOIN agent a ON a.id = l.agent_id
LEFT JOIN request r ON r.id = l.id
LEFT JOIN file f ON f.id = l.id
LEFT JOIN redirect d ON d.id = l.id;

-- The newest iteration of each crawl.
CREATE VIEW latest_iteration AS
SELECT c.id AS crawl_id, c.name AS crawl, max(i.number) AS iteration FROM crawl c JOIN iteration i ON i.crawl_id = c.id GROUP BY c.id;

-- What the newest iteration got: one row per URL that ended with an answer.
CREATE VIEW page AS
SELECT l.id, c.crawl, l.url, l.outcome, o.name AS outcome_name, t.title, l.depth, r.status, f.content_type, f.body_bytes AS bytes,
       t.language, t.description, t.canonical, t.text, l.at
FROM crawl_log l
JOIN origin g ON g.id = l.origin_id
JOIN latest_iteration c ON c.crawl_id = g.crawl_id AND c.iteration = l.iteration
JOIN outcome o ON o.code = l.outcome
JOIN file f ON f.id = l.id
LEFT JOIN request r ON r.id = l.id
LEFT JOIN file_text t ON t.id = l.id
WHERE l.is_final;

-- One row per link. A target within the page's own origin is stored as its path.
CREATE VIEW link AS
SELECT p.id, c.name AS crawl, s.iteration, iif(d.url LIKE '/%', g.origin || d.url, d.url) AS from_url,
       iif(e.value ->> 2 LIKE '/%', g.origin || (e.value ->> 2), e.value ->> 2) AS to_url,
       k.name AS kind, w.name AS fate, e.value ->> 3 AS detail
FROM page_link p
JOIN document d ON d.id = p.id
JOIN segment s ON s.id = p.id >> 24
JOIN origin g ON g.id = s.origin_id
JOIN crawl c ON c.id = g.crawl_id
JOIN json_each(p.links) e
JOIN link_kind k ON k.code = e.value ->> 0
JOIN link_fate w ON w.code = e.value ->> 1;

-- What went wrong in the newest iteration.
CREATE VIEW failed AS
SELECT l.* FROM log l JOIN latest_iteration c ON c.crawl = l.crawl AND c.iteration = l.iteration
WHERE l.is_final AND l.outcome_class = 'failed';

-- URLs that are known and were not asked for in the newest iteration, and why.
CREATE VIEW not_crawled AS
SELECT l.crawl, l.url, l.outcome_name AS why, l.detail, l.via
FROM log l JOIN latest_iteration c ON c.crawl = l.crawl AND c.iteration = l.iteration
WHERE l.is_final AND l.duration_ms IS NULL
UNION ALL
SELECT c.crawl, g.origin || k.path_query, iif(k.queued_in < c.iteration, 'not_due', 'not_reached'), NULL,
       iif(k.via LIKE '/%', g.origin || k.via, k.via)
FROM crawl_candidate k
JOIN origin g ON g.id = k.origin_id
JOIN latest_iteration c ON c.crawl_id = g.crawl_id
WHERE k.last_iteration IS NULL OR k.last_iteration < c.iteration;

-- When URLs are to be visited again, where the definition has an interval.
CREATE VIEW schedule AS
SELECT c.name AS crawl, g.origin || k.path_query AS url, k.due_at, k.interval_ms, o.name AS last_outcome, k.last_at
FROM crawl_candidate k
JOIN origin g ON g.id = k.origin_id
JOIN crawl c ON c.id = g.crawl_id
LEFT JOIN outcome o ON o.code = k.last_outcome
WHERE k.due_at IS NOT NULL;

-- How far each origin is.
CREATE VIEW progress AS
SELECT c.name AS crawl, b.iteration, g.origin, l.state, l.ending, l.turn, b.added, l.taken, l.retries_waiting, l.segments, b.parsed,
       l.requests, l.body_bytes, b.processed, b.stuck
FROM inbox b
JOIN lease l ON l.origin_id = b.origin_id
JOIN origin g ON g.id = b.origin_id
JOIN crawl c ON c.id = g.crawl_id;
