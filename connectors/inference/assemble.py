"""Assembles a proposal out of the columns of a topic's rows and of its records' keys.

What a record says of rows is told by its members; where records are plain rows, by how the topic is
kept: one that is compacted, or has records without a value, holds the latest row of each key
(`upsert`), any other rows that are only added (`append`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from connectors.declaration import LONGEST_NAME, Metadata, ReplicaIdentity
from connectors.envelopes.envelope import ENVELOPES
from connectors.errors import InvalidTable
from connectors.inference.guess import Guess
from connectors.inference.proposal import Given, Proposal

# The column of a key that is no object, and what it is called where a row has one so named.
_KEY, _OTHER_KEY = "key", "record_key"
_SHOWN = 40  # letters of a name
_RAW = Guess(pa.string(), is_nullable=False)


@dataclass(frozen=True, slots=True)
class Key:
    """What keys of records are: objects with `columns`, one value `whole`, bytes, or nothing."""

    columns: Mapping[str, Guess] = field(default_factory=dict)
    whole: Guess | None = None
    is_raw: bool = False

    @property
    def is_there(self) -> bool:
        """Whether records have keys."""
        return bool(self.columns) or self.whole is not None or self.is_raw


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of a topic: `values` are documents, or the fields of a schema.

    `rows` are the columns of rows.
    """

    place: str
    format: str
    envelope: str
    values: Sequence[Mapping[str, Any]]
    rows: Mapping[str, Guess]
    key: Key


def envelope_of(
    values: Sequence[Mapping[str, Any]], key: Key, given: Given, *, is_table: bool
) -> str:
    """The envelope that most of these values have; else one of plain rows.

    `is_table`: the topic holds the latest row of each key.
    """
    if given.envelope is not None:
        return given.envelope
    fits = {
        name: [envelope.recognition.fits(value) for value in values]
        for name, envelope in ENVELOPES.items()
    }
    best = max(fits, key=lambda name: sum(fits[name]))
    if 2 * sum(map(bool, fits[best])) > len(values):
        return best
    if given.key:
        return "upsert" if key.is_there else "flat"
    return "upsert" if key.is_there and is_table else "append"


def assemble(found: Found, given: Given, *, guesses_key: bool) -> Proposal:
    """The proposal; `guesses_key`: a key is taken by its name where no record names one.

    Raises InvalidTable where there is no column, or no key and none may be guessed.
    """
    envelope = ENVELOPES[found.envelope]
    columns, unsure = _columns(found)
    key: tuple[str, ...] = ()
    metadata: dict[str, Metadata] = {}
    identity = given.replica_identity
    if envelope.rows_stay:
        if found.key.is_there:
            unsure.append(_keyed_rows(found))
    else:
        key = given.key or _named_key(found)
        if envelope.keys != "unread":
            columns, key, metadata = _with_keys(found, columns, key)
        if not key and identity != "full":
            key, identity = _guessed(found, columns, unsure, guesses_key=guesses_key)
    if missing := [name for name in key if name not in columns]:
        raise InvalidTable(
            f"{found.place}: key: its rows have no {', '.join(map(repr, missing))}; "
            "declare `columns`"
        )
    columns |= {name: replace(columns[name], is_nullable=False) for name in key}
    unsure += [f"column {name!r}: {one.doubt}" for name, one in columns.items() if one.doubt]
    schema = pa.schema([one.field(name) for name, one in columns.items()])
    return Proposal(
        found.format,
        found.envelope,
        schema,
        tuple(key),
        metadata,
        identity,
        unsure=tuple(unsure),
    )


def _columns(found: Found) -> tuple[dict[str, Guess], list[str]]:
    """The columns that can be declared, and why others are left out."""
    recognition = ENVELOPES[found.envelope].recognition
    if recognition.columns is not None:
        columns = {f.name: Guess(f.type, f.nullable) for f in recognition.columns}
        return columns, ["an _id that is a number needs an integer column"]
    marks = frozenset().union(*recognition.signs) if not recognition.rows else frozenset()
    rows = {name: one for name, one in found.rows.items() if name not in marks}
    columns = {name: one for name, one in rows.items() if one.dtype and _is_usable(name)}
    left = [
        f"column {name[:_SHOWN]!r} is left out: {one.doubt or 'no column can be called so'}"
        for name, one in rows.items()
        if name not in columns
    ]
    if not columns:
        raise InvalidTable(
            f"{found.place}: no row was found in its records (envelope {found.envelope!r}); "
            f"declare `columns`{''.join(f'; {one}' for one in left)}"
        )
    return columns, left


def _is_usable(name: str) -> bool:
    return 0 < len(name) <= LONGEST_NAME and "\0" not in name


def _named_key(found: Found) -> tuple[str, ...]:
    """The primary key that the records name."""
    recognition = ENVELOPES[found.envelope].recognition
    if recognition.columns is not None:
        return (recognition.columns.names[0],)
    named = (recognition.key(value, found.key.columns) for value in found.values)
    return tuple(next(filter(None, named), ()))


def _with_keys(
    found: Found, columns: dict[str, Guess], key: Sequence[str]
) -> tuple[dict[str, Guess], tuple[str, ...], dict[str, Metadata]]:
    """Columns, key and metadata where a row's key comes from the record's."""
    in_keys = dict(found.key.columns)
    metadata: dict[str, Metadata] = {}
    if found.key.whole is not None or found.key.is_raw:
        name = key[0] if key else _KEY if _KEY not in columns else _OTHER_KEY
        in_keys = {name: found.key.whole or _RAW}
        if found.key.is_raw:
            metadata = {name: "key"}
    elif key:
        in_keys = {name: one for name, one in in_keys.items() if name in key}
    return in_keys | columns | in_keys, tuple(key) or tuple(in_keys), metadata


def _guessed(
    found: Found, columns: Mapping[str, Guess], unsure: list[str], *, guesses_key: bool
) -> tuple[tuple[str, ...], ReplicaIdentity]:
    """A key by its name, or none where images are whole (raises InvalidTable)."""
    nothing = f"{found.place}: key: no record names the primary key"
    has_before = ENVELOPES[found.envelope].has_before
    ways = "declare `key`" + (
        ", or replica_identity 'full' if the table has none" if has_before else ""
    )
    if guesses_key:
        if "id" in columns:
            unsure.append("no record names the primary key; 'id' is taken by its name")
            return ("id",), "default"
        if has_before:
            unsure.append(f"no record names the primary key; {ways}, which is proposed")
            return (), "full"
    raise InvalidTable(f"{nothing}; {ways}")


def _keyed_rows(found: Found) -> str:
    names: Iterable[str] = found.key.columns or ("key",)
    return (
        "the records have keys, and rows are only added: if a record replaces the row of its key, "
        f"declare envelope 'upsert' and the key {list(names)}"
    )
