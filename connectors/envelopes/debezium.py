"""Debezium envelopes: which rows a change record takes away and which it adds.

`c` and `r` add `after`; `d` takes `before` away; `u` does both, `before` first. A record may be wrapped as
`{"schema": ..., "payload": envelope}`. A null record is a tombstone: it says nothing more than the
delete before it, and is ignored. `t` (truncate) and `m` (message) are not supported yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from connectors.formats.faults import (
    MISSING_FIELD,
    MISSING_IMAGE,
    NOT_AN_ENVELOPE,
    UNKNOWN_OP,
    UNSUPPORTED_OP,
    Fault,
)

Row = dict[str, Any]

_UNSUPPORTED = {"t": "truncate", "m": "message"}


@dataclass(slots=True)
class Images:
    """Row images in the order of their records: `rows[i]` changes by `diffs[i]`, says record `owners[i]`.

    `ts_ms[i]` is the envelope's, 0 where it has none. `faults` holds the records that are none of it.
    """

    rows: list[Row] = field(default_factory=list)
    diffs: list[int] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    ts_ms: list[int] = field(default_factory=list)
    faults: dict[int, Fault] = field(default_factory=dict)
    tombstones: int = 0

    def add(self, row: Row, diff: int, owner: int, ts_ms: Any) -> None:
        """Note one image."""
        self.rows.append(row)
        self.diffs.append(diff)
        self.owners.append(owner)
        self.ts_ms.append(ts_ms if type(ts_ms) is int and 0 <= ts_ms < 2**63 else 0)


def images(records: Sequence[Any]) -> Images:
    """The row images of parsed `records`; a Fault among them stays one."""
    result = Images()
    add = result.add
    for owner, record in enumerate(records):
        envelope = record
        if type(record) is dict and "payload" in record and "op" not in record:
            envelope = record["payload"]
        if envelope is None:
            result.tombstones += 1
            continue
        fault = fault_of(envelope)
        if fault is not None:
            result.faults[owner] = fault
            continue
        op = envelope["op"]
        ts_ms = envelope.get("ts_ms")
        if op == "u" or op == "d":
            add(envelope["before"], -1, owner, ts_ms)
        if op != "d":
            add(envelope["after"], 1, owner, ts_ms)
    return result


def fault_of(envelope: Any) -> Fault | None:
    """What keeps `envelope` from being a change with the images that its op needs."""
    if type(envelope) is not dict:
        if isinstance(envelope, Fault):
            return envelope
        return Fault(NOT_AN_ENVELOPE, "the record is not an object")
    op = envelope.get("op")
    if op == "c" or op == "r":
        needed: tuple[str, ...] = ("after",)
    elif op == "u":
        needed = ("before", "after")
    elif op == "d":
        needed = ("before",)
    elif op in _UNSUPPORTED if type(op) is str else False:
        return Fault(UNSUPPORTED_OP, f"op {op!r} ({_UNSUPPORTED[op]}) is not supported yet")
    elif "op" not in envelope:
        return Fault(MISSING_FIELD, "the envelope has no field 'op'")
    else:
        return Fault(UNKNOWN_OP, f"unknown op {str(op)[:40]!r}")
    for image in needed:
        row = envelope.get(image)
        if type(row) is not dict:
            if row is None:
                return Fault(
                    MISSING_IMAGE,
                    f"op {op!r} without {image!r}; PostgreSQL needs REPLICA IDENTITY FULL",
                )
            return Fault(NOT_AN_ENVELOPE, f"{image!r} is not an object")
    return None
