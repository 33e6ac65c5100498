-- Upgrades the tables from format 3 to format 4.

ALTER TABLE crawl_log ADD COLUMN body_of INTEGER REFERENCES crawl_log (id);
CREATE INDEX crawl_log_url ON crawl_log (url, iteration) WHERE is_final = 1;
ALTER TABLE crawl_candidate ADD COLUMN read_by INTEGER;

-- A visit that did not change has the body of the newest earlier visit that stored one.
UPDATE crawl_log SET body_of = (
    SELECT b.id FROM crawl_log b JOIN file f ON f.id = b.id
    WHERE b.url = crawl_log.url AND b.is_final = 1 AND b.iteration < crawl_log.iteration AND b.origin_id = crawl_log.origin_id
      AND f.record = 'response' AND f.truncated IS NULL
      AND (b.outcome IN (20, 29, 180) OR b.outcome = 171 AND EXISTS (SELECT 1 FROM document d JOIN file_text t ON t.id = d.id WHERE d.id = b.id))
    ORDER BY b.iteration DESC LIMIT 1)
WHERE outcome = 34;

-- The text of pages that call another URL canonical was not stored: they are fetched in full next time.
UPDATE crawl_candidate
SET capture_outcome = NULL, captured_at = NULL, etag = NULL, last_modified = NULL, payload_sha1 = NULL, decoded_sha1 = NULL, interval_ms = NULL
WHERE capture_outcome = 180;
