"""What a format makes of the bytes of records: values, and what their writers say of them."""

from dataclasses import dataclass
from typing import Any

from connectors.formats.logical import Logical


@dataclass(frozen=True, slots=True)
class Parsed:
    """Value `i` is what record `i` holds: None where it holds nothing, a Fault where it is bad.

    `writers[i]` is the type that its writer's schema gives it, `UNDESCRIBED` for a value without
    one, None where there is no value; records of one writer share one object. `writers` is None
    where no record has a schema.
    """

    values: list[Any]
    writers: list[Logical | None] | None = None
