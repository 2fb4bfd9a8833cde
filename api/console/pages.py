"""Makes the console's application: NiceGUI, set to be served by a service, and the pages in it."""

from fastapi import FastAPI
from nicegui import core, ui

from api.console import overview, plots, quarantine, query, view
from api.console.access import Access

ICON = (
    '<svg viewBox="0 0 32 32" xmlns="http://www.w3.org/2000/svg"><rect width="32" height="32" '
    'rx="7" fill="#1f3a5f"/><path d="M7 22l6-9 5 6 7-11" fill="none" stroke="#7fd1ae" '
    'stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>'
)


def create(access: Access) -> FastAPI:
    """The application of all pages; once in a process, as NiceGUI's application is one."""
    for page in (overview, view, query, plots, quarantine):
        page.install(access)
    pages = FastAPI(openapi_url=None)
    ui.run_with(
        pages,
        title="ivm",
        favicon=ICON,
        dark=None,
        tailwind=False,  # it would be compiled in the browser, at each page
        binding_refresh_interval=None,  # nothing is bound, so that nothing need be looked at
        show_welcome_message=False,
    )
    core.sio.eio.cors_allowed_origins = None  # pages of this origin alone, as REST has it
    return pages
