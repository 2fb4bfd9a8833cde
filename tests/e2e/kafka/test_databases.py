"""What docs/databases.md says of PostgreSQL's connector, tried: its steps, lossy defaults."""

import json
import re
from pathlib import Path
from typing import Any

from tests.e2e.kafka.shop import reasons
from tests.e2e.kafka.stack import CONNECTION, Stack
from tests.kafka.connect import debezium
from tests.kafka.java import await_true

PLAIN = {"decimal_handling_mode": "string"}
PAGE = (Path(__file__).parents[3] / "docs" / "databases.md").read_text()
SECTION = PAGE[PAGE.index("## PostgreSQL\n") : PAGE.index("## MySQL")]
(SETUP,) = re.findall(r"^```sql\n(.*?)^```$", SECTION, re.M | re.S)
CONNECTOR, SOURCE = map(json.loads, re.findall(r"^```json\n(.*?)^```$", SECTION, re.M | re.S))
ITEMS = """
    INSERT INTO items VALUES
        (1, 'lamp', 12.50, '2024-02-29 12:00:00.5+02', '2024-02-29 12:34:56.789',
            '1 month', '{"a": 1}'),
        (2, 'chair', 99.99, NULL, NULL, '-3 days 04:05:06', NULL),
        (3, 'table', NULL, '1969-07-20 20:17:40Z', '1969-07-20 20:17:40', NULL, '[1.50, null]');
"""
LATER = """
    UPDATE items SET price = price + 1 WHERE id < 3;
    DELETE FROM items WHERE id = 3;
    INSERT INTO items VALUES (4, 'sofa', 1000, now(), NULL, '1 year 2 months', '{}');
"""


def test_the_steps_capture_a_table_with_its_types(stack: Stack) -> None:
    stack.execute_each(SETUP + ITEMS)
    at = {
        "database.hostname": stack.publisher.host,
        "database.port": str(stack.publisher.port),
        "database.dbname": stack.publisher.database,
    }
    stack.connect.create("shop", CONNECTOR | at)
    stack.await_topic(SOURCE["topic"])
    stack.client.put("/v1/sources/items", SOURCE)
    shown = [f"{name}::text AS {name}" for name in ("price", "added", "seen", "lasts")]
    query = f"SELECT id, name, {', '.join(shown)}, about ->> 'a' AS a FROM items"
    stack.put_view("shown_items", query, ["id"])
    stack.await_answer("shown_items", query)
    stack.execute_each(LATER)
    stack.await_answer("shown_items", query)
    stack.execute_each("TRUNCATE items")
    stack.await_answer("shown_items", query)
    stack.connect.delete("shop")
    assert reasons(stack, "items") == []


def capture(stack: Stack, name: str, columns: str, rows: str, **settings: str) -> None:
    """Make a table `NAME.t` of these columns and rows, and capture it as plain JSON."""
    stack.database.execute(f"CREATE SCHEMA {name}".encode())
    stack.database.execute(f"CREATE TABLE {name}.t (id int PRIMARY KEY, {columns})".encode())
    stack.database.execute(f"INSERT INTO {name}.t VALUES {rows}".encode())
    config = debezium(stack.publisher, name, f"{name}.t", "json", None, **PLAIN, **settings)
    stack.connect.create(name, config)
    stack.await_topic(f"{name}.{name}.t")


def declare(stack: Stack, name: str, columns: dict[str, str], **more: Any) -> None:
    """Declare the topic as source `NAME`; again with more columns, to add them."""
    body = {
        "connector": "kafka",
        "connection": CONNECTION,
        "topic": more.get("topic", f"{name}.{name}.t"),
        "columns": [{"name": "id", "type": "int32"}]
        + [{"name": column, "type": kind} for column, kind in columns.items()],
        "key": ["id"],
    }
    stack.client.put(f"/v1/sources/{more.pop('source', name)}", {**body, **more})


def view(stack: Stack, name: str, query: str) -> None:
    stack.put_view(name, query, ["id"])


def test_intervals_as_numbers_lose_their_months(stack: Stack) -> None:
    rows = "(1, '1 month'), (2, '1 day 02:00:00'), (3, NULL)"
    for mode, month in (("numeric", "30.4375 days"), ("string", "1 month")):
        name = f"span_{mode}"
        capture(stack, name, "v interval", rows, interval_handling_mode=mode)
        declare(stack, name, {"v": "interval"})
        seconds = "CAST(extract(epoch FROM v) AS bigint) AS seconds"
        view(stack, f"{name}_view", f"SELECT id, {seconds} FROM {name}")
        told = f"CASE WHEN id = 1 THEN interval '{month}' ELSE v END"
        expected = f"SELECT id, {seconds} FROM (SELECT id, {told} AS v FROM {name}.t) AS t"
        stack.await_answer(f"{name}_view", expected)
        stack.connect.delete(name)


def test_a_timestamp_of_milliseconds_is_put_aside_until_its_unit_is_told(stack: Stack) -> None:
    rows = "(1, '2024-02-29 12:34:56.789'), (2, '1969-07-20 20:17:40')"
    capture(stack, "millis", "at timestamp(3)", rows)
    declare(stack, "millis", {"at": "timestamp[us]"})
    await_true("put aside", lambda: reasons(stack, "millis") == ["out-of-range"] * 2)
    more = {"source": "in_millis", "encodings": {"at": "ms"}}
    declare(stack, "millis", {"at": "timestamp[us]"}, topic="millis.millis.t", **more)
    view(stack, "in_millis_view", "SELECT id, at::text AS at FROM in_millis")
    stack.await_answer("in_millis_view", "SELECT id, at::text FROM millis.t")
    stack.connect.delete("millis")


def test_the_connector_s_own_placeholder_is_told_to_the_source(stack: Stack) -> None:
    text = "(SELECT string_agg(md5(n::text), '') FROM generate_series(1, 400) AS n)"
    settings = {"unavailable_value_placeholder": "not there"}
    capture(stack, "toasted", "note text, n int", f"(1, {text}, 1)", **settings)
    declare(stack, "toasted", {"note": "utf8", "n": "int32"}, **settings)
    view(stack, "toasted_view", "SELECT id, length(note) AS length, n FROM toasted")
    stack.await_answer("toasted_view", "SELECT id, length(note), n FROM toasted.t")
    stack.database.execute(b"UPDATE toasted.t SET n = 2")
    stack.await_answer("toasted_view", "SELECT id, length(note), n FROM toasted.t")
    stack.connect.delete("toasted")


def test_columns_come_and_go(stack: Stack) -> None:
    capture(stack, "altered", "name text, note text", "(1, 'a', 'x'), (2, 'b', NULL)")
    columns = {"name": "utf8", "note": "utf8"}
    declare(stack, "altered", columns)
    view(stack, "altered_all", "SELECT * FROM altered")
    stack.await_answer("altered_all", "SELECT id, name, note FROM altered.t")
    stack.database.execute(b"ALTER TABLE altered.t ADD COLUMN rank int")
    declare(stack, "altered", {**columns, "rank": "int32"})
    stack.database.execute(b"INSERT INTO altered.t VALUES (3, 'c', 'z', 7)")
    view(stack, "altered_ranks", "SELECT id, rank FROM altered")
    stack.await_answer("altered_ranks", "SELECT id, rank FROM altered.t")
    stack.await_answer("altered_all", "SELECT id, name, note FROM altered.t")
    stack.database.execute(b"ALTER TABLE altered.t DROP COLUMN note")
    stack.database.execute(b"INSERT INTO altered.t VALUES (4, 'd', 8)")
    rows = "SELECT id, name, CASE id WHEN 1 THEN 'x' WHEN 3 THEN 'z' END FROM altered.t"
    stack.await_answer("altered_all", rows)
    stack.service.kill()
    stack.start_service()
    stack.await_answer("altered_ranks", "SELECT id, rank FROM altered.t")
    stack.await_answer("altered_all", rows)
    stack.connect.delete("altered")
    assert reasons(stack, "altered") == []
