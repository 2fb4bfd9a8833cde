"""Restores the views of a start, one after another.

A view at fault keeps the service from being ready, since times that are published without it would
be lost to its topics; dropping it lets the start go on.
"""

import threading
from collections.abc import Callable, Iterable

from api.errors import NotReady
from connectors.errors import SinkFenced, Unavailable
from connectors.health import PartFault
from ivm.errors import IvmError, PoolFailed
from views.catalog import View

# How long to wait before a view is tried again whose sink is away, in seconds: at first, at most.
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 3.0


class Restoration:
    """Restores views, each tried until it is there or was dropped; `fault` tells of the one.

    What is unavailable, as a broker, is asked again; any other fault waits for the view to be
    dropped.
    """

    def __init__(self) -> None:
        self.fault: PartFault | None = None
        self._woken = threading.Event()
        self._interrupted = False

    def restore(self, views: Iterable[View], attempt: Callable[[View], None]) -> None:
        """Restore them in this order; `attempt` does nothing of a view that was dropped.

        Raises NotReady when it is interrupted, and what concerns more than a view: SinkFenced,
        PoolFailed.
        """
        for view in views:
            wait = _FIRST_WAIT
            while (error := self._tried(view, attempt)) is not None:
                self.fault = _told(view, error)
                self._woken.wait(wait if isinstance(error, Unavailable) else None)
                if self._interrupted:
                    raise NotReady("stopped amid the start")
                wait = min(2 * wait, _LONGEST_WAIT)
            self.fault = None

    def wake(self) -> None:
        """Look again: a view was dropped."""
        self._woken.set()

    def interrupt(self) -> None:
        """Let `restore` end."""
        self._interrupted = True
        self._woken.set()

    def _tried(self, view: View, attempt: Callable[[View], None]) -> IvmError | None:
        """Try to restore a view; why it cannot be."""
        self._woken.clear()
        try:
            attempt(view)
        except (SinkFenced, PoolFailed):
            raise
        except IvmError as error:
            return error
        return None


def _told(view: View, error: IvmError) -> PartFault:
    setting = error.setting if isinstance(error, Unavailable) else None
    return PartFault(
        f"view {view.name}",
        setting,
        f"view {view.name!r} cannot be restored: {error.code}: {error}; DELETE /v1/views/"
        f"{view.name} drops it, and the start goes on",
    )
