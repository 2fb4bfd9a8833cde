"""The contract of a sink of deltas, and the values that it is given.

A sink takes the deltas of a completed time once. `prepare` begins to make them durable, `commit`
makes them count; a sink that `has` a time already is given the deltas of a replay with `skip`
instead, so each sink publishes exactly those that it lacks. So the caller decides nothing between
two sinks that were left at different times.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from connectors.errors import InvalidSink, KeyNotUnique
from connectors.health import PartFault
from connectors.offsets import Offsets
from connectors.progress.batches import Range
from connectors.sinks.target import KafkaTarget


class Changes(Protocol):
    """Deltas of one view as the pool drains them (`ivm.results.Deltas`)."""

    @property
    def rows(self) -> pa.RecordBatch: ...
    @property
    def times(self) -> NDArray[np.uint64]: ...
    @property
    def diffs(self) -> NDArray[np.int64]: ...
    @property
    def errors(self) -> pa.RecordBatch: ...
    @property
    def error_times(self) -> NDArray[np.uint64]: ...
    @property
    def error_diffs(self) -> NDArray[np.int64]: ...


@dataclass(frozen=True, slots=True)
class Output:
    """A view as its sinks know it.

    `is_unique`: no two rows have the same values in the columns of `key`. `plan` tells one
    definition from another. `target` is where its changes go besides its file topic. `next_plan` is
    that of a definition which the view was about to get when the service ended. `published` is the
    name under which sinks know it, if it was renamed. `sources` are those that it reads, itself or
    through other views; None where that is not known.
    """

    name: str
    schema: pa.Schema
    key: tuple[str, ...]
    is_unique: bool
    plan: str
    target: KafkaTarget | None = None
    next_plan: str | None = None
    published: str | None = None
    sources: frozenset[str] | None = None

    @property
    def as_published(self) -> "Output":
        """The output under the name that sinks know."""
        return replace(self, name=self.published or self.name)

    def check(self) -> None:
        """Raise InvalidSink for headers that are no columns, or KeyNotUnique.

        That is raised if the target needs a key that is unique, and it is not known to be. It is
        known of columns that a query groups by or takes DISTINCT, and of a table's primary key or a
        view's, as far as the query keeps it.
        """
        if self.target is None:
            return
        if missing := [name for name in self.target.headers if name not in self.schema.names]:
            raise InvalidSink(
                f"view {self.name!r}: headers: it has no column {', '.join(missing)}; its columns "
                f"are {', '.join(self.schema.names)}"
            )
        if self.target.envelope == "delta" or self.is_unique:
            return
        raise KeyNotUnique(
            f"view {self.name!r}: envelope {self.target.envelope!r} keeps one row per key, and two "
            f"rows may have the same {', '.join(self.key)}; give a `key` that is unique, group by "
            "it, or use envelope 'delta'"
        )


@dataclass(frozen=True, slots=True)
class Reached:
    """A completed time, given at `moment` (microseconds since the epoch).

    All deltas up to it reflect the input records before `offsets`; those of the time itself come
    from the records in `ranges`.
    """

    time: int
    moment: int
    offsets: Offsets
    ranges: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True)
class Redefined:
    """A view that has another definition from a time on: `output`, and what that changes.

    `gone` are the rows that it takes back in the columns of the former definition; None where its
    columns and its key stay, and `come` is all of the difference.
    """

    output: Output
    gone: Changes | None
    come: Changes

    @property
    def parts(self) -> Sequence[Changes]:
        """The changes in the order in which they are published."""
        return (self.come,) if self.gone is None else (self.gone, self.come)


class Sink(Protocol):
    """Publishes the deltas of views; one thread at a time writes.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from connectors.progress.journal import Journal
    >>> from connectors.sinks.deltas import DeltaSink
    >>> from ivm.results import Deltas
    >>> view = pa.schema([("customer", pa.int64()), ("n", pa.int64())])
    >>> none, at = pa.record_batch({"error": pa.array([], pa.string())}), np.array([3], np.uint64)
    >>> row = pa.record_batch([[7], [2]], schema=view)
    >>> deltas = Deltas(row, at, np.array([1]), none, at[:0], np.array([], np.int64))
    >>> with TemporaryDirectory() as directory:
    ...     journal = Journal(Path(directory, "journal"))
    ...     journal.prepare(3, (), moment=0)
    ...     sink: Sink = DeltaSink(Path(directory), journal)
    ...     sink.open(Output("counts", view, ("customer",), is_unique=True, plan="1"))
    ...     sink.write("counts", deltas, Reached(3, 0, Offsets()))
    ...     before = sink.has("counts", 3)
    ...     sink.prepare(Reached(3, 0, Offsets()))
    ...     sink.commit(Reached(3, 0, Offsets()))
    ...     print(before, sink.has("counts", 3))
    ...     sink.close()
    ...     journal.close()
    False True
    """

    def open(self, output: Output) -> None:
        """Publish a new view, from its snapshot on, which is written next."""

    def restore(self, output: Output) -> None:
        """Go on with a view where the last commit left it."""

    def has(self, view: str, time: int) -> bool:
        """Whether the deltas of `view` at `time` are committed."""

    def write(self, view: str, changes: Changes, reached: Reached) -> None:
        """Take the deltas of `view` since the last call, up to `reached`."""

    def skip(self, view: str, changes: Changes) -> None:
        """Note deltas that are committed and come again."""

    def expect(self, output: Output) -> None:
        """See that a view can go on as `output`; nothing has changed (raises as `open`)."""

    def redefine(self, redefined: Redefined, reached: Reached) -> None:
        """Take the difference of a view that is redefined, or skip it if it is committed."""

    def prepare(self, reached: Reached) -> None:
        """Begin to make the written deltas durable, up to `reached`; they do not count yet."""

    def commit(self, reached: Reached) -> None:
        """Let the written deltas count, each once, which are durable by then.

        Those committed already are left alone.
        """

    def tend(self, reached: Reached) -> bool:
        """Publish what had to wait, if it can be; called from time to time.

        `reached` is the last time that was published. The answer is whether readers find more now.
        What cannot be published at present is left for the next call, not waited for.
        """

    def faults(self) -> Sequence[PartFault]:
        """The faults that keep deltas from being published at present; on any thread."""

    def expect_answers(self) -> None:
        """See that deltas can be published at once, as far as is known (raises BrokerFault)."""

    def drop(self, view: str) -> None:
        """Publish nothing more of `view`, whether it was opened or not."""

    def close(self) -> None:
        """Release everything."""
