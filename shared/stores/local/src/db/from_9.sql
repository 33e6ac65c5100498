-- Upgrades the tables from format 9 to format 10, in which a known URL says how many requisites led to it.

ALTER TABLE known_url ADD COLUMN requisite_steps INTEGER NOT NULL DEFAULT 0;
