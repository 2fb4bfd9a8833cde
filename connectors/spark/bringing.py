"""Bringing: rows of a task on their way to the shards that own them, if there are any."""

from multiprocessing import AuthenticationError

import pyarrow as pa

from connectors.errors import ShardUnavailable
from connectors.progress.resolution import are_markers
from connectors.tables.spec import TableSpec
from connectors.tables.table import Table, normal_rows
from ivm.cluster.dealing import Dealer, Owners

# The connections that a process of Spark's keeps from one task to the next, by the owners.
_dealers: dict[Owners, Dealer] = {}

_GONE = (OSError, EOFError, AuthenticationError)


class Bringing:
    """Brings a task's rows to their `owners`; where there are none, rows travel in their chunks."""

    def __init__(self, owners: Owners | None) -> None:
        self._owners = owners
        self._dealer: Dealer | None = None

    def deal(self, table: TableSpec, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Send rows on their way: references to them, or themselves where they stay.

        Raises ShardUnavailable.
        """
        if self._owners is None or are_markers(table):
            return rows
        key = Table.of(table).owner_key
        try:
            if self._dealer is None:
                self._dealer = _dealers.pop(self._owners, None) or Dealer(self._owners)
            return self._dealer.deal(normal_rows(table, rows), table.schema, key)
        except _GONE as error:
            raise self._unavailable(error) from error

    def flush(self) -> None:
        """Wait until all that was dealt is with its owners (raises ShardUnavailable)."""
        try:
            if self._dealer is not None:
                self._dealer.flush()
        except _GONE as error:
            raise self._unavailable(error) from error

    def close(self) -> None:
        """Keep the connections for the next task of this process, in place of those to others."""
        if self._owners is None or self._dealer is None:
            return
        while _dealers:
            _dealers.popitem()[1].close()
        if self._dealer.is_flushed:
            _dealers[self._owners] = self._dealer
        else:
            self._dealer.close()

    def _unavailable(self, error: BaseException) -> ShardUnavailable:
        if self._dealer is not None:
            self._dealer.close()
            self._dealer = None
        return ShardUnavailable(
            f"cluster: a task that reads cannot bring rows to a shard: {error!r}. "
            "Executors have to reach one another on any port"
        )
