"""Interned strings: words stand for contents."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ivm.rows.codec import round_trip
from ivm.rows.interner import Interner, word_of
from ivm.rows.shims import content_hash_of, content_of, keep_only, order_of
from tests.unit.rows.values import batch_of, schema_of

CONTENTS = st.binary(max_size=20) | st.lists(st.sampled_from([b"a", b"b", b"\0", b"\xff"])).map(
    b"".join
)


@given(CONTENTS)
def test_a_word_gives_back_its_content(content: bytes) -> None:
    interner = Interner()
    assert content_of(interner, word_of(interner, content)) == content


@given(CONTENTS, CONTENTS)
def test_words_are_equal_exactly_where_contents_are(a: bytes, b: bytes) -> None:
    interner = Interner()
    assert (word_of(interner, a) == word_of(interner, b)) == (a == b)


@given(CONTENTS, CONTENTS)
def test_order_is_that_of_the_contents(a: bytes, b: bytes) -> None:
    interner = Interner()
    order = order_of(interner, word_of(interner, a), word_of(interner, b))
    assert (order > 0) - (order < 0) == (a > b) - (a < b)


@given(st.lists(st.binary(max_size=7), min_size=2))
def test_words_of_short_strings_order_as_numbers(contents: list[bytes]) -> None:
    interner = Interner()
    words = [word_of(interner, c) for c in sorted(contents)]
    assert all(a <= b for a, b in pairwise(words))


def test_hashes_are_equal_in_every_process() -> None:
    contents = [b"", b"short", b"seven77", b"eight888", b"a much longer content"]
    program = (
        "from ivm.rows.shims import content_hash_of;"
        "from ivm.rows.interner import Interner, word_of;"
        "i = Interner(); word_of(i, b'something else first');"
        f"print([content_hash_of(i, word_of(i, c)) for c in {contents}])"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    there = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    interner = Interner()
    here = [content_hash_of(interner, word_of(interner, c)) for c in contents]
    assert there.stdout.strip() == str(here)


def test_a_sweep_keeps_what_is_in_use() -> None:
    interner = Interner()
    contents = [f"string number {i}".encode() for i in range(5000)]
    words = [word_of(interner, c) for c in contents]
    keep_only(interner, words[::2])
    assert interner.count == 2500
    assert [content_of(interner, w) for w in words[::2]] == contents[::2]


def test_swept_strings_give_their_memory_back() -> None:
    interner = Interner()
    for round_ in range(20):
        for i in range(500):
            word_of(interner, f"round {round_}, string {i}".encode())
        keep_only(interner, [])
        if round_ == 0:
            after_first = interner.bytes
    assert interner.count == 0
    assert interner.bytes == after_first


def test_a_string_after_a_sweep_is_found_again_by_its_word() -> None:
    interner = Interner()
    kept = word_of(interner, b"this one stays")
    word_of(interner, b"this one goes away")
    keep_only(interner, [kept])
    word_of(interner, b"this one is new here")
    assert word_of(interner, b"this one stays") == kept


def test_contents_that_repeat_in_a_column_are_told_from_those_that_resemble_them() -> None:
    texts = [f"begin...{i % 7}{'.' * (i % 3)}{i % 5}...ends" for i in range(1000)]
    interner = Interner()
    batch = batch_of(schema_of(("s", pa.string(), True)), texts)
    assert round_trip(batch, batch.schema, interner) == batch
    assert interner.count == len(set(texts))


def test_a_sweep_without_unused_strings_changes_no_word() -> None:
    interner = Interner()
    contents = [f"string number {i}".encode() for i in range(5000)]
    words = [word_of(interner, c) for c in contents]
    keep_only(interner, words)
    assert [word_of(interner, c) for c in contents] == words


def test_threads_agree_on_the_words_of_the_same_strings() -> None:
    interner = Interner()
    texts = [f"a string that threads share, number {i}" for i in range(20_000)]
    batches = [
        batch_of(schema_of(("s", pa.string(), True)), texts[k:] + texts[:k]) for k in (0, 999)
    ]

    def encode(batch: pa.RecordBatch) -> pa.RecordBatch:
        return round_trip(batch, batch.schema, interner)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(encode, batches * 4)) == batches * 4
    assert interner.count == len(texts)
