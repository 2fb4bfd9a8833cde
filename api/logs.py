"""Logs: one line of JSON for each event, or a readable one on a terminal.

What libraries log, warn of, or raise where nobody catches it comes the same way, so that whoever
gathers the lines reads each by itself. What is logged while a logical time is applied has that
`time` and the `offsets` of its records (see `connectors.ingest.delivery`).
"""

import logging
import sys
import threading
from types import TracebackType
from typing import Any, Literal

import structlog

LogFormat = Literal["auto", "json", "console"]
LogLevel = Literal["debug", "info", "warning", "error"]

_SHARED: tuple[structlog.typing.Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso"),
)

log = structlog.get_logger()


def configure(form: LogFormat = "auto", level: LogLevel = "info") -> None:
    """Send events of a level and above to stderr; `auto` is JSON unless that is a terminal.

    Libraries have no say below `warning`.
    """
    as_text = sys.stderr.isatty() if form == "auto" else form == "console"
    rendering = _rendering(as_text)
    least = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*_SHARED, *rendering],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[
                *_SHARED,
                structlog.stdlib.add_logger_name,
                structlog.stdlib.ExtraAdder(allow=["exception"]),
            ],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
        )
    )
    logging.basicConfig(handlers=[handler], level=max(least, logging.WARNING), force=True)
    logging.captureWarnings(True)
    sys.excepthook = _on_uncaught
    threading.excepthook = lambda args: _tell("a thread ended", args.exc_value)
    sys.unraisablehook = lambda args: _tell(args.err_msg or "an error is ignored", args.exc_value)


def _rendering(as_text: bool) -> list[structlog.typing.Processor]:
    if as_text:
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
