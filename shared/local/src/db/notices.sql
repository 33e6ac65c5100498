-- Files of before there were notices get their table when they are opened: an older program does without it.
CREATE TABLE IF NOT EXISTS notice (
    crawl_id INTEGER NOT NULL REFERENCES crawl (id),
    key      TEXT NOT NULL,
    notice   TEXT NOT NULL,
    since    TEXT NOT NULL,
    due      TEXT NOT NULL,
    PRIMARY KEY (crawl_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS notice_due ON notice (due);
