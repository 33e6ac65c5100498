-- Upgrades the tables from format 14 to format 15, in which an iteration's counts are kept. What its rows count so far is added by the program.

CREATE TABLE counter (
    crawl_id  INTEGER NOT NULL REFERENCES crawl (id),
    iteration INTEGER NOT NULL,
    name      TEXT NOT NULL,
    number    INTEGER NOT NULL,
    PRIMARY KEY (crawl_id, iteration, name)
) STRICT, WITHOUT ROWID;
UPDATE iteration SET origins = max(origins, (
    SELECT count(*) FROM inbox b JOIN origin o ON o.id = b.origin_id
    WHERE o.crawl_id = iteration.crawl_id AND b.iteration = iteration.number));
