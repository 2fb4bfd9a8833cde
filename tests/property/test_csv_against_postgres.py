"""A field of csv is the value that PostgreSQL's COPY reads of it, or is refused as there."""

import math
from itertools import product
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from connectors.decode import decode
from connectors.records import Records
from connectors.tables.spec import TableSpec
from tests.postgres import Judge

DIGITS = [
    *("1", "007", "0", "12345678901234567890", "127", "128", "255", "256", "", "x", "1 2", "1,0"),
    *("0x1F", "0b1", "0o7", "1_000", "\uff11", "\u0663", "1.0", "1e3", "1e", ".5", "1.", ".", "1d"),
    *("0x1p3", "0x1.8", "0x", "0x.8p-2", "0x1p2000", "1e400", "1e-400", "4e-324", "1e39", "1e-50"),
    *("inf", "Infinity", "INF", "infinit", "nan", "NaN", "nan(1)", "0.000", "0e5", "0x0p9"),
]
NUMBERS = [f"{sign}{text}" for sign, text in product(("", "+", "-", "--", "- "), DIGITS)]
SPACED = [
    *(" 1", "1 ", "\t1\n", "\x0b1\x0c", "\u00a01", "\u20091", "\r-1\r", " 0x1F ", " nan", " .5 "),
    *(" 1e-400", " 1e400", " inf "),
]
WORDS = [
    *(
        "t",
        "true",
        "TRUE",
        "tr",
        "1",
        "0",
        "f",
        "false",
        "fal",
        "yes",
        "yE",
        "on",
        "o",
        "off",
        "of",
    ),
    *("n", "no", "00", " true ", "\u00a0t", "\u017f", "2", "", "truely"),
]
CASES: list[tuple[str, pa.DataType, list[str]]] = [
    ("smallint", pa.int16(), NUMBERS + SPACED),
    ("int", pa.int32(), NUMBERS + SPACED),
    ("bigint", pa.int64(), NUMBERS + SPACED),
    ("real", pa.float32(), NUMBERS + SPACED),
    ("float8", pa.float64(), NUMBERS + SPACED),
    ("bool", pa.bool_(), WORDS),
    ("bytea", pa.binary(), ["\\x", "\\x0aFF", "\\xf", "\\xgg"]),
]


def of_postgres(judge: Judge, kind: str, text: str) -> Any:
    try:
        with judge.transaction(), judge.cursor() as cursor:
            cursor.execute(f"CREATE TEMPORARY TABLE copied (v {kind}) ON COMMIT DROP")
            with cursor.copy("COPY copied FROM STDIN (FORMAT csv)") as copy:
                copy.write(f'"{text}"\n'.encode())
            cursor.execute("SELECT v FROM copied", binary=True)
            return cursor.fetchall()[0][0]
    except psycopg.DataError:
        return None


def of_csv(dtype: pa.DataType, text: str) -> Any:
    schema = pa.schema([pa.field("v", dtype)])
    table = TableSpec("t", "t", schema, (), envelope="append", format="csv")
    decoded = decode(Records([f'"{text}"'.encode()], [0]), table)
    assert len(decoded.rows) + len(decoded.rejected) == 1
    return decoded.rows["v"][0].as_py() if len(decoded.rows) else None


@pytest.mark.parametrize(("kind", "dtype", "texts"), CASES, ids=[kind for kind, _, _ in CASES])
def test_a_field_of_csv_is_what_postgres_copies(
    judge: Judge, kind: str, dtype: pa.DataType, texts: list[str]
) -> None:
    differing = []
    for text in texts:
        ours, theirs = of_csv(dtype, text), of_postgres(judge, kind, text)
        both_nan = all(isinstance(v, float) and math.isnan(v) for v in (ours, theirs))
        if repr(ours) != repr(theirs) and not both_nan:
            differing.append((text, ours, theirs))
    assert differing == []
