"""Switches: names of a pool pass from some dataflows to others at one time, seen whole by readers.

A reader finds a dataflow by its name and then takes its rows as of the last completed time; a
switch changes both, one after the other. It is counted at its begin and at its end (a sequence
lock): a reader during whose work the count has changed, or was odd, has perhaps met one without
the other, and reads again.
"""

from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

from ivm.threads.locks import Gate

Answer = TypeVar("Answer")


class Switches:
    """The count of a pool's switches; each is a context that holds the pool's `gate`.

    >>> switches = Switches(Gate())
    >>> with switches:
    ...     pass  # the names and the time change here
    >>> switches.steady(lambda: "rows")
    'rows'
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._count = 0

    def __enter__(self) -> None:
        self._gate.__enter__()
        self._count += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._count += 1
        self._gate.__exit__(kind, error, trace)

    def steady(self, read: Callable[[], Answer]) -> Answer:
        """The answer of `read`, which no switch met; it may be asked several times."""
        while True:
            before = self._count
            try:
                answer = read()
            except Exception:
                if self._is_steady(before):
                    raise
            else:
                if self._is_steady(before):
                    return answer
            with self._gate:
                pass  # until the switch is over

    def _is_steady(self, before: int) -> bool:
        return before % 2 == 0 and before == self._count
