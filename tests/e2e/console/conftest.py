"""The service and the browser live as long as the tests of one file.

While Playwright runs, no other event loop can begin in its thread.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.console.browser import NoBrowser, Service, looking, serving

# A page is there within this time (ms), on a machine under load.
PATIENCE = 60_000


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("console")) as service:
        yield service


@pytest.fixture(scope="module")
def browser(service: Service) -> Iterator[BrowserContext]:
    expect.set_options(timeout=PATIENCE)
    try:
        with looking(service.url) as browser:
            browser.set_default_timeout(PATIENCE)
            yield browser
    except NoBrowser as reason:
        pytest.skip(str(reason))


@pytest.fixture
def page(browser: BrowserContext) -> Iterator[Page]:
    """A page of the browser; its script does not fail, and it asks nothing of other hosts."""
    page = browser.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("requestfailed", lambda request: faults.append(request.url))
    yield page
    page.close()
    assert faults == []
