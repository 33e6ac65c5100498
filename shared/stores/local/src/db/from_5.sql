-- Upgrades the tables from format 5 to format 6, in which a candidate refers to the document of its last good visit.

ALTER TABLE crawl_candidate ADD COLUMN document_id INTEGER;
ALTER TABLE crawl_candidate ADD COLUMN document_outcome INTEGER REFERENCES outcome (code);
ALTER TABLE crawl_candidate ADD COLUMN standing TEXT;
ALTER TABLE crawl_candidate ADD COLUMN links_by INTEGER;
ALTER TABLE crawl_candidate ADD COLUMN links_depth INTEGER;
ALTER TABLE crawl_candidate ADD COLUMN checked_at TEXT;
ALTER TABLE crawl_candidate ADD COLUMN changed_at TEXT;
ALTER TABLE crawl_candidate ADD COLUMN away TEXT;
ALTER TABLE crawl_candidate ADD COLUMN away_since TEXT;
ALTER TABLE crawl_candidate ADD COLUMN blocked_by INTEGER;
ALTER TABLE crawl_log ADD COLUMN change TEXT;
ALTER TABLE crawl_log ADD COLUMN changed_parts TEXT;
ALTER TABLE document ADD COLUMN body_id INTEGER;
UPDATE document SET body_id = id
WHERE state = 'processed' AND outcome IN (20, 29, 31, 32, 171, 180, 181)
  AND EXISTS (SELECT 1 FROM file f WHERE f.id = document.id AND f.record = 'response');

CREATE TABLE difference (
    id            INTEGER PRIMARY KEY REFERENCES document (id),
    since_id      INTEGER NOT NULL,
    parts         TEXT NOT NULL,
    links_added   TEXT NOT NULL,
    links_removed TEXT NOT NULL
) STRICT;

-- The last visit of each URL that put a document. Which rules decided its links is unknown (0), so they are decided again.
UPDATE crawl_candidate SET (document_id, document_outcome, changed_at) = (
    SELECT l.id, l.outcome, l.at
    FROM origin o
    JOIN crawl_log l ON l.url = o.origin || crawl_candidate.path_query AND l.is_final = 1 AND l.origin_id = o.id
    JOIN document d ON d.id = l.id AND d.state = 'processed'
    LEFT JOIN file_text t ON t.id = l.id
    WHERE o.id = crawl_candidate.origin_id
      AND (l.outcome IN (20, 29, 31, 32) OR l.outcome IN (171, 180, 181) AND t.id IS NOT NULL)
    ORDER BY l.iteration DESC, l.id DESC LIMIT 1);
UPDATE crawl_candidate
SET standing = CASE WHEN last_outcome IN (41, 44) THEN 'gone' WHEN last_outcome IN (170, 172, 173) THEN 'withdrawn' ELSE 'shown' END,
    links_by = 0,
    links_depth = depth,
    checked_at = coalesce(last_contentful_at, changed_at)
WHERE document_id IS NOT NULL;
