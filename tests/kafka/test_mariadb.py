"""What docs/databases.md says of MariaDB, tried: its steps, from the server's log to typed rows."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException

from api.models import SourceBody
from connectors.decode import decode
from connectors.records import Records
from tests.kafka.client import Kafka
from tests.kafka.connect import Connect
from tests.kafka.java import NoJars, await_true
from tests.mariadb import MariaDb, serving
from tests.postgres import NoServer

PAGE = (Path(__file__).parents[2] / "docs" / "databases.md").read_text()
SECTION = PAGE[PAGE.index("## MySQL and MariaDB\n") :]
(SETUP,) = re.findall(r"^```sql\n(.*?)^```$", SECTION, re.M | re.S)
CONNECTOR, SOURCE = map(json.loads, re.findall(r"^```json\n(.*?)^```$", SECTION, re.M | re.S))
TABLE = SourceBody(**SOURCE).spec("items", "quarantine")
ITEMS = """
    INSERT INTO items VALUES
        (1, 12.50, '2024-02-29 12:34:56', '2024-02-29 12:00:00', '2024-02-29', '12:34:56', b'1',
            'a', '{"a": 1}'),
        (2, NULL, '1969-07-20 20:17:40', '2038-01-01 00:00:00', '1969-07-20', '00:00:00', b'0',
            'b', '[1.50, null]'),
        (3, -0.01, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
"""
LATER = """
    UPDATE items SET price = price + 1 WHERE id = 1;
    DELETE FROM items WHERE id = 3;
    INSERT INTO items VALUES
        (4, 99999999.99, NULL, NULL, '2024-12-31', '23:59:59', NULL, 'a', '{}');
"""
# The columns as both sides tell them, but for the document, whose text is MariaDB's own.
SHOWN = "SELECT id, price, added, seen, day, opens, CAST(flag AS int), state FROM items ORDER BY id"


@dataclass(frozen=True, slots=True)
class Capture:
    """A server with the page's table and account, and the page's connector that reads its log."""

    kafka: Kafka
    connect: Connect
    database: MariaDb

    def execute(self, script: str) -> list[tuple[str | None, ...]]:
        """Run statements in the page's database, whose moments are told in UTC."""
        return self.database.execute("SET time_zone = '+00:00';" + script, "shop")

    def rows(self) -> dict[int, dict[str, Any]]:
        """The table by the records of its topic, as the page's source decodes them."""
        try:
            found = self.kafka.read_committed(SOURCE["topic"])
        except KafkaException:  # the topic is made with its first record
            return {}
        contents = [message.value() for message in found]
        decoded = decode(Records(contents, range(len(contents))), TABLE)
        assert decoded.rejected == ()
        rows: dict[int, dict[str, Any]] = {}
        for row, diff in zip(decoded.rows.to_pylist(), decoded.diffs.tolist(), strict=True):
            match diff:
                case 0:
                    rows.clear()
                case 1:
                    rows[row["id"]] = row
                case _:
                    rows.pop(row["id"], None)
        return rows

    def shown(self) -> list[tuple[str | None, ...]]:
        """The table as `SHOWN` tells it."""
        return [
            tuple(map(_text, list(row.values())[:-1])) for _, row in sorted(self.rows().items())
        ]

    def await_rows(self) -> None:
        """Wait until the topic tells what the server does."""
        expected = self.execute(SHOWN)
        try:
            await_true("the rows", lambda: self.shown() == expected)
        except TimeoutError as error:
            states = self.connect.states()
            raise TimeoutError(f"{self.shown()} is not {expected}; {states}") from error


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return str(int(value)) if isinstance(value, bool) else str(value).removesuffix("+00:00")


@pytest.fixture(scope="module")
def capture(kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Capture]:
    directory = tmp_path_factory.mktemp("mariadb")
    with ExitStack() as stack:
        try:
            database = stack.enter_context(serving())
            connect = stack.enter_context(Connect.started(directory, kafka.address, "mariadb"))
        except (NoServer, NoJars) as reason:
            pytest.skip(str(reason))
        database.execute("CREATE DATABASE shop")
        yield Capture(kafka, connect, database)


def test_the_steps_capture_a_table_with_its_types(capture: Capture) -> None:
    capture.execute(SETUP + ITEMS)
    at = {
        "database.hostname": "127.0.0.1",
        "database.port": str(capture.database.port),
        "schema.history.internal.kafka.bootstrap.servers": capture.kafka.address,
    }
    capture.connect.create("shop", CONNECTOR | at)
    capture.await_rows()
    assert json.loads(capture.rows()[2]["about"]) == [1.5, None]
    capture.execute(LATER)
    capture.await_rows()
    capture.execute("TRUNCATE TABLE items")
    await_true("a truncation", lambda: capture.rows() == {})
    capture.execute(ITEMS)
    capture.await_rows()
    capture.connect.delete("shop")
