"""Functions of arrays, whose positions count from 1, and the texts of arrays: `{1,2}`."""

import math
from bisect import bisect_right
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pyarrow as pa

from ivm.dataflow.expressions import Call
from ivm.expressions.families import family
from ivm.expressions.kernels.text import like_text
from ivm.expressions.python.forms import reader, writer
from ivm.expressions.python.script import Script, constant
from ivm.values import letter_case
from ivm.values.documents import canonical, order_key, parse
from ivm.values.intervals import span
from ivm.values.types import JSON

Elements = list[Any]
_QUOTED_IN_ROWS = frozenset('(),"\\ \t\n\r\v\f')
_MOST_FILLED = 1_000_000  # elements
_QUOTED = frozenset('{},"\\ \t\n\r\v\f')


def keyed(type_: pa.DataType) -> Callable[[Any], Any]:
    """Make the function from a value to a key that compares as PostgreSQL compares the values."""
    name = family(type_)
    if name == "float":
        return lambda value: (math.isnan(value), 0.0 if math.isnan(value) else value)
    if name == "interval":
        return span
    if name == "json":
        return lambda text: order_key(parse(text))
    if isinstance(type_, pa.ListType):
        element = keyed(type_.value_type)
        return lambda values: [(v is None, None if v is None else element(v)) for v in values]
    if isinstance(type_, pa.StructType):
        keys = [keyed(field.type) for field in type_]
        return lambda values: [
            (v is None, None if v is None else key(v)) for key, v in zip(keys, values, strict=True)
        ]
    return lambda value: value


def _element_of(call: Call) -> pa.DataType:
    """Give the type of the elements of the first argument."""
    type_ = call.arguments[0].type
    assert isinstance(type_, pa.ListType)
    element: pa.DataType = type_.value_type
    return element


def element_writer(type_: pa.DataType) -> Callable[[Any], str]:
    """Make the writer of an array's elements: as `writer`, but with t and f for booleans."""
    if isinstance(type_, pa.ListType):
        return array_writer(type_)
    if isinstance(type_, pa.StructType):
        return row_writer(type_)
    if pa.types.is_boolean(type_):
        return lambda value: "t" if value else "f"
    return writer(type_)


def array_writer(type_: pa.ListType) -> Callable[[Elements], str]:
    """Make the function that writes an array as `{1,2}`."""
    write = element_writer(type_.value_type)
    nested = isinstance(type_.value_type, pa.ListType)

    def element(value: Any) -> str:
        if value is None:
            return "NULL"
        text = write(value)
        return text if nested else _quoted(text)

    return lambda values: "{" + ",".join(map(element, values)) + "}"


def row_writer(type_: pa.StructType) -> Callable[[Elements], str]:
    """Make the function that writes a row, the list of its fields, as `(1,x)`; NULL is nothing."""
    writers = [element_writer(field.type) for field in type_]

    def write(values: Elements) -> str:
        fields = zip(writers, values, strict=True)
        return "(" + ",".join("" if v is None else _field(w(v)) for w, v in fields) + ")"

    return write


def _field(text: str) -> str:
    if text and not _QUOTED_IN_ROWS.intersection(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '""') + '"'


def _quoted(text: str) -> str:
    if text and text.upper() != "NULL" and not _QUOTED.intersection(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def array_reader(type_: pa.ListType) -> Callable[[str], Elements]:
    """Make the function that reads an array's text; that raises ValueError."""
    element = type_.value_type
    nested = isinstance(element, pa.ListType)
    read = _reader(element)

    def value(part: str | None) -> Any:
        return None if part is None else read(part)

    def parse(text: str) -> Elements:
        values = [value(part) for part in _parts(text.strip(), nested)]
        if [] in values:
            raise ValueError(text)
        return _matched(values) if nested else values

    return parse


def _parts(text: str, nested: bool) -> list[str | None]:
    """Split an array's text into the texts of its elements, None for NULL."""
    if len(text) < 2 or text[0] != "{" or text[-1] != "}":
        raise ValueError(text)
    if not text[1:-1].strip():
        return []
    parts: list[str | None] = []
    at = 1
    while True:
        part, at = _nested(text, at) if nested else _part(text, at)
        parts.append(part)
        if at == len(text) - 1:
            return parts
        if text[at] != ",":
            raise ValueError(text)
        at += 1


def _nested(text: str, at: int) -> tuple[str, int]:
    """Cut out the inner array at `at`; gives its end too."""
    start = at = len(text) - len(text[at:].lstrip())
    depth = quoted = 0
    while at < len(text) - 1:
        c = text[at]
        if c == "\\":
            at += 1
        elif c == '"':
            quoted ^= 1
        elif not quoted:
            depth += (c == "{") - (c == "}")
        at += 1
        if depth == 0:
            return text[start:at], at
    raise ValueError(text)


def _part(text: str, at: int) -> tuple[str | None, int]:
    """Cut out the element at `at`; gives its end too."""
    out: list[str] = []
    quoted = was_quoted = False
    while at < len(text) - 1 or quoted:
        if at >= len(text) - 1:
            raise ValueError(text)
        c = text[at]
        if c == '"':
            if not quoted and "".join(out).strip():
                raise ValueError(text)
            out = out if quoted else []
            quoted, was_quoted = not quoted, True
        elif c == "," and not quoted:
            break
        elif c in "{}" and not quoted:
            raise ValueError(text)
        elif not (was_quoted and not quoted and c.isspace()):
            at += c == "\\"
            out.append(text[at])
        at += 1
    part = "".join(out)
    if was_quoted:
        return part, at
    part = part.strip()
    if not part:
        raise ValueError(text)
    return None if part.upper() == "NULL" else part, at


def converter(source: pa.ListType, target: pa.ListType) -> Callable[[Elements], Elements]:
    """Make the function that casts an array's elements."""
    convert = _converter(source.value_type, target.value_type)
    return lambda values: [None if v is None else convert(v) for v in values]


def _converter(source: pa.DataType, target: pa.DataType) -> Callable[[Any], Any]:
    """Make the function that casts one element."""
    if isinstance(source, pa.ListType) and isinstance(target, pa.ListType):
        return converter(source, target)
    given, wanted = family(source), family(target)
    if wanted in ("signed", "unsigned") and given == "decimal":
        return lambda value: int(value.to_integral_value(ROUND_HALF_UP))
    if wanted in ("signed", "unsigned") and given == "float":
        return round
    if wanted == "decimal" and given in ("signed", "unsigned", "decimal"):
        return Decimal
    if wanted == "decimal" and given == "float":
        return lambda value: Decimal(f"{value:.15g}")
    if wanted == "float" and given != "text":
        return float
    read = _reader(target)
    nested = isinstance(source, pa.ListType | pa.StructType)
    write = element_writer(source) if nested else writer(source)
    return lambda value: read(write(value))


def _reader(type_: pa.DataType) -> Callable[[str], Any]:
    if isinstance(type_, pa.ListType):
        return array_reader(type_)
    return canonical if type_ == JSON else reader(type_)


def element(values: Elements, position: int) -> Any:
    """Give the element at a position, or NULL beyond the ends."""
    return values[position - 1] if 1 <= position <= len(values) else None


def part(values: Elements, bounds: Elements) -> Elements | None:
    """Cut a slice: `bounds` are a first and a last position for each of some dimensions."""
    if None in bounds:
        return None
    first, last, *inner = bounds
    cut = values[max(first - 1, 0) : max(last, 0)]
    if not inner:
        return cut
    parts = [v if v is None else part(v, inner) for v in cut]
    return parts if any(parts) else []


def _fill(call: Call) -> Callable[[Any, list[int | None] | None], Elements]:
    """`array_fill(value, lengths)`, of as many dimensions as the call's type."""
    wanted = 0
    kind = call.type
    while isinstance(kind, pa.ListType):
        kind, wanted = kind.value_type, wanted + 1

    def fill(value: Any, lengths: list[int | None] | None) -> Elements:
        sizes = [n for n in lengths or () if n is not None]
        if lengths is None or len(sizes) != len(lengths) or min(sizes, default=0) < 0:
            raise ValueError(lengths)
        if math.prod(sizes) > _MOST_FILLED:
            raise OverflowError
        if not math.prod(sizes) or not sizes:
            return []
        if len(sizes) != wanted:
            raise ValueError(lengths)
        for size in reversed(sizes):
            value = [value] * size
        whole: Elements = value
        return whole

    return fill


def _trim(values: Elements, n: int) -> Elements:
    """`trim_array(array, n)`: without the last `n` elements."""
    if not 0 <= n <= len(values):
        raise ValueError(n)
    return values[: len(values) - n]


def _dimensions(values: Elements) -> str | None:
    """`array_dims`."""
    return "".join(f"[1:{n}]" for n in _lengths(values)) if values else None


def _bucket(call: Call) -> Callable[[Any, Elements], int]:
    """`width_bucket(value, thresholds)`: the number of thresholds up to the value."""
    key = keyed(call.arguments[0].type)

    def bucket(value: Any, thresholds: Elements) -> int:
        if None in thresholds:
            raise ValueError(thresholds)
        return bisect_right([key(t) for t in thresholds], key(value))

    return bucket


def _concat(a: Elements | None, b: Elements | None) -> Elements | None:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _append(values: Elements | None, value: Any) -> Elements:
    return [*(values or ()), value]


def _prepend(value: Any, values: Elements | None) -> Elements:
    return [value, *(values or ())]


def _contains(call: Call) -> Callable[[Elements, Elements], bool]:
    """Make the test that each element of the second is in the first; NULL is in none."""
    key = keyed(_element_of(call))

    def contains(whole: Elements, wanted: Elements) -> bool:
        known = [key(v) for v in whole if v is not None]
        return all(v is not None and key(v) in known for v in wanted)

    return contains


def _overlaps(call: Call) -> Callable[[Elements, Elements], bool]:
    key = keyed(_element_of(call))

    def overlaps(a: Elements, b: Elements) -> bool:
        known = [key(v) for v in a if v is not None]
        return any(v is not None and key(v) in known for v in b)

    return overlaps


def _same(type_: pa.DataType) -> Callable[[Any, Any], bool]:
    """Make the equality of elements in which NULL equals NULL."""
    key = keyed(type_)
    return lambda a, b: b is None if a is None else b is not None and bool(key(a) == key(b))


def _position(call: Call) -> Callable[[Elements | None, Any], int | None]:
    same = _same(_element_of(call))
    return lambda values, wanted: next(
        (i for i, v in enumerate(values or (), 1) if same(v, wanted)), None
    )


def _position_from(call: Call) -> Callable[[Elements | None, Any, int | None], int | None]:
    """`array_position(array, value, start)`."""
    find = _positions(call)

    def position(values: Elements | None, wanted: Any, start: int | None) -> int | None:
        if start is None:
            raise ValueError("a start that is NULL")
        return next((i for i in find(values, wanted) or () if i >= start), None)

    return position


def _positions(call: Call) -> Callable[[Elements | None, Any], list[int] | None]:
    same = _same(_element_of(call))
    return lambda values, wanted: (
        None if values is None else [i for i, v in enumerate(values, 1) if same(v, wanted)]
    )


def _remove(call: Call) -> Callable[[Elements | None, Any], Elements | None]:
    same = _same(_element_of(call))
    return lambda values, gone: None if values is None else [v for v in values if not same(v, gone)]


def _replace(call: Call) -> Callable[[Elements | None, Any, Any], Elements | None]:
    same = _same(_element_of(call))
    return lambda values, old, new: (
        None if values is None else [new if same(v, old) else v for v in values]
    )


def _length(values: Any, dimension: int) -> int | None:
    """Give the length in a dimension, counted from 1; all inner arrays have the first one's."""
    if dimension < 1 or not isinstance(values, list) or not values:
        return None
    return len(values) if dimension == 1 else _length(values[0], dimension - 1)


def _flat(call: Call) -> Callable[[Elements], Elements]:
    """Make the function that flattens an array, in the order of its elements."""
    element = _element_of(call)
    depth = 0
    while isinstance(element, pa.ListType):
        element, depth = element.value_type, depth + 1

    def flatten(values: Elements, levels: int = depth) -> Elements:
        if not levels:
            return values
        return [v for inner in values if inner is not None for v in flatten(inner, levels - 1)]

    return flatten


def _matched(values: Elements) -> Elements:
    """Check that inner arrays are equally long, and give the array (raises ValueError).

    Without any inner array that is not NULL it is empty.
    """
    if values and all(v is None for v in values):
        return []
    if any(isinstance(v, list) for v in values):
        if any(v is None for v in values):
            raise ValueError("an array beside NULL")
        if len({tuple(_lengths(v)) for v in values}) > 1:
            raise ValueError("arrays of several lengths")
        if not values[0]:
            return []
    return values


def _lengths(values: Any) -> list[int]:
    """List the lengths of an array and of its first inner arrays."""
    lengths = []
    while isinstance(values, list):
        lengths.append(len(values))
        values = values[0] if values else None
    return lengths


def _to_string(call: Call) -> Callable[[Elements, str], str]:
    """`array_to_string(array, separator)`: NULLs are left out."""
    write = element_writer(_element_of(call))
    return lambda values, separator: separator.join(write(v) for v in values if v is not None)


def _to_string_all(call: Call) -> Callable[[Elements | None, str | None, str | None], str | None]:
    """`array_to_string(array, separator, text for NULL)`."""
    write = element_writer(_element_of(call))

    def join(values: Elements | None, separator: str | None, missing: str | None) -> str | None:
        if values is None or separator is None:
            return None
        texts = [missing if v is None else write(v) for v in values]
        return separator.join(t for t in texts if t is not None)

    return join


def _split(text: str | None, separator: str | None, missing: str | None) -> list[str | None] | None:
    """`string_to_array`: without a separator, into characters; what equals `missing` is NULL."""
    if text is None:
        return None
    if separator is None:
        parts = list(text)
    elif not text:
        parts = []
    else:
        parts = text.split(separator) if separator else [text]
    return [None if part == missing else part for part in parts]


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "like": like_text,
    "ilike": lambda a, b: like_text(letter_case.lower(a), letter_case.lower(b)),
}


def _quantified(every: bool) -> Callable[[Call], Callable[[Any, Elements], bool | None]]:
    """`value operator ANY (array)` and `ALL`: three-valued."""

    def make(call: Call) -> Callable[[Any, Elements], bool | None]:
        key = keyed(call.arguments[0].type)
        holds = _OPERATORS[str(constant(call, 2))]

        def decide(value: Any, values: Elements | None) -> bool | None:
            if values is None:
                return None
            if not values:
                return every
            if value is None:
                return None
            wanted = key(value)
            if any(holds(wanted, key(v)) is not every for v in values if v is not None):
                return not every
            return None if None in values else every

        return decide

    return make


def _text_of(call: Call) -> Callable[[Elements], str]:
    type_ = call.arguments[0].type
    assert isinstance(type_, pa.ListType)
    return array_writer(type_)


def _of_text(call: Call) -> Callable[[str], Elements]:
    assert isinstance(call.type, pa.ListType)
    return array_reader(call.type)


def _of_array(call: Call) -> Callable[[Elements], Elements]:
    source, target = call.arguments[0].type, call.type
    assert isinstance(source, pa.ListType)
    assert isinstance(target, pa.ListType)
    return converter(source, target)


CASTS: dict[tuple[str, str], Script] = {
    ("list", "text"): Script(_text_of, ("list",), made=True),
    ("text", "list"): Script(_of_text, ("text",), made=True),
    ("list", "list"): Script(_of_array, ("list",), made=True),
}
SCRIPTS: dict[str, Script] = {
    "array_element": Script(element, ("list", "signed"), nullable=True),
    "array_bucket": Script(_bucket, ("any", "list"), made=True),
    "array_dims": Script(_dimensions, ("list",), nullable=True),
    "array_fill": Script(_fill, ("any", "list"), strict=False, made=True),
    "array_ndims": Script(
        lambda values: len(_lengths(values)) if values else None, ("list",), nullable=True
    ),
    "array_part": Script(part, ("list", "list"), nullable=True),
    "array_position_from": Script(
        _position_from, ("list", "any", "signed"), strict=False, made=True
    ),
    "trim_array": Script(_trim, ("list", "signed")),
    "array_concat": Script(_concat, ("list", "list"), strict=False),
    "array_append": Script(_append, ("list", "any"), strict=False),
    "array_prepend": Script(_prepend, ("any", "list"), strict=False),
    "array_contains": Script(_contains, ("list", "list"), made=True),
    "array_overlaps": Script(_overlaps, ("list", "list"), made=True),
    "array_position": Script(_position, ("list", "any"), strict=False, made=True),
    "array_positions": Script(_positions, ("list", "any"), strict=False, made=True),
    "array_remove": Script(_remove, ("list", "any"), strict=False, made=True),
    "array_replace": Script(_replace, ("list", "any", "any"), strict=False, made=True),
    "array_length": Script(_length, ("list", "signed"), nullable=True),
    "array_flat": Script(_flat, ("list",), made=True),
    "array_matched": Script(_matched, ("list",)),
    "cardinality": Script(len, ("list",)),
    "array_to_string": Script(_to_string, ("list", "text"), made=True),
    "array_to_string_all": Script(
        _to_string_all, ("list", "text", "text"), strict=False, made=True
    ),
    "string_to_array": Script(_split, ("text", "text", "text"), strict=False),
    "any_of": Script(
        _quantified(False), ("any", "list", "text"), strict=False, made=True, constants=(2,)
    ),
    "all_of": Script(
        _quantified(True), ("any", "list", "text"), strict=False, made=True, constants=(2,)
    ),
}
