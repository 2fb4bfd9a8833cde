"""Two tables of PostgreSQL, captured by Debezium, and views that PostgreSQL judges."""

from dataclasses import dataclass
from typing import Any

from tests.e2e.kafka.stack import CONNECTION, Stack
from tests.kafka.connect import Converter, debezium

TABLES = ("customers", "orders")
SETUP = """
    CREATE SCHEMA {schema};
    CREATE TABLE {schema}.customers (id int PRIMARY KEY, name text, city text, note text);
    CREATE TABLE {schema}.orders (
        id bigint PRIMARY KEY, customer_id int NOT NULL, amount numeric(12, 2), placed date);
    ALTER TABLE {schema}.customers REPLICA IDENTITY {identity};
    ALTER TABLE {schema}.orders REPLICA IDENTITY {identity};
    INSERT INTO {schema}.customers
        SELECT n, 'name ' || n, 'city ' || n % 5, (
            SELECT string_agg(md5((n * m)::text), '') FROM generate_series(1, 300) AS m)
        FROM generate_series(1, 20) AS n;
    INSERT INTO {schema}.orders
        SELECT n, 1 + n % 20, n / 7.0, date '2024-01-01' + n FROM generate_series(1, 200) AS n;
"""
BY_CITY = """
    SELECT c.city, count(*) AS orders, sum(o.amount) AS total, max(length(c.note)) AS longest
    FROM {orders} AS o JOIN {customers} AS c ON o.customer_id = c.id GROUP BY c.city
"""
ORDERS = "SELECT id, customer_id, amount, placed FROM {orders}"
VIEWS = {"by_city": (BY_CITY, "city"), "all": (ORDERS, "id")}


@dataclass(frozen=True, slots=True)
class Form:
    """How one schema is captured and declared.

    `deletes` is a mode of the transformation that leaves rows of envelopes, where it is used.
    """

    schema: str
    converter: Converter
    identity: str
    deletes: str | None = None

    @property
    def envelope(self) -> str:
        return "debezium" if self.deletes is None else "flat"

    @property
    def is_avro(self) -> bool:
        return self.converter.startswith("avro")

    def topic(self, table: str) -> str:
        """Where Debezium writes the changes of a table."""
        return f"{self.schema}.{self.schema}.{table}"

    def sql(self, text: str) -> str:
        """`text` for PostgreSQL."""
        tables = {each: f"{self.schema}.{each}" for each in TABLES}
        return text.format(schema=self.schema, identity=self.identity, **tables)

    def view(self, text: str) -> str:
        """`text` for a view."""
        return text.format(**{each: f"{self.schema}_{each}" for each in TABLES})

    def declare(self, stack: Stack, table: str, columns: dict[str, str]) -> None:
        """Declare the topic of a table as a source."""
        body: dict[str, Any] = {
            "connector": "kafka",
            "connection": CONNECTION,
            "topic": self.topic(table),
            "format": "avro" if self.is_avro else "json",
            "envelope": self.envelope,
            "replica_identity": self.identity,
            "columns": [{"name": name, "type": kind} for name, kind in columns.items()],
            "key": ["id"],
        }
        stack.client.put(f"/v1/sources/{self.schema}_{table}", body)


def begin(stack: Stack, form: Form) -> None:
    """Make the tables of a form, capture and declare them, and put the views over them."""
    stack.database.execute(form.sql(SETUP).encode())
    capture(stack, form)
    form.declare(stack, "customers", {"id": "int32", "city": "utf8", "note": "utf8"})
    orders = {"id": "int64", "customer_id": "int32", "amount": "decimal128(12, 2)"}
    form.declare(stack, "orders", {**orders, "placed": "date32"})
    for name, (query, key) in VIEWS.items():
        stack.put_view(f"{form.schema}_{name}", form.view(query), [key])


def check(stack: Stack, form: Form) -> None:
    """Wait until each view is PostgreSQL's answer (raises TimeoutError that tells how not)."""
    for name, (query, _) in VIEWS.items():
        stack.await_answer(f"{form.schema}_{name}", form.sql(query))


def reasons(stack: Stack, table: str) -> list[str]:
    """Why records of a table are in the quarantine."""
    return [r["reason"] for r in stack.client.get("/v1/quarantine", table=table)["records"]]


def flattened(deletes: str) -> dict[str, str]:
    """Settings of the transformation that leaves rows, with `_` for a dot; it drops truncations."""
    return {
        "transforms": "unwrap",
        "transforms_unwrap_type": "io.debezium.transforms.ExtractNewRecordState",
        "transforms_unwrap_delete_tombstone_handling_mode": deletes,
        "transforms_unwrap_add_fields": "op,lsn,table,source.ts_ms",
        "skipped_operations": "t",
    }


def capture(stack: Stack, form: Form) -> None:
    """Let Debezium capture the tables of a form."""
    config = debezium(
        stack.publisher,
        form.schema,
        f"{form.schema}.customers,{form.schema}.orders",
        form.converter,
        stack.registry.native,
        # Without a schema in the record, nothing tells the scale of a decimal in bytes.
        decimal_handling_mode="string" if form.converter == "json" else "precise",
        **(flattened(form.deletes) if form.deletes is not None else {}),
    )
    stack.connect.create(form.schema, config)
    for table in TABLES:
        stack.await_topic(form.topic(table))
