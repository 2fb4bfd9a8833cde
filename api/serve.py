"""Runs the service in this process until it is told to stop."""

import gc
import logging
import sys

import structlog
import uvicorn

from api.app import create_app
from api.runtime import Runtime
from api.settings import Settings

# Threads that hold the interpreter give it up this often (seconds), so that a look-up does not
# wait for a batch under way.
SWITCH_INTERVAL = 0.0005


def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM; log lines are JSON unless stderr is a terminal."""
    _configure_logs()
    sys.setswitchinterval(SWITCH_INTERVAL)
    application = create_app(Runtime(settings))
    gc.freeze()  # looking through what modules hold takes a full collection 30 ms
    uvicorn.run(
        application,
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=5,
    )


def _configure_logs() -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    renderer = (
        structlog.dev.ConsoleRenderer()
        if sys.stderr.isatty()
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            renderer,
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
