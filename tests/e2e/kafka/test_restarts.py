"""Whatever is killed between PostgreSQL and a view, the view becomes PostgreSQL's answer."""

import pytest

from tests.e2e.kafka.shop import Form, begin, check
from tests.e2e.kafka.stack import Stack


@pytest.mark.parametrize("identity", ["default", "full"])
def test_killed_parts_lose_nothing_and_double_nothing(stack: Stack, identity: str) -> None:
    form = Form(f"killed_{identity}", "json", identity)
    begin(stack, form)
    check(stack, form)
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
