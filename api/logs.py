"""Logs: one line of JSON for each event, or a readable one on a terminal.

What libraries log, warn of, or raise where nobody catches it comes the same way, so that whoever
gathers the lines reads each by itself.
"""

import logging
import sys
import threading
from types import TracebackType
from typing import Any

import structlog

_SHARED: tuple[structlog.typing.Processor, ...] = (
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso"),
)

log = structlog.get_logger()


def configure() -> None:
    """Send all events to stderr; JSON unless that is a terminal."""
    rendering = _rendering(sys.stderr.isatty())
    structlog.configure(
        processors=[*_SHARED, *rendering],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*_SHARED, structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.captureWarnings(True)
    sys.excepthook = _on_uncaught
    threading.excepthook = lambda args: _tell("a thread ended", args.exc_value)
    sys.unraisablehook = lambda args: _tell(args.err_msg or "an error is ignored", args.exc_value)


def _rendering(is_terminal: bool) -> list[structlog.typing.Processor]:
    if is_terminal:
        return [structlog.dev.ConsoleRenderer()]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]


def _on_uncaught(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
    else:
        _tell("the service ended", error)


def _tell(event: str, error: Any) -> None:
    log.error(event, exc_info=error)
