"""librdkafka's log: passed to a listener, and never printed.

Lines about lost connections come many times a second while a broker is away; those that matter
are reported as a fault of the connection.
"""

import logging
from collections.abc import Callable


class _Listener(logging.Handler):
    def __init__(self, listen: Callable[[str], None]) -> None:
        super().__init__()
        self._listen = listen

    def emit(self, record: logging.LogRecord) -> None:
        """Hand over the line."""
        self._listen(record.getMessage())


def listened(listen: Callable[[str], None]) -> logging.Logger:
    """A logger for one client, whose lines `listen` gets while the client is polled."""
    logger = logging.Logger(__name__)
    logger.addHandler(_Listener(listen))
    return logger


def _ignore(line: str) -> None:
    """Nobody listens."""


SILENT = listened(_ignore)
