"""Typed scalar expressions over one row: the trees that `Map` and `Filter` evaluate.

Types are Arrow's. Every argument already has the type that its function wants: whoever builds
an expression inserts the casts. A NULL is a value; unless the table below says otherwise a
function of a NULL is NULL. An expression never raises: a division by zero, an overflow or a bad
cast yields an *error value* that follows the data flow of the expression, so that
`case(eq(b, 0), NULL, divide(a, b))` has no error where `b` is 0.

A quotient of decimals is rounded, half away from zero, to the digits after the point that
PostgreSQL gives it: 16 that count, or as many as an argument has; or to the scale of its type, if
that is less.

Functions (T: any type; N: a number type; the result's type is the call's own `type`):

| name | arguments | result |
| --- | --- | --- |
| add subtract | N, N of the result's type (decimals: of its scale) | N; overflow is an error |
| multiply | N, N; decimals of any scales s1, s2 | N; decimals: rounded half away from zero |
| divide modulo | N, N | N; integers truncate; by zero is an error |
| negate abs | N | N |
| round floor ceil | N | N; `round(x, literal int64)` also |
| add_days | date32, int64 | date32 |
| add_months | date32 or timestamp, int64 | the same, clamped to the month's last day |
| add_micros | timestamp, int64 | timestamp |
| days_between micros_between | date32 pair; timestamp pair: first minus second | an integer |
| eq ne lt le gt ge | T, T of one type | bool |
| is_distinct is_not_distinct | T, T | bool, never NULL |
| is_null is_not_null | T | bool, never NULL |
| and or | bool, two or more | bool, three-valued |
| not | bool | bool |
| case | c1, v1, c2, v2, …, otherwise | value of the first true condition |
| coalesce | T, … | first that is not NULL |
| greatest least | T, … | ignores NULLs |
| cast | any | its type; a bad cast is an error |
| lower upper trim ltrim rtrim | utf8 | utf8 |
| concat | utf8, utf8, … | utf8 |
| length | utf8 | int32, characters |
| substring | utf8, int64 start from 1, int64 length | utf8 |
| replace | utf8, utf8, utf8 | utf8 |
| split_part | utf8, utf8, int64 | utf8 |
| position | utf8 in which, utf8 what | int32, from 1, or 0 |
| starts_with | utf8, utf8 | bool |
| like ilike | utf8, utf8 pattern | bool; a pattern that ends in an escape is an error |
| extract | literal utf8 field, date32 or timestamp | int64; `epoch`, `second`: decimal128 |
| date_trunc | literal utf8 unit, date32 or timestamp | timestamp |

Functions in Python, called row by row with the GIL held for a vector (about 1 µs a row), mean what
PostgreSQL's of these names mean; `ivm.expressions.python` has them by families (*k*: a literal):

| names | arguments |
| --- | --- |
| left right repeat; lpad rpad | utf8, int; and utf8 |
| strip lstrip rstrip; translate | utf8, utf8 characters; utf8, utf8, utf8 |
| reverse initcap ascii md5 quote_literal quote_ident octet_length unistr | utf8 |
| chr to_hex | int |
| normalize; format | utf8, utf8 form; utf8 template, list of utf8 |
| join | utf8, utf8 separator, utf8: the other where one is NULL |
| md5_bytes sha224 … byte_length bit_count; encode bytes_text | binary; binary, utf8 |
| concat_bytes bytes_position strip_bytes …; bytes_part recode | binary, binary; binary, … |
| get_byte get_bit; set_byte set_bit | binary, int; binary, int, int |
| decode text_bytes | utf8, utf8 |
| regexp_like regexp_match regexp_matches regexp_split | utf8, utf8 pattern, utf8 flags |
| regexp_count regexp_substr regexp_instr regexp_replace | as PostgreSQL's, with all arguments |
| regexp_replace_flagged; regexp_substring like_escape similar_escape | utf8, …; utf8, utf8 |
| sqrt cbrt exp ln log10 sign trunc, trigonometry | float64 |
| power atan2 atan2d | float64, float64 |
| sqrt_exact exp_exact ln_exact log10_exact sign_exact; power_exact log_exact quotient | decimals |
| round_to trunc_to; min_scale; gcd_exact lcm_exact | decimal, int; decimal; decimals |
| width_bucket; width_bucket_float; array_bucket | decimals, int; float64s, int; T, list of T |
| gcd lcm bit_and bit_or bit_xor shift_left shift_right; bit_not factorial | ints; int |
| interval_add interval_negate interval_multiply interval_divide justify_… | intervals, float64 |
| interval_span; interval_normal | interval: its span in microseconds; its normal form |
| interval_sum interval_average; interval_percentile | list of interval; and a float64 |
| elapsed age add_interval; add_interval_to_time clock_difference combine | timestamps; times |
| make_date make_time make_interval from_epoch; date_bin | numbers; interval, timestamp, timestamp |
| interval_field clock_field interval_trunc | *k* field, interval or time |
| to_local from_local; to_char to_moment | timestamp, *k* zone; a moment or utf8, *k* template |
| json_member json_item json_path, and each with _text | json, utf8, int64 or list of utf8 |
| json_contains json_has json_has_any json_has_all json_typeof json_array_length | json, … |
| json_concat json_without… json_set json_set_lax json_insert json_strip_nulls | json, … |
| json_pretty | json |
| json_path_array json_path_first json_path_exists json_path_match | json, utf8, json, 2 bools |
| json_path_leads json_path_holds; json_field | json, utf8 path; json, utf8 key |
| json_object; json_object_of | list; list, list |
| json_put json_push to_json | json, utf8, T; json, T; T |
| array_element array_part array_concat array_append array_prepend array_replace | lists |
| array_dims array_ndims; array_fill; trim_array | list; T, list of int; list, int |
| array_flat array_matched | list of lists: its elements; itself, an error where lengths differ |
| array_contains array_overlaps array_position… array_remove array_length cardinality | lists |
| row_of row_put row_field | T; struct, T: a field more; struct, *k* position from 0 |
| any_of all_of | T, list of T, *k* comparison, like or ilike |
| array_to_string array_to_string_all; string_to_array | list, utf8, utf8; utf8, utf8, utf8 |
| series moment_series json_items json_keys json_pairs json_path_items | the sets of FROM as lists |

>>> price = Column(0, pa.int64(), nullable=False)
>>> dear = Call("gt", (price, Literal(100, pa.int64())), pa.bool_(), nullable=False)
>>> dear.arguments[1].nullable
False
"""

from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa

Value = bool | int | float | Decimal | str | bytes | date | time | datetime | UUID | tuple[Any, ...]
"""A constant: a list is a tuple, an interval an `Arrow.MonthDayNano`, which is a tuple."""


@dataclass(frozen=True, slots=True)
class Column:
    """The input row's column at `index`, counted from 0."""

    index: int
    type: pa.DataType
    nullable: bool


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; `None` is the NULL of its type."""

    value: Value | None
    type: pa.DataType

    @property
    def nullable(self) -> bool:
        return self.value is None


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the table above, applied to expressions."""

    function: str
    arguments: tuple["Expression", ...]
    type: pa.DataType
    nullable: bool


Expression = Column | Literal | Call
