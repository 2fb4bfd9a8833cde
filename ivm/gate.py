"""The lock under which a pool's steps and changes exclude one another."""

import threading
from types import TracebackType

from ivm.errors import PoolFailed


class Gate:
    """A re-entrant lock that nobody passes any more once `failure` says what went wrong.

    Entering it then raises PoolFailed. Its own class, since it is passed twice for each update.
    """

    __slots__ = ("_lock", "failure")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.failure = ""

    def __enter__(self) -> None:
        self._lock.acquire()
        if self.failure:
            self._lock.release()
            raise PoolFailed(self.failure)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()
