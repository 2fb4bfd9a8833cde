"""The relay of a task of real-time mode: decodes records as they come, and puts them to the pool.

A batch is as small as the load allows, and larger where that is more than the processor takes:
what comes while a batch is put, or while its task rests, is in the next one.
"""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from math import inf

import pyarrow as pa

from connectors.errors import Unavailable
from connectors.records import Records
from connectors.source import BLOCK
from connectors.spark.endpoint import Putter

# What has come of each partition within so many seconds, with its topic: `Follower.read`.
Read = Callable[[float], Sequence[tuple[str, Records]]]
Decode = Callable[[str, Records], Iterator[pa.RecordBatch]]

# How long one look for records lasts, in seconds.
_LOOK = 0.25
# A task rests after each batch for so many seconds, for that part of what a delivery takes, since
# what waits is delivered together, and so that it takes no more of a processor. After a full batch
# it does not: there is more already.
_REST, _OF_DELIVERY, _SHARE = 0.005, 0.3, 0.2
# Decoding makes many objects and no cycles: Python looks for cycles among so many at least.
_OBJECTS = 200_000
# How long to wait before asking again what was out of reach, in seconds.
_PAUSE = 1.0


def relay(read: Read, decode: Decode, putter: Putter, most_full: float = inf) -> None:
    """Put all that comes, until the endpoint has enough.

    It ends, too, after `most_full` full batches in a row: more comes then than is put. Raises
    FlightError where the endpoint takes nothing more, and what `read` and `decode` raise.
    """
    gc.set_threshold(_OBJECTS)
    putter.put(())  # so that it is known that the task runs
    full = 0
    while putter.is_wanted and full < most_full:
        came = read(_LOOK)
        if not came:
            putter.greet()
            continue
        busy = time.thread_time()
        putter.put(chunk for topic, records in came for chunk in decode(topic, records))
        if sum(len(records.offsets) for _, records in came) >= BLOCK:
            full += 1
        else:
            full = 0
            spent = time.thread_time() - busy
            time.sleep(max(_REST, spent * (1 / _SHARE - 1), putter.delivery * _OF_DELIVERY))


def patient(decode: Decode, putter: Putter) -> Decode:
    """`decode`, which waits for a registry that is out of reach, and tells of it, while wanted."""

    def decoded(topic: str, records: Records) -> Iterator[pa.RecordBatch]:
        while True:
            try:
                chunks = list(decode(topic, records))
                break
            except Unavailable as error:
                if not putter.is_wanted:
                    raise
                putter.tell(error)
                time.sleep(_PAUSE)
        yield from chunks

    return decoded
