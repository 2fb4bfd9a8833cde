"""The FastAPI application over one runtime."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from prometheus_client import CollectorRegistry
from starlette.concurrency import run_in_threadpool

from api import openapi, problems
from api.followers import Followers
from api.large import LargeAnswers
from api.limits import BodyLimit
from api.metrics import RuntimeCollector
from api.routes import changes, health, inspection, quarantine, query, rows, sources, views
from api.runtime import Runtime
from api.signals import Signal

ROUTERS = (health, sources, views, rows, query, changes, inspection, quarantine)


def create_app(runtime: Runtime) -> FastAPI:
    """The service; `runtime` is started with it, in the background, and stopped with it."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.published = Signal()
        runtime.applier.listen(app.state.published.notify)
        starting = threading.Thread(target=runtime.start, name="start", daemon=True)
        starting.start()
        yield
        runtime.interrupt()
        await run_in_threadpool(starting.join)
        await run_in_threadpool(runtime.stop)

    app = FastAPI(title="ivm", version="1", lifespan=lifespan)
    app.state.runtime = runtime
    settings = runtime.settings
    app.state.followers = Followers(settings.max_followers, settings.max_followers_per_client)
    app.state.large = LargeAnswers(runtime.work, settings.event_bytes)
    app.state.asked = LargeAnswers(runtime.work, settings.event_bytes)
    app.state.metrics = CollectorRegistry()
    app.state.metrics.register(RuntimeCollector(runtime, app.state.followers))
    app.add_middleware(BodyLimit, limit=settings.max_body_bytes)
    problems.install(app)
    openapi.install(app)
    for module in ROUTERS:
        app.include_router(module.router, responses=openapi.PROBLEMS)
    return app
