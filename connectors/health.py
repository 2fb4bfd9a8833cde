"""Health: the faults that keep parts of the service from their work at present."""

from dataclasses import dataclass

from connectors.errors import Unavailable


@dataclass(frozen=True, slots=True)
class PartFault:
    """`part` is at fault, as in `connection main`; `setting` names the setting to look at, if any.

    `detail` says what is wrong and what to do. A fault that passes by itself has `done` so much
    `of` what it waits for.
    """

    part: str
    setting: str | None
    detail: str
    done: int | None = None
    of: int | None = None


def part_fault(error: Unavailable) -> PartFault:
    """The fault that an error outside tells of."""
    return PartFault(error.part, error.setting, str(error))
