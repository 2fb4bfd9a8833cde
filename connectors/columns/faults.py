"""Why a record cannot be decoded: stable reasons, with a message for people."""

from dataclasses import dataclass
from typing import Final

NOT_TEXT: Final = "not-text"
UNKNOWN_SCHEMA: Final = "unknown-schema"
INCOMPATIBLE_SCHEMA: Final = "incompatible-schema"
NULL_RECORD: Final = "null-record"
NULL_KEY: Final = "null-key"
NOT_AN_ENVELOPE: Final = "not-an-envelope"
UNKNOWN_OP: Final = "unknown-op"
MISSING_IMAGE: Final = "missing-image"
MISSING_FIELD: Final = "missing-field"
NULL_VALUE: Final = "null-value"
WRONG_TYPE: Final = "wrong-type"
OUT_OF_RANGE: Final = "out-of-range"
UNAVAILABLE_VALUE: Final = "unavailable-value"

# Besides those of formats for bytes that are not theirs.
COMMON: Final = (
    NOT_TEXT,
    UNKNOWN_SCHEMA,
    INCOMPATIBLE_SCHEMA,
    NULL_RECORD,
    NULL_KEY,
    NOT_AN_ENVELOPE,
    UNKNOWN_OP,
    MISSING_IMAGE,
    MISSING_FIELD,
    NULL_VALUE,
    WRONG_TYPE,
    OUT_OF_RANGE,
    UNAVAILABLE_VALUE,
)


@dataclass(frozen=True, slots=True)
class Fault:
    """One of `formats.format.REASONS`, and a message that says exactly where the error is."""

    reason: str
    message: str


class ValueFault(Exception):
    """A value does not belong to its column's type."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail
