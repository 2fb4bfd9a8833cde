"""Mounts the console at `/console`, and starts it once somebody looks.

NiceGUI takes half a second and 20 MB to load, which no start and no first look waits for: it is
loaded as soon as the service is ready. One with `console = false` has no route to it, and loads
nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from types import ModuleType

from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from api.console.access import Access

PATH = "/console"
PAGES = "api.console.pages"


class Console:
    """An ASGI application: the console of one service.

    There is one in a process, as NiceGUI's application is one.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._pages: FastAPI | None = None
        self._starting = asyncio.Lock()
        self._running = AsyncExitStack()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, after starting the pages at the first one."""
        async with self._starting:
            pages = self._pages or await self._start()
        await pages(scope, receive, send)

    def load(self) -> ModuleType:
        """Load the pages, from any thread."""
        return import_module(PAGES)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the history of the service; at the end, end what the pages run."""
        looking = asyncio.create_task(self._access.history.keep())
        try:
            yield
        finally:
            looking.cancel()
            await self._running.aclose()

    async def _start(self) -> FastAPI:
        module = await run_in_threadpool(self.load)  # beside other requests
        create: Callable[[Access], FastAPI] = module.create
        pages = create(self._access)
        await self._running.enter_async_context(pages.router.lifespan_context(pages))
        self._pages = pages
        return pages


def mount(app: FastAPI, access: Access) -> Console:
    """Let `app` show the console, and lead there from its root."""
    console = Console(access)

    @app.get("/", include_in_schema=False)
    async def root(request: Request) -> Response:
        return RedirectResponse(request.scope.get("root_path", "") + f"{PATH}/")

    app.mount(PATH, console)
    return console
