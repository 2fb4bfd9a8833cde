"""Positions of Debezium changes in their database's log: they tell old records from new ones.

| source | first number | second number |
| --- | --- | --- |
| PostgreSQL, `sequence` | the last commit before the change | the change |
| MySQL without GTIDs, `file` and `pos` | the file's number | the position in it |

Within a partition the pairs never go back, unless a connector repeats itself after a restart. A
PostgreSQL `lsn` alone is no such position, since transactions that overlap are written one after
the other; with GTIDs, another server with other files may go on. Rows read by a snapshot have none:
they are as new as the moment they were read.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_UNKNOWN = '["0","0"]'
# Before the first commit that a connector sees; the change itself lies between the commits.
_FIRST = r'^\[null,"(\d+)"\]$'


def positions(envelopes: Sequence[Any]) -> NDArray[np.uint64] | None:
    """The two numbers of each envelope, 0 and 0 where they are unknown; None if all are."""
    try:
        # As almost all are where any is, which saves a look at each.
        sequences = [
            _UNKNOWN if envelope["op"] == "r" else envelope["source"]["sequence"]
            for envelope in envelopes
        ]
        order = _pairs(sequences)
    except (KeyError, TypeError, ValueError):
        order = _one_by_one(envelopes)
    return order if order.any() else None


def _one_by_one(envelopes: Sequence[Any]) -> NDArray[np.uint64]:
    sources = [e.get("source") if type(e) is dict else None for e in envelopes]
    if not any(type(s) is dict and ("sequence" in s or "file" in s) for s in sources):
        return np.zeros((0, 2), np.uint64)
    found = [
        _position(source) if type(source) is dict and envelope.get("op") != "r" else (0, 0)
        for envelope, source in zip(envelopes, sources, strict=True)
    ]
    return np.array(found, np.uint64)


def _pairs(sequences: list[Any]) -> NDArray[np.uint64]:
    """The numbers in texts as `["1","2"]` (raises TypeError, ValueError)."""
    texts: Any = pa.array(sequences, pa.string())
    if texts.null_count:
        raise ValueError("not a text")
    texts = pc.replace_substring_regex(texts, _FIRST, r'["\1","\1"]')
    numbers: Any = pc.split_pattern(pc.ascii_trim(texts, '[]"'), '","')
    lengths: NDArray[np.int32] = pc.list_value_length(numbers).to_numpy(zero_copy_only=False)
    if (lengths != 2).any():
        raise ValueError("not two numbers")
    flat: NDArray[np.uint64] = numbers.flatten().cast(pa.uint64()).to_numpy()
    return flat.reshape(-1, 2)


def transactions(envelopes: Sequence[Any]) -> list[str | None] | None:
    """The id of each envelope's transaction; None if none has any."""
    blocks = [e.get("transaction") if type(e) is dict else None for e in envelopes]
    found = [_text(block.get("id")) if type(block) is dict else None for block in blocks]
    return found if any(found) else None


def _text(value: Any) -> str | None:
    return value if type(value) is str else None


def _position(source: dict[str, Any]) -> tuple[int, int]:
    sequence = source.get("sequence")
    if type(sequence) is str:
        try:
            first, second = _pairs([sequence])[0].tolist()
        except ValueError:
            return 0, 0
        return first, second
    if source.get("gtid") is not None:
        return 0, 0
    return of_log(source.get("file"), source.get("pos"))


def of_log(file: Any, pos: Any) -> tuple[int, int]:
    """The numbers of a place in a MySQL log: those of the file and in it."""
    digits = file.rpartition(".")[2] if type(file) is str else ""
    if type(pos) is not int or not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        return 0, 0
    return _usable(int(digits), pos)


def _usable(first: int, second: int) -> tuple[int, int]:
    return (first, second) if 0 <= first < 2**64 and 0 <= second < 2**64 else (0, 0)
