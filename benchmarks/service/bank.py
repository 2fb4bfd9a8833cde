"""Accounts of customers: two tables over file topics, views of them, and changes of accounts."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np

ACCOUNTS, CUSTOMERS = "accounts", "customers"
PER_CUSTOMER = 10
"""Accounts of a customer."""

TABLES: dict[str, dict[str, str]] = {
    ACCOUNTS: {"id": "int64", "customer": "int64", "balance": "decimal128(12, 2)"},
    CUSTOMERS: {"id": "int64", "name": "utf8"},
}
BALANCES = "SELECT id, customer, balance FROM accounts"
OTHERWISE = f"{BALANCES} WHERE id % 100 <> 7"
"""What takes the place of `BALANCES`: it differs in a hundredth of the rows."""
BY_CUSTOMER = "SELECT customer, count(*) AS many, sum(balance) AS total FROM accounts GROUP BY 1"
BY_KEY = "SELECT balance FROM balances WHERE id = {key}"
JOINED = (
    "SELECT c.name, t.total FROM customers c JOIN by_customer t ON t.customer = c.id "
    "WHERE c.id = {key}"
)


def declaration(table: str) -> dict[str, Any]:
    """The body that declares a table over the topic of its name."""
    columns = [{"name": n, "type": t, "nullable": False} for n, t in TABLES[table].items()]
    return {"columns": columns, "key": ["id"]}


def customers(accounts: int) -> list[bytes]:
    """The customers who have so many accounts."""
    many = -(-accounts // PER_CUSTOMER)
    return [_record(b'{"id":%d,"name":"customer %d"}' % (n, n)) for n in range(many)]


def renamed(many: int) -> list[bytes]:
    """The first customers, under another name each."""
    return [_record(b'{"id":%d,"name":"another %d"}' % (n, n)) for n in range(many)]


def opened(accounts: int) -> list[bytes]:
    """Each account once."""
    return [changed(n, 0) for n in range(accounts)]


def changed(account: int, version: int) -> bytes:
    """An account whose balance is another than that of the version before."""
    cents = (account * 7 + version * 13) % 1_000_000
    row = (account, account // PER_CUSTOMER, cents // 100, cents % 100)
    return _record(b'{"id":%d,"customer":%d,"balance":"%d.%02d"}' % row)


def changes(accounts: int, seed: int) -> Iterator[bytes]:
    """Changes of accounts at random, without end."""
    random = np.random.default_rng(seed)
    for version in count(1):
        yield from (changed(n, version) for n in random.integers(0, accounts, 10_000).tolist())


def _record(row: bytes) -> bytes:
    return b'{"op":"u","before":null,"after":%b}' % row
