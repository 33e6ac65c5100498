-- Upgrades the tables from format 10 to format 11, in which a known URL says who found shorter ways to it after it was claimed, as a JSON list.

ALTER TABLE known_url ADD COLUMN nearer TEXT;
