"""Binds functions of text and bytes by name."""

from functools import partial

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.encodings import codec
from ivm.values.sql_texts import parse_template
from ivm.values.unicode_escapes import unescaped
from views.errors import InvalidLiteral, UnknownFunction
from views.plan.scalars import call, test
from views.sql.base.arrays import array_of
from views.sql.base.binder import Binder, Handler
from views.sql.base.coercion import BIGINT, BYTEA, INT, TEXT, Bound, Untyped, cast
from views.sql.base.signatures import Signature, Signatures, checked

_SPACE = Literal(" ", TEXT)


def _trimming(function: str, characters: str) -> tuple[Signature, ...]:
    return (
        Signature((TEXT,), TEXT, function),
        Signature((TEXT, TEXT), TEXT, characters),
        Signature((BYTEA, BYTEA), BYTEA, f"{characters}_bytes"),
    )


def _concat_ws(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """Binds `concat_ws(separator, …)`, which leaves NULLs out."""
    separator, *given = arguments
    if not given:
        raise b.fault(UnknownFunction, "concat_ws() takes a separator and values", node)
    parts = [b.put_out(g, node) for g in given]
    whole: Expression = Literal(None, TEXT)
    for i, value in enumerate(parts):
        whole = value if i == 0 else Call("join", (whole, separator, value), TEXT, True)
    whole = Call("coalesce", (whole, Literal("", TEXT)), TEXT, False) if whole.nullable else whole
    if not separator.nullable:
        return whole
    return Call("case", (test("is_null", separator), Literal(None, TEXT), whole), TEXT, True)


def _format(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """Binds `format(template, …)`."""
    template, *given = arguments
    values = array_of([b.put_out(g, node) for g in given], TEXT)
    if isinstance(template, Literal) and isinstance(template.value, str):
        text = template.value
        checked(b, node, lambda: parse_template(text))
    return call("format", template, values, result=TEXT)


def overlay(b: Binder, node: exp.Overlay) -> Expression:
    """Binds `overlay(text placing new from start [for count])`, of bytes too."""
    value = b.value(node.this)
    kind = BYTEA if value.type == BYTEA else TEXT
    part, join, size = _CUTTING[kind]
    text = b.as_type(node.this, kind, "the text of overlay()")
    new = b.as_type(node.expression, kind, "the replacement of overlay()")
    start = b.as_type(node.args["from_"], BIGINT, "a position")
    length = node.args.get("for_")
    count = (
        cast(call(size, new, result=INT), BIGINT)
        if length is None
        else b.as_type(length, BIGINT, "a length")
    )
    one = Literal(1, BIGINT)
    before = call("subtract", start, one, result=BIGINT)
    after = call("add", start, count, result=BIGINT)
    head = call(part, text, one, before, result=kind)
    tail = call(part, text, after, Literal(2**31 - 1, BIGINT), result=kind)
    return call(join, call(join, head, new, result=kind), tail, result=kind)


_CUTTING: dict[pa.DataType, tuple[str, str, str]] = {
    TEXT: ("substring", "concat", "length"),
    BYTEA: ("bytes_part", "concat_bytes", "byte_length"),
}


def normalize(b: Binder, node: exp.Normalize) -> Expression:
    """Binds `normalize(text, form)`."""
    form = node.args.get("form")
    spelled = form.name.upper() if form else "NFC"
    if spelled not in ("NFC", "NFD", "NFKC", "NFKD"):
        raise b.fault(InvalidLiteral, "normalize() takes NFC, NFD, NFKC or NFKD", node)
    text = b.as_type(node.this, TEXT, "the text of normalize()")
    return call("normalize", text, Literal(spelled, TEXT), result=TEXT)


def escaped(b: Binder, node: exp.UnicodeString) -> Untyped:
    """Binds the text U&'…'."""
    escape = node.args.get("escape")
    try:
        return Untyped(unescaped(node.name, escape.name if escape else "\\"))
    except ValueError as error:
        raise b.fault(InvalidLiteral, "an escape is no character", node) from error


def collated(b: Binder, node: exp.Collate) -> Bound:
    """Binds `text COLLATE name`, of the order that all texts have."""
    if node.expression.name.lower() not in _COLLATIONS:
        raise b.session.source.unsupported(
            f"the collation {node.expression.name}", node, 'texts are in the order of "C"'
        )
    return b.as_type(node.this, TEXT, "what is collated")


_COLLATIONS = frozenset({"c", "posix", "default", "c.utf-8", "c.utf8", "ucs_basic"})


def _bit_length(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    function = "octet_length" if arguments[0].type == TEXT else "byte_length"
    length = call(function, arguments[0], result=INT)
    return call("multiply", length, Literal(8, INT), result=INT)


def _encoded(function: str, given: pa.DataType, result: pa.DataType, count: int) -> Signature:
    """Functions of a text or bytes and encodings, which are checked where they are constant."""

    def build(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
        for encoding in arguments[1:]:
            if isinstance(encoding, Literal) and isinstance(encoding.value, str):
                checked(b, node, partial(codec, encoding.value))
        return call(function, *arguments, result=result)

    return Signature((given, *[TEXT] * count), build=build)


def _shown(function: str) -> Signature:
    """A function of the text of any value."""

    def build(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
        return call(function, b.explicit_cast(arguments[0], TEXT, node), result=TEXT)

    return Signature(("any",), build=build)


def _nullable(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`quote_nullable`: as `quote_literal`, and NULL as a text."""
    quoted = call("quote_literal", b.explicit_cast(arguments[0], TEXT, node), result=TEXT)
    return Call("coalesce", (quoted, Literal("NULL", TEXT)), TEXT, False)


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
    "convert": (_encoded("recode", BYTEA, BYTEA, 2),),
    "convert_from": (_encoded("bytes_text", BYTEA, TEXT, 1),),
    "convert_to": (_encoded("text_bytes", TEXT, BYTEA, 1),),
    "decode": (Signature((TEXT, TEXT), BYTEA),),
    "encode": (Signature((BYTEA, TEXT), TEXT),),
    "format": (Signature((TEXT, "any"), build=_format, variadic=True),),
    "bit_count": (Signature((BYTEA,), BIGINT),),
    "get_bit": (Signature((BYTEA, BIGINT), INT),),
    "get_byte": (Signature((BYTEA, BIGINT), INT),),
    "initcap": (Signature((TEXT,), TEXT),),
    "left": (Signature((TEXT, INT), TEXT),),
    "length": (*_LENGTH, Signature((BYTEA,), INT, "byte_length")),
    "lpad": _PADDED,
    "ltrim": _trimming("ltrim", "lstrip"),
    "md5": (Signature((TEXT,), TEXT), Signature((BYTEA,), TEXT, "md5_bytes")),
    "octet_length": (Signature((TEXT,), INT), Signature((BYTEA,), INT, "byte_length")),
    "quote_ident": (Signature((TEXT,), TEXT),),
    "quote_literal": (_shown("quote_literal"),),
    "quote_nullable": (Signature(("any",), build=_nullable),),
    "repeat": (Signature((TEXT, INT), TEXT),),
    "reverse": (Signature((TEXT,), TEXT),),
    "right": (Signature((TEXT, INT), TEXT),),
    "rpad": _PADDED,
    "rtrim": _trimming("rtrim", "rstrip"),
    "set_bit": (Signature((BYTEA, BIGINT, INT), BYTEA),),
    "set_byte": (Signature((BYTEA, BIGINT, INT), BYTEA),),
    **{f"sha{bits}": (Signature((BYTEA,), BYTEA),) for bits in (224, 256, 384, 512)},
    "to_hex": (Signature((INT,), TEXT), Signature((BIGINT,), TEXT)),
    "translate": (Signature((TEXT, TEXT, TEXT), TEXT),),
    "unistr": (Signature((TEXT,), TEXT),),
}
HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    exp.Collate: Handler(collated, ("this", "expression")),
    exp.Normalize: Handler(normalize, ("this", "form")),
    exp.Overlay: Handler(overlay, ("this", "expression", "from_", "for_")),
    exp.UnicodeString: Handler(escaped, ("this", "escape")),
}
