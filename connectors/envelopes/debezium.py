"""Debezium envelopes: which rows a change record takes away and which it adds.

`c` and `r` add `after`; `d` takes `before` away; `u` does both, `before` first. A record may be
wrapped as `{"schema": ..., "payload": envelope}`. A null record is a tombstone: it says nothing
more than the delete before it, and is ignored. `t` (truncate) and `m` (message) are not supported
yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from connectors.formats.faults import (
    MISSING_FIELD,
    MISSING_IMAGE,
    NOT_AN_ENVELOPE,
    UNKNOWN_OP,
    UNSUPPORTED_OP,
    Fault,
)

Row = dict[str, Any]

_NEEDED = {"c": ("after",), "r": ("after",), "u": ("before", "after"), "d": ("before",)}
_UNSUPPORTED = {"t": "truncate", "m": "message"}


@dataclass(slots=True)
class Images:
    """Row images in the order of their records: record `owners[i]` changes `rows[i]` by `diffs[i]`.

    `faults` holds, by their index, the records that are no change.
    """

    rows: list[Row] = field(default_factory=list)
    diffs: list[int] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    faults: dict[int, Fault] = field(default_factory=dict)
    tombstones: int = 0


def images(envelopes: Sequence[Any]) -> Images:
    """The row images of parsed envelopes (opened by `unwrapped`); a Fault among them stays one."""
    result = Images()
    rows, diffs, owners = result.rows, result.diffs, result.owners
    for owner, envelope in enumerate(envelopes):
        before = after = None
        if type(envelope) is dict:
            op = envelope.get("op")
            if op == "c" or op == "r":
                after = envelope.get("after")
                if type(after) is dict:
                    rows.append(after)
                    diffs.append(1)
                    owners.append(owner)
                    continue
            elif op == "u":
                before, after = envelope.get("before"), envelope.get("after")
                if type(before) is dict and type(after) is dict:
                    rows += (before, after)
                    diffs += (-1, 1)
                    owners += (owner, owner)
                    continue
            elif op == "d":
                before = envelope.get("before")
                if type(before) is dict:
                    rows.append(before)
                    diffs.append(-1)
                    owners.append(owner)
                    continue
        if envelope is None:
            result.tombstones += 1
        else:
            result.faults[owner] = _fault(envelope)
    return result


def unwrapped(records: list[Any]) -> list[Any]:
    """The records, with those of the form `{"schema": ..., "payload": envelope}` opened."""
    return [
        record["payload"]
        if type(record) is dict and "payload" in record and "op" not in record
        else record
        for record in records
    ]


def timestamps(envelopes: Sequence[Any]) -> NDArray[np.int64]:
    """The `ts_ms` of each envelope, 0 where it has none that is usable."""
    try:
        found = np.array([envelope["ts_ms"] for envelope in envelopes])
    except (KeyError, TypeError, ValueError):
        found = np.empty(0, object)
    if found.dtype == np.int64:
        return found
    return np.array([_ts_ms(envelope) for envelope in envelopes], np.int64)


def _ts_ms(envelope: Any) -> int:
    ts_ms = envelope.get("ts_ms") if type(envelope) is dict else None
    return ts_ms if type(ts_ms) is int and abs(ts_ms) < 2**63 else 0


def _fault(envelope: Any) -> Fault:
    """What keeps `envelope` from being a change with the images that its op needs."""
    if isinstance(envelope, Fault):
        return envelope
    if type(envelope) is not dict:
        return Fault(NOT_AN_ENVELOPE, "the record is not an object")
    if "op" not in envelope:
        return Fault(MISSING_FIELD, "the envelope has no field 'op'")
    op = envelope["op"]
    if type(op) is not str or op not in _NEEDED:
        if type(op) is str and op in _UNSUPPORTED:
            return Fault(UNSUPPORTED_OP, f"op {op!r} ({_UNSUPPORTED[op]}) is not supported yet")
        return Fault(UNKNOWN_OP, f"unknown op {str(op)[:40]!r}")
    wrong = next(image for image in _NEEDED[op] if type(envelope.get(image)) is not dict)
    if envelope.get(wrong) is None:
        hint = "; PostgreSQL needs REPLICA IDENTITY FULL" if wrong == "before" else ""
        return Fault(MISSING_IMAGE, f"op {op!r} without {wrong!r}{hint}")
    return Fault(NOT_AN_ENVELOPE, f"{wrong!r} is not an object")
