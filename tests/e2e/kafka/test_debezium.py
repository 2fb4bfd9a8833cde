"""What PostgreSQL holds, captured by Debezium, is what views of it hold.

Each form of a record (JSON without and with schemas, Avro with its schema's id before it and in a
header) and each replica identity goes through the same life of two tables; after each step the
views are PostgreSQL's own answer, whatever of what lies between was killed.
"""

import pytest

from tests.e2e.kafka.shop import TABLES, Form, begin, check, reasons
from tests.e2e.kafka.stack import Stack
from tests.kafka.java import await_true

STEPS = {
    "inserts": """
        INSERT INTO {schema}.orders
            SELECT n, 1 + n % 20, n / 3.0, NULL FROM generate_series(201, 300) AS n;
    """,
    "updates": """
        UPDATE {schema}.orders SET amount = -amount WHERE id % 3 = 0;
        UPDATE {schema}.orders SET amount = amount * 2 WHERE id % 2 = 0;
        UPDATE {schema}.orders SET amount = NULL WHERE id % 50 = 0;
    """,
    "large values left as they are": """
        UPDATE {schema}.customers SET city = 'city 9', name = name || '!' WHERE id % 4 = 0;
        UPDATE {schema}.customers SET city = 'city 8' WHERE id % 8 = 0;
    """,
    "large values changed": """
        UPDATE {schema}.customers SET note = note || 'more' WHERE id % 2 = 0;
    """,
    "deletes": """
        DELETE FROM {schema}.orders WHERE id % 5 = 0;
        DELETE FROM {schema}.customers WHERE id = 7;
    """,
    "primary keys changed": """
        UPDATE {schema}.orders SET id = id + 10000 WHERE id % 7 = 0;
        UPDATE {schema}.customers SET id = 77, note = note || 'moved' WHERE id = 8;
        UPDATE {schema}.orders SET customer_id = 77 WHERE customer_id = 8;
    """,
    "a row deleted and made again": """
        BEGIN;
        DELETE FROM {schema}.orders WHERE id = 1;
        INSERT INTO {schema}.orders VALUES (1, 3, 1000, '2025-01-01');
        UPDATE {schema}.orders SET amount = 2000 WHERE id = 1;
        COMMIT;
    """,
    "an undone transaction before another": """
        BEGIN;
        DELETE FROM {schema}.orders;
        ROLLBACK;
        UPDATE {schema}.orders SET amount = 1 WHERE id = 2;
    """,
    "a truncation": """
        TRUNCATE {schema}.orders;
    """,
    "inserts after it": """
        INSERT INTO {schema}.orders
            SELECT n, 1 + n % 20, n / 9.0, date '2025-01-01' + n FROM generate_series(1, 50) AS n;
    """,
    "an added column": "ALTER TABLE {schema}.orders ADD COLUMN coupon text DEFAULT 'none'",
    "rows with it": """
        INSERT INTO {schema}.orders VALUES (51, 1, 5, NULL, 'tenth');
        UPDATE {schema}.orders SET amount = amount + 1, coupon = 'all' WHERE id % 2 = 0;
    """,
    "a dropped column that no source declares": "ALTER TABLE {schema}.customers DROP COLUMN name",
    "a row without it": "UPDATE {schema}.customers SET city = 'city 3' WHERE id = 1",
}
FORMS = [
    Form("plain", "json", "default"),
    Form("plain_full", "json", "full"),
    Form("typed", "json with schemas", "default"),
    Form("framed", "avro", "default"),
    Form("headed", "avro with headers", "full"),
    Form("flat", "json", "default", "tombstone"),
    Form("flat_typed", "avro", "default", "rewrite-with-tombstone"),
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.schema)
def test_views_are_what_postgresql_answers(stack: Stack, form: Form) -> None:
    begin(stack, form)
    check(stack, form)
    for step in STEPS.values():
        told = step.replace("TRUNCATE", "DELETE FROM") if form.deletes is not None else step
        stack.database.execute(form.sql(told).encode())
        check(stack, form)
    stack.connect.delete(form.schema)
    assert [reasons(stack, f"{form.schema}_{table}") for table in TABLES] == [[], []]


def test_a_row_moved_without_its_large_value_is_put_aside_until_it_is_told(stack: Stack) -> None:
    form = Form("moved", "json", "default")
    begin(stack, form)
    check(stack, form)
    stack.database.execute(form.sql("UPDATE {customers} SET id = 77 WHERE id = 8").encode())
    stack.database.execute(form.sql("UPDATE {orders} SET customer_id = 77").encode())
    await_true("quarantined", lambda: reasons(stack, "moved_customers") == ["unavailable-value"])
    stack.database.execute(form.sql("UPDATE {customers} SET note = note || '!'").encode())
    check(stack, form)
    stack.connect.delete(form.schema)


@pytest.mark.parametrize("identity", ["default", "full"])
def test_killed_parts_lose_nothing_and_double_nothing(stack: Stack, identity: str) -> None:
    form = Form(f"killed_{identity}", "json", identity)
    begin(stack, form)
    check(stack, form)
    stack.connect.await_snapshot(form.schema)
    change(stack, form, range(40))
    stack.connect.kill()
    change(stack, form, range(40, 60))
    stack.connect.start()
    stack.connect.await_state(form.schema, "RUNNING")
    change(stack, form, range(60, 100))
    stack.service.kill()
    change(stack, form, range(100, 120))
    stack.start_service()
    check(stack, form)
    stack.connect.delete(form.schema)


def change(stack: Stack, form: Form, numbers: range) -> None:
    """Transactions one after another, each of which changes, moves or deletes an order or two."""
    for number in numbers:
        for statement in (
            "UPDATE {orders} SET amount = amount + 1 WHERE id = %s",
            "UPDATE {orders} SET id = id + 1000, customer_id = 3 WHERE id = %s + 50",
            "DELETE FROM {orders} WHERE id = %s + 100",
        ):
            stack.database.execute(form.sql(statement).encode(), (number,))
