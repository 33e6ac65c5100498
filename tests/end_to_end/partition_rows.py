"""Reads the Parquet files of a table with DuckDB, as partitions, and prints their rows as JSON lines.

Run in the environment of `tests/requirements.txt`:

    partition_rows.py DIRECTORY TABLE
"""

import json
import sys

import duckdb
from parquet_rows import in_words


def main() -> None:
    files = f"{sys.argv[1]}/{sys.argv[2]}/**/*.parquet"
    relation = duckdb.read_parquet(files, hive_partitioning=True, union_by_name=True)
    for values in relation.fetchall():
        print(json.dumps(dict(zip(relation.columns, values)), ensure_ascii=False, default=in_words))


if __name__ == "__main__":
    main()
