"""What a person does in the console, in a real browser over a real service."""

import re

import httpx
from playwright.sync_api import Page, expect
from structlog.testing import capture_logs

from tests.e2e.console.browser import Service


def row(page: Page, *texts: str | re.Pattern[str]) -> None:
    """Wait for a row of a table that has all these texts."""
    found = page.get_by_role("row")
    for text in texts:
        found = found.filter(has_text=text)
    expect(found.first).to_be_visible()


def typed(page: Page, text: str) -> None:
    """Write a text into the editor, in the place of what it holds."""
    editor = page.locator(".cm-content")
    editor.click()
    page.keyboard.press("ControlOrMeta+a")
    editor.press("Delete")
    page.keyboard.insert_text(text)


def test_the_root_leads_to_sources_with_their_lag_and_views_with_their_state(
    page: Page, service: Service
) -> None:
    page.goto(service.url)
    expect(page).to_have_url(f"{service.url}/console/")
    row(page, "orders", "running", "0")
    row(page, "totals", "running")


def test_changes_a_second_are_shown_as_they_come(page: Page, service: Service) -> None:
    page.goto("")
    changes = page.get_by_role("row").filter(has_text="totals").locator("td").nth(4)
    expect(changes).to_have_text("0")
    service.write((10, "eve", "1.00"))
    expect(changes).to_have_text(re.compile(r"0\.[1-9]"))


def test_a_view_is_found_by_the_filter(page: Page, service: Service) -> None:
    service.client.create_view("found_by_filter", "SELECT id FROM orders")
    page.goto("")
    row(page, "totals")
    page.get_by_placeholder("filter").last.fill("found_by")
    expect(page.get_by_role("link", name="totals")).to_be_hidden()
    page.get_by_role("link", name="found_by_filter").click()
    expect(page).to_have_url(re.compile("/console/views/found_by_filter$"))


def test_a_view_shows_its_definition_and_its_rows(page: Page, service: Service) -> None:
    page.goto("views/totals")
    expect(page.get_by_text("key (customer)")).to_be_visible()
    expect(page.get_by_text("GROUP BY")).to_be_visible()
    row(page, "ada", "2", "7.50")


def test_a_row_is_looked_up_by_its_key(page: Page, service: Service) -> None:
    page.goto("views/totals")
    row(page, "ada")
    page.get_by_label("customer").fill("bob")
    page.get_by_role("button", name="Look up").click()
    expect(page.get_by_role("cell", name="ada")).to_be_hidden()
    row(page, "bob", "1.25")


def test_live_changes_have_retractions_in_red(page: Page, service: Service) -> None:
    page.goto("views/totals")
    page.get_by_role("tab", name="Changes").click()
    expect(page.get_by_text("nothing has changed")).to_be_visible()
    service.write((20, "zoe", "3.00"))
    service.write((21, "zoe", "4.00"))
    gone = page.locator("tr.gone").filter(has_text="zoe").first
    expect(gone).to_contain_text("-1")
    expect(gone.locator("td").first).to_have_css("color", "rgb(198, 40, 40)")
    expect(page.locator("tr.come").filter(has_text="7.00")).to_contain_text("+1")


def test_a_dataflow_is_drawn_with_its_costs_and_who_shares_what(
    page: Page, service: Service
) -> None:
    service.client.create_view(
        "shares", "SELECT o.id, t.total FROM orders o JOIN totals t ON o.customer = t.customer"
    )
    page.goto("views/shares")
    page.get_by_role("tab", name="Dataflow").click()
    drawing = page.locator("svg[id$=_mermaid]")
    expect(drawing.get_by_text("Join", exact=False).first).to_be_visible()
    expect(drawing.get_by_text(re.compile(r"\d+ rows · .*B · .* ms")).first).to_be_visible()
    expect(drawing.get_by_text(re.compile(r"read by totals")).first).to_be_visible()
    row(page, "Join", "orders[customer] with totals[customer]")


def test_a_query_is_answered_in_its_order(page: Page, service: Service) -> None:
    page.goto("query")
    typed(page, "SELECT customer FROM totals WHERE customer IN ('ada', 'bob') ORDER BY 1 DESC")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("2 rows as of time")).to_be_visible()
    expect(page.locator("tbody td")).to_have_text(["bob", "ada"])


def test_a_query_is_explained_and_analyzed(page: Page, service: Service) -> None:
    page.goto("query")
    typed(page, "SELECT count(*) FROM orders")
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(page.get_by_text("Accumulate")).to_be_visible()
    page.get_by_role("button", name="Explain analyze").click()
    expect(page.get_by_text("Execution Time")).to_be_visible()


def test_an_error_is_a_notice_with_its_text(page: Page, service: Service) -> None:
    page.goto("query")
    typed(page, "SELECT custmer FROM totals")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("did you mean 'customer'?")


def test_a_query_is_maintained_as_a_view(page: Page, service: Service) -> None:
    page.goto("query")
    typed(page, "SELECT customer FROM totals WHERE total > 2")
    page.get_by_label("name of a view").fill("not a name")
    page.get_by_role("button", name="Maintain as a view").click()
    expect(page.get_by_role("alert")).to_contain_text("should match pattern")
    page.get_by_label("name of a view").fill("spenders")
    with capture_logs() as lines:
        page.get_by_role("button", name="Maintain as a view").click()
        expect(page).to_have_url(re.compile("/console/views/spenders$"))
    row(page, "ada")
    [deed] = [line for line in lines if line.get("through") == "console"]
    assert (deed["by"], deed["method"], deed["outcome"]) == ("anyone", "PUT", "done")
    assert deed["path"] == "/v1/views/spenders"


def test_a_replacement_is_previewed_and_approved(page: Page, service: Service) -> None:
    service.client.create_view("large", "SELECT id, amount FROM orders WHERE amount > 2")
    page.goto("views/large")
    page.get_by_role("tab", name="Replace").click()
    typed(page, "SELECT id, amount FROM orders WHERE amount > 4.5")
    page.get_by_role("button", name="Preview the difference").click()
    expect(page.get_by_text("ready: 1 of 1")).to_be_visible()
    expect(page.get_by_text(re.compile("0 rows come, [1-9]"))).to_be_visible()
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("code").first).to_contain_text("4.5")
    assert service.client.view("large")["query"].endswith("4.5")


def test_a_replacement_is_discarded(page: Page, service: Service) -> None:
    service.client.create_view("kept", "SELECT id FROM orders WHERE amount > 2")
    page.goto("views/kept")
    page.get_by_role("tab", name="Replace").click()
    typed(page, "SELECT id FROM orders")
    page.get_by_role("button", name="Preview the difference").click()
    page.get_by_role("button", name="Discard").click()
    expect(page.get_by_role("button", name="Approve")).to_be_hidden()
    assert service.client.view("kept")["query"].endswith("amount > 2")


def test_throughput_and_latency_are_plotted(page: Page, service: Service) -> None:
    page.goto("plots")
    expect(page.locator("canvas")).to_have_count(2)


def test_a_quarantined_record_is_mended_previewed_and_replayed(
    page: Page, service: Service
) -> None:
    service.quarantine(b'{"op": "c')
    page.goto("quarantine")
    page.get_by_role("row").filter(has_text="people").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("alert")).to_contain_text("not-json")
    dialog.get_by_label("value").fill('{"op": "c", "before": null, "after": {"id": 7}}')
    dialog.get_by_role("button", name="Preview").click()
    expect(dialog.get_by_role("row").filter(has_text="+1")).to_contain_text("7")
    dialog.get_by_role("button", name="Fix and replay").click()
    expect(page.get_by_text("1 applied at time")).to_be_visible()
    expect(page.get_by_text("0 records")).to_be_visible()


def test_a_page_of_another_origin_cannot_connect(service: Service) -> None:
    socket = f"{service.url}/console/_nicegui_ws/socket.io/"
    asked = {"EIO": "4", "transport": "polling"}
    httpx.get(f"{service.url}/console/")
    own, foreign = (
        httpx.get(socket, params=asked, headers={"origin": origin}).status_code
        for origin in (service.url, "http://elsewhere.example")
    )
    assert (own, foreign) == (200, 400)


def test_a_view_that_is_not_there_is_said_to_be_none(page: Page, service: Service) -> None:
    page.goto("views/totls")
    expect(page.get_by_text("did you mean 'totals'?")).to_be_visible()
