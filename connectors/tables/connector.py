"""The connectors that topics are read through, and the contract that each keeps.

A connector says which declarations it can serve; its records come by `connectors.source`.
"""

from collections.abc import Mapping
from typing import Final, Protocol

from connectors.declaration import Declaration, refused
from connectors.envelopes.envelope import ENVELOPES
from connectors.formats.format import FORMATS
from connectors.named import by_name


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
    """

    name: str
    is_remote: bool

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable, naming the field, for a declaration that topics cannot serve."""


class Files:
    """Connector `files`: directories of lines, without keys, timestamps and headers."""

    name = "files"
    is_remote = False

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


class Kafka:
    """Connector `kafka`: topics of a cluster."""

    name = "kafka"
    is_remote = True

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable where no connection is named."""
        if not table.connection:
            raise refused(table, "connection", "connector 'kafka' needs the name of a connection")


CONNECTORS: Final[Mapping[str, Connector]] = by_name(Files(), Kafka())
