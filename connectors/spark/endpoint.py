"""The endpoint to which running Spark tasks hand chunks: an Arrow Flight server beside the pool.

Real-time mode has no `foreachBatch`, since its batches last for minutes. Its tasks put what they
have decoded here, a few records at a time, and each `put` is answered once the chunks wait in the
process of the pool. What a task could not put is not lost: the task fails, the query ends, and the
next one begins at the positions of the journal.
"""

import hmac
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.flight as flight

from connectors import errors
from connectors.errors import Unavailable
from connectors.spark.chunks import SCHEMA
from connectors.spark.session import LOOPBACK

_TAKEN = pa.py_buffer(b"taken")


@dataclass(frozen=True, slots=True)
class Address:
    """The address of an endpoint, and the secret that lets a task in."""

    location: str
    token: str

    def __repr__(self) -> str:
        return f"Address({self.location!r})"


class Endpoint:
    """Takes chunks from tasks, several at a time, and passes them to `put` in each task's order.

    What a task waits for goes to `hear`, again and again while it does.
    """

    def __init__(
        self,
        put: Callable[[pa.Table], None],
        hear: Callable[[Unavailable], None],
        host: str = LOOPBACK,
    ) -> None:
        """Listen on a free port of `host`; `put` may block, and its errors reach the task."""
        token = secrets.token_urlsafe()
        self._server = _Server(f"grpc://{host}:0", put, hear, token)
        self.address = Address(f"grpc://{host}:{self._server.port}", token)

    def close(self) -> None:
        """Refuse further calls, and wait for those under way."""
        self._server.shutdown()


class Putter:
    """A task's connection to an endpoint."""

    def __init__(self, address: Address) -> None:
        self._client = flight.connect(address.location)
        descriptor = flight.FlightDescriptor.for_command(address.token.encode())
        self._writer, answers = self._client.do_put(descriptor, SCHEMA)
        self._answers: Any = answers  # a FlightMetadataReader; the stubs name another class

    def put(self, chunks: pa.RecordBatch) -> None:
        """Hand over rows of `SCHEMA`, and wait until they are taken (raises FlightError)."""
        self._writer.write_batch(chunks)
        self._await_answer()

    def tell(self, error: Unavailable) -> None:
        """Report the fault that the task waits for (raises FlightError)."""
        self._writer.write_metadata(pa.py_buffer(f"{type(error).__name__}: {error}".encode()))
        self._await_answer()

    def _await_answer(self) -> None:
        if self._answers.read() is None:
            self._writer.close()  # raises why the endpoint ended the call
            raise flight.FlightCancelledError("the endpoint takes nothing more")

    def close(self) -> None:
        """Release the connection; every put has been answered, so no error is news."""
        with suppress(flight.FlightError, pa.ArrowException):
            self._writer.close()
        self._client.close()


class _Server(flight.FlightServerBase):
    def __init__(
        self,
        location: str,
        put: Callable[[pa.Table], None],
        hear: Callable[[Unavailable], None],
        token: str,
    ) -> None:
        super().__init__(location)
        self._put = put
        self._hear = hear
        self._token = token.encode()

    def do_put(
        self,
        context: flight.ServerCallContext,
        descriptor: flight.FlightDescriptor,
        reader: flight.MetadataRecordBatchReader,
        writer: flight.FlightMetadataWriter,
    ) -> None:
        if not hmac.compare_digest(descriptor.command or b"", self._token):
            raise flight.FlightUnauthenticatedError("not a task of this service")
        for chunk in reader:
            if chunk.data is not None:
                self._put(pa.Table.from_batches([chunk.data]))
            elif chunk.app_metadata is not None:
                name, _, text = chunk.app_metadata.to_pybytes().decode().partition(": ")
                self._hear(getattr(errors, name)(text))
            writer.write(_TAKEN)
