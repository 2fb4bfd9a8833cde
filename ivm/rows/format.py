"""Row formats place each column among the words of a row.

Two formats are used. A *row* has NULL masks first, then each column's words: columns are taken 64
at a time, and of each 64 in which one is nullable there is a mask, with a bit for each. An
*ordered* row compares, as words, like an ORDER BY: each nullable column has a flag word before its
own words, and a descending column's words are complemented. Only strings longer than seven bytes do
not order by their words.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import pyarrow as pa

from ivm.errors import Unsupported
from ivm.values.types import INTERVAL, JSON, UUID

MASK_BITS = 64
MAX_WORDS = 2000
"""Words of a row, of which sorting keeps one on the stack."""


@dataclass(frozen=True, slots=True)
class Place:
    """One column: `words` words from `word` on, complemented if `flipped`.

    Its NULL is bit `null_bit` of word `null_word`, or, where `null_bit` is -1, that whole word:
    1 for NULL, or 0 if `null_flipped`. A column that is never NULL has `null_word` -1. The first
    bytes of a string are in word `prefix`, complemented like the string's, unless that is -1.
    """

    word: int
    words: int
    null_word: int = -1
    null_bit: int = -1
    null_flipped: bool = False
    flipped: bool = False
    prefix: int = -1


@dataclass(frozen=True, slots=True)
class Format:
    """`words` words in all; `places[i]` is column i."""

    words: int
    places: tuple[Place, ...]


def words_of(type_: pa.DataType) -> int:
    """Count the words of a value of this type: one, or two of decimals and UUIDs."""
    return 2 if pa.types.is_decimal(type_) or type_ == UUID else 1


def row_format(schema: Iterable[pa.Field]) -> Format:
    """Lay out rows in motion and at rest (raises Unsupported for too many columns)."""
    return _row_format(tuple((words_of(f.type), f.nullable) for f in schema))


@lru_cache
def _row_format(columns: tuple[tuple[int, bool], ...]) -> Format:
    """Lay out columns of so many words, each with or without NULLs."""
    masks = list(dict.fromkeys(i // MASK_BITS for i, (_, null) in enumerate(columns) if null))
    word = len(masks)
    places = []
    for i, (words, nullable) in enumerate(columns):
        mask = (masks.index(i // MASK_BITS), i % MASK_BITS) if nullable else (-1, -1)
        places.append(Place(word, words, *mask))
        word += words
    if word > MAX_WORDS:
        raise Unsupported(
            f"a row of {word:,} words: at most {MAX_WORDS:,} fit (a decimal or UUID takes two); "
            "declare or select fewer columns"
        )
    return Format(word, tuple(places))


def is_interned(type_: pa.DataType) -> bool:
    """Tell whether words of this type are those of strings, which need the interner.

    Lists, structs, documents and intervals are strings too.
    """
    plain = pa.types.is_string(type_) or pa.types.is_binary(type_) or pa.types.is_list(type_)
    return plain or pa.types.is_struct(type_) or type_ in (JSON, INTERVAL)


def ordered_format(
    fields: Sequence[pa.Field],
    descending: Sequence[bool],
    nulls_first: Sequence[bool],
    *,
    prefixed: bool = False,
) -> Format:
    """Lay out rows that compare, as words, like an ORDER BY of these columns.

    `prefixed` puts the first bytes of the first column of strings before it.
    """
    word = 0
    places = []
    for f, down, first in zip(fields, descending, nulls_first, strict=True):
        null_word, prefix = -1, -1
        if f.nullable:
            null_word = word
            word += 1
        if prefixed and is_interned(f.type):
            prefix = word
            word += 1
            prefixed = False
        words = words_of(f.type)
        places.append(Place(word, words, null_word, -1, f.nullable and first, down, prefix))
        word += words
    return Format(word, tuple(places))


def string_words(types: Sequence[pa.DataType], form: Format) -> tuple[tuple[int, bool], ...]:
    """List the words of `form` that hold strings, and whether each is complemented."""
    return tuple(
        (place.word, place.flipped)
        for type_, place in zip(types, form.places, strict=True)
        if is_interned(type_)
    )


def followed_by(first: Format, second: Format) -> Format:
    """Append the second format's words to the first's."""
    shifted = tuple(
        replace(
            p,
            word=p.word + first.words,
            null_word=p.null_word + first.words if p.null_word >= 0 else -1,
            prefix=p.prefix + first.words if p.prefix >= 0 else -1,
        )
        for p in second.places
    )
    return Format(first.words + second.words, first.places + shifted)
