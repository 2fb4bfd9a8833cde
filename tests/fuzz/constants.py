"""Constants of every form under every cast, alone and combined: a value or a refusal.

`python -m tests.fuzz.constants --constants 1000000` searches. No message names what only the engine
knows, such as a type of Arrow's.
"""

import argparse
import os
import re
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from random import Random

import pyarrow as pa

from ivm.dataflow import nodes as df
from ivm.errors import IvmError
from ivm.expressions.program import evaluate
from views.catalog import Catalog, Table
from views.compile import compile_view

CHUNK = 500
TYPES = (
    "boolean", "smallint", "integer", "bigint", "numeric", "numeric(4, 2)", "numeric(38, 10)",
    "real", "double precision", "text", "bytea", "date", "time", "timestamp", "timestamptz",
    "interval", "uuid", "jsonb", "int[]", "text[]", "numeric[]", "time[]", "jsonb[]",
    "interval[][]", "varchar(3)", "char(4)", "bpchar", "float(10)", "timestamp(3)",
    "timestamptz(0)",
    "time(2)", "interval(1)", "interval year to month", "interval day to second(2)",
    "interval minute", "date[]", "varchar[]",
)  # fmt: skip
TEXTS = (
    "", " ", "t", "yes", "0", "-1", "+7", "007", "12.75", ".5", "1e3", "1e400", "1e-400", "-0",
    "nan", "-inf", "Infinity", "2147483648", "-9223372036854775808", "9" * 38, "9" * 39,
    "0." + "9" * 38, "0x1F", "1_000", "\\x00ff", "\\x0g", "a\\001b", "abc\\\\d", "\\",
    "2024-02-29", "2023-02-29", "20000-01-01", "0044-03-15 BC", "294276-12-31 23:59:59.9999995",
    "Jan 8, 1999", "1/8/99", "99-Jan-08", "20040719T040506.789-08", "1999.008", "J2451187.5",
    "y2001m02d04", "epoch", "infinity", "today", "04:05 PM", "allballs", "10:00 MET DST",
    "Mon Feb 10 17:32:01.4 1997 PST", "2024-10-27 02:30 Europe/Berlin", "2024-1-1 24:00",
    "24:00:00", "23:59:60", "04:05:06.789+08", "10:00:00.9999999", "2024-01-15 12:00:00+14:59",
    "2024-01-15T12:00Z", "1 day", "-2147483648 months", "2147483647 days",
    "1 mon -1 day 00:00:00.000001", "P1Y2M3DT4H5M6.7S", "@ 1 year ago", "9223372036854775807 us",
    "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "{}", "{1,2}", "{NULL,\"\"}", "{{1},{2,3}}", "{\\}",
    "{\"\\", "{1,}", "{", "[1, 2.50]", "{\"a\": 1e5}", "[1e999999]", "\"\\u0000\"", "\"\\ud800\"",
    "null", "\0", "é", "\u0660", "ŉ",
)  # fmt: skip
NUMBERS = (
    "0", "1", "2147483647", "2147483648", "9223372036854775808", "9" * 38, "1.5", ".5", "0.1",
    "1e3", "1e-37", "99.995", "16777217", "3.4028236e37",
)  # fmt: skip
TEMPLATES = (
    "YYYY-MM-DD HH24:MI:SS.US", "FMDay, DDth Month Y,YYY", "IYYY-IW-ID", "J Q CC RM SSSS",
    "HH12 AM BC",
    "TZH:TZM OF TZ", "FXYYYY \"x\"", "9G999D99S", "FM0999.90MI", "SG99V9", "9.99EEEE", "RN", "PR9",
    "L9,999th", "\"", "\\", "", "é9", "0" * 40, "9" * 30 + "." + "9" * 20,
)  # fmt: skip
ZONES = ("UTC", "europe/berlin", "EST", "UTC+3", "-3:30", "+999", "Mars", "<a>4", "", "é")
_OPERATORS = ("+", "-", "*", "/", "%", "=", "<", "||", "->", "->>", "#>>", "#-", "@>", "?", "^")
_INTERNAL = re.compile(
    r"decimal128|month_day|extension<|timestamp\[[^]]|time64|DataType|Literal|Error\b|<class"
)
_TABLE = Table("one", pa.schema([pa.field("id", pa.int64(), False)]), ("id",))
_ROW = pa.RecordBatch.from_pydict({"id": [1]}, schema=_TABLE.schema)


def expression(random: Random, depth: int = 2) -> str:
    """A constant expression."""
    if depth == 0 or random.random() < 0.3:
        return _leaf(random)
    one = expression(random, depth - 1)
    match random.randrange(8):
        case 0 | 1 | 2:
            return f"({one})::{random.choice(TYPES)}"
        case 3:
            return f"({one} {random.choice(_OPERATORS)} {expression(random, depth - 1)})"
        case 4:
            return f"(- {one})"
        case 5:
            function = random.choice(("to_char", "to_date", "to_timestamp", "to_number"))
            return f"{function}({one}, {_quoted(random.choice(TEMPLATES))})"
        case 6:
            return f"({one} AT TIME ZONE {_quoted(random.choice(ZONES))})"
        case _:
            return f"ARRAY[{one}, {expression(random, depth - 1)}]"


def _leaf(random: Random) -> str:
    if random.random() < 0.3:
        return random.choice(NUMBERS)
    text = random.choice(TEXTS)
    if random.random() < 0.2 and text:
        at = random.randrange(len(text))
        text = text[:at] + random.choice(("", "\\", "{", "-", ":", "9", text)) + text[at + 1 :]
    quoted = _quoted(text)
    typed = random.random() < 0.3
    return f"{random.choice(TYPES[:18])} {quoted}" if typed else quoted


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def fault(sql: str) -> str | None:
    """What is wrong with how the constant `sql` is taken, if anything."""
    try:
        node = compile_view(f"SELECT {sql} AS x FROM one", Catalog([_TABLE])).node
        errors: list[str] = []
        if isinstance(node, df.Map):
            _, errors = evaluate(_TABLE.schema, [], node.outputs, _ROW)
        if any(map(_INTERNAL.search, errors)):
            return f"{sql}: {errors[0]}"
    except IvmError as refusal:
        return f"{sql}: {refusal}" if _INTERNAL.search(str(refusal)) else None
    except Exception as error:
        return f"{sql}: {error!r}"
    return None


def judge(seed: int, chunk: int) -> list[str]:
    """The faults among the constants of a chunk."""
    randoms: Iterable[Random] = (Random(f"{seed} {chunk} {i}") for i in range(CHUNK))
    return [found for random in randoms if (found := fault(expression(random))) is not None]


def main() -> int:
    """1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.constants", description=__doc__)
    parser.add_argument("--constants", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    chunks = -(-given.constants // CHUNK)
    started = time.monotonic()
    faults: list[str] = []
    with ProcessPoolExecutor(given.jobs, get_context("spawn")) as pool:
        for found in pool.map(partial(judge, given.seed), range(chunks), chunksize=4):
            faults += found
    for one in faults[:20]:
        print(one)
    print(f"{chunks * CHUNK} constants in {time.monotonic() - started:.0f} s, {len(faults)} faults")
    return min(len(faults), 1)


if __name__ == "__main__":
    sys.exit(main())
