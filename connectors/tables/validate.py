"""Checks of a table's declaration, beyond the types of its fields.

Each check raises InvalidTable with the field at fault and what to do about it. Together they keep
out every table whose records could only be rejected, or whose rows could not be taken back.
"""

import re

import pyarrow as pa

from connectors.columns.unavailable import placeholder
from connectors.declaration import UNAVAILABLE, Declaration, refused
from connectors.envelopes.envelope import ENVELOPES, Envelope
from connectors.errors import InvalidTable
from connectors.formats.format import FORMATS
from connectors.metadata import COORDINATES
from connectors.tables.connector import CONNECTORS
from connectors.tables.patterns import matching
from ivm.values.types import INTERVAL

# Names of topics of every connector.
TOPIC_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,248}")
_COUNTED = ("ms", "us", "ns")


def check(spec: Declaration) -> None:
    """Raise InvalidTable unless all that `spec` declares fits together."""
    _check_columns(spec)
    _check_pattern(spec)
    _check_topic(spec)
    _check_envelope(spec)
    _check_placeholder(spec)
    _check_metadata(spec)
    _check_start(spec)
    _check_encodings(spec)
    FORMATS[spec.format].check(spec)


def _choose(spec: Declaration, field: str, accepted: tuple[str, ...], why: str = "") -> None:
    value = getattr(spec, field)
    if value not in accepted:
        choice = " or ".join(repr(name) for name in accepted)
        raise refused(spec, field, f"{value!r} is not possible{why}; choose {choice}")


def _check_columns(spec: Declaration) -> None:
    names = spec.schema.names
    is_named = TOPIC_NAME.fullmatch(spec.topic) or spec.topic_pattern is not None
    if not spec.name or not is_named:
        raise InvalidTable(f"table {spec.name!r} with topic {spec.topic!r}: not a usable name")
    if not names or len(set(names)) != len(names):
        raise refused(spec, "columns", "they must be present and distinct")
    if any("\0" in name for name in names):
        raise refused(spec, "columns", "a name holds a NUL")


def _check_topic(spec: Declaration) -> None:
    _choose(spec, "connector", tuple(CONNECTORS))
    _choose(spec, "envelope", tuple(ENVELOPES))
    _choose(spec, "on_error", ("stall", "quarantine"))
    letter = spec.dead_letter
    if letter is not None and not TOPIC_NAME.fullmatch(letter.topic):
        raise refused(spec, "dead_letter.topic", f"{letter.topic!r} is no name of a topic")
    if letter is not None and letter.connection == spec.connection and reads(spec, letter.topic):
        raise refused(spec, "dead_letter.topic", "records would come back; name another topic")
    CONNECTORS[spec.connector].check(spec)


def _check_pattern(spec: Declaration) -> None:
    """See that each topic that a pattern matches can be read by itself."""
    if spec.topic_pattern is None:
        return
    field = "topic_pattern"
    if spec.topic:
        raise refused(spec, field, "a source has a topic or a pattern of topics; leave one out")
    if spec.connector in CONNECTORS and not CONNECTORS[spec.connector].is_remote:
        raise refused(spec, field, "topics of connector 'kafka' are matched alone; declare `topic`")
    try:
        matching(spec.topic_pattern, ())
    except ValueError as error:
        raise refused(
            spec, field, f"{spec.topic_pattern!r} is no regular expression of RE2: {error}"
        ) from error
    if spec.resolution == "transaction":
        raise refused(
            spec,
            "resolution",
            "'transaction' waits for all topics of a transaction, and of a pattern more may come; "
            "choose another, or declare a source for each topic",
        )
    if isinstance(spec.start, dict) and "offsets" in spec.start:
        raise refused(spec, "start", "offsets are those of one topic; choose another start")


def reads(spec: Declaration, topic: str) -> bool:
    """Whether a table reads a topic of this name on its connection, or would."""
    if spec.topic_pattern is None:
        return spec.topic == topic
    return bool(matching(spec.topic_pattern, [topic]))


def _check_envelope(spec: Declaration) -> None:
    envelope = ENVELOPES[spec.envelope]
    _choose(spec, "format", _formats(envelope), f" with envelope {spec.envelope!r}")
    _choose(spec, "replica_identity", ("default", "full"))
    _choose(spec, "resolution", ("batch", "transaction", "record"))
    if spec.replica_identity == "full" and not envelope.has_before:
        raise refused(
            spec, "replica_identity", f"envelope {spec.envelope!r} has no images before changes"
        )
    if spec.resolution == "transaction" and not envelope.has_transactions:
        able = " or ".join(repr(n) for n, one in ENVELOPES.items() if one.has_transactions)
        raise refused(spec, "resolution", f"'transaction' needs envelope {able}")
    if (spec.resolution == "transaction") != (spec.transaction_topic is not None):
        raise refused(
            spec,
            "transaction_topic",
            "resolution 'transaction' needs the topic of Debezium's transaction metadata, and no "
            "other resolution has one",
        )
    if spec.transaction_topic is not None and not TOPIC_NAME.fullmatch(spec.transaction_topic):
        raise refused(spec, "transaction_topic", "not a usable name")
    if len(set(spec.key)) != len(spec.key) or not set(spec.key) <= set(spec.schema.names):
        raise refused(spec, "key", f"{list(spec.key)} is not a set of columns")
    envelope.check(spec)


def _check_placeholder(spec: Declaration) -> None:
    field, given = "unavailable_value_placeholder", spec.unavailable_value_placeholder
    if given != UNAVAILABLE and not ENVELOPES[spec.envelope].leaves_out:
        able = " or ".join(repr(n) for n, one in ENVELOPES.items() if one.leaves_out)
        raise refused(spec, field, f"there are such values with envelope {able} only; leave it out")
    try:
        placeholder(given)
    except ValueError as error:
        raise refused(
            spec, field, f"{given!r} is neither a text nor 'hex:' and the digits of bytes"
        ) from error


def _formats(envelope: Envelope) -> tuple[str, ...]:
    """The formats whose values an envelope can come in."""
    return tuple(name for name, form in FORMATS.items() if form.holds in envelope.holds)


def _check_metadata(spec: Declaration) -> None:
    if not spec.metadata:
        return
    if spec.replica_identity == "full":
        raise refused(
            spec,
            "metadata",
            "with replica_identity 'full' a row is taken back by its contents, and the record that "
            "takes it back has other coordinates; choose replica_identity 'default'",
        )
    for column, kind in spec.metadata.items():
        if column not in spec.schema.names:
            raise refused(spec, "metadata", f"{column!r} is not a column")
        if kind not in COORDINATES:
            raise refused(
                spec, "metadata", f"{kind!r} is unknown; choose from {sorted(COORDINATES)}"
            )
        dtype, accepted = spec.schema.field(column).type, COORDINATES[kind].types
        if dtype not in accepted and not (kind == "timestamp" and pa.types.is_timestamp(dtype)):
            choice = " or ".join(map(str, accepted))
            raise refused(spec, "metadata", f"{column!r} takes {kind!r}, so its type is {choice}")
    if not spec.contents and FORMATS[spec.format].holds == "columns":
        raise refused(spec, "columns", f"format {spec.format!r} needs a column for the contents")


def _check_start(spec: Declaration) -> None:
    start = spec.start
    if start in ("earliest", "latest"):
        return
    match start:
        case {"timestamp": int(ms), **rest} if ms >= 0 and not rest:
            return
        case {"offsets": dict(offsets), **rest} if offsets and not rest:
            if all(type(n) is int and n >= 0 for pair in offsets.items() for n in pair):
                return
    raise refused(
        spec,
        "start",
        f"{start!r} is none of 'earliest', 'latest', {{'offsets': {{partition: offset}}}}, "
        "{'timestamp': milliseconds since the epoch}",
    )


def _check_encodings(spec: Declaration) -> None:
    parts = (FORMATS[spec.format], ENVELOPES[spec.envelope])
    if spec.encodings and not all(part.has_encodings for part in parts):
        raise refused(spec, "encodings", "there is no choice with this format and envelope")
    for column, encoding in spec.encodings.items():
        if column not in spec.schema.names or column in spec.metadata:
            raise refused(spec, "encodings", f"{column!r} is not a column of the record's contents")
        dtype = _innermost(spec.schema.field(column).type)
        if pa.types.is_decimal128(dtype):
            accepted: tuple[str, ...] = ("base64",)
        elif pa.types.is_timestamp(dtype) or pa.types.is_time64(dtype) or dtype == INTERVAL:
            accepted = _COUNTED
        else:
            raise refused(spec, "encodings", f"{column!r} ({dtype}) has one encoding only")
        if encoding not in accepted:
            choice = " or ".join(repr(name) for name in accepted)
            raise refused(
                spec, "encodings", f"{encoding!r} for {column!r} ({dtype}); choose {choice}"
            )


def _innermost(dtype: pa.DataType) -> pa.DataType:
    """The type of a list's elements, or of a value that is no list."""
    return _innermost(dtype.value_type) if pa.types.is_list(dtype) else dtype
