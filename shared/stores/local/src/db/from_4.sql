-- Upgrades the tables from format 4 to format 5.

ALTER TABLE file_text ADD COLUMN made_by TEXT;
ALTER TABLE link_fate RENAME TO link_disposition;
