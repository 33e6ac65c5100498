-- Upgrades the tables from format 10 to format 11, in which a known URL says whether it was named as a sitemap.

ALTER TABLE known_url ADD COLUMN read_as TEXT;
