"""The connectors that topics are read through, and the contract that each keeps.

A connector says which declarations it can serve; its records come by `connectors.source`.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from connectors.declaration import Declaration, refused
from connectors.envelopes.envelope import ENVELOPES
from connectors.formats.format import FORMATS
from connectors.named import by_name

# The format in which rows that are posted are kept.
POSTED_FORMAT: Final = "json"


class Connector(Protocol):
    """Checks a declaration against the topics it reads; stateless, and safe on any thread.

    >>> import pyarrow as pa
    >>> orders = Declaration("orders", "orders", pa.schema([("id", pa.int64())]), ("id",))
    >>> CONNECTORS["files"].check(orders)
    >>> CONNECTORS["kafka"].check(orders)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    connectors.errors.InvalidTable: table 'orders': connection: connector 'kafka' needs ...

    `is_remote`: topics are a broker's, on one of the operator's connections. Their offsets may have
    gaps, and a query reads those topics that it began with; one of files follows what is declared.
    `is_written`: the service writes the topic itself, the rows that are posted to it.
    """

    name: str
    is_remote: bool
    is_written: bool

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable, naming the field, for a declaration that topics cannot serve."""


class Files:
    """Connector `files`: directories of lines, without keys, timestamps and headers."""

    name = "files"
    is_remote = False
    is_written = False

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable, naming the field, for anything that a line cannot hold."""
        if table.connection is not None:
            raise refused(table, "connection", "file topics have none; leave it out")
        lines = [name for name, form in FORMATS.items() if form.is_line]
        if table.format not in lines:
            choice = " or ".join(map(repr, lines))
            raise refused(
                table,
                "format",
                f"{table.format!r} is not possible in a file topic, which holds lines; choose "
                f"{choice}",
            )
        if ENVELOPES[table.envelope].keys == "required":
            raise refused(
                table,
                "envelope",
                f"{table.envelope!r} needs records with keys; choose connector 'kafka'",
            )
        for kind in table.metadata.values():
            if kind in ("key", "timestamp", "headers"):
                raise refused(table, "metadata", f"records of file topics have no {kind}")
        if table.start != "earliest":
            raise refused(table, "start", "a file topic is read from 'earliest'")


class Http:
    """Connector `http`: rows that are posted, which the service keeps in a file topic of its own.

    With a primary key, a row sets the one of its key or deletes it (envelope `flat`); without one
    rows are added, and stay (`append`).
    """

    name = "http"
    is_remote = False
    is_written = True

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable, naming the field, for what is not the user's to say of such rows."""
        CONNECTORS["files"].check(table)
        if table.topic != table.name:
            raise refused(table, "topic", "the service writes one of its own; leave it out")
        if table.format != POSTED_FORMAT:
            raise refused(
                table, "format", f"posted rows are kept as {POSTED_FORMAT!r}; leave it out"
            )
        if table.envelope != posted_envelope(table.key):
            raise refused(
                table,
                "envelope",
                f"{posted_envelope(table.key)!r} follows of the key; leave it out",
            )
        if table.metadata:
            raise refused(table, "metadata", "posted rows have none; leave it out")


def posted_envelope(key: Sequence[str]) -> str:
    """The envelope of rows that are posted to a table with this primary key.

    >>> posted_envelope(["id"]), posted_envelope([])
    ('flat', 'append')
    """
    return "flat" if key else "append"


class Kafka:
    """Connector `kafka`: topics of a cluster."""

    name = "kafka"
    is_remote = True
    is_written = False

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable where no connection is named."""
        if not table.connection:
            raise refused(table, "connection", "connector 'kafka' needs the name of a connection")


CONNECTORS: Final[Mapping[str, Connector]] = by_name(Files(), Kafka(), Http())
