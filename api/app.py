"""The FastAPI application over one runtime."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

from fastapi import Depends, FastAPI
from prometheus_client import CollectorRegistry, ProcessCollector
from starlette.concurrency import run_in_threadpool

from api import openapi, problems
from api.console.access import Access
from api.console.history import History
from api.console.mount import Console, mount
from api.followers import Followers
from api.large import LargeAnswers
from api.limits import BodyLimit
from api.metrics import RuntimeCollector
from api.requests import Requests
from api.routes import (
    backup,
    changes,
    health,
    inspection,
    quarantine,
    query,
    replacements,
    rows,
    sources,
    views,
    writes,
)
from api.runtime import Runtime
from api.security import rules
from api.security.access import is_open
from api.security.guard import Guard
from api.security.keyring import Keyring, read_keys
from api.security.oidc import Issuer
from api.settings import Settings
from api.signals import Signal

# In the order in which a request is compared with them: look-ups are most requests.
ROUTERS = (
    rows,
    health,
    sources,
    writes,
    views,
    replacements,
    query,
    changes,
    inspection,
    quarantine,
    backup,
)
rules.check(module.router for module in ROUTERS)


def create_app(runtime: Runtime, *, checkpoints_at_end: bool = False) -> FastAPI:
    """The service; `runtime` is started with it, in the background, and stopped with it.

    With `checkpoints_at_end` it takes a checkpoint before it stops, so that the next start has next
    to nothing to replay; without, it leaves the data directory as a kill does, between two batches.

    Raises KeysCorrupt, NotSecured.
    """

    def start() -> None:
        runtime.start()
        if console is not None:
            console.load()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.published = Signal()
        runtime.applier.listen(app.state.published.notify)
        starting = threading.Thread(target=start, name="start", daemon=True)
        starting.start()
        async with console.running() if console is not None else nullcontext():
            yield
        runtime.interrupt()
        await run_in_threadpool(starting.join)
        await run_in_threadpool(runtime.stop, checkpoints=checkpoints_at_end)

    app = FastAPI(
        title="ivm", version="1", lifespan=lifespan, dependencies=[Depends(rules.authorize)]
    )
    app.state.runtime = runtime
    settings = runtime.settings
    app.state.followers = Followers(settings.max_followers, settings.max_followers_per_client)
    app.state.large = LargeAnswers(runtime.work, settings.event_bytes)
    app.state.asked = LargeAnswers(runtime.work, settings.event_bytes)
    app.state.metrics = CollectorRegistry()
    app.state.metrics.register(RuntimeCollector(runtime, app.state.followers))
    ProcessCollector(registry=app.state.metrics)
    app.add_middleware(BodyLimit, limit=settings.max_body_bytes)
    _guard(app, settings)
    app.add_middleware(Requests, registry=app.state.metrics)
    problems.install(app)
    openapi.install(app)
    for module in ROUTERS:
        app.include_router(module.router, responses=openapi.PROBLEMS)
    console = _mounted(app, runtime) if settings.console else None
    return app


def _guard(app: FastAPI, settings: Settings) -> None:
    has_keys = bool(read_keys(settings.keys_file)) or settings.oidc is not None
    app.state.is_open = is_open(settings.access, settings.host, has_keys=has_keys)
    keyring = None if app.state.is_open else Keyring(settings.keys_file)
    issuer = Issuer(settings.oidc) if settings.oidc is not None else None
    app.add_middleware(Guard, keyring=keyring, issuer=issuer, hosts=settings.allowed_hosts)


def _mounted(app: FastAPI, runtime: Runtime) -> Console:
    """The console, which has the threads of REST's answers."""
    history = History(runtime.meter)
    return mount(app, Access(runtime, app.state.large, app.state.asked, history))
