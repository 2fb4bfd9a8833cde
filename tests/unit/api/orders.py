"""Rows of the test's orders."""

from datetime import date
from decimal import Decimal
from typing import Any


def order(number: int, customer: str, amount: str) -> dict[str, Any]:
    return {
        "id": number,
        "customer": customer,
        "amount": Decimal(amount),
        "day": date(2024, 1, number),
    }
