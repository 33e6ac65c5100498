-- Upgrades the tables from format 13 to format 14, in which an iteration says how many origins were opened in it, and how many had joined the crawl when
-- it began. Of iterations that began before, the former counts from now on, and the latter is not known.

ALTER TABLE iteration ADD COLUMN origins INTEGER NOT NULL DEFAULT 0;
ALTER TABLE iteration ADD COLUMN joined_before INTEGER;
