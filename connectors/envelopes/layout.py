"""Layouts: where an envelope has its images and the marks beside them, for native decoding."""

from dataclasses import dataclass
from typing import Literal

from connectors.formats.slots import Path

Rule = Literal["append", "upsert", "flat", "debezium", "maxwell", "canal"]


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of row images and of an envelope's other parts; `()` is the value itself.

    `rule` names the rules of `connectors.native.changes`, which expects the marks in this order.
    `listed` are the images that are arrays of rows. `has_times`: records say when their changes
    happened.
    """

    rule: Rule
    images: tuple[Path, ...] = ((),)
    marks: tuple[Path, ...] = ()
    listed: frozenset[str] = frozenset()
    has_times: bool = False
