-- Upgrades the tables from format 6 to format 7, in which iterations have a task, and may be pruned.

ALTER TABLE iteration ADD COLUMN task TEXT;
ALTER TABLE iteration ADD COLUMN pruned_at TEXT;
ALTER TABLE segment ADD COLUMN is_stored INTEGER NOT NULL DEFAULT 1;
CREATE INDEX crawl_log_body ON crawl_log (body_of) WHERE body_of IS NOT NULL;
CREATE INDEX crawl_log_other ON crawl_log (url) WHERE is_final = 0;
