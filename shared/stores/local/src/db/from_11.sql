-- Upgrades the data from format 11 to format 12. Robots.txt may be answered by a wall, a lease says what its origin answers for an address that cannot
-- exist, and a visit may end as 182: these are within records and numbers, and an earlier program cannot read them. Texts are compared by other
-- fingerprints: those of before say nothing beside them, and a page without one is believed about its canonical URL.

UPDATE document SET words = NULL, simhash = NULL WHERE simhash IS NOT NULL;
UPDATE known_url SET named_by = 0 WHERE named_by <> 0;
