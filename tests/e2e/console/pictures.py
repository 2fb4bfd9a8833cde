"""Takes the pictures of docs/console.md, of a small shop.

python -m tests.e2e.console.pictures
"""

import itertools
import random
import tempfile
from pathlib import Path

from playwright.sync_api import Page

from tests.e2e.console.browser import Service, looking, serving

FOLDER = Path("docs/console")
CUSTOMERS = ("ada", "bob", "eve", "kim", "lee", "mia", "sam")
VIEWS = {
    "big_spenders": "SELECT customer, total FROM totals WHERE total > 500",
    "shares": "SELECT o.id, o.customer, o.amount / t.total AS share FROM orders o "
    "JOIN totals t ON o.customer = t.customer",
    "largest": "SELECT customer, max(amount) AS largest FROM orders GROUP BY customer",
}
REPLACED = "SELECT customer, total FROM totals WHERE total > 600"


def main() -> None:
    """Take all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as data, serving(Path(data)) as service:
        for name, query in VIEWS.items():
            service.client.create_view(name, query)
        numbers = itertools.count(10)
        for _ in range(20):
            sell(service, numbers)
        with looking(service.url) as browser:
            take(browser.new_page(), service, numbers)


def sell(service: Service, numbers: "itertools.count[int]") -> None:
    """Write twenty orders."""
    rows = [
        (next(numbers), random.choice(CUSTOMERS), f"{random.uniform(1, 20):.2f}") for _ in range(20)
    ]
    service.write(*rows)


def take(page: Page, service: Service, numbers: "itertools.count[int]") -> None:
    """Take a picture of each page as a person comes to see it."""
    page.goto("")
    page.get_by_role("link", name="shares").wait_for()
    sell(service, numbers)
    page.wait_for_timeout(2_500)
    save(page, "overview")
    page.goto("views/totals")
    page.get_by_role("tab", name="Changes").click()
    page.get_by_text("nothing has changed").wait_for()
    sell(service, numbers)
    page.locator("tr.gone").first.wait_for()
    save(page, "changes")
    page.goto("views/shares")
    page.get_by_role("tab", name="Dataflow").click()
    page.locator(".node").first.wait_for()
    page.locator("svg[id$=_mermaid]").screenshot(path=FOLDER / "dataflow.png")
    page.goto("views/big_spenders")
    page.get_by_role("tab", name="Replace").click()
    page.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(REPLACED)
    page.get_by_role("button", name="Preview the difference").click()
    page.get_by_role("button", name="Approve").wait_for()
    save(page, "replacement")
    page.goto("query")
    page.locator(".cm-content").click()
    page.keyboard.insert_text("SELECT * FROM totals ORDER BY total DESC LIMIT 5")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("5 rows as of time").wait_for()
    save(page, "query")


def save(page: Page, name: str) -> None:
    """Save what the window shows, without the ripple of a click."""
    page.wait_for_timeout(500)
    page.screenshot(path=FOLDER / f"{name}.png", animations="disabled")


if __name__ == "__main__":
    main()
