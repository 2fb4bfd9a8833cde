"""Binds functions of text and bytes by name."""

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from views.errors import InvalidLiteral
from views.plan.scalars import call, test
from views.sql.base.binder import Binder
from views.sql.base.coercion import BIGINT, BYTEA, INT, TEXT, cast
from views.sql.base.signatures import Signature, Signatures, constant_texts

_SPACE = Literal(" ", TEXT)


def _trimming(function: str, characters: str) -> tuple[Signature, ...]:
    return (Signature((TEXT,), TEXT, function), Signature((TEXT, TEXT), TEXT, characters))


def _concat_ws(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """Binds `concat_ws(separator, …)`, which leaves NULLs out."""
    separator, *given = arguments
    parts = [b.put_out(g, node) for g in given]
    whole: Expression = Literal(None, TEXT)
    for i, value in enumerate(parts):
        whole = value if i == 0 else Call("join", (whole, separator, value), TEXT, True)
    whole = Call("coalesce", (whole, Literal("", TEXT)), TEXT, False) if whole.nullable else whole
    if not separator.nullable:
        return whole
    return Call("case", (test("is_null", separator), Literal(None, TEXT), whole), TEXT, True)


def _format(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`format(constant, …)` with `%s`, `%L` and `%%`."""
    spelled, *values = arguments
    (text,) = constant_texts(b, node, [spelled], "a format")
    parts: list[Expression] = []
    pieces, used = iter(text.split("%")), 0
    plain = next(pieces)
    for piece in pieces:
        if piece[:1] == "":
            plain += "%" + next(pieces, "")
            continue
        if piece[0] not in "sL":
            raise b.session.source.unsupported(f"%{piece[0]} in format()", node)
        if used >= len(values):
            raise b.fault(InvalidLiteral, "format() has too few arguments", node)
        value = b.put_out(values[used], node)
        used += 1
        missing = "" if piece[0] == "s" else "NULL"
        if piece[0] == "L":
            value = call("quote_literal", value, result=TEXT)
        if value.nullable:
            value = Call("coalesce", (value, Literal(missing, TEXT)), TEXT, False)
        parts += [Literal(plain, TEXT), value] if plain else [value]
        plain = piece[1:]
    if plain or not parts:
        parts.append(Literal(plain, TEXT))
    return parts[0] if len(parts) == 1 else call("concat", *parts, result=TEXT)


def overlay(b: Binder, node: exp.Overlay) -> Expression:
    """Binds `overlay(text placing new from start [for count])`."""
    text = b.as_type(node.this, TEXT, "the text of overlay()")
    new = b.as_type(node.expression, TEXT, "the replacement of overlay()")
    start = b.as_type(node.args["from_"], BIGINT, "a position")
    length = node.args.get("for_")
    count = (
        cast(call("length", new, result=INT), BIGINT)
        if length is None
        else b.as_type(length, BIGINT, "a length")
    )
    one = Literal(1, BIGINT)
    before = call("subtract", start, one, result=BIGINT)
    after = call("add", start, count, result=BIGINT)
    head = call("substring", text, one, before, result=TEXT)
    tail = call("substring", text, after, Literal(2**31 - 1, BIGINT), result=TEXT)
    return call("concat", head, new, tail, result=TEXT)


def _bit_length(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    function = "octet_length" if arguments[0].type == TEXT else "byte_length"
    length = call(function, arguments[0], result=INT)
    return call("multiply", length, Literal(8, INT), result=INT)


def _utf8(function: str, result: pa.DataType) -> Signature:
    """`convert_to` and `convert_from`, of UTF-8 alone."""

    def build(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
        (encoding,) = constant_texts(b, node, arguments[1:], "an encoding")
        if encoding.lower().replace("-", "") != "utf8":
            raise b.session.source.unsupported(f"the encoding {encoding!r}", node)
        return call(function, arguments[0], result=result)

    return Signature((TEXT if result == BYTEA else BYTEA, TEXT), build=build)


_LENGTH = (Signature((TEXT,), INT, "length"),)
_PADDED = (Signature((TEXT, INT, TEXT), TEXT, defaults=(_SPACE,)),)
FUNCTIONS: Signatures = {
    "ascii": (Signature((TEXT,), INT),),
    "bit_length": (Signature((TEXT,), build=_bit_length), Signature((BYTEA,), build=_bit_length)),
    "btrim": _trimming("trim", "strip"),
    "char_length": _LENGTH,
    "character_length": _LENGTH,
    "chr": (Signature((INT,), TEXT),),
    "concat_ws": (Signature((TEXT, "any"), build=_concat_ws, variadic=True),),
    "convert_from": (_utf8("bytes_utf8", TEXT),),
    "convert_to": (_utf8("utf8_bytes", BYTEA),),
    "decode": (Signature((TEXT, TEXT), BYTEA),),
    "encode": (Signature((BYTEA, TEXT), TEXT),),
    "format": (Signature((TEXT, "any"), build=_format, variadic=True),),
    "initcap": (Signature((TEXT,), TEXT),),
    "left": (Signature((TEXT, INT), TEXT),),
    "length": (*_LENGTH, Signature((BYTEA,), INT, "byte_length")),
    "lpad": _PADDED,
    "ltrim": _trimming("ltrim", "lstrip"),
    "md5": (Signature((TEXT,), TEXT), Signature((BYTEA,), TEXT, "md5_bytes")),
    "octet_length": (Signature((TEXT,), INT), Signature((BYTEA,), INT, "byte_length")),
    "quote_literal": (Signature((TEXT,), TEXT),),
    "repeat": (Signature((TEXT, INT), TEXT),),
    "reverse": (Signature((TEXT,), TEXT),),
    "right": (Signature((TEXT, INT), TEXT),),
    "rpad": _PADDED,
    "rtrim": _trimming("rtrim", "rstrip"),
    "sha256": (Signature((BYTEA,), BYTEA),),
    "to_hex": (Signature((INT,), TEXT), Signature((BIGINT,), TEXT)),
    "translate": (Signature((TEXT, TEXT, TEXT), TEXT),),
}
