"""Debezium envelopes: each change record takes rows away and adds rows, by its images.

With whole images, `c` and `r` add `after`; `d` takes `before` away; `u` does both, `before` first.
In a keyed table `c`, `r` and `u` set `after`, and `d` deletes the row with the key of `before` or,
without one, of the record; a `u` that changed the key deletes the row of the former one first.
`t` truncates; `m`, a message of the database's log, is ignored. A null record is a tombstone: it
says nothing more than the delete before it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from connectors.columns.faults import (
    MISSING_FIELD,
    MISSING_IMAGE,
    NOT_AN_ENVELOPE,
    UNKNOWN_OP,
    Fault,
)
from connectors.columns.to_arrow import Converter
from connectors.columns.writer_schema import Logical
from connectors.declaration import Declaration
from connectors.envelopes.hints import of_plain
from connectors.envelopes.images import Contents, Images, Keys, Shape, Stamps
from connectors.envelopes.keys import check_primary_key
from connectors.envelopes.layout import Layout
from connectors.envelopes.positions import positions, transactions
from connectors.envelopes.recognition import Recognition
from connectors.formats.parsed import Holding

_NEEDED = {"c": ("after",), "r": ("after",), "u": ("before", "after"), "d": ("before",)}


class Debezium:
    """Envelope `debezium`."""

    name = "debezium"
    holds: tuple[Holding, ...] = ("documents", "structs")
    rows_stay = False
    keys: Keys = "unread"
    has_before = True
    has_transactions = True
    leaves_out = True
    has_encodings = True
    layout: Layout | None = Layout(
        "debezium",
        (("before",), ("after",)),
        (
            *(("op",), ("ts_ms",)),
            *(("source", name) for name in ("sequence", "file", "pos", "gtid")),
            ("transaction", "id"),
        ),
        has_times=True,
    )
    recognition = Recognition((frozenset(("op", "after")), frozenset(("op", "before"))), "after")

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable unless there is a primary key."""
        check_primary_key(table)

    def images(self, contents: Contents) -> Images:
        """The rows that envelopes set or add, and those that they take away."""
        if contents.shape.is_keyed:
            return _keyed_images(contents.values, contents.shape, contents.key_of)
        return _whole_images(contents.values, contents.shape)

    def row(self, value: Logical) -> Logical | None:
        """The type of both images is that of `after`."""
        image = value.fields.get("after")
        return image if image is not None and image.kind == "struct" else None

    def image(self, diff: int) -> str:
        """The image on that side of the change."""
        return "'after'" if diff > 0 else "'before'"

    def converter(self, field: pa.Field) -> Converter | None:
        """As the format says."""
        return None

    def stamps(self, values: Sequence[Any], table: Declaration) -> Stamps:
        """The connector's time, the position in the database's log, and the transaction's id."""
        ids = transactions(values) if table.resolution == "transaction" else None
        return Stamps(timestamps(values), positions(values), ids)


def _whole_images(envelopes: Sequence[Any], shape: Shape) -> Images:
    """The row images of envelopes whose images are whole; a Fault among them stays one."""
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
        if not _takes(result, owner, envelope, shape):
            result.faults[owner] = _fault(envelope, _NEEDED)
    return result


def _keyed_images(envelopes: Sequence[Any], shape: Shape, key_of: Callable[[int], Any]) -> Images:
    """The rows that envelopes set and delete; `key_of` gives the contents of a record's key.

    A Fault among the envelopes stays one.
    """
    result = Images()
    rows, diffs, owners = result.rows, result.diffs, result.owners
    for owner, envelope in enumerate(envelopes):
        if type(envelope) is dict:
            op = envelope.get("op")
            if op == "c" or op == "r" or op == "u":
                after = envelope.get("after")
                if type(after) is dict:
                    before = envelope.get("before")
                    if before is not None and op == "u":
                        gone = shape.moved_from(before, after) if type(before) is dict else None
                        if gone is not None:
                            result.add(owner, -1, gone)
                    rows.append(after)
                    diffs.append(1)
                    owners.append(owner)
                    continue
            elif op == "d":
                gone = shape.keyed(envelope.get("before"))
                if gone is None:
                    key = key_of(owner)
                    gone = shape.keyed(key)
                    if gone is None:
                        result.faults[owner] = _keyless(key)
                        continue
                result.add(owner, -1, gone)
                continue
        if not _takes(result, owner, envelope, shape):
            result.faults[owner] = _fault(envelope, _NEEDED | {"u": ("after",)})
    return result


def timestamps(envelopes: Sequence[Any]) -> NDArray[np.int64]:
    """The `ts_ms` of each envelope, 0 where it has none that is usable."""
    try:
        found = np.array([envelope["ts_ms"] for envelope in envelopes])
    except (KeyError, TypeError, ValueError):
        found = np.empty(0, object)
    if found.dtype == np.int64 and found.ndim == 1:
        return found
    return np.array([_ts_ms(envelope) for envelope in envelopes], np.int64)


def _ts_ms(envelope: Any) -> int:
    ts_ms = envelope.get("ts_ms") if type(envelope) is dict else None
    return ts_ms if type(ts_ms) is int and abs(ts_ms) < 2**63 else 0


def _takes(result: Images, owner: int, envelope: Any, shape: Shape) -> bool:
    """Whether `envelope` is one of those without images."""
    if envelope is None:
        result.tombstones += 1
        return True
    op = envelope.get("op") if type(envelope) is dict else None
    if op == "m":
        result.ignored += 1
        return True
    if op == "t":
        result.add(owner, 0, shape.blank())
        return True
    return False


def _keyless(key: Any) -> Fault:
    if isinstance(key, Fault):
        return Fault(key.reason, f"op 'd' without 'before', and the record's key: {key.message}")
    return Fault(
        MISSING_IMAGE, "op 'd' has the primary key neither in 'before' nor in the record's key"
    )


def _fault(envelope: Any, needed: dict[str, tuple[str, ...]]) -> Fault:
    """The fault of an `envelope` without the op or the images that a change needs."""
    if isinstance(envelope, Fault):
        return envelope
    if type(envelope) is not dict:
        return Fault(NOT_AN_ENVELOPE, "the record is not an object")
    if "op" not in envelope:
        return Fault(MISSING_FIELD, f"the envelope has no field 'op'{of_plain(envelope)}")
    op = envelope["op"]
    if type(op) is not str or op not in needed:
        return Fault(UNKNOWN_OP, f"unknown op {str(op)[:40]!r}")
    wrong = next(image for image in needed[op] if type(envelope.get(image)) is not dict)
    if type(envelope.get(wrong)) is str:
        return Fault(
            NOT_AN_ENVELOPE,
            f"{wrong!r} is a text and not an object; documents of MongoDB have envelope 'mongodb'",
        )
    if envelope.get(wrong) is None:
        hint = "; PostgreSQL needs REPLICA IDENTITY FULL" if wrong == "before" else ""
        return Fault(MISSING_IMAGE, f"op {op!r} without {wrong!r}{hint}")
    return Fault(NOT_AN_ENVELOPE, f"{wrong!r} is not an object")
