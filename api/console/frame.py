"""The frame of every page: its header with the links, notices, and calls that may fail."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TypeVar, TypeVarTuple

import structlog
from nicegui import ui
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from api.errors import located
from ivm.errors import IvmError
from ivm_client.service import path

Args = TypeVarTuple("Args")
T = TypeVar("T")

# Beside the classes that Quasar has, which pages use.
STYLE = """
.q-header.head {background: #1f3a5f; gap: 1.5rem; align-items: center; padding: 0.5rem 1rem}
.head a {text-decoration: none}
.content {max-width: 1536px; margin: 0 auto}
.q-table td {font-variant-numeric: tabular-nums}
.come {color: #2e7d32}
.gone {color: #c62828}
.fault {background: #c62828; color: white; border-radius: 4px; padding: 12px}
.framed {border: 1px solid #bdbdbd; border-radius: 4px}
.editor {height: 11rem}
.drawing {overflow: auto; background: white; padding: 8px}
.plot {height: 20rem}
.dialog {max-width: 48rem}
"""
audit = structlog.get_logger("audit")

LINKS = (("Overview", "/"), ("Query", "/query"), ("Plots", "/plots"), ("Quarantine", "/quarantine"))


@contextmanager
def frame(title: str) -> Iterator[None]:
    """A page of this title; what is made in the context is its content."""
    ui.page_title(f"{title} · ivm")
    ui.add_css(STYLE)
    with ui.header().classes("head"):
        ui.label("ivm").classes("text-h6")
        for text, path in LINKS:
            ui.link(text, path).classes("text-white")
    with ui.column().classes("full-width content"):
        yield


@contextmanager
def noticed() -> Iterator[None]:
    """Show an error of the service as a notice with its text, in the place of raising it."""
    try:
        yield
    except IvmError as error:
        notice(f"{error.code}: {error}")
    except ValidationError as error:
        notice(located(error.errors()))


def notice(text: str) -> None:
    """A notice of a fault, which stays until it is closed."""
    ui.notify(text, type="negative", multi_line=True, close_button="close", timeout=0)


@contextmanager
def noted(method: str, *names: object) -> Iterator[None]:
    """Write what is done in the context to the audit log, as the call of REST that does it."""
    request = ui.context.client.request
    told = {
        "by": request.state.principal.name,
        "method": method,
        "path": path(*map(str, names)),
        "client": request.client.host if request.client is not None else None,
        "through": "console",
    }
    try:
        yield
    except IvmError as error:
        audit.info("audit", **told, outcome=error.code)
        raise
    audit.info("audit", **told, outcome="done")


async def change(
    note: AbstractContextManager[None], call: Callable[[*Args], T], *arguments: *Args
) -> T | None:
    """Call on a thread what changes the service, and is `noted`; None if it is refused."""
    try:
        with note:
            return await run_in_threadpool(call, *arguments)
    except IvmError as error:
        notice(f"{error.code}: {error}")
        return None


async def attempt(call: Callable[[*Args], T], *arguments: *Args) -> T | None:
    """Call on a thread what changes nothing; None, after a notice, if it is refused."""
    return await change(nullcontext(), call, *arguments)
