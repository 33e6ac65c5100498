-- Upgrades the tables from format 10 to format 11, in which a visit says how often its request was sent before, canonical links are believed by the
-- texts of pages, and a known URL says whether it was named as a sitemap, and who found shorter ways to it after it was claimed, as a JSON list.

ALTER TABLE visit ADD COLUMN resends INTEGER;
ALTER TABLE known_url ADD COLUMN named_by INTEGER NOT NULL DEFAULT 0;
ALTER TABLE known_url ADD COLUMN read_as TEXT;
ALTER TABLE known_url ADD COLUMN nearer TEXT;
ALTER TABLE document ADD COLUMN words INTEGER;
ALTER TABLE document ADD COLUMN simhash INTEGER;
