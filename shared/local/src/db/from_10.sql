-- Upgrades the tables from format 10 to format 11, in which canonical links are believed by the texts of pages.

ALTER TABLE known_url ADD COLUMN named_by INTEGER NOT NULL DEFAULT 0;
ALTER TABLE document ADD COLUMN words INTEGER;
ALTER TABLE document ADD COLUMN simhash INTEGER;
