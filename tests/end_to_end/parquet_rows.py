"""Reads a Parquet file with pyarrow and with DuckDB, and prints its rows as JSON lines if both find the same.

Run in the environment of `tests/requirements.txt`:

    parquet_rows.py FILE
"""

import datetime
import json
import sys

import duckdb
import pyarrow.parquet


def main() -> None:
    rows = pyarrow.parquet.read_table(sys.argv[1]).to_pylist()
    relation = duckdb.from_parquet(sys.argv[1])
    others = [dict(zip(relation.columns, values)) for values in relation.fetchall()]
    if rows != others:
        sys.exit("pyarrow and DuckDB read different rows")
    for row in rows:
        print(json.dumps(row, ensure_ascii=False, default=in_words))


def in_words(value: datetime.date) -> str:
    """Returns a time or a day as rows in JSON have it."""
    if not isinstance(value, datetime.datetime):
        return value.isoformat()
    return value.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


if __name__ == "__main__":
    main()
