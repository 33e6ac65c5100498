-- Upgrades the tables from format 10 to format 11, in which a visit says how often its request was sent before.

ALTER TABLE visit ADD COLUMN resends INTEGER;
