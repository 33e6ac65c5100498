-- Upgrades the tables from format 12 to format 13, in which the origins that joined a crawl are found by their place: each worker asks how many there
-- are whenever it begins, and reads those that are new to it.

CREATE INDEX origin_joined ON origin (crawl_id, joined) WHERE joined IS NOT NULL;
