-- What is looked for. The rows are there by now, so that each index is built at once.
CREATE INDEX edge_to ON edge (to_id, from_id);
CREATE INDEX node_lands_on ON node (lands_on) WHERE redirects_to IS NOT NULL;
CREATE INDEX node_broken ON node (id) WHERE is_broken;
CREATE INDEX node_title ON node (title) WHERE title IS NOT NULL;
CREATE INDEX node_description ON node (description) WHERE description IS NOT NULL;

-- Every link, with what its target is, and where that leads.
CREATE VIEW link AS
SELECT f.url AS from_url, t.url AS to_url, k.name AS kind, d.name AS disposition, a.text AS anchor, t.state, t.outcome_name, l.url AS lands_on,
       l.state AS lands_on_state, e.from_id, e.to_id
FROM edge e
JOIN node f ON f.id = e.from_id
JOIN node t ON t.id = e.to_id
JOIN node l ON l.id = t.lands_on
JOIN kind k ON k.id = e.kind
JOIN disposition d ON d.id = e.disposition
LEFT JOIN anchor a ON a.id = e.anchor;

-- Every use of a link: one row for each place of a page that has it.
CREATE VIEW used_link AS
SELECT f.url AS from_url, t.url AS to_url, k.name AS kind, u.fragment, u.part, r.text AS rel, p.text AS alt, coalesce(w.text, a.text) AS anchor,
       e.from_id, e.to_id, e.place, u.n
FROM edge e
JOIN node f ON f.id = e.from_id
JOIN node t ON t.id = e.to_id
JOIN kind k ON k.id = e.kind
LEFT JOIN anchor a ON a.id = e.anchor
LEFT JOIN link_use u ON u.from_id = e.from_id AND u.place = e.place
LEFT JOIN anchor r ON r.id = u.rel
LEFT JOIN anchor p ON p.id = u.alt
LEFT JOIN anchor w ON w.id = u.text;

-- URLs that are gone or answer with an error, and all that redirect to them.
CREATE VIEW broken_target AS
SELECT b.id, b.id AS broken_id FROM node b WHERE b.is_broken
UNION ALL
SELECT t.id, b.id FROM node b JOIN node t ON t.lands_on = b.id WHERE b.is_broken AND t.redirects_to IS NOT NULL AND t.id <> b.id;

-- Links that lead nowhere: one row per link.
CREATE VIEW broken_link AS
SELECT b.url AS broken_url, b.outcome_name, b.status, b.detail, f.url AS from_url, t.url AS to_url, k.name AS kind, a.text AS anchor
FROM broken_target x
CROSS JOIN node b ON b.id = x.broken_id
CROSS JOIN node t ON t.id = x.id
CROSS JOIN edge e ON e.to_id = x.id
CROSS JOIN node f ON f.id = e.from_id
JOIN kind k ON k.id = e.kind
LEFT JOIN anchor a ON a.id = e.anchor
WHERE k.name NOT IN ('redirect', 'canonical');

-- Links whose target redirects.
CREATE VIEW link_to_redirect AS
SELECT f.url AS from_url, t.url AS to_url, l.url AS lands_on, t.hops, t.chain, a.text AS anchor
FROM node t
CROSS JOIN edge e ON e.to_id = t.id
CROSS JOIN node f ON f.id = e.from_id
CROSS JOIN node l ON l.id = t.lands_on
LEFT JOIN anchor a ON a.id = e.anchor
WHERE t.redirects_to IS NOT NULL;

-- Pages that no other page links to, and where no crawl starts.
CREATE VIEW orphan AS
SELECT n.id, n.url, n.title, n.state, n.outcome_name, n.last_at, n.in_sitemap FROM node n
WHERE n.state = 'page' AND NOT n.is_start AND n.linked_from = 0;

-- Pages that link to no page.
CREATE VIEW dead_end AS SELECT n.id, n.url, n.title FROM node n WHERE n.state = 'page' AND n.links_to = 0;

-- Hosts that are linked to and were not crawled, though links to them may have been checked.
CREATE VIEW outside_host AS
SELECT n.host, count(DISTINCT n.id) AS urls, count(*) AS links, count(DISTINCT e.from_id) AS pages
FROM node n JOIN edge e ON e.to_id = n.id
WHERE (n.state = 'outside' OR n.is_checked) AND n.host NOT IN (SELECT m.host FROM node m WHERE m.state <> 'outside' AND NOT m.is_checked)
GROUP BY n.host;

-- Groups of URLs with the same body, the same text, or nearly the same text. `same_as` is the first
-- by URL.
CREATE VIEW duplicate AS
WITH alike (id, of_what, value) AS (
    SELECT id, 'body', body_sha1 FROM node WHERE body_sha1 IS NOT NULL AND state IN ('page', 'file', 'copy')
    UNION ALL
    SELECT id, 'text', text_sha1 FROM node WHERE words > 0 AND state IN ('page', 'copy'))
SELECT a.of_what, n.url, min(n.url) OVER w AS same_as, count(*) OVER w AS urls, n.canonical, n.title, 0 AS distance
FROM alike a JOIN node n ON n.id = a.id
WHERE (a.of_what, a.value) IN (SELECT of_what, value FROM alike GROUP BY of_what, value HAVING count(*) > 1)
WINDOW w AS (PARTITION BY a.of_what, a.value)
UNION ALL
SELECT 'near', n.url, l.url, NULL, n.canonical, n.title, x.distance
FROM near x JOIN node n ON n.id = x.id JOIN node l ON l.id = x.like_id;

-- Parts of HTTPS pages that are loaded over plain HTTP.
CREATE VIEW insecure_part AS
SELECT e.from_id, f.url AS from_url, t.url, k.name AS kind
FROM node t
CROSS JOIN edge e ON e.to_id = t.id
JOIN kind k ON k.id = e.kind
JOIN node f ON f.id = e.from_id
WHERE t.url >= 'http://' AND t.url < 'http:0' AND f.url >= 'https://' AND k.name IN ('css', 'img', 'video', 'audio', 'object', 'script', 'font', 'iframe');

-- Pages that are read as such: not feeds, files of text and data, whose titles and words mean
-- something else.
CREATE VIEW document AS
SELECT * FROM node WHERE state = 'page' AND (content_type IS NULL OR content_type IN ('text/html', 'application/xhtml+xml'));

-- References that are not valid URLs, with what is wrong. A hint is legal.
CREATE VIEW malformed_link AS
SELECT f.url AS from_url, m.written, m.why, r.explanation, r.is_hint, m.text, k.name AS kind, m.from_id, m.place
FROM malformed m
JOIN node f ON f.id = m.from_id
JOIN malformed_reason r ON r.name = m.why
JOIN kind k ON k.id = m.kind
WHERE f.state IN ('page', 'copy');

-- Links whose fragment names nothing in their target.
CREATE VIEW broken_fragment AS
SELECT l.url || '#' || m.fragment AS url, f.url AS from_url, coalesce(t.url, f.url) AS to_url, coalesce(u.text, a.text) AS anchor,
       coalesce(k.name, 'a') AS kind, m.fragment, m.from_id, m.to_id
FROM fragment_missing m
JOIN node l ON l.id = m.to_id
JOIN node f ON f.id = m.from_id
LEFT JOIN edge e ON e.from_id = m.from_id AND e.place = m.place
LEFT JOIN node t ON t.id = e.to_id
LEFT JOIN kind k ON k.id = e.kind
LEFT JOIN anchor u ON u.id = m.text
LEFT JOIN anchor a ON a.id = e.anchor
WHERE f.state IN ('page', 'copy');

-- Links to pages in other languages, and of pages to themselves, by the pages or by a sitemap.
CREATE VIEW language_link AS
SELECT DISTINCT f.url AS from_url, t.url AS to_url, a.code, a.fault, f.id AS from_id, e.to_id
FROM page_language a
LEFT JOIN edge p ON p.from_id = a.from_id AND p.place = a.page
JOIN node f ON f.id = iif(a.page IS NULL, a.from_id, p.to_id)
JOIN edge e ON e.from_id = a.from_id AND e.place = a.place
JOIN node t ON t.id = e.to_id
WHERE f.state = 'page';
