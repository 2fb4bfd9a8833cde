"""The endpoint to which Spark's tasks hand chunks: an Arrow Flight server beside the pool.

What tasks decode goes straight to the process of the pool, and not through the JVM. A task of a
micro-batch says which of how many it is (`Part`), and `connectors.spark.gathering` puts these
together; a task that reads on and on (`connectors.spark.relay`) puts what it has read, a few
records at a time. Each is answered once its chunks wait in the process of the pool. What a task
could not hand over is not lost: the task fails, the query ends, and the next one begins at the
positions of the journal.
"""

import hmac
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.flight as flight

from connectors import errors
from connectors.errors import Unavailable
from connectors.spark.bringing import Bringing
from connectors.spark.chunks import SCHEMA
from connectors.spark.session import LOOPBACK
from ivm.cluster.credentials import NAME, Certificate
from ivm.cluster.dealing import Owners


@dataclass(frozen=True, slots=True)
class Address:
    """The address of an endpoint, and the secret that lets a task in.

    Where that is encrypted, it has this `certificate`. Where rows have `owners`, tasks bring them
    there.
    """

    location: str
    token: str
    certificate: str | None = None
    owners: Owners | None = None

    def __repr__(self) -> str:
        return f"Address({self.location!r})"


class Part(NamedTuple):
    """The part of `task` in what `of` tasks give together, the batch `number` of a source.

    Numbers rise. What a task gives by itself is whole.
    """

    source: str = ""
    number: int = 0
    task: int = 0
    of: int = 1


WHOLE = Part()


def parts_of(source: str, number: int, tasks: int) -> list[Part]:
    """The parts of so many tasks, in their order."""
    return [Part(source, number, task, tasks) for task in range(tasks)]


Take = Callable[[Part, Sequence[pa.RecordBatch]], None]


class Endpoint:
    """Takes chunks from tasks, several at a time, and passes them on in each task's order.

    What a task waits for goes to `hear`, again and again while it does.
    """

    def __init__(
        self,
        take: Take,
        hear: Callable[[Unavailable], None],
        delivery: Callable[[], float] = lambda: 0.0,
        host: str = LOOPBACK,
        *,
        encrypted: bool = False,
        owners: Owners | None = None,
    ) -> None:
        """Listen on a free port of `host`; `take` may block, and its errors reach the task.

        `delivery` is how many seconds a delivery took of late, which tasks are told. What they hand
        over is `encrypted` if it is to be, by a certificate that tasks learn with the address; so
        they do of the `owners` of rows.
        """
        token = secrets.token_urlsafe()
        certificate = Certificate.new() if encrypted else None
        scheme = "grpc+tls" if encrypted else "grpc"
        self._server = _Server(f"{scheme}://{host}:0", take, hear, delivery, token, certificate)
        public = certificate.public if certificate is not None else None
        location = f"{scheme}://{host}:{self._server.port}"
        self.address = Address(location, token, public, owners)

    def finish(self) -> None:
        """Let tasks that read on and on know that they may end."""
        self._server.has_enough = True

    def close(self) -> None:
        """Refuse further calls, and wait for those under way."""
        self.finish()
        self._server.shutdown()


# The connection that a process of Spark's keeps from one task to the next, by its location.
_clients: dict[str, flight.FlightClient] = {}


class Putter:
    """A task's call of an endpoint; it `is_wanted` until that says that it has enough.

    `delivery` is how many seconds a delivery took of late. Rows of chunks that are put travel as
    what `deal` makes of them.
    """

    def __init__(self, address: Address) -> None:
        self._location = address.location
        if (client := _clients.pop(address.location, None)) is None:
            client = _connected(address)
        self._client = client
        self._bringing = Bringing(address.owners)
        self.deal = self._bringing.deal
        descriptor = flight.FlightDescriptor.for_command(address.token.encode())
        self._writer, answers = self._client.do_put(descriptor, SCHEMA)
        self._answers: Any = answers  # a FlightMetadataReader; the stubs name another class
        self.is_wanted = True
        self.delivery = 0.0

    def put(self, chunks: Iterable[pa.RecordBatch], part: Part = WHOLE) -> None:
        """Hand over rows of `SCHEMA`, and wait until they are taken.

        Raises FlightError, and ShardUnavailable.
        """
        for chunk in chunks:
            self._writer.write_batch(chunk)
        self._bringing.flush()
        self._ask({"part": [*part]})

    def tell(self, error: Unavailable) -> None:
        """Report the fault that the task waits for (raises FlightError)."""
        self._ask({"waits": type(error).__name__, "text": str(error)})

    def greet(self) -> None:
        """Find out whether the task is wanted still (raises FlightError)."""
        self._ask({})

    def _ask(self, message: dict[str, Any]) -> None:
        self._writer.write_metadata(pa.py_buffer(orjson.dumps(message)))
        answer = self._answers.read()
        if answer is None:
            self._writer.close()  # raises why the endpoint ended the call
            raise flight.FlightCancelledError("the endpoint takes nothing more")
        told = orjson.loads(memoryview(answer))
        self.is_wanted, self.delivery = not told["enough"], told["delivery"]

    def close(self) -> None:
        """End the call; every put has been answered, so no error is news.

        The connection is kept for the next task of this process, in place of one to an endpoint
        of before.
        """
        self._bringing.close()
        try:
            self._writer.close()
        except (flight.FlightError, pa.ArrowException):
            self._client.close()
            return
        while _clients:
            _clients.popitem()[1].close()
        _clients[self._location] = self._client


def _connected(address: Address) -> flight.FlightClient:
    """A connection with an endpoint, to which no other certificate is trusted."""
    if (trusted := address.certificate) is None:
        return flight.connect(address.location)
    return flight.connect(address.location, tls_root_certs=trusted, override_hostname=NAME)


class _Server(flight.FlightServerBase):
    def __init__(
        self,
        location: str,
        take: Take,
        hear: Callable[[Unavailable], None],
        delivery: Callable[[], float],
        token: str,
        certificate: Certificate | None,
    ) -> None:
        shown = [(certificate.public, certificate.key)] if certificate is not None else None
        super().__init__(location, tls_certificates=shown)
        self._delivery = delivery
        self._take = take
        self._hear = hear
        self._token = token.encode()
        self.has_enough = False

    def do_put(
        self,
        context: flight.ServerCallContext,
        descriptor: flight.FlightDescriptor,
        reader: flight.MetadataRecordBatchReader,
        writer: flight.FlightMetadataWriter,
    ) -> None:
        if not hmac.compare_digest(descriptor.command or b"", self._token):
            raise flight.FlightUnauthenticatedError("not a task of this service")
        chunks: list[pa.RecordBatch] = []
        for given in reader:
            if given.data is not None:
                chunks.append(given.data)
                continue
            match orjson.loads(memoryview(given.app_metadata or b"{}")):
                case {"part": part}:
                    taken, chunks = chunks, []
                    self._take(Part(*part), taken)
                case {"waits": name, "text": text}:
                    self._hear(getattr(errors, name)(text))
            answer = {"enough": self.has_enough, "delivery": self._delivery()}
            writer.write(pa.py_buffer(orjson.dumps(answer)))
