"""Finds keys of tables whose rows do not add up: where images before changes were not whole.

With replica identity `full` a row is added and taken away as it stands, so a key has one row or
none. It has others where a change takes away a row that is not there, which then is there -1 times,
as of an image that is not whole; or adds one to a key that has one, as a second snapshot does. A
table without a key has any number of equal rows, but no fewer than none: there a row is its key.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from connectors.ingest.upsert import joined_rows
from ivm.results import Found

# So many keys of a table are looked at again with each of its batches, and so many are told.
REMEMBERED, TOLD = 10_000, 100

MORE = "more keys have another number of rows than one"


@dataclass(frozen=True, slots=True)
class Miscounted:
    """The `keys` of a table at fault, a message for each of the first ones, and for the rest."""

    keys: pa.RecordBatch
    messages: Mapping[str, int]


def miscounted(keys: pa.RecordBatch, found: Found, *, is_keyed: bool) -> Miscounted | None:
    """Those of the `keys`, as they were found, whose rows do not add up; None if there is none.

    A table is keyed if it has a primary key: else rows may be there more than once.
    """
    groups = len(found.starts) - 1
    rows = np.bincount(found.owners, np.abs(found.counts), groups).astype(np.int64)
    lacking = np.bincount(found.owners, found.counts < 0, groups) > 0
    (faulty,) = np.nonzero(lacking | (rows > 1) if is_keyed else lacking)
    if not len(faulty):
        return None
    faulty = faulty[:REMEMBERED]
    which: NDArray[np.int64] = found.order[found.starts[faulty]]
    told = keys.take(which[:TOLD]).to_pylist()
    messages = {
        _message(key, int(rows[group]), bool(lacking[group])): 1
        for key, group in zip(told, faulty.tolist(), strict=False)
    }
    if len(faulty) > TOLD:
        messages[MORE] = len(faulty) - TOLD
    return Miscounted(keys.take(which), messages)


def merged(parts: Sequence[Miscounted | None]) -> Miscounted | None:
    """The keys at fault of several, of which no key is in two; None if there is none."""
    faulty = [part for part in parts if part is not None]
    if not faulty:
        return None
    keys = joined_rows([part.keys for part in faulty]).slice(0, REMEMBERED)
    told = [message for part in faulty for message in part.messages if message != MORE][:TOLD]
    messages = dict.fromkeys(told, 1)
    if keys.num_rows > len(told):
        messages[MORE] = keys.num_rows - len(told)
    return Miscounted(keys, messages)


def _message(key: Mapping[str, object], rows: int, is_lacking: bool) -> str:
    shown = orjson.dumps(key, default=str).decode()
    if is_lacking:
        return (
            f"key {shown}: a change took away a row that was not there, as its image before is not "
            "whole; set REPLICA IDENTITY FULL, or declare replica_identity 'default'"
        )
    return (
        f"key {shown}: {rows} rows, though it is the primary key: it was added again, as by a "
        "second snapshot; read a new topic, or declare replica_identity 'default'"
    )
