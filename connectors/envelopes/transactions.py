"""The ends of transactions, as Debezium writes them to a topic of their own.

An END becomes the row (`id`, `tables`, `events`): how many events each table of the database has
in the transaction. BEGIN says nothing that END does not, and is ignored.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from connectors.columns.faults import NOT_AN_ENVELOPE, Fault
from connectors.columns.to_arrow import Converter
from connectors.columns.writer_schema import Logical
from connectors.declaration import Declaration
from connectors.envelopes.images import Contents, Images, Keys, Row, Stamps
from connectors.envelopes.keys import check_no_key
from connectors.envelopes.layout import Layout
from connectors.envelopes.recognition import Recognition
from connectors.formats.parsed import Holding


class Transactions:
    """Envelope `transactions`."""

    name = "transactions"
    holds: tuple[Holding, ...] = ("documents", "structs")
    rows_stay = True
    keys: Keys = "unread"
    has_before = False
    has_transactions = False
    leaves_out = False
    has_encodings = True
    layout: Layout | None = None
    recognition = Recognition()

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable for a key other than a record's place."""
        check_no_key(table)

    def images(self, contents: Contents) -> Images:
        """A row for each END."""
        return _images(contents.values)

    def row(self, value: Logical) -> Logical | None:
        """A row is made here, not by the writer."""
        return None

    def image(self, diff: int) -> str:
        """The record itself."""
        return "the record"

    def converter(self, field: pa.Field) -> Converter | None:
        """As the format says."""
        return None

    def stamps(self, values: Sequence[Any], table: Declaration) -> Stamps:
        """The boundaries of transactions are no changes."""
        return Stamps()


def _images(values: Sequence[Any]) -> Images:
    """A row for each END; a Fault among the values stays one."""
    result = Images()
    for owner, value in enumerate(values):
        status = value.get("status") if type(value) is dict else None
        if value is None:
            result.tombstones += 1
        elif status == "BEGIN":
            result.ignored += 1
        elif status == "END" and (row := _row(value)) is not None:
            result.add(owner, 1, row)
        elif isinstance(value, Fault):
            result.faults[owner] = value
        else:
            result.faults[owner] = Fault(
                NOT_AN_ENVELOPE, "this is neither the BEGIN nor the END of a transaction"
            )
    return result


def _row(value: dict[str, Any]) -> Row | None:
    collections = value.get("data_collections") or []
    if type(collections) is not list or not all(type(one) is dict for one in collections):
        return None
    return {
        "id": value.get("id"),
        "tables": [one.get("data_collection") for one in collections],
        "events": [one.get("event_count") for one in collections],
    }
