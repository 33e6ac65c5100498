-- What the sink knows about its own work. The first line of a schema's history; later ones change
-- it.

CREATE TABLE sink_version (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    -- The version of these tables.
    version integer NOT NULL,
    -- How often tables and columns were added or changed.
    revision bigint NOT NULL DEFAULT 0
);
INSERT INTO sink_version (version) VALUES (0);

CREATE TABLE sink_column (
    position bigint GENERATED ALWAYS AS IDENTITY,
    table_name text NOT NULL,
    column_name text NOT NULL,
    type text NOT NULL,
    PRIMARY KEY (table_name, column_name)
);

CREATE TABLE sink_progress (
    crawl text NOT NULL,
    -- `page`, `link`, `item`, or `log/N` for the log of an iteration.
    kind text NOT NULL,
    -- The version of the rows' format.
    format integer NOT NULL,
    -- The state of the crawl that the rows are of.
    source text NOT NULL,
    -- The reader's cursor after the rows that are written; NULL at the beginning and once finished.
    cursor text,
    -- Whether columns of items were changed so that the rows have to be written once more.
    again boolean NOT NULL DEFAULT false,
    -- When all rows were written; NULL until then.
    finished_at timestamptz,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (crawl, kind)
);

-- What an unfinished pass has written. What it has not at its end is gone from the crawl.
CREATE TABLE sink_seen (
    crawl text NOT NULL,
    kind text NOT NULL,
    key text NOT NULL,
    rows bigint NOT NULL,
    PRIMARY KEY (crawl, kind, key)
);
