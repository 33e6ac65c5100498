-- Upgrades the tables from format 10 to format 11, in which a visit says how often its request was sent before, and canonical links are believed
-- by the texts of pages.

ALTER TABLE visit ADD COLUMN resends INTEGER;
ALTER TABLE known_url ADD COLUMN named_by INTEGER NOT NULL DEFAULT 0;
ALTER TABLE document ADD COLUMN words INTEGER;
ALTER TABLE document ADD COLUMN simhash INTEGER;
