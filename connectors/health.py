"""Health: the faults that keep parts of the service from their work at present."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PartFault:
    """`part` is at fault, as in `connection main`; `setting` names the setting to look at, if any.

    `detail` says what is wrong and what to do.
    """

    part: str
    setting: str | None
    detail: str
