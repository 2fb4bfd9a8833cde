"""Records of Debezium's connector for MongoDB: documents as texts, by their `_id`.

| record | says |
| --- | --- |
| op `c`, `r`, `u`, `after` a text of JSON | sets the document of the `_id` in it |
| op `d` | deletes that of the `_id` in `before`, or else in the record's key |
| no value | nothing more than the delete before it |

A table has a key of one column, the `_id`, and one column of documents. An ObjectId, and any other
`_id` that extended JSON wraps in an object of one member (`$oid`, `$numberLong`, `$uuid`), is what
it wraps; one of several fields is a text of JSON. What `updateDescription` says is in `after` too,
unless the connector does not look documents up: then an update is at fault, since it does not say
what the document has become.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import orjson
import pyarrow as pa

from connectors.columns.faults import (
    MISSING_FIELD,
    MISSING_IMAGE,
    NOT_AN_ENVELOPE,
    UNKNOWN_OP,
    WRONG_TYPE,
    Fault,
)
from connectors.columns.to_arrow import Converter
from connectors.columns.writer_schema import Logical
from connectors.declaration import Declaration, refused
from connectors.envelopes.debezium import timestamps
from connectors.envelopes.images import Contents, Images, Keys, Shape, Stamps
from connectors.envelopes.keys import check_primary_key
from connectors.envelopes.layout import Layout
from connectors.envelopes.recognition import Recognition
from connectors.formats.parsed import Holding
from ivm.values.documents import canonical
from ivm.values.types import JSON

_SETS = ("c", "r", "u")
_TEXTS, _NUMBERS = ("$oid", "$uuid"), ("$numberInt", "$numberLong")
_INTEGER = re.compile(r"-?[0-9]{1,20}")
_COLUMNS = pa.schema([pa.field("id", pa.string(), nullable=False), pa.field("document", JSON)])


class MongoDb:
    """Envelope `mongodb`."""

    name = "mongodb"
    holds: tuple[Holding, ...] = ("documents", "structs")
    rows_stay = False
    keys: Keys = "unread"
    has_before = False
    has_transactions = False
    leaves_out = False
    has_encodings = False
    layout: Layout | None = None
    recognition = Recognition((frozenset(("op", "after", "updateDescription")),), columns=_COLUMNS)

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable unless there is a key of one column, and one column of documents."""
        check_primary_key(table)
        others = [name for name in table.contents if name not in table.key]
        kinds = [table.schema.field(name).type for name in (*table.key, *others)]
        is_identity = pa.types.is_string(kinds[0]) or pa.types.is_integer(kinds[0])
        if len(table.key) != 1 or not is_identity or kinds[1:] != [JSON]:
            raise refused(
                table,
                "columns",
                "envelope 'mongodb' has a key of one column (utf8, or an integer), the documents' "
                "_id, and one column of type json, the documents, besides those of metadata",
            )

    def images(self, contents: Contents) -> Images:
        """The documents that records set, and those that they delete."""
        result = Images()
        for owner, value in enumerate(contents.values):
            if value is None:
                result.tombstones += 1
                continue
            change = _change(value, contents.shape, contents.key_of, owner)
            if isinstance(change, Fault):
                result.faults[owner] = change
            else:
                result.add(owner, *change)
        return result

    def row(self, value: Logical) -> Logical | None:
        """A row is made here, not by the writer."""
        return None

    def image(self, diff: int) -> str:
        """The document on that side of the change."""
        return "'after'" if diff > 0 else "the record's key"

    def converter(self, field: pa.Field) -> Converter | None:
        """As the format says."""
        return None

    def stamps(self, values: Sequence[Any], table: Declaration) -> Stamps:
        """The connector's time."""
        return Stamps(timestamps(values))


def _change(
    value: Any, shape: Shape, key_of: Callable[[int], Any], owner: int
) -> tuple[int, dict[str, Any]] | Fault:
    """The diff and the row of a record."""
    if isinstance(value, Fault):
        return value
    if type(value) is not dict:
        return Fault(NOT_AN_ENVELOPE, "the record is not an object")
    if "op" not in value:
        return Fault(MISSING_FIELD, "the envelope has no field 'op'")
    op, after = value["op"], value.get("after")
    if op == "d":
        before = value.get("before")
        identity = _of_key(key_of(owner)) if before is None else _of_document(before, "'before'")
    elif type(op) is not str or op not in _SETS:
        return Fault(UNKNOWN_OP, f"unknown op {str(op)[:40]!r}")
    elif after is None:
        return Fault(
            MISSING_IMAGE,
            f"op {op!r} without 'after': the document was deleted since, or the connector does not "
            "look it up; set capture.mode=change_streams_update_full",
        )
    else:
        identity = _of_document(after, "'after'")
    if isinstance(identity, Fault):
        return identity
    row = shape.blank() | {shape.key[0]: identity}
    if op == "d":
        return -1, row
    (column,) = (name for name in shape.names if name not in shape.key)
    return 1, row | {column: after}


def _of_document(document: Any, image: str) -> Any:
    """The `_id` in a document, which is mostly a text."""
    try:
        found = orjson.loads(document) if isinstance(document, str) else document
    except orjson.JSONDecodeError as error:
        return Fault(NOT_AN_ENVELOPE, f"{image} is a text that is no JSON: {error}")
    if type(found) is not dict:
        return Fault(NOT_AN_ENVELOPE, f"{image} is no document")
    if found.get("_id") is None:
        return Fault(MISSING_FIELD, f"{image} has no '_id'")
    return _identity(found["_id"])


def _of_key(key: Any) -> Any:
    """The `_id` in a record's key, as a text of JSON in its field `id`."""
    if isinstance(key, Fault):
        return Fault(key.reason, f"op 'd' without 'before', and the record's key: {key.message}")
    text = key.get("id") if type(key) is dict else None
    if type(text) is not str:
        return Fault(
            MISSING_IMAGE, "op 'd' has the '_id' neither in 'before' nor in the record's key"
        )
    try:
        return _identity(orjson.loads(text))
    except orjson.JSONDecodeError as error:
        return Fault(NOT_AN_ENVELOPE, f"the record's key has an 'id' that is no JSON: {error}")


def _identity(value: Any) -> Any:
    """Gives an `_id` as a column has it: what extended JSON wraps, or a text of JSON."""
    if type(value) is dict and len(value) == 1:
        ((name, wrapped),) = value.items()
        if name in _TEXTS and type(wrapped) is str:
            return wrapped
        if name in _NUMBERS and type(wrapped) is str and _INTEGER.fullmatch(wrapped):
            return int(wrapped)
    if type(value) not in (dict, list):
        return value
    try:
        return canonical(orjson.dumps(value).decode())
    except ValueError as error:
        return Fault(WRONG_TYPE, f"an '_id' that no text holds: {error}")
