-- Upgrades the data from format 11 to format 12, in which texts are compared by other fingerprints: those of before say nothing beside them, and a page
-- without one is believed about its canonical URL.

UPDATE document SET words = NULL, simhash = NULL WHERE simhash IS NOT NULL;
UPDATE known_url SET named_by = 0 WHERE named_by <> 0;
