"""Runs the service in this process until it is told to stop."""

import gc
import os
import socket
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path

import structlog
import uvicorn
from fastapi import FastAPI

from api import logs, traces
from api.app import create_app
from api.protocol import BoundedProtocol
from api.runtime import Runtime
from api.settings import Settings

# Threads that hold the interpreter give it up this often (seconds), so that a look-up does not
# wait for a batch under way.
SWITCH_INTERVAL = 0.0005
# The kernel holds such a time in a signed word of 32 bits.
MOST_MILLISECONDS = 2**31 - 1
# Seconds for which a service whose cluster was lost says so before it begins anew.
TELLING_SECONDS = 2.0

log = structlog.get_logger()


def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM; log lines are JSON unless stderr is a terminal.

    Then requests get 5 s to end, what was applied becomes a checkpoint, and the batch under way is
    finished. A service whose cluster was lost begins anew in the same process, as after a crash.
    Raises, before anything is started, OSError where it cannot listen, and TracesMissing.
    """
    if settings.traces:
        traces.send(settings.service)
    listener = listening(settings.host, settings.port, settings.send_seconds)
    logs.configure(settings.log_format, settings.log_level)
    sys.setswitchinterval(SWITCH_INTERVAL)
    runtime = Runtime(settings)
    application = create_app(runtime, checkpoints_at_end=True)
    gc.freeze()  # looking through what modules hold takes a full collection 30 ms
    host, port = listener.getsockname()[:2]
    url = settings.model_copy(update={"host": host, "port": port}).url
    access = "open: whoever reaches it may do all" if application.state.is_open else "keys"
    looked_at = f"; to look at it: {url}/" if settings.console else ""
    first = f"PUT {url}/v1/sources/NAME; all calls: {url}/docs{looked_at}"
    log.info("listening", url=url, access=access, next=first)
    serving = server(application, settings.tls_certificate, settings.tls_key)
    lost = threading.Event()
    if runtime.cluster is not None:
        runtime.cluster.when_lost(partial(_end, serving, lost))
    with suppress(KeyboardInterrupt):  # which uvicorn raises again once it has stopped for it
        serving.run([listener])
    gc.unfreeze()  # extension modules complain at the exit of what is not collected then
    if lost.is_set():
        log.warning("beginning anew")
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def _end(serving: uvicorn.Server, lost: threading.Event, reason: str) -> None:
    """Let the service end soon because its cluster was lost, once `/readyz` has told why."""
    log.error("the cluster was lost", reason=reason)
    lost.set()
    timer = threading.Timer(TELLING_SECONDS, lambda: setattr(serving, "should_exit", True))
    timer.daemon = True
    timer.start()


def server(
    application: FastAPI, certificate: Path | None = None, key: Path | None = None
) -> uvicorn.Server:
    """A server of the application, to be run on a socket that listens; with TLS by these files."""
    config = uvicorn.Config(
        application,
        loop="asyncio",
        http=BoundedProtocol,
        log_config=None,  # its events are the log's, as all others
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=5,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    return uvicorn.Server(config)


def listening(host: str, port: int, send_seconds: float) -> socket.socket:
    """A socket on which the first address of `host` is listened to (raises OSError).

    A connection whose client takes nothing for three times `send_seconds` is closed: what was to be
    sent would stay in memory for as long as that client stays.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise OSError(f"host {host!r}: {error.strerror}") from error
    listener = socket.create_server(address, family=family)
    # Connections inherit it. asyncio sets it only on a socket that names its protocol, which this
    # one does not: the second part of an answer then waits 40 ms for an ACK of the first.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux
        milliseconds = min(int(3_000 * send_seconds), MOST_MILLISECONDS)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
    return listener
