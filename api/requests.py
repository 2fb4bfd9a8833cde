"""Requests: middleware that counts them by operation and outcome, and times their answers.

An operation is told by its path as it is declared (`/v1/views/{name}/rows`), so that callers cannot
make series; what has none, as the console and what is refused before it is looked at, is `other`.
"""

import time as clock

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Upper bounds of how long an answer may take to begin, in seconds.
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
OPERATION = ("method", "path")
# Methods that are told by name; any text may come as one.
METHODS = frozenset({"GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS"})

# Each series would have another one with the time of its first request.
disable_created_metrics()  # type: ignore[no-untyped-call]


class Requests:
    """ASGI middleware; its metrics are in the registry that it is given."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self._app = app
        self._counts = Counter(
            "ivm_requests",
            "Requests by operation and status of the answer.",
            (*OPERATION, "status"),
            registry=registry,
        )
        self._present = Gauge(
            "ivm_requests_in_progress",
            "Requests whose answer is not complete, waits and feeds among them.",
            registry=registry,
        )
        self._seconds = Histogram(
            "ivm_request_seconds",
            "From a request until its answer begins.",
            OPERATION,
            buckets=BOUNDS,
            registry=registry,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count it once its answer begins."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = clock.perf_counter()

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = scope.get("route")
                path = getattr(route, "path", "other")
                method = scope["method"] if scope["method"] in METHODS else "other"
                self._counts.labels(method, path, str(message["status"])).inc()
                self._seconds.labels(method, path).observe(clock.perf_counter() - started)
            await send(message)

        with self._present.track_inprogress():
            await self._app(scope, receive, counted)
