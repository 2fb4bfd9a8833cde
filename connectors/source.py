"""The contract of a source: the records of one partition, a batch at a time.

After bytewax's sources, without their commit: which records were taken in is kept by the journal
alone, so that a source has nothing to remember, and any position may be asked for again.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Protocol

from connectors.records import Records

# How many records are held at a time.
BLOCK = 8_192


class Source(Protocol):
    """The records of one partition of a topic, from an offset up to an end.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from connectors.files.source import FileSource
    >>> from connectors.files.writer import TopicWriter
    >>> with TemporaryDirectory() as root, closing(TopicWriter(Path(root), "orders")) as topic:
    ...     _ = topic.append([b"one", b"two", b"three"])
    ...     with closing(FileSource(Path(root), "orders", 0, first=1, end=3)) as source:
    ...         records = source.next_batch()
    ...         print(list(records.offsets), list(records.values), source.position)
    ...         print(source.next_batch())
    [1, 2] [b'two', b'three'] 3
    None

    `position` is the offset after the last record given, or else where it begins; a source opened
    there gives the rest. All of it is used on one thread, that which opens it.
    """

    position: int

    def next_batch(self) -> Records | None:
        """The next records, at most `BLOCK`, in the order of offsets; None after the last ones.

        Raises TopicTruncated or RecordsLost where the topic does not hold the position any more,
        and BrokerFault where no broker answers in time. After that, the source can only be closed.
        """

    def close(self) -> None:
        """Let go of files and connections; raises nothing, and may be called again."""


# (topic, partition, first, end) -> its records; raises as `Source.next_batch` does.
OpenTopic = Callable[[str, int, int, int], Source]


def batches(
    opened: OpenTopic, topic: str, partition: int, first: int, end: int
) -> Iterator[Records]:
    """The records `[first, end)` that a partition holds, some at a time; raises as `Source` does.

    The source is opened when the first are asked for.
    """
    with closing(opened(topic, partition, first, end)) as source:
        while (records := source.next_batch()) is not None:
            yield records
