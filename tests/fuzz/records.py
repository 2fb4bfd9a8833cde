"""`python -m tests.fuzz.records`: many records, most of them bad, to the decoders of every kind.

Each is decoded in a batch, in a random cut of it, and exactly, with an object for each value.
Nothing may raise; every record is a change, rejected, a tombstone or ignored, and that once; and
neither the cut nor the way makes a difference.
"""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise, zip_longest
from multiprocessing import get_context
from random import Random
from typing import Any

import orjson

from connectors.decode import decode, decode_exactly
from connectors.formats.schemas import Schemas
from connectors.records import Decoded, Records
from connectors.tables.spec import TableSpec
from tests.fuzz.kinds import KINDS, Kind, Record

BATCH = 200
Way = Callable[[Records, TableSpec, Schemas | None], Decoded]

_ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**31, 2**63, 2**64 - 1, 1.5, 1e300, 0.1, "", "x", "NaN", "1e400"),
    *("__debezium_unavailable_value", "\ud7ff\0", "2020-13-01", "-1", [], {}, [[]], [None], "AP8"),
    *(["__debezium_unavailable_value"], {"scale": 2, "value": "AA=="}, "999999999999999.99"),
)
_NAMES = ("id", "name", "op", "before", "after", "payload", "schema", "data", "old", "type", "ts")
_TOKENS = (b"\0", b"\xff", b"[" * 2000, b"null", b"{}", b'"', b",", b"1e999999999", b"\xed\xa0\x80")


@dataclass(slots=True)
class Findings:
    """What went wrong, and how many records became what."""

    faults: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def made(kind: Kind, random: Random) -> Record:
    """A good record of a kind, or one made worse in its bytes, its values or its company."""
    record = random.choice(kind.records)
    draw = random.random()
    if draw < 0.3:
        return record
    if draw < 0.4:
        other = random.choice(random.choice(list(KINDS.values())).records)
        return Record(other.value, random.choice((record.key, other.key)), record.headers)
    spoil = partial(_spoilt, random=random)
    return random.choice(
        (
            lambda: Record(spoil(record.value), record.key, record.headers),
            lambda: Record(spoil(record.value), record.key, record.headers),
            lambda: Record(record.value, spoil(record.key), record.headers),
            lambda: Record(record.value, record.key, _spoilt_headers(record, random)),
        )
    )()


def judge(name: str, seed: int, batch: int) -> Findings:
    """Decode batch number `batch` of a run."""
    kind, random = KINDS[name], Random(f"{name} {seed} {batch}")
    found = Findings()
    records = [made(kind, random) for _ in range(BATCH)]
    cuts = sorted(random.sample(range(1, BATCH), random.randrange(1, 8)))
    try:
        whole = decoded(kind, records, 0)
        parts = [decoded(kind, records[a:b], a) for a, b in pairwise([0, *cuts, BATCH])]
        exact = decoded(kind, records, 0, decode_exactly)
    except Exception as error:
        found.faults.append(f"{name}, batch {batch} of seed {seed}: raised {error!r}"[:500])
        return found
    applied = set(whole.offsets.tolist())
    rejected = [record.offset for record in whole.rejected]
    found.counts.update(
        changed=len(applied),
        rejected=len(rejected),
        tombstones=whole.tombstones,
        ignored=whole.ignored,
    )
    if (
        found.counts.total() != BATCH
        or applied & set(rejected)
        or len(set(rejected)) < len(rejected)
    ):
        found.faults.append(f"{name}, batch {batch} of seed {seed}: {dict(found.counts)}")
    for way, others in (("cut", parts), ("exactly", [exact])):
        for one, other in zip_longest(outcome([whole]), outcome(others)):
            if repr(one) != repr(other):  # NaN is like NaN
                found.faults.append(
                    f"{name}, batch {batch} of seed {seed}, {way}: {one} != {other}"
                )
                break
    return found


def decoded(kind: Kind, records: list[Record], first: int, way: Way = decode) -> Decoded:
    """What `records`, from offset `first` on, are decoded to."""
    columns = Records(
        [record.value for record in records],
        range(first, first + len(records)),
        0,
        [record.key for record in records],
        list(range(len(records))),
        [record.headers for record in records],
    )
    return way(columns, kind.table, kind.writers)


def outcome(parts: list[Decoded]) -> Iterator[Any]:
    """All that decoding says, but for the records' timestamps, in the order of offsets."""
    for part in parts:
        count = len(part.diffs)
        yield from zip(
            part.offsets.tolist(),
            part.diffs.tolist(),
            part.rows.to_pylist(),
            part.order.tolist() if part.order is not None else [[0, 0]] * count,
            part.missing or [()] * count,
            part.transactions or [None] * count,
            strict=True,
        )
    for part in parts:
        yield from ((r.offset, r.reason, r.message, r.value, r.key) for r in part.rejected)
    yield sum(part.tombstones for part in parts), sum(part.ignored for part in parts)


def _spoilt(content: bytes | None, random: Random) -> bytes | None:
    if content is None or random.random() < 0.02:
        return random.choice((None, b"", b"{}", b"0"))
    if random.random() < 0.6:
        try:
            return orjson.dumps(_changed(orjson.loads(content), random))
        except orjson.JSONDecodeError:
            pass
    place = random.randrange(len(content) + 1)
    stop = place + random.randrange(8)
    return random.choice(
        (
            content[:place],
            content + random.choice(_TOKENS),
            content[:place] + random.choice(_TOKENS) + content[stop:],
            content[:place] + random.randbytes(random.randrange(4)) + content[stop:],
            content[:place] + content[stop:],
        )
    )


def _changed(value: Any, random: Random) -> Any:
    """A document with one value changed, renamed or left out."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        name = random.choice(list(value))
        draw = random.random()
        if draw < 0.1:
            return {n: v for n, v in value.items() if n != name}
        if draw < 0.2:
            return {(random.choice(_NAMES) if n == name else n): v for n, v in value.items()}
        return {**value, name: _changed(value[name], random)}
    if isinstance(value, list) and value and random.random() < 0.7:
        place = random.randrange(len(value))
        return [_changed(v, random) if i == place else v for i, v in enumerate(value)]
    return random.choice(_ODD)


def _spoilt_headers(record: Record, random: Random) -> Any:
    name = random.choice(("apicurio.value.globalId", "__value_schema_id", "__key_schema_id", "x"))
    content = random.choice((None, b"", b"\0\0\0\0\1", b"\1" * 17, (7).to_bytes(8, "big")))
    return [*(record.headers or ()), (name, content)]


def main() -> int:
    """1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.records", description=__doc__)
    parser.add_argument("--records", type=int, default=100_000, help="how many, of all kinds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    batches = -(-given.records // (BATCH * len(KINDS)))
    counts: Counter[str] = Counter()
    faults: list[str] = []
    started = time.monotonic()
    with ProcessPoolExecutor(given.jobs, get_context("spawn")) as pool:
        for name in KINDS:
            for found in pool.map(partial(judge, name, given.seed), range(batches), chunksize=20):
                counts += found.counts
                faults += found.faults
    for fault in faults[:20]:
        print(fault)
    total, seconds = batches * BATCH * len(KINDS), time.monotonic() - started
    print(f"{total} records in {seconds:.0f} s: {dict(counts)}, {len(faults)} faults")
    return min(len(faults), 1)


if __name__ == "__main__":
    sys.exit(main())
