"""What keeps a part of the service from its work at present."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PartFault:
    """`part` is at fault, as in `connection main`; `setting` is what to look at, where one is.

    `detail` says what is wrong and what to do.
    """

    part: str
    setting: str | None
    detail: str
